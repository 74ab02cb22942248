//! Events, told one by one.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_core::condition::Verdict::{self, Broken, Holds, Unknown};
use cortex_recipe::{EventName, Recipe};

use crate::events::{EventEffect, EventInput, EventReport, Events, HeldBack, MAX_ACTIONS, REST, WINDOW};

/// A day of a robot, in seconds.
struct Day {
    events: Events,
    now: f64,
    /// What was done, with its time.
    done: Vec<(String, f64)>,
    told: Vec<(String, f64)>,
}

impl Day {
    fn of(events: &str) -> Self {
        let recipe = Recipe::read(&format!("recipe = 1\n{events}"));
        let recipe = recipe.unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
        Self { events: Events::new(&recipe.events), now: 0.0, done: Vec::new(), told: Vec::new() }
    }

    /// One event with this condition, and these lines.
    fn with(lines: &str) -> Self {
        Self::of(&format!(
            "[events.low]\nwhen = {{ topic = \"/battery\", less = 1 }}\ndo = [{{ tell = \"low\" }}]\n{lines}\n"
        ))
    }

    fn tell(&mut self, input: EventInput) {
        for effect in self.events.handle(Duration::from_secs_f64(self.now), input) {
            match effect {
                EventEffect::Do { event } => self.done.push((event.to_string(), self.now)),
                EventEffect::Report { report } => self.told.push((report.to_string(), self.now)),
            }
        }
        let written = serde_json::to_string(&self.events).unwrap();
        assert_eq!(serde_json::from_str::<Events>(&written).unwrap(), self.events, "it survives being kept");
    }

    /// Time goes on to `until`, with a look whenever one is wanted.
    fn go_on(&mut self, until: f64) {
        while let Some(wake) = self.events.next_wake().map(|wake| wake.as_secs_f64()).filter(|wake| *wake <= until) {
            assert!(wake > self.now, "it does not spin: {wake} at {}", self.now);
            self.now = wake;
            self.tell(EventInput::Tick);
        }
        self.now = until;
        self.tell(EventInput::Tick);
    }

    fn see_of(&mut self, event: &str, at: f64, when: Verdict, until: Verdict) {
        self.go_on(at);
        self.tell(EventInput::Seen { event: EventName::new(event), when, until });
    }

    fn see(&mut self, at: f64, when: Verdict) {
        self.see_of("low", at, when, Unknown);
    }

    fn end(&mut self, at: f64) {
        self.go_on(at);
        self.tell(EventInput::Ended { event: EventName::new("low") });
    }

    fn times(&self) -> Vec<f64> {
        self.done.iter().map(|(_, at)| *at).collect()
    }
}

#[test]
fn an_event_happens_when_it_begins_to_hold_and_again_only_after_it_did_not() {
    let mut day = Day::with("");
    for (at, when) in [(1.0, Broken), (2.0, Holds), (3.0, Holds), (4.0, Unknown), (5.0, Holds)] {
        day.see(at, when);
        if at == 2.0 {
            day.end(2.5);
        }
    }
    assert_eq!(day.times(), [2.0], "what is not known does not make it ready again");
    day.see(6.0, Broken);
    day.see(7.0, Holds);
    assert_eq!(day.times(), [2.0, 7.0]);
    let mut day = Day::with("");
    day.see(1.0, Holds);
    assert_eq!(day.times(), [1.0], "what holds at the beginning happens, too");
}

#[test]
fn what_is_not_known_never_happens() {
    let mut day = Day::with("for_s = 1");
    day.see(1.0, Holds);
    day.see(1.5, Unknown);
    day.see(1.9, Holds);
    day.see(2.8, Unknown);
    day.go_on(1000.0);
    assert_eq!(day.times(), [0.0; 0]);
    day.see(1001.0, Holds);
    day.go_on(1010.0);
    assert_eq!(day.times(), [1002.0]);
}

