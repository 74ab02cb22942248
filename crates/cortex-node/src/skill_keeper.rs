//! Counts how well the skills of the running robot work, and proposes skills that are learned from what was done.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{EventStream as _, ToolSet};
use cortex_memory::is_person;
use cortex_model::CommandReader;
use cortex_protocol::skill_view::SkillStanding;
use cortex_protocol::{CloudEvent, MissionEvent, MissionId, ToolCall};
use cortex_runtime::tape::{Body, Entry, Folder, TapeError};
use cortex_runtime::{Events, Runtime};
use cortex_skills::{
    CallSentences, CountedAs, DoneTask, EndedMission, FollowedMission, Proposal, Skill, SkillFolders, SkillOutcome,
    SkillState, propose,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Missions that are known by what came of them: a person may dispute one, and skills are learned from them.
const MOST_MISSIONS: usize = 200;
/// Most tapes that are read at the beginning, the newest, and the most bytes of one.
const MOST_TAPES: usize = 100;
const TAPE_BYTES: u64 = 8 << 20;
/// How long the count of the last missions may take.
const END_LIMIT: Duration = Duration::from_secs(3);

/// Keeps what came of skills while it lives.
pub struct SkillKeeper {
    keeping: JoinHandle<()>,
    ending: CancellationToken,
}

impl SkillKeeper {
    /// Follows the missions of this runtime. To be called within a tokio runtime.
    #[must_use]
    pub fn start(folders: Arc<SkillFolders>, state: SkillState, runtime: &Runtime) -> Self {
        let ending = CancellationToken::new();
        let keeper =
            Keeper { folders, state, runtime: runtime.clone(), open: BTreeMap::new(), known: Known::default() };
        Self { keeping: tokio::spawn(keeper.run(runtime.events(), ending.clone())), ending }
    }

    /// Ends it, after the missions: what came of them is counted first.
    pub async fn end(self) {
        self.ending.cancel();
        match tokio::time::timeout(END_LIMIT, self.keeping).await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => tracing::error!("what came of the last skills was not counted: {problem}"),
            Err(_) => tracing::error!(
                "what came of the last skills was not counted within {} s; does the disk hang?",
                END_LIMIT.as_secs()
            ),
        }
    }
}

struct Keeper {
    folders: Arc<SkillFolders>,
    state: SkillState,
    runtime: Runtime,
    open: BTreeMap<MissionId, FollowedMission>,
    known: Known,
}

/// What is known of missions that have ended, oldest first.
#[derive(Debug, Default)]
struct Known {
    ended: VecDeque<(MissionId, Told)>,
    done: Vec<DoneTask>,
}

/// The skills that were told to a mission, and what it counted as.
#[derive(Debug, Clone, Default)]
struct Told {
    skills: Vec<String>,
    counted: Option<CountedAs>,
    is_disputed: bool,
}

impl Known {
    fn add(&mut self, mission: MissionId, ended: EndedMission) {
        let EndedMission { skills, outcome, done } = ended;
        let told = Told { skills, counted: outcome.and_then(CountedAs::of), is_disputed: false };
        self.ended.push_back((mission, told));
        self.done.extend(done);
        while self.ended.len() > MOST_MISSIONS {
            self.ended.pop_front();
        }
        let surplus = self.done.len().saturating_sub(MOST_MISSIONS);
        self.done.drain(..surplus);
    }

    /// What a mission that is disputed counted as. None: nothing is known of it, or it was disputed before.
    fn dispute(&mut self, mission: &MissionId) -> Option<Told> {
        self.done.retain(|done| done.mission != *mission);
        let (_, told) = self.ended.iter_mut().find(|(ended, _)| ended == mission)?;
        let was_disputed = std::mem::replace(&mut told.is_disputed, true);
        (!was_disputed).then(|| told.clone())
    }
}

impl Keeper {
    async fn run(mut self, mut events: Events, ending: CancellationToken) {
        if let Some(tapes) = self.runtime.tapes() {
            self.known = tokio::task::spawn_blocking(move || earlier(&tapes)).await.unwrap_or_default();
        }
        loop {
            // What has happened is taken in before the end.
            tokio::select! {
                biased;
                event = events.next() => match event {
                    Some(event) => self.note(&event).await,
                    None => return,
                },
                () = ending.cancelled() => return,
            }
        }
    }

    async fn note(&mut self, event: &CloudEvent) {
        let mission = &event.subject;
        if let MissionEvent::Disputed { mission: disputed, origin, .. } = &event.data.payload
            && is_person(origin)
        {
            self.dispute(disputed).await;
        }
        if matches!(event.data.payload, MissionEvent::Accepted { .. }) {
            self.open.insert(mission.clone(), FollowedMission::default());
        }
        let Some(followed) = self.open.get_mut(mission) else { return };
        let Some(ended) = followed.take(mission, &event.data.payload) else { return };
        self.open.remove(mission);
        if self.known.ended.iter().any(|(known, _)| known == mission) {
            // It ended while the tapes were read.
            return;
        }
        if let Some(outcome) = ended.outcome.filter(|_| !ended.skills.is_empty()) {
            self.count(ended.skills.clone(), outcome).await;
        }
        if let Some(done) = ended.done.clone() {
            self.learn(done).await;
        }
        self.known.add(mission.clone(), ended);
    }

