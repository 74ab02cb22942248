//! Values that somebody would run: where a shell or an interpreter reads commands, no value may stand.
//!
//! A list of those that are known can't be complete. It is there for the slip that is made most; what holds for every
//! program is that one argument stays one argument.

use std::iter::once;

use crate::action::CommandLine;
use crate::parameter::{Piece, pieces};

/// Who reads commands from an argument, with the letters of the options after which it stands. Versions in the name, as in
/// `python3.12`, do not count.
const READERS: [(&str, &str); 21] = [
    ("sh", "c"),
    ("bash", "c"),
    ("rbash", "c"),
    ("dash", "c"),
    ("ash", "c"),
    ("ksh", "c"),
    ("mksh", "c"),
    ("zsh", "c"),
    ("fish", "c"),
    ("csh", "c"),
    ("tcsh", "c"),
    ("su", "c"),
    ("runuser", "c"),
    ("flock", "c"),
    ("env", "S"),
    ("python", "c"),
    ("perl", "eE"),
    ("ruby", "e"),
    ("lua", "e"),
    ("node", "ep"),
    ("php", "r"),
];
/// The long names of such options.
const LONG_OPTIONS: [&str; 4] = ["--command", "--eval", "--print", "--split-string"];
/// Who gives all that follows to a shell, which reads it anew.
const FORWARDERS: [&str; 3] = ["ssh", "rsh", "eval"];

/// An argument with a value in it that would be read as commands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Script<'a> {
    pub(super) argument: &'a str,
    /// By whom.
    pub(super) reader: &'a str,
}

/// The arguments of a command in which values would be read as commands.
///
/// A reader may be called by another program (`sudo`, `timeout`, `busybox`), so its name is looked for everywhere. From
/// then on, what follows one of its options is taken for a script, up to the first argument that is none: better refused
/// without need than run.
pub(super) fn with_values(command: &CommandLine) -> Vec<Script<'_>> {
    let mut found = Vec::new();
    let (mut reader, mut letters) = ("", String::new());
    let (mut script_follows, mut all_is_read) = (false, false);
    for argument in once(&command.program).chain(&command.arguments) {
        let parts = pieces(argument);
        let has_value = parts.iter().any(|piece| matches!(piece, Piece::Parameter(_)));
        let is_option = argument.starts_with('-');
        let opens = is_option && opens_script(parts.first(), &letters);
        if has_value && (all_is_read || script_follows || opens) {
            found.push(Script { argument, reader });
        }
        if is_option {
            script_follows |= opens;
            continue;
        }
        script_follows = false;
        let name = name_of(argument);
        if let Some((_, options)) = READERS.iter().find(|(known, _)| *known == name) {
            letters.push_str(options);
        } else if FORWARDERS.contains(&name) {
            all_is_read = true;
        } else {
            continue;
        }
        reader = name;
    }
    found
}

/// Whether a script begins in this option or after it: `-c`, `-ec`, `-ce`, `--eval`, `--eval=`.
fn opens_script(beginning: Option<&Piece<'_>>, letters: &str) -> bool {
    let Some(Piece::Text(text)) = beginning else { return false };
    if letters.is_empty() {
        return false;
    }
    match text.strip_prefix("--") {
        Some(_) => LONG_OPTIONS.contains(&text.split('=').next().unwrap_or_default()),
        None => text.chars().any(|letter| letters.contains(letter)),
    }
}

/// The name of a program without its folder and version.
fn name_of(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or_default();
    name.trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | '-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which reader would run the values in a command line, whose words stand between bars.
    fn readers(line: &str) -> Vec<String> {
        let mut words = line.split('|').map(str::to_owned);
        let program = words.next().unwrap();
        let command = CommandLine { program, arguments: words.collect(), environment: Default::default() };
        with_values(&command).iter().map(|script| script.reader.to_owned()).collect()
    }

    #[test]
    fn a_value_in_a_script_is_seen_however_the_shell_is_called() {
        for (line, reader) in [
            ("/bin/sh|-c|say {text}", "sh"),
            ("bash|-ec|say {text}", "bash"),
            ("bash|-ce|say {text}", "bash"),
            ("bash|-cx|{text}", "bash"),
            ("bash|-c|-e|say {text}", "bash"),
            ("bash|-o|pipefail|-c|say {text}", "bash"),
            ("sh|-c|--|say {text}", "sh"),
            ("env|bash|-c|say {text}", "bash"),
            ("env|-S|bash -c {text}", "env"),
            ("env|--split-string=sh -c {text}", "env"),
            ("busybox|sh|-c|say {text}", "sh"),
            ("sudo|-u|robot|/usr/bin/sh|-c|say {text}", "sh"),
            ("su|robot|-c|say {text}", "su"),
            ("su|--command=say {text}|robot", "su"),
            ("python3|-c|print('{text}')", "python"),
            ("/usr/bin/python3.12|-uc|print('{text}')", "python"),
            ("python3|-cprint('{text}')", "python"),
            ("perl|-e|1|-e|print '{text}'", "perl"),
            ("node|--eval|say('{text}')", "node"),
            ("ssh|host|say {text}", "ssh"),
            ("timeout|5|ssh|-p|22|host|say|{text}", "ssh"),
        ] {
            assert_eq!(readers(line), [reader], "{line}");
        }
    }

    #[test]
    fn a_value_that_nobody_runs_is_allowed() {
        for line in [
            "sh|-c|say \"$1\"|sh|{text}",
            "bash|say.sh|{text}",
            "python3|-u|say.py|--text|{text}",
            "perl|-Mre|say.pl|{text}",
            "speak|-c|{text}",
            "ros2|topic|pub|--once|/say|std_msgs/msg/String|{text}",
            "sh|-c|echo {{text}}",
        ] {
            assert_eq!(readers(line), Vec::<String>::new(), "{line}");
        }
    }
}
