//! What is known of one component, and what it says about its health: functions of the evidence and the time.

use std::time::Duration;

use cortex_recipe::{ComponentRecipe, During, Lifecycle, Start};
use serde::{Deserialize, Serialize};

use crate::diagnostics::Diagnostics;
use crate::health::{DiagnosticLevel, Ending, FailureKind, LifecycleState, Severity, Symptom};
use crate::progress::Window;
use crate::sanitize::shown;

/// The heartbeat of the component contract, for components that publish their health though no recipe asks for it.
pub const USUAL_HEARTBEAT: Duration = Duration::from_secs(1);

/// Silence after which a component is suspected, in heartbeats: half a beat too late.
const SUSPECT_BEATS: f64 = 1.5;

/// Silence after which it has failed, in heartbeats: three missed and a little, as the component contract says.
const SILENT_BEATS: f64 = 3.5;

/// How long a node may be missing on the graph before that is a failure: discovery loses sight of healthy ones.
pub const ABSENCE_GRACE: Duration = Duration::from_secs(2);

/// Questions for its state that a managed node without a heartbeat leaves unanswered, one after the other, until it is
/// suspected, and until it has failed. Not many seconds, but questions: a busy machine, and a pause of this process, make
/// one late, but not each.
pub const SUSPECT_UNANSWERED: u32 = 4;
/// See [`SUSPECT_UNANSWERED`].
pub const FAILED_UNANSWERED: u32 = 8;

/// Everything that is known of one component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// Since when the rest is expected of it.
    pub(crate) since: Duration,
    /// Whether its process is new since it was judged last, so that all that was heard was said by this one.
    is_fresh: bool,
    pub(crate) ended: Option<Ending>,
    /// Whether its node is on the graph, and since when. None: it was not seen yet.
    pub(crate) present: Option<(bool, Duration)>,
    pub(crate) lifecycle: Option<LifecycleState>,
    /// Questions for that state which were not answered since the last answer.
    unanswered: u32,
    /// Whether it ever published its health, so that it is expected to.
    speaks: bool,
    /// Its last heartbeat since it is judged.
    heard: Option<Duration>,
    /// The failure that it reports itself.
    reported: Option<(FailureKind, String)>,
    diagnostics: Diagnostics,
    /// One for each `progress` of its recipe.
    windows: Vec<Window>,
    goals: u32,
    /// Since when none is going on.
    idle_since: Duration,
    /// A call that did not end in its time and could not be halted.
    hung_call: Option<String>,
}

impl Evidence {
    /// Of a component about which nothing is known.
    #[must_use]
    pub fn new(recipe: &ComponentRecipe) -> Self {
        let window = |progress: &cortex_recipe::Progress| Window::new(progress.within_s.duration(), progress.at_least);
        Self {
            since: Duration::ZERO,
            is_fresh: false,
            ended: None,
            present: None,
            lifecycle: None,
            unanswered: 0,
            speaks: false,
            heard: None,
            reported: None,
            diagnostics: Diagnostics::default(),
            windows: recipe.progress.iter().map(window).collect(),
            goals: 0,
            idle_since: Duration::ZERO,
            hung_call: None,
        }
    }

    /// Its process is started anew: nothing that is known of the last one counts.
    pub fn forget(&mut self) {
        self.ended = None;
        self.present = None;
        self.lifecycle = None;
        self.unanswered = 0;
        self.heard = None;
        self.reported = None;
        self.hung_call = None;
        self.diagnostics = Diagnostics::default();
        self.is_fresh = true;
        self.forget_calls();
    }

    /// It begins anew: calls of the life before may go on for their callers, but say nothing about this one.
    pub fn forget_calls(&mut self) {
        self.goals = 0;
        // One that always counts begins anew with the judgement.
        self.windows.iter_mut().for_each(Window::end);
    }

    /// It begins anew: what `/diagnostics` said is not about what comes now.
    pub fn forget_diagnostics(&mut self) {
        self.diagnostics = Diagnostics::default();
    }

    /// A node of its name is there again that something else has started: neither the reports nor the silence of the one
    /// before are its own.
    pub fn forget_predecessor(&mut self, now: Duration) {
        self.forget_diagnostics();
        self.unanswered = 0;
        self.heard = None;
        self.reported = None;
        self.since = now;
    }

    /// Whether its node has been away for so long that it was no slip of discovery.
    #[must_use]
    pub fn is_gone(&self, now: Duration) -> bool {
        matches!(self.present, Some((false, since)) if now >= since.saturating_add(ABSENCE_GRACE))
    }

