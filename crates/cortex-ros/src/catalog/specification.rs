//! A service, an action or a topic as a tool.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use cortex_protocol::{
    CancelMode, ComponentName, Dispatch, Effect, EffectSource, ResourceName, ToolName, ToolPhase, ToolSpec,
};

use super::known;
use super::{Offer, OfferKind, TypeForm};
use cortex_discovery_policy::Policy;

/// Nodes that a description names.
const MOST_NODES: usize = 4;

/// What stands for nodes that are left out, among the resources.
const HIDDEN_NODES: &str = "(nodes that are left out)";

/// What is known of something that can be called.
pub(super) struct Facts<'a> {
    /// The full ROS name.
    pub(super) name: &'a str,
    /// What stands for it in the tool's name.
    pub(super) short: &'a str,
    pub(super) kind: OfferKind,
    pub(super) offer: &'a Offer,
    pub(super) type_name: &'a str,
    pub(super) form: &'a TypeForm,
    pub(super) effect: Effect,
    pub(super) effect_source: EffectSource,
}

/// The tool that calls it.
pub(super) fn of(facts: &Facts<'_>, policy: &Policy) -> ToolSpec {
    let observes = facts.effect == Effect::Observe;
    let beginning = match facts.kind {
        OfferKind::Service => "send_request_to",
        OfferKind::Action => "send_goal_to",
        OfferKind::Topic => "publish_to",
    };
    let spec = ToolSpec::new(ToolName::new(format!("{beginning}_{}", facts.short)), description(facts))
        .with_parameters(facts.form.schema.clone())
        .with_phase(if observes { ToolPhase::Both } else { ToolPhase::Execution })
        .with_effect(facts.effect)
        .with_effect_source(facts.effect_source)
        .with_resources(resources(facts, policy))
        .with_timeout(match facts.kind {
            OfferKind::Action => policy.goal_timeout,
            OfferKind::Service | OfferKind::Topic => policy.service_timeout,
        })
        // While planning, an answer is wanted, not the news that it is being worked on.
        .with_dispatch(if facts.kind == OfferKind::Action && !observes { Dispatch::Background } else { Dispatch::Wait })
        // A goal can be cancelled. A request can't: what it began is never known to be at rest, unless it only looks.
        .with_cancel(if observes && facts.kind != OfferKind::Action { CancelMode::Drop } else { CancelMode::Halt })
        .with_component(component(facts.offer));
    policy.conditioned(spec, facts.name)
}

fn description(facts: &Facts<'_>) -> String {
    let Facts { name, kind, offer, type_name, form, .. } = facts;
    let mut nodes: Vec<&str> = offer.nodes.iter().take(MOST_NODES).map(String::as_str).collect();
    if offer.nodes.len() > MOST_NODES {
        nodes.push("others");
    }
    let nodes = nodes.join(", ");
    let mut text = match kind {
        OfferKind::Service => format!("Sends a request to the service {name} of {nodes} ({type_name})."),
        OfferKind::Action => format!("Sends a goal to the action {name} of {nodes} ({type_name})."),
        OfferKind::Topic => format!("Publishes one message on the topic {name}, which {nodes} reads ({type_name})."),
    };
    // Writing to a string does not fail.
    if !form.description.is_empty() {
        let _ = write!(text, "\n{}", form.description);
    }
    if !form.answer.is_empty() {
        let _ = write!(text, "\nReturns: {}.", form.answer);
    }
    if !form.left_out.is_empty() {
        let _ = write!(text, "\nCan't be given, and stays empty: {}.", form.left_out.join("; "));
    }
    text
}

/// Who offers it, if that is one node.
fn component(offer: &Offer) -> Option<ComponentName> {
    match offer.nodes.len() {
        1 if offer.hidden.is_empty() => offer.nodes.first().map(|node| ComponentName::new(node.as_str())),
        _ => None,
    }
}

/// What it holds: what the configuration says; else what is known of its type, in the namespace of its name,
/// `robot1/base`; else itself and the nodes that offer it, as the methods of a component hold the component. A service that
/// only looks holds nothing; an action does so even then, since a second goal may end the first.
fn resources(facts: &Facts<'_>, policy: &Policy) -> Vec<ResourceName> {
    if let Some(resources) = policy.resources(facts.name) {
        return resources;
    }
    if facts.effect == Effect::Observe && facts.kind != OfferKind::Action {
        return Vec::new();
    }
    let name = facts.name.trim_start_matches('/');
    if let Some(resource) = known::resource(facts.type_name) {
        let namespace = name.rsplit_once('/').map(|(namespace, _)| namespace);
        let resource = namespace.map_or_else(|| resource.to_owned(), |namespace| format!("{namespace}/{resource}"));
        return vec![ResourceName::new(resource)];
    }
    // Nodes that nobody is told of are one here: their names may not be told, and they must not be called twice at a time.
    let hidden = (!facts.offer.hidden.is_empty()).then_some(HIDDEN_NODES);
    let names: BTreeSet<&str> = facts.offer.nodes.iter().map(String::as_str).chain([name]).chain(hidden).collect();
    names.into_iter().map(ResourceName::new).collect()
}
