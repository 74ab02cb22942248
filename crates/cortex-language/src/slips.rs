//! Typing slips: words that nobody knows and that are nearly one that the robot or the language has.

use crate::language::Language;
use crate::robot::Robot;
use crate::sentence::Word;
use crate::tokens::Kind;

/// Longest word that is compared, in letters.
const LENGTH: usize = 40;

/// Returns true if one word is the other with a typing slip in it.
pub(crate) fn is_slip(said: &str, meant: &str) -> bool {
    let limit = allowed(said);
    limit > 0 && said != meant && distance(said, meant, limit) <= limit
}

/// Returns the number of slips that a word may hold.
fn allowed(said: &str) -> usize {
    match said.chars().count() {
        0..=3 => 0,
        4..=7 => 1,
        8..=LENGTH => 2,
        _ => 0,
    }
}

/// Corrects words that neither the language nor the robot knows, where exactly one known word is near.
pub(crate) fn corrected(words: &mut [Word], robot: &Robot, language: &Language) {
    for word in words.iter_mut().filter(|word| word.kind == Kind::Word && word.number.is_none()) {
        let is_known = |text: &str| robot.spellings.contains(text) || language.has(text);
        if is_known(&word.text)
            || word.text.contains(|next: char| !next.is_alphabetic())
            || word.text.chars().count() < 3
        {
            continue;
        }
        if !language.is_of_tools() {
            correct_foreign(word, language);
            continue;
        }
        let of_robot = robot.spellings.iter().map(String::as_str).filter(|it| is_slip(&word.text, it));
        let nearest = best(&word.text, of_robot).or_else(|| {
            let of_language = language.spellings.iter().copied().filter(|it| is_slip(&word.text, it));
            best(&word.text, of_language)
        });
        // "Teh", "adn": two letters that changed places.
        let swapped =
            || {
                if word.text.chars().count() != 3 {
                    return None;
                }
                language.spellings.iter().copied().find(|it| {
                    it.chars().count() == 3 && distance(&word.text, it, 1) == 1 && same_letters(&word.text, it)
                })
            };
        if let Some(meant) = nearest.or_else(swapped) {
            let meant = meant.to_owned();
            word.stem = language.stem(&meant);
            word.number = language.number(&meant);
            word.ordinal = language.ordinal(&meant);
            word.text = meant;
        }
    }
}

/// Corrects a word of a language of which only some words are known: by a letter that was left out or said twice, or by
/// two that changed places. With another letter it is more often another word.
fn correct_foreign(word: &mut Word, language: &Language) {
    const LETTERS: usize = 5;
    if word.text.chars().count() < LETTERS {
        return;
    }
    let one_letter = |it: &&str| {
        it.chars().count() >= LETTERS
            && distance(&word.text, it, 1) == 1
            && (it.chars().count() != word.text.chars().count() || same_letters(&word.text, it))
    };
    let near = language.spellings.iter().copied().filter(one_letter);
    if let Some(meant) = best(&word.text, near).map(str::to_owned) {
        word.stem = language.stem(&meant);
        word.number = language.number(&meant);
        word.ordinal = language.ordinal(&meant);
        word.text = meant;
    }
}

fn same_letters(one: &str, other: &str) -> bool {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

/// The one nearest word; none where two stems are equally near.
fn best<'a>(said: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut found: Vec<(usize, &str)> = candidates.map(|it| (distance(said, it, 2), it)).collect();
    found.sort_unstable();
    found.dedup();
    let (nearest, first) = *found.first()?;
    let rivals =
        found.iter().filter(|(distance, it)| *distance == nearest && !it.starts_with(first) && !first.starts_with(it));
    (rivals.count() == 0).then_some(first)
}

/// Returns the number of single-letter edits (and swaps of neighbours) between two words, at most `limit + 1`.
pub(crate) fn distance(one: &str, other: &str, limit: usize) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    if one.len().abs_diff(other.len()) > limit {
        return limit + 1;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, wanted) in other.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut best = (at(&above, column) + usize::from(letter != wanted))
                .min(at(&above, column + 1) + 1)
                .min(at(&line, column) + 1);
            let swapped =
                row > 0 && column > 0 && one.get(row - 1) == Some(wanted) && other.get(column - 1) == Some(letter);
            if swapped {
                best = best.min(at(&before, column - 1) + 1);
            }
            line.push(best);
        }
        before = std::mem::replace(&mut above, line);
    }
    above.last().copied().unwrap_or(limit + 1).min(limit + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_counted() {
        assert_eq!(distance("kitchn", "kitchen", 2), 1);
        assert_eq!(distance("kithcen", "kitchen", 2), 1);
        assert_eq!(distance("garage", "kitchen", 2), 3);
        assert_eq!(distance("", "a", 2), 1);
    }
}
