//! Following a path by velocities. Pure: the same path and pose give the same command; nothing is remembered.
//!
//! The robot makes for the next corner: it turns on the spot until it looks there, then drives, and steers on the way.

use crate::route::length_m;
use crate::velocity::{Limits, Velocity};
use crate::world::Position;

/// So near to a point of the path, in metres, the robot has reached it.
pub const REACHED_M: f64 = 0.1;
/// It drives only while it looks nearly along its way, to so many radians.
const AHEAD_RAD: f64 = 0.3;

/// Where the robot is, in the frame `map`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Pose {
    /// Where it is.
    pub position: Position,
    /// Where it looks, in radians, counter-clockwise from the x axis.
    pub heading_rad: f64,
}

/// How it may drive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// No faster than this.
    pub limits: Limits,
    /// In how many seconds it takes back an error, of its heading or of its distance. It must be longer than a command
    /// needs to show in the pose, or the robot swings about its way.
    pub settle_s: f64,
}

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pursuit {
    /// The command.
    pub velocity: Velocity,
    /// The way that is left, in metres; 0 at its end, where the command is to stand.
    pub remaining_m: f64,
}

/// The command that brings a robot on along its path; `None` where there is no path.
#[must_use]
pub fn pursue(path: &[Position], pose: Pose, pace: &Pace) -> Option<Pursuit> {
    let ahead = ahead(path, pose.position)?;
    let (next, goal) = (*ahead.first()?, *ahead.last()?);
    if ahead.len() == 1 && pose.position.distance_m(goal) <= REACHED_M {
        return Some(Pursuit { velocity: Velocity::STANDING, remaining_m: 0.0 });
    }
    let (way_x, way_y) = (next.x_m - pose.position.x_m, next.y_m - pose.position.y_m);
    let aside_rad = turn_rad(way_y.atan2(way_x) - pose.heading_rad);
    let speed_mps =
        if aside_rad.abs() > AHEAD_RAD { 0.0 } else { way_x.hypot(way_y) / pace.settle_s * aside_rad.cos() };
    let velocity = Velocity { forward_mps: speed_mps, turn_radps: aside_rad / pace.settle_s }.within(&pace.limits);
    Some(Pursuit { velocity, remaining_m: pose.position.distance_m(next) + length_m(ahead) })
}

/// The points of the path that are still ahead, never none: from the end of the last stretch that the robot is on, or else
/// of the nearest one.
fn ahead(path: &[Position], here: Position) -> Option<&[Position]> {
    if path.len() < 2 {
        return (!path.is_empty()).then_some(path);
    }
    let aside: Vec<f64> = path
        .windows(2)
        .filter_map(|ends| match ends {
            [start, end] => Some(here.distance_to_line_m((*start, *end))),
            _ => None,
        })
        .collect();
    let nearest = aside.iter().copied().fold(f64::INFINITY, f64::min);
    let stretch = aside.iter().rposition(|distance| *distance <= nearest.max(REACHED_M))?;
    path.get(stretch + 1..)
}

