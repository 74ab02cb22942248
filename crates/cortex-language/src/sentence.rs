//! A text as the words of one language.

use std::ops::Range;

use crate::compounds;
use crate::language::Language;
use crate::tokens::{self, Kind, Token, Unclosed};

/// One word of a text, as a language reads it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    pub(crate) kind: Kind,
    /// In lower case, short forms written out; the text within the marks for [`Kind::Quoted`].
    pub(crate) text: String,
    /// Without its ending.
    pub(crate) stem: String,
    /// The number that it says.
    pub(crate) number: Option<f64>,
    /// Its place in a row.
    pub(crate) ordinal: Option<f64>,
    /// Where it stands in the text, in bytes.
    pub(crate) span: Range<usize>,
}

impl Word {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind == Kind::Word && self.text == text
    }

    /// Returns true if it is a mark that may be passed over: any other sign means something.
    pub(crate) fn is_punctuation(&self) -> bool {
        const PASSED_OVER: &str = ",()=:-.!?;\"'/{}…&#\n_[]¿¡";
        self.kind == Kind::Mark && self.text.chars().all(|next| PASSED_OVER.contains(next))
    }

    pub(crate) fn is_mark(&self, mark: &str) -> bool {
        self.kind == Kind::Mark && self.text == mark
    }
}

impl AsRef<str> for Word {
    fn as_ref(&self) -> &str {
        match self.kind {
            // What is quoted is no word of the sentence.
            Kind::Quoted => "\"",
            Kind::Word | Kind::Number | Kind::Mark => &self.text,
        }
    }
}

/// The words of a text.
///
/// # Errors
/// When a quotation is not closed.
pub(crate) fn words(text: &str, language: &Language) -> Result<Vec<Word>, Unclosed> {
    let spelling = &language.facts.spelling;
    let mut words: Vec<Word> = Vec::new();
    let mut tokens = tokens::tokens(text)?.into_iter().peekable();
    while let Some(Token { kind, word, start, mut end }) = tokens.next() {
        match kind {
            Kind::Word => take_word(language.facts.folded(&word), start..end, language, &mut words),
            // "Ich möchte, dass du ..." is one sentence.
            Kind::Mark if word == "," => {
                let goes_on = |next: &Token| spelling.unbroken.has(&language.facts.folded(&next.word));
                if !tokens.peek().is_some_and(goes_on) {
                    words.push(read(kind, word, start..end, language));
                }
            }
            Kind::Number if spelling.decimal != '.' => {
                let mut number = without_thousands(word);
                let mut ahead = tokens.clone();
                let mark = ahead.next().filter(|mark| mark.start == end && mark.word.chars().eq([spelling.decimal]));
                let fraction = ahead
                    .next()
                    .filter(|next| next.kind == Kind::Number && Some(next.start) == mark.as_ref().map(|mark| mark.end));
                if let Some(fraction) = fraction {
                    number = format!("{number}.{}", fraction.word);
                    end = fraction.end;
                    tokens = ahead;
                }
                words.push(read(kind, number, start..end, language));
            }
            // "12,000".
            Kind::Number => {
                let mut number = word;
                while let Some((thousands, after)) = thousands_after(&tokens, end, &number) {
                    number.push_str(&thousands);
                    end = after;
                    tokens.nth(1);
                }
                words.push(read(kind, number, start..end, language));
            }
            Kind::Quoted | Kind::Mark => words.push(read(kind, word, start..end, language)),
        }
    }
    if spelling.full_stop_orders {
        order_by_full_stops(&mut words, language);
    }
    Ok(words)
}

