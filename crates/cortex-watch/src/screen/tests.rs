use std::time::Duration;

use cortex_protocol::overview::StopOverview;
use cortex_protocol::{CommandOutcome, MissionEvent, StepNumber, StopOutcome};
use crossterm::event::KeyCode;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use serde_json::json;

use super::*;
use crate::keys::Ui;
use crate::made;
use crate::model::Update;
use crate::wire::{Basis, Frame, StopAnswer};

fn buffer(model: &mut Model, ui: &mut Ui, now: Duration, size: (u16, u16), ink: Ink) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).unwrap();
    ui.follow(model, now);
    terminal.draw(|frame| draw(model, ui, now, ink, frame.buffer_mut())).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width).max(1);
    let rows = buffer.content.chunks(width).map(|row| {
        let (mut line, mut skip) = (String::new(), 0);
        for cell in row {
            if skip == 0 {
                line.push_str(cell.symbol());
                skip = crate::text::width(cell.symbol()).max(1);
            }
            skip -= 1;
        }
        line.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

fn screen(model: &mut Model, size: (u16, u16)) -> String {
    text(&buffer(model, &mut Ui::default(), Duration::ZERO, size, Ink::Colours))
}

/// Compares with a file beside this one. What is drawn instead lies beside it afterwards, so that people can compare.
fn assert_golden(name: &str, drawn: &str) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/screen/golden");
    let golden = std::fs::read_to_string(format!("{folder}/{name}.txt")).unwrap_or_default();
    if golden.trim_end() != drawn.trim_end() {
        let instead = std::env::temp_dir().join(format!("cortex-watch-{name}.txt"));
        std::fs::write(&instead, format!("{}\n", drawn.trim_end())).unwrap();
        panic!("{name} is drawn otherwise than in {folder}: see {}\n{drawn}", instead.display());
    }
}

fn asked(frame: &mut Frame) {
    frame.questions = Some(vec![made::approval(1, json!({"thing": "the red cup", "force": 12.5}))]);
}

fn frame(number: u64, change: impl FnOnce(&mut Frame)) -> Update {
    let mut frame = Frame { frame: number, at_ms: made::BEGIN_MS + 10_000, ..Frame::default() };
    change(&mut frame);
    Update::Frame(Box::new(frame))
}

#[test]
fn a_running_mission_is_shown_in_all_sizes() {
    for size in [(80, 24), (60, 20), (120, 40)] {
        assert_golden(&format!("running-{}x{}", size.0, size.1), &screen(&mut made::model(|_| {}), size));
    }
}

#[test]
fn a_question_is_shown_with_what_would_run_in_all_sizes() {
    for size in [(80, 24), (60, 20), (120, 40)] {
        assert_golden(&format!("question-{}x{}", size.0, size.1), &screen(&mut made::model(asked), size));
    }
}

#[test]
fn a_stop_is_shown_with_who_has_not_stopped() {
    let mut model = made::model(|_| {});
    model.begin_stop(Duration::ZERO);
    let outcome = StopOutcome { missions_ended: 1, not_stopped: vec!["base.go_to".into()] };
    let mut overview = made::overview();
    let not_stopped = outcome.not_stopped.clone();
    overview.stop = StopOverview { stopped: true, stops: 1, why: "a person said stop".to_owned(), not_stopped };
    let stop = Some(StopAnswer::Outcome(CommandOutcome::Stopped(outcome)));
    let basis = Some(Basis { stops: 1, stopped: true, ..made::basis() });
    let update = frame(2, |frame| (frame.stop, frame.basis, frame.overview) = (stop, basis, Some(Box::new(overview))));
    model.apply(update, Duration::ZERO);
    assert_golden("stopped-80x24", &screen(&mut model, (80, 24)));
}

#[test]
fn the_reference_mission_is_shown_to_its_report() {
    let mut model = Model::default();
    model.apply(Update::Frame(Box::new(Frame { overview: None, basis: None, ..made::first_frame() })), Duration::ZERO);
    model.apply(Update::History(made::reference_events().into_iter().map(Into::into).collect()), Duration::ZERO);
    assert_golden("report-80x24", &screen(&mut model, (80, 24)));
}

#[test]
fn what_is_frozen_lost_or_stalled_is_said_loudly() {
    let mut model = made::model(|_| {});
    let stalled = MissionEvent::Progress { in_flight: vec![made::in_flight(20, "40%", Some(12))] };
    model.apply(frame(2, |frame| frame.events = vec![made::event(6, 9_900, "stalled", stalled)]), Duration::ZERO);
    let shown = |model: &mut Model, now| text(&buffer(model, &mut Ui::default(), now, (80, 24), Ink::Plain));
    assert!(shown(&mut model, Duration::ZERO).contains("STALLED: no news for 12 s"));
    let frozen = shown(&mut model, Duration::from_secs(5));
    assert!(frozen.contains("FROZEN: no news from the robot for 5 s. S still stops."), "{frozen}");
    assert!(frozen.contains("NOT LIVE") && frozen.contains("the other keys that act are locked"), "{frozen}");
    model.apply(Update::Lost { reason: "connection refused".to_owned() }, Duration::from_secs(5));
    let lost = shown(&mut model, Duration::from_secs(5));
    assert!(lost.contains("NO CONNECTION: what you see is 5 s old. S still stops."), "{lost}");
    assert!(lost.contains("connection refused"), "{lost}");
}

#[test]
fn without_colours_everything_is_there_and_nothing_is_coloured() {
    let (mut with, mut without) = (made::model(asked), made::model(asked));
    let coloured = buffer(&mut with, &mut Ui::default(), Duration::ZERO, (80, 24), Ink::Colours);
    let plain = buffer(&mut without, &mut Ui::default(), Duration::ZERO, (80, 24), Ink::Plain);
    assert_eq!(text(&coloured), text(&plain));
    assert!(coloured.content.iter().any(|cell| cell.fg != Color::Reset));
    assert!(plain.content.iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
}

#[test]
fn hostile_text_from_every_place_reaches_the_terminal_as_letters_only() {
    let hostile = "\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\u{202e}evil\u{2066}\r\n\u{200b}\u{feff}\u{e0041}";
    let with_hostile = |json: serde_json::Value| {
        fn walk(value: &mut serde_json::Value, hostile: &str) {
            match value {
                serde_json::Value::String(text) if !is_of_form(text) => text.push_str(hostile),
                serde_json::Value::Array(list) => list.iter_mut().for_each(|value| walk(value, hostile)),
                serde_json::Value::Object(map) => map.values_mut().for_each(|value| walk(value, hostile)),
                _ => {}
            }
        }
        let mut json = json;
        walk(&mut json, hostile);
        json
    };
    let mut model = Model::default();
    let overview = serde_json::from_value(with_hostile(serde_json::to_value(made::overview()).unwrap())).unwrap();
    let question = with_hostile(serde_json::to_value(made::approval(1, json!({"thing": "cup"}))).unwrap());
    let events = made::events().into_iter().map(|event| with_hostile(event.json).into()).collect::<Vec<_>>();
    assert!(
        events.iter().all(|event: &crate::wire::ReceivedEvent| event.event.is_some()),
        "the test reads its own events"
    );
    let first = Frame {
        overview: Some(overview),
        questions: Some(vec![serde_json::from_value(question).unwrap()]),
        basis: Some(made::basis()),
        events,
        ..made::first_frame()
    };
    model.apply(Update::Frame(Box::new(first)), Duration::ZERO);
    model.apply(Update::Lost { reason: hostile.to_owned() }, Duration::ZERO);
    model.apply(Update::Answered(Err(crate::wire::RequestError::Failed(hostile.to_owned()))), Duration::ZERO);
    for size in [(60, 20), (80, 24), (120, 60)] {
        let drawn = buffer(&mut model, &mut Ui::default(), Duration::ZERO, size, Ink::Colours);
        assert!(drawn.content.iter().all(|cell| is_clean(cell.symbol())), "{size:?}");
        let drawn = text(&drawn);
        assert!(drawn.contains("evil") && !drawn.contains('\u{fffd}'), "nothing was left to the last barrier: {drawn}");
    }
    // What is approved shows that there is something odd.
    let drawn: String = screen(&mut model, (99, 60)).split_whitespace().collect();
    assert!(drawn.contains(r#""thing":"cup\u001b]0;x\u0007\u001b[2J\u009b31m\u202eevil"#), "{drawn}");
}

/// Words of the protocol, and ids that belong together.
fn is_of_form(text: &str) -> bool {
    let is_word =
        |text: &str| !text.contains(' ') && text.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    let is_number = text.starts_with(|letter: char| letter.is_ascii_digit());
    let is_name = matches!(text, "robbie" | "kitchen" | "camera" | "base" | "cup");
    !is_name && (is_word(text) || is_number || text.chars().all(|letter| letter.is_ascii_uppercase()))
}

#[test]
fn no_size_is_too_small_and_stop_is_the_last_thing_to_go() {
    for width in (0..=20).chain((21..=130).step_by(13)) {
        for height in (0..=12).chain([20, 45]) {
            let mut model = made::model(asked);
            let drawn = screen(&mut model, (width, height));
            assert!(width < 8 || height < 2 || drawn.contains("S STOP"), "{width}x{height}");
        }
    }
}

#[test]
fn a_long_question_is_scrolled_to_its_end_before_it_can_be_approved() {
    let long: String = (0..200).map(|number| format!("w{number} ")).collect();
    let question = made::approval(1, json!({"text": long}));
    let mut model = made::model(|frame| frame.questions = Some(vec![question]));
    let mut ui = Ui::default();
    let mut pages = Vec::new();
    let mut now = Duration::ZERO;
    loop {
        let drawn = text(&buffer(&mut model, &mut ui, now, (60, 20), Ink::Plain));
        let was_read = ui.focus.as_ref().unwrap().was_read;
        assert_eq!(drawn.contains("more: read on"), !was_read, "{drawn}");
        assert_eq!(drawn.contains("y once"), was_read);
        pages.push(drawn);
        if was_read {
            break;
        }
        now += Duration::from_millis(100);
        ui.press(KeyCode::Down.into(), &mut model, Duration::ZERO);
    }
    assert!(pages.len() > 5 && pages.len() < 60, "{}", pages.len());
    assert!(pages.concat().contains("w100") && pages.last().unwrap().contains("why:"));
}

#[test]
fn a_long_plan_shows_the_step_that_runs() {
    let mut plan = made::plan();
    let last = plan.steps.last().unwrap().clone();
    plan.steps.extend((5..60).map(|number| cortex_protocol::Step { number: StepNumber(number), ..last.clone() }));
    let mut model = made::model(|frame| {
        let payload = MissionEvent::Planned { plan: 2, steps: plan, cut: Vec::new() };
        frame.events.push(made::event(6, 9_500, "plan 2", payload));
        let started = MissionEvent::StepStarted {
            call: cortex_protocol::CallId(9),
            step: StepNumber(40),
            steps: 59,
            tool: "arm.grasp".into(),
            by: None,
            arguments: serde_json::Map::new(),
        };
        frame.events.push(made::event(7, 9_600, "step 40", started));
    });
    for size in [(60, 20), (120, 40)] {
        assert!(screen(&mut model, size).contains("► 40 arm.grasp"), "{size:?}");
    }
}

#[test]
fn the_log_is_scrolled_back_and_stays_within_its_bounds() {
    let mut model = made::model(|_| {});
    model.apply(Update::History(made::reference_events().into_iter().map(Into::into).collect()), Duration::ZERO);
    let mut ui = Ui::default();
    let shown = |model: &mut Model, ui: &mut Ui| text(&buffer(model, ui, Duration::ZERO, (80, 24), Ink::Plain));
    assert!(!shown(&mut model, &mut ui).contains("later ones below"));
    ui.press(KeyCode::Home.into(), &mut model, Duration::ZERO);
    let first = shown(&mut model, &mut ui);
    assert!(first.contains("task accepted: Bring me") && first.contains("later ones below: End"), "{first}");
    ui.press(KeyCode::End.into(), &mut model, Duration::ZERO);
    assert!(shown(&mut model, &mut ui).contains("SUCCEEDED"));
}

#[test]
fn what_is_typed_and_the_help_are_shown() {
    let mut model = made::model(|_| {});
    let mut ui = Ui::default();
    let mut shown = |keys: &str| {
        for key in keys.chars() {
            ui.follow(&mut model, Duration::ZERO);
            ui.press(KeyCode::Char(key).into(), &mut model, Duration::ZERO);
        }
        text(&buffer(&mut model, &mut ui, Duration::ZERO, (60, 20), Ink::Plain))
    };
    let help = shown("?");
    assert!(help.contains("STOP the robot, at once") && help.contains("No stop: the robot goes on"), "{help}");
    let typed = shown("xtGo to the kitchen");
    assert!(typed.contains("> Go to the kitchen") && typed.contains("Ctrl-S STOPS the robot"), "{typed}");
}
