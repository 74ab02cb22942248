use serde_json::json;

use super::*;
use crate::made;
use crate::model::Update;
use crate::wire::Frame;

const LATER: Duration = Duration::from_millis(800);

/// A person before a model.
struct Person {
    model: Model,
    ui: Ui,
    now: Duration,
}

impl Person {
    fn before(change: impl FnOnce(&mut Frame)) -> Self {
        let mut person = Self { model: made::model(change), ui: Ui::default(), now: Duration::ZERO };
        person.look(1_000);
        person.now = LATER;
        person
    }

    /// The picture is drawn, and of a question so many rows have place.
    fn look(&mut self, rows: usize) {
        self.ui.follow(&mut self.model, self.now);
        if let Some(focus) = &mut self.ui.focus {
            focus.shown(10, rows);
        }
    }

    fn frame(&mut self, number: u64, change: impl FnOnce(&mut Frame)) {
        let mut frame = Frame { frame: number, at_ms: made::BEGIN_MS, ..Frame::default() };
        change(&mut frame);
        self.model.apply(Update::Frame(Box::new(frame)), self.now);
    }

    fn press(&mut self, code: KeyCode) -> Option<Intent> {
        self.ui.press(code.into(), &mut self.model, self.now)
    }

    fn letter(&mut self, letter: char) -> Option<Intent> {
        self.press(KeyCode::Char(letter))
    }

    fn control(&mut self, letter: char) -> Option<Intent> {
        let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
        self.ui.press(key, &mut self.model, self.now)
    }

    fn types(&mut self, text: &str) {
        for letter in text.chars() {
            assert_eq!(self.letter(letter), None);
        }
    }

    fn told(&self) -> &str {
        self.model.notice().map_or("", |notice| &notice.text)
    }
}

fn command(intent: Option<Intent>) -> (Command, Seen) {
    match intent {
        Some(Intent::Command { command, seen }) => (command, seen),
        other => panic!("{other:?}"),
    }
}

#[test]
fn stop_goes_from_everywhere_and_whatever_is_frozen() {
    let stop = Some(Intent::Stop);
    let mut person = Person::before(|frame| frame.questions = Some(vec![made::approval(1, json!({}))]));
    person.now = Duration::from_secs(60);
    assert!(person.model.frozen(person.now).is_some());
    for letter in ['S', '!'] {
        assert_eq!(person.letter(letter), stop);
    }
    person.now = LATER;
    for opened in ['?', 'c'] {
        person.letter(opened);
        assert_eq!(person.letter('S'), stop, "{opened}");
    }
    person.letter('x');
    // In a line it is a letter, and there is another key.
    person.letter('t');
    person.types("Say STOP!");
    assert_eq!(person.control('s'), stop);
    assert!(matches!(&person.ui.mode, Mode::Typing(Purpose::Task, line, _) if line.text() == "Say STOP!"));
}

#[test]
fn everything_else_that_acts_is_locked_while_the_picture_is_frozen() {
    let stopped = Basis { stopped: true, ..made::basis() };
    let mut person = Person::before(|frame| {
        frame.basis = Some(stopped);
        frame.questions = Some(vec![made::approval(1, json!({}))]);
    });
    person.letter('t');
    person.types("go");
    person.now = Duration::from_secs(5);
    assert_eq!(person.press(KeyCode::Enter), None);
    assert!(matches!(person.ui.mode, Mode::Typing(..)), "what was typed is kept");
    person.press(KeyCode::Esc);
    for letter in ['t', 'e', 'c', 'r', 'p', 'y', 'm', 'n', '1'] {
        assert_eq!(person.letter(letter), None);
        assert_eq!((&person.ui.mode, person.told().contains("frozen")), (&Mode::View, true), "{letter}");
    }
    assert_eq!(person.letter('q'), Some(Intent::Quit));
}

#[test]
fn a_task_is_typed_and_goes_with_what_was_seen() {
    let mut person = Person::before(|_| {});
    person.letter('t');
    person.types("Go home");
    person.ui.paste(", then\r\nSleep\u{1b}[2J");
    let (submit, seen) = command(person.press(KeyCode::Enter));
    assert_eq!(submit, Command::Submit { task: "Go home, then Sleep[2J".to_owned(), session: None });
    assert_eq!(seen, Seen { frame: 1, basis: made::basis() });
    // Text that is pasted into the view is no key.
    person.ui.paste("S!y");
    assert_eq!((&person.ui.mode, person.told()), (&Mode::View, ""));
}

#[test]
fn a_decision_rests_on_the_state_in_which_it_began_and_on_the_frame_that_was_drawn_last() {
    let mut person = Person::before(|_| {});
    person.letter('c');
    let replanned = Basis { plan: 2, ..made::basis() };
    person.frame(7, |frame| frame.basis = Some(replanned.clone()));
    person.look(0);
    // Not drawn yet.
    person.frame(8, |_| {});
    let (cancel, seen) = command(person.letter('y'));
    assert_eq!(cancel, Command::Cancel { mission: made::MISSION.into() });
    assert_eq!(seen, Seen { frame: 7, basis: made::basis() }, "the server sees that the plan has changed");
    person.letter('e');
    person.types("slower");
    let (revise, seen) = command(person.press(KeyCode::Enter));
    assert_eq!(revise, Command::Revise { mission: Some(made::MISSION.into()), text: "slower".to_owned() });
    assert_eq!(seen.basis, replanned);
}

