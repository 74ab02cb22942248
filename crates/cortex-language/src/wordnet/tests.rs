use super::PartOfSpeech::{Adjective, Noun, Verb};
use super::*;

use proptest::prelude::*;

#[test]
fn the_table_in_the_tree_can_be_read() {
    assert!(Table::read(BYTES).is_some());
    assert!(BYTES.len() < 1_000_000);
}

#[test]
fn lemmas_and_their_inflected_forms_are_words() {
    for word in ["kitchen", "Kitchen", "kitchens", "brought", "mopping", "slowly", "nearest", "children", "pick up"] {
        assert!(is_word(word), "{word}");
    }
    for word in ["picked_up", "coffee cups", "dishwasher", "vacuuming", "zygote", "thermos", "t-shirt", "children"] {
        assert!(is_word(word), "{word}");
    }
}

#[test]
fn a_slip_is_no_word() {
    for word in ["kitchn", "kithcen", "brign", "opne", "lihgt", "botle", "tabel lamp", "fecth", "swich", "dishwaser"] {
        assert!(!is_word(word), "{word}");
    }
}

#[test]
fn irregular_forms_come_first_then_the_word_itself() {
    assert_eq!(base_forms("went", Verb), ["go"]);
    assert_eq!(base_forms("brought", Verb), ["bring"]);
    assert_eq!(base_forms("saw", Verb), ["see", "saw"]);
    assert_eq!(base_forms("left", Verb), ["leave"]);
    assert_eq!(base_forms("knives", Noun), ["knife"]);
    assert_eq!(base_forms("glasses", Noun), ["glasses", "glass"]);
    assert_eq!(base_forms("better", Adjective), ["good", "well", "better"]);
}

#[test]
fn regular_forms_lose_their_ending() {
    assert_eq!(base_forms("boxes", Noun), ["box"]);
    assert_eq!(base_forms("dishes", Noun), ["dish"]);
    assert_eq!(base_forms("batteries", Noun), ["battery"]);
    assert_eq!(base_forms("firemen", Noun), ["fireman"]);
    assert_eq!(base_forms("Closing", Verb), ["close"]);
    assert_eq!(base_forms("closed", Verb), ["close"]);
    assert_eq!(base_forms("carries", Verb), ["carry"]);
    assert_eq!(base_forms("cleanest", Adjective), ["clean"]);
    assert_eq!(base_forms("wider", Adjective), ["wide"]);
    assert_eq!(base_forms("glass", Noun), ["glass"]);
}

#[test]
fn one_word_of_a_pair_is_inflected() {
    assert_eq!(base_forms("picked up", Verb), ["pick up"]);
    assert_eq!(base_forms("went away", Verb), ["go away"]);
    assert_eq!(base_forms("coffee cups", Noun), ["coffee cup"]);
    assert_eq!(base_forms("steak knives", Noun), ["steak knife"]);
}

#[test]
fn a_base_is_of_the_wanted_part_of_speech() {
    assert!(base_forms("went", Noun).is_empty());
    assert!(base_forms("kitchens", Verb).is_empty());
    assert!(base_forms("slowly", Adjective).is_empty());
}

#[test]
fn synonyms_share_a_sense() {
    for (one, other) in [("fetch", "bring"), ("close", "shut"), ("turn off", "switch off"), ("halt", "stop")] {
        assert!(shares_sense(one, other, Verb, 4), "{one}, {other}");
    }
    for (one, other) in
        [("sofa", "couch"), ("refrigerator", "icebox"), ("trash", "rubbish"), ("cellphone", "mobile phone")]
    {
        assert!(shares_sense(one, other, Noun, 3), "{one}, {other}");
        assert!(shares_sense(other, one, Noun, 3), "{other}, {one}");
    }
    assert!(shares_sense("big", "large", Adjective, 1));
    assert!(!shares_sense("sofa", "lamp", Noun, 3));
    assert!(!shares_sense("sofa", "couch", Verb, 3));
    assert!(!shares_sense("sofa", "couch", Noun, 0));
}

#[test]
fn a_thing_is_of_the_kinds_above_it() {
    let pairs = [
        ("lamp", "furniture"),
        ("lamp", "lamp"),
        ("sofa", "furniture"),
        ("mug", "container"),
        ("apple", "fruit"),
        ("nurse", "person"),
        ("kitchen", "room"),
        ("dog", "animal"),
        ("dishwasher", "home appliance"),
        ("Monday", "weekday"),
        ("lamp", "entity"),
    ];
    for (noun, kind) in pairs {
        assert!(is_kind_of(noun, kind), "{noun}, {kind}");
    }
    assert!(!is_kind_of("furniture", "lamp"));
    assert!(!is_kind_of("nurse", "furniture"));
    assert!(!is_kind_of("nurse", "nothing of this spelling"));
}

#[test]
fn a_verb_is_a_way_of_a_more_general_one() {
    assert!(is_way_of("carry", "move"));
    assert!(is_way_of("walk", "move"));
    assert!(!is_way_of("move", "walk"));
}

