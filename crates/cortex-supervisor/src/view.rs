//! What the monitor has told so far, as one picture: for screens, for the gate in front of the tools, for events.
//!
//! A fold over the effects, in their order; nothing here asks the monitor anything.

use std::collections::BTreeMap;

use cortex_monitor::{Effect, Health, MonitorEvent, ProcessNumber, Symptom, Transition};
use cortex_protocol::ComponentName;
use cortex_recipe::{ActionName, ComponentRecipe, Recipe};
use serde::{Deserialize, Serialize};

/// Where a component stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Nothing is done with it: it only stands in for others, or its turn has not come.
    #[default]
    Idle,
    /// For what it depends on.
    Waiting,
    /// It is brought up for the first time.
    Starting,
    /// It works.
    Up,
    /// It failed, and something is done about it.
    Recovering,
    /// Its ladder is at its end, for now.
    GivenUp,
    /// It was brought down.
    Down,
}

/// One component as the monitor sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ComponentView {
    /// Where it stands.
    pub standing: Standing,
    /// The verdict about its health. None: it was not judged yet.
    pub health: Option<Health>,
    /// What is wrong with it, the worst first.
    pub symptoms: Vec<Symptom>,
    /// Its process, if Cortex started one that has not been replaced.
    pub process: Option<ProcessNumber>,
    /// How often a process was started for it.
    pub starts: u32,
    /// The transition of its lifecycle that it was last asked for.
    pub transition: Option<Transition>,
    /// The attempts of its ladder that count: they are forgiven one by one while it works.
    pub attempts: u32,
    /// What is done or was last done about its failure.
    pub action: Option<ActionName>,
    /// Why the last attempt did not help, or why it was given up.
    pub reason: String,
    /// How long it is left alone when it was given up, in seconds.
    #[serde(default)]
    pub cooldown_s: f64,
    /// Whose failure keeps it from being used. None: nobody's.
    pub quarantine_cause: Option<ComponentName>,
    /// Who has its place.
    pub replaced_by: Option<ComponentName>,
    /// Why the limits of its process are not kept. Empty: they are, or it has none.
    #[serde(default)]
    pub unlimited: String,
    /// Whether it ever worked.
    pub has_worked: bool,
    /// Whether it is brought up with the robot; a standby is not.
    pub is_regular: bool,
    /// What it needs, by the recipe.
    #[serde(default)]
    pub depends_on: Vec<ComponentName>,
    /// Who takes its place when it fails, by the recipe.
    #[serde(default)]
    pub standby: Option<ComponentName>,
}

/// The whole robot as the monitor sees it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RobotView {
    /// Each component of the recipe.
    pub components: BTreeMap<ComponentName, ComponentView>,
    /// Because of whom missions are to wait.
    pub pause_cause: Option<ComponentName>,
    /// Whether so much fails that actions wait for each other.
    pub is_rate_limited: bool,
    /// What did not come down, once everything is over.
    pub finished: Option<Vec<ComponentName>>,
}

impl RobotView {
    /// Before anything was done.
    #[must_use]
    pub fn new(recipe: &Recipe) -> Self {
        let view = |name: &ComponentName, component: &ComponentRecipe| ComponentView {
            is_regular: !recipe.stands_in(name),
            depends_on: component.depends_on.clone(),
            standby: component.standby.clone(),
            ..ComponentView::default()
        };
        let named = |(name, component): (&ComponentName, &ComponentRecipe)| (name.clone(), view(name, component));
        Self { components: recipe.components.iter().map(named).collect(), ..Self::default() }
    }