#[test]
fn hysteresis_keeps_a_value_at_the_bound_from_happening_again_and_again() {
    let mut day = Day::with("until = { topic = \"/battery\", greater = 5 }");
    for second in 1..20_i32 {
        let when = if second % 2 == 0 { Broken } else { Holds };
        day.see_of("low", second.into(), when, Broken);
        day.end(f64::from(second) + 0.5);
    }
    assert_eq!(day.times(), [1.0]);
    day.see_of("low", 20.0, Broken, Holds);
    day.see_of("low", 21.0, Holds, Broken);
    assert_eq!(day.times(), [1.0, 21.0]);
}

#[test]
fn once_is_once() {
    let mut day = Day::with("once = true");
    for second in 1..100_i32 {
        day.see(f64::from(second), if second % 2 == 0 { Broken } else { Holds });
        day.end(f64::from(second) + 0.5);
    }
    assert_eq!(day.times(), [1.0]);
}

#[test]
fn silence_happens_after_its_time_and_ends_with_the_first_word() {
    let mut day = Day::of("[events.low]\nwhen = { topic = \"/odom\" }\nsilent_s = 3\ndo = [{ tell = \"silent\" }]\n");
    day.see(0.0, Unknown);
    day.go_on(2.9);
    assert_eq!(day.times(), [0.0; 0], "at the beginning it is given its time");
    day.go_on(10.0);
    day.end(11.0);
    assert_eq!(day.times(), [3.0]);
    day.see(12.0, Holds);
    // From here on the age of what was seen says when it is silent.
    day.see(20.0, Unknown);
    day.go_on(30.0);
    assert_eq!(day.times(), [3.0, 20.0]);
}

#[test]
fn a_flapping_event_stays_within_its_bound_and_is_told_once_each_time() {
    let mut day = Day::with("at_most = 2\nevery_s = 10");
    for tick in 0..3000_i32 {
        let at = f64::from(tick) / 100.0;
        day.see(at, if tick % 2 == 0 { Holds } else { Broken });
        day.end(at);
    }
    assert_eq!(day.times().len(), 6, "{:?}", day.done);
    for (first, third) in day.times().iter().zip(day.times().iter().skip(2)) {
        assert!(third - first >= 10.0, "{:?}", day.done);
    }
    let told: Vec<&str> = day.told.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(told, ["the event low waits: it has happened as often as it may for now"; 3]);
}

#[test]
fn what_holds_longer_than_the_bound_is_not_forgotten() {
    let mut day = Day::with("at_most = 1\nevery_s = 100");
    day.see(1.0, Holds);
    day.end(2.0);
    day.see(3.0, Broken);
    day.see(4.0, Holds);
    day.go_on(200.0);
    assert_eq!(day.times(), [1.0, 101.0]);
}

#[test]
fn what_still_holds_is_done_again_where_that_is_wanted() {
    let mut day = Day::with("again_s = 30");
    day.see(1.0, Holds);
    day.end(5.0);
    day.go_on(36.0);
    day.end(40.0);
    day.see(69.0, Broken);
    day.go_on(100.0);
    assert_eq!(day.times(), [1.0, 35.0]);
}

#[test]
fn nothing_happens_while_the_robot_is_stopped() {
    let mut day = Day::with("");
    day.go_on(1.0);
    day.tell(EventInput::Stopped);
    day.see(2.0, Holds);
    day.see(3.0, Broken);
    day.see(4.0, Holds);
    day.go_on(100.0);
    assert_eq!(day.times(), [0.0; 0]);
    let told: Vec<&str> = day.told.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(told, ["the event low waits: the robot is stopped"]);
    day.tell(EventInput::Resumed);
    assert_eq!(day.times(), [100.0], "what still holds is done then");
    day.tell(EventInput::Stopped);
    day.end(101.0);
    day.tell(EventInput::Resumed);
    day.go_on(1000.0);
    assert_eq!(day.times(), [100.0], "what the stop has ended does not begin again");
}