#[test]
fn nouns_have_domains() {
    assert_eq!(domain("nurse"), Some(Domain::Person));
    assert_eq!(domain("city"), Some(Domain::Location));
    assert_eq!(domain("lamp"), Some(Domain::Artifact));
    assert_eq!(domain("Kitchen"), Some(Domain::Artifact));
    assert_eq!(domain("bread"), Some(Domain::Food));
    assert_eq!(domain("tuesday"), Some(Domain::Time));
    assert_eq!(domain("idea"), None);
    assert_eq!(domain("fetch"), None);
    assert_eq!(domain("no word at all"), None);
}

#[test]
fn opposites_are_antonyms_in_both_directions() {
    let pairs = [
        ("open", "close"),
        ("open", "shut"),
        ("raise", "lower"),
        ("lift", "lower"),
        ("turn on", "turn off"),
        ("hot", "cold"),
    ];
    for (one, other) in pairs.into_iter().chain([("big", "small"), ("lock", "unlock"), ("push", "pull")]) {
        assert!(are_antonyms(one, other), "{one}, {other}");
        assert!(are_antonyms(other, one), "{other}, {one}");
    }
    for (one, other) in [("open", "open"), ("open", "fetch"), ("open", "kitchn"), ("", "")] {
        assert!(!are_antonyms(one, other), "{one}, {other}");
    }
}

#[test]
fn every_word_of_the_table_is_found_at_its_place() {
    let mut before = String::new();
    let mut count = 0;
    while let Some(word) = TABLE.words.word_at(count) {
        assert!(before < word, "{before}, {word}");
        assert_eq!(TABLE.words.find(&word).map(|found| found.place), Some(count), "{word}");
        (before, count) = (word, count + 1);
    }
    assert!(count > 90_000, "{count}");
}

#[test]
fn every_noun_lies_below_entity() {
    let nouns = (0..u16::MAX).filter(|synset| TABLE.class(*synset).is_some_and(|class| class < FIRST_VERB_CLASS));
    let entity: Vec<u16> = senses("entity", Noun).collect();
    for synset in nouns {
        assert!(TABLE.reaches(vec![synset], &entity), "{synset}");
    }
}

#[test]
fn text_without_words_gets_an_answer() {
    for text in ["", " ", "_", "s", "ed", "\0", "ß", "\u{1F916}", "ing ing", " up", "up ", "-", "'s"] {
        let _ = is_word(text);
        assert_eq!(domain(text).filter(|_| text.is_empty()), None);
    }
    let long = "open".repeat(10_000);
    assert!(!is_word(&long));
    assert!(base_forms(&long, Verb).is_empty());
    assert!(!is_kind_of(&long, &long));
}

/// Asks a table everything, for a table of arbitrary bytes.
fn ask(table: &Table<'_>, word: &str) {
    for part in PartOfSpeech::ALL {
        inflection::base_forms(table, word, part);
    }
    let found = table.words.find(word);
    let _ = found.map(|found| found.senses().len());
    let _ = table.irregular.find(word).map(|found| found.bases().count());
    for number in [0, 1, 40_000, u16::MAX] {
        let _ = table.class(number);
        assert!(!table.reaches(vec![number], &[]));
        let _ = table.are_opposite(number, 1);
        let _ = table.are_antonyms(usize::from(number), 1);
        let _ = table.words.word_at(usize::from(number));
    }
}

#[test]
fn a_table_that_is_cut_is_refused() {
    for length in (0..200).chain((200..BYTES.len()).step_by(10_007)).chain([BYTES.len() - 1]) {
        assert!(Table::read(&BYTES[..length]).is_none(), "{length}");
    }
    ask(&Table::default(), "open");
}

#[test]
fn a_loop_of_hypernyms_ends() {
    let mut bytes = b"CWN1".to_vec();
    for count in [0_u32, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] {
        bytes.extend(count.to_le_bytes());
    }
    bytes.extend([0; 512]);
    bytes.extend([1, 0, 0, 0]);
    let table = Table::read(&bytes).expect("it is whole");
    assert!(!table.reaches(vec![0], &[7]));
    assert!(table.reaches(vec![0], &[1]));
}

proptest! {
    #[test]
    fn any_text_is_answered(one in any::<String>(), other in "[a-z_ '-]{0,70}") {
        let _ = is_word(&one) | is_word(&other);
        for part in PartOfSpeech::ALL {
            base_forms(&one, part);
            base_forms(&other, part);
            let _ = shares_sense(&one, &other, part, usize::MAX);
        }
        let _ = (is_kind_of(&one, &other), is_way_of(&other, &one), are_antonyms(&one, &other), domain(&one));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_damaged_table_gives_some_answer(
        damage in prop::collection::vec((0..BYTES.len(), any::<u8>()), 1..2_000),
        word in "[a-z]{1,12}",
    ) {
        let mut bytes = BYTES.to_vec();
        for (position, byte) in damage {
            bytes[position] = byte;
        }
        if let Some(table) = Table::read(&bytes) {
            ask(&table, &word);
            ask(&table, "open");
        }
    }

    #[test]
    fn any_bytes_behind_the_start_are_survived(rest in prop::collection::vec(any::<u8>(), 0..4_000)) {
        if let Some(table) = Table::read(&[b"CWN1".as_slice(), &rest].concat()) {
            ask(&table, "open");
        }
    }
}
