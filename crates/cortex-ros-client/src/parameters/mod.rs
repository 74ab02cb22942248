//! Declared ROS parameters: typed, bounded, described. Nothing undeclared is taken.
//!
//! - this file: declarations and the values, pure;
//! - `overrides`: which of the parameters among the ROS arguments are for a node;
//! - `value`: values as messages and as JSON;
//! - `services`: the six standard services and the event topic.

mod overrides;
mod services;
mod value;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use thiserror::Error;
use tokio::sync::watch;

pub(crate) use overrides::given_to;
pub use services::serve;
pub use value::{ParameterValue, value_as_json};

/// A declared parameter.
#[derive(Debug, Clone)]
pub struct Parameter {
    pub(crate) name: String,
    pub(crate) default: ParameterValue,
    pub(crate) description: String,
    pub(crate) access: Access,
    pub(crate) range: Option<Range>,
}

/// What is said of a parameter that can't be set.
const ONLY_AT_START: &str = "can only be given at start: --ros-args -p NAME:=VALUE";

/// Whether a parameter may change while the node runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Access {
    ReadWrite,
    /// Not, and what is said then, after its name.
    ReadOnly(&'static str),
}

/// What a judge says against new values, in its own words.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ChangeRefused(pub String);

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ValueProblem {
    /// It is of another type.
    #[error("its type is {declared}, not {given}")]
    Type {
        /// The type that the parameter has.
        declared: &'static str,
        /// The type of the value.
        given: &'static str,
    },
    /// It is infinite, or no number.
    #[error("it must be a finite number")]
    NotFinite,
    /// It is out of range.
    #[error("it must be from {range}")]
    OutOfRange {
        /// From where to where.
        range: String,
    },
}

/// Why parameters were not set.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotSet {
    /// There is no such parameter.
    #[error("there is no parameter '{name}'; {}", known_names(.known))]
    Unknown {
        /// Its name.
        name: String,
        /// The names of those that there are, or the first of them.
        known: Vec<String>,
    },
    /// The parameter does not change while the node runs.
    #[error("'{name}' {because}")]
    ReadOnly {
        /// Its name.
        name: String,
        /// What to do instead.
        because: &'static str,
    },
    /// The parameter does not take the value.
    #[error("'{name}': {problem}")]
    Value {
        /// Its name.
        name: String,
        /// What is wrong.
        problem: ValueProblem,
    },
    /// Whoever has the last word refuses the values.
    #[error(transparent)]
    Refused(#[from] ChangeRefused),
}

/// More names than this help nobody.
const MOST_NAMES: usize = 12;

fn known_names(known: &[String]) -> String {
    if known.len() > MOST_NAMES {
        return "`ros2 param list` names all of this node".to_owned();
    }
    format!("there are: {}", known.join(", "))
}

/// Has the last word on new values: all parameters that would be set, by name. What it takes is in force when it comes
/// back.
pub type Judge = Box<dyn Fn(&BTreeMap<String, ParameterValue>) -> Result<(), ChangeRefused> + Send + Sync>;

/// Nothing of that kind is declared under that name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no {kind} parameter '{name}' is declared")]
pub struct Undeclared {
    kind: &'static str,
    name: String,
}

/// The values that a number may take.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Range {
    Integer(RangeInclusive<i64>),
    Double(RangeInclusive<f64>),
}

impl Parameter {
    /// A parameter of any type: that of its default.
    #[must_use]
    pub fn new(name: &str, default: ParameterValue) -> Self {
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
        Self::double(name, default).within_doubles(range)
    }

    /// A whole number.
    #[must_use]
    pub fn integer(name: &str, default: i64) -> Self {
        Self::new(name, ParameterValue::Integer(default))
    }

