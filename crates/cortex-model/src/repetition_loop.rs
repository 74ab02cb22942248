//! A reply that repeats itself without end: small models fall into such loops, and go on until their tokens are spent.

/// The number of bytes at the end of a text that are compared with each other.
const WINDOW: usize = 8_000;
/// Most calls in a row that are all the same. "Say hello ten times" has ten.
#[cfg(feature = "openai")]
pub(crate) const MOST_SAME_CALLS: usize = 40;

/// How much has to be the same, again and again, to count as a loop.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Text {
    /// Words for a person, or a thought. A table, a list or a refrain repeats less.
    Words,
    /// Arguments of a call: a picture of lights or a mask holds the same number a thousand times.
    Arguments,
}

impl Text {
    /// Fewest bytes that a loop fills.
    fn least_bytes(self) -> usize {
        match self {
            Self::Words => 600,
            Self::Arguments => 6_000,
        }
    }

    /// Whether so many bytes that repeat themselves after each `period` are a loop: six times, or three times of a long one.
    fn is_loop(self, length: usize, period: usize) -> bool {
        length >= self.least_bytes() && (length / period >= 6 || (length >= 3_000 && length / period >= 3))
    }

    /// Whether the text ends in the same bytes again and again. Takes time in proportion to the window.
    pub(crate) fn ends_in_loop(self, text: &str) -> bool {
        let tail: Vec<u8> = text.as_bytes().iter().rev().take(WINDOW).copied().collect();
        if tail.len() < self.least_bytes() {
            return false;
        }
        // Of each beginning of the tail, read backwards: the length of its longest proper border (Knuth, Morris and Pratt).
        // A text that is longer than its border by `period` repeats itself after each `period` bytes.
        let mut borders = vec![0_usize; tail.len()];
        let mut border = 0;
        for at in 1..tail.len() {
            while border > 0 && tail.get(border) != tail.get(at) {
                border = border.checked_sub(1).and_then(|last| borders.get(last)).copied().unwrap_or(0);
            }
            if tail.get(border) == tail.get(at) {
                border += 1;
            }
            if let Some(known) = borders.get_mut(at) {
                *known = border;
            }
            let length = at + 1;
            if self.is_loop(length, length - border) {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_of_every_length_are_found_and_only_at_the_end() {
        let paragraph = (0..150).map(|word| format!("word{word} ")).collect::<String>();
        for unit in [" ", "ha ", "I will help you with that. ", "The task: go to the kitchen\n\n", &paragraph] {
            let looped = format!("Sure! I can go to the kitchen. {}", unit.repeat(6_500 / unit.len() + 1));
            assert!(Text::Words.ends_in_loop(&looped), "{unit:?}");
            let goes_on = format!("{looped}That was it. And now for something else: 1, 2, 3");
            assert!(!Text::Words.ends_in_loop(&goes_on), "{unit:?}");
        }
        assert!(Text::Arguments.ends_in_loop(&"0, ".repeat(3_000)));
    }

    #[test]
    fn people_and_models_write_no_loops() {
        let list: String = (1..200).map(|room| format!("- room {room}: nothing to be seen there\n")).collect();
        for text in [list.as_str(), &"-".repeat(200), &"hello ".repeat(20), "", "ü"] {
            assert!(!Text::Words.ends_in_loop(text), "{text}");
        }
        let lights = format!("{{\"lights\": [{}", "[255,0,0],".repeat(100));
        let mask = format!("[{}", "0,".repeat(400));
        let lines = format!("{{\"text\": \"{}", "I must not run. ".repeat(100));
        for text in [&lights, &mask, &lines] {
            assert!(!Text::Arguments.ends_in_loop(text), "{text}");
        }
    }

    /// A loop is found soon after it began, whatever stands before it.
    #[test]
    fn a_loop_is_found_before_it_has_cost_much() {
        let mut text = "I am at the dock. ".to_owned();
        let unit = "Let me check the battery. ";
        let before = text.len();
        while !Text::Words.ends_in_loop(&text) {
            text.push_str(unit);
        }
        assert!(text.len() - before <= 600 + unit.len(), "{}", text.len());
    }
}
