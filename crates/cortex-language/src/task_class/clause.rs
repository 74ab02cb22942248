//! What one clause asks for.

use cortex_protocol::TaskClass;

use super::language::Language;
use super::pattern::Pattern;
use super::text::{Clause, Joint};

/// Words without a verb that are taken as naming what is asked for: "battery level".
const NAMED_AT_MOST: usize = 4;
/// Most units of a clause that only goes on with the question before it: "and the other room".
const FRAGMENT: usize = 5;
/// Stands for what was taken out of a clause.
const TAKEN_OUT: &str = "\u{0}";

/// Reads the clauses of one task in one language.
pub(super) struct Reader<'l> {
    pub(super) language: &'l Language,
    /// Whether the task is one clause.
    pub(super) is_alone: bool,
    /// What a search counts as.
    pub(super) search: TaskClass,
}

fn any(patterns: &[Pattern], units: &[String]) -> bool {
    patterns.iter().any(|pattern| pattern.is_in(units))
}

impl Reader<'_> {
    /// What the clause asks for; `None` where nothing tells. `asked` is what the clauses before it ask for, without those
    /// that tell nothing. `next` is the clause after it.
    pub(super) fn class_of(
        &self,
        clause: &Clause,
        asked: Option<TaskClass>,
        next: Option<&Clause>,
    ) -> Option<TaskClass> {
        self.class_of_words(clause, next).or_else(|| self.class_of_fragment(clause, asked, next))
    }

    fn class_of_words(&self, clause: &Clause, next: Option<&Clause>) -> Option<TaskClass> {
        let language = self.language;
        // They are made of words of small talk, too.
        if !clause.is_asked && any(&language.commands, &clause.units) {
            return Some(TaskClass::Action);
        }
        let words = without_courtesies(&clause.units, language);
        let is_asked = clause.is_asked && !next.is_some_and(|next| self.is_tag(next));
        let is_talk = |units: &[String]| {
            is_conversation(units, language)
                || any(&language.entertainments, units)
                || self.is_small_talk(units, is_asked)
        };
        if clause.units.iter().all(|word| language.addresses.holds(word)) || is_talk(words) || is_talk(&clause.units) {
            return Some(TaskClass::Conversation);
        }
        // "On", "the old one", "next": words that tell nothing are no evidence of anything.
        if words.is_empty() {
            return any(&language.talk, &clause.units).then_some(TaskClass::Conversation);
        }
        if !clause.is_asked && language.small_talk.only_fills(&clause.units) {
            return None;
        }
        if language.prohibitions.begin(words) {
            return Some(self.class_of_prohibition(words));
        }
        if let Some(rest) = language.wishes.after(words) {
            return Some(self.class_of_wish(rest));
        }
        if language.fetched.after(words).is_some_and(|rest| self.names_a_reading(rest)) {
            return Some(TaskClass::QuestionAboutSelf);
        }
        // The longer phrase says what is meant: to take a look is no taking.
        let told = language.speech.length(words).max(language.deeds.length(words));
        let looked = language.looks.length(words);
        let searched = language.searches.length(words);
        let asked = language.inquiries.length(words);
        if told > asked.max(searched).max(looked) || language.notices.begin(words) {
            return Some(self.class_of_deed(words));
        }
        if searched > asked {
            return Some(self.class_of_search(words));
        }
        if looked > 0 && language.several_places.are_in(words) {
            return Some(TaskClass::SearchOrPatrol);
        }
        if asked > 0 || looked > 0 {
            let is_deed = self.is_deed_after(words, asked.max(looked));
            return Some(if is_deed { TaskClass::Action } else { self.class_of_question(words) });
        }
        if self.is_request(words) {
            return Some(TaskClass::Action);
        }
        if any(&language.talk, words) || any(&language.talk, &clause.units) {
            return Some(TaskClass::Conversation);
        }
        // "What a sunset!" asks for nothing, though it begins like a question.
        if clause.is_exclaimed && any(&language.exclamations, words) {
            return Some(TaskClass::Conversation);
        }
        if any(&language.questions, words) || (clause.is_asked && any(&language.asked, words)) {
            return Some(self.class_of_question(words));
        }
        if any(&language.statements, words) {
            return Some(TaskClass::Conversation);
        }
        self.is_named(words).then_some(TaskClass::QuestionAboutSelf)
    }

    /// Whether the clause is made of the words of small talk: it has none that could name a deed. A question is small talk
    /// only where it speaks of the robot.
    fn is_small_talk(&self, words: &[String], is_asked: bool) -> bool {
        let language = self.language;
        if is_asked {
            (any(&language.itself, words) && language.small_talk_asked.covers(words))
                || (language.greetings.begin(words) && language.small_talk.covers(words))
        } else {
            language.small_talk.covers(words) && !any(&language.questions, words)
        }
    }

    /// Whether the clause means nothing by itself: "next", "you know".
    pub(super) fn tells_nothing(&self, clause: &Clause) -> bool {
        let language = self.language;
        language.small_talk.only_fills(&clause.units) || without_courtesies(&clause.units, language).is_empty()
    }

    /// "Isn't it?", which asks for no more than a nod.
    fn is_tag(&self, clause: &Clause) -> bool {
        clause.joint == Joint::Soft && self.language.trails.are(&clause.units)
    }

    /// What a clause without a verb asks for: it only goes on with what was asked before, "... and the bathroom?", or it
    /// names something of which something is asked after it, "the dog, is it in the garden?"
    fn class_of_fragment(&self, clause: &Clause, asked: Option<TaskClass>, next: Option<&Clause>) -> Option<TaskClass> {
        let language = self.language;
        let words = &clause.units;
        // "You know" and "please" ask for nothing beside something else.
        if !self.is_alone && self.tells_nothing(clause) {
            return Some(TaskClass::Conversation);
        }
        if language.deeds.begin(words) || self.is_request(words) {
            return None;
        }
        let begins = |word: &String| language.articles.holds(word) || language.places.holds(word);
        let is_short = words.len() <= FRAGMENT && words.first().is_some_and(begins);
        let goes_on = match asked {
            Some(asked) if !asked.is_answered_by_words() => false,
            Some(TaskClass::Conversation) if !clause.is_asked => is_short && clause.joint == Joint::Soft,
            Some(_) => is_short && clause.joint == Joint::Soft,
            // "And the other room?", after an earlier task.
            None => clause.is_asked && clause.joint == Joint::Soft && is_short,
        };
        if goes_on {
            return Some(match asked {
                Some(TaskClass::Conversation) if !clause.is_asked => TaskClass::Conversation,
                Some(TaskClass::KnowledgeQuestion) => TaskClass::KnowledgeQuestion,
                _ => TaskClass::QuestionAboutWorld,
            });
        }
        // What is asked of it comes next, and is read for itself.
        let is_question =
            |next: &Clause| self.class_of_words(next, None).is_some_and(|class| class != TaskClass::Conversation);
        let is_followed = next.is_some_and(|next| next.joint == Joint::Soft && is_question(next));
        (is_followed && any(&language.topics, words)).then_some(TaskClass::Conversation)
    }

    /// "Can you ..." is a polite order, unless it asks for what is seen or known.
    fn class_of_wish(&self, rest: &[String]) -> TaskClass {
        let language = self.language;
        let rest = without_courtesies(rest, language);
        let asked = language.inquiries.length(rest).max(language.looks.length(rest));
        if language.searches.length(rest) > asked {
            self.class_of_search(rest)
        } else if language.looks.begin(rest) && language.several_places.are_in(rest) {
            TaskClass::SearchOrPatrol
        } else if (language.perceives.begin(rest) && !self.is_request(rest))
            || (asked > 0 && !language.speech.begin(rest) && !self.is_deed_after(rest, asked))
        {
            self.class_of_question(rest)
        } else {
            self.class_of_deed(rest)
        }
    }

    /// Only what is known to be a deed is forbidden by "don't": not to leave the light on takes an action.
    fn class_of_prohibition(&self, words: &[String]) -> TaskClass {
        let language = self.language;
        let rest = language.prohibitions.after(words).unwrap_or_default();
        if (language.deeds.begin(rest) || language.speech.begin(rest)) && !language.omissions.begin(rest) {
            TaskClass::Conversation
        } else {
            TaskClass::Action
        }
    }

    fn class_of_deed(&self, words: &[String]) -> TaskClass {
        if self.language.rounds.begin(words) { TaskClass::SearchOrPatrol } else { TaskClass::Action }
    }

    /// To look for something is to do something. In every room, it is a tour.
    fn class_of_search(&self, words: &[String]) -> TaskClass {
        if self.language.several_places.are_in(words) {
            TaskClass::SearchOrPatrol
        } else if self.is_request(words) {
            TaskClass::Action
        } else {
            self.search
        }
    }

    /// A question: of itself, of what is known without a look, or of the world around it.
    fn class_of_question(&self, words: &[String]) -> TaskClass {
        let language = self.language;
        if language.smalltalk.are(words) {
            return TaskClass::Conversation;
        }
        if any(&language.abilities, words) {
            return TaskClass::KnowledgeQuestion;
        }
        let is_around = any(&language.around, words);
        let is_of_itself = any(&language.itself, words);
        if is_of_itself || (language.body.are_in(words) && !is_around) || self.is_named(words) {
            TaskClass::QuestionAboutSelf
        } else if any(&language.knowledge, words) && !is_around {
            TaskClass::KnowledgeQuestion
        } else {
            TaskClass::QuestionAboutWorld
        }
    }

    /// Whether the words ask for a deed.
    fn is_request(&self, words: &[String]) -> bool {
        let asides = self.language.asides.iter().filter_map(|aside| aside.found_in(words));
        let spans: Vec<(usize, usize)> = asides.collect();
        if spans.is_empty() {
            return any(&self.language.requests, words);
        }
        let is_taken = |at: usize| spans.iter().any(|(from, to)| (*from..*to).contains(&at));
        let kept = words.iter().enumerate();
        let kept: Vec<String> =
            kept.map(|(at, word)| if is_taken(at) { TAKEN_OUT.to_owned() } else { word.clone() }).collect();
        any(&self.language.requests, &kept)
    }

    /// Whether a deed is asked for after an inquiry of so many words: "check in the guest", "describe it to the guest".
    fn is_deed_after(&self, words: &[String], inquiry: usize) -> bool {
        let language = self.language;
        let rest = words.get(inquiry..).unwrap_or_default();
        let is_apart = inquiry == 1 && rest.first().is_some_and(|next| language.particles.holds(next));
        is_apart || language.for_others.are_in(rest) || self.is_request(rest)
    }

    /// Whether the words are nothing but the name of a part of the robot or of a reading of it.
    fn is_named(&self, words: &[String]) -> bool {
        let language = self.language;
        let telling: Vec<&String> = words.iter().filter(|word| !language.articles.holds(word)).collect();
        let names = |word: &&String| language.body.holds(word) || language.readings.holds(word);
        !telling.is_empty() && telling.len() <= NAMED_AT_MOST && telling.iter().all(names)
    }

    /// Whether the words name a reading of the robot: "battery level", but not "battery", which can be carried.
    fn names_a_reading(&self, words: &[String]) -> bool {
        self.is_named(words) && words.iter().any(|word| self.language.readings.holds(word))
    }
}

