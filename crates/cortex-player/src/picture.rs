//! The live status and the open questions, as far as they follow from what was recorded. No IO.

use std::collections::BTreeMap;
use std::time::Duration;

use cortex_protocol::overview::{
    ComponentHealth, ComponentOverview, ModelOverview, OVERVIEW_VERSION, Overview, ReadinessOverview, ReadinessState,
    RecordingOverview, StopOverview,
};
use cortex_protocol::{CloudEvent, ComponentName, Control, MissionEvent, OpenQuestion, QuestionId};
use cortex_runtime::MissionOverviews;
use tokio::time::Instant;

use crate::recording::Recording;
use crate::speed::Speed;

/// Most questions that are open at a time.
const QUESTIONS: usize = 64;

/// What is shown of a recording at one moment.
pub(crate) struct Picture {
    robot: String,
    tools: u32,
    started_ms: u64,
    recording: RecordingOverview,
    /// The components of the tools, each with why it is in quarantine.
    components: BTreeMap<ComponentName, Option<String>>,
    missions: MissionOverviews,
    paused: Option<String>,
    /// Each until when it may be answered.
    questions: Vec<(OpenQuestion, Instant)>,
    task: String,
}

impl Picture {
    pub(crate) fn new(recording: &Recording, speed: Speed, now_ms: u64) -> Self {
        let about = recording.about();
        Self {
            robot: recording.robot().to_owned(),
            tools: u32::try_from(recording.tools().len()).unwrap_or(u32::MAX),
            started_ms: now_ms,
            recording: RecordingOverview {
                mission: about.mission.clone(),
                time: about.time.clone(),
                speed: speed.times(),
                cut: String::new(),
            },
            components: components(recording),
            missions: MissionOverviews::default(),
            paused: None,
            questions: Vec::new(),
            task: about.task.clone(),
        }
    }

    /// The mission begins anew.
    pub(crate) fn begin(&mut self) {
        self.missions = MissionOverviews::default();
        self.paused = None;
        self.questions.clear();
        self.components.values_mut().for_each(|quarantined| *quarantined = None);
    }

    /// The rest of the recording can't be shown.
    pub(crate) fn cut(&mut self, because: String) {
        self.recording.cut = because;
    }

    /// Takes note of what happens now.
    pub(crate) fn note(&mut self, event: &CloudEvent, now_ms: u64) {
        self.missions.note(event, now_ms);
        match &event.data.payload {
            MissionEvent::Asked { question } if self.questions.len() < QUESTIONS => {
                let id = QuestionId { mission: event.subject.clone(), number: question.number };
                let (task, left) = (self.task.clone(), question.patience);
                let until = Instant::now().checked_add(left).unwrap_or_else(Instant::now);
                self.questions.push((OpenQuestion { id, task, question: question.clone(), left }, until));
            }
            MissionEvent::QuestionEnded { number, .. } => self.questions.retain(|(open, _)| open.id.number != *number),
            MissionEvent::Quarantined { component, because } => {
                if let Some(quarantined) = self.components.get_mut(component) {
                    *quarantined = Some(because.clone());
                }
            }
            MissionEvent::Released { component } => {
                if let Some(quarantined) = self.components.get_mut(component) {
                    *quarantined = None;
                }
            }
            MissionEvent::Paused { because, .. } => self.paused = Some(because.clone()),
            MissionEvent::Unpaused => self.paused = None,
            MissionEvent::Finished { .. } => {
                self.paused = None;
                self.questions.clear();
            }
            _ => {}
        }
    }

    pub(crate) fn questions(&self) -> Vec<OpenQuestion> {
        let now = Instant::now();
        let left = |until: &Instant| until.checked_duration_since(now).unwrap_or(Duration::ZERO);
        self.questions.iter().map(|(open, until)| OpenQuestion { left: left(until), ..open.clone() }).collect()
    }

    pub(crate) fn overview(&self, now_ms: u64) -> Overview {
        let component = |(name, quarantined): (&ComponentName, &Option<String>)| ComponentOverview {
            name: name.clone(),
            // How it was is on no tape.
            health: if quarantined.is_some() { ComponentHealth::Failed } else { ComponentHealth::Unknown },
            standing: if quarantined.is_some() { "quarantined" } else { "recorded" }.to_owned(),
            lifecycle: String::new(),
            symptoms: quarantined.iter().cloned().collect(),
            attempts: 0,
            restarts: 0,
            // The recipe is on no tape, either.
            depends_on: Vec::new(),
            standby: None,
            quarantine_cause: None,
        };
        Overview {
            version: OVERVIEW_VERSION,
            at_ms: now_ms,
            started_ms: self.started_ms,
            robot: self.robot.clone(),
            node: format!("/{}/cortex", self.robot),
            // A recording has no node.
            lifecycle: String::new(),
            tools: self.tools,
            readiness: ReadinessOverview {
                state: ReadinessState::Refusing,
                because: "this is a recording; no robot is connected".to_owned(),
            },
            stop: StopOverview::default(),
            model: ModelOverview::default(),
            components: self.components.iter().map(component).collect(),
            paused: self.paused.clone(),
            missions: self.missions.all(),
            calls: Vec::new(),
            unsettled: Vec::new(),
            budget: Vec::new(),
            watchdog: None,
            control: Control::default(),
            page: None,
            lost: Vec::new(),
            recording: Some(self.recording.clone()),
        }
    }
}

fn components(recording: &Recording) -> BTreeMap<ComponentName, Option<String>> {
    recording.tools().iter().filter_map(|tool| tool.component.clone()).map(|name| (name, None)).collect()
}
