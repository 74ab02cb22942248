//! The tool by which a planner takes a picture.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{CallObserver, Invocation, Picture, PictureShelf, RobotPort, ToolProvider};
use cortex_protocol::robot_view::{CameraPicture, RobotSight, ViewTopic};
use cortex_protocol::words::did_you_mean;
use cortex_protocol::{
    CancelMode, Effect, EffectSource, FailureKind, HaltState, PictureRef, ToolOutcome, ToolPhase, ToolSpec,
};
use serde_json::{Value, json};
use thiserror::Error;

use crate::camera;

/// What it is called.
const TAKE_PICTURE: &str = "pictures.take";
/// How long a camera may take for its next picture.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long a call may take. It ends before.
const LIMIT: Duration = Duration::from_secs(10);
/// Most bytes of a file that is sent to a model: its request holds a third more.
const MOST_BYTES: usize = 4 << 20;

/// Why no picture was taken, for a model and people.
#[derive(Debug, PartialEq, Eq, Error)]
enum NotTaken {
    #[error("the robot has no camera: nothing publishes pictures")]
    NoCamera,
    #[error("the robot has several cameras; name one: {}", .0.join(", "))]
    Several(Vec<String>),
    #[error("there is no camera '{wanted}'{}; there are: {}", did_you_mean(wanted, cameras.iter().map(String::as_str)), cameras.join(", "))]
    NoSuchCamera { wanted: String, cameras: Vec<String> },
    #[error("{topic} gave no picture within {} s; check that the camera runs", PATIENCE.as_secs())]
    Silent { topic: String },
    #[error("{topic}: {reason}")]
    Unusable { topic: String, reason: String },
    #[error(
        "{topic}: its files have {} KiB, and at most {} KiB are sent to a model; let the camera compress more, or name its raw topic",
        bytes >> 10, MOST_BYTES >> 10
    )]
    Large { topic: String, bytes: usize },
}

impl NotTaken {
    fn unusable(topic: &str, reason: impl ToString) -> Self {
        Self::Unusable { topic: topic.to_owned(), reason: reason.to_string() }
    }

    fn kind(&self) -> FailureKind {
        match self {
            Self::Several(_) | Self::NoSuchCamera { .. } => FailureKind::InvalidArguments,
            Self::NoCamera => FailureKind::Unavailable,
            Self::Silent { .. } | Self::Unusable { .. } | Self::Large { .. } => FailureKind::Reported,
        }
    }
}

/// Takes pictures with the cameras of a robot, for a model that sees them.
pub struct PictureTools {
    robot: Arc<dyn RobotPort>,
    shelf: PictureShelf,
}

impl PictureTools {
    /// The pictures of this robot, kept on this shelf.
    #[must_use]
    pub fn new(robot: Arc<dyn RobotPort>, shelf: PictureShelf) -> Self {
        Self { robot, shelf }
    }

    /// What is offered.
    #[must_use]
    pub fn specs() -> Vec<ToolSpec> {
        let camera = json!({
            "type": "string", "maxLength": 256,
            "description": "The topic of the camera. Leave it out where the robot has one.",
        });
        let description = "Takes a picture with a camera of the robot now, and shows it to you.".to_owned();
        vec![
            ToolSpec::new(TAKE_PICTURE.into(), description)
                .with_parameters(json!({
                    "type": "object", "properties": {"camera": camera}, "additionalProperties": false,
                }))
                .with_phase(ToolPhase::Planning)
                .with_effect(Effect::Observe)
                .with_effect_source(EffectSource::Declared)
                .with_timeout(LIMIT)
                .with_cancel(CancelMode::Drop),
        ]
    }

    /// A picture of the wanted camera, on the shelf.
    async fn take(&self, wanted: &str) -> Result<PictureRef, NotTaken> {
        let cameras = self.robot.sources().await.map_err(|_| NotTaken::NoCamera)?.cameras;
        let topic = chosen(cameras, wanted)?;
        let taken = self.next_picture(&topic).await?;
        // Some milliseconds of work.
        let encoded = tokio::task::spawn_blocking(move || camera::encode(taken)).await;
        let encoded = encoded.map_err(|problem| NotTaken::unusable(&topic, problem))?;
        let shown = encoded.map_err(|problem| NotTaken::unusable(&topic, problem))?;
        let camera::Shown { media_type, about, file } = shown;
        if file.len() > MOST_BYTES {
            return Err(NotTaken::Large { topic, bytes: file.len() });
        }
        Ok(self.shelf.keep(Picture { source: topic, media_type, size: about.size, file }))
    }