    /// A whole number within bounds.
    #[must_use]
    pub fn integer_within(name: &str, default: i64, range: RangeInclusive<i64>) -> Self {
        Self::integer(name, default).within_integers(range)
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
    pub fn read_only(self) -> Self {
        self.read_only_because(ONLY_AT_START)
    }

    /// Given at start only; this is said, after its name, when somebody sets it.
    #[must_use]
    pub fn read_only_because(mut self, because: &'static str) -> Self {
        self.access = Access::ReadOnly(because);
        self
    }

    /// The whole numbers that it takes.
    #[must_use]
    pub fn within_integers(mut self, range: RangeInclusive<i64>) -> Self {
        self.range = Some(Range::Integer(range));
        self
    }

    /// The numbers that it takes.
    #[must_use]
    pub fn within_doubles(mut self, range: RangeInclusive<f64>) -> Self {
        self.range = Some(Range::Double(range));
        self
    }

    /// The value as this parameter takes it, or what is wrong with it.
    fn accept(&self, value: ParameterValue) -> Result<ParameterValue, ValueProblem> {
        let value = match (&self.default, value) {
            // `ros2 param set /base speed_mps 1` sends an integer.
            #[expect(clippy::cast_precision_loss, reason = "nobody sets a parameter to a whole number beyond 2^53")]
            (ParameterValue::Double(_), ParameterValue::Integer(value)) => ParameterValue::Double(value as f64),
            (_, value) => value,
        };
        if std::mem::discriminant(&value) != std::mem::discriminant(&self.default) {
            let (declared, given) = (self.default.type_name(), value.type_name());
            return Err(ValueProblem::Type { declared, given });
        }
        let outside = |range: String| Err(ValueProblem::OutOfRange { range });
        match (&self.range, &value) {
            (_, ParameterValue::Double(number)) if !number.is_finite() => Err(ValueProblem::NotFinite),
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

/// The parameters of a node. Clones share the values.
#[derive(Clone)]
pub struct Parameters {
    declared: Arc<BTreeMap<String, Parameter>>,
    judge: Arc<Judge>,
    /// Held while values are judged and set.
    setting: Arc<Mutex<()>>,
    values: Arc<watch::Sender<BTreeMap<String, ParameterValue>>>,
}

impl fmt::Debug for Parameters {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.values.borrow().iter()).finish()
    }
}

impl Parameters {
    /// Declares parameters and gives them the values of the command line where there are any; values for names that are
    /// not declared are meant for other nodes.
    ///
    /// # Errors
    /// The name and the problem of the first value that does not fit.
    pub fn declare(
        parameters: Vec<Parameter>,
        given: impl Fn(&str) -> Option<ParameterValue>,
    ) -> Result<Self, (String, ValueProblem)> {
        let mut values = BTreeMap::new();
        for parameter in &parameters {
            let value = given(&parameter.name).unwrap_or_else(|| parameter.default.clone());
            let value = parameter.accept(value).map_err(|problem| (parameter.name.clone(), problem))?;
            values.insert(parameter.name.clone(), value);
        }
        let declared = parameters.into_iter().map(|parameter| (parameter.name.clone(), parameter)).collect();
        Ok(Self {
            declared: Arc::new(declared),
            judge: Arc::new(Box::new(|_| Ok(()))),
            setting: Arc::default(),
            values: Arc::new(watch::Sender::new(values)),
        })
    }

    /// The same with somebody who has the last word on new values. He must not set parameters himself.
    #[must_use]
    pub fn judged_by(self, judge: Judge) -> Self {
        Self { judge: Arc::new(judge), ..self }
    }

    /// The number of that name.
    ///
    /// # Errors
    /// When no number is declared under that name.
    pub fn double(&self, name: &str) -> Result<f64, Undeclared> {
        match self.get(name) {
            Some(ParameterValue::Double(value)) => Ok(value),
            _ => Err(Undeclared { kind: "double", name: name.to_owned() }),
        }
    }

    /// The whole number of that name.
    ///
    /// # Errors
    /// When no whole number is declared under that name.
    pub fn integer(&self, name: &str) -> Result<i64, Undeclared> {
        match self.get(name) {
            Some(ParameterValue::Integer(value)) => Ok(value),
            _ => Err(Undeclared { kind: "integer", name: name.to_owned() }),
        }
    }

    /// The boolean of that name.
    ///
    /// # Errors
    /// When no boolean is declared under that name.
    pub fn boolean(&self, name: &str) -> Result<bool, Undeclared> {
        match self.get(name) {
            Some(ParameterValue::Bool(value)) => Ok(value),
            _ => Err(Undeclared { kind: "boolean", name: name.to_owned() }),
        }
    }

    /// The text of that name.
    ///
    /// # Errors
    /// When no text is declared under that name.
    pub fn text(&self, name: &str) -> Result<String, Undeclared> {
        match self.get(name) {
            Some(ParameterValue::String(value)) => Ok(value),
            _ => Err(Undeclared { kind: "text", name: name.to_owned() }),
        }
    }

    /// Changes with the values; for those who must act on a change.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<BTreeMap<String, ParameterValue>> {
        self.values.subscribe()
    }

    /// The value of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<ParameterValue> {
        self.values.borrow().get(name).cloned()
    }

