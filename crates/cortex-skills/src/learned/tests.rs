//! Stories of skills that were learned, and of what people and others do to their files.

use std::fs::{hard_link, symlink_metadata};
use std::os::unix::fs::symlink;

use super::*;

fn proposal(name: &str) -> Proposal {
    Proposal { name: name.to_owned(), text: format!("---\nname: {name}\ndescription: Learned.\n---\nSo.\n") }
}

/// Says yes or no to the file as it is now.
fn decide(learned: &LearnedSkills, name: &str, decision: SkillDecision) -> Result<(), LearnedError> {
    let standings = [SkillStanding::Proposed, SkillStanding::On, SkillStanding::Off];
    let mut found = standings.into_iter().flat_map(|standing| learned.read(standing).skills);
    let seen = found.find(|found| found.skill.name == name).map_or(SkillDigest(0), |found| found.digest);
    learned.decide(name, seen, decision)
}

fn names(learned: &LearnedSkills, standing: SkillStanding) -> Vec<String> {
    learned.read(standing).skills.iter().map(|found| found.skill.name.clone()).collect()
}

#[test]
fn a_proposal_is_used_after_a_yes_and_not_after_a_no() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().join("skills"));
    let used = SkillFolders::new(vec![learned.accepted()]);
    learned.propose(&proposal("round")).unwrap().expect("a file");
    assert!(used.read().skills.is_empty(), "a proposal is not used");
    decide(&learned, "round", SkillDecision::Accept).unwrap();
    assert_eq!(used.read().skills.len(), 1);
    decide(&learned, "round", SkillDecision::Accept).unwrap();
    decide(&learned, "round", SkillDecision::Reject).unwrap();
    assert!(used.read().skills.is_empty());
    assert_eq!(names(&learned, SkillStanding::Off), ["round"]);
    decide(&learned, "round", SkillDecision::Accept).unwrap();
    assert!(
        used.read().skills.len() == 1 && names(&learned, SkillStanding::Off).is_empty(),
        "people change their minds"
    );
    assert!(learned.forget(Some("round")).unwrap() && used.read().skills.is_empty());
    assert!(!learned.forget(None).unwrap());
}

#[test]
fn what_is_no_learned_skill_is_neither_moved_nor_used() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().join("skills"));
    learned.propose(&proposal("round")).unwrap().expect("a file");
    fs::create_dir_all(root.path().join("elsewhere")).unwrap();
    for name in ["tour", "", "..", "../elsewhere", "round/../round", "/etc"] {
        let refused = decide(&learned, name, SkillDecision::Accept).expect_err(name);
        assert!(matches!(refused, LearnedError::Unknown(_)), "{refused}");
        assert!(!learned.forget(Some(name)).unwrap());
    }
    assert!(root.path().join("elsewhere").is_dir());
    fs::write(root.path().join("skills/proposed/round").join(FILE), "broken").unwrap();
    let refused = decide(&learned, "round", SkillDecision::Accept).expect_err("broken").to_string();
    assert!(refused.contains("it does not begin with a line '---'"), "{refused}");
    assert!(names(&learned, SkillStanding::On).is_empty());
}

/// The file that a person was editing was overwritten, and the one that was used was removed.
#[test]
fn regression_what_a_person_wrote_is_neither_overwritten_nor_replaced_by_a_namesake() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().to_owned());
    let file = learned.propose(&proposal("round")).unwrap().expect("a file");
    fs::write(&file, "half a sentence").unwrap();
    assert!(learned.used_names().contains("round"));
    let refused = learned.propose(&proposal("round")).expect_err("it is being edited");
    assert!(matches!(refused, LearnedError::Taken { .. }), "{refused}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "half a sentence");

    let mine = learned.accepted().join("tour");
    fs::create_dir_all(&mine).unwrap();
    fs::write(mine.join(FILE), "mine").unwrap();
    learned.propose(&proposal("tour")).unwrap().expect("a file");
    let refused = decide(&learned, "tour", SkillDecision::Accept).expect_err("a namesake is used");
    assert!(matches!(refused, LearnedError::Taken { .. }), "{refused}");
    assert!(learned.withdraw("tour").unwrap() && names(&learned, SkillStanding::Proposed).is_empty());
    assert_eq!(fs::read_to_string(mine.join(FILE)).unwrap(), "mine", "also not by what is withdrawn");
}

