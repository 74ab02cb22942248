//! The shape that the schema of a text demands (`pattern`), as far as it is a plain regular expression.

/// Most steps of one comparison, so that no pattern takes long.
const STEPS: usize = 2_000;
/// Most letters of a pattern that is read.
const PATTERN: usize = 200;

/// A regular expression of letters, classes, groups and repetitions.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    whole: Vec<Vec<Repeated>>,
    from_start: bool,
    to_end: bool,
}

/// A part, and how often it may stand there.
#[derive(Debug, Clone, PartialEq)]
struct Repeated {
    item: Item,
    least: usize,
    most: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum Item {
    /// One of these ranges of letters; none of them if negated.
    Class { ranges: Vec<(char, char)>, negated: bool },
    /// One of several sequences.
    Group(Vec<Vec<Repeated>>),
}

impl Shape {
    /// Reads a pattern; none where it uses anything else.
    pub(crate) fn read(pattern: &str) -> Option<Self> {
        if pattern.len() > PATTERN {
            return None;
        }
        let from_start = pattern.starts_with('^');
        let inner = pattern.strip_prefix('^').unwrap_or(pattern);
        let to_end = inner.ends_with('$') && !inner.ends_with("\\$");
        let inner = if to_end { inner.get(..inner.len() - 1)? } else { inner };
        let mut letters = inner.chars().peekable();
        let whole = alternatives(&mut letters, false)?;
        letters.peek().is_none().then_some(Self { whole, from_start, to_end })
    }

    /// Returns true if a text is of this shape.
    pub(crate) fn fits(&self, text: &str) -> bool {
        let letters: Vec<char> = text.chars().collect();
        let mut steps = STEPS;
        let starts = if self.from_start { 0 } else { letters.len() };
        (0..=starts).any(|start| {
            let mut ends = |at: usize, _: &mut usize| !self.to_end || at == letters.len();
            self.whole.iter().any(|sequence| follows(sequence, &letters, start, &mut steps, &mut ends))
        })
    }
}

type Letters<'l> = std::iter::Peekable<std::str::Chars<'l>>;

fn alternatives(letters: &mut Letters<'_>, in_group: bool) -> Option<Vec<Vec<Repeated>>> {
    let mut several = vec![Vec::new()];
    while let Some(next) = letters.next_if(|next| !(in_group && *next == ')')) {
        let item = match next {
            '|' => {
                several.push(Vec::new());
                continue;
            }
            '(' => {
                if letters.next_if_eq(&'?').is_some() && letters.next() != Some(':') {
                    return None;
                }
                let group = alternatives(letters, true)?;
                letters.next_if_eq(&')')?;
                Item::Group(group)
            }
            '[' => class(letters)?,
            '\\' => escaped(letters.next()?)?,
            '.' => Item::Class { ranges: Vec::new(), negated: true },
            '^' | '$' | ')' | ']' | '*' | '+' | '?' | '{' | '}' => return None,
            other => Item::Class { ranges: vec![(other, other)], negated: false },
        };
        let (least, most) = repetition(letters)?;
        several.last_mut()?.push(Repeated { item, least, most });
    }
    Some(several)
}

fn class(letters: &mut Letters<'_>) -> Option<Item> {
    let negated = letters.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        let first = match letters.next()? {
            ']' => return Some(Item::Class { ranges, negated }),
            '\\' => {
                let Item::Class { ranges: more, negated: false } = escaped(letters.next()?)? else { return None };
                ranges.extend(more);
                continue;
            }
            other => other,
        };
        let last = if letters.next_if_eq(&'-').is_some() { letters.next()? } else { first };
        if last == ']' {
            ranges.extend([(first, first), ('-', '-')]);
            return Some(Item::Class { ranges, negated });
        }
        ranges.push((first, last));
    }
}

fn escaped(letter: char) -> Option<Item> {
    let ranges = match letter {
        'd' => vec![('0', '9')],
        'w' => vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
        's' => vec![(' ', ' '), ('\t', '\t'), ('\n', '\n')],
        other if other.is_alphanumeric() => return None,
        other => vec![(other, other)],
    };
    Some(Item::Class { ranges, negated: false })
}

fn repetition(letters: &mut Letters<'_>) -> Option<(usize, usize)> {
    let bounds = match letters.peek() {
        Some('*') => (0, usize::MAX),
        Some('+') => (1, usize::MAX),
        Some('?') => (0, 1),
        Some('{') => {
            letters.next();
            let text: String = std::iter::from_fn(|| letters.next_if(|next| *next != '}')).collect();
            let (least, most) = match text.split_once(',') {
                Some((least, "")) => (least.parse().ok()?, usize::MAX),
                Some((least, most)) => (least.parse().ok()?, most.parse().ok()?),
                None => (text.parse().ok()?, text.parse().ok()?),
            };
            (least, most)
        }
        _ => return Some((1, 1)),
    };
    letters.next();
    Some(bounds)
}

/// Returns true if the sequence fits from `at`, and what comes after it as well.
fn follows(
    sequence: &[Repeated],
    letters: &[char],
    at: usize,
    steps: &mut usize,
    after: &mut dyn FnMut(usize, &mut usize) -> bool,
) -> bool {
    let Some(left) = steps.checked_sub(1) else { return false };
    *steps = left;
    let Some((first, rest)) = sequence.split_first() else { return after(at, steps) };
    let once = |most: usize, least: usize| Repeated { item: first.item.clone(), least, most };
    if first.most > 0 {
        let remaining =
            once(first.most.saturating_sub(usize::from(first.most != usize::MAX)), first.least.saturating_sub(1));
        let mut tail = vec![remaining];
        tail.extend_from_slice(rest);
        let fits = match &first.item {
            Item::Class { ranges, negated } => letters.get(at).is_some_and(|letter| {
                let is_in = ranges.iter().any(|(from, to)| (from..=to).contains(&letter));
                is_in != *negated && follows(&tail, letters, at + 1, steps, after)
            }),
            Item::Group(several) => several.iter().any(|inner| {
                let mut then = |end: usize, steps: &mut usize| {
                    (end > at || first.least > 0) && follows(&tail, letters, end, steps, after)
                };
                follows(inner, letters, at, steps, &mut then)
            }),
        };
        if fits {
            return true;
        }
    }
    first.least == 0 && follows(rest, letters, at, steps, after)
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn plain_expressions_are_compared() {
        let fits = |pattern: &str, text: &str| Shape::read(pattern).map(|shape| shape.fits(text));
        for (pattern, text, wanted) in [
            ("^[A-H](1[0-2]|[1-9])$", "A1", true),
            ("^[A-H](1[0-2]|[1-9])$", "H12", true),
            ("^[A-H](1[0-2]|[1-9])$", "H13", false),
            ("^[A-H](1[0-2]|[1-9])$", "Z1", false),
            ("^\\d{2,3}$", "1234", false),
            ("^\\d{2,3}$", "123", true),
            ("ab+c?", "xxabbb", true),
            ("^(ab)*$", "ababab", true),
            ("^(ab)*$", "aba", false),
            ("^[^x-z_-]+$", "a-b", false),
            ("^.{3}$", "abc", true),
        ] {
            assert_eq!(fits(pattern, text), Some(wanted), "{pattern} {text}");
        }
        // What is not plain says nothing.
        assert_eq!(fits("(?=a)b", "b"), None);
        assert_eq!(fits("\\bword", "word"), None);
        assert_eq!(fits("(a", "a"), None);
    }
}
