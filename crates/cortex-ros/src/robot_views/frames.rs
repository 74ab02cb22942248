//! What `/tf` and `/tf_static` tell, listened to only while somebody looks at what needs it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use cortex_interfaces::{Message, MessageView};
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::{Endpoints, Listening};
use cortex_ros_client::qos::QosProfile;

use super::rigid::{Rigid, Rotation};
use super::sources::{TRANSFORM_TOPICS, TRANSFORMS};
use super::transforms::{Link, Transforms, When};
use crate::Discovery;

/// Transforms of one message that are looked at: far more than robots send at once.
const MOST_LINKS: usize = 1_000;
/// Messages that wait to be read, of all publishers together.
const DEPTH: usize = 100;
/// How far the length of a rotation may be from one, as in tf2.
const LENGTH_TOLERANCE: f64 = 0.01;

/// The transforms of the robot, once for all who look.
#[derive(Clone, Default)]
pub(super) struct SharedFrames(Arc<tokio::sync::Mutex<Weak<Frames>>>);

/// The transforms, as long as anybody holds this.
pub(super) struct Frames {
    transforms: Arc<Mutex<Transforms>>,
    _listening: Vec<Listening>,
}

impl SharedFrames {
    /// Begins to listen, where nobody does yet.
    ///
    /// # Errors
    /// When the type of the topics is not installed here, and after the shutdown.
    pub(super) async fn listen(&self, endpoints: &Endpoints, discovery: &Discovery) -> Result<Arc<Frames>, RosError> {
        let mut current = self.0.lock().await;
        if let Some(frames) = current.upgrade() {
            return Ok(frames);
        }
        let shared = discovery.shared();
        let interface = shared.interface(|interfaces| interfaces.message(TRANSFORMS)).await?;
        let transforms = Arc::new(Mutex::new(Transforms::default()));
        let mut listening = Vec::new();
        for (topic, always) in TRANSFORM_TOPICS {
            if shared.policy.refusal(topic).is_some() {
                continue;
            }
            endpoints.check_topic(topic, &interface)?;
            let quality = if always { QosProfile::TRANSIENT_LOCAL } else { QosProfile::BEST_EFFORT };
            let known = Arc::clone(&transforms);
            let hear = move |message: &Message, _: &_| take_in(&mut locked(&known), message.view(), always);
            listening.push(endpoints.listen_at_times(topic, &interface, quality.keep_last(DEPTH), hear).await?);
        }
        let frames = Arc::new(Frames { transforms, _listening: listening });
        *current = Arc::downgrade(&frames);
        Ok(frames)
    }
}

impl Frames {
    /// What is known now.
    pub(super) fn transforms(&self) -> MutexGuard<'_, Transforms> {
        locked(&self.transforms)
    }
}

fn locked(transforms: &Mutex<Transforms>) -> MutexGuard<'_, Transforms> {
    // What is in it is whole at every moment.
    transforms.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes in what makes sense of a message.
fn take_in(transforms: &mut Transforms, message: MessageView<'_>, always: bool) {
    let now = Instant::now();
    for stamped in message.list("transforms").into_iter().flatten().take(MOST_LINKS) {
        let taken = link(transforms, stamped, always, now);
        if taken.is_none() {
            tracing::debug!("a transform is refused: {stamped:?}");
        }
    }
}

/// Takes in one transform, if it is one.
fn link(transforms: &mut Transforms, stamped: MessageView<'_>, always: bool, now: Instant) -> Option<()> {
    let header = stamped.nested("header")?;
    let (parent, child) = (header.text("frame_id")?, stamped.text("child_frame_id")?);
    let lies = stamped.nested("transform")?;
    let (moved, turned) = (lies.nested("translation")?, lies.nested("rotation")?);
    let number = |of: MessageView<'_>, name: &str| of.number(name);
    let position = [number(moved, "x")?, number(moved, "y")?, number(moved, "z")?];
    let turn = [number(turned, "x")?, number(turned, "y")?, number(turned, "z")?, number(turned, "w")?];
    let (rotation, length) = Rotation::of(turn)?;
    if (length - 1.0).abs() > LENGTH_TOLERANCE {
        return None;
    }
    let when = if always { When::Always } else { When::At(nanoseconds(header.nested("stamp")?)?) };
    // Old senders write a slash before it.
    let (parent, child) = (parent.as_ref().trim_start_matches('/'), child.as_ref().trim_start_matches('/'));
    transforms.take_in(&Link { parent, child, lies: Rigid { position, rotation }, when }, now).ok()
}

fn nanoseconds(stamp: MessageView<'_>) -> Option<i64> {
    let part = |name: &str| stamp.integer(name).and_then(|part| i64::try_from(part).ok());
    part("sec")?.checked_mul(1_000_000_000)?.checked_add(part("nanosec")?)
}
