//! A task as clauses: lower case, without quotations and punctuation.

use super::words;

/// Most clauses that are looked at; what comes after them counts as not recognised.
const CLAUSES: usize = 100;

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
    pub(super) words: Vec<String>,
    pub(super) joint: Joint,
    /// Whether its sentence ends in a question mark, of whatever script.
    pub(super) is_asked: bool,
    /// Whether it is written without spaces between words.
    pub(super) is_unspaced: bool,
}

/// The clauses of the task, in order. Past [`CLAUSES`] comes one more that nothing recognises.
pub(super) fn clauses(task: &str) -> Vec<Clause> {
    let mut clauses = Vec::new();
    for (sentence, is_asked) in sentences(&without_quotations(task)) {
        divide(&sentence, is_asked, &mut clauses);
        if clauses.len() > CLAUSES {
            clauses.truncate(CLAUSES);
            let unread = vec!["?".to_owned()];
            clauses.push(Clause { words: unread, joint: Joint::Strong, is_asked: false, is_unspaced: false });
            break;
        }
    }
    clauses
}

fn divide(sentence: &str, is_asked: bool, clauses: &mut Vec<Clause>) {
    let is_unspaced = sentence.chars().any(is_of_unspaced_script);
    let mut joint = Joint::Strong;
    let mut current: Vec<String> = Vec::new();
    let mut close = |current: &mut Vec<String>, joint: &mut Joint, next: Joint| {
        if !current.is_empty() {
            clauses.push(Clause { words: std::mem::take(current), joint: *joint, is_asked, is_unspaced });
            *joint = next;
        } else if next == Joint::Strong {
            *joint = next;
        }
    };
    for part in sentence.split([',', '，', '、', '،']) {
        close(&mut current, &mut joint, Joint::Soft);
        let mut words = words_of(part).into_iter().peekable();
        while let Some(word) = words.next() {
            // "Y a-t-il" is no "and" of Spanish.
            let is_french = word == "y" && words.peek().is_some_and(|next| next == "a");
            if words::holds(words::SUCCESSIONS, &word) {
                close(&mut current, &mut joint, Joint::Strong);
            } else if words::holds(words::JOINTS, &word) && !is_french {
                if current.is_empty() {
                    // "And the other room?" goes on with what was said before.
                    joint = Joint::Soft;
                }
                close(&mut current, &mut joint, Joint::Soft);
            } else {
                current.push(word);
            }
        }
    }
    close(&mut current, &mut joint, Joint::Strong);
}

/// The sentences, and whether each is asked.
fn sentences(text: &str) -> Vec<(String, bool)> {
    let mut sentences = Vec::new();
    let mut current = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_asked = is_question_mark(character);
        // 0.5 is a number.
        let is_point = character == '.' && !characters.peek().is_some_and(char::is_ascii_digit);
        let ends = is_point || matches!(character, '!' | ';' | ':' | '\n' | '\r' | '。' | '！' | '；' | '।' | '…');
        if is_asked || ends {
            sentences.push((std::mem::take(&mut current), is_asked));
        } else {
            current.push(character);
        }
    }
    sentences.push((current, false));
    sentences.retain(|(sentence, _)| sentence.chars().any(char::is_alphanumeric));
    sentences
}

/// Of Latin, full width, Arabic, Greek, Armenian, Ethiopic and a few more scripts.
fn is_question_mark(character: char) -> bool {
    matches!(character, '?' | '？' | '؟' | '\u{37e}' | '՞' | '፧' | '⁇' | '⁈' | '⁉' | '‽' | '⸮' | '꘏' | '꛷')
}

/// Han, kana and Thai. Hangul has spaces.
fn is_of_unspaced_script(character: char) -> bool {
    matches!(character, '\u{0e00}'..='\u{0e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// The words, in lower case. An apostrophe belongs to its word; of a contraction such as "what's" two words are made.
fn words_of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let lower = text.to_lowercase().replace('’', "'");
    for word in lower.split(|next: char| !(next.is_alphanumeric() || is_mark_of_a_letter(next) || next == '\'')) {
        let word = word.trim_matches('\'');
        let contraction = words::CONTRACTIONS.iter().find(|(written, _)| *written == word);
        match (contraction, word.strip_suffix("'s")) {
            _ if word.is_empty() => {}
            (Some((_, meant)), _) => words.extend(meant.split(' ').map(str::to_owned)),
            (None, Some(owner)) if words::holds(words::INTERROGATIVES_IF_ASKED, owner) => {
                words.push(owner.to_owned());
                words.push("is".to_owned());
            }
            (None, _) => words.push(word.to_owned()),
        }
    }
    words
}

/// Signs that belong to the letter before them, in scripts of India, Thailand and others.
fn is_mark_of_a_letter(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{900}'..='\u{903}' | '\u{93a}'..='\u{94f}' | '\u{e31}'..='\u{e4e}')
}

/// The task without what stands in quotation marks; a mark without its partner quotes nothing.
fn without_quotations(task: &str) -> String {
    let mut kept = String::with_capacity(task.len());
    let mut rest = task;
    while let Some((before, mark, after)) = first_mark(rest) {
        kept.push_str(before);
        kept.push(' ');
        let closed = after.char_indices().find(|(_, next)| closes(mark, *next));
        let quoted = closed.and_then(|(at, next)| Some((after.get(..at)?, after.get(at + next.len_utf8()..)?)));
        match quoted {
            // The whole task in quotation marks, as shells and forms may leave it.
            Some((quoted, remaining)) if kept.trim().is_empty() && remaining.trim().is_empty() => {
                return quoted.to_owned();
            }
            Some((_, remaining)) => rest = remaining,
            None => rest = after,
        }
    }
    kept.push_str(rest);
    kept
}

/// The text before the first opening mark, the mark, and the text after it.
fn first_mark(text: &str) -> Option<(&str, char, &str)> {
    let (at, mark) = text.char_indices().find(|(_, next)| matches!(next, '"' | '“' | '”' | '„' | '«' | '「'))?;
    Some((text.get(..at)?, mark, text.get(at + mark.len_utf8()..)?))
}

fn closes(opened: char, character: char) -> bool {
    match opened {
        '«' => character == '»',
        '「' => character == '」',
        _ => matches!(character, '"' | '“' | '”'),
    }
}
