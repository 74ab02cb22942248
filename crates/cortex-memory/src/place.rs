//! Where things are: poses, the map that they hold in, and whether a robot may drive to one.

use serde::{Deserialize, Serialize};

/// Poses that are nearer to each other are taken for the same, in metres: detectors jitter.
pub(crate) const SAME_PLACE_M: f64 = 0.5;

/// A pose in the plane.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// In metres.
    pub x_m: f64,
    /// In metres.
    pub y_m: f64,
    /// Counter-clockwise from the x axis, in radians.
    pub yaw_rad: f64,
}

/// A map, and which edition of it: poses of one edition mean nothing in another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MapRef {
    /// Its name.
    pub id: String,
    /// Its edition: a number, a date or a digest.
    pub version: String,
}

/// A pose with the frame and the map that it holds in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// The pose of the subject, not of the robot.
    pub pose: Pose,
    /// The frame of the pose, such as `map`.
    pub frame: String,
    /// The map of the frame.
    pub map: MapRef,
}

/// A circle on a map.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Its centre, in metres.
    pub x_m: f64,
    /// Its centre, in metres.
    pub y_m: f64,
    /// In metres.
    pub radius_m: f64,
    /// The frame of the centre, such as `map`.
    pub frame: String,
    /// The map of the frame.
    pub map: MapRef,
}

/// What the pose of an answer may be used for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PoseUse {
    /// It holds in the map that is in use: the robot may be sent there.
    Drivable(Location),
    /// It holds in another map or another edition of it: nobody may be sent there.
    AnotherMap {
        /// The map of the pose.
        known: MapRef,
        /// The map that is in use.
        in_use: MapRef,
    },
    /// Nobody said which map is in use: nobody may be sent there.
    MapUnknown {
        /// The map of the pose.
        known: MapRef,
    },
    /// No pose is known.
    NoPose,
}

impl Location {
    /// Whether another location is the same but for jitter.
    pub(crate) fn is_near(&self, other: &Self) -> bool {
        self.map == other.map
            && self.frame == other.frame
            && (self.pose.x_m - other.pose.x_m).hypot(self.pose.y_m - other.pose.y_m) <= SAME_PLACE_M
    }
}

impl Region {
    /// Whether a location lies within it.
    #[must_use]
    pub fn holds(&self, location: &Location) -> bool {
        self.map == location.map
            && self.frame == location.frame
            && (self.x_m - location.pose.x_m).hypot(self.y_m - location.pose.y_m) <= self.radius_m
    }
}

impl PoseUse {
    /// Judges a location by the map that is in use.
    #[must_use]
    pub fn of(location: Option<&Location>, in_use: Option<&MapRef>) -> Self {
        match (location, in_use) {
            (None, _) => Self::NoPose,
            (Some(location), None) => Self::MapUnknown { known: location.map.clone() },
            (Some(location), Some(map)) if location.map == *map => Self::Drivable(location.clone()),
            (Some(location), Some(map)) => Self::AnotherMap { known: location.map.clone(), in_use: map.clone() },
        }
    }

    /// The location that the robot may be sent to, if there is one.
    #[must_use]
    pub fn drivable(&self) -> Option<&Location> {
        match self {
            Self::Drivable(location) => Some(location),
            Self::AnotherMap { .. } | Self::MapUnknown { .. } | Self::NoPose => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(version: &str) -> MapRef {
        MapRef { id: "ground floor".to_owned(), version: version.to_owned() }
    }

    fn at(x_m: f64, version: &str) -> Location {
        Location { pose: Pose { x_m, y_m: 0.0, yaw_rad: 0.0 }, frame: "map".to_owned(), map: map(version) }
    }

    #[test]
    fn a_pose_of_another_map_or_edition_is_not_for_driving() {
        assert!(PoseUse::of(Some(&at(1.0, "7")), Some(&map("7"))).drivable().is_some());
        let stale = PoseUse::of(Some(&at(1.0, "7")), Some(&map("8")));
        assert_eq!(stale, PoseUse::AnotherMap { known: map("7"), in_use: map("8") });
        assert!(stale.drivable().is_none());
        assert!(PoseUse::of(Some(&at(1.0, "7")), None).drivable().is_none());
        assert_eq!(PoseUse::of(None, Some(&map("8"))), PoseUse::NoPose);
    }

    #[test]
    fn near_and_within_hold_on_one_edition_of_the_map() {
        assert!(at(1.0, "7").is_near(&at(1.4, "7")));
        assert!(!at(1.0, "7").is_near(&at(1.6, "7")) && !at(1.0, "7").is_near(&at(1.0, "8")));
        let region = Region { x_m: 0.0, y_m: 0.0, radius_m: 2.0, frame: "map".to_owned(), map: map("7") };
        assert!(region.holds(&at(2.0, "7")) && !region.holds(&at(2.1, "7")) && !region.holds(&at(0.0, "8")));
    }
}
