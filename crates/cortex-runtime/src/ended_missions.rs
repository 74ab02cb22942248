//! The missions that ended last, for a person who disputes one of them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use cortex_protocol::{MissionId, MissionResult, MissionStatus, SessionId, StepReport};

/// Missions that have ended of which is remembered what they did. Others are read from their tapes.
const REMEMBERED: usize = 32;

/// A mission that has ended.
#[derive(Debug, Clone)]
pub(crate) struct EndedMission {
    pub(crate) id: MissionId,
    pub(crate) task: String,
    pub(crate) session: Option<SessionId>,
    pub(crate) output: String,
    pub(crate) status: MissionStatus,
    pub(crate) steps: Vec<StepReport>,
}

/// The missions that ended last.
#[derive(Default)]
pub(crate) struct EndedMissions(Mutex<VecDeque<EndedMission>>);

impl EndedMissions {
    pub(crate) fn note(&self, id: MissionId, task: String, session: Option<SessionId>, result: &MissionResult) {
        let (output, status, steps) = (result.output.clone(), result.status, result.steps.clone());
        let mut ended = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ended.push_back(EndedMission { id, task, session, output, status, steps });
        if ended.len() > REMEMBERED {
            ended.pop_front();
        }
    }

    pub(crate) fn find(&self, id: &MissionId) -> Option<EndedMission> {
        let ended = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ended.iter().find(|mission| mission.id == *id).cloned()
    }
}
