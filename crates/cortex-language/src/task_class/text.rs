//! A task as clauses: lower case, without quotations and punctuation.

use std::collections::BTreeMap;

use super::language::Language;

/// Most clauses that are looked at; what comes after them counts as not recognised.
const CLAUSES: usize = 100;
/// Most units of a clause that is looked at; a longer one counts as not recognised.
const UNITS: usize = 160;
/// What nothing recognises.
pub(super) const UNREAD: &str = "?";

/// Stands for what is quoted: a clause with a quotation has more in it than its words, "echo" with a text is no "echo".
const QUOTED: char = '\u{fffc}';

/// How a clause is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// By the end of a sentence, or by "then".
    Strong,
    /// By a comma or "and": it may only go on with what was said before.
    Soft,
}

/// One clause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    /// Words, or characters where the language is written without spaces.
    pub(super) units: Vec<String>,
    pub(super) joint: Joint,
    /// Whether its sentence ends in a question mark, of whatever script.
    pub(super) is_asked: bool,
    /// Whether its sentence ends in an exclamation mark.
    pub(super) is_exclaimed: bool,
}

/// How a sentence ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Asked,
    Exclaimed,
    Plain,
}

/// How a language divides a text into units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tokenizer {
    /// Whether the units are characters.
    pub(super) by_character: bool,
    /// What an apostrophe parts from its word: "l'" in "l'heure".
    pub(super) elided: Vec<String>,
    /// Contractions and what they stand for.
    pub(super) contractions: BTreeMap<String, String>,
    /// Words of which "'s" is "is".
    pub(super) owners: Vec<String>,
    /// Whether people without its letters write two for one, "ue" for "ü". Elsewhere they leave accents out.
    pub(super) writes_umlauts_out: bool,
}

impl Tokenizer {
    pub(super) fn is_unspaced(&self) -> bool {
        self.by_character
    }

    /// The units of a text without punctuation that matters.
    pub(super) fn units(&self, text: &str) -> Vec<String> {
        let lower = lower(text);
        if self.by_character {
            return lower.chars().filter(|next| is_of_a_word(*next)).map(|next| next.to_string()).collect();
        }
        let mut units = Vec::new();
        for word in lower.split(|next: char| !(is_of_a_word(next) || next == '\'')) {
            let word = word.trim_start_matches('\'');
            let elides = word.split_once('\'').filter(|(first, _)| self.elided.iter().any(|it| it == first));
            if let Some((first, rest)) = elides {
                units.push(first.to_owned());
                if !rest.is_empty() {
                    self.add_word(rest, &mut units);
                }
            } else {
                self.add_word(word, &mut units);
            }
        }
        units
    }

    fn add_word(&self, word: &str, units: &mut Vec<String>) {
        let word = word.trim_matches('\'');
        let is_owner = |owner: &&str| self.owners.iter().any(|it| it == owner);
        if word.is_empty() {
        } else if let Some(meant) = self.contractions.get(word) {
            units.extend(meant.split(' ').map(str::to_owned));
        } else if let Some(owner) = word.strip_suffix("'s").filter(is_owner) {
            units.extend([owner.to_owned(), "is".to_owned()]);
        } else {
            units.push(word.to_owned());
        }
    }
}

/// In lower case, with one kind of apostrophe. The dot that Turkish capitals leave behind is dropped.
pub(super) fn lower(text: &str) -> String {
    text.to_lowercase().replace(['’', '`', '´'], "'").replace('\u{307}', "")
}

/// The clauses of the task, in order. Past [`CLAUSES`] comes one more that nothing recognises.
pub(super) fn clauses(task: &str, language: &Language) -> Vec<Clause> {
    let mut clauses = Vec::new();
    for (sentence, end) in sentences(&without_quotations(task)) {
        divide(&sentence, end, language, &mut clauses);
        if clauses.len() > CLAUSES {
            clauses.truncate(CLAUSES);
            let units = vec![UNREAD.to_owned()];
            clauses.push(Clause { units, joint: Joint::Strong, is_asked: false, is_exclaimed: false });
            break;
        }
    }
    for clause in clauses.iter_mut().filter(|clause| clause.units.len() > UNITS) {
        clause.units = vec![UNREAD.to_owned()];
    }
    clauses
}

fn divide(sentence: &str, end: End, language: &Language, clauses: &mut Vec<Clause>) {
    let mut joint = Joint::Strong;
    let mut current: Vec<String> = Vec::new();
    let mut close = |current: &mut Vec<String>, joint: &mut Joint, next: Joint| {
        if !current.is_empty() {
            let (is_asked, is_exclaimed) = (end == End::Asked, end == End::Exclaimed);
            clauses.push(Clause { units: std::mem::take(current), joint: *joint, is_asked, is_exclaimed });
            *joint = next;
        } else if next == Joint::Strong {
            *joint = next;
        }
    };
    for part in sentence.split([',', '，', '、', '،', '¿', '¡', '–', '—']) {
        close(&mut current, &mut joint, Joint::Soft);
        // The first joint after "between".
        let mut may_join = true;
        for unit in language.tokenizer.units(part) {
            if language.successions.holds(&unit) {
                close(&mut current, &mut joint, Joint::Strong);
            } else if language.joints.holds(&unit) && !(language.between.are_in(&current) && may_join) {
                if current.is_empty() {
                    // "And the other room?" goes on with what was said before.
                    joint = Joint::Soft;
                }
                close(&mut current, &mut joint, Joint::Soft);
            } else {
                may_join &= !language.joints.holds(&unit);
                current.push(unit);
            }
        }
    }
    close(&mut current, &mut joint, Joint::Strong);
}