    async fn count(&self, skills: Vec<String>, outcome: SkillOutcome) {
        let outcomes = self.state.outcomes.clone();
        let names = skills.join(", ");
        match tokio::task::spawn_blocking(move || outcomes.count(&skills, outcome)).await {
            Ok(Ok(())) => tracing::info!("counted for the skills {names}: {outcome}"),
            Ok(Err(problem)) => tracing::warn!("what came of a skill is not counted: {problem}"),
            Err(problem) => tracing::warn!("what came of a skill is not counted: {problem}"),
        }
    }

    /// A person says that a task was not done as it should be: nothing is learned from it, either.
    async fn dispute(&mut self, mission: &MissionId) {
        let told = self.known.dispute(mission);
        if let Some(told) = told.filter(|told| !told.skills.is_empty()) {
            self.count(told.skills, SkillOutcome::Disputed { before: told.counted }).await;
        }
        let (learned, mission) = (self.state.learned.clone(), mission.clone());
        let withdrawing = tokio::task::spawn_blocking(move || {
            for found in learned.read(SkillStanding::Proposed).skills {
                if found.skill.learned_from().any(|from| from == mission.as_str()) {
                    learned.forget(Some(&found.skill.name))?;
                    tracing::info!("the proposed skill {} is withdrawn: {mission} is disputed", found.skill.name);
                }
            }
            Ok::<(), cortex_skills::LearnedError>(())
        });
        if let Ok(Err(problem)) = withdrawing.await {
            tracing::warn!("a proposed skill is not withdrawn: {problem}");
        }
    }

    async fn learn(&self, newest: DoneTask) {
        let (folders, state, earlier) = (Arc::clone(&self.folders), self.state.clone(), self.known.done.clone());
        let tools = self.runtime.tools();
        let learning = tokio::task::spawn_blocking(move || learn(&folders, &state, &newest, &earlier, &tools));
        match learning.await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => tracing::warn!("a skill that was learned is not proposed: {problem}"),
            Err(problem) => tracing::warn!("a skill that was learned is not proposed: {problem}"),
        }
    }
}

fn learn(
    folders: &SkillFolders,
    state: &SkillState,
    newest: &DoneTask,
    earlier: &[DoneTask],
    tools: &ToolSet,
) -> Result<(), cortex_skills::LearnedError> {
    let mut found = folders.read().skills;
    for standing in [SkillStanding::Proposed, SkillStanding::Off] {
        found.extend(state.learned.read(standing).skills);
    }
    let known: Vec<&Skill> = found.iter().map(|found| found.skill.as_ref()).collect();
    let reader = Reader(CommandReader::new(tools));
    let Some(proposal) = propose(newest, earlier, &known, &reader) else { return Ok(()) };
    let Proposal { name, .. } = &proposal;
    match state.learned.propose(&proposal)? {
        Some(file) => tracing::info!(
            "skill proposed: {name}, in {}; it is off until somebody says `cortex skill accept {name}`",
            file.display()
        ),
        None => tracing::info!("the skill {name} is not proposed: too many wait for `cortex skill accept` or `reject`"),
    }
    Ok(())
}

/// The embedded command reader, as skills are learned with it.
struct Reader(CommandReader);

impl CallSentences for Reader {
    fn task(&self, task: &str) -> Option<Vec<ToolCall>> {
        self.0.task(task)
    }

    fn procedure(&self, steps: &[String]) -> Option<Vec<ToolCall>> {
        self.0.procedure(steps)
    }

    fn sentence(&self, call: &ToolCall) -> Option<String> {
        self.0.sentence(call)
    }

    fn are_same(&self, one: &[ToolCall], other: &[ToolCall]) -> bool {
        CommandReader::are_same(one, other)
    }
}

/// What the newest tapes tell. One that can't be read tells nothing.
fn earlier(tapes: &Folder) -> Known {
    let mut known = Known::default();
    let missions = match tapes.missions() {
        Ok(missions) => missions,
        Err(problem) => {
            tracing::warn!("skills are learned only from what is done from now on: {problem}");
            return known;
        }
    };
    let older = missions.len().saturating_sub(MOST_TAPES);
    for mission in missions.into_iter().skip(older) {
        match ended(tapes, &mission) {
            Ok(Some((ended, is_disputed))) => {
                known.add(mission.clone(), ended);
                if is_disputed {
                    known.dispute(&mission);
                }
            }
            Ok(None) => {}
            Err(problem) => tracing::debug!("skills learn nothing from the tape of {mission}: {problem}"),
        }
    }
    known
}

/// What a tape tells of a mission that has ended, and whether a person disputes it. None of what was only rehearsed.
fn ended(tapes: &Folder, mission: &MissionId) -> Result<Option<(EndedMission, bool)>, TapeError> {
    if std::fs::metadata(tapes.path(mission)).is_ok_and(|about| about.len() > TAPE_BYTES) {
        return Ok(None);
    }
    let (mut followed, mut ended, mut is_disputed) = (FollowedMission::default(), None, false);
    let mut reader = tapes.read(mission)?;
    while let Some((record, _)) = reader.next_record()? {
        match record.body() {
            Ok(Body::Published(event)) => ended = followed.take(mission, &event).or(ended),
            Ok(Body::Entry(Entry::Opened { dry_run: true, .. })) => return Ok(None),
            Ok(Body::Entry(Entry::Disputed { .. })) => is_disputed = true,
            Ok(Body::Entry(_)) | Err(_) => {}
        }
    }
    Ok(ended.map(|ended| (ended, is_disputed)))
}
