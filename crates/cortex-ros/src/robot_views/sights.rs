//! What a message shows. No IO. Whatever a topic sends is checked: its sizes are the sender's word.

use cortex_interfaces::MessageView;
use cortex_protocol::robot_view::{CameraPicture, FloorPath, GridMap, RobotSight};

use super::rigid::{Rigid, Rotation};
use super::sources::{COMPRESSED_IMAGE, GRID, IMAGE, ODOMETRY, PATH, POSE, POSE_ESTIMATE};
use crate::watching::topics::value_of;

/// The largest map, in cells: 10,000 x 10,000.
const MOST_CELLS: usize = 100_000_000;
/// The largest picture, in bytes: 4K in RGB, and a margin.
const MOST_PICTURE_BYTES: usize = 32 << 20;
/// The longest path. Of a longer one, points in equal distances are shown.
const MOST_POINTS: usize = 1_000;
/// Longest frame and encoding that are shown, in bytes.
const NAME_BYTES: usize = 120;

/// What a message shows: something that lies in a frame, or something that has no place.
#[derive(Debug, Clone)]
pub(super) enum Shown {
    Pose { frame: String, lies: Rigid },
    Path { frame: String, points: Vec<[f64; 3]> },
    Other(RobotSight),
}

impl Shown {
    /// What the message shows, by its type; or the number in this field.
    pub(super) fn of(message: MessageView<'_>, field: Option<&str>) -> Self {
        let shown = match field {
            Some(field) => number(message, field).map(Self::Other),
            None => shown(message),
        };
        shown.unwrap_or_else(|Problem(reason)| Self::Other(RobotSight::Unusable { reason }))
    }

    /// The frame that it is given in, where it lies in one.
    pub(super) fn frame(&self) -> Option<&str> {
        match self {
            Self::Pose { frame, .. } | Self::Path { frame, .. } => Some(frame),
            Self::Other(_) => None,
        }
    }

    /// As it is given.
    pub(super) fn into_given(self) -> RobotSight {
        match self {
            Self::Other(sight) => sight,
            Self::Pose { ref frame, .. } | Self::Path { ref frame, .. } => self.within(frame, Rigid::NONE),
        }
    }

    /// As it is seen in another frame, in which its own one lies so.
    pub(super) fn within(&self, other: &str, own: Rigid) -> RobotSight {
        let beyond = || RobotSight::Unusable { reason: format!("in the frame '{other}' it lies beyond all numbers") };
        match self {
            Self::Pose { lies, .. } => {
                let placed = own.then(*lies);
                if placed.is_finite() { RobotSight::Pose(placed.on_floor(other)) } else { beyond() }
            }
            Self::Path { points, .. } => {
                let points: Vec<(f64, f64)> =
                    points.iter().map(|point| own.point(*point)).map(|[x, y, _]| (x, y)).collect();
                let is_finite = points.iter().all(|(x, y)| x.is_finite() && y.is_finite());
                let frame = other.to_owned();
                if is_finite { RobotSight::Path(FloorPath { frame, points }) } else { beyond() }
            }
            Self::Other(sight) => sight.clone(),
        }
    }

    /// As it is given, with why it is not in the frame that was asked for.
    pub(super) fn unplaced(&self, reason: String) -> RobotSight {
        match self.clone().into_given() {
            RobotSight::Pose(pose) => RobotSight::UnplacedPose { pose, reason },
            RobotSight::Path(path) => RobotSight::UnplacedPath { path, reason },
            other => other,
        }
    }
}

/// What is wrong with a message, for people.
struct Problem(String);

impl<T: Into<String>> From<T> for Problem {
    fn from(reason: T) -> Self {
        Self(reason.into())
    }
}

