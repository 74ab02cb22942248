//! The form of a language's data.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::language::Frame;
use crate::phrases::{Names, PhraseSet};
use crate::stem::Ending;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grammar {
    /// For people who read the file.
    #[serde(rename = "name")]
    _name: String,
    pub(crate) short_forms: BTreeMap<String, String>,
    pub(crate) words: Words,
    pub(crate) roles: BTreeMap<String, String>,
    pub(crate) frames: Frames,
    pub(crate) numbers: BTreeMap<String, f64>,
    pub(crate) ordinals: BTreeMap<String, f64>,
    pub(crate) endings: Vec<Ending>,
    pub(crate) irregular: BTreeMap<String, String>,
    pub(crate) talk: BTreeMap<String, String>,
    pub(crate) states: BTreeMap<String, String>,
    /// Of states of any language; only English says them.
    #[serde(default)]
    pub(crate) opposites: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) truths: Truths,
    pub(crate) qualities: BTreeMap<String, String>,
    /// What questions ask about, by the words that ask for it.
    pub(crate) topics: BTreeMap<String, String>,
    /// The same, by words that may mean something else.
    pub(crate) topic_hints: BTreeMap<String, String>,
    /// The words of tools that tell of it; only English says them.
    #[serde(default)]
    pub(crate) told_by: BTreeMap<String, String>,
    pub(crate) forms: Forms,
    /// Clauses of a language other than English, by the English ones that say the same.
    #[serde(default)]
    pub(crate) idioms: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Truths {
    pub(crate) yes: String,
    pub(crate) no: String,
}