    pub(crate) fn declaration(&self, name: &str) -> Option<&Parameter> {
        self.declared.get(name)
    }

    /// The names with what they are for, in the order of the names.
    pub fn described(&self) -> impl Iterator<Item = (&str, &str)> {
        self.declared.iter().map(|(name, parameter)| (name.as_str(), parameter.description.as_str()))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.declared.keys().map(String::as_str)
    }

    /// Sets all of them or none. Returns what has really changed.
    ///
    /// # Errors
    /// What is wrong with the first value that does not fit.
    pub fn set(&self, wanted: Vec<(String, ParameterValue)>) -> Result<BTreeMap<String, ParameterValue>, NotSet> {
        let _turn = self.setting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = BTreeMap::new();
        for (name, value) in wanted {
            let Some(parameter) = self.declaration(&name) else { return Err(self.unknown(&name)) };
            if let Access::ReadOnly(because) = &parameter.access {
                return Err(NotSet::ReadOnly { name, because });
            }
            match parameter.accept(value) {
                Ok(value) => changed.insert(name, value),
                Err(problem) => return Err(NotSet::Value { name, problem }),
            };
        }
        changed.retain(|name, value| self.values.borrow().get(name) != Some(value));
        if changed.is_empty() {
            return Ok(changed);
        }
        (self.judge)(&changed)?;
        self.values.send_modify(|values| {
            values.extend(changed.iter().map(|(name, value)| (name.clone(), value.clone())));
        });
        Ok(changed)
    }

    fn unknown(&self, name: &str) -> NotSet {
        let known = self.names().take(MOST_NAMES + 1).map(str::to_owned).collect();
        NotSet::Unknown { name: name.to_owned(), known }
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
            ("speed_mps", ParameterValue::String("fast".into()), "'speed_mps': its type is double, not string"),
            ("speed_mps", ParameterValue::NotSet, "'speed_mps': its type is double, not not set"),
            ("steps", ParameterValue::Integer(10), "'steps': it must be from 1 to 9"),
            (
                "autostart",
                ParameterValue::Bool(false),
                "'autostart' can only be given at start: --ros-args -p NAME:=VALUE",
            ),
            (
                "sped",
                ParameterValue::Double(1.0),
                "there is no parameter 'sped'; there are: autostart, speed_mps, steps, voice",
            ),
        ];
        for (name, value, problem) in table {
            let refused = parameters.set(vec![(name.to_owned(), value)]).unwrap_err();
            assert_eq!(refused.to_string(), problem);
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
    fn who_has_the_last_word_sees_all_that_would_change_and_may_refuse_it() {
        let judge = |changed: &BTreeMap<String, ParameterValue>| match changed.get("steps") {
            Some(ParameterValue::Integer(steps)) if *steps > 5 => {
                Err(ChangeRefused(format!("{} of {}", steps, changed.len())))
            }
            _ => Ok(()),
        };
        let parameters = parameters().judged_by(Box::new(judge));
        let wanted = |steps| {
            vec![
                ("steps".to_owned(), ParameterValue::Integer(steps)),
                ("voice".to_owned(), ParameterValue::String("de".into())),
                ("speed_mps".to_owned(), ParameterValue::Double(0.8)),
            ]
        };
        let refused = ChangeRefused("6 of 2".to_owned());
        assert_eq!(parameters.set(wanted(6)), Err(refused.into()), "the speed would stay as it is");
        assert_eq!(parameters.text("voice"), Ok("en".to_owned()));
        assert_eq!(parameters.set(wanted(5)).map(|changed| changed.len()), Ok(2));
        assert_eq!(parameters.integer("steps"), Ok(5));
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
        assert_eq!((problem.0.as_str(), problem.1.to_string().as_str()), ("speed_mps", "it must be from 0.05 to 3"));
    }
}