fn shown(message: MessageView<'_>) -> Result<Shown, Problem> {
    let type_name = message.message_type().name.to_string();
    match type_name.as_str() {
        GRID => map(message).map(|map| Shown::Other(RobotSight::Map(map))),
        IMAGE => picture(message).map(|picture| Shown::Other(RobotSight::Picture(picture))),
        COMPRESSED_IMAGE => compressed(message).map(|picture| Shown::Other(RobotSight::Picture(picture))),
        POSE => stamped_pose(message, message.nested("pose")),
        POSE_ESTIMATE | ODOMETRY => stamped_pose(message, message.nested("pose").and_then(|pose| pose.nested("pose"))),
        PATH => path(message),
        other => Err(format!("{other} is none of the types that can be shown").into()),
    }
}

fn number(message: MessageView<'_>, field: &str) -> Result<RobotSight, Problem> {
    let value = value_of(message, field).map_err(|problem| problem.to_string())?;
    let number = value.as_f64().or_else(|| value.as_bool().map(|yes| if yes { 1.0 } else { 0.0 }));
    let number = number.filter(|number| number.is_finite());
    number.map(RobotSight::Number).ok_or_else(|| format!("'{field}' holds no number now").into())
}

fn map(message: MessageView<'_>) -> Result<GridMap, Problem> {
    let odd = || Problem::from("the message is not defined as it is here");
    let info = message.nested("info").ok_or_else(odd)?;
    let size = |field: &str| info.integer(field).and_then(|size| u32::try_from(size).ok()).unwrap_or_default();
    let (width, height) = (size("width"), size("height"));
    let cells = message.signed_bytes("data").ok_or_else(odd)?;
    let wanted = u64::from(width) * u64::from(height);
    if wanted == 0 {
        return Err("the map is empty: it has no cells".into());
    }
    if u64::try_from(cells.len()).ok() != Some(wanted) {
        let found = cells.len();
        return Err(format!("the map says that it has {width} x {height} cells, and holds {found}").into());
    }
    if cells.len() > MOST_CELLS {
        return Err(format!("the map has {width} x {height} cells, and at most {MOST_CELLS} are shown").into());
    }
    let resolution_m = info.number("resolution").unwrap_or_default();
    if !(resolution_m.is_finite() && resolution_m > 0.0) {
        return Err(format!("the map says that its cells are {resolution_m} m long").into());
    }
    let origin = info.nested("origin").and_then(pose).map(|origin| origin.on_floor(&frame(message)));
    let origin = origin.ok_or("the map does not say where it lies: its origin is no pose")?;
    Ok(GridMap { width, height, resolution_m, origin, cells: cells.to_vec() })
}

fn picture(message: MessageView<'_>) -> Result<CameraPicture, Problem> {
    let size = |field: &str| message.integer(field).and_then(|size| u32::try_from(size).ok()).unwrap_or_default();
    Ok(CameraPicture::Raw {
        width: size("width"),
        height: size("height"),
        step: size("step"),
        encoding: short(message.text("encoding").unwrap_or_default().as_ref()),
        is_big_endian: size("is_bigendian") != 0,
        data: bounded(message)?,
    })
}

fn compressed(message: MessageView<'_>) -> Result<CameraPicture, Problem> {
    let format = short(message.text("format").unwrap_or_default().as_ref());
    Ok(CameraPicture::Compressed { format, data: bounded(message)? })
}

/// Not copied before its size is known to be fine.
fn bounded(message: MessageView<'_>) -> Result<Vec<u8>, Problem> {
    let data = message.bytes("data").ok_or("the message is not defined as it is here")?;
    if data.len() > MOST_PICTURE_BYTES {
        let (has, most) = (data.len() >> 20, MOST_PICTURE_BYTES >> 20);
        return Err(format!("the picture has {has} MiB, and at most {most} MiB are shown").into());
    }
    Ok(data.to_vec())
}

fn stamped_pose(message: MessageView<'_>, inner: Option<MessageView<'_>>) -> Result<Shown, Problem> {
    let found = inner.and_then(pose).map(|lies| Shown::Pose { frame: frame(message), lies });
    found.ok_or_else(|| "it says where the robot is in numbers that are no place".into())
}

