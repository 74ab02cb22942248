//! Generated histories of missions in which people are asked: plans, answers of every kind, corrections, stops,
//! restarts, tools that change, arguments that are filled in and fixed. What was approved is kept here, from the questions and
//! the answers alone; no call about which policy asks may be made that was not approved, to the byte, in time, and not used
//! before.

use std::sync::OnceLock;

use cortex_protocol::question::{ApprovalScope, CallSubject, Subject};
use cortex_protocol::{Answer, EffectSource, Origin, Question, QuestionNumber, StepNumber, ToolFingerprint};

use super::*;
use crate::mission::tests::approval::under;

/// One history is one mission, from its start to its end or to so many inputs. Without optimisation the machine is forty times
/// slower, and so many would take minutes; `CORTEX_HISTORIES` sets another number.
const HISTORIES: u64 = if cfg!(debug_assertions) { 2_000 } else { 100_000 };
const INPUTS: u32 = 26;

/// Dice that fall the same way in every run (SplitMix64).
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.throw() % limit
    }

    fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// Two versions of a robot: nobody has declared the pump and the arm, a rule asks about the scan, the base is free.
fn robots() -> &'static [ToolSet; 2] {
    static ROBOTS: OnceLock<[ToolSet; 2]> = OnceLock::new();
    ROBOTS.get_or_init(|| {
        let undeclared =
            |name: &str| tool(name, ToolPhase::Execution, ToolEffect::Move).with_effect_source(EffectSource::Assumed);
        let tools = vec![
            undeclared("pump.run"),
            undeclared("arm.reach"),
            tool("base.go", ToolPhase::Execution, ToolEffect::Move),
            tool("scan.area", ToolPhase::Execution, ToolEffect::Observe),
        ];
        let mut changed = tools.clone();
        changed[0].description.push_str(" Twice as fast.");
        changed[3].description.push_str(" Once more.");
        [ToolSet::new(tools).0, ToolSet::new(changed).0]
    })
}

/// Whether policy asks about it.
fn asks(tool: &str) -> bool {
    tool != "base.go"
}

/// One approved call, as the answers say.
#[derive(Debug)]
struct Yes {
    call: ToolCall,
    fingerprint: ToolFingerprint,
    /// None: for the whole mission.
    only_for: Option<StepNumber>,
    until: Duration,
}

#[derive(Debug, Default)]
struct Seen {
    asked: u64,
    approved: u64,
    late_answers: u64,
    invoked_with_leave: u64,
    restarts: u64,
    revisions: u64,
    expired: u64,
    fixed: u64,
    used_for_mission: u64,
}

