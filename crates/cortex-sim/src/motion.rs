//! Driving: along a route at a finite speed, or as a velocity says. Pure: time comes in as a value.

use std::collections::VecDeque;

use crate::pursuit;
use crate::velocity::Velocity;
use crate::world::Position;

/// Where the robot is and where it drives.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Motion {
    /// Where it is.
    pub position: Position,
    /// Where it looks, in radians, counter-clockwise from the x axis.
    pub heading_rad: f64,
    /// The drive under way, or ended but not yet finished by whoever began it.
    drive: Option<Drive>,
}

#[derive(Debug, Clone, PartialEq)]
struct Drive {
    goal: String,
    points: VecDeque<Position>,
    end: Option<DriveEnd>,
}

/// How a drive ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DriveEnd {
    /// In the middle of the goal.
    Arrived,
    /// Before that, for a reason.
    Stopped(String),
}

impl Motion {
    /// At rest at that place.
    #[must_use]
    pub fn at(position: Position) -> Self {
        Self { position, ..Self::default() }
    }

    /// How the drive ended; `None` while it is under way or if there is none.
    #[must_use]
    pub fn end(&self) -> Option<&DriveEnd> {
        self.drive.as_ref()?.end.as_ref()
    }

    /// Begins to drive. Whoever begins a drive calls [`finish`](Self::finish) after it.
    ///
    /// # Errors
    /// The goal of the drive that was begun before: a robot does not drive to two places.
    pub fn begin(&mut self, goal: &str, points: Vec<Position>) -> Result<(), String> {
        if let Some(drive) = &self.drive {
            return Err(drive.goal.clone());
        }
        self.drive = Some(Drive { goal: goal.to_owned(), points: points.into(), end: None });
        Ok(())
    }

    /// Stops at once, if it drives.
    pub fn stop(&mut self, reason: &str) {
        if let Some(drive) = &mut self.drive {
            drive.end.get_or_insert_with(|| DriveEnd::Stopped(reason.to_owned()));
        }
    }

    /// Stops, if it drives, and forgets the drive, so that another may begin.
    pub fn finish(&mut self) {
        self.drive = None;
    }

    /// Moves for some seconds with that velocity and returns how far it went. It has no route then.
    pub fn roll(&mut self, velocity: Velocity, seconds: f64) -> f64 {
        let seconds = seconds.max(0.0);
        let (way_m, turn_rad) = (velocity.forward_mps * seconds, velocity.turn_radps * seconds);
        // Along the middle of the arc.
        let along_rad = self.heading_rad + turn_rad / 2.0;
        self.position.x_m += way_m * along_rad.cos();
        self.position.y_m += way_m * along_rad.sin();
        self.heading_rad = pursuit::turn_rad(self.heading_rad + turn_rad);
        way_m
    }

    /// Drives on by at most `budget_m` metres and returns how far it really went.
    pub fn advance(&mut self, budget_m: f64) -> f64 {
        let Some(drive) = self.drive.as_mut().filter(|drive| drive.end.is_none()) else { return 0.0 };
        let mut left_m = budget_m.max(0.0);
        while let Some(next) = drive.points.front().copied() {
            let distance_m = self.position.distance_m(next);
            if distance_m > 0.0 {
                self.heading_rad = (next.y_m - self.position.y_m).atan2(next.x_m - self.position.x_m);
            }
            if distance_m > left_m {
                let share = left_m / distance_m;
                self.position.x_m += share * (next.x_m - self.position.x_m);
                self.position.y_m += share * (next.y_m - self.position.y_m);
                return budget_m.max(0.0);
            }
            left_m -= distance_m;
            self.position = next;
            drive.points.pop_front();
        }
        drive.end = Some(DriveEnd::Arrived);
        budget_m.max(0.0) - left_m
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x_m: f64, y_m: f64) -> Position {
        Position { x_m, y_m }
    }

    #[test]
    fn it_drives_around_the_corner_and_arrives() {
        let mut motion = Motion::at(point(0.0, 0.0));
        motion.begin("kitchen", vec![point(2.0, 0.0), point(2.0, 1.0)]).unwrap();
        assert!((motion.advance(1.5) - 1.5).abs() < 1e-12);
        assert_eq!((motion.position, motion.end()), (point(1.5, 0.0), None));
        assert!((motion.advance(1.0) - 1.0).abs() < 1e-12);
        assert_eq!(motion.position, point(2.0, 0.5));
        assert!((motion.heading_rad - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
        assert!((motion.advance(9.0) - 0.5).abs() < 1e-12, "no farther than the goal");
        assert_eq!((motion.position, motion.end()), (point(2.0, 1.0), Some(&DriveEnd::Arrived)));
        assert!(motion.advance(1.0).abs() < 1e-12, "at rest");
    }

    #[test]
    fn it_does_not_drive_to_two_places() {
        let mut motion = Motion::at(point(0.0, 0.0));
        motion.begin("kitchen", vec![point(2.0, 0.0)]).unwrap();
        assert_eq!(motion.begin("office", vec![point(9.0, 0.0)]), Err("kitchen".to_owned()));
        motion.advance(9.0);
        assert_eq!(motion.begin("office", vec![point(9.0, 0.0)]), Err("kitchen".to_owned()), "not finished yet");
        motion.finish();
        assert_eq!(motion.begin("office", vec![point(9.0, 0.0)]), Ok(()));
    }

    #[test]
    fn it_stops_where_it_is() {
        let mut motion = Motion::at(point(0.0, 0.0));
        motion.begin("kitchen", vec![point(2.0, 0.0)]).unwrap();
        motion.advance(0.5);
        motion.stop("the battery is empty");
        assert!(motion.advance(1.0).abs() < 1e-12);
        assert_eq!(motion.position, point(0.5, 0.0));
        assert_eq!(motion.end(), Some(&DriveEnd::Stopped("the battery is empty".to_owned())));
        motion.stop("again");
        assert_eq!(motion.end(), Some(&DriveEnd::Stopped("the battery is empty".to_owned())), "it stood already");
    }

    #[test]
    fn it_rolls_as_the_velocity_says() {
        let mut motion = Motion::at(point(0.0, 0.0));
        assert!((motion.roll(Velocity { forward_mps: 0.5, turn_radps: 0.0 }, 2.0) - 1.0).abs() < 1e-12);
        assert!(motion.position.distance_m(point(1.0, 0.0)) < 1e-12);
        motion.roll(Velocity { forward_mps: 0.0, turn_radps: std::f64::consts::FRAC_PI_2 }, 1.0);
        assert!(motion.position.distance_m(point(1.0, 0.0)) < 1e-12, "on the spot");
        motion.roll(Velocity { forward_mps: 1.0, turn_radps: 0.0 }, 1.0);
        assert!(motion.position.distance_m(point(1.0, 1.0)) < 1e-12);
        motion.roll(Velocity { forward_mps: 0.0, turn_radps: 3.0 }, 10.0);
        assert!(motion.heading_rad.abs() <= std::f64::consts::PI, "{}", motion.heading_rad);
        assert!(motion.roll(Velocity { forward_mps: 1.0, turn_radps: 1.0 }, -1.0).abs() < 1e-12, "time goes forward");
    }

    #[test]
    fn where_it_is_already_it_arrives_at_once() {
        let mut motion = Motion::at(point(1.0, 1.0));
        motion.begin("kitchen", vec![point(1.0, 1.0)]).unwrap();
        assert!(motion.advance(0.0).abs() < 1e-12);
        assert_eq!(motion.end(), Some(&DriveEnd::Arrived));
    }
}