/// Adds a word: its long form, or the words of which it is joined.
fn take_word(word: String, span: Range<usize>, language: &Language, words: &mut Vec<Word>) {
    let spelling = &language.facts.spelling;
    let mut take = |part: String| words.push(read(Kind::Word, part, span.clone(), language));
    if let Some(long) = language.long_form(&word) {
        long.iter().cloned().for_each(take);
        return;
    }
    let attached =
        spelling.attached.iter().find_map(|(ending, more)| Some((word.strip_suffix(ending.as_str())?, more)));
    if let Some((begin, more)) = attached.filter(|(begin, _)| language.knows(begin)) {
        take(begin.to_owned());
        take(more.clone());
        return;
    }
    let owner = spelling.owners.0.iter().find_map(|ending| word.strip_suffix(ending.as_str()));
    let word = owner.map(str::to_owned).unwrap_or(word);
    if !language.facts.compounds.joined || language.knows(&word) {
        take(word);
        return;
    }
    match compounds::parts(&word, language) {
        Some(parts) => parts.into_iter().for_each(take),
        None => take(word),
    }
}

/// The three digits after the comma that a number ends at, and where they end.
fn thousands_after(
    tokens: &(impl Iterator<Item = Token> + Clone),
    end: usize,
    number: &str,
) -> Option<(String, usize)> {
    let mut ahead = tokens.clone();
    let mark = ahead.next().filter(|mark| mark.start == end && mark.word == ",")?;
    let digits = ahead.next().filter(|next| next.kind == Kind::Number && next.start == mark.end)?;
    let is_group = digits.word.len() == 3 && digits.word.bytes().all(|digit| digit.is_ascii_digit());
    let fits = !number.contains('.') && !number.starts_with('0');
    (is_group && fits).then_some((digits.word, digits.end))
}

/// `1.500` as `1500`: where a comma stands before a fraction, a full stop stands between thousands.
fn without_thousands(number: String) -> String {
    match number.split_once('.') {
        Some((thousands, rest)) if rest.len() == 3 && thousands.trim_start_matches('-') != "0" => {
            format!("{thousands}{rest}")
        }
        _ => number,
    }
}

/// "Die 2. Schublade": a number, a full stop and a thing.
fn order_by_full_stops(words: &mut Vec<Word>, language: &Language) {
    let mut at = 0;
    while at + 2 < words.len() {
        let is_place = match words.get(at..at + 3) {
            Some([number, stop, thing]) => {
                number.kind == Kind::Number
                    && stop.is_mark(".")
                    && stop.span.start == number.span.end
                    && thing.kind == Kind::Word
                    && language.is_noun(&thing.text)
            }
            _ => false,
        };
        if is_place {
            if let Some(number) = words.get_mut(at) {
                number.ordinal = number.number.take();
                number.kind = Kind::Word;
            }
            words.remove(at + 1);
        }
        at += 1;
    }
}

fn read(kind: Kind, text: String, span: Range<usize>, language: &Language) -> Word {
    let number = match kind {
        Kind::Number => text.parse().ok().filter(|value: &f64| value.is_finite()),
        Kind::Word => language.number(&text).or_else(|| compounds::number(&text, language)),
        Kind::Quoted | Kind::Mark => None,
    };
    let ordinal = if kind == Kind::Word { language.ordinal(&text) } else { None };
    let stem = if kind == Kind::Word { language.stem(&text) } else { text.clone() };
    Word { kind, text, stem, number, ordinal, span }
}

/// Returns true if the word is written together with those on both its sides: `of` in `time_of_day`, but not in
/// "time of day".
pub(crate) fn is_glued(text: &str, words: &[Word], at: usize) -> bool {
    let joined = |before: Option<&Word>, after: Option<&Word>| {
        let between = before.zip(after).and_then(|(before, after)| text.get(before.span.end..after.span.start));
        between.is_some_and(|between| !between.contains(char::is_whitespace))
    };
    let (before, word, after) = (at.checked_sub(1).and_then(|at| words.get(at)), words.get(at), words.get(at + 1));
    joined(before, word) && joined(word, after)
}

/// The part of the text for which these words stand.
pub(crate) fn written<'t>(text: &'t str, words: &[Word]) -> &'t str {
    let span = words.first().zip(words.last()).and_then(|(first, last)| text.get(first.span.start..last.span.end));
    span.unwrap_or_default()
}