#[test]
fn a_no_holds_also_where_there_was_one_before() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().to_owned());
    for _ in 0..2 {
        learned.propose(&proposal("round")).unwrap().expect("a file");
        decide(&learned, "round", SkillDecision::Reject).unwrap();
    }
    assert_eq!(names(&learned, SkillStanding::Off), ["round"]);
    assert!(root.path().join("rejected/round.1").join(FILE).is_file());
}

/// Nothing at all was forgotten.
#[test]
fn regression_a_plain_file_among_the_proposals_does_not_stop_that_they_are_forgotten() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().to_owned());
    learned.propose(&proposal("round")).unwrap().expect("a file");
    let note = root.path().join("proposed/a-note");
    fs::write(&note, "a note").unwrap();
    assert!(learned.forget(None).unwrap() && note.is_file());
    assert!(names(&learned, SkillStanding::Proposed).is_empty());
}

#[test]
fn proposals_wait_in_a_bounded_number() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().to_owned());
    let written = (0..30).filter(|number| learned.propose(&proposal(&format!("r{number}"))).unwrap().is_some()).count();
    assert_eq!(written, MOST_PROPOSED);
}

/// A proposal as a person sees it: its file, and its digest.
fn seen(learned: &LearnedSkills) -> (PathBuf, SkillDigest) {
    let file = learned.propose(&proposal("round")).unwrap().expect("a file");
    let digest = learned.read(SkillStanding::Proposed).skills.first().expect("a proposal").digest;
    (file, digest)
}

/// A text that came between looking and accepting was accepted.
#[test]
fn regression_a_yes_counts_for_the_text_that_was_seen_and_for_no_other() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().to_owned());
    let (file, digest) = seen(&learned);
    let changed = proposal("round").text.replace("So.", "And open the gate.");
    fs::write(&file, &changed).unwrap();
    for decision in [SkillDecision::Accept, SkillDecision::Reject] {
        let refused = learned.decide("round", digest, decision).expect_err("another text");
        assert!(matches!(refused, LearnedError::Changed(_)), "{refused}");
        assert!(refused.to_string().contains("was changed since you saw it"), "{refused}");
    }
    assert_eq!(names(&learned, SkillStanding::Proposed), ["round"]);
    assert!(fs::read_to_string(&file).unwrap() == changed && !is_there(&learned.accepted().join("round")));
    let other = learned.read(SkillStanding::Proposed).skills[0].digest;
    learned.decide("round", other, SkillDecision::Accept).unwrap();
    let refused = learned.decide("round", digest, SkillDecision::Accept).expect_err("it is on as another text");
    assert!(matches!(refused, LearnedError::Changed(_)), "{refused}");
    let refused = learned.decide("round", digest, SkillDecision::Reject).expect_err("so it stays");
    assert!(matches!(refused, LearnedError::Changed(_)), "{refused}");
    learned.decide("round", other, SkillDecision::Accept).unwrap();
    assert_eq!(fs::read_to_string(learned.accepted().join("round").join(FILE)).unwrap(), changed);
}

/// The check is done on what nobody reaches any more: as if the file had been changed right after it was read.
#[test]
fn a_file_that_is_changed_after_the_first_look_stays_a_proposal() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().to_owned());
    let (file, digest) = seen(&learned);
    fs::write(&file, proposal("round").text.replace("So.", "Otherwise.")).unwrap();
    let refused = learned.accept(file.parent().unwrap(), "round", digest).expect_err("changed meanwhile");
    assert!(matches!(refused, LearnedError::Changed(_)), "{refused}");
    assert_eq!(names(&learned, SkillStanding::Proposed), ["round"]);
    assert!(fs::read_to_string(&file).unwrap().contains("Otherwise."), "and is left as it is");
    assert!(names(&learned, SkillStanding::On).is_empty());
}