    /// From now on it is judged: what it did before is forgotten, unless its process is new. What it says at this very
    /// moment is not: that may be what has shown that it is there.
    pub fn begin(&mut self, now: Duration, recipe: &ComponentRecipe) {
        self.since = now;
        self.unanswered = 0;
        self.hung_call = None;
        if !std::mem::take(&mut self.is_fresh) && self.heard != Some(now) {
            self.heard = None;
            self.reported = None;
        }
        for (window, progress) in self.windows.iter_mut().zip(&recipe.progress) {
            match progress.during {
                During::Always => window.begin(now),
                During::Goal if self.goals > 0 => window.begin(now),
                During::Goal => window.end(),
            }
        }
    }

    /// The state of its lifecycle is known.
    pub fn note_state(&mut self, state: LifecycleState) {
        self.lifecycle = Some(state);
        self.unanswered = 0;
    }

    /// It was asked for that state and did not answer.
    pub fn note_unanswered(&mut self) {
        self.unanswered = self.unanswered.saturating_add(1);
    }

    /// It published its health: also a heartbeat.
    pub fn note_status(&mut self, now: Duration, failure: Option<(FailureKind, String)>) {
        self.speaks = true;
        self.heard = Some(now);
        self.reported = failure.map(|(kind, message)| (kind, shown(&message)));
    }

    /// `/diagnostics` has an entry of this name about it.
    pub fn note_diagnostic(&mut self, now: Duration, name: &str, level: DiagnosticLevel, message: &str) {
        self.diagnostics.note(now, name, level, message);
    }

    /// So much came of what `progress` number `watch` counts.
    pub fn note_progress(&mut self, now: Duration, watch: usize, count: u32) {
        if let Some(window) = self.windows.get_mut(watch) {
            window.note(now, count);
        }
    }

    /// How many goals and calls of its present life are going on.
    #[must_use]
    pub fn goals(&self) -> u32 {
        self.goals
    }

    /// Since when no goal or call of its present life is going on. None while one is.
    #[must_use]
    pub fn idle_since(&self) -> Option<Duration> {
        (self.goals == 0).then_some(self.idle_since)
    }

    /// So many goals and calls of its present life are going on.
    pub fn note_goals(&mut self, now: Duration, recipe: &ComponentRecipe, goals: u32) {
        if self.goals > 0 {
            self.idle_since = now;
        }
        self.goals = goals;
        for (window, progress) in self.windows.iter_mut().zip(&recipe.progress) {
            if progress.during == During::Goal {
                match (goals > 0, window.is_open()) {
                    (true, false) => window.begin(now),
                    (false, true) => window.end(),
                    _ => {}
                }
            }
        }
    }

    /// A call of it hung, or nothing that hung goes on any more.
    pub fn note_hung_call(&mut self, because: Option<String>) {
        self.hung_call = because.map(|because| shown(&because));
    }

    /// What is wrong, the worst first.
    #[must_use]
    pub fn symptoms(&self, now: Duration, recipe: &ComponentRecipe) -> Vec<Symptom> {
        let mut found = Vec::new();
        let mut add = |severity, kind, message: String| found.push(Symptom { severity, kind, message });
        if let Some(ending) = self.ended {
            add(Severity::Failure, FailureKind::Component, ending.to_string());
        }
        if let Some((false, since)) = self.present {
            let severity =
                if now >= since.saturating_add(ABSENCE_GRACE) { Severity::Failure } else { Severity::Suspicion };
            add(severity, FailureKind::Component, "its node is not there".to_owned());
        }
        if recipe.lifecycle == Lifecycle::Managed
            && let Some(state) = self.lifecycle.filter(|state| *state != LifecycleState::Active)
        {
            add(Severity::Failure, FailureKind::Component, not_active(state, recipe));
        }
        if let Some(severity) = self.muteness(recipe) {
            let asked = match severity {
                Severity::Suspicion => SUSPECT_UNANSWERED,
                Severity::Failure => FAILED_UNANSWERED,
            };
            let message = format!("it does not answer any more: asked {asked} times for its state");
            add(severity, FailureKind::Component, message);
        }
        // A process that has ended sends no heartbeat either; its end says why.
        if self.ended.is_none()
            && let Some((severity, limit)) = self.silence(now, recipe)
        {
            // The bound, not the time since: that would be another one whenever somebody reads it.
            let message = format!("no heartbeat for more than {:.1} s", limit.as_secs_f64());
            add(severity, FailureKind::Component, message);
        }
        for (window, progress) in self.windows.iter().zip(&recipe.progress) {
            if window.falls_short(now) {
                add(Severity::Failure, FailureKind::Component, stuck(window.count(now), progress));
            }
        }
        if let Some(message) = &self.hung_call {
            add(Severity::Failure, FailureKind::Component, message.clone());
        }
        if let Some((kind, message)) = &self.reported {
            add(Severity::Failure, *kind, message.clone());
        }
        if let Some((severity, message)) = self.diagnostics.worst(now) {
            add(severity, FailureKind::General, message);
        }
        found.sort_by_key(|symptom| std::cmp::Reverse((symptom.severity, symptom.kind)));
        found
    }

