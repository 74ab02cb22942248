//! The hub of the live stream: one task gathers what happens into frames, for all pages alike. It waits for no page.

mod frame;
mod lines;
mod recent;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::ws::Utf8Bytes;
use cortex_core::{EventStream, LogStream, OperatorPort, OverviewStream};
use cortex_protocol::overview::Overview;
use cortex_protocol::{CloudEvent, EventId, LogLine, MissionEvent, MissionId, OpenQuestion};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

pub(crate) use frame::Frame;
use frame::Part;
use lines::{FRAME_LINES, Lines};
use recent::Recent;
pub(crate) use recent::{Encoded, FRAME_BYTES, FRAME_EVENTS, Following};

use crate::seen::{Basis, FRESH, Seen};

/// How long events are gathered before they are sent.
const GATHER: Duration = Duration::from_millis(20);
/// How long lines of the log are gathered before they are sent: many may come, and nobody waits for one.
const GATHER_LINES: Duration = Duration::from_millis(100);
/// A page gets a frame at least so often, so that it knows that what it shows is live.
const PULSE: Duration = Duration::from_millis(250);
/// Most missions whose last event is known.
const MISSIONS: usize = 64;

/// What pages are shown.
pub(crate) struct Hub {
    moments: watch::Sender<Arc<Moment>>,
    recent: Recent,
    lines: Lines,
    /// When each of the latest frames was made.
    frames: Mutex<VecDeque<(u64, Instant)>>,
    /// The number of the last event of each mission that goes on.
    sequences: Mutex<HashMap<MissionId, u64>>,
}

/// The picture of the robot at one moment.
pub(crate) struct Moment {
    /// Its frame's number. Grows from frame to frame, and from one life of Cortex to the next.
    pub(crate) number: u64,
    pub(crate) at_ms: u64,
    pub(crate) overview: Part,
    pub(crate) basis: Part,
    pub(crate) questions: Part,
    /// The basis, as a value.
    pub(crate) basis_value: Basis,
    /// The place of the first event that the shared frame holds, and the place after its last one.
    pub(crate) begin: u64,
    pub(crate) end: u64,
    /// The place of the first line of the log that the shared frame holds, and the place after its last one.
    pub(crate) lines_begin: u64,
    pub(crate) lines_end: u64,
    /// The last event before [`end`](Self::end), if there was one.
    pub(crate) last: Option<EventId>,
    /// The frame for everybody who has had the one before it and all events before [`begin`](Self::begin).
    pub(crate) shared: Utf8Bytes,
}

/// What the task of the hub holds.
struct Gathering {
    hub: Arc<Hub>,
    port: Arc<dyn OperatorPort>,
    overview: Arc<Overview>,
    questions: Vec<OpenQuestion>,
    /// The place after the last event that came.
    end: u64,
    missed: u64,
    /// The place after the last line of the log that came, and how many were lost.
    lines_end: u64,
    lines_missed: u64,
}

impl Hub {
    /// Begins to gather, until `ended`. To be called on the server's runtime.
    pub(crate) fn start(port: &Arc<dyn OperatorPort>, ended: CancellationToken) -> Arc<Self> {
        let (overviews, events) = (port.overviews(), port.events(None));
        let (overview, questions) = (overviews.latest(), port.questions());
        let (early_lines, lines) = port.node_log().map(|log| log.follow(FRAME_LINES)).unzip();
        let at_ms = now_ms();
        // Frames of an earlier life have smaller numbers: one comes every few milliseconds at most.
        let number = at_ms;
        let basis_value = Basis::of(&overview);
        let first = Moment {
            number,
            at_ms,
            overview: Part::new(json(&*overview), number),
            basis: Part::new(json(&basis_value), number),
            questions: Part::new(json(&questions), number),
            basis_value,
            begin: 0,
            end: 0,
            lines_begin: 0,
            lines_end: 0,
            last: None,
            shared: Utf8Bytes::from_static(""),
        };
        let hub = Arc::new(Self {
            moments: watch::Sender::new(Arc::new(first)),
            recent: Recent::default(),
            lines: Lines::default(),
            frames: Mutex::new([(number, Instant::now())].into()),
            sequences: Mutex::default(),
        });
        let lines_end = early_lines.iter().flatten().fold(0, |_, line| hub.lines.add(line));
        let gathering = Gathering {
            hub: Arc::clone(&hub),
            port: Arc::clone(port),
            overview,
            questions,
            end: 0,
            missed: 0,
            lines_end,
            lines_missed: 0,
        };
        tokio::spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = gathering.run(overviews, events, lines) => {}
            }
        });
        hub
    }

    pub(crate) fn moments(&self) -> watch::Receiver<Arc<Moment>> {
        self.moments.subscribe()
    }

    pub(crate) fn recent(&self) -> &Recent {
        &self.recent
    }

    pub(crate) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// What a client sees now.
    pub(crate) fn seen_now(&self) -> Seen {
        let moment = self.moments.borrow();
        Seen { frame: moment.number, basis: moment.basis_value.clone() }
    }

    /// How old a frame is. None: there was none, or it is older than anything that matters.
    pub(crate) fn age(&self, frame: u64) -> Option<Duration> {
        let frames = locked(&self.frames);
        frames.iter().find(|(number, _)| *number == frame).map(|(_, at)| at.elapsed())
    }

    /// The number of the last event of a mission that goes on, where that is known.
    pub(crate) fn last_sequence(&self, mission: &MissionId) -> Option<u64> {
        locked(&self.sequences).get(mission).copied()
    }
}