/// Forms of verbs that tell of something instead of asking for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forms {
    /// Endings of what is being done.
    pub(crate) gerund: String,
    /// Endings of what was done.
    pub(crate) past: String,
    /// Endings of how something is done.
    pub(crate) manner: String,
    /// Words for what was done that have no such ending.
    pub(crate) pasts: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    pub(crate) empty: PhraseSet,
    pub(crate) articles: PhraseSet,
    /// About the words of tools, which are English; only English says it.
    #[serde(default)]
    pub(crate) weak: PhraseSet,
    pub(crate) weighty: PhraseSet,
    #[serde(default)]
    pub(crate) generic_looks: Names,
    #[serde(default)]
    pub(crate) unspoken: PhraseSet,
    pub(crate) abbreviations: PhraseSet,
    pub(crate) purposes: PhraseSet,
    pub(crate) aims: PhraseSet,
    pub(crate) dues: PhraseSet,
    pub(crate) wishes: PhraseSet,
    pub(crate) reasons: PhraseSet,
    pub(crate) spans: PhraseSet,
    pub(crate) pale: PhraseSet,
    pub(crate) contrasts: PhraseSet,
    pub(crate) which: PhraseSet,
    pub(crate) starts: PhraseSet,
    pub(crate) inquiries: PhraseSet,
    pub(crate) lookups: PhraseSet,
    pub(crate) why_asked: PhraseSet,
    pub(crate) possessives: PhraseSet,
    pub(crate) determiners: PhraseSet,
    pub(crate) everywhere: PhraseSet,
    pub(crate) asides: PhraseSet,
    pub(crate) unanswered: PhraseSet,
    pub(crate) alternatives: PhraseSet,
    pub(crate) quantifiers: PhraseSet,
    pub(crate) thresholds: PhraseSet,
    pub(crate) lowest: PhraseSet,
    pub(crate) highest: PhraseSet,
    pub(crate) farthest: PhraseSet,
    pub(crate) subjects: PhraseSet,
    pub(crate) told: PhraseSet,
    pub(crate) tellers: PhraseSet,
    pub(crate) wishful: PhraseSet,
    pub(crate) around: PhraseSet,
    pub(crate) text_edges: PhraseSet,
    pub(crate) shifting: PhraseSet,
    pub(crate) fleeting: PhraseSet,
    pub(crate) of_all: PhraseSet,
    pub(crate) for_whom: PhraseSet,
    pub(crate) lowest_names: PhraseSet,
    pub(crate) highest_names: PhraseSet,
    pub(crate) unknown_people: PhraseSet,
    pub(crate) receives: PhraseSet,
    pub(crate) causes: PhraseSet,
    #[serde(default)]
    pub(crate) absent: PhraseSet,
    pub(crate) counted_from: PhraseSet,
    pub(crate) addressed: PhraseSet,
    pub(crate) interjections: PhraseSet,
    pub(crate) greets: PhraseSet,
    #[serde(default)]
    pub(crate) getters: PhraseSet,
    pub(crate) arrived: PhraseSet,
    pub(crate) arrivals: PhraseSet,
    pub(crate) kinds: PhraseSet,
    pub(crate) deeds: PhraseSet,
    pub(crate) place_kinds: PhraseSet,
    pub(crate) tours: PhraseSet,
    pub(crate) tour_senses: Names,
    pub(crate) tour_verbs: Names,
    pub(crate) grounds: PhraseSet,
    pub(crate) past_sight: PhraseSet,
    pub(crate) aloud: PhraseSet,
    pub(crate) results: PhraseSet,
    pub(crate) reads_out: PhraseSet,
    pub(crate) joints: PhraseSet,
    pub(crate) sequence: PhraseSet,
    pub(crate) before: PhraseSet,
    pub(crate) after: PhraseSet,
    pub(crate) negations: PhraseSet,
    pub(crate) conditions: PhraseSet,
    pub(crate) timings: PhraseSet,
    /// By how little something is done: "open it a little".
    pub(crate) degrees: PhraseSet,
    /// Between two of which one is left open: "or", "or maybe".
    pub(crate) eithers: PhraseSet,
    /// Begin a sentence that forbids.
    pub(crate) forbids: PhraseSet,
    /// Speak of orders without giving them.
    pub(crate) withholds: PhraseSet,
    /// After what is forbidden, before what is ordered instead.
    pub(crate) turns: PhraseSet,
    pub(crate) choices: PhraseSet,
    pub(crate) exceptions: PhraseSet,
    pub(crate) persons: PhraseSet,
    pub(crate) counts: PhraseSet,
    #[serde(default)]
    pub(crate) counted: Names,
    pub(crate) positions: PhraseSet,
    pub(crate) beforehand: PhraseSet,
    pub(crate) but_first: PhraseSet,
    /// What follows is done after all that was said before.
    pub(crate) afterwards: PhraseSet,
    /// In what is done afterwards: it may say something of what is done before.
    pub(crate) looking_back: PhraseSet,
    pub(crate) targets: PhraseSet,
    pub(crate) sources: PhraseSet,
    pub(crate) rests: PhraseSet,
    pub(crate) belongs: PhraseSet,
    pub(crate) all: PhraseSet,
    pub(crate) both: PhraseSet,
    pub(crate) repeats: BTreeMap<String, u32>,
    pub(crate) times: PhraseSet,
    pub(crate) again: PhraseSet,
    /// Ask, as a whole text, for all that was done before.
    pub(crate) encores: PhraseSet,
    pub(crate) things: PhraseSet,
    pub(crate) places: PhraseSet,
    pub(crate) here: PhraseSet,
    pub(crate) people: PhraseSet,
    pub(crate) questions: PhraseSet,
    pub(crate) openings: PhraseSet,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Frames {
    pub(crate) leads: String,
    pub(crate) stations: String,
    pub(crate) openers: PhraseSet,
    pub(crate) closers: PhraseSet,
    pub(crate) courtesies: PhraseSet,
    pub(crate) ends_of_texts: PhraseSet,
    pub(crate) wished: String,
    pub(crate) greetings: PhraseSet,
    pub(crate) corrections: PhraseSet,
    pub(crate) say: String,
    pub(crate) write: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SenseEntry {
    pub(crate) words: String,
    pub(crate) base: Option<String>,
    pub(crate) state: Option<String>,
    #[serde(default)]
    pub(crate) light: bool,
    #[serde(default)]
    pub(crate) adjusts: bool,
    #[serde(default)]
    pub(crate) looks: bool,
    pub(crate) frame: Option<Frame>,
    pub(crate) says: Option<String>,
    pub(crate) of: Option<String>,
    pub(crate) place: Option<String>,
}
