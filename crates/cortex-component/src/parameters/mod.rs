//! Declared ROS parameters: typed, bounded, described. Nothing undeclared is taken.
//!
//! - this file: declarations and the values, pure;
//! - `endpoints`: the six standard services and the event topic.

pub(crate) mod endpoints;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use cortex_ros::r2r::ParameterValue;
use tokio::sync::watch;

use crate::call::Failure;

/// A declared parameter.
#[derive(Debug, Clone)]
pub struct Parameter {
    pub(crate) name: String,
    pub(crate) default: ParameterValue,
    pub(crate) description: String,
    pub(crate) access: Access,
    pub(crate) range: Option<Range>,
}

/// Whether a parameter may change while the component runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    ReadWrite,
    ReadOnly,
}

/// The values that a number may take.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Range {
    Integer(RangeInclusive<i64>),
    Double(RangeInclusive<f64>),
}

impl Parameter {
    fn new(name: &str, default: ParameterValue) -> Self {
        Self { name: name.to_owned(), default, description: String::new(), access: Access::ReadWrite, range: None }
    }

    /// A number.
    #[must_use]
    pub fn double(name: &str, default: f64) -> Self {
        Self::new(name, ParameterValue::Double(default))
    }

    /// A number within bounds.
    #[must_use]
    pub fn double_within(name: &str, default: f64, range: RangeInclusive<f64>) -> Self {
        Self { range: Some(Range::Double(range)), ..Self::double(name, default) }
    }

    /// A whole number.
    #[must_use]
    pub fn integer(name: &str, default: i64) -> Self {
        Self::new(name, ParameterValue::Integer(default))
    }

    /// A whole number within bounds.
    #[must_use]
    pub fn integer_within(name: &str, default: i64, range: RangeInclusive<i64>) -> Self {
        Self { range: Some(Range::Integer(range)), ..Self::integer(name, default) }
    }

    /// Yes or no.
    #[must_use]
    pub fn boolean(name: &str, default: bool) -> Self {
        Self::new(name, ParameterValue::Bool(default))
    }

    /// Text.
    #[must_use]
    pub fn text(name: &str, default: &str) -> Self {
        Self::new(name, ParameterValue::String(default.to_owned()))
    }

    /// What it is for, with its unit.
    #[must_use]
    pub fn describe(mut self, description: &str) -> Self {
        self.description = description.to_owned();
        self
    }

    /// Given at start only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.access = Access::ReadOnly;
        self
    }

    /// The value as this parameter takes it, or what is wrong with it.
    fn accept(&self, value: ParameterValue) -> Result<ParameterValue, String> {
        let value = match (&self.default, value) {
            // `ros2 param set /base speed_mps 1` sends an integer.
            #[expect(clippy::cast_precision_loss, reason = "nobody sets a parameter to a whole number beyond 2^53")]
            (ParameterValue::Double(_), ParameterValue::Integer(value)) => ParameterValue::Double(value as f64),
            (_, value) => value,
        };
        if std::mem::discriminant(&value) != std::mem::discriminant(&self.default) {
            return Err(format!("it is a {}, not a {}", self.default.type_name(), value.type_name()));
        }
        let outside = |bounds: String| Err(format!("it must be from {bounds}"));
        match (&self.range, &value) {
            (_, ParameterValue::Double(number)) if !number.is_finite() => Err("it must be a finite number".to_owned()),
            (Some(Range::Double(range)), ParameterValue::Double(number)) if !range.contains(number) => {
                outside(format!("{} to {}", range.start(), range.end()))
            }
            (Some(Range::Integer(range)), ParameterValue::Integer(number)) if !range.contains(number) => {
                outside(format!("{} to {}", range.start(), range.end()))
            }
            _ => Ok(value),
        }
    }
}

/// The parameters of a component. Clones share the values.
#[derive(Debug, Clone)]
pub struct Parameters {
    declared: Arc<BTreeMap<String, Parameter>>,
    values: Arc<watch::Sender<BTreeMap<String, ParameterValue>>>,
}

impl Parameters {
    /// Declares parameters and gives them the values of the command line where there are any; values for names that are
    /// not declared are meant for other nodes.
    ///
    /// # Errors
    /// The name and the problem of the first value that does not fit.
    pub(crate) fn declare(
        parameters: Vec<Parameter>,
        given: impl Fn(&str) -> Option<ParameterValue>,
    ) -> Result<Self, (String, String)> {
        let mut values = BTreeMap::new();
        for parameter in &parameters {
            let value = given(&parameter.name).unwrap_or_else(|| parameter.default.clone());
            let value = parameter.accept(value).map_err(|problem| (parameter.name.clone(), problem))?;
            values.insert(parameter.name.clone(), value);
        }
        let declared = parameters.into_iter().map(|parameter| (parameter.name.clone(), parameter)).collect();
        Ok(Self { declared: Arc::new(declared), values: Arc::new(watch::Sender::new(values)) })
    }

    /// The number of that name.
    ///
    /// # Errors
    /// When no number is declared under that name.
    pub fn double(&self, name: &str) -> Result<f64, Failure> {
        match self.get(name) {
            Some(ParameterValue::Double(value)) => Ok(value),
            _ => Err(Failure::Reason(format!("no double parameter '{name}' is declared"))),
        }
    }

    /// The whole number of that name.
    ///
    /// # Errors
    /// When no whole number is declared under that name.
    pub fn integer(&self, name: &str) -> Result<i64, Failure> {
        match self.get(name) {
            Some(ParameterValue::Integer(value)) => Ok(value),
            _ => Err(Failure::Reason(format!("no integer parameter '{name}' is declared"))),
        }
    }