    /// The next picture of a camera.
    async fn next_picture(&self, topic: &str) -> Result<CameraPicture, NotTaken> {
        let mut sights = self.robot.watch(topic, None, None);
        let mut problem = None;
        let next = async {
            while let Some(sight) = sights.next().await {
                match sight {
                    RobotSight::Picture(picture) => return Some(picture),
                    // A later one may be fine.
                    RobotSight::Absent { reason } | RobotSight::Unusable { reason } => problem = Some(reason),
                    _ => problem = Some("it shows no pictures".to_owned()),
                }
            }
            None
        };
        let next = tokio::time::timeout(PATIENCE, next).await.ok().flatten();
        next.ok_or_else(|| match problem {
            Some(reason) => NotTaken::unusable(topic, reason),
            None => NotTaken::Silent { topic: topic.to_owned() },
        })
    }
}

/// The camera that is meant: the one that is named, or the only one.
fn chosen(cameras: Vec<ViewTopic>, wanted: &str) -> Result<String, NotTaken> {
    let mut cameras: Vec<String> = cameras.into_iter().map(|camera| camera.topic).collect();
    match (cameras.len(), wanted) {
        (0, _) => Err(NotTaken::NoCamera),
        (1, "") => Ok(cameras.remove(0)),
        (_, "") => Err(NotTaken::Several(cameras)),
        (_, wanted) if cameras.iter().any(|camera| camera == wanted) => Ok(wanted.to_owned()),
        (_, wanted) => Err(NotTaken::NoSuchCamera { wanted: wanted.to_owned(), cameras }),
    }
}

#[async_trait]
impl ToolProvider for PictureTools {
    fn label(&self) -> String {
        "pictures".to_owned()
    }

    async fn invoke(&self, invocation: Invocation, observer: Arc<dyn CallObserver>) -> ToolOutcome {
        observer.accepted();
        let wanted = invocation.call.arguments.get("camera").and_then(Value::as_str).unwrap_or_default().trim();
        match self.take(wanted).await {
            Ok(picture) => {
                let PictureRef { id, source, width, height, .. } = &picture;
                let value = json!({"picture": id, "camera": source, "width": width, "height": height});
                ToolOutcome { pictures: vec![picture], ..ToolOutcome::success(value) }
            }
            Err(problem) => ToolOutcome::failure(problem.kind(), problem.to_string()),
        }
    }