    /// Takes note of an effect.
    pub fn note(&mut self, effect: &Effect) {
        match effect {
            Effect::StartProcess { component, process } => self.with(component, |view| {
                view.process = Some(*process);
                view.starts = view.starts.saturating_add(1);
                if matches!(view.standing, Standing::Idle | Standing::Waiting) {
                    view.standing = Standing::Starting;
                }
            }),
            Effect::Change { component, transition, .. } => {
                self.with(component, |view| view.transition = Some(*transition));
            }
            Effect::Quarantine { component, cause } => {
                self.with(component, |view| view.quarantine_cause = Some(cause.clone()));
            }
            Effect::Release { component } => self.with(component, |view| view.quarantine_cause = None),
            Effect::FailOver { component, by } => self.with(component, |view| view.replaced_by.clone_from(by)),
            Effect::PauseMissions { cause } => self.pause_cause = Some(cause.clone()),
            Effect::ResumeMissions => self.pause_cause = None,
            Effect::Report { event } => self.note_event(event),
            Effect::Finished { not_stopped } => self.finished = Some(not_stopped.clone()),
            Effect::StopProcess { .. }
            | Effect::EndCalls { .. }
            | Effect::FlushCalls
            | Effect::Act { .. }
            | Effect::NotifyOperator { .. } => {}
        }
    }

    /// Takes note of why the limits of a component's process are not kept; empty where they are. Gives whether that is
    /// new.
    pub fn note_limits(&mut self, component: &ComponentName, refusal: &str) -> bool {
        let Some(view) = self.components.get_mut(component) else { return false };
        let is_new = view.unlimited != refusal;
        refusal.clone_into(&mut view.unlimited);
        is_new && !refusal.is_empty()
    }

    fn note_event(&mut self, event: &MonitorEvent) {
        match event {
            MonitorEvent::Waiting { component, .. } => {
                self.with(component, |view| view.standing = Standing::Waiting);
            }
            MonitorEvent::CameUp { component } => self.with(component, |view| {
                view.standing = Standing::Up;
                view.has_worked = true;
                view.action = None;
                view.reason.clear();
            }),
            MonitorEvent::HealthChanged { component, health, symptoms } => self.with(component, |view| {
                view.health = Some(*health);
                view.symptoms.clone_from(symptoms);
            }),
            MonitorEvent::SymptomsChanged { component, symptoms } => {
                self.with(component, |view| view.symptoms.clone_from(symptoms));
            }
            MonitorEvent::AttemptBegan { component, action, attempt } => self.with(component, |view| {
                view.standing = Standing::Recovering;
                view.attempts = *attempt;
                view.action = Some(action.clone());
            }),
            MonitorEvent::AttemptsForgiven { component, left } => self.with(component, |view| view.attempts = *left),
            MonitorEvent::RestartBegan { component, action } => self.with(component, |view| {
                view.standing = Standing::Recovering;
                view.action = Some(action.clone());
            }),
            MonitorEvent::HeldByStop { component, action } => self.with(component, |view| {
                view.standing = Standing::Recovering;
                view.reason = format!("{action} is not done while the robot is stopped");
            }),
            MonitorEvent::AttemptFailed { component, reason, .. } => self.with(component, |view| {
                view.standing = Standing::Recovering;
                view.reason.clone_from(reason);
            }),
            MonitorEvent::GaveUp { component, reason, rest } => self.with(component, |view| {
                view.standing = Standing::GivenUp;
                view.cooldown_s = rest.as_secs_f64();
                view.reason.clone_from(reason);
            }),
            MonitorEvent::WentDown { component } => self.with(component, |view| {
                // A standby goes down whenever it is not needed any more.
                view.standing = if view.is_regular { Standing::Down } else { Standing::Idle };
                view.process = None;
                view.health = None;
                view.symptoms.clear();
                view.transition = None;
                view.action = None;
                view.reason.clear();
            }),
            MonitorEvent::RateLimitReached => self.is_rate_limited = true,
            MonitorEvent::RateLimitLifted => self.is_rate_limited = false,
        }
    }

