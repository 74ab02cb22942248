//! Counts how well the skills of the running robot work, and proposes skills that are learned from what was done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
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
    SkillState, Skills, propose,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Missions that are known by what came of them: a person may dispute one, and skills are learned from them.
const MOST_MISSIONS: usize = 200;
/// Most tapes that are read at the beginning, the newest; the most bytes of one, and of all.
const MOST_TAPES: usize = 100;
const TAPE_BYTES: u64 = 8 << 20;
const MOST_TAPE_BYTES: u64 = 64 << 20;
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
    done: Vec<Done>,
}

/// A task that was done, and the source of its events: several robots may keep their tapes in one folder.
#[derive(Debug, Clone)]
struct Done {
    source: String,
    task: DoneTask,
}

/// The skills that were told to a mission, and what it counted as.
#[derive(Debug, Clone, Default)]
struct Told {
    /// The source of its events.
    source: String,
    skills: Vec<String>,
    counted: Option<CountedAs>,
    is_disputed: bool,
}

impl Known {
    /// Takes in a mission, in the place of what is known of it.
    fn add(&mut self, mission: MissionId, source: &str, ended: EndedMission) {
        let EndedMission { skills, outcome, done } = ended;
        let source = source.to_owned();
        self.ended.retain(|(known, _)| *known != mission);
        self.done.retain(|known| known.task.mission != mission);
        self.done.extend(done.map(|task| Done { source: source.clone(), task }));
        let told = Told { source, skills, counted: outcome.and_then(CountedAs::of), is_disputed: false };
        self.ended.push_back((mission, told));
        while self.ended.len() > MOST_MISSIONS {
            self.ended.pop_front();
        }
        let surplus = self.done.len().saturating_sub(MOST_MISSIONS);
        self.done.drain(..surplus);
    }

    /// The tasks that were done by the robot whose events have this source, oldest first.
    fn done_by(&self, source: &str) -> Vec<DoneTask> {
        self.done.iter().filter(|done| done.source == source).map(|done| done.task.clone()).collect()
    }

    /// What a mission of this source that is disputed counted as. None: nothing is known of it, or it was disputed before.
    fn dispute(&mut self, mission: &MissionId, source: &str) -> Option<Told> {
        self.done.retain(|done| done.task.mission != *mission);
        let (_, told) = self.ended.iter_mut().find(|(ended, told)| ended == mission && told.source == source)?;
        let was_disputed = std::mem::replace(&mut told.is_disputed, true);
        (!was_disputed).then(|| told.clone())
    }
}

