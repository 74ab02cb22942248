//! The class of a task over corpora of other authors, as totals. No test prints a sentence of the unseen corpus: its
//! figures are those of unseen sentences only as long as nobody writes rules for them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use cortex_language::task_class::{check, classify};
use cortex_protocol::TaskClass::{self, Conversation, KnowledgeQuestion};

#[derive(serde::Deserialize)]
struct Sentence {
    say: String,
    class: String,
}

/// What the sentences of a corpus are taken for: how many of each class, and of those how many for each.
struct Totals(BTreeMap<String, Vec<TaskClass>>);

fn corpus(file: &str) -> Option<Vec<Sentence>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/classes").join(file);
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().map(|line| serde_json::from_str(line).ok()).collect()
}

impl Totals {
    fn of(sentences: &[Sentence]) -> Self {
        let mut totals: BTreeMap<String, Vec<TaskClass>> = BTreeMap::new();
        for sentence in sentences {
            totals.entry(sentence.class.clone()).or_default().push(classify(&sentence.say));
        }
        Self(totals)
    }

    /// How many of these classes are taken for what `is` says, in percent.
    fn percent(&self, classes: &[&str], is: impl Fn(TaskClass) -> bool) -> f64 {
        let got: Vec<TaskClass> = classes.iter().filter_map(|class| self.0.get(*class)).flatten().copied().collect();
        let wrong = got.iter().filter(|class| is(**class)).count();
        100.0 * f64::from(u32::try_from(wrong).unwrap_or(u32::MAX))
            / f64::from(u32::try_from(got.len().max(1)).unwrap_or(1))
    }

    /// In percent: orders taken for words, and questions about the world, knowledge and chat, and questions about the robot
    /// taken for orders; knowledge that would demand a look; questions about the world for which no look would be taken.
    fn figures(&self) -> [f64; 6] {
        let is_order = |class: TaskClass| !class.is_answered_by_words();
        let figures = [
            self.percent(&["order", "order_as_question"], TaskClass::is_answered_by_words),
            self.percent(&["question_world"], is_order),
            self.percent(&["knowledge", "chat"], is_order),
            self.percent(&["question_self"], is_order),
            self.percent(&["knowledge"], |class| !matches!(class, Conversation | KnowledgeQuestion)),
            self.percent(&["question_world"], |class| matches!(class, Conversation | KnowledgeQuestion)),
        ];
        println!("orders taken for words: {:.1} %", figures[0]);
        println!("questions about the world taken for orders: {:.1} %", figures[1]);
        println!("knowledge and chat taken for orders: {:.1} %", figures[2]);
        println!("questions about the robot taken for orders: {:.1} %", figures[3]);
        println!("knowledge that demands more than words: {:.1} %", figures[4]);
        println!("questions about the world for which words are enough: {:.1} %", figures[5]);
        figures
    }
}

fn assert_within(figures: [f64; 6], bounds: [f64; 6]) {
    let is_within = figures.iter().zip(bounds).all(|(figure, bound)| *figure <= bound);
    assert!(is_within, "{figures:.1?} is beyond {bounds:?}");
}

#[test]
fn the_data_of_all_languages_can_be_read() {
    assert_eq!(check(), Ok(()));
}

#[test]
fn sentences_that_were_seen_are_what_they_ask_for() {
    let sentences = corpus("seen.jsonl").expect("the seen corpus");
    assert!(sentences.len() >= 1_000);
    assert_within(Totals::of(&sentences).figures(), [1.0, 3.0, 5.0, 10.0, 7.0, 3.0]);
}

/// Orders in the form of a question, and chat, by the author of the data. When they were first read, 14 % of the orders
/// passed for words, and 34 % of the chat for orders; the data knows them now.
#[test]
fn sentences_that_were_written_after_the_data_are_what_they_ask_for() {
    let sentences = corpus("written-after.jsonl").expect("the corpus");
    assert!(sentences.len() >= 280);
    assert_within(Totals::of(&sentences).figures(), [1.0, 0.0, 2.0, 0.0, 0.0, 0.0]);
}