impl Gathering {
    async fn run(
        mut self,
        mut overviews: Box<dyn OverviewStream>,
        mut events: Box<dyn EventStream>,
        mut lines: Option<Box<dyn LogStream>>,
    ) {
        let (mut has_overviews, mut has_events) = (true, true);
        let mut due = Instant::now() + PULSE;
        loop {
            tokio::select! {
                () = sleep_until(due) => {
                    self.publish(overviews.latest());
                    due = Instant::now() + PULSE;
                    // A source that always has something more leaves others their turn.
                    tokio::task::yield_now().await;
                }
                overview = overviews.next(), if has_overviews => {
                    has_overviews = overview.is_some();
                    due = due.min(Instant::now() + GATHER);
                }
                event = events.next(), if has_events => {
                    has_events = event.is_some();
                    if let Some(event) = event {
                        self.take(&event, events.missed());
                        due = due.min(Instant::now() + GATHER);
                    }
                }
                line = lines::next(&mut lines) => match line {
                    Some((line, missed)) => {
                        self.take_line(&line, missed);
                        due = due.min(Instant::now() + GATHER_LINES);
                    }
                    None => lines = None,
                },
            }
        }
    }

    fn take(&mut self, event: &CloudEvent, missed: u64) {
        let newly_missed = missed.saturating_sub(self.missed);
        self.missed = self.missed.max(missed);
        self.end = self.hub.recent.add(Encoded::new(event, newly_missed));
        let mut sequences = locked(&self.hub.sequences);
        if matches!(event.data.payload, MissionEvent::Finished { .. }) {
            sequences.remove(&event.subject);
        } else if sequences.len() < MISSIONS || sequences.contains_key(&event.subject) {
            sequences.insert(event.subject.clone(), event.sequence);
        }
    }

    fn take_line(&mut self, line: &LogLine, missed: u64) {
        let newly_missed = missed.saturating_sub(std::mem::replace(&mut self.lines_missed, missed));
        if newly_missed > 0 {
            self.hub.lines.skip(newly_missed);
        }
        self.lines_end = self.hub.lines.add(line);
    }

    /// Makes frames of what was gathered: one, or as many as the events fill.
    fn publish(&mut self, overview: Arc<Overview>) {
        let mut overview = Some(overview).filter(|overview| !Arc::ptr_eq(overview, &self.overview));
        loop {
            let before = Arc::clone(&self.hub.moments.borrow());
            let moment = self.next_moment(&before, overview.take());
            let is_last = moment.end == self.end;
            self.hub.note_frame(moment.number);
            self.hub.moments.send_replace(Arc::new(moment));
            if is_last {
                return;
            }
        }
    }

    fn next_moment(&mut self, before: &Moment, changed: Option<Arc<Overview>>) -> Moment {
        let (number, at_ms) = (before.number + 1, now_ms());
        let (mut overview, mut basis) = (before.overview.clone(), before.basis.clone());
        if let Some(changed) = changed {
            self.overview = changed;
            overview.set(json(&*self.overview), number);
        }
        let basis_value = Basis::of(&self.overview);
        basis.set(json(&basis_value), number);
        let questions = match self.questions_now() {
            true => Part::new(json(&self.questions), number),
            false => before.questions.clone(),
        };
        // What is kept no more was never sent to anybody who waits for it here: they read it from the port.
        let (events, end) = match self.hub.recent.following(before.end, self.end) {
            Following::Events { events, next } => (events, next),
            Following::Gone => (Vec::new(), self.end),
        };
        let missed = events.first().map_or(0, |event| event.missed);
        let had = Some(before.number);
        let begin = end - events.len() as u64;
        let (lines_begin, lines_end) = (before.lines_end, self.lines_end);
        let shared = Frame::new(number, at_ms)
            .add_changed("overview", &overview, had)
            .add_changed("basis", &basis, had)
            .add_changed("questions", &questions, had)
            .add_lines(&self.hub.lines.between(lines_begin, lines_end))
            .add_events(missed, &events)
            .end();
        let last = events.last().map(|event| event.id.clone()).or_else(|| before.last.clone());
        let shared = shared.into();
        Moment {
            number,
            at_ms,
            overview,
            basis,
            questions,
            basis_value,
            begin,
            end,
            lines_begin,
            lines_end,
            last,
            shared,
        }
    }

    /// Takes the questions anew. Returns true if others are open; the time that is left does not count.
    fn questions_now(&mut self) -> bool {
        let now = self.port.questions();
        let (old, new) = (self.questions.iter(), now.iter());
        let have_changed = now.len() != self.questions.len()
            || !old.zip(new).all(|(old, new)| old.id == new.id && old.task == new.task && old.question == new.question);
        if have_changed {
            self.questions = now;
        }
        have_changed
    }
}

impl Hub {
    fn note_frame(&self, number: u64) {
        let mut frames = locked(&self.frames);
        let now = Instant::now();
        frames.push_back((number, now));
        // The latest stays, so that there is always one to look at.
        while frames.len() > 1 && frames.front().is_some_and(|(_, at)| now.duration_since(*at) > FRESH) {
            frames.pop_front();
        }
    }
}

pub(crate) fn json(value: &impl serde::Serialize) -> String {
    // Only maps with other keys than texts can't be written, and there are none.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