/// A mission and what a person remembers of it.
struct History {
    mission: Mission,
    dice: Dice,
    now: Duration,
    robot: usize,
    requests: Vec<(RequestId, Purpose, Option<ToolCall>)>,
    calls: Vec<(CallId, String)>,
    question: Option<(Question, Duration)>,
    number: u32,
    yes: Vec<Yes>,
    seen: Seen,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut setup = under(json!([{"then": "ask", "tools": ["scan.*"]}]));
        setup.approval.valid = Duration::from_secs(40);
        setup.approval.deadline = Duration::from_secs(20);
        let mission = Mission::new(MissionSetup {
            task: "do it".to_owned(),
            reading: task_class::read("do it", robots()[0].iter()),
            session: None,
            earlier: vec![],
            context_sources: Vec::new(),
            identity: String::new(),
            tools: robots()[0].clone(),
            availability: crate::Availability::default(),
            removed: crate::RemovedTools::default(),
            limits: MissionLimits {
                component_grace: Duration::ZERO,
                max_conversation_bytes: 4_000,
                max_replans: 2,
                ..MissionLimits::default()
            },
            policy: setup,
            reopens: None,
        });
        Self {
            mission,
            dice: Dice(seed),
            now: Duration::ZERO,
            robot: 0,
            requests: vec![],
            calls: vec![],
            question: None,
            number: 0,
            yes: vec![],
            seen: Seen::default(),
        }
    }

    fn live(mut self) -> Seen {
        self.give(Input::Start);
        for _ in 0..INPUTS {
            if self.mission.is_finished() {
                break;
            }
            self.something_happens();
        }
        self.seen
    }

    fn something_happens(&mut self) {
        let pick = self.dice.below(40);
        match pick {
            0 => self.change_tools(),
            1 => self.restart(),
            2 => {
                self.seen.revisions += 1;
                self.give(revision("the other one"));
            }
            3 => {
                let number = QuestionNumber(self.dice.below(4) as u32);
                self.answer(number);
            }
            4 => self.pass(self.dice_time()),
            5 if self.dice.once_in(6) => self.give(Input::Cancel { reason: CancelReason::Stop }),
            _ if self.question.is_some() && pick < 30 => {
                if self.dice.once_in(8) {
                    self.now += Duration::from_secs(19 + self.dice.below(3));
                }
                let number = QuestionNumber(self.number);
                self.answer(number);
            }
            _ if !self.requests.is_empty() && pick < 30 => self.reply(),
            _ if !self.calls.is_empty() => self.end_call(),
            _ if !self.requests.is_empty() => self.reply(),
            _ => self.pass(Duration::from_secs(1)),
        }
    }

    fn dice_time(&self) -> Duration {
        Duration::from_secs([1, 5, 25, 45][(self.dice.0 % 4) as usize])
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.give(Input::Tick);
    }

    fn change_tools(&mut self) {
        self.robot = 1 - self.robot;
        self.give(Input::ToolsChanged { tools: robots()[self.robot].clone() });
    }

    fn restart(&mut self) {
        self.seen.restarts += 1;
        let mut kept = serde_json::to_value(&self.mission).unwrap();
        // Their schemas would be checked and compiled anew, which is slow and not what this is about.
        kept["setup"]["tools"] = json!([]);
        kept["kept"]["present"] = json!([]);
        self.mission = serde_json::from_value(kept).unwrap();
        self.yes.clear();
        self.question = None;
        self.give(Input::ToolsChanged { tools: robots()[self.robot].clone() });
    }

    fn answer(&mut self, number: QuestionNumber) {
        let answer = match self.dice.below(8) {
            0 => Answer::Deny { reason: "no".to_owned() },
            1 => Answer::Choose { choice: "yes".to_owned() },
            2 | 3 => Answer::Approve { scope: ApprovalScope::Mission },
            _ => Answer::Approve { scope: ApprovalScope::Once },
        };
        if let (Answer::Approve { scope }, Some((question, asked_at))) = (&answer, &self.question)
            && question.number == number
        {
            if self.now < *asked_at + question.patience {
                self.seen.approved += 1;
                let until = self.now + Duration::from_secs(40);
                let yes = calls_of(&question.subject).into_iter().map(|call| Yes {
                    call: ToolCall { tool: call.tool, arguments: call.arguments },
                    fingerprint: call.fingerprint,
                    only_for: (*scope == ApprovalScope::Once).then_some(call.step),
                    until,
                });
                self.yes.extend(yes);
            } else {
                self.seen.late_answers += 1;
            }
        }
        let twice = self.dice.once_in(6);
        let input = Input::Answered { number, answer, origin: Origin::new("cli", "x") };
        self.give(input.clone());
        if twice {
            self.give(input);
        }
    }

    fn some_call(&mut self) -> (&'static str, Value) {
        let name = ["pump-run", "arm-reach", "base-go", "scan-area"][self.dice.below(4) as usize];
        let arguments = match self.dice.below(6) {
            0 => json!({"x": "<output of step 1>"}),
            1 => json!({"x": "<what is seen>"}),
            2 => json!({}),
            number => json!({"x": number % 2}),
        };
        (name, arguments)
    }

    fn reply(&mut self) {
        let (request, purpose, step) = self.requests.remove(0);
        let reply = match (purpose, step) {
            (Purpose::Plan, _) if self.dice.once_in(30) => says("Done."),
            (Purpose::Plan, _) => {
                let count = 1 + self.dice.below(3);
                let made: Vec<(&str, Value)> = (0..count).map(|_| self.some_call()).collect();
                calls(&made)
            }
            (Purpose::Confirm, Some(call)) if self.dice.once_in(3) => {
                // As planned, filled in, or something else.
                let mut arguments = call.arguments;
                if arguments.get("x").is_some_and(Value::is_string) || self.dice.once_in(4) {
                    arguments.insert("x".to_owned(), json!(self.dice.below(3)));
                }
                calls(&[(call.tool.as_str().replace('.', "-").as_str(), Value::Object(arguments))])
            }
            (Purpose::Confirm, _) => says(if self.dice.once_in(12) { "SKIP" } else { "EXECUTE" }),
            (_, Some(call)) => {
                self.seen.fixed += 1;
                let arguments = json!({"x": self.dice.below(3)});
                calls(&[(call.tool.as_str().replace('.', "-").as_str(), arguments)])
            }
            _ => says("ABORT"),
        };
        self.give(Input::ModelReplied { request, reply: Ok(reply) });
    }

    fn end_call(&mut self) {
        let (call, _) = self.calls.remove(0);
        let outcome = match self.dice.below(5) {
            0 => ToolOutcome::failure(FailureKind::Reported, "not so"),
            1 => ToolOutcome::failure(FailureKind::Unavailable, "away"),
            2 => ToolOutcome::success(json!(self.dice.below(3))),
            _ => ToolOutcome::success(json!("done")),
        };
        self.give(Input::CallEnded { call, outcome });
    }

    fn give(&mut self, input: Input) {
        let mut begun: Vec<(CallId, ToolCall, ToolFingerprint)> = vec![];
        for effect in self.mission.handle(self.now, input) {
            match effect {
                Effect::AskModel { request, chat } => {
                    assert!(self.question.is_none(), "a model is asked while a person is");
                    let step = chat.messages.iter().rev().find_map(|message| match message {
                        Message::User { fragments } => fragments.iter().find_map(|fragment| match fragment {
                            Fragment::Step { call, .. } => Some(call.clone()),
                            _ => None,
                        }),
                        _ => None,
                    });
                    self.requests.push((request, chat.purpose, step));
                }
                Effect::AbandonModel { request } => self.requests.retain(|(open, ..)| *open != request),
                Effect::AskPerson { question } => {
                    self.seen.asked += 1;
                    self.number = question.number.0;
                    self.question = Some((question, self.now));
                }
                Effect::CloseQuestion { outcome, .. } => {
                    if outcome == cortex_protocol::QuestionOutcome::Expired {
                        self.seen.expired += 1;
                    }
                    self.question = None;
                }
                Effect::Invoke { call, tool_call, fingerprint } => {
                    assert!(self.question.is_none(), "something begins while a person is asked");
                    self.calls.push((call, tool_call.tool.to_string()));
                    if asks(tool_call.tool.as_str()) {
                        begun.push((call, tool_call, fingerprint));
                    }
                }
                Effect::GatherContext { .. }
                | Effect::CancelCall { .. }
                | Effect::Say { .. }
                | Effect::Finish { .. } => {}
                Effect::Report { event } => match event {
                    MissionEvent::StepStarted { call, step, .. } => {
                        if let Some(place) = begun.iter().position(|(id, ..)| *id == call) {
                            let (_, tool_call, fingerprint) = begun.remove(place);
                            self.check(step, &tool_call, fingerprint);
                        }
                    }
                    MissionEvent::Planned { .. } => self.yes.retain(|yes| yes.only_for.is_none()),
                    MissionEvent::TaskRevised { .. } => self.yes.clear(),
                    _ => {}
                },
            }
        }
        assert!(begun.is_empty(), "a call that policy asks about is no step: {begun:?}");
    }

    /// A call that policy asks about was approved: to the byte, in time, and not used before.
    fn check(&mut self, step: StepNumber, call: &ToolCall, fingerprint: ToolFingerprint) {
        let now = self.now;
        let bytes = |call: &ToolCall| Value::Object(call.arguments.clone()).to_string();
        let wanted = bytes(call);
        let fits = |yes: &Yes| {
            yes.call.tool == call.tool
                && bytes(&yes.call) == wanted
                && yes.fingerprint == fingerprint
                && yes.only_for.is_none_or(|only| only == step)
                && now < yes.until
        };
        let Some(place) = self.yes.iter().position(fits) else {
            panic!(
                "{call:?} of {fingerprint:?} began at {now:?} as step {step} without a yes; there are {:?}",
                self.yes
            );
        };
        self.seen.invoked_with_leave += 1;
        if self.yes[place].only_for.is_some() {
            self.yes.remove(place);
        } else {
            self.seen.used_for_mission += 1;
        }
    }
}

