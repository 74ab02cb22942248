use cortex_protocol::mission::Expense;
use cortex_protocol::overview::*;
use cortex_protocol::{Control, ControlState, StepNumber};

use super::*;

fn component(name: &str, health: ComponentHealth, symptoms: &[&str]) -> ComponentOverview {
    ComponentOverview {
        name: name.into(),
        health,
        standing: if health == ComponentHealth::Failed { "recovering" } else { "up" }.to_owned(),
        lifecycle: "active".to_owned(),
        symptoms: symptoms.iter().map(|symptom| (*symptom).to_owned()).collect(),
        attempts: u32::from(health == ComponentHealth::Failed) * 2,
        restarts: u32::from(health == ComponentHealth::Failed),
        depends_on: Vec::new(),
        standby: None,
        quarantine_cause: None,
    }
}

/// One in which a lot goes on.
pub(in super::super) fn overview() -> Overview {
    let step = |number: u32, status| StepOverview {
        number: StepNumber(number),
        tool: format!("send_goal_to_a_robot_with_long_names/a_very_long_name_of_an_action/number_{number}")
            .as_str()
            .into(),
        status,
    };
    Overview {
        version: OVERVIEW_VERSION,
        at_ms: 1_000_000,
        started_ms: 400_000,
        robot: "robot".to_owned(),
        node: "/cortex".to_owned(),
        lifecycle: "active".to_owned(),
        tools: 42,
        stop: StopOverview {
            stopped: true,
            stops: 1,
            why: "~/stop was called".to_owned(),
            not_stopped: vec!["base.go_to".into(), "arm.wave".into()],
        },
        model: ModelOverview {
            name: "openai:a-model-with-a-name-that-is-longer-than-any-should-be".to_owned(),
            requests: 12,
            errors: 1,
            prompt_tokens: 3_000,
            completion_tokens: 400,
            tokens_estimated: true,
            last_error: Some(ModelErrorOverview {
                message: "the endpoint can't be reached ".repeat(5),
                at_ms: 990_000,
                is_over: false,
            }),
            standbys: Vec::new(),
            second: Some(SecondModelOverview {
                name: "openai:a-second-model-with-a-name-that-is-longer-than-any-should-be".to_owned(),
                same: 38,
                otherwise: 3,
                unanswered: 1,
                last_otherwise: "it would do base go to\n(bedroom); ".repeat(5),
            }),
        },
        components: vec![
            component("base", ComponentHealth::Failed, &["its process was killed (signal 9)"]),
            component("camera", ComponentHealth::Healthy, &[]),
            component("a_namespace/with_a_component_of_a_long_name", ComponentHealth::Silent, &[]),
        ],
        readiness: ReadinessOverview {
            state: ReadinessState::Refusing,
            because: "the robot is stopped. Call ~/resume when it is safe, then send the task again".to_owned(),
        },
        unsettled: vec![UnsettledOverview {
            tool: "voice.announce".into(),
            since_ms: 980_000,
            why: "it did not answer within 30 s, and has no cancel method".to_owned(),
        }],
        paused: Some("base does not work".to_owned()),
        control: Control {
            state: ControlState::Held,
            because: "a tablet has the controls".to_owned(),
            ..Control::default()
        },
        missions: vec![MissionOverview {
            id: "m1".into(),
            task: "go to the kitchen\nand look \u{1b}[31maround ".repeat(5),
            phase: MissionPhase::Acting,
            since_ms: 940_000,
            ended_ms: None,
            plan: 1,
            steps: std::iter::once(step(1, StepStatus::Success))
                .chain([step(2, StepStatus::Running)])
                .chain((3..=20).map(|number| step(number, StepStatus::Pending)))
                .collect(),
            more_steps: 5,
            output: String::new(),
            words_alone: false,
        }],
        calls: vec![CallOverview { tool: "base.go_to".into(), kind: "method".to_owned(), since_ms: 987_000 }],
        budget: vec![BudgetOverview { expense: Expense::Tokens, used: 3_400.0, limit: Some(10_000.0) }],
        watchdog: Some(WatchdogOverview { limit_s: 5.0, loops: vec!["runtime".to_owned()] }),
        recording: None,
        page: Some("http://127.0.0.1:8642/".to_owned()),
        lost: vec![LostTask { mission: "m".into(), task: "water the\u{1b} plants".to_owned() }],
    }
}

#[test]
fn it_fits_a_terminal_of_eighty_columns_and_is_plain_where_there_is_none() {
    let screen = render(&overview(), 1_000_500, Ink::Plain);
    for line in screen.lines() {
        assert!(line.chars().count() <= WIDTH, "{} columns: {line}", line.chars().count());
    }
    assert!(!screen.contains('\u{1b}'), "{screen}");
    assert!(screen.lines().count() < 40, "{screen}");
}

#[test]
fn what_matters_is_on_it() {
    let screen = render(&overview(), 1_000_500, Ink::Plain);
    let first = "takes no tasks: the robot is stopped. Call ~/resume when it is safe, then send\n  the task again\n";
    assert!(screen.starts_with(first), "{screen}");
    for expected in [
        "not at rest since 20 s: voice.announce: it did not answer within 30 s",
        "/cortex of robot, active, up 10 min, 42 tools",
        "STOPPED (~/stop was called). Nothing is sent until `cortex resume`.",
        "not known to be at rest: base.go_to, arm.wave",
        "missions are paused: base does not work",
        "controls: a tablet has the controls",
        "12 requests, about 3400 tokens, 1 error",
        " plans along: otherwise for 3 of 41, no answer for 1",
        "  last: it would do base go to (bedroom);",
        "10 s ago: the endpoint can't be reached",
        "spent: 3400 of 10000 tokens",
        "base                     failed   recovering  active       2 (1 restart)",
        "  its process was killed (signal 9)",
        "acting        60 s  go to the kitchen and look [31maround",
        "  plan 1: the first step has ended",
        "    2 running  send_goal_to_a_robot",
        "  and 14 more steps",
        "method        13 s  base.go_to",
        "page http://127.0.0.1:8642/",
        "a task was lost, because Cortex ended before it did: water the plants",
    ] {
        assert!(screen.contains(expected), "'{expected}' is not in\n{screen}");
    }
}

#[test]
fn an_old_overview_says_so() {
    let screen = render(&overview(), 1_060_000, Ink::Plain);
    assert!(screen.contains("This is 60 s old: Cortex may hang or be gone."), "{screen}");
}

#[test]
fn a_cortex_in_which_nothing_goes_on_has_a_short_screen() {
    let quiet = Overview {
        components: Vec::new(),
        missions: Vec::new(),
        calls: Vec::new(),
        budget: Vec::new(),
        paused: None,
        control: Control::default(),
        readiness: ReadinessOverview { state: ReadinessState::Ready, because: String::new() },
        unsettled: Vec::new(),
        page: None,
        lost: Vec::new(),
        stop: StopOverview::default(),
        model: ModelOverview { name: "reflex".to_owned(), ..ModelOverview::default() },
        ..overview()
    };
    let screen = render(&quiet, 1_000_000, Ink::Plain);
    assert_eq!(
        screen,
        "takes tasks\n/cortex of robot, active, up 10 min, 42 tools\nmodel reflex: 0 requests\n\nno components\n\nno missions yet\n"
    );
}

#[test]
fn a_name_that_is_cut_keeps_both_ends() {
    assert_eq!(cut("short", 10), "short");
    assert_eq!(cut("left_arm/gripper/close", 12), "left_arm\u{2026}ose");
    assert_eq!(cut_end("words are cut at their end", 10), "words are\u{2026}");
}
