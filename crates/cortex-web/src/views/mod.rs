//! What is looked at, once for all who look. A view is there from the first request for it until nobody has asked for it for
//! a moment; then the robot is not bothered with it any more.

mod grid;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use cortex_core::{RobotPort, RobotSightStream};
use cortex_pictures::camera::{self, About};
use cortex_protocol::robot_view::{FloorPath, FloorPose, RobotSight};
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::error::{ApiError, ErrorKind};
use grid::MapPlace;

/// A view that nobody has asked for so long is ended. Pages ask several times a second.
const LEASE: Duration = Duration::from_secs(3);
/// How often it is looked whether a view is still wanted.
const LOOK: Duration = Duration::from_millis(500);
/// Views at a time: each costs the robot a subscription.
const MOST_VIEWS: usize = 32;
/// Numbers of a plot that are kept, and how far they lie apart at least: five minutes.
const MOST_POINTS: usize = 1_200;
const POINT_EVERY_MS: u64 = 250;

/// What is looked at: a topic, or one of its numbers, and the frame in which what it tells of is to be given.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Looked {
    pub(crate) topic: String,
    pub(crate) field: Option<String>,
    pub(crate) frame: Option<String>,
}

/// A file for browsers.
#[derive(Debug)]
pub(crate) struct Picture<T> {
    pub(crate) about: T,
    pub(crate) media_type: &'static str,
    pub(crate) tag: String,
    pub(crate) file: Bytes,
}

/// What a topic shows.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Map(Arc<Picture<MapPlace>>),
    Camera(Arc<Picture<About>>),
    Pose(FloorPose),
    Path(Arc<FloorPath>),
    /// When, in milliseconds since 1970, and which number.
    Numbers(Arc<VecDeque<(u64, f64)>>),
}

/// A view at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Grows with each sight.
    pub(crate) version: u64,
    /// The last that could be shown.
    pub(crate) content: Option<Content>,
    /// When that came.
    pub(crate) at: Option<Instant>,
    /// What is wrong since, for people.
    pub(crate) problem: Option<String>,
}

struct View {
    seen: watch::Receiver<Seen>,
    asked: Mutex<Instant>,
}

/// The views that are open.
#[derive(Default)]
pub(crate) struct Views(Mutex<BTreeMap<Looked, Arc<View>>>);

impl Views {
    /// The view of this, which is opened where it is not.
    ///
    /// # Errors
    /// When too many are open.
    pub(crate) fn open(
        self: &Arc<Self>,
        looked: &Looked,
        robot: &Arc<dyn RobotPort>,
        tasks: &TaskTracker,
        ended: &CancellationToken,
    ) -> Result<watch::Receiver<Seen>, ApiError> {
        let mut open = locked(&self.0);
        if let Some(view) = open.get(looked) {
            *locked(&view.asked) = Instant::now();
            return Ok(view.seen.clone());
        }
        if open.len() >= MOST_VIEWS {
            let reason =
                format!("{MOST_VIEWS} things of the robot are looked at already. Close some views, then try again.");
            return Err(ApiError::new(ErrorKind::Busy, reason));
        }
        let stream = robot.watch(&looked.topic, looked.field.as_deref(), looked.frame.as_deref());
        let (sender, seen) = watch::channel(Seen::default());
        let view = Arc::new(View { seen: seen.clone(), asked: Mutex::new(Instant::now()) });
        open.insert(looked.clone(), Arc::clone(&view));
        let (views, looked, ended) = (Arc::clone(self), looked.clone(), ended.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = ended.cancelled() => {}
                () = follow(stream, &looked.topic, &sender) => {}
                () = views.unwanted(&looked, &view) => {}
            }
            let mut open = locked(&views.0);
            if open.get(&looked).is_some_and(|current| Arc::ptr_eq(current, &view)) {
                open.remove(&looked);
            }
        });
        Ok(seen)
    }

    /// Until nobody wants the view any more. It is taken out then, so that whoever comes next opens it anew.
    async fn unwanted(&self, looked: &Looked, view: &View) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let mut open = locked(&self.0);
            if locked(&view.asked).elapsed() > LEASE {
                open.remove(looked);
                return;
            }
        }
    }
}

