//! What has happened, as lines for people.

use std::collections::VecDeque;

use cortex_protocol::{CloudEvent, Decision, LogLevel, MissionEvent, MissionId, PlanOpinion, StepStatus};

use crate::text::one_line;

/// Lines that are kept.
const LINES: usize = 2_000;
/// Longest line, in characters.
const CHARACTERS: usize = 4_000;

/// How a line is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// Something that comes again and again.
    Quiet,
    /// Something was achieved.
    Good,
    /// Something to look at.
    Warning,
    /// Something failed.
    Bad,
    /// Something is up to a person.
    Person,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogLine {
    /// When, in milliseconds since the mission was accepted. None: it belongs to no mission.
    pub since_ms: Option<u64>,
    /// In words, clean.
    pub text: String,
    /// How it is meant.
    pub tone: Tone,
}

impl LogLine {
    pub(super) fn new(tone: Tone, text: impl AsRef<str>) -> Self {
        let text = one_line(text.as_ref()).chars().take(CHARACTERS).collect();
        Self { since_ms: None, text, tone }
    }

    /// What a node of the robot has logged.
    pub(super) fn of_node(line: &cortex_protocol::LogLine) -> Self {
        let tone = if line.level > LogLevel::Warn { Tone::Bad } else { Tone::Warning };
        Self::new(tone, format!("{}: {}", line.node, line.text))
    }

    pub(super) fn of(event: &CloudEvent) -> Self {
        Self::new(tone(&event.data.payload), &event.data.text)
    }
}

/// How an event is meant.
pub(crate) fn tone(event: &MissionEvent) -> Tone {
    match event {
        MissionEvent::Finished { result } if result.is_success() => Tone::Good,
        MissionEvent::Finished { .. } => Tone::Bad,
        MissionEvent::StepFinished { report, .. } => match report.status {
            StepStatus::Success => Tone::Good,
            StepStatus::Failed => Tone::Bad,
            _ => Tone::Warning,
        },
        MissionEvent::Decided { decision: Decision::Abort, .. } => Tone::Bad,
        MissionEvent::Asked { .. }
        | MissionEvent::QuestionEnded { .. }
        | MissionEvent::ControlChanged { .. }
        | MissionEvent::TaskRevised { .. } => Tone::Person,
        MissionEvent::Disputed { .. } | MissionEvent::Accepted { .. } => Tone::Person,
        MissionEvent::Progress { in_flight } if in_flight.iter().any(|one| one.stalled.is_some()) => Tone::Warning,
        MissionEvent::Progress { .. } | MissionEvent::Planning { .. } | MissionEvent::Classified { .. } => Tone::Quiet,
        MissionEvent::ContextGathered { missing, .. } if !missing.is_empty() => Tone::Warning,
        MissionEvent::ContextGathered { .. }
        | MissionEvent::Answering { .. }
        | MissionEvent::ToolsOffered { .. }
        | MissionEvent::Compacted { .. }
        | MissionEvent::Researching { .. } => Tone::Quiet,
        MissionEvent::PlanCompared { opinion: PlanOpinion::Same | PlanOpinion::NoAnswer, .. } => Tone::Quiet,
        MissionEvent::ModelMistake { .. }
        | MissionEvent::ModelChanged { .. }
        | MissionEvent::PlanCompared { .. }
        | MissionEvent::PlanDoubted { .. }
        | MissionEvent::Correcting { .. }
        | MissionEvent::Retrying { .. }
        | MissionEvent::BudgetWarning { .. }
        | MissionEvent::Conflict { .. }
        | MissionEvent::Replanning { .. }
        | MissionEvent::ComponentMissing { .. }
        | MissionEvent::FailedOver { .. }
        | MissionEvent::Paused { .. }
        | MissionEvent::Stopping { .. } => Tone::Warning,
        MissionEvent::PolicyDenied { .. } | MissionEvent::MeterSilent { .. } | MissionEvent::Quarantined { .. } => {
            Tone::Bad
        }
        MissionEvent::Halted { state, .. } if state.may_go_on() => Tone::Bad,
        _ => Tone::Plain,
    }
}

/// The lines, the latest last.
#[derive(Debug, Default)]
pub(crate) struct Log {
    lines: VecDeque<LogLine>,
    /// The mission whose progress the last line tells.
    progress: Option<MissionId>,
}

impl Log {
    pub(super) fn add(&mut self, line: LogLine) {
        if self.lines.len() >= LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
        self.progress = None;
    }

    /// Adds a line of progress, in the place of the one before if that tells of the same mission's progress.
    pub(super) fn add_progress(&mut self, mission: &MissionId, line: LogLine) {
        if self.progress.as_ref() == Some(mission) {
            self.lines.pop_back();
        }
        self.add(line);
        self.progress = Some(mission.clone());
    }

    /// The lines, the latest last.
    pub(crate) fn lines(&self) -> impl DoubleEndedIterator<Item = &LogLine> + ExactSizeIterator {
        self.lines.iter()
    }
}
