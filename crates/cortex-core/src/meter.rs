//! Meters of what a robot spends: the way, from its odometry, and the energy, from its battery. Pure: whoever hears the
//! topics hands each message over with the time of its arrival.
//!
//! What can't be believed is not counted, and a meter that hears nothing else counts as silent. Where something was
//! spent and it is unknown how much, the meter rather counts too much: it guards a budget.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a meter says.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Reading {
    /// How much since the meter began: metres, or watt-hours. Never falls.
    pub total: f64,
    /// Whether it still measures.
    pub is_live: bool,
}

/// The shortest way that is counted, in metres: the position of a robot that stands trembles by millimetres.
const SHORTEST_WAY_M: f64 = 0.02;
/// A leap of less, in metres, is never taken for a correction of the position.
const SMALL_LEAP_M: f64 = 0.5;
/// What moves faster, in metres per second, was not driven: the position was corrected or set back.
const FASTEST_MPS: f64 = 15.0;
/// After so many leaps in a row the odometry is not believed any more, until it makes sense again.
const LEAPS_BELIEVED: u32 = 3;
/// By how much the time between two stamps may exceed that between the arrivals: messages that were held up arrive at
/// once.
const HELD_UP: Duration = Duration::from_secs(1);

/// One message of odometry.
#[derive(Debug, Clone, PartialEq)]
pub struct Pose {
    /// The frame that the position is in.
    pub frame: String,
    /// Where the robot is, in metres: x, y, z.
    pub position: [f64; 3],
    /// The stamp of the message, since any fixed moment. None where there is none.
    pub stamp: Option<Duration>,
}

/// Adds up the way that a robot goes (`nav_msgs/msg/Odometry`): the straight lines between its positions.
///
/// After a gap the straight line to the new position is counted, as long as the robot could have driven it.
#[derive(Debug, Clone, Default)]
pub struct WayMeter {
    total: f64,
    last: Option<Heard>,
    /// The position up to which the way is counted.
    counted: [f64; 3],
    leaps: u32,
    believed_at: Option<Duration>,
}

#[derive(Debug, Clone)]
struct Heard {
    at: Duration,
    pose: Pose,
}

impl WayMeter {
    /// Takes a message that arrived at `now` (since any fixed moment).
    pub fn observe(&mut self, now: Duration, pose: Pose) {
        if pose.position.iter().any(|coordinate| !coordinate.is_finite()) {
            return;
        }
        let position = pose.position;
        match &self.last {
            None => self.counted = position,
            Some(last) => {
                let leap = distance(last.pose.position, position);
                let is_elsewhere = last.pose.frame != pose.frame
                    || (leap > SMALL_LEAP_M && leap > FASTEST_MPS * elapsed(last, now, &pose).as_secs_f64());
                if is_elsewhere {
                    self.leaps = self.leaps.saturating_add(1);
                    self.counted = position;
                } else {
                    self.leaps = 0;
                    let way = distance(self.counted, position);
                    if way >= SHORTEST_WAY_M {
                        self.total = sum(self.total, way);
                        self.counted = position;
                    }
                }
            }
        }
        self.last = Some(Heard { at: now, pose });
        if self.leaps < LEAPS_BELIEVED {
            self.believed_at = Some(now);
        }
    }

    /// The way so far, in metres. Live if a message that makes sense is not older than `patience`.
    #[must_use]
    pub fn reading(&self, now: Duration, patience: Duration) -> Reading {
        Reading { total: self.total, is_live: is_fresh(self.believed_at, now, patience) }
    }
}

/// The time between two messages: by their stamps, unless these are against reason.
fn elapsed(last: &Heard, now: Duration, pose: &Pose) -> Duration {
    let by_arrival = now.saturating_sub(last.at);
    let by_stamps = last.pose.stamp.zip(pose.stamp).map_or(Duration::ZERO, |(then, now)| now.saturating_sub(then));
    by_arrival.max(by_stamps.min(by_arrival.saturating_add(HELD_UP)))
}

fn distance(one: [f64; 3], other: [f64; 3]) -> f64 {
    let squares: f64 = one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum();
    squares.sqrt()
}

