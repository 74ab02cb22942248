use super::*;
use cortex_protocol::{Effect, EffectSource, ToolPhase};
use serde_json::{Value, json};

fn spec(name: &str, effect: Effect, source: EffectSource) -> ToolSpec {
    ToolSpec {
        name: name.into(),
        description: "Does something.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "place": {"type": "string"},
                "speed": {"type": "number", "default": 0.5},
                "pose": {"type": "object", "properties": {"x": {"type": "number", "default": 1}}}
            },
            "required": ["place"]
        }),
        phase: ToolPhase::Execution,
        effect,
        effect_source: source,
        resources: Vec::new(),
        timeout: std::time::Duration::from_secs(5),
        dispatch: cortex_protocol::Dispatch::Wait,
        cancel: cortex_protocol::CancelMode::Halt,
        component: None,
        phrases: Vec::new(),
        conditions: cortex_protocol::Conditions::default(),
        serves: None,
    }
}

fn rules(written: Value) -> Policy {
    Policy::new(PolicySettings { rules: serde_json::from_value(written).unwrap(), ..PolicySettings::default() })
        .unwrap()
}

fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { tool: tool.into(), arguments: arguments.as_object().cloned().unwrap() }
}

fn judged_in(policy: &Policy, spec: &ToolSpec, arguments: Value, state: &RobotState) -> PolicyVerdict {
    let origin = Origin::new("ros", "/cortex/task");
    let context = PolicyContext { origin: &origin, state };
    policy.judge(&call(spec.name.as_str(), arguments), spec, &context).verdict
}

fn judged(policy: &Policy, spec: &ToolSpec, arguments: Value) -> PolicyVerdict {
    judged_in(policy, spec, arguments, &RobotState::default())
}
