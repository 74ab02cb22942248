//! The newest lines, for those who come later.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use cortex_protocol::LogLine;

/// Lines that are kept.
const MOST: usize = 2_000;
/// Lines that a node keeps for certain: one that has more gives way first.
const SHARE: usize = MOST / 8;

/// The newest lines. A node that logs a lot displaces its own lines, and not those of others.
#[derive(Debug, Default)]
pub(super) struct Kept {
    lines: VecDeque<Arc<LogLine>>,
    of_nodes: HashMap<String, usize>,
}

impl Kept {
    pub(super) fn add(&mut self, line: Arc<LogLine>) {
        if self.lines.len() >= MOST {
            self.drop_one();
        }
        *self.of_nodes.entry(line.node.clone()).or_default() += 1;
        self.lines.push_back(line);
    }

    pub(super) fn latest(&self, most: usize) -> Vec<Arc<LogLine>> {
        self.lines.iter().skip(self.lines.len().saturating_sub(most)).cloned().collect()
    }

    fn drop_one(&mut self) {
        let loudest = self.of_nodes.iter().max_by_key(|(_, count)| **count).filter(|(_, count)| **count > SHARE);
        let place = loudest.and_then(|(node, _)| self.lines.iter().position(|line| line.node == *node)).unwrap_or(0);
        let Some(line) = self.lines.remove(place) else { return };
        if let Some(count) = self.of_nodes.get_mut(&line.node) {
            *count -= 1;
            if *count == 0 {
                self.of_nodes.remove(&line.node);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_protocol::LogLevel;

    fn line(node: &str, at_ms: u64) -> Arc<LogLine> {
        Arc::new(LogLine { at_ms, level: LogLevel::Info, node: node.to_owned(), text: String::new(), count: 1 })
    }

    #[test]
    fn a_loud_node_displaces_its_own_lines() {
        let mut kept = Kept::default();
        for at in 0..100 {
            kept.add(line("quiet", at));
        }
        for at in 0..50_000 {
            kept.add(line("loud", at));
        }
        let lines = kept.latest(usize::MAX);
        assert_eq!(lines.len(), MOST);
        assert_eq!(lines.iter().filter(|line| line.node == "quiet").count(), 100);
        assert_eq!(lines.last().map(|line| line.at_ms), Some(49_999));
        assert_eq!(kept.latest(2).iter().map(|line| line.at_ms).collect::<Vec<_>>(), [49_998, 49_999]);
    }

    #[test]
    fn of_many_quiet_nodes_the_oldest_line_goes() {
        let mut kept = Kept::default();
        for at in 0..3_000 {
            kept.add(line(&format!("n{}", at % 1_000), at));
        }
        let lines = kept.latest(usize::MAX);
        assert_eq!((lines.len(), lines[0].at_ms), (MOST, 1_000));
        assert_eq!(kept.of_nodes.values().sum::<usize>(), MOST);
    }
}