    /// Whether what a healthy component shows has been seen since it is judged. That nothing was heard yet is no
    /// failure for a while, but it is no proof of health either.
    #[must_use]
    pub fn is_proof(&self, now: Duration, recipe: &ComponentRecipe) -> bool {
        let windows = self.windows.iter().zip(&recipe.progress);
        matches!(self.present, Some((true, _)))
            && (self.heard.is_some() || self.heartbeat(recipe).is_none())
            && windows.filter(|(_, progress)| progress.during == During::Always).all(|(window, _)| window.is_met(now))
    }

    /// When time alone may change the symptoms.
    #[must_use]
    pub fn next_look(&self, now: Duration, recipe: &ComponentRecipe) -> Option<Duration> {
        let absence =
            self.present.filter(|(present, _)| !present).map(|(_, since)| since.saturating_add(ABSENCE_GRACE));
        let beats = self.heartbeat(recipe).into_iter().flat_map(|period| {
            let last = self.heard.unwrap_or(self.since).max(self.since);
            [SUSPECT_BEATS, SILENT_BEATS].map(|beats| last.saturating_add(period.mul_f64(beats)))
        });
        let windows = self.windows.iter().filter_map(|window| window.next_look(now));
        absence.into_iter().chain(beats).chain(self.diagnostics.ends()).chain(windows).filter(|at| *at > now).min()
    }

    /// The heartbeat that it is held to.
    fn heartbeat(&self, recipe: &ComponentRecipe) -> Option<Duration> {
        recipe.heartbeat_s.map(cortex_recipe::Seconds::duration).or(self.speaks.then_some(USUAL_HEARTBEAT))
    }

    /// Whether it has been silent for so long that it counts as failed: it will not answer either.
    #[must_use]
    pub fn is_silent(&self, now: Duration, recipe: &ComponentRecipe) -> bool {
        matches!(self.silence(now, recipe), Some((Severity::Failure, _)))
            || self.muteness(recipe) == Some(Severity::Failure)
    }

    /// Whether a managed one leaves questions for its state unanswered. One that has a heartbeat is judged by that.
    fn muteness(&self, recipe: &ComponentRecipe) -> Option<Severity> {
        if recipe.lifecycle != Lifecycle::Managed || self.heartbeat(recipe).is_some() {
            return None;
        }
        match self.unanswered {
            FAILED_UNANSWERED.. => Some(Severity::Failure),
            SUSPECT_UNANSWERED.. => Some(Severity::Suspicion),
            _ => None,
        }
    }

    /// How bad its silence is, and the longest silence that would not be.
    fn silence(&self, now: Duration, recipe: &ComponentRecipe) -> Option<(Severity, Duration)> {
        let period = self.heartbeat(recipe)?;
        let silence = now.saturating_sub(self.heard.unwrap_or(self.since).max(self.since));
        let bounds = [(Severity::Failure, SILENT_BEATS), (Severity::Suspicion, SUSPECT_BEATS)];
        let mut bounds = bounds.into_iter().map(|(severity, beats)| (severity, period.mul_f64(beats)));
        bounds.find(|(_, limit)| silence >= *limit)
    }
}

/// That its node is in another state than active, and who can change that where Cortex can't.
pub(crate) fn not_active(state: LifecycleState, recipe: &ComponentRecipe) -> String {
    match (state, &recipe.start) {
        (LifecycleState::Finalized, Start::External) => {
            "its node is finalized, and Cortex has not started it: a person has to start it anew".to_owned()
        }
        _ => format!("its node is {state}"),
    }
}

fn stuck(count: u32, progress: &cortex_recipe::Progress) -> String {
    let seconds = f64::from(progress.within_s);
    let what = match (&progress.topic, &progress.field) {
        (Some(topic), Some(field)) => format!("changes of {field} on {topic}"),
        (Some(topic), None) => format!("messages on {topic}"),
        (None, _) => "feedback of its goals".to_owned(),
    };
    format!("it does not get on: {count} of at least {} {what} in {seconds} s", progress.at_least)
}

#[cfg(test)]
mod tests;
