//! Tasks that wait for their turn: told so, bounded where the missions are paused, and ended with a result of their own.

use std::time::Duration;

use cortex_language::task_class;
use cortex_protocol::{Control, MissionEvent, MissionId, MissionResult, MissionStatus, Submission, TaskClass, Usage};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::event_log::OpenMission;
use crate::mission_request::Work;
use crate::mission_task::Reporter;

/// A task that waits.
pub(super) struct Waiting {
    pub(super) id: MissionId,
    pub(super) submission: Submission,
    pub(super) work: Work,
    pub(super) reporter: Reporter,
    pub(super) open: OpenMission,
    pub(super) result: oneshot::Sender<MissionResult>,
    /// Until when it waits for the end of a pause.
    pub(super) pause_ends: Option<Instant>,
    /// Who had the controls when it was told last.
    pub(super) control: Control,
}

impl Waiting {
    pub(super) fn begin_pause(&mut self, because: String, patience: Duration) {
        self.pause_ends = Instant::now().checked_add(patience);
        self.reporter.report(MissionEvent::Paused { because, patience });
    }

    pub(super) fn end_pause(&mut self) {
        if self.pause_ends.take().is_some() {
            self.reporter.report(MissionEvent::Unpaused);
        }
    }

    /// Others have the controls. While people have them, it waits as long as they like.
    pub(super) fn note_control(&mut self, control: &Control) {
        if self.control != *control {
            self.control = control.clone();
            self.reporter.report(MissionEvent::ControlChanged { control: control.clone(), lasted: None });
        }
        if !control.is_autonomous() {
            self.pause_ends = None;
        }
    }

    /// Ends it before it began.
    pub(super) fn end(mut self, status: MissionStatus, text: String) {
        let class = task_class::classify(&self.submission.task);
        let result = without_run(class, status, text);
        self.reporter.report(MissionEvent::Finished { result: result.clone() });
        if let Some(tape) = &mut self.reporter.tape {
            tape.close(result.status);
        }
        // The client may have left.
        let _ = self.result.send(result);
    }
}

/// Never comes where there is no end.
pub(super) async fn pause_over(end: Option<Instant>) {
    match end {
        Some(end) => tokio::time::sleep_until(end).await,
        None => std::future::pending().await,
    }
}

/// The result of a task of which nothing ran.
pub(super) fn without_run(class: TaskClass, status: MissionStatus, output: String) -> MissionResult {
    let account = MissionResult::NOTHING_DONE.to_owned();
    MissionResult {
        status,
        class,
        output: format!("{output}\n{account}"),
        account,
        words_alone: false,
        steps: Vec::new(),
        execution: cortex_protocol::execution::ExecutionReport::default(),
        revisions: Vec::new(),
        not_stopped: Vec::new(),
        usage: Usage::default(),
        duration: Duration::ZERO,
    }
}