/// The sentences, and how each ends.
fn sentences(text: &str) -> Vec<(String, End)> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_asked = is_question_mark(character);
        // 0.5 is a number.
        let is_point = character == '.' && !characters.peek().is_some_and(char::is_ascii_digit);
        // 19:30 is a time.
        let is_colon = character == ':' && !characters.peek().is_some_and(char::is_ascii_digit);
        let is_exclaimed = matches!(character, '!' | '！');
        let ends = is_point || is_colon || matches!(character, ';' | '\n' | '\r' | '。' | '；' | '।' | '…');
        if is_asked || is_exclaimed || ends {
            let end = if is_asked { End::Asked } else { End::Plain };
            let end = if is_exclaimed { End::Exclaimed } else { end };
            sentences.push((std::mem::take(&mut current), end));
        } else {
            current.push(character);
        }
    }
    sentences.push((current, End::Plain));
    sentences.retain(|(sentence, _)| sentence.chars().any(char::is_alphanumeric));
    sentences
}

/// Of Latin, full width, Arabic, Greek, Armenian, Ethiopic and a few more scripts.
fn is_question_mark(character: char) -> bool {
    matches!(character, '?' | '？' | '؟' | '\u{37e}' | '՞' | '፧' | '⁇' | '⁈' | '⁉' | '‽' | '⸮' | '꘏' | '꛷')
}

/// Letters, digits, and signs that belong to the letter before them in scripts of India, Thailand and others.
fn is_of_a_word(character: char) -> bool {
    character.is_alphanumeric()
        || character == QUOTED
        || matches!(character, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{e31}'..='\u{e4e}')
}

/// The word with umlauts written out: "könntest" and "konntest" are two words.
pub(super) fn written_out(word: &str) -> String {
    word.replace('ä', "ae").replace('ö', "oe").replace('ü', "ue").replace('ß', "ss")
}

/// The word without accents: as people write who have no keyboard for them.
pub(super) fn folded(word: &str) -> String {
    word.chars()
        .map(|letter| match letter {
            'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' | 'ą' => 'a',
            'é' | 'è' | 'ê' | 'ë' | 'ę' | 'ě' => 'e',
            'í' | 'ì' | 'î' | 'ï' | 'ı' => 'i',
            'ó' | 'ò' | 'ô' | 'ö' | 'õ' | 'ø' => 'o',
            'ú' | 'ù' | 'û' | 'ü' | 'ů' => 'u',
            'ç' | 'ć' | 'č' => 'c',
            'ñ' | 'ń' => 'n',
            'ş' | 'ś' | 'š' => 's',
            'ź' | 'ż' | 'ž' => 'z',
            'ł' => 'l',
            'ğ' => 'g',
            'ё' => 'е',
            other => other,
        })
        .collect()
}

/// The task with one sign in place of what stands in quotation marks; a mark without its partner quotes nothing.
pub(super) fn without_quotations(task: &str) -> String {
    let mut kept = String::with_capacity(task.len());
    let mut rest = task;
    while let Some((before, mark, after)) = first_mark(rest) {
        kept.push_str(before);
        let closed = after.char_indices().find(|(_, next)| closes(mark, *next));
        let quoted = closed.and_then(|(at, next)| Some((after.get(..at)?, after.get(at + next.len_utf8()..)?)));
        match quoted {
            // The whole task in quotation marks, as shells and forms may leave it.
            Some((quoted, remaining)) if kept.trim().is_empty() && remaining.trim().is_empty() => {
                return quoted.to_owned();
            }
            Some((_, remaining)) => {
                kept.extend([' ', QUOTED, ' ']);
                rest = remaining;
            }
            None => {
                kept.push(' ');
                rest = after;
            }
        }
    }
    kept.push_str(rest);
    kept
}

/// The text before the first opening mark, the mark, and the text after it.
fn first_mark(text: &str) -> Option<(&str, char, &str)> {
    let (at, mark) = text.char_indices().find(|(_, next)| matches!(next, '"' | '“' | '”' | '„' | '«' | '「' | '『'))?;
    Some((text.get(..at)?, mark, text.get(at + mark.len_utf8()..)?))
}

fn closes(opened: char, character: char) -> bool {
    match opened {
        '«' => character == '»',
        '「' => character == '」',
        '『' => character == '』',
        _ => matches!(character, '"' | '“' | '”'),
    }
}