/// Whether the words are a greeting, thanks or small talk, whoever they are addressed to.
fn is_conversation(words: &[String], language: &Language) -> bool {
    if language.smalltalk.are(words) {
        return true;
    }
    let Some(mut rest) = language.greetings.after(words) else { return false };
    loop {
        match (rest.split_first(), language.greetings.after(rest)) {
            (None, _) => return true,
            (Some(_), Some(further)) => rest = further,
            (Some((first, further)), None) if language.addresses.holds(first) => rest = further,
            (Some(_), None) => return language.smalltalk.are(rest),
        }
    }
}

/// The words without "please", "robot", a greeting before something else, and the like.
pub(super) fn without_courtesies<'u>(words: &'u [String], language: &Language) -> &'u [String] {
    let mut rest = words;
    while let Some(further) = language.courtesies.after(rest).or_else(|| {
        // "Hello, go to the kitchen", but not "hello" alone.
        language.greetings.after(rest).filter(|further| !further.is_empty() && !is_conversation(rest, language))
    }) {
        if further.is_empty() && rest.len() == words.len() && is_conversation(rest, language) {
            break;
        }
        rest = further;
    }
    while let Some(before) = language.trails.before(rest).filter(|before| !before.is_empty()) {
        rest = before;
    }
    rest
}