    async fn halt(&self, _invocation: &Invocation) -> HaltState {
        // Nothing moves.
        HaltState::AtRest
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use cortex_core::RobotSightStream;
    use cortex_protocol::CommandError;
    use cortex_protocol::robot_view::{NodeParameter, RobotSources};

    use super::*;

    /// A robot with these cameras, each of which shows what it is told to, and then nothing for ever.
    struct Cameras(Vec<(&'static str, Vec<RobotSight>)>);

    struct Sights(VecDeque<RobotSight>);

    #[async_trait]
    impl RobotSightStream for Sights {
        async fn next(&mut self) -> Option<RobotSight> {
            match self.0.pop_front() {
                Some(sight) => Some(sight),
                None => std::future::pending().await,
            }
        }
    }

    #[async_trait]
    impl RobotPort for Cameras {
        async fn sources(&self) -> Result<RobotSources, CommandError> {
            let view = |topic: &str| ViewTopic { topic: topic.to_owned(), nodes: vec!["/camera".to_owned()] };
            Ok(RobotSources {
                cameras: self.0.iter().map(|(topic, _)| view(topic)).collect(),
                ..RobotSources::default()
            })
        }

        fn watch(&self, topic: &str, _field: Option<&str>, _frame: Option<&str>) -> Box<dyn RobotSightStream> {
            let sights = self.0.iter().find(|(known, _)| *known == topic).map(|(_, sights)| sights.clone());
            Box::new(Sights(sights.unwrap_or_default().into()))
        }

        async fn parameters(&self, _node: &str) -> Result<Vec<NodeParameter>, CommandError> {
            Ok(Vec::new())
        }

        async fn set_parameter(&self, _node: &str, _name: &str, _value: &Value) -> Result<(), CommandError> {
            Ok(())
        }
    }

    fn frame(gray: u8) -> RobotSight {
        RobotSight::Picture(CameraPicture::Raw {
            width: 4,
            height: 3,
            step: 4,
            encoding: "mono8".to_owned(),
            is_big_endian: false,
            data: vec![gray; 12],
        })
    }

    /// A file that says that it is a JPEG of 2 x 2 pixels, and has so many bytes.
    fn file(bytes: usize) -> RobotSight {
        let mut data = vec![0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 2, 0, 2];
        data.resize(bytes.max(data.len()), 0);
        RobotSight::Picture(CameraPicture::Compressed { format: "jpeg".to_owned(), data })
    }

    async fn taken(
        cameras: Vec<(&'static str, Vec<RobotSight>)>,
        wanted: &str,
    ) -> (Result<PictureRef, String>, PictureShelf) {
        let shelf = PictureShelf::default();
        let taken = PictureTools::new(Arc::new(Cameras(cameras)), shelf.clone()).take(wanted).await;
        (taken.map_err(|problem| problem.to_string()), shelf)
    }

    #[tokio::test]
    async fn the_only_camera_need_not_be_named_and_its_picture_lies_on_the_shelf() {
        let absent = RobotSight::Absent { reason: "nobody publishes it yet".to_owned() };
        let (picture, shelf) = taken(vec![("/camera/image_raw", vec![absent, frame(9)])], "").await;
        let picture = picture.unwrap();
        assert_eq!((picture.source.as_str(), picture.width, picture.height), ("/camera/image_raw", 4, 3));
        let kept = shelf.find(&picture.id).expect("it is kept");
        assert!(kept.media_type == "image/jpeg" && kept.file.starts_with(&[0xff, 0xd8, 0xff]), "{kept:?}");
    }

    #[tokio::test]
    async fn one_of_several_cameras_has_to_be_named_rightly() {
        let two = || vec![("/front/image", vec![frame(1)]), ("/rear/image", vec![frame(2)])];
        let (unnamed, _) = taken(two(), "").await;
        assert_eq!(unnamed.unwrap_err(), "the robot has several cameras; name one: /front/image, /rear/image");
        let (wrong, _) = taken(two(), "/rear/imag").await;
        assert_eq!(
            wrong.unwrap_err(),
            "there is no camera '/rear/imag' (did you mean '/rear/image'?); there are: /front/image, /rear/image"
        );
        let (right, _) = taken(two(), "/rear/image").await;
        assert_eq!(right.unwrap().source, "/rear/image");
        let (none, _) = taken(Vec::new(), "").await;
        assert_eq!(none.unwrap_err(), "the robot has no camera: nothing publishes pictures");
    }

    #[tokio::test(start_paused = true)]
    async fn a_camera_that_shows_nothing_or_nonsense_is_told_with_the_reason() {
        let (silent, _) = taken(vec![("/camera", Vec::new())], "").await;
        assert_eq!(silent.unwrap_err(), "/camera gave no picture within 5 s; check that the camera runs");
        let absent = RobotSight::Absent { reason: "nobody publishes it".to_owned() };
        let (gone, _) = taken(vec![("/camera", vec![absent])], "").await;
        assert_eq!(gone.unwrap_err(), "/camera: nobody publishes it");
        let strange = RobotSight::Picture(CameraPicture::Compressed { format: "svg".to_owned(), data: vec![b'<'; 9] });
        let (strange, _) = taken(vec![("/camera", vec![strange])], "").await;
        assert!(strange.unwrap_err().contains("'svg' is no JPEG and no PNG"));
        let (large, _) = taken(vec![("/camera", vec![file(MOST_BYTES + 1)])], "").await;
        assert!(large.unwrap_err().contains("at most 4096 KiB are sent to a model"));
    }
}
