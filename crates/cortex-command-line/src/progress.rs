//! How far a command is, on one line of a terminal: for people who wait, and only there.

use std::io::IsTerminal as _;

/// Cells of the bar.
const CELLS: usize = 24;
/// Most characters of what is named beside it, so that one line holds all.
const NAMED: usize = 40;

/// A line of the terminal that is written over.
pub(crate) struct Progress {
    is_watched: bool,
}

impl Progress {
    /// On the terminal of this process. Without one it shows nothing.
    pub(crate) fn on_terminal() -> Self {
        Self { is_watched: std::io::stderr().is_terminal() }
    }

    /// So many of all are done, and this one is next.
    pub(crate) fn show(&self, done: usize, all: usize, next: &str) {
        self.write(&line(done, all, next));
    }

    /// Something else, in the place of what was there.
    pub(crate) fn write(&self, text: &str) {
        if self.is_watched {
            eprint!("\r\x1b[K{text}");
        }
    }

    /// Makes room for lines that stay.
    pub(crate) fn clear(&self) {
        self.write("");
    }
}

fn line(done: usize, all: usize, next: &str) -> String {
    let full = (done * CELLS).checked_div(all).unwrap_or(CELLS).min(CELLS);
    let next: String = next.chars().filter(|letter| !letter.is_control()).take(NAMED).collect();
    format!("[{}{}] {done}/{all} {next}", "#".repeat(full), ".".repeat(CELLS - full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_fills_up_and_no_name_of_a_file_leaves_its_line() {
        assert_eq!(line(0, 4, "a.md"), "[........................] 0/4 a.md");
        assert_eq!(line(3, 4, "a\n\x1b[2Jb.md"), "[##################......] 3/4 a[2Jb.md");
        assert_eq!(line(4, 4, &"x".repeat(100)).len(), 71);
        assert_eq!(line(0, 0, ""), "[########################] 0/0 ");
    }
}
