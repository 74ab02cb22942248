//! What is in the battery. Pure: time and way come in as values.

use crate::world::BatterySettings;

/// Whether the battery is fed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supply {
    /// From the dock.
    Dock,
    /// Not at all.
    Nothing,
}

/// What is in the battery, in percent, from 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charge {
    percent: f64,
}

impl Charge {
    /// So full.
    #[must_use]
    pub fn of_percent(percent: f64) -> Self {
        Self { percent: percent.clamp(0.0, 100.0) }
    }

    /// How full it is.
    #[must_use]
    pub fn percent(self) -> f64 {
        self.percent
    }

    /// What is left after some seconds and metres.
    #[must_use]
    pub fn after(self, settings: &BatterySettings, seconds: f64, metres: f64, supply: Supply) -> Self {
        let spent = settings.drain_percent_per_second * seconds + settings.drain_percent_per_metre * metres;
        let gained = match supply {
            Supply::Dock => settings.charge_percent_per_second * seconds,
            Supply::Nothing => 0.0,
        };
        Self::of_percent(self.percent + gained - spent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::World;

    #[test]
    fn way_and_time_drain_and_the_dock_fills() {
        let settings = BatterySettings {
            drain_percent_per_metre: 0.5,
            drain_percent_per_second: 0.1,
            charge_percent_per_second: 2.0,
            ..World::load(None).unwrap().battery
        };
        let after = |percent, seconds, metres, supply| {
            let percent = Charge::of_percent(percent).after(&settings, seconds, metres, supply).percent();
            (percent * 1e9).round() / 1e9
        };
        assert_eq!(after(50.0, 10.0, 4.0, Supply::Nothing), 47.0);
        assert_eq!(after(50.0, 10.0, 0.0, Supply::Dock), 69.0);
        assert_eq!(after(0.5, 10.0, 4.0, Supply::Nothing), 0.0, "never below empty");
        assert_eq!(after(99.9, 10.0, 0.0, Supply::Dock), 100.0, "never above full");
    }
}