    /// The boolean of that name.
    ///
    /// # Errors
    /// When no boolean is declared under that name.
    pub fn boolean(&self, name: &str) -> Result<bool, Failure> {
        match self.get(name) {
            Some(ParameterValue::Bool(value)) => Ok(value),
            _ => Err(Failure::Reason(format!("no boolean parameter '{name}' is declared"))),
        }
    }

    /// The text of that name.
    ///
    /// # Errors
    /// When no text is declared under that name.
    pub fn text(&self, name: &str) -> Result<String, Failure> {
        match self.get(name) {
            Some(ParameterValue::String(value)) => Ok(value),
            _ => Err(Failure::Reason(format!("no text parameter '{name}' is declared"))),
        }
    }

    /// Changes with the values; for those who must act on a change.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<BTreeMap<String, ParameterValue>> {
        self.values.subscribe()
    }

    pub(crate) fn get(&self, name: &str) -> Option<ParameterValue> {
        self.values.borrow().get(name).cloned()
    }

    pub(crate) fn declaration(&self, name: &str) -> Option<&Parameter> {
        self.declared.get(name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.declared.keys().map(String::as_str)
    }

    /// Sets all of them or none. Returns what has really changed.
    ///
    /// # Errors
    /// What is wrong with the first value that does not fit.
    pub(crate) fn set(
        &self,
        wanted: Vec<(String, ParameterValue)>,
    ) -> Result<BTreeMap<String, ParameterValue>, String> {
        let mut accepted = BTreeMap::new();
        for (name, value) in wanted {
            let Some(parameter) = self.declaration(&name) else {
                let known: Vec<&str> = self.names().collect();
                return Err(format!("there is no parameter '{name}'; there are: {}", known.join(", ")));
            };
            if parameter.access == Access::ReadOnly {
                return Err(format!("'{name}' can only be given at start"));
            }
            let value = parameter.accept(value).map_err(|problem| format!("'{name}': {problem}"))?;
            accepted.insert(name, value);
        }
        let mut changed = BTreeMap::new();
        self.values.send_if_modified(|values| {
            accepted.retain(|name, value| values.get(name) != Some(value));
            values.extend(accepted.iter().map(|(name, value)| (name.clone(), value.clone())));
            changed = accepted;
            !changed.is_empty()
        });
        Ok(changed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        let declared = vec![
            Parameter::double_within("speed_mps", 0.8, 0.05..=3.0),
            Parameter::integer_within("steps", 3, 1..=9),
            Parameter::boolean("autostart", true).read_only(),
            Parameter::text("voice", "en"),
        ];
        Parameters::declare(declared, |_| None).unwrap()
    }

    #[test]
    fn what_does_not_fit_is_refused_and_changes_nothing() {
        let parameters = parameters();
        let table = [
            ("speed_mps", ParameterValue::Double(9.0), "'speed_mps': it must be from 0.05 to 3"),
            ("speed_mps", ParameterValue::Double(f64::NAN), "'speed_mps': it must be a finite number"),
            ("speed_mps", ParameterValue::String("fast".into()), "'speed_mps': it is a double, not a string"),
            ("speed_mps", ParameterValue::NotSet, "'speed_mps': it is a double, not a not set"),
            ("steps", ParameterValue::Integer(10), "'steps': it must be from 1 to 9"),
            ("autostart", ParameterValue::Bool(false), "'autostart' can only be given at start"),
            (
                "sped",
                ParameterValue::Double(1.0),
                "there is no parameter 'sped'; there are: autostart, speed_mps, steps, voice",
            ),
        ];
        for (name, value, problem) in table {
            assert_eq!(parameters.set(vec![(name.to_owned(), value)]), Err(problem.to_owned()));
        }
        assert_eq!(parameters.double("speed_mps"), Ok(0.8));
    }

    #[test]
    fn one_bad_value_keeps_the_good_ones_from_being_set() {
        let parameters = parameters();
        let wanted = vec![
            ("voice".to_owned(), ParameterValue::String("de".into())),
            ("steps".to_owned(), ParameterValue::Integer(0)),
        ];
        assert!(parameters.set(wanted).is_err());
        assert_eq!(parameters.text("voice"), Ok("en".to_owned()));
    }

    #[test]
    fn only_what_differs_is_told_as_changed() {
        let parameters = parameters();
        let mut watch = parameters.watch();
        let same = vec![("speed_mps".to_owned(), ParameterValue::Double(0.8))];
        assert_eq!(parameters.set(same), Ok(BTreeMap::new()));
        assert!(!watch.has_changed().unwrap());
        let whole = vec![("speed_mps".to_owned(), ParameterValue::Integer(2))];
        assert_eq!(
            parameters.set(whole),
            Ok(BTreeMap::from([("speed_mps".to_owned(), ParameterValue::Double(2.0))])),
            "a whole number fits a double"
        );
        assert!(watch.has_changed().unwrap());
        watch.mark_unchanged();
    }

    #[test]
    fn a_bad_value_on_the_command_line_is_named() {
        let declared = vec![Parameter::double_within("speed_mps", 0.8, 0.05..=3.0)];
        let problem = Parameters::declare(declared, |_| Some(ParameterValue::Double(0.0))).unwrap_err();
        assert_eq!(problem, ("speed_mps".to_owned(), "it must be from 0.05 to 3".to_owned()));
    }
}
