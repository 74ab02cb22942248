//! What policy and approval cost for each step of a mission: the time of the whole machine with them, less the time without.
//!
//! ```sh
//! CARGO_PROFILE_DEV_OPT_LEVEL=3 cargo run -p cortex-core --example approval_cost
//! ```

use std::time::{Duration, Instant};

use cortex_core::mission::{MissionSetup, PolicySetup};
use cortex_core::policy::{Policy, PolicySettings};
use cortex_core::{Availability, CallArguments, ChatReply, Effect, Input, Mission, MissionLimits, ModelCall, ToolSet};
use cortex_protocol::question::ApprovalScope;
use cortex_protocol::{
    Answer, CancelMode, Dispatch, Effect as ToolEffect, EffectSource, MissionEvent, Origin, PolicyRule, TaskReading,
    ToolOutcome, ToolPhase, ToolSpec,
};
use serde_json::json;

const STEPS: u32 = 30;
const RULES: usize = 20;
const MISSIONS: usize = 300;

fn tool(source: EffectSource) -> ToolSpec {
    ToolSpec::new("base.go_to".into(), "Drives the robot to a place.".to_owned())
        .with_parameters(json!({
            "type": "object",
            "properties": {"place": {"type": "string"}, "speed": {"type": "number"}},
            "required": ["place"]
        }))
        .with_phase(ToolPhase::Execution)
        .with_effect(ToolEffect::Move)
        .with_effect_source(source)
        .with_resources(vec!["base".into()])
        .with_timeout(Duration::from_secs(60))
        .with_dispatch(Dispatch::Wait)
        .with_cancel(CancelMode::Halt)
        .with_component(Some("base".into()))
}

fn rules() -> Vec<PolicyRule> {
    let rule = |number: usize| {
        let place = json!({"one_of": [format!("pit {number}"), format!("street {number}"), "roof"]});
        let arguments = match number % 2 {
            0 => json!({"place": place}),
            _ => json!({"place": place, "speed": {"above": 1.5}}),
        };
        json!({"then": "deny", "tools": ["base.*", "arm.*"], "arguments": arguments})
    };
    (0..RULES).filter_map(|number| serde_json::from_value(rule(number)).ok()).collect()
}

/// Runs one mission and returns how long the machine took for it, and how many steps it did.
fn mission(tools: &ToolSet, policy: &PolicySetup) -> (Duration, u32) {
    let mut mission = Mission::new(MissionSetup {
        task: "Go round.".to_owned(),
        reading: TaskReading::default(),
        session: None,
        earlier: Vec::new(),
        context_sources: Vec::new(),
        identity: String::new(),
        tools: tools.clone(),
        availability: Availability::default(),
        removed: cortex_core::RemovedTools::default(),
        limits: MissionLimits { max_execution_steps: STEPS, ..MissionLimits::default() },
        policy: policy.clone(),
        reopens: None,
    });
    let call = |number: u32| ModelCall {
        id: number.to_string(),
        name: "base-go_to".to_owned(),
        arguments: CallArguments::read(&json!({"place": format!("room {number}"), "speed": 0.5}).to_string()),
    };
    let plan = ChatReply { calls: (0..STEPS).map(call).collect(), ..ChatReply::default() };
    let yes = ChatReply { text: "EXECUTE".to_owned(), ..ChatReply::default() };
    let mut plan = Some(plan);
    let (mut inputs, mut spent, mut steps) = (vec![Input::Start], Duration::ZERO, 0);
    while let Some(input) = inputs.pop() {
        let began = Instant::now();
        let effects = mission.handle(Duration::ZERO, input);
        spent += began.elapsed();
        for effect in effects {
            match effect {
                Effect::AskModel { request, .. } if steps < STEPS => {
                    let reply = Ok(plan.take().unwrap_or_else(|| yes.clone()));
                    inputs.push(Input::ModelReplied { request, reply });
                }
                Effect::AskPerson { question } => inputs.push(Input::Answered {
                    number: question.number,
                    answer: Answer::Approve { scope: ApprovalScope::Once },
                    origin: Origin::new("cli", "example"),
                }),
                Effect::Invoke { call, .. } => {
                    inputs.push(Input::CallEnded { call, outcome: ToolOutcome::success(json!("arrived")) });
                }
                Effect::Report { event: MissionEvent::StepFinished { .. } } => steps += 1,
                _ => {}
            }
        }
    }
    (spent, steps)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let with = |policy: Policy| PolicySetup { policy, ..PolicySetup::default() };
    let ruled = Policy::new(PolicySettings { rules: rules(), ..PolicySettings::default() })?;
    let cases = [
        ("without", EffectSource::Declared, with(Policy::unrestricted())),
        ("defaults, allowed", EffectSource::Declared, with(Policy::default())),
        ("20 rules, allowed", EffectSource::Declared, with(ruled.clone())),
        ("20 rules, asked and approved", EffectSource::Assumed, with(ruled)),
    ];
    let tools: Vec<ToolSet> = cases.iter().map(|(_, source, _)| ToolSet::new([tool(*source)]).0).collect();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); cases.len()];
    // In turn, so that what else the machine does falls on all of them.
    for _ in 0..MISSIONS {
        for (((name, _, policy), tools), times) in cases.iter().zip(&tools).zip(&mut times) {
            let (spent, steps) = mission(tools, policy);
            if steps != STEPS {
                return Err(format!("{name}: {steps} of {STEPS} steps were done").into());
            }
            times.push(spent);
        }
    }
    let mut without = None;
    for ((name, ..), mut times) in cases.iter().zip(times) {
        times.sort();
        let median = times.get(times.len() / 2).copied().unwrap_or_default() / STEPS;
        let base = *without.get_or_insert(median);
        let more = median.as_secs_f64() - base.as_secs_f64();
        println!("{name}: {:.1} us a step, {:+.1} us", median.as_secs_f64() * 1e6, more * 1e6);
    }
    Ok(())
}
