//! What meters say, as inputs of one mission. Only what makes a difference to it: a meter speaks many times a second, and
//! every input is on the tape.

use cortex_core::meter::Reading;
use cortex_core::{Input, MissionLimits};
use cortex_protocol::mission::Expense;
use futures::FutureExt as _;
use futures::future::select_all;
use tokio::sync::watch;

/// The mission is told each time when so much of a budget was spent.
const SHARE_TOLD: f64 = 0.01;
/// Where there is no budget: each metre, each watt-hour.
const AMOUNT_TOLD: f64 = 1.0;

/// Something that measures what the robot spends, for all missions.
#[derive(Debug, Clone)]
pub struct Meter {
    /// What it measures: the way or the energy.
    pub expense: Expense,
    /// What it says. A meter whose sender is gone is silent.
    pub reading: watch::Receiver<Reading>,
}

/// The meters as one mission sees them.
pub(crate) struct Meters(Vec<Measured>);

struct Measured {
    meter: Meter,
    /// What the meter said when the mission began.
    before: f64,
    limit: Option<f64>,
    told: Option<Reading>,
    /// Whether its sender is gone.
    is_gone: bool,
}

impl Meters {
    pub(crate) fn begin(meters: &[Meter], limits: &MissionLimits) -> Self {
        let measured = meters.iter().map(|meter| Measured {
            before: Some(meter.reading.borrow().total).filter(|total| total.is_finite()).unwrap_or_default(),
            limit: match meter.expense {
                Expense::Metres => limits.max_metres,
                Expense::WattHours => limits.max_watt_hours,
                Expense::ModelCalls | Expense::Tokens | Expense::Money | Expense::Seconds => None,
            },
            told: None,
            is_gone: false,
            meter: meter.clone(),
        });
        Self(measured.collect())
    }

    /// What was not told yet, however little it is.
    pub(crate) fn all(&mut self) -> Vec<Input> {
        self.0.iter_mut().filter_map(|measured| measured.news(|told, now| told != now)).collect()
    }

    /// The next that makes a difference. Never ends where there are no meters. May be dropped at any point.
    pub(crate) async fn changed(&mut self) -> Input {
        if self.0.is_empty() {
            return std::future::pending().await;
        }
        select_all(self.0.iter_mut().map(|measured| measured.changed().boxed())).await.0
    }
}

impl Measured {
    async fn changed(&mut self) -> Input {
        loop {
            let limit = self.limit;
            if let Some(input) = self.news(|told, now| makes_a_difference(told, now, limit)) {
                return input;
            }
            if self.is_gone {
                return std::future::pending().await;
            }
            self.is_gone = self.meter.reading.changed().await.is_err();
        }
    }

    /// What the meter says now, if that is worth to be told.
    fn news(&mut self, is_worth: impl Fn(Reading, Reading) -> bool) -> Option<Input> {
        let said = *self.meter.reading.borrow();
        let last = self.told.map_or(0.0, |told| told.total);
        let now = Reading {
            // What is no number can't be recorded.
            total: if said.total.is_finite() { (said.total - self.before).max(last) } else { last },
            is_live: said.is_live && !self.is_gone && said.total.is_finite(),
        };
        if self.told.is_some_and(|told| !is_worth(told, now)) {
            return None;
        }
        self.told = Some(now);
        Some(Input::Metered { expense: self.meter.expense, total: now.total, is_live: now.is_live })
    }
}

fn makes_a_difference(told: Reading, now: Reading, limit: Option<f64>) -> bool {
    let step = limit.map_or(AMOUNT_TOLD, |limit| limit * SHARE_TOLD);
    let has_reached_limit = limit.is_some_and(|limit| told.total < limit && now.total >= limit);
    told.is_live != now.is_live || has_reached_limit || now.total - told.total >= step
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(total: f64) -> (watch::Sender<Reading>, Meter) {
        let (sender, reading) = watch::channel(Reading { total, is_live: true });
        (sender, Meter { expense: Expense::Metres, reading })
    }

    fn metered(total: f64, is_live: bool) -> Input {
        Input::Metered { expense: Expense::Metres, total, is_live }
    }

    #[test]
    fn a_mission_is_told_what_was_spent_since_it_began_in_steps_that_matter() {
        let (sender, meter) = meter(100.0);
        let limits = MissionLimits { max_metres: Some(10.0), ..MissionLimits::default() };
        let mut meters = Meters::begin(&[meter], &limits);
        assert_eq!(meters.all(), [metered(0.0, true)]);
        assert_eq!(meters.all(), []);
        sender.send_replace(Reading { total: 100.0625, is_live: true });
        assert!(meters.changed().now_or_never().is_none(), "less than a hundredth");
        assert_eq!(meters.all().len(), 1, "unless everything is asked for");
        sender.send_replace(Reading { total: 105.0, is_live: true });
        assert_eq!(meters.changed().now_or_never().unwrap(), metered(5.0, true));
        sender.send_replace(Reading { total: 109.75, is_live: true });
        assert_eq!(meters.changed().now_or_never().unwrap(), metered(9.75, true));
        sender.send_replace(Reading { total: 110.0, is_live: true });
        assert_eq!(meters.changed().now_or_never().unwrap(), metered(10.0, true), "the whole is told at once");
        sender.send_replace(Reading { total: f64::NAN, is_live: true });
        assert_eq!(meters.changed().now_or_never().unwrap(), metered(10.0, false), "what is no number is silence");
        sender.send_replace(Reading { total: 110.0, is_live: true });
        assert_eq!(meters.changed().now_or_never().unwrap(), metered(10.0, true));
        drop(sender);
        assert_eq!(meters.changed().now_or_never().unwrap(), metered(10.0, false), "so is a meter that is gone");
        assert!(meters.changed().now_or_never().is_none(), "which is told once");
    }
}