fn path(message: MessageView<'_>) -> Result<Shown, Problem> {
    let poses = || message.list("poses").ok_or("the message is not defined as it is here");
    let count = poses()?.count();
    let step = count.div_ceil(MOST_POINTS).max(1);
    let mut points = Vec::with_capacity(count.min(MOST_POINTS) + 1);
    for (at, stamped) in poses()?.enumerate() {
        if at % step != 0 && at + 1 != count {
            continue;
        }
        let position = stamped.nested("pose").and_then(|pose| pose.nested("position"));
        let point = position.and_then(place).ok_or("a point of the path is no place")?;
        points.push(point);
    }
    Ok(Shown::Path { frame: frame(message), points })
}

/// A pose; none where a number is no number.
fn pose(message: MessageView<'_>) -> Option<Rigid> {
    let position = place(message.nested("position")?)?;
    let orientation = message.nested("orientation")?;
    let part = |name: &str| orientation.number(name).filter(|part| part.is_finite());
    let turn = [part("x")?, part("y")?, part("z")?, part("w")?];
    // All zero is what senders leave who do not know it: no turn.
    let rotation = Rotation::of(turn).map_or(Rotation::NONE, |(rotation, _)| rotation);
    Some(Rigid { position, rotation })
}

fn place(position: MessageView<'_>) -> Option<[f64; 3]> {
    let part = |name: &str| position.number(name).filter(|part| part.is_finite());
    Some([part("x")?, part("y")?, part("z")?])
}

fn frame(message: MessageView<'_>) -> String {
    let header = message.nested("header");
    let frame = header.and_then(|header| header.text("frame_id").map(|frame| short(frame.as_ref())));
    // Old senders write a slash before it.
    frame.unwrap_or_default().trim_start_matches('/').to_owned()
}