fn calls_of(subject: &Subject) -> Vec<CallSubject> {
    match subject {
        Subject::Call { call, .. } => vec![call.clone()],
        Subject::Plan { steps, .. } => steps.clone(),
        Subject::Choice { .. } => vec![],
    }
}

fn live(seeds: std::ops::Range<u64>) -> Seen {
    let mut all = Seen::default();
    for seed in seeds {
        let seen = History::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)).live();
        all.asked += seen.asked;
        all.approved += seen.approved;
        all.late_answers += seen.late_answers;
        all.invoked_with_leave += seen.invoked_with_leave;
        all.restarts += seen.restarts;
        all.revisions += seen.revisions;
        all.expired += seen.expired;
        all.fixed += seen.fixed;
        all.used_for_mission += seen.used_for_mission;
    }
    all
}

#[test]
fn in_histories_of_every_kind_nothing_runs_that_was_not_approved_to_the_byte_in_time_and_for_this_use() {
    let histories = std::env::var("CORTEX_HISTORIES").ok().and_then(|text| text.parse().ok()).unwrap_or(HISTORIES);
    let began = std::time::Instant::now();
    let threads = 4;
    let each = histories / threads;
    let all: Vec<Seen> = std::thread::scope(|scope| {
        let parts = (0..threads).map(|part| scope.spawn(move || live(part * each..(part + 1) * each)));
        let parts: Vec<_> = parts.collect();
        parts.into_iter().map(|part| part.join().expect("no history breaks the rules")).collect()
    });
    eprintln!("{histories} histories in {:?}: {all:#?}", began.elapsed());
    // The dice must reach what this is about.
    for seen in all {
        for count in [
            seen.asked,
            seen.approved,
            seen.late_answers,
            seen.invoked_with_leave,
            seen.restarts,
            seen.revisions,
            seen.expired,
            seen.fixed,
            seen.used_for_mission,
        ] {
            assert!(count > each / 200, "too rare: {seen:?}");
        }
    }
}