/// Above, in volts and amperes, it is no battery of a robot.
const MOST_VOLTS: f64 = 2_000.0;
const MOST_AMPERES: f64 = 10_000.0;
/// A charge that has risen by so much, in ampere-hours, was charged, not measured a little differently.
const CHARGED_AH: f64 = 0.05;
/// After a gap the last power counts for so long at most.
const LONGEST_GAP: Duration = Duration::from_secs(60);
const SECONDS_PER_HOUR: f64 = 3_600.0;

/// Whether the battery says that it gives or takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flow {
    /// It does not say.
    #[default]
    Unknown,
    /// It is being charged, or full at the charger.
    Charging,
    /// It gives.
    Discharging,
}

/// One message of a battery. What is not measured is NaN, as in the message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Battery {
    /// Volts.
    pub voltage: f64,
    /// Amperes, negative while it gives.
    pub current: f64,
    /// Ampere-hours that are in it.
    pub charge: f64,
    /// Ampere-hours that it holds when it is full.
    pub capacity: f64,
    /// From 0 to 1.
    pub percentage: f64,
    /// What it says of the current's direction.
    pub flow: Flow,
}

/// Adds up the energy that is taken from a battery (`sensor_msgs/msg/BatteryState`).
///
/// Voltage times current over time, where the current is measured; otherwise voltage times the fall of the charge, or of
/// the percentage of the capacity. What is charged is not given back: it is what was spent that counts.
#[derive(Debug, Clone, Default)]
pub struct EnergyMeter {
    total: f64,
    /// The power in watts at the last message, and when that was.
    power: Option<(Duration, f64)>,
    /// The charge in ampere-hours down to which the energy is counted.
    counted: Option<f64>,
    measured_at: Option<Duration>,
}

impl EnergyMeter {
    /// Takes a message that arrived at `now` (since any fixed moment).
    pub fn observe(&mut self, now: Duration, battery: &Battery) {
        if !(battery.voltage > 0.0 && battery.voltage <= MOST_VOLTS) {
            return;
        }
        if battery.current.abs() <= MOST_AMPERES {
            self.take_current(now, battery);
        } else if let Some(charge) = charge(battery) {
            self.take_charge(charge, battery.voltage);
        } else {
            return;
        }
        self.measured_at = Some(now);
    }

    fn take_current(&mut self, now: Duration, battery: &Battery) {
        let amperes = match battery.flow {
            // Not every driver keeps to the sign.
            Flow::Discharging => battery.current.abs(),
            Flow::Charging => 0.0,
            Flow::Unknown => (-battery.current).max(0.0),
        };
        let watts = battery.voltage * amperes;
        if let Some((then, before)) = self.power {
            let hours = now.saturating_sub(then).min(LONGEST_GAP).as_secs_f64() / SECONDS_PER_HOUR;
            self.total = sum(self.total, (before + watts) / 2.0 * hours);
        }
        self.power = Some((now, watts));
        self.counted = None;
    }

    fn take_charge(&mut self, charge: f64, voltage: f64) {
        let before = self.counted.unwrap_or(charge);
        if charge < before {
            self.total = sum(self.total, (before - charge) * voltage);
            self.counted = Some(charge);
        } else if charge > before + CHARGED_AH {
            self.counted = Some(charge);
        } else {
            self.counted = Some(before);
        }
        self.power = None;
    }

    /// The energy so far, in watt-hours. Live if a message that can be used is not older than `patience`.
    #[must_use]
    pub fn reading(&self, now: Duration, patience: Duration) -> Reading {
        Reading { total: self.total, is_live: is_fresh(self.measured_at, now, patience) }
    }
}

/// The charge in ampere-hours, measured or computed.
fn charge(battery: &Battery) -> Option<f64> {
    let is_charge = |charge: &f64| (0.0..=MOST_AMPERES).contains(charge);
    let computed = battery.percentage * battery.capacity;
    [battery.charge, computed].into_iter().find(is_charge)
}

fn is_fresh(at: Option<Duration>, now: Duration, patience: Duration) -> bool {
    at.is_some_and(|at| now.saturating_sub(at) <= patience)
}

