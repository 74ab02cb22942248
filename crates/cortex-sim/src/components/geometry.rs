//! Places and velocities as messages of ROS. In the simulation the frames `odom` and `map` coincide.

use cortex_component::messages::builtin_interfaces::msg::Time;
use cortex_component::messages::geometry_msgs::msg::{
    Point, Pose as PoseMessage, PoseStamped, Quaternion, Twist, Vector3,
};
use cortex_component::messages::nav_msgs::msg::{Odometry, Path};
use cortex_component::messages::std_msgs::msg::Header;

use crate::pursuit::Pose;
use crate::velocity::Velocity;
use crate::world::Position;

/// The frame of the home's map.
pub(super) const MAP_FRAME: &str = "map";
/// Longest path that is followed, in points: each leads through a room, of which there are at most 100.
const MOST_POINTS: usize = 1000;

/// Where the odometry says that the robot is.
pub(super) fn position(odometry: &Odometry) -> Position {
    position_of(&odometry.pose.pose)
}

/// The place of a pose.
pub(super) fn position_of(pose: &PoseMessage) -> Position {
    Position { x_m: pose.position.x, y_m: pose.position.y }
}

/// A pose on the floor; `None` if it is none.
pub(super) fn pose(message: &PoseMessage) -> Option<Pose> {
    let Quaternion { z, w, .. } = message.orientation;
    let pose = Pose { position: position_of(message), heading_rad: 2.0 * z.atan2(w) };
    (is_finite(pose.position) && pose.heading_rad.is_finite()).then_some(pose)
}

/// Whether it is a place at all.
pub(super) fn is_finite(position: Position) -> bool {
    position.x_m.is_finite() && position.y_m.is_finite()
}

/// A pose as a message.
pub(super) fn pose_message(pose: Pose) -> PoseMessage {
    let half_rad = pose.heading_rad / 2.0;
    PoseMessage {
        position: Point { x: pose.position.x_m, y: pose.position.y_m, z: 0.0 },
        orientation: Quaternion { x: 0.0, y: 0.0, z: half_rad.sin(), w: half_rad.cos() },
    }
}

/// A path through these points, in the frame of the map. At each, the robot looks to the next.
pub(super) fn path(points: &[Position], stamp: &Time) -> Path {
    let header = Header { stamp: stamp.clone(), frame_id: MAP_FRAME.to_owned() };
    let mut heading_rad = 0.0;
    let poses = points.iter().enumerate().map(|(index, point)| {
        if let Some(next) = points.get(index + 1) {
            heading_rad = (next.y_m - point.y_m).atan2(next.x_m - point.x_m);
        }
        let pose = pose_message(Pose { position: *point, heading_rad });
        PoseStamped { header: header.clone(), pose }
    });
    Path { poses: poses.collect(), header: header.clone() }
}

/// The points of a path; `None` if it is none to be followed.
pub(super) fn points(path: &Path) -> Option<Vec<Position>> {
    let points: Vec<Position> = path.poses.iter().map(|pose| position_of(&pose.pose)).collect();
    let is_sound =
        path.header.frame_id == MAP_FRAME && points.len() <= MOST_POINTS && points.iter().copied().all(is_finite);
    is_sound.then_some(points)
}

/// The velocity that a message asks for. On two wheels, nothing goes sideways.
pub(super) fn velocity(message: &Twist) -> Velocity {
    Velocity { forward_mps: message.linear.x, turn_radps: message.angular.z }
}

/// A velocity as a message.
pub(super) fn twist(velocity: Velocity) -> Twist {
    Twist {
        linear: Vector3 { x: velocity.forward_mps, y: 0.0, z: 0.0 },
        angular: Vector3 { x: 0.0, y: 0.0, z: velocity.turn_radps },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_what_is_no_number_is_none() {
        let pose_read = |pose_written: Pose| pose(&pose_message(pose_written));
        let written = Pose { position: Position { x_m: 1.0, y_m: -2.0 }, heading_rad: -2.5 };
        let read = pose_read(written).unwrap();
        assert!((read.heading_rad - written.heading_rad).abs() < 1e-9 && read.position == written.position);
        assert_eq!(pose_read(Pose { heading_rad: f64::NAN, ..written }), None);
        assert_eq!(pose_read(Pose { position: Position { x_m: f64::INFINITY, y_m: 0.0 }, ..written }), None);

        let way = [Position { x_m: 0.0, y_m: 0.0 }, Position { x_m: 0.0, y_m: 2.0 }];
        let message = path(&way, &Time::default());
        assert_eq!(points(&message).as_deref(), Some(&way[..]));
        assert!((pose(&message.poses[0].pose).unwrap().heading_rad - std::f64::consts::FRAC_PI_2).abs() < 1e-9);
        let of_another_frame = Path { header: Header { frame_id: "odom".to_owned(), ..Header::default() }, ..message };
        assert_eq!(points(&of_another_frame), None);
        assert_eq!(points(&path(&[Position { x_m: f64::NAN, y_m: 0.0 }], &Time::default())), None);
        assert_eq!(points(&path(&[way[0]; MOST_POINTS + 1], &Time::default())), None);
        assert_eq!(points(&path(&[], &Time::default())), Some(Vec::new()));
    }
}