impl Keeper {
    async fn run(mut self, mut events: Events, ending: CancellationToken) {
        if let Some(tapes) = self.runtime.tapes() {
            let until = ending.clone();
            self.known = tokio::task::spawn_blocking(move || earlier(&tapes, &until)).await.unwrap_or_default();
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
            self.dispute(disputed, &event.source).await;
        }
        if matches!(event.data.payload, MissionEvent::Accepted { .. }) {
            self.open.insert(mission.clone(), FollowedMission::default());
        }
        let Some(followed) = self.open.get_mut(mission) else { return };
        let Some(ended) = followed.take(mission, &event.data.payload) else { return };
        self.open.remove(mission);
        // One that ended while the tapes were read may be known from its tape, and is counted nowhere yet.
        if let Some(outcome) = ended.outcome.filter(|_| !ended.skills.is_empty()) {
            self.count(ended.skills.clone(), outcome).await;
        }
        if let Some(done) = ended.done.clone() {
            self.learn(done, &event.source).await;
        }
        self.known.add(mission.clone(), &event.source, ended);
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
    async fn dispute(&mut self, mission: &MissionId, source: &str) {
        let told = self.known.dispute(mission, source);
        if let Some(told) = told.filter(|told| !told.skills.is_empty()) {
            self.count(told.skills, SkillOutcome::Disputed { before: told.counted }).await;
        }
        let (learned, mission) = (self.state.learned.clone(), mission.clone());
        let withdrawing = tokio::task::spawn_blocking(move || {
            for found in learned.read(SkillStanding::Proposed).skills {
                if found.skill.learned_from().any(|from| from == mission.as_str()) {
                    learned.withdraw(&found.skill.name)?;
                    tracing::info!("the proposed skill {} is withdrawn: {mission} is disputed", found.skill.name);
                }
            }
            Ok::<(), cortex_skills::LearnedError>(())
        });
        if let Ok(Err(problem)) = withdrawing.await {
            tracing::warn!("a proposed skill is not withdrawn: {problem}");
        }
    }

    async fn learn(&self, newest: DoneTask, source: &str) {
        let (folders, state, earlier) = (Arc::clone(&self.folders), self.state.clone(), self.known.done_by(source));
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
    let Skills { skills: mut found, troubles } = folders.read();
    // Also the names of files that are no skills just now: somebody may be editing them.
    let folder_of = |file: &Path| Some(file.parent()?.file_name()?.to_string_lossy().into_owned());
    let mut used_names: BTreeSet<String> = troubles.iter().filter_map(|trouble| folder_of(&trouble.file)).collect();
    used_names.extend(state.learned.used_names());
    for standing in [SkillStanding::Proposed, SkillStanding::Off] {
        found.extend(state.learned.read(standing).skills);
    }
    let known: Vec<&Skill> = found.iter().map(|found| found.skill.as_ref()).collect();
    let reader = Reader(CommandReader::new(tools));
    let Some(proposal) = propose(newest, earlier, &known, &used_names, &reader) else { return Ok(()) };
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
    fn understands(&self, task: &str) -> bool {
        self.0.understands(task)
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

/// What the newest tapes tell, as far as they are read before the end. One that can't be read tells nothing.
fn earlier(tapes: &Folder, ending: &CancellationToken) -> Known {
    let mut known = Known::default();
    let missions = match tapes.missions() {
        Ok(missions) => missions,
        Err(problem) => {
            tracing::warn!("skills are learned only from what is done from now on: {problem}");
            return known;
        }
    };
    for mission in newest(tapes, missions) {
        if ending.is_cancelled() {
            break;
        }
        match ended(tapes, &mission) {
            Ok(Some(TapedMission { ended, source, is_disputed })) => {
                known.add(mission.clone(), &source, ended);
                if is_disputed {
                    known.dispute(&mission, &source);
                }
            }
            Ok(None) => {}
            Err(problem) => tracing::debug!("skills learn nothing from the tape of {mission}: {problem}"),
        }
    }
    known
}

/// The newest missions whose tapes are not too large, alone and together; oldest first.
fn newest(tapes: &Folder, missions: Vec<MissionId>) -> Vec<MissionId> {
    let mut room = MOST_TAPE_BYTES;
    let mut newest = Vec::new();
    for mission in missions.into_iter().rev().take(MOST_TAPES) {
        let Ok(about) = std::fs::metadata(tapes.path(&mission)) else { continue };
        if about.len() > TAPE_BYTES {
            continue;
        }
        let Some(left) = room.checked_sub(about.len()) else { break };
        room = left;
        newest.push(mission);
    }
    newest.reverse();
    newest
}

/// What a tape tells of a mission that has ended.
struct TapedMission {
    ended: EndedMission,
    /// The source of its events.
    source: String,
    is_disputed: bool,
}

/// What a tape tells of a mission that has ended. None of what was only rehearsed.
fn ended(tapes: &Folder, mission: &MissionId) -> Result<Option<TapedMission>, TapeError> {
    let (mut followed, mut ended, mut is_disputed) = (FollowedMission::default(), None, false);
    let mut source = String::new();
    let mut reader = tapes.read(mission)?;
    while let Some((record, _)) = reader.next_record()? {
        let body = record.body();
        source = record.source;
        match body {
            Ok(Body::Published(event)) => ended = followed.take(mission, &event).or(ended),
            Ok(Body::Entry(Entry::Opened { dry_run: true, .. })) => return Ok(None),
            Ok(Body::Entry(Entry::Disputed { .. })) => is_disputed = true,
            Ok(Body::Entry(_)) | Err(_) => {}
        }
    }
    Ok(ended.map(|ended| TapedMission { ended, source, is_disputed }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: &str = "/robot/cortex";

    fn ended(mission: &str) -> EndedMission {
        let done = DoneTask { mission: mission.into(), task: "make a tour".to_owned(), calls: Vec::new() };
        EndedMission { skills: vec!["tour".to_owned()], outcome: Some(SkillOutcome::Succeeded), done: Some(done) }
    }

    /// Robots that share a folder of tapes learned from each other's missions.
    #[test]
    fn regression_missions_of_other_robots_teach_nothing_and_are_not_counted_back() {
        let mut known = Known::default();
        known.add("m1".into(), OURS, ended("m1"));
        known.add("m2".into(), "/other/cortex", ended("m2"));
        let ours: Vec<MissionId> = known.done_by(OURS).into_iter().map(|done| done.mission).collect();
        assert_eq!(ours, [MissionId::from("m1")]);
        assert!(known.dispute(&"m2".into(), OURS).is_none());
        assert!(known.dispute(&"m1".into(), OURS).is_some_and(|told| told.counted == Some(CountedAs::Succeeded)));
        assert!(known.dispute(&"m1".into(), OURS).is_none(), "once");
        assert!(known.done_by(OURS).is_empty());
    }

    /// A mission that ended while the tapes were read was never counted.
    #[test]
    fn regression_a_mission_that_is_known_from_its_tape_is_known_once_and_as_it_ended_now() {
        let mut known = Known::default();
        known.add("m1".into(), OURS, ended("m1"));
        known.dispute(&"m1".into(), OURS).expect("it is known");
        known.add("m1".into(), OURS, ended("m1"));
        assert_eq!((known.ended.len(), known.done_by(OURS).len()), (1, 1));
        assert!(known.dispute(&"m1".into(), OURS).is_some(), "the dispute follows");
    }

    #[test]
    fn the_newest_tapes_are_read_as_far_as_they_are_not_too_large() {
        let root = tempfile::tempdir().unwrap();
        let tapes = Folder::new(root.path().to_owned());
        let missions: Vec<MissionId> = (0..12).map(|number| MissionId::new(format!("m{number:02}"))).collect();
        for (number, mission) in missions.iter().enumerate() {
            let bytes = if number == 11 { TAPE_BYTES + 1 } else { TAPE_BYTES };
            std::fs::File::create(tapes.path(mission)).unwrap().set_len(bytes).unwrap();
        }
        assert_eq!(newest(&tapes, missions.clone()), missions[3..11], "eight of 8 MiB");
        let ending = CancellationToken::new();
        ending.cancel();
        assert!(earlier(&tapes, &ending).ended.is_empty());
    }
}