    /// Why a component may not be called now. None: it may, or it is in no recipe.
    #[must_use]
    pub fn refusal(&self, component: &ComponentName) -> Option<String> {
        let view = self.components.get(component)?;
        match &view.quarantine_cause {
            Some(cause) if cause == component => {
                return Some(format!("'{component}' does not work now: {}", self.why(component)));
            }
            Some(cause) => {
                let why = self.why(cause);
                return Some(format!("'{component}' can't be used while '{cause}' does not work: {why}"));
            }
            None => {}
        }
        if let Some(by) = &view.replaced_by {
            return Some(format!("'{component}' is replaced by '{by}'"));
        }
        // It finishes what it has begun, and begins nothing more: whose place it had has it back.
        if !view.is_regular && view.has_worked && !self.stands_in(component) {
            return Some(format!("'{component}' only stands in for others, and has given the place back"));
        }
        match view.standing {
            Standing::Down => Some(format!("'{component}' was brought down")),
            // Whether one that came up can be used is the monitor's to say, by the quarantine.
            _ if view.has_worked => None,
            _ => Some(format!(
                "'{component}' is not up yet{}",
                if view.reason.is_empty() { String::new() } else { format!(": {}", view.reason) }
            )),
        }
    }

    /// Which components may not be called now, and why.
    #[must_use]
    pub fn refusals(&self) -> BTreeMap<ComponentName, String> {
        self.components.keys().filter_map(|name| Some((name.clone(), self.refusal(name)?))).collect()
    }

    /// Whether it has the place of another.
    fn stands_in(&self, component: &ComponentName) -> bool {
        self.components.values().any(|other| other.replaced_by.as_ref() == Some(component))
    }

    /// Whether a component of the recipe works.
    #[must_use]
    pub fn works(&self, component: &ComponentName) -> bool {
        self.components.get(component).is_some_and(|view| view.standing == Standing::Up)
    }

    /// Whether everything that comes up with the robot has worked, if only for a while.
    #[must_use]
    pub fn has_come_up(&self) -> bool {
        self.components.values().all(|view| !view.is_regular || view.has_worked)
    }

    /// What comes up with the robot and does not work, in order.
    #[must_use]
    pub fn missing(&self) -> Vec<ComponentName> {
        let missing = self
            .components
            .iter()
            .filter(|(_, view)| view.is_regular && view.standing != Standing::Up && view.replaced_by.is_none());
        missing.map(|(name, _)| name.clone()).collect()
    }

    /// What is wrong with a component, in words. Empty for one that is not in the recipe.
    #[must_use]
    pub fn why(&self, component: &ComponentName) -> String {
        let Some(view) = self.components.get(component) else { return String::new() };
        let symptoms: Vec<&str> = view.symptoms.iter().map(|symptom| symptom.message.as_str()).collect();
        match (symptoms.is_empty(), view.reason.is_empty()) {
            (true, true) if !view.is_regular && matches!(view.standing, Standing::Up | Standing::Idle) => {
                "it only stands in for others, and is not needed now".to_owned()
            }
            (false, _) => symptoms.join("; "),
            (true, false) => view.reason.clone(),
            (true, true) => "it is being brought up again".to_owned(),
        }
    }

