//! Words that a language joins to one: "Küchenlicht", "fünfundzwanzig".

use crate::language::Language;

/// Fewest letters of a part of a joined word.
const PART: usize = 3;
/// Most letters of a word that is taken apart.
const LENGTH: usize = 40;

/// The nouns of which a word is joined, which the language does not have as one; none where it joins no words.
pub(crate) fn parts(word: &str, language: &Language) -> Option<Vec<String>> {
    if !language.facts.compounds.joined || word.len() > LENGTH || !word.bytes().all(|next| next.is_ascii_lowercase()) {
        return None;
    }
    let found = split(word, language, 0)?;
    (found.len() > 1).then_some(found)
}

/// The fewest nouns, and among as many the longest first.
fn split(word: &str, language: &Language, depth: usize) -> Option<Vec<String>> {
    if language.is_noun(word) {
        return Some(vec![word.to_owned()]);
    }
    if depth > 2 {
        return None;
    }
    let mut best: Option<Vec<String>> = None;
    for end in (PART..(word.len() + 1).saturating_sub(PART)).rev() {
        let Some((begin, rest)) = word.split_at_checked(end) else { continue };
        let links = language.facts.compounds.links.0.iter().map(String::as_str);
        let without = |link: &str| begin.strip_suffix(link).filter(|begin| begin.len() >= PART);
        let noun = std::iter::once("").chain(links).filter_map(without).find(|begin| language.is_noun(begin));
        let Some(noun) = noun else { continue };
        if let Some(rest) = split(rest, language, depth + 1)
            && best.as_ref().is_none_or(|best| rest.len() + 1 < best.len())
        {
            best = Some(std::iter::once(noun.to_owned()).chain(rest).collect());
        }
    }
    best
}

/// The number that a joined word says: `zweihundertfünfzig`.
pub(crate) fn number(word: &str, language: &Language) -> Option<f64> {
    if !language.facts.compounds.joined || word.len() > LENGTH {
        return None;
    }
    let (mut total, mut current) = (0.0, 0.0);
    let mut rest = word;
    let mut parts = 0;
    while !rest.is_empty() {
        let joint = language.facts.compounds.numbers.as_str();
        let after = rest.strip_prefix(joint).filter(|after| parts > 0 && !joint.is_empty() && !after.is_empty());
        // The longest number word, so that no number ends in the middle of another.
        let begins = |rest: &str| {
            let ends = (1..=rest.len()).rev().filter_map(|end| rest.split_at_checked(end).map(|(begin, _)| begin));
            let one = |begin: &str| (begin == language.facts.compounds.one).then_some(1.0);
            ends.filter_map(|begin| Some((language.number(begin).or_else(|| one(begin))?, begin.len()))).next()
        };
        let plain = begins(rest);
        let joined = plain.is_none();
        let (value, taken) = plain.or_else(|| begins(after?).map(|(value, taken)| (value, taken + joint.len())))?;
        // "Fünfundzwanzig" and "hundertfünf" are numbers; "zweidrei" is none.
        let tens = joined && (1.0..10.0).contains(&(current % 100.0)) && value >= 20.0;
        if value < 100.0 && current % 100.0 != 0.0 && !tens {
            return None;
        }
        if value >= 1_000.0 {
            total += if current > 0.0 { current } else { 1.0 } * value;
            current = 0.0;
        } else if value >= 100.0 {
            current = if current > 0.0 { current } else { 1.0 } * value;
        } else {
            current += value;
        }
        rest = rest.get(taken..)?;
        parts += 1;
    }
    (parts > 1).then_some(total + current)
}