/// An angle as the shortest turn: from -π to π.
pub(crate) fn turn_rad(angle_rad: f64) -> f64 {
    angle_rad.sin().atan2(angle_rad.cos())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;
    use crate::motion::Motion;

    const PACE: Pace = Pace { limits: Limits { speed_mps: 1.2, turn_radps: 2.0 }, settle_s: 0.4 };

    fn point(x_m: f64, y_m: f64) -> Position {
        Position { x_m, y_m }
    }

    fn pose(x_m: f64, y_m: f64, heading_rad: f64) -> Pose {
        Pose { position: point(x_m, y_m), heading_rad }
    }

    fn corner() -> Vec<Position> {
        vec![point(0.0, 0.0), point(2.0, 0.0), point(2.0, 1.0)]
    }

    #[test]
    fn it_turns_first_then_drives_and_stands_at_the_end() {
        let at = |pose| pursue(&corner(), pose, &PACE).unwrap();
        let begin = at(pose(0.0, 0.0, FRAC_PI_2));
        assert_eq!((begin.velocity.forward_mps, begin.velocity.turn_radps), (0.0, -2.0), "it looks aside");
        assert!((begin.remaining_m - 3.0).abs() < 1e-9);
        let straight = at(pose(0.5, 0.0, 0.0));
        assert_eq!((straight.velocity.forward_mps, straight.velocity.turn_radps), (1.2, 0.0));
        assert!((straight.remaining_m - 2.5).abs() < 1e-9);
        let aside = at(pose(0.5, 0.05, 0.0));
        assert!(aside.velocity.turn_radps < 0.0 && aside.velocity.forward_mps > 1.0, "back to the line: {aside:?}");
        let slower = at(pose(2.0, 0.8, FRAC_PI_2));
        assert!((slower.velocity.forward_mps - 0.5).abs() < 1e-9, "{slower:?}");
        let end = at(pose(2.05, 0.95, PI));
        assert_eq!((end.velocity, end.remaining_m), (Velocity::STANDING, 0.0));
    }

    #[test]
    fn at_a_corner_it_makes_for_the_next_stretch_and_never_turns_back_for_the_begin() {
        let at = |pose| pursue(&corner(), pose, &PACE).unwrap();
        assert!((at(pose(1.95, 0.0, 0.0)).remaining_m - point(1.95, 0.0).distance_m(point(2.0, 1.0))).abs() < 1e-9);
        assert!(at(pose(2.3, 0.0, 0.0)).velocity.turn_radps > 0.0, "past the corner it goes on, not back");
        // The path was made half a metre ago.
        assert!(at(pose(0.5, 0.0, 0.0)).velocity.forward_mps > 1.0);
    }

    #[test]
    fn the_shortest_turn_is_taken() {
        let west = [point(0.0, 0.0), point(-2.0, 0.0)];
        let turn = |heading| pursue(&west, pose(0.0, 0.0, heading), &PACE).unwrap().velocity.turn_radps;
        assert!(turn(3.0) > 0.0 && turn(-3.0) < 0.0 && turn(3.0 - 4.0 * PI) > 0.0);
    }

    #[test]
    fn without_a_path_there_is_no_command_and_one_point_is_a_path() {
        assert_eq!(pursue(&[], pose(0.0, 0.0, 0.0), &PACE), None);
        let point_path = [point(1.0, 0.0)];
        assert!(pursue(&point_path, pose(0.0, 0.0, 0.0), &PACE).unwrap().velocity.forward_mps > 1.0);
        assert_eq!(pursue(&point_path, pose(1.0, 0.0, 0.0), &PACE).unwrap().remaining_m, 0.0);
        let twice = [point(1.0, 0.0), point(1.0, 0.0)];
        assert_eq!(pursue(&twice, pose(1.0, 0.0, 0.0), &PACE).unwrap().remaining_m, 0.0);
    }

    /// Commands reach the wheels, and the wheels the pose, three ticks late, and time may run ten times as fast.
    #[test]
    fn it_arrives_although_commands_show_late() {
        for scale in [1.0, 10.0] {
            let pace = Pace { settle_s: PACE.settle_s * scale, ..PACE };
            let mut motion = Motion::at(point(0.0, 0.0));
            motion.heading_rad = FRAC_PI_2;
            let mut late = std::collections::VecDeque::from([Velocity::STANDING; 3]);
            let mut farthest_aside = 0.0_f64;
            let arrived = (0..400).find(|_| {
                let here = Pose { position: motion.position, heading_rad: motion.heading_rad };
                let pursuit = pursue(&corner(), here, &pace).unwrap();
                late.push_back(pursuit.velocity);
                motion.roll(late.pop_front().unwrap(), 0.05 * scale);
                farthest_aside = farthest_aside.max(motion.position.x_m - 2.0).max(-motion.position.y_m);
                pursuit.remaining_m == 0.0 && late.iter().all(|velocity| *velocity == Velocity::STANDING)
            });
            assert!(arrived.is_some(), "{scale}: {motion:?}");
            assert!(motion.position.distance_m(point(2.0, 1.0)) < 0.2, "{scale}: {motion:?}");
            assert!(farthest_aside < 0.3, "{scale}: {farthest_aside}");
        }
    }
}