/// Takes in what is seen, until nothing can be seen any more.
async fn follow(mut stream: Box<dyn RobotSightStream>, topic: &str, sender: &watch::Sender<Seen>) {
    while let Some(sight) = stream.next().await {
        let made = make(sight, topic, sender).await;
        sender.send_modify(|seen| {
            seen.version += 1;
            match made {
                Ok((content, problem)) => {
                    (seen.content, seen.at, seen.problem) = (Some(content), Some(Instant::now()), problem);
                }
                Err(problem) => seen.problem = Some(problem.0),
            }
        });
    }
}

/// Why a sight can't be shown, for people.
struct Problem(String);

/// What is shown of a sight, and what is wrong with it all the same. Pictures are made on threads for what takes long, one at a time for each view.
async fn make(
    sight: RobotSight,
    topic: &str,
    sender: &watch::Sender<Seen>,
) -> Result<(Content, Option<String>), Problem> {
    let content = match sight {
        RobotSight::UnplacedPose { pose, reason } => return Ok((Content::Pose(pose), Some(reason))),
        RobotSight::UnplacedPath { path, reason } => return Ok((Content::Path(Arc::new(path)), Some(reason))),
        RobotSight::Absent { reason } | RobotSight::Unusable { reason } => Err(Problem(reason)),
        RobotSight::Pose(pose) => Ok(Content::Pose(pose)),
        RobotSight::Path(path) => Ok(Content::Path(Arc::new(path))),
        RobotSight::Number(number) => Ok(Content::Numbers(with(sender, number))),
        RobotSight::Map(map) => {
            let topic = topic.to_owned();
            let (about, file) = elsewhere(move || grid::encode(&topic, &map)).await?;
            let key = serde_json::to_vec(&about).unwrap_or_default();
            Ok(Content::Map(Arc::new(picture(about, "image/png", &key, file))))
        }
        RobotSight::Picture(taken) => {
            let shown = elsewhere(move || camera::encode(taken)).await?;
            Ok(Content::Camera(Arc::new(picture(shown.about, shown.media_type, &[], shown.file))))
        }
    };
    content.map(|content| (content, None))
}

async fn elsewhere<T: Send + 'static, E: std::error::Error + Send + 'static>(
    make: impl FnOnce() -> Result<T, E> + Send + 'static,
) -> Result<T, Problem> {
    let made = tokio::task::spawn_blocking(make).await;
    let made =
        made.map_err(|_| Problem("Cortex failed to make a picture of it, which is a flaw of Cortex.".to_owned()))?;
    made.map_err(|problem| Problem(problem.to_string()))
}

fn picture<T>(about: T, media_type: &'static str, key: &[u8], file: Vec<u8>) -> Picture<T> {
    let digest = Sha256::new().chain_update(key).chain_update(&file).finalize();
    let digest: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    Picture { about, media_type, tag: format!("\"{digest}\""), file: Bytes::from(file) }
}

/// The numbers so far with one more, unless it comes too soon after the last one.
fn with(sender: &watch::Sender<Seen>, number: f64) -> Arc<VecDeque<(u64, f64)>> {
    let mut numbers = match &sender.borrow().content {
        Some(Content::Numbers(numbers)) => Arc::clone(numbers),
        _ => Arc::default(),
    };
    let at_ms = now_ms();
    if numbers.back().is_none_or(|(last, _)| at_ms >= last + POINT_EVERY_MS || at_ms < *last) {
        let kept = Arc::make_mut(&mut numbers);
        kept.push_back((at_ms, number));
        while kept.len() > MOST_POINTS {
            kept.pop_front();
        }
    }
    numbers
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is in it is whole at every moment.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
