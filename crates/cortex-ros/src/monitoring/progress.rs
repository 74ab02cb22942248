//! Whether something gets on: messages of a topic of any type, or changes of one of its fields.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cortex_interfaces::Message;
use cortex_protocol::ComponentName;
use cortex_ros_client::dynamic::Listening;
use cortex_ros_client::{QosProfile, RosError};
use serde_json::Value;

use super::{ProgressTopic, Senses, Sign};
use crate::following::types_of;
use crate::watching::topics::{FieldProblem, value_of};

/// What comes faster is told together, so that a topic of a thousand messages a second costs no more than this.
const TOGETHER: Duration = Duration::from_millis(50);
/// How often it is looked for what was not told yet, and the pause before a topic that can't be read is tried again.
const LOOK: Duration = Duration::from_millis(100);
const AGAIN: Duration = Duration::from_secs(1);
/// Numbers within one field that are compared.
const MOST_NUMBERS: usize = 64;

/// Tells of what comes on the topic.
pub(super) async fn follow(senses: Senses, component: ComponentName, watch: usize, wanted: ProgressTopic) {
    let mut graph = senses.graph.subscribe();
    let mut told_problem = String::new();
    loop {
        // Nobody publishes it, or several things: then nothing gets on, which the one who waits for it sees.
        let types = types_of(&graph.borrow_and_update(), &wanted.topic);
        let mut named = types.iter();
        if let (Some(only), None) = (named.next(), named.next()) {
            match Counter::listen(&senses, &component, watch, &wanted, only).await {
                Ok((counter, _listening)) => {
                    while types_of(&graph.borrow_and_update(), &wanted.topic) == types {
                        counter.tell_rest();
                        // Whichever comes first; a graph that has ended changes no more.
                        if let Ok(Err(_)) = tokio::time::timeout(LOOK, graph.changed()).await {
                            return;
                        }
                    }
                    continue;
                }
                Err(RosError::ShutDown) => return,
                Err(problem) => {
                    let problem = problem.to_string();
                    if problem != told_problem {
                        tracing::warn!("{} can't be heard for '{component}': {problem}", wanted.topic);
                        told_problem = problem;
                    }
                }
            }
        }
        if let Ok(Err(_)) = tokio::time::timeout(AGAIN, graph.changed()).await {
            return;
        }
    }
}

/// Counts what came and was not told yet.
struct Counter {
    senses: Senses,
    component: ComponentName,
    watch: usize,
    field: Option<String>,
    changes_by: Option<f64>,
    count: Mutex<Count>,
}

#[derive(Debug, Default)]
struct Count {
    waiting: u32,
    told: Option<Instant>,
    /// The field in the last message that counted, in this run of the component: the next may begin elsewhere, which is no
    /// progress.
    last: Option<Value>,
    run: u64,
}

impl Counter {
    async fn listen(
        senses: &Senses,
        component: &ComponentName,
        watch: usize,
        wanted: &ProgressTopic,
        type_name: &str,
    ) -> Result<(Arc<Self>, Listening), RosError> {
        let type_name = type_name.to_owned();
        let interface = senses.interface(move |interfaces| interfaces.message(&type_name)).await?;
        senses.endpoints.check_topic(&wanted.topic, &interface)?;
        let counter = Arc::new(Self {
            senses: senses.clone(),
            component: component.clone(),
            watch,
            field: wanted.field.clone(),
            changes_by: wanted.changes_by,
            count: Mutex::default(),
        });
        let ear = Arc::clone(&counter);
        let hear = move |message: &Message| ear.hear(message);
        let listening = senses.endpoints.listen(&wanted.topic, &interface, QosProfile::BEST_EFFORT, hear).await?;
        Ok((counter, listening))
    }