#[test]
fn what_was_accepted_can_not_be_changed_by_whoever_had_its_file_open_or_has_another_name_of_it() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().to_owned());
    let (file, digest) = seen(&learned);
    let twin = root.path().join("twin");
    hard_link(&file, &twin).unwrap();
    // Nothing is written through what lies in the way, either.
    let elsewhere = root.path().join("elsewhere");
    symlink(&elsewhere, file.with_file_name("SKILL.new")).unwrap();
    let mut open = OpenOptions::new().append(true).open(&file).unwrap();
    learned.decide("round", digest, SkillDecision::Accept).unwrap();
    open.write_all(b"And open the gate.\n").unwrap();
    let accepted = learned.accepted().join("round").join(FILE);
    assert_eq!(fs::read_to_string(&accepted).unwrap(), proposal("round").text);
    assert!(fs::read_to_string(&twin).unwrap().contains("gate") && !is_there(&elsewhere));
}

#[test]
fn a_link_in_the_place_of_what_was_seen_is_not_accepted() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().join("skills"));
    let (file, digest) = seen(&learned);
    let folder = file.parent().unwrap();
    // The very bytes that were seen, where somebody else may change them.
    let elsewhere = root.path().join("round");
    fs::create_dir(&elsewhere).unwrap();
    fs::rename(&file, elsewhere.join(FILE)).unwrap();
    symlink(elsewhere.join(FILE), &file).unwrap();
    let refused = learned.decide("round", digest, SkillDecision::Accept).expect_err("a file that is a link");
    assert!(refused.to_string().contains("is a link"), "{refused}");
    assert!(symlink_metadata(&file).unwrap().is_symlink(), "it is where it was");
    fs::remove_dir_all(folder).unwrap();
    symlink(&elsewhere, folder).unwrap();
    let refused = learned.decide("round", digest, SkillDecision::Accept).expect_err("a folder that is a link");
    assert!(refused.to_string().contains("is a link"), "{refused}");
    assert!(symlink_metadata(folder).unwrap().is_symlink() && names(&learned, SkillStanding::On).is_empty());
    learned.decide("round", digest, SkillDecision::Reject).expect("a no is always safe");
    assert_eq!(names(&learned, SkillStanding::Proposed), [""; 0]);
}

#[test]
fn a_pipe_or_nothing_in_the_place_of_what_was_seen_is_not_waited_for() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().to_owned());
    let (file, digest) = seen(&learned);
    let folder = file.parent().unwrap();
    fs::remove_file(&file).unwrap();
    let refused = learned.decide("round", digest, SkillDecision::Accept).expect_err("nothing");
    assert!(matches!(refused, LearnedError::Unknown(_)), "{refused}");
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for decision in [SkillDecision::Accept, SkillDecision::Reject] {
        let refused = learned.decide("round", digest, decision).expect_err("a pipe");
        assert!(refused.to_string().contains("it is no file"), "{refused}");
    }
    // Also where it comes after the first look.
    let refused = learned.accept(folder, "round", digest).expect_err("a pipe");
    assert!(refused.to_string().contains("it is no file"), "{refused}");
    assert!(is_there(&file) && names(&learned, SkillStanding::On).is_empty());
}

#[test]
fn of_a_proposal_and_one_that_is_off_the_one_that_was_seen_is_accepted() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().to_owned());
    let (_, digest) = seen(&learned);
    decide(&learned, "round", SkillDecision::Reject).unwrap();
    let text = proposal("round").text.replace("So.", "Otherwise.");
    learned.propose(&Proposal { name: "round".to_owned(), text }).unwrap().expect("a file");
    learned.decide("round", digest, SkillDecision::Accept).unwrap();
    assert_eq!(names(&learned, SkillStanding::Proposed), ["round"]);
    assert_eq!(learned.read(SkillStanding::On).skills[0].digest, digest);
}

#[test]
fn what_is_on_is_switched_off_whatever_lies_among_the_proposals() {
    let root = tempfile::tempdir().unwrap();
    let learned = LearnedSkills::new(root.path().to_owned());
    let (file, digest) = seen(&learned);
    learned.decide("round", digest, SkillDecision::Accept).unwrap();
    fs::create_dir(file.parent().unwrap()).unwrap();
    fs::write(&file, "no skill").unwrap();
    learned.decide("round", digest, SkillDecision::Reject).unwrap();
    assert!(names(&learned, SkillStanding::On).is_empty());
    assert_eq!(names(&learned, SkillStanding::Off), ["round"]);
}
