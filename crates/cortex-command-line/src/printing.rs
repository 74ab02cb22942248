//! Printing for people, by the macros of the standard library's names. Those panic when nobody reads any more, as in
//! `cortex recipe check robot.toml | head`; these go on, and what they print is lost.

use std::fmt::Arguments;
use std::io::Write as _;

/// Prints to those who read what a command found.
#[macro_export]
macro_rules! print {
    ($($words:tt)*) => { $crate::printing::out(format_args!($($words)*), false) };
}
/// Prints a line to those who read what a command found.
#[macro_export]
macro_rules! println {
    ($($words:tt)*) => { $crate::printing::out(format_args!($($words)*), true) };
}
/// Prints to those who read what goes wrong.
#[macro_export]
macro_rules! eprint {
    ($($words:tt)*) => { $crate::printing::complain(format_args!($($words)*), false) };
}
/// Prints a line to those who read what goes wrong.
#[macro_export]
macro_rules! eprintln {
    ($($words:tt)*) => { $crate::printing::complain(format_args!($($words)*), true) };
}

/// To those who read what a command found.
pub fn out(words: Arguments<'_>, ends_line: bool) {
    let _ = std::io::stdout().write_fmt(format_args!("{words}{}", if ends_line { "\n" } else { "" }));
}

/// To those who read what went wrong.
pub fn complain(words: Arguments<'_>, ends_line: bool) {
    let _ = std::io::stderr().write_fmt(format_args!("{words}{}", if ends_line { "\n" } else { "" }));
}
