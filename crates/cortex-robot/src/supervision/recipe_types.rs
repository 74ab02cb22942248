//! What a recipe says of messages, against the types that are installed here.

use cortex_interfaces::Interfaces;
use cortex_protocol::condition::Check;
use cortex_recipe::binding::bind;
use cortex_recipe::{Action, ActionKind, Known, Mistake, Recipe, TopicUse};
use cortex_ros::type_check::{TypeProblem, Use, check_field, check_message};
use serde_json::{Map, Value};

/// What does not fit an installed type. Of a type that is not installed nothing is said: the robot may be another
/// machine.
pub(super) fn mistakes(recipe: &Recipe) -> Vec<Mistake> {
    let interfaces = Interfaces::from_environment();
    let mut found = Vec::new();
    for used in recipe.topic_uses() {
        let Some((type_name, known)) = recipe.type_of_topic(used.topic) else { continue };
        if let Some(mut mistake) = field_mistake(&interfaces, &used, type_name) {
            if known == Known::Usual {
                let way_out = format!("if '{}' is of another type than {type_name}, say so in `publishes`", used.topic);
                mistake.fix =
                    [mistake.fix, way_out].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
            }
            found.push(mistake);
        }
    }
    for (name, action) in &recipe.actions {
        let (table, key, usage, type_name) = match &action.kind {
            ActionKind::Service(service) => ("service", "request", Use::Request, &service.interface),
            ActionKind::Topic(topic) => ("topic", "message", Use::Message, &topic.interface),
            ActionKind::Command(_) | ActionKind::Method(_) | ActionKind::Parameters(_) => continue,
        };
        let Some(fields) = sample(action) else { continue };
        if let Err(TypeProblem::Misfit { message, choices }) = check_message(&interfaces, usage, type_name, &fields) {
            let (key, fix) = match near(type_name, &choices) {
                Some(fix) => ("type", fix),
                None => (key, format!("`ros2 interface show {type_name}` lists its fields")),
            };
            let path = ["actions", name.as_str(), table, key].map(str::to_owned).to_vec();
            found.push(Mistake { path, message, fix });
        }
    }
    found
}

/// What is wrong with a field of a topic of this type, or with what it is compared with.
pub fn field_mistake(interfaces: &Interfaces, used: &TopicUse<'_>, type_name: &str) -> Option<Mistake> {
    let test = used.check.map(|check: &Check| &check.test);
    match check_field(interfaces, type_name, used.field, test) {
        Ok(()) | Err(TypeProblem::NotInstalled(_)) => None,
        Err(TypeProblem::Misfit { message, choices }) => {
            let last = used.field.split('.').find(|part| message.ends_with(&format!("'{part}'"))).unwrap_or_default();
            let fix = near(last, &choices).unwrap_or_default();
            Some(Mistake { path: used.path.clone(), message, fix })
        }
    }
}

/// What could have been meant instead of a wrong name, if anything is known of that.
fn near(wrong: &str, choices: &[String]) -> Option<String> {
    let alike = choices.iter().map(|choice| (strsim::normalized_damerau_levenshtein(wrong, choice), choice));
    match alike.filter(|(alike, _)| *alike >= 0.6).max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((_, meant)) => Some(format!("did you mean \"{meant}\"?")),
        None if choices.is_empty() => None,
        None => Some(format!("write one of {}", choices.join(", "))),
    }
}

/// What an action sends, with a value for each of its parameters that it may be given.
fn sample(action: &Action) -> Option<Map<String, Value>> {
    match sample_action(action)? {
        ActionKind::Service(service) => Some(service.request),
        ActionKind::Topic(topic) => Some(topic.message),
        ActionKind::Method(method) => Some(method.arguments),
        ActionKind::Command(_) | ActionKind::Parameters(_) => None,
    }
}

/// The action as it is done with a value for each of its parameters. None: no such values are found.
fn sample_action(action: &Action) -> Option<ActionKind> {
    let parameters = action.tool.as_ref().map(|tool| &tool.parameters);
    let arguments = parameters
        .into_iter()
        .flatten()
        .map(|(name, parameter)| Some((name.clone(), parameter.example()?)))
        .collect::<Option<Map<String, Value>>>()?;
    bind(action, &arguments).ok()
}
