//! Which tools declare a clause as a sentence of theirs: `scan the tag`, `read the topic {topic}`.

use cortex_protocol::ToolSpec;

use super::clause;
use super::language::Language;
use super::text::Clause;

/// A declared sentence: its own words, in the pieces between its `{parameters}`.
struct Sentence(Vec<Vec<String>>);

/// Of each clause, the tools that declare it.
pub(super) fn declaring<'t>(clauses: &[Clause], language: &Language, tools: &[&'t ToolSpec]) -> Vec<Vec<&'t ToolSpec>> {
    let sentences_of = |tool: &'t ToolSpec| -> (&'t ToolSpec, Vec<Sentence>) {
        (tool, tool.phrases.iter().filter_map(|phrase| Sentence::read(phrase, language)).collect())
    };
    let declared: Vec<(&ToolSpec, Vec<Sentence>)> = tools.iter().copied().map(sentences_of).collect();
    let of = |clause: &Clause| {
        let says = |units: &[String]| units.iter().filter(|word| !language.articles.holds(word)).cloned().collect();
        let spoken: [Vec<String>; 2] = [says(&clause.units), says(clause::without_courtesies(&clause.units, language))];
        let is_said = |sentence: &Sentence| spoken.iter().any(|words| sentence.is_said_by(words));
        let saying = declared.iter().filter(|(_, sentences)| sentences.iter().any(is_said));
        saying.map(|(tool, _)| *tool).collect()
    };
    clauses.iter().map(of).collect()
}

impl Sentence {
    /// The pieces of a phrase without articles; `None` where a brace has no partner, or no word would be its own: such a
    /// sentence would say everything.
    fn read(phrase: &str, language: &Language) -> Option<Self> {
        let own_words = |text: &str| -> Vec<String> {
            language.tokenizer.units(text).into_iter().filter(|word| !language.articles.holds(word)).collect()
        };
        let mut pieces = Vec::new();
        let mut rest = phrase;
        while let Some((before, after)) = rest.split_once('{') {
            pieces.push(own_words(before));
            rest = after.split_once('}')?.1;
        }
        pieces.push(own_words(rest));
        pieces.iter().any(|words| !words.is_empty()).then_some(Self(pieces))
    }

    /// Whether the words are the pieces, with at least one word in each gap between them.
    fn is_said_by(&self, words: &[String]) -> bool {
        let Some((first, others)) = self.0.split_first() else { return words.is_empty() };
        let Some(mut rest) = words.strip_prefix(first.as_slice()) else { return false };
        for (index, piece) in others.iter().enumerate() {
            let is_last = index + 1 == others.len();
            let begins = |at: &usize| rest.get(*at..).is_some_and(|words| words.starts_with(piece));
            let found = if is_last {
                // The last piece ends the clause.
                rest.len().checked_sub(piece.len()).filter(|at| *at > 0 && begins(at))
            } else {
                (1..rest.len()).find(begins)
            };
            let Some(at) = found else { return false };
            rest = rest.get(at + piece.len()..).unwrap_or_default();
        }
        rest.is_empty()
    }
}
