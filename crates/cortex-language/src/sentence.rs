//! A text as the words of one language.

use std::ops::Range;

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
    let mut words = Vec::new();
    for token in tokens::tokens(text)? {
        let Token { kind, word, start, end } = token;
        if kind == Kind::Word
            && let Some(long) = language.long_form(&word)
        {
            words.extend(long.iter().map(|part| read(Kind::Word, part.clone(), start..end, language)));
        } else {
            let owner = word.strip_suffix("'s").or_else(|| word.strip_suffix('\'')).filter(|_| kind == Kind::Word);
            let word = owner.map(str::to_owned).unwrap_or(word);
            words.push(read(kind, word, start..end, language));
        }
    }
    Ok(words)
}

fn read(kind: Kind, text: String, span: Range<usize>, language: &Language) -> Word {
    let number = match kind {
        Kind::Number => text.parse().ok().filter(|value: &f64| value.is_finite()),
        Kind::Word => language.number(&text),
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