/// Orders in the form of a question in 14 languages, by the author of their rules. At first sight 19.4, 15.7 and 10.0 % of
/// three lots of them passed for words; the data knows them now, so that this test only guards against a change for the worse.
#[test]
fn orders_in_the_form_of_a_question_are_orders() {
    let sentences = corpus("orders-as-questions.jsonl").expect("the corpus");
    assert!(sentences.len() >= 560);
    assert_within(Totals::of(&sentences).figures(), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

/// Sentences in 14 languages by the author of the data, in six lots that were each counted before any rule was made for
/// them (see RESULTS.md). Hints such as "aren't the plants thirsty?" are orders here, and pass for questions.
#[test]
fn sentences_of_the_development_set_are_mostly_what_they_ask_for() {
    let sentences = corpus("development.jsonl").expect("the development corpus");
    assert!(sentences.len() >= 1_200);
    assert_within(Totals::of(&sentences).figures(), [6.0, 8.5, 13.5, 12.5, 39.0, 2.5]);
}

/// What people say every day in 14 languages, by the author of the rules that came last, in four lots that were counted
/// before any rule was made for them (see RESULTS.md).
#[test]
fn sentences_of_every_day_are_what_they_ask_for() {
    let sentences = corpus("later.jsonl").expect("the corpus");
    assert!(sentences.len() >= 740);
    assert_within(Totals::of(&sentences).figures(), [1.0, 3.0, 8.0, 4.0, 41.0, 2.0]);
}

/// Ten languages with short lists, by the author of the lists (see RESULTS.md).
#[test]
fn languages_with_short_lists_know_their_greetings_questions_and_orders() {
    let sentences = corpus("further-languages.jsonl").expect("the corpus");
    assert!(sentences.len() >= 180);
    assert_within(Totals::of(&sentences).figures(), [0.0, 0.0, 4.0, 0.0, 5.0, 0.0]);
}

/// The words of deeds that the data of each language lists, each said by itself.
#[test]
fn a_word_of_a_deed_by_itself_is_no_talk() {
    #[derive(serde::Deserialize)]
    struct Data {
        #[serde(default)]
        lists: BTreeMap<String, String>,
    }
    // "Help" asks what the robot can do, a wheel is a part of it, and "ta in?" is Swedish for hardly anything else.
    let meant_otherwise = ["help", "wheel", "ta in"];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/classes");
    let (mut words, mut wrong) = (0, Vec::new());
    for file in std::fs::read_dir(folder).expect("the data").flatten() {
        let data: Data = toml::from_str(&std::fs::read_to_string(file.path()).expect("a file")).expect("its lists");
        let deeds: String = data.lists.get("acts").into_iter().flat_map(|list| list.split_whitespace()).collect();
        for deed in deeds.split('/').filter(|deed| !deed.is_empty() && !deed.contains('*')) {
            let deed = deed.replace('_', " ");
            words += 1;
            if classify(&deed).is_answered_by_words() && !meant_otherwise.contains(&deed.as_str()) {
                wrong.push(deed);
            }
        }
    }
    assert!(words >= 1_000, "{words}");
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn a_word_that_tells_nothing_is_not_recognised() {
    for task in
        ["one", "on", "off", "the old one", "next", "next song", "home", "it is", "fix", "to bed", "los", "casa", "hem"]
    {
        assert_eq!(classify(task), TaskClass::Action, "{task}");
    }
}

/// Bounds a little above what was reached, so that a change for the worse shows. The aims are 1, 3 and 5 %.
#[test]
fn sentences_that_nobody_has_seen_are_mostly_what_they_ask_for() {
    let sentences = corpus("unseen.jsonl").expect("the unseen corpus");
    assert_within(Totals::of(&sentences).figures(), [2.4, 7.5, 18.0, 26.0, 21.0, 4.0]);
}

#[test]
fn a_sentence_is_read_in_no_time() {
    let sentences = corpus("seen.jsonl").expect("the seen corpus");
    let _ = classify("hello");
    let begin = Instant::now();
    for sentence in &sentences {
        let _ = classify(&sentence.say);
    }
    let each = begin.elapsed() / u32::try_from(sentences.len()).expect("a few thousand");
    println!("{each:?} a sentence");
    // A bound against what grows without end; how fast it is on a robot tells `cargo xtask bench`.
    let bound = Duration::from_millis(200);
    assert!(each < bound, "{each:?}");
}