#[test]
fn what_ends_a_mission_or_a_stop_is_confirmed() {
    let mut person = Person::before(|_| {});
    assert_eq!((person.letter('c'), person.letter('n')), (None, None));
    assert_eq!((person.told(), &person.ui.mode), ("Nothing was done.", &Mode::View));
    assert_eq!(person.letter('r'), None);
    assert!(person.told().contains("not stopped"));
    let stopped = Basis { stops: 1, stopped: true, mission: None, plan: 0, control: 0 };
    let mut person = Person::before(|frame| frame.basis = Some(stopped.clone()));
    assert_eq!(person.letter('c'), None);
    assert_eq!(person.told(), "No mission runs.");
    assert_eq!(person.letter('r'), None);
    let (resume, seen) = command(person.letter('y'));
    assert_eq!((resume, seen.basis), (Command::Resume, stopped));
}

#[test]
fn a_call_is_approved_once_or_for_the_mission_or_denied_with_a_reason() {
    let open = made::approval(3, json!({"thing": "cup"}));
    let answered = |keys: &[char]| {
        let mut person = Person::before(|frame| frame.questions = Some(vec![open.clone()]));
        let mut last = None;
        for key in keys {
            last = if *key == '\n' { person.press(KeyCode::Enter) } else { person.letter(*key) };
        }
        let (answer, _) = command(last);
        let Command::Answer { question, answer } = answer else { panic!("{answer:?}") };
        assert_eq!(question, open.id);
        answer
    };
    assert_eq!(answered(&['y']), Answer::Approve { scope: ApprovalScope::Once });
    assert_eq!(answered(&['m']), Answer::Approve { scope: ApprovalScope::Mission });
    assert_eq!(answered(&['n', 'n', 'o', '\n']), Answer::Deny { reason: "no".to_owned() });
    assert_eq!(answered(&['n', '\n']), Answer::Deny { reason: String::new() });
}

#[test]
fn a_key_meant_for_another_question_answers_none() {
    let mut person = Person::before(|frame| frame.questions = Some(vec![made::approval(1, json!({}))]));
    person.frame(2, |frame| frame.questions = Some(vec![made::approval(2, json!({}))]));
    person.look(1_000);
    assert_eq!(person.letter('y'), None);
    assert!(person.told().contains("only just appeared"));
    // A key that is held down goes on for longer than anybody has to look.
    for _ in 0..100 {
        person.now += Duration::from_millis(33);
        person.frame(3, |_| {});
        assert_eq!(person.letter('y'), None);
    }
    person.now += LATER;
    let (answer, _) = command(person.letter('y'));
    assert!(matches!(answer, Command::Answer { question, .. } if question.number.0 == 2));
}

#[test]
fn a_question_is_approved_only_when_its_end_was_on_the_screen() {
    let mut person = Person::before(|_| {});
    person.now = Duration::ZERO;
    person.frame(2, |frame| frame.questions = Some(vec![made::approval(1, json!({}))]));
    person.look(4);
    person.now = LATER;
    for _ in 0..6 {
        assert_eq!(person.letter('y'), None);
        assert!(person.told().contains("There is more"));
        person.press(KeyCode::Down);
        person.look(4);
    }
    command(person.letter('y'));
}

#[test]
fn a_choice_is_a_digit_or_two() {
    let choose = |choices: &[&str], keys: &[char]| {
        let mut person = Person::before(|frame| frame.questions = Some(vec![made::choice(1, choices)]));
        let last = keys.iter().fold(None, |_, key| person.letter(*key));
        let is_typing = matches!(person.ui.mode, Mode::Typing(..));
        let last = if is_typing { person.press(KeyCode::Enter) } else { last };
        (last, person.told().to_owned())
    };
    let chosen = |(intent, _): (Option<Intent>, String)| match command(intent).0 {
        Command::Answer { answer: Answer::Choose { choice }, .. } => choice,
        other => panic!("{other:?}"),
    };
    assert_eq!(chosen(choose(&["red", "blue"], &['2'])), "blue");
    for key in ['0', '3', 'y'] {
        let (intent, told) = choose(&["red", "blue"], &[key]);
        assert_eq!((intent, told.is_empty()), (None, false), "{key}");
    }
    let many: Vec<String> = (1..=12).map(|number| format!("cup {number}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(chosen(choose(&many, &['1', '2'])), "cup 12");
    assert_eq!(chosen(choose(&many, &['1'])), "cup 1");
    assert_eq!(choose(&many, &['1', '3']), (None, "There is no choice of that number.".to_owned()));
}

#[test]
fn a_question_that_ends_takes_its_line_along() {
    let mut person = Person::before(|frame| frame.questions = Some(vec![made::approval(1, json!({}))]));
    person.letter('n');
    person.types("too cl");
    person.frame(2, |frame| frame.questions = Some(Vec::new()));
    person.look(0);
    assert_eq!((&person.ui.mode, person.told()), (&Mode::View, "The question has ended before it was answered."));
}

#[test]
fn control_c_leaves_from_everywhere_and_is_no_stop() {
    let mut person = Person::before(|_| {});
    for opened in ['x', '?', 't', 'c'] {
        person.ui.mode = Mode::View;
        person.letter(opened);
        assert_eq!(person.control('c'), Some(Intent::Quit), "{opened}");
    }
}

#[test]
fn one_key_pauses_the_missions_at_once_and_lets_them_go_on_after_a_question() {
    let mut person = Person::before(|_| {});
    assert_eq!(command(person.letter('p')).0, Command::Pause);
    let mut person = Person::before(|frame| {
        let overview = frame.overview.as_mut().expect("the first frame has one");
        overview.control.state = cortex_protocol::ControlState::Paused;
    });
    assert_eq!(person.letter('p'), None);
    assert_eq!(person.letter('n'), None);
    person.letter('p');
    assert_eq!(command(person.letter('y')).0, Command::Unpause);
}
