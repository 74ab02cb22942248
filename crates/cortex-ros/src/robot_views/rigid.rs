//! Places and turns in space. Pure. Lengths in metres.

use cortex_protocol::robot_view::FloorPose;

/// A quaternion shorter than this says nothing of a turn.
const NO_LENGTH: f64 = 1e-6;

/// A turn, as a quaternion of length one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rotation {
    x: f64,
    y: f64,
    z: f64,
    w: f64,
}

impl Rotation {
    pub(super) const NONE: Self = Self { x: 0.0, y: 0.0, z: 0.0, w: 1.0 };

    /// The turn of a quaternion of any length, and that length. None where it has no direction.
    pub(super) fn of([x, y, z, w]: [f64; 4]) -> Option<(Self, f64)> {
        let length = (x * x + y * y + z * z + w * w).sqrt();
        let rotation = Self { x: x / length, y: y / length, z: z / length, w: w / length };
        (length.is_finite() && length > NO_LENGTH).then_some((rotation, length))
    }

    fn inverse(self) -> Self {
        Self { x: -self.x, y: -self.y, z: -self.z, w: self.w }
    }

    /// First the other turn, then this one.
    fn after(self, first: Self) -> Self {
        let (a, b) = (self, first);
        Self {
            x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
            w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
        }
    }

    fn turn(self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let turned = self.after(Self { x, y, z, w: 0.0 }).after(self.inverse());
        [turned.x, turned.y, turned.z]
    }

    /// Between two turns, the shorter way round.
    fn between(self, other: Self, share: f64) -> Self {
        let dot = self.x * other.x + self.y * other.y + self.z * other.z + self.w * other.w;
        let sign = if dot < 0.0 { -1.0 } else { 1.0 };
        let mix = |one: f64, two: f64| one + (sign * two - one) * share;
        let mixed = [mix(self.x, other.x), mix(self.y, other.y), mix(self.z, other.z), mix(self.w, other.w)];
        Self::of(mixed).map_or(self, |(rotation, _)| rotation)
    }

    /// Counterclockwise from x, seen from above, in radians.
    fn heading(self) -> f64 {
        let Self { x, y, z, w } = self;
        f64::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    }
}

/// How one frame lies in another one; or a pose in a frame, which is the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rigid {
    pub(super) position: [f64; 3],
    pub(super) rotation: Rotation,
}

impl Rigid {
    pub(super) const NONE: Self = Self { position: [0.0; 3], rotation: Rotation::NONE };

    /// Where a point of the inner frame lies in the outer one.
    pub(super) fn point(self, point: [f64; 3]) -> [f64; 3] {
        let [x, y, z] = self.rotation.turn(point);
        [x + self.position[0], y + self.position[1], z + self.position[2]]
    }

    /// This, of a frame that lies in the inner one.
    pub(super) fn then(self, inner: Self) -> Self {
        Self { position: self.point(inner.position), rotation: self.rotation.after(inner.rotation) }
    }

    /// How the outer frame lies in the inner one.
    pub(super) fn inverse(self) -> Self {
        let rotation = self.rotation.inverse();
        Self { position: rotation.turn(self.position.map(|part| -part)), rotation }
    }

    /// Between two moments.
    pub(super) fn between(self, later: Self, share: f64) -> Self {
        let mut position = self.position;
        for (part, later) in position.iter_mut().zip(later.position) {
            *part += (later - *part) * share;
        }
        Self { position, rotation: self.rotation.between(later.rotation, share) }
    }

    /// Whether every number is one: large ones may have grown beyond all.
    pub(super) fn is_finite(self) -> bool {
        let Rotation { x, y, z, w } = self.rotation;
        self.position.into_iter().chain([x, y, z, w]).all(f64::is_finite)
    }

    /// The same on the floor of this frame.
    pub(super) fn on_floor(self, frame: &str) -> FloorPose {
        let [x, y, _] = self.position;
        FloorPose { frame: frame.to_owned(), x, y, heading: self.rotation.heading() }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

    use super::*;

    fn turned(heading: f64) -> Rotation {
        Rotation::of([0.0, 0.0, (heading / 2.0).sin(), (heading / 2.0).cos()]).unwrap().0
    }

    fn near(one: [f64; 3], other: [f64; 3]) -> bool {
        one.iter().zip(other).all(|(one, other)| (one - other).abs() < 1e-9)
    }

    #[test]
    fn what_is_put_into_another_frame_and_back_is_the_same() {
        let outer = Rigid { position: [1.0, 2.0, 3.0], rotation: turned(FRAC_PI_2) };
        assert!(near(outer.point([1.0, 0.0, 0.0]), [1.0, 3.0, 3.0]));
        assert!(near(outer.inverse().point(outer.point([4.0, -5.0, 6.0])), [4.0, -5.0, 6.0]));
        let inner = Rigid { position: [2.0, 0.0, 0.0], rotation: turned(FRAC_PI_4) };
        let both = outer.then(inner);
        assert!(near(both.position, [1.0, 4.0, 3.0]));
        assert!((both.on_floor("map").heading - 3.0 * FRAC_PI_4).abs() < 1e-9);
        assert!(near(both.then(both.inverse()).position, [0.0; 3]));
    }

    #[test]
    fn between_two_turns_is_the_shorter_way_and_no_turn_is_none() {
        let (one, other) = (turned(3.0), turned(-3.0));
        let halfway = one.between(other, 0.5).heading().abs();
        assert!((halfway - std::f64::consts::PI).abs() < 1e-9, "{halfway}");
        // The same turn written the other way round.
        let flipped = Rotation { x: -other.x, y: -other.y, z: -other.z, w: -other.w };
        assert!((one.between(flipped, 0.5).heading().abs() - std::f64::consts::PI).abs() < 1e-9);
        assert_eq!(Rotation::of([0.0; 4]), None);
        assert_eq!(Rotation::of([f64::NAN, 0.0, 0.0, 1.0]), None);
        assert_eq!(Rotation::of([f64::INFINITY, 0.0, 0.0, 1.0]), None);
    }
}