    fn hear(&self, message: &Message) {
        let value = match &self.field {
            None => None,
            Some(field) => match comparable(value_of(message.view(), field)) {
                // What can't be compared is no progress.
                None => return,
                known => known,
            },
        };
        let run = self.senses.presence.begun(&self.component);
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        if count.run != run {
            *count = Count { told: count.told, run, ..Count::default() };
        }
        if let Some(value) = value {
            if count.last.as_ref().is_some_and(|last| !has_changed(last, &value, self.changes_by)) {
                return;
            }
            // The first one is only what others are compared with.
            if count.last.replace(value).is_none() {
                return;
            }
        }
        count.waiting = count.waiting.saturating_add(1);
        if count.told.is_none_or(|told| told.elapsed() >= TOGETHER) {
            self.tell(&mut count);
        }
    }

    /// What came last is not to wait for the next.
    fn tell_rest(&self) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        if count.waiting > 0 {
            self.tell(&mut count);
        }
    }

    fn tell(&self, count: &mut Count) {
        count.told = Some(Instant::now());
        let sign = Sign::Progress { watch: self.watch, count: std::mem::take(&mut count.waiting) };
        (self.senses.tell)(&self.component, sign);
    }
}

/// Whether a field is another than before. With `changes_by`, the numbers in it have to lie that far apart.
fn has_changed(before: &Value, now: &Value, changes_by: Option<f64>) -> bool {
    let Some(changes_by) = changes_by else { return before != now };
    let (mut old, mut new) = (Vec::new(), Vec::new());
    numbers(before, &mut old);
    numbers(now, &mut new);
    if old.len() != new.len() {
        return true;
    }
    if new.is_empty() {
        return before != now;
    }
    let distance = old.iter().zip(&new).map(|(old, new)| (new - old).powi(2)).sum::<f64>().sqrt();
    // What is no number has not been seen to change.
    distance >= changes_by
}

/// A value that can be compared with others.
fn comparable(found: Result<Value, FieldProblem>) -> Option<Value> {
    found.ok().filter(|value| !is_unknown(value))
}

/// Whether something in a value is not known: a number that is none, which is written as a text.
fn is_unknown(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text == "NaN",
        Value::Array(values) => values.iter().any(is_unknown),
        Value::Object(fields) => fields.values().any(is_unknown),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The numbers in a value, in order.
fn numbers(value: &Value, into: &mut Vec<f64>) {
    match value {
        _ if into.len() >= MOST_NUMBERS => {}
        Value::Number(number) => into.extend(number.as_f64()),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, into)),
        Value::Object(fields) => fields.values().for_each(|value| numbers(value, into)),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_change_by_their_distance() {
        let at = |x: f64, y: f64| json!({"x": x, "y": y, "z": 0.0});
        assert!(!has_changed(&at(0.0, 0.0), &at(0.003, 0.004), Some(0.01)));
        assert!(has_changed(&at(0.0, 0.0), &at(0.006, 0.008), Some(0.01)));
        assert!(has_changed(&json!(1), &json!(-1), Some(2.0)));
        assert!(!has_changed(&json!(1.0), &json!(1.5), Some(1.0)));
    }

    #[test]
    fn without_a_distance_any_change_counts_and_words_are_compared_as_they_are() {
        assert!(has_changed(&json!(1.0), &json!(1.0000001), None));
        assert!(!has_changed(&json!("idle"), &json!("idle"), None));
        assert!(has_changed(&json!("idle"), &json!("busy"), Some(1.0)));
        assert!(has_changed(&json!([1]), &json!([1, 2]), Some(10.0)), "what came on top is a change");
    }

    #[test]
    fn regression_a_number_that_became_none_was_progress() {
        for none in [json!("NaN"), json!({"x": 1.0, "y": "NaN"}), json!([1, null])] {
            assert!(is_unknown(&none), "{none}");
            assert_eq!(comparable(Ok(none)), None);
        }
        for known in [json!(1.0), json!("Infinity"), json!({"x": [1.0, true]}), json!([])] {
            assert!(!is_unknown(&known), "{known}");
            assert_eq!(comparable(Ok(known.clone())), Some(known));
        }
    }
}