    fn with(&mut self, component: &ComponentName, note: impl FnOnce(&mut ComponentView)) {
        if let Some(view) = self.components.get_mut(component) {
            note(view);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cortex_monitor::{FailureKind, Severity};

    fn robot() -> RobotView {
        let recipe = "recipe = 1\n[components.base]\nstart = \"external\"\n\
                      [components.arm]\nstart = \"external\"\ndepends_on = [\"base\"]\nstandby = \"spare\"\n\
                      [components.spare]\nstart = \"external\"\n";
        RobotView::new(&Recipe::read(recipe).unwrap_or_else(|problems| panic!("{}", problems.show("recipe"))))
    }

    fn came_up(name: &str) -> Effect {
        Effect::Report { event: MonitorEvent::CameUp { component: name.into() } }
    }

    #[test]
    fn nothing_may_be_called_before_it_works_nor_while_it_is_in_quarantine() {
        let mut robot = robot();
        let arm = &robot.components[&"arm".into()];
        assert_eq!((arm.depends_on.as_slice(), &arm.standby), (&["base".into()][..], &Some("spare".into())));
        assert_eq!(robot.refusal(&"arm".into()).as_deref(), Some("'arm' is not up yet"));
        for name in ["base", "arm"] {
            assert!(!robot.has_come_up());
            robot.note(&came_up(name));
            assert_eq!(robot.refusal(&name.into()), None);
        }
        assert!(robot.has_come_up() && robot.missing().is_empty(), "nobody waits for a standby");
        let symptom = Symptom {
            severity: Severity::Failure,
            kind: FailureKind::Component,
            message: "its node is not there".into(),
        };
        let (health, symptoms) = (Health::Failed { kind: FailureKind::Component }, vec![symptom]);
        robot.note(&Effect::Report {
            event: MonitorEvent::HealthChanged { component: "base".into(), health, symptoms },
        });
        for name in ["base", "arm"] {
            robot.note(&Effect::Quarantine { component: name.into(), cause: "base".into() });
        }
        assert_eq!(robot.refusal(&"base".into()).as_deref(), Some("'base' does not work now: its node is not there"));
        assert_eq!(
            robot.refusal(&"arm".into()).as_deref(),
            Some("'arm' can't be used while 'base' does not work: its node is not there")
        );
        robot.note(&Effect::Release { component: "arm".into() });
        assert_eq!(robot.refusal(&"arm".into()), None);
        assert_eq!(robot.refusal(&"a_stranger".into()), None, "what is in no recipe is nobody's to refuse");
    }

    #[test]
    fn one_that_recovers_may_be_called_as_long_as_the_monitor_does_not_keep_it_back() {
        let mut robot = robot();
        robot.note(&came_up("base"));
        let action = ActionName::new("respawn");
        robot.note(&Effect::Report {
            event: MonitorEvent::AttemptBegan { component: "base".into(), action, attempt: 1 },
        });
        assert_eq!(robot.refusal(&"base".into()), None, "an algorithm is seen to; the component itself works");
        robot.note(&Effect::Quarantine { component: "base".into(), cause: "base".into() });
        assert!(robot.refusal(&"base".into()).is_some());
    }

    #[test]
    fn a_standby_that_is_not_needed_any_more_is_not_shown_as_one_that_is_well() {
        let mut robot = robot();
        robot.note(&came_up("spare"));
        robot.note(&Effect::Quarantine { component: "spare".into(), cause: "spare".into() });
        robot.note(&Effect::Report { event: MonitorEvent::WentDown { component: "spare".into() } });
        let spare = &robot.components[&ComponentName::from("spare")];
        assert_eq!((spare.standing, spare.health, spare.process), (Standing::Idle, None, None));
        assert_eq!(
            robot.refusal(&"spare".into()).as_deref(),
            Some("'spare' does not work now: it only stands in for others, and is not needed now")
        );
        assert!(!robot.works(&"spare".into()));
    }

    #[test]
    fn what_was_replaced_is_not_called_in_place_of_its_standby() {
        let mut robot = robot();
        robot.note(&came_up("arm"));
        robot.note(&came_up("spare"));
        robot.note(&Effect::FailOver { component: "arm".into(), by: Some("spare".into()) });
        assert_eq!(robot.refusal(&"arm".into()).as_deref(), Some("'arm' is replaced by 'spare'"));
        assert_eq!(robot.refusal(&"spare".into()), None);
        robot.note(&Effect::FailOver { component: "arm".into(), by: None });
        assert_eq!(robot.refusal(&"arm".into()), None);
        assert_eq!(
            robot.refusal(&"spare".into()).as_deref(),
            Some("'spare' only stands in for others, and has given the place back"),
            "before it is in quarantine: it may still finish something"
        );
    }
}