fn short(text: &str) -> String {
    text.chars()
        .scan(0, |bytes, letter| {
            *bytes += letter.len_utf8();
            (*bytes <= NAME_BYTES).then_some(letter)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use cortex_interfaces::{Interfaces, Message, ReadOptions};
    use cortex_protocol::robot_view::FloorPose;
    use serde_json::{Value, json};

    use super::*;

    fn seen(type_name: &str, message: &Value) -> RobotSight {
        let interface = Interfaces::from_environment().message(type_name).unwrap();
        Shown::of(Message::from_json(&interface, message, &ReadOptions::exact()).unwrap().view(), None).into_given()
    }

    fn reason(sight: RobotSight) -> String {
        match sight {
            RobotSight::Unusable { reason } => reason,
            other => panic!("{other:?}"),
        }
    }

    fn grid(width: u32, height: u32, resolution: f64, cells: &[i8]) -> Value {
        json!({"header": {"frame_id": "/map"}, "data": cells,
            "info": {"width": width, "height": height, "resolution": resolution,
                     "origin": {"position": {"x": -1.0, "y": -2.0}, "orientation": {"w": 1.0}}}})
    }

    #[test]
    fn a_map_is_shown_with_its_place_and_one_whose_sizes_are_lies_says_so() {
        let RobotSight::Map(map) = seen(GRID, &grid(2, 1, 0.5, &[0, -1])) else { panic!("no map") };
        assert_eq!((map.width, map.height, map.cells.as_slice()), (2, 1, &[0, -1][..]));
        assert_eq!(map.origin, FloorPose { frame: "map".to_owned(), x: -1.0, y: -2.0, heading: 0.0 });
        assert!(reason(seen(GRID, &grid(2, 2, 0.5, &[0, -1]))).contains("2 x 2 cells, and holds 2"));
        assert!(reason(seen(GRID, &grid(u32::MAX, u32::MAX, 0.5, &[0]))).contains("holds 1"));
        assert!(reason(seen(GRID, &grid(0, 0, 0.5, &[]))).contains("no cells"));
        assert!(reason(seen(GRID, &grid(1, 1, 0.0, &[0]))).contains("0 m long"));
        assert!(reason(seen(GRID, &grid(1, 1, -1.0, &[0]))).contains("m long"));
    }

    #[test]
    fn a_pose_has_its_frame_and_its_heading() {
        let quarter = std::f64::consts::FRAC_1_SQRT_2;
        let pose = json!({"position": {"x": 1.0, "y": 2.0}, "orientation": {"z": quarter, "w": quarter}});
        for (of, message) in [
            (POSE, json!({"header": {"frame_id": "map"}, "pose": pose})),
            (POSE_ESTIMATE, json!({"header": {"frame_id": "map"}, "pose": {"pose": pose}})),
            (ODOMETRY, json!({"header": {"frame_id": "map"}, "pose": {"pose": pose}})),
        ] {
            let RobotSight::Pose(seen) = seen(of, &message) else { panic!("no pose") };
            assert!((seen.heading - std::f64::consts::FRAC_PI_2).abs() < 1e-9, "{seen:?}");
            assert_eq!((seen.frame.as_str(), seen.x, seen.y), ("map", 1.0, 2.0));
        }
        let nowhere = json!({"pose": {"position": {"x": "NaN"}}});
        assert!(reason(seen(POSE, &nowhere)).contains("no place"));
    }

    #[test]
    fn what_lies_in_another_frame_keeps_all_three_dimensions_on_the_way() {
        // A camera that looks along x: its z axis is x of the robot.
        let (optical, _) = Rotation::of([-0.5, 0.5, -0.5, 0.5]).unwrap();
        let camera = Rigid { position: [1.0, 0.0, 0.5], rotation: optical };
        let interface = Interfaces::from_environment().message(POSE).unwrap();
        let message =
            json!({"header": {"frame_id": "camera"}, "pose": {"position": {"z": 2.0}, "orientation": {"w": 1.0}}});
        let message = Message::from_json(&interface, &message, &ReadOptions::exact()).unwrap();
        let shown = Shown::of(message.view(), None);
        assert_eq!(shown.frame(), Some("camera"));
        let RobotSight::Pose(placed) = shown.within("base_link", camera) else { panic!("no pose") };
        assert!((placed.x - 3.0).abs() < 1e-9 && placed.y.abs() < 1e-9, "{placed:?}");
        assert!(
            matches!(shown.unplaced("why".to_owned()), RobotSight::UnplacedPose { pose, .. } if pose.frame == "camera")
        );
        let far = Rigid { position: [f64::MAX, 0.0, 0.0], rotation: Rotation::NONE };
        assert!(reason(shown.within("map", far.then(far))).contains("beyond all numbers"));
    }

    #[test]
    fn a_long_path_keeps_its_course_and_its_end() {
        let pose = |x: f64| json!({"pose": {"position": {"x": x}}});
        let poses: Vec<Value> = (0..2_501).map(|at| pose(f64::from(at))).collect();
        let RobotSight::Path(path) = seen(PATH, &json!({"poses": poses})) else { panic!("no path") };
        assert!(path.points.len() <= MOST_POINTS + 1);
        assert_eq!((path.points[0], path.points[path.points.len() - 1]), ((0.0, 0.0), (2_500.0, 0.0)));
        let broken = json!({"poses": [pose(0.0), {"pose": {"position": {"y": "Infinity"}}}]});
        assert!(reason(seen(PATH, &broken)).contains("no place"));
    }

    #[test]
    fn a_number_is_plotted_and_what_is_none_says_so() {
        let interface = Interfaces::from_environment().message("sensor_msgs/msg/BatteryState").unwrap();
        let message = json!({"percentage": 0.5, "voltage": "NaN", "present": true});
        let message = Message::from_json(&interface, &message, &ReadOptions::exact()).unwrap();
        let seen = |field: &str| Shown::of(message.view(), Some(field)).into_given();
        assert_eq!(seen("percentage"), RobotSight::Number(0.5));
        assert_eq!(seen("present"), RobotSight::Number(1.0));
        assert!(reason(seen("voltage")).contains("no number"));
        assert!(reason(seen("speed")).contains("has no field 'speed'"));
    }

    #[test]
    fn a_hostile_frame_is_cut() {
        let RobotSight::Pose(seen) = seen(POSE, &json!({"header": {"frame_id": "ö".repeat(10_000)}})) else {
            panic!("no pose")
        };
        assert!(seen.frame.len() <= NAME_BYTES);
    }
}
