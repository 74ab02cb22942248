//! Which lines are shown of a node that logs without end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use cortex_protocol::{LogLevel, LogLine};

/// Lines of one node that are shown in a second, and as many again of its warnings and errors.
const OF_A_NODE: u64 = 100;
/// Lines that are shown of each node in a second, whatever the others do.
const FEW: u64 = 5;
/// Lines of all nodes that are shown in a second, besides those few.
const OF_ALL: u64 = 1_000;
/// Nodes that are told apart in a second. The lines of further ones are counted together.
const NODES: usize = 500;
/// Who the lines are of that are counted together.
const OTHERS: &str = "other nodes";
const SECOND: Duration = Duration::from_secs(1);

/// Counts lines, second by second.
pub(super) struct Thinning {
    began: Instant,
    shown: u64,
    nodes: BTreeMap<String, Lines>,
}

/// The lines of one node in this second.
#[derive(Default)]
struct Lines {
    shown: u64,
    shown_bad: u64,
    left_out: u64,
    /// The worst of those that were left out.
    worst: Option<LogLevel>,
}

impl Thinning {
    pub(super) fn new(now: Instant) -> Self {
        Self { began: now, shown: 0, nodes: BTreeMap::new() }
    }

    /// Whether a line is shown; one that is not is counted.
    pub(super) fn shows(&mut self, node: &str, level: LogLevel) -> bool {
        let known = self.nodes.contains_key(node) || self.nodes.len() < NODES;
        let lines = self.nodes.entry(if known { node } else { OTHERS }.to_owned()).or_default();
        let shown = if level >= LogLevel::Warn { &mut lines.shown_bad } else { &mut lines.shown };
        if known && (*shown < FEW || (*shown < OF_A_NODE && self.shown < OF_ALL)) {
            *shown += 1;
            self.shown += 1;
            return true;
        }
        lines.left_out += 1;
        lines.worst = lines.worst.max(Some(level));
        false
    }

    /// At the end of a second: a line for each node of which some were left out.
    pub(super) fn left_out(&mut self, now: Instant, at_ms: u64) -> Vec<LogLine> {
        if now.duration_since(self.began) < SECOND {
            return Vec::new();
        }
        self.began = now;
        self.shown = 0;
        let line = |(node, lines): (String, Lines)| {
            let (count, level) = (lines.left_out, lines.worst?);
            let lines = if count == 1 { "line" } else { "lines" };
            let text = format!("and {} more {lines} of {node} in this second", grouped(count));
            Some(LogLine { at_ms, level, node, text, count })
        };
        std::mem::take(&mut self.nodes).into_iter().filter_map(line).collect()
    }
}

/// A number as people read it: 9,900.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_flood_the_first_lines_are_shown_and_the_rest_is_counted() {
        let start = Instant::now();
        let mut thinning = Thinning::new(start);
        let shown = (0..10_000).filter(|_| thinning.shows("camera", LogLevel::Info)).count();
        assert_eq!(shown, 100);
        assert!(thinning.shows("camera", LogLevel::Error), "a flood does not hide an error of the same node");
        assert!(thinning.shows("base", LogLevel::Info), "nor what others say");
        assert_eq!(thinning.left_out(start + SECOND / 2, 7), []);
        let told = thinning.left_out(start + SECOND, 7);
        let text = "and 9,900 more lines of camera in this second".to_owned();
        let line = LogLine { at_ms: 7, level: LogLevel::Info, node: "camera".to_owned(), text, count: 9_900 };
        assert_eq!(told, [line]);
        assert!(thinning.shows("camera", LogLevel::Info), "the next second begins anew");
    }

    #[test]
    fn many_loud_nodes_do_not_silence_a_quiet_one() {
        let mut thinning = Thinning::new(Instant::now());
        let shown = (0..100_000).filter(|line| thinning.shows(&format!("n{}", line % 100), LogLevel::Info)).count();
        assert!((1_000..=1_500).contains(&shown), "{shown}");
        assert_eq!((0..10).filter(|_| thinning.shows("quiet", LogLevel::Error)).count(), 5);
    }

    #[test]
    fn names_without_number_take_no_memory_without_number() {
        let start = Instant::now();
        let mut thinning = Thinning::new(start);
        let shown = (0..10_000).filter(|number| thinning.shows(&format!("n{number}"), LogLevel::Warn)).count();
        assert_eq!(shown, NODES);
        let told = thinning.left_out(start + SECOND, 7);
        assert_eq!(told.iter().map(|line| (line.node.as_str(), line.count)).collect::<Vec<_>>(), [(OTHERS, 9_500)]);
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in [(7, "7"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
    }
}
