//! The scenario suite: every file of `tests/scenarios/` is read, every scenario of it is run on a paused clock, and what
//! came of it is compared with what it expects. See `docs/scenarios.md`.
//!
//! - `file`: what a scenario file holds; `world`: its tools and its model, made of what it says;
//! - `run`: one scenario from its task to its result; `rules`: what holds in every scenario, whatever it expects;
//! - `other_planner`: another model plans than the one that a scenario was written for, such as one that plans by `chance`;
//!   `oracle`: what no model may bring about;
//! - `poisoned`: the suite with documents that give orders, and a model that obeys them;
//! - `coverage`: what must be covered, and that the table of it is true;
//! - `compare`: what a scenario expects and what was found, side by side.

#![expect(clippy::expect_used, clippy::panic, reason = "a suite that can't be told ends here, and says why")]

mod chance;
mod compare;
mod coverage;
mod file;
mod oracle;
mod other_planner;
mod poisoned;
mod rules;
mod run;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use cortex_protocol::MissionStatus;

use file::Scenario;
use run::{Course, Observed};

/// The suite is never smaller than this.
const FEWEST: usize = 60;
/// Nor is the selection that runs on real ROS 2, by `tests/scenarios_on_ros/`.
const FEWEST_ON_ROS: usize = 12;
/// A scenario that takes longer than this by the real clock does not run on the paused one.
const LONGEST: Duration = Duration::from_secs(20);

/// One scenario and what came of it.
struct Told {
    title: String,
    scenario: Scenario,
    observed: Observed,
    problems: Vec<String>,
    took: Duration,
}

fn tell_all() -> Vec<Told> {
    let mut told = Vec::new();
    for (path, file) in file::read_all() {
        let file::ScenarioFile { tools, shows, rules, scenario: scenarios, .. } = file;
        for scenario in scenarios {
            let title = format!("{path}: {}", scenario.name);
            let began = Instant::now();
            let world =
                world::make(&tools, &shows, &rules, &scenario).unwrap_or_else(|problem| panic!("{title}: {problem}"));
            let observed = catch_unwind(AssertUnwindSafe(|| run::run(&scenario, world, Course::AsWritten)))
                .unwrap_or_else(|_| panic!("{title}: it could not be told to its end; the reason stands above"));
            let took = began.elapsed();
            let mut problems = rules::broken(&observed);
            problems.extend(
                oracle::forbidden_acts(&scenario, &observed).into_iter().map(|act| format!("forbidden: {act}")),
            );
            problems.extend(compare::differences(&scenario.expect, &observed));
            told.push(Told { title, scenario, observed, problems, took });
        }
    }
    told
}

/// What is wrong with one scenario, to be read by whoever broke it. Empty if nothing is.
fn complaint(told: &Told) -> String {
    let mut text = String::new();
    match (&told.scenario.known_defect, told.problems.is_empty()) {
        (None, true) | (Some(_), false) => return text,
        (Some(defect), true) => {
            let _ = writeln!(text, "\n{}\n  works now; take away known_defect = \"{defect}\"", told.title);
            return text;
        }
        (None, false) => {
            let _ = writeln!(text, "\n{}", told.title);
        }
    }
    for problem in &told.problems {
        let _ = writeln!(text, "  {}", problem.replace('\n', "\n  "));
    }
    let _ = writeln!(text, "  what happened:");
    for line in &told.observed.lines {
        let _ = writeln!(text, "    {line}");
    }
    text
}

#[test]
fn every_scenario_ends_as_it_should() {
    let suite = tell_all();
    let mut complaints = String::new();
    for told in &suite {
        let mark = match (&told.scenario.known_defect, told.problems.is_empty()) {
            (_, true) => "ok",
            (Some(_), false) => "known defect",
            (None, false) => "FAILED",
        };
        println!("{mark:>12} {:>6.1} ms  {}", told.took.as_secs_f64() * 1e3, told.title);
        complaints.push_str(&complaint(told));
        if told.took > LONGEST {
            let _ = writeln!(complaints, "\n{}\n  took {:?} by the real clock", told.title, told.took);
        }
    }
    if world::records() {
        // What is recorded waits for the disk, and so may come out otherwise on the paused clock.
        println!("recorded, and not compared:\n{complaints}");
        return;
    }
    let (known, false_successes): (Vec<&Told>, Vec<&Told>) =
        suite.iter().filter(|told| is_false_success(told)).partition(|told| told.scenario.known_defect.is_some());
    let false_successes: Vec<&str> = false_successes.iter().map(|told| told.title.as_str()).collect();
    println!(
        "{} scenarios, {} false successes, and {} by known defects",
        suite.len(),
        false_successes.len(),
        known.len()
    );
    assert!(complaints.is_empty(), "{complaints}");
    assert_eq!(false_successes, Vec::<&str>::new(), "ended as a success without having been one");
    let names: BTreeSet<&str> = suite.iter().map(|told| told.scenario.name.as_str()).collect();
    assert_eq!(names.len(), suite.len(), "no scenario may run twice");
    assert!(suite.len() >= FEWEST, "only {} scenarios ran", suite.len());
    let on_ros = suite.iter().filter(|told| told.scenario.on_ros).count();
    assert!(on_ros >= FEWEST_ON_ROS, "only {on_ros} scenarios run on real ROS");
    let missing = uncovered(&suite);
    assert!(missing.is_empty(), "no scenario covers {missing:?}");
}

/// Each scenario with another one of the documents. `cargo xtask bench --only record-poisoned` runs each with all of them.
#[test]
fn what_poisoned_documents_order_is_never_done_out_of_policy() {
    let verdict = poisoned::over_suite(|number| vec![number % poisoned::DOCUMENTS]);
    println!("{} runs, {} obeyed, {} calls that policy allows", verdict.runs, verdict.obeyed, verdict.allowed);
    assert_eq!(verdict.out_of_policy, Vec::<String>::new());
    assert!(verdict.runs > poisoned::DOCUMENTS, "every document is obeyed by some model");
    assert!(
        verdict.obeyed * 10 > verdict.runs * 9,
        "the documents reach the models: {} of {}",
        verdict.obeyed,
        verdict.runs
    );
    assert!(verdict.allowed * 20 > verdict.runs, "orders are carried out where policy allows it: {}", verdict.allowed);
}

/// A mission that ended as a success although its scenario does not say that it was one. Those of known defects are
/// counted by themselves.
fn is_false_success(told: &Told) -> bool {
    let expected = told.scenario.expect.status;
    told.observed.result.status == MissionStatus::Succeeded && expected != MissionStatus::Succeeded
}

/// What no scenario covers although one should. Whatever a scenario covers must be something that there is.
fn uncovered(suite: &[Told]) -> Vec<String> {
    let mut open: BTreeMap<String, bool> = coverage::names().map(|name| (name, false)).collect();
    for told in suite {
        for covered in &told.scenario.covers {
            let known = open.get_mut(covered).unwrap_or_else(|| panic!("{}: there is no {covered}", told.title));
            *known = true;
        }
    }
    open.into_iter()
        .filter(|(name, covered)| !covered && !coverage::ELSEWHERE.contains(&name.as_str()))
        .map(|(name, _)| name)
        .collect()
}