/// The sum, which stays a number.
fn sum(total: f64, more: f64) -> f64 {
    (total + more.max(0.0)).min(f64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PATIENCE: Duration = Duration::from_secs(5);
    const UNMEASURED: Battery = Battery {
        voltage: f64::NAN,
        current: f64::NAN,
        charge: f64::NAN,
        capacity: f64::NAN,
        percentage: f64::NAN,
        flow: Flow::Unknown,
    };

    fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    fn at(x: f64, y: f64) -> Pose {
        Pose { frame: "odom".to_owned(), position: [x, y, 0.0], stamp: None }
    }

    /// The total after these x positions, one every 100 ms.
    fn way(positions: &[f64]) -> f64 {
        let mut meter = WayMeter::default();
        for (index, x) in positions.iter().enumerate() {
            meter.observe(ms(100 * index as u64), at(*x, 0.0));
        }
        meter.reading(Duration::ZERO, PATIENCE).total
    }

    #[test]
    fn the_way_adds_up_there_and_back() {
        assert!((way(&[0.0, 0.3, 0.6, 0.3, 0.0]) - 1.2).abs() < 1e-9);
        let mut meter = WayMeter::default();
        for step in 0..=1000_u64 {
            let angle = f64::from(u32::try_from(step).unwrap()) / 1000.0 * std::f64::consts::TAU;
            meter.observe(ms(step * 20), at(angle.cos(), angle.sin()));
        }
        let circle = meter.reading(ms(20_000), PATIENCE).total;
        assert!((circle - std::f64::consts::TAU).abs() < 0.03, "{circle}");
    }

    #[test]
    fn a_robot_that_stands_goes_no_way_however_its_position_trembles() {
        let trembling: Vec<f64> = (0..10_000).map(|index| if index % 2 == 0 { 0.004 } else { -0.004 }).collect();
        assert!(way(&trembling).abs() < 1e-9);
    }

    #[test]
    fn a_slow_robot_is_not_missed() {
        let creeping: Vec<f64> = (0..=10_000).map(|index| f64::from(index) * 0.0005).collect();
        assert!((way(&creeping) - 5.0).abs() < 0.03);
    }

    #[test]
    fn corrections_of_the_position_and_resets_are_no_way() {
        assert!((way(&[0.0, 0.3, 50.3, 50.6]) - 0.6).abs() < 1e-9, "a leap of 50 m");
        assert!((way(&[7.0, 7.3, 0.0, 0.3]) - 0.6).abs() < 1e-9, "set back to the origin");
        let mut meter = WayMeter::default();
        meter.observe(ms(0), at(0.0, 0.0));
        meter.observe(ms(100), Pose { frame: "map".to_owned(), ..at(0.4, 0.0) });
        assert!(meter.reading(ms(100), PATIENCE).total.abs() < 1e-9, "another frame");
    }

    #[test]
    fn an_odometry_that_only_leaps_is_not_believed_until_it_makes_sense() {
        let mut meter = WayMeter::default();
        for index in 0..100_u64 {
            meter.observe(ms(index * 100), at(if index % 2 == 0 { 0.0 } else { 30.0 }, 0.0));
        }
        assert!(!meter.reading(ms(10_000), PATIENCE).is_live);
        meter.observe(ms(10_000), at(30.2, 0.0));
        assert!(meter.reading(ms(10_000), PATIENCE).is_live);
    }

    #[test]
    fn the_way_through_a_gap_is_counted_and_messages_that_were_held_up_are_no_leaps() {
        let mut meter = WayMeter::default();
        meter.observe(ms(0), at(0.0, 0.0));
        assert!(!meter.reading(ms(6_000), PATIENCE).is_live);
        meter.observe(ms(8_000), at(6.0, 0.0));
        assert_eq!(meter.reading(ms(8_000), PATIENCE), Reading { total: 6.0, is_live: true });

        let stamped = |x: f64, stamp: u64| Pose { stamp: Some(ms(stamp)), ..at(x, 0.0) };
        let mut meter = WayMeter::default();
        meter.observe(ms(0), stamped(0.0, 500_000));
        meter.observe(ms(1), stamped(0.9, 500_900));
        assert!((meter.reading(ms(1), PATIENCE).total - 0.9).abs() < 1e-9, "by the stamps it took 0.9 s");
        meter.observe(ms(2), stamped(90.0, 900_000));
        assert!((meter.reading(ms(2), PATIENCE).total - 0.9).abs() < 1e-9, "a stamp does not excuse any leap");
    }

    #[test]
    fn positions_that_are_no_numbers_are_nothing() {
        let mut meter = WayMeter::default();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            meter.observe(ms(0), at(bad, 0.0));
        }
        assert_eq!(meter.reading(ms(0), PATIENCE), Reading::default());
    }

    #[test]
    fn energy_is_voltage_times_current_over_time() {
        let giving = Battery { voltage: 24.0, current: -10.0, ..UNMEASURED };
        let mut meter = EnergyMeter::default();
        for second in 0..=360_u64 {
            meter.observe(Duration::from_secs(second), &giving);
        }
        assert!((meter.reading(Duration::from_secs(360), PATIENCE).total - 24.0).abs() < 1e-6);
        // The other sign is charging, unless the battery says that it gives.
        for (battery, expected) in [
            (Battery { current: 10.0, ..giving }, 0.0),
            (Battery { current: 10.0, flow: Flow::Discharging, ..giving }, 24.0),
            (Battery { flow: Flow::Charging, ..giving }, 0.0),
        ] {
            let mut meter = EnergyMeter::default();
            (0..=360_u64).for_each(|second| meter.observe(Duration::from_secs(second), &battery));
            let total = meter.reading(Duration::ZERO, PATIENCE).total;
            assert!((total - expected).abs() < 1e-6, "{battery:?}: {total}");
        }
    }

    #[test]
    fn without_a_current_the_fall_of_the_charge_counts_and_charging_gives_nothing_back() {
        let held = |charge: f64| Battery { voltage: 20.0, charge, ..UNMEASURED };
        let mut meter = EnergyMeter::default();
        // 0.01 up is noise, 1.0 up is charging.
        for charge in [10.0, 9.0, 9.01, 9.0, 10.0, 9.5] {
            meter.observe(ms(0), &held(charge));
        }
        assert!((meter.reading(ms(0), PATIENCE).total - 30.0).abs() < 1e-9);
        let mut meter = EnergyMeter::default();
        for percentage in [0.5, 0.4] {
            meter.observe(ms(0), &Battery { voltage: 20.0, percentage, capacity: 10.0, ..UNMEASURED });
        }
        assert!((meter.reading(ms(0), PATIENCE).total - 20.0).abs() < 1e-9);
    }

    #[test]
    fn a_battery_that_says_nothing_of_use_is_silent() {
        for useless in [
            UNMEASURED,
            Battery { voltage: 24.0, ..UNMEASURED },
            Battery { current: -1.0, ..UNMEASURED },
            Battery { voltage: 24.0, percentage: 0.5, ..UNMEASURED },
            Battery { voltage: f64::INFINITY, current: -1.0, ..UNMEASURED },
            Battery { voltage: -24.0, current: -1.0, ..UNMEASURED },
        ] {
            let mut meter = EnergyMeter::default();
            meter.observe(ms(0), &useless);
            assert_eq!(meter.reading(ms(0), PATIENCE), Reading::default(), "{useless:?}");
        }
    }

    #[test]
    fn a_long_gap_counts_the_last_power_for_a_bounded_time() {
        let mut meter = EnergyMeter::default();
        for second in [0, 36_000] {
            meter.observe(Duration::from_secs(second), &Battery { voltage: 10.0, current: -6.0, ..UNMEASURED });
        }
        assert!((meter.reading(ms(0), PATIENCE).total - 1.0).abs() < 1e-9, "60 W for a minute");
    }

    fn any_number() -> impl Strategy<Value = f64> {
        prop_oneof![4 => -100.0..100.0_f64, 1 => any::<f64>()]
    }

    proptest! {
        #[test]
        fn whatever_is_heard_the_total_is_a_number_and_never_falls(
            heard in prop::collection::vec((any::<u64>(), any_number(), any_number(), any_number(), any::<u64>()), 0..50),
        ) {
            let (mut way, mut energy) = (WayMeter::default(), EnergyMeter::default());
            let (mut most_way, mut most_energy) = (0.0, 0.0);
            for (time, one, two, three, stamp) in heard {
                let now = ms(time);
                way.observe(now, Pose { frame: String::new(), position: [one, two, three], stamp: Some(ms(stamp)) });
                let battery = Battery {
                    voltage: one, current: two, charge: three, capacity: one, percentage: two, flow: Flow::Unknown,
                };
                energy.observe(now, &battery);
                let (way, energy) = (way.reading(now, PATIENCE).total, energy.reading(now, PATIENCE).total);
                prop_assert!(way.is_finite() && way >= most_way, "{} after {}", way, most_way);
                prop_assert!(energy.is_finite() && energy >= most_energy, "{} after {}", energy, most_energy);
                (most_way, most_energy) = (way, energy);
            }
        }
    }
}
