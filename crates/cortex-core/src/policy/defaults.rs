//! The verdict where no rule matches: looks are free, what somebody has declared is allowed, what nobody has declared
//! asks, and hazards are denied.

use cortex_protocol::{Effect, EffectSource, PolicyVerdict, ToolCall, ToolSpec};

use super::{Judgement, PARAMETER_TOOL, hazards};

const PARAMETERS: &str = "It changes a parameter, and what that does nobody has declared.";

pub(super) fn judge(call: &ToolCall, spec: &ToolSpec, undeclared: PolicyVerdict) -> Judgement {
    match hazards::reason(spec, Some(call)) {
        Some(reason) => Judgement { verdict: PolicyVerdict::Deny, reasons: vec![reason] },
        None => of_tool(spec, undeclared),
    }
}

/// The default of a tool that is no hazard.
pub(super) fn of_tool(spec: &ToolSpec, undeclared: PolicyVerdict) -> Judgement {
    let (verdict, reasons) = if spec.name.as_str() == PARAMETER_TOOL {
        (undeclared.max(PolicyVerdict::Ask), vec![PARAMETERS.to_owned()])
    } else {
        match (spec.effect, spec.effect_source) {
            (Effect::Observe, _) | (_, EffectSource::Declared | EffectSource::Pattern | EffectSource::WellKnown) => {
                (PolicyVerdict::Allow, Vec::new())
            }
            (Effect::Act | Effect::Move, EffectSource::Assumed) => {
                let reason = format!("Nobody has declared what {} does.", spec.name);
                (undeclared, if undeclared == PolicyVerdict::Allow { Vec::new() } else { vec![reason] })
            }
        }
    };
    Judgement { verdict, reasons }
}
