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
    let allowed = Judgement { verdict: PolicyVerdict::Allow, reasons: Vec::new() };
    let (verdict, reasons) = if spec.name.as_str() == PARAMETER_TOOL {
        (undeclared.max(PolicyVerdict::Ask), vec![PARAMETERS.to_owned()])
    } else {
        match (spec.effect, spec.effect_source) {
            (Effect::Observe, _) | (_, EffectSource::Declared | EffectSource::Pattern | EffectSource::WellKnown) => {
                return allowed;
            }
            (Effect::Act | Effect::Move, EffectSource::TypeOnly) => {
                (undeclared, vec![format!("Nothing halts {}, and nobody has declared it for this robot.", spec.name)])
            }
            (Effect::Act | Effect::Move, EffectSource::Assumed) => {
                (undeclared, vec![format!("Nobody has declared what {} does.", spec.name)])
            }
        }
    };
    if verdict == PolicyVerdict::Allow { allowed } else { Judgement { verdict, reasons } }
}
