//! How a robot on two wheels moves: forward, and about itself, and for how long it obeys. Pure.

use std::time::Duration;

/// How long a command counts. Whoever wants the robot to go on says so again before; when nobody does, it stands.
pub const COMMAND_MAX_AGE: Duration = Duration::from_millis(300);

/// How fast it moves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Velocity {
    /// Along where it looks, in metres per second.
    pub forward_mps: f64,
    /// About itself, in radians per second, counter-clockwise.
    pub turn_radps: f64,
}

/// How fast it can move, both ways.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Along where it looks, in metres per second.
    pub speed_mps: f64,
    /// About itself, in radians per second.
    pub turn_radps: f64,
}

impl Velocity {
    /// It stands.
    pub const STANDING: Self = Self { forward_mps: 0.0, turn_radps: 0.0 };

    /// What the wheels make of it: no more than they can. What is no number is no command, and they stand.
    #[must_use]
    pub fn within(self, limits: &Limits) -> Self {
        if !(self.forward_mps.is_finite() && self.turn_radps.is_finite()) {
            return Self::STANDING;
        }
        Self {
            forward_mps: self.forward_mps.clamp(-limits.speed_mps, limits.speed_mps),
            turn_radps: self.turn_radps.clamp(-limits.turn_radps, limits.turn_radps),
        }
    }
}

/// Whether the wheels do as they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Obedience {
    /// They do.
    #[default]
    Obeys,
    /// They were halted: they stand until whoever drives has let go, and only then is a command one of a new drive.
    Halted,
}

impl Obedience {
    /// What the wheels do after this last command, which has that age.
    pub fn obey(&mut self, last: Option<(Velocity, Duration)>, limits: &Limits) -> Velocity {
        let Some((velocity, _)) = last.filter(|(_, age)| *age <= COMMAND_MAX_AGE) else {
            *self = Self::Obeys;
            return Velocity::STANDING;
        };
        match self {
            Self::Obeys => velocity.within(limits),
            Self::Halted => Velocity::STANDING,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_do_what_they_can_and_stand_at_what_is_no_number() {
        let limits = Limits { speed_mps: 1.2, turn_radps: 2.0 };
        let table = [
            ((0.5, -1.0), (0.5, -1.0)),
            ((9.0, 9.0), (1.2, 2.0)),
            ((-9.0, -9.0), (-1.2, -2.0)),
            ((1e300, 0.0), (1.2, 0.0)),
            ((f64::NAN, 0.5), (0.0, 0.0)),
            ((0.5, f64::NAN), (0.0, 0.0)),
            ((f64::INFINITY, 0.0), (0.0, 0.0)),
            ((0.5, f64::NEG_INFINITY), (0.0, 0.0)),
        ];
        for (told, does) in table {
            let velocity = Velocity { forward_mps: told.0, turn_radps: told.1 }.within(&limits);
            assert_eq!((velocity.forward_mps, velocity.turn_radps), does, "{told:?}");
        }
    }

    #[test]
    fn a_command_counts_for_a_moment_and_a_halt_until_the_driver_lets_go() {
        let limits = Limits { speed_mps: 1.2, turn_radps: 2.0 };
        let forward = Velocity { forward_mps: 1.0, turn_radps: 0.0 };
        let aged = |millis| Some((forward, Duration::from_millis(millis)));
        let mut wheels = Obedience::default();
        assert_eq!(wheels.obey(None, &limits), Velocity::STANDING, "nobody has said anything");
        assert_eq!(wheels.obey(aged(0), &limits), forward);
        assert_eq!(wheels.obey(aged(300), &limits), forward);
        assert_eq!(wheels.obey(aged(301), &limits), Velocity::STANDING, "nobody has said it again");
        wheels = Obedience::Halted;
        for _ in 0..100 {
            assert_eq!(wheels.obey(aged(50), &limits), Velocity::STANDING, "somebody still drives");
        }
        assert_eq!(wheels.obey(aged(301), &limits), Velocity::STANDING);
        assert_eq!(wheels.obey(aged(0), &limits), forward, "a new drive");
    }
}