#[test]
fn a_task_that_makes_its_own_event_happen_again_is_given_less_and_less() {
    let mut day = Day::of(
        "[events.low]\nwhen = { topic = \"/at_door\", equal = true }\ndo = [{ task = \"go through the door\" }]\n\
         at_most = 1000\nevery_s = 1\n",
    );
    // It stands at the door a second after each of its own tasks.
    while day.now < 4.0 * 3600.0 {
        day.see(day.now + 1.0, Holds);
        if day.done.last().is_some_and(|(_, at)| *at == day.now) {
            day.see(day.now + 1.0, Broken);
            day.end(day.now + 1.0);
        }
    }
    let rests: Vec<f64> = day.times().windows(2).map(|pair| pair[1] - pair[0] - 2.0).take(8).collect();
    let shortest = REST.as_secs_f64();
    assert_eq!(rests[0], shortest);
    for pair in rests.windows(2).take(6) {
        assert_eq!(pair[1], 2.0 * pair[0], "{rests:?}");
    }
    assert_eq!(rests[7], 64.0 * shortest, "{rests:?}");
    let comes_back = HeldBack::ComesBack { rest: 2 * REST }.to_string();
    assert!(day.told[0].0.contains(&comes_back), "{:?}", day.told);
    // What keeps quiet for a while is trusted again.
    day.see(day.now + 1.0, Broken);
    day.end(day.now);
    day.see(day.now + 4000.0, Holds);
    let at = day.now;
    day.see(at + 1.0, Broken);
    day.end(at + 2.0);
    day.see(at + 3.0, Holds);
    day.go_on(at + 2.0 + shortest);
    assert_eq!(day.times().last(), Some(&(at + 2.0 + shortest)));
}

#[test]
fn what_changes_during_the_own_task_does_not_make_it_ready() {
    let mut day = Day::with("");
    day.see(1.0, Holds);
    day.see(2.0, Broken);
    day.see(3.0, Holds);
    day.end(4.0);
    day.go_on(1000.0);
    assert_eq!(day.times(), [1.0]);
    day.see(1001.0, Broken);
    day.see(1002.0, Holds);
    day.see(1003.0, Broken);
    day.end(1004.0);
    day.see(1005.0, Holds);
    assert_eq!(day.times(), [1.0, 1002.0, 1005.0], "it did not hold at its end");
}

#[test]
fn a_storm_is_bounded_told_once_and_ends_and_nobody_waits_for_ever() {
    let names: Vec<String> = (0..50).map(|number| format!("e{number:02}")).collect();
    let text: String = names
        .iter()
        .map(|name| {
            format!(
                "[events.{name}]\nwhen = {{ topic = \"/x\" }}\ndo = [{{ tell = \"a\" }}, {{ tell = \"b\" }}]\n\
                 on_failure = [{{ tell = \"c\" }}]\n"
            )
        })
        .collect();
    let mut day = Day::of(&text);
    day.go_on(1.0);
    for name in &names {
        day.see_of(name, 1.0, Holds, Unknown);
    }
    assert_eq!(day.done.len(), MAX_ACTIONS / 3);
    day.go_on(500.0);
    let mut happened: BTreeMap<&str, u32> = BTreeMap::new();
    for (name, _) in &day.done {
        *happened.entry(name).or_default() += 1;
    }
    assert!(happened.len() == names.len() && happened.values().all(|count| *count == 1), "{happened:?}");
    let storms: Vec<(String, f64)> = day.told.iter().filter(|(text, _)| !text.contains("waits:")).cloned().collect();
    let window = WINDOW.as_secs_f64();
    assert_eq!(
        storms,
        [
            (EventReport::RateLimitReached.to_string(), 1.0),
            (EventReport::RateLimitLifted.to_string(), 1.0 + 2.0 * window)
        ],
    );
}
