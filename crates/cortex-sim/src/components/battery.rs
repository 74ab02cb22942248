//! The battery: drains with time and way, charges at the dock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cortex_component::messages::builtin_interfaces::msg::Time;
use cortex_component::messages::nav_msgs::msg::Odometry;
use cortex_component::messages::sensor_msgs::msg::BatteryState;
use cortex_component::messages::std_msgs::msg::Header;
use cortex_component::{
    Component, ComponentContext, Effect, Failure, Latest, Method, NoArguments, Parameter, ParameterValue, Publisher,
    QosProfile, Slot, ToolPhase,
};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::geometry::position;
use super::{BATTERY_TOPIC, ODOMETRY_TOPIC, SILENCE, TIME_SCALE, time_scale};
use crate::charge::{Charge, Supply};
use crate::world::World;

/// How often the state is published.
const TICK: Duration = Duration::from_millis(500);
/// How near the robot must stand to the middle of the dock's room, in metres.
const DOCK_RADIUS_M: f64 = 0.3;
/// Slower than this, in metres per second, the robot stands.
const STANDING_MPS: f64 = 1e-3;
/// At least this full counts as full, in percent.
const FULL_PERCENT: f64 = 99.9;

const PERCENT: &str = "percent";

#[derive(Clone)]
struct Battery {
    world: Arc<World>,
    charge: Arc<watch::Sender<(Charge, Supply)>>,
    publisher: Slot<Publisher<BatteryState>>,
    odometry: Slot<Latest<Odometry>>,
}

pub(super) fn component(world: Arc<World>) -> Component {
    let start = Charge::of_percent(world.battery.start_percent);
    let battery = Battery {
        charge: Arc::new(watch::Sender::new((start, Supply::Nothing))),
        publisher: Slot::default(),
        odometry: Slot::default(),
        world,
    };
    let (told, configured, activated) = (battery.clone(), battery.clone(), battery.clone());
    Component::new("battery")
        .summary("The robot's battery. It drains as the robot drives and charges at the dock.")
        .parameter(
            Parameter::double_within(PERCENT, start.percent(), 0.0..=100.0)
                .describe("Setting it puts the battery at that many percent."),
        )
        .parameter(time_scale(&battery.world))
        .method(
            Method::new("level", "Tells how full the battery is, in percent, and whether it is charging.")
                .phase(ToolPhase::Both)
                .effect(Effect::Observe)
                .phrase("how full is the battery")
                .phrase("what is the battery level")
                .phrase("check the battery")
                .phrase("battery level")
                .phrase("battery status")
                .run(move |_: NoArguments, _| std::future::ready(Ok(told.level()))),
        )
        .on_configure(move |context| {
            let battery = configured.clone();
            async move { battery.configure(&context).await }
        })
        .on_activate(move |context| {
            let battery = activated.clone();
            async move {
                let publisher = battery.publisher.get()?;
                let odometry = battery.odometry.get()?;
                context.spawn_while_active("odometer", battery.clone().count_way(odometry));
                context.spawn_while_active("discharge", battery.drain(context.clone(), publisher));
                Ok(())
            }
        })
}

impl Battery {
    async fn configure(&self, context: &ComponentContext) -> Result<(), Failure> {
        self.publisher.put(context.publisher(BATTERY_TOPIC, QosProfile::default()).await?);
        self.odometry.put(context.latest(ODOMETRY_TOPIC, QosProfile::default()).await?);
        let percent = context.parameters().double(PERCENT)?;
        self.charge.send_modify(|(charge, _)| *charge = Charge::of_percent(percent));
        Ok(())
    }

    fn level(&self) -> Value {
        let (charge, supply) = *self.charge.borrow();
        let percent = (charge.percent() * 10.0).round() / 10.0;
        let charging = supply == Supply::Dock && charge.percent() < FULL_PERCENT;
        let more = if charging { " and charging" } else { "" };
        json!({
            "percent": percent,
            "charging": charging,
            "text": format!("The battery is {} percent full{more}.", percent.round()),
        })
    }

    /// Takes from the charge what each driven piece of the way costs, and notices the dock.
    async fn count_way(self, mut odometry: Latest<Odometry>) {
        let dock = self.world.room(&self.world.dock).map(|room| room.position());
        let mut last = None;
        while let Some(received) = odometry.next().await {
            let here = position(&received.message);
            let driven_m = last.map_or(0.0, |last: crate::world::Position| here.distance_m(last));
            last = Some(here);
            let stands = received.message.twist.twist.linear.x.abs() < STANDING_MPS;
            let docked = stands && dock.is_some_and(|dock| dock.distance_m(here) <= DOCK_RADIUS_M);
            let supply = if docked { Supply::Dock } else { Supply::Nothing };
            self.charge.send_modify(|(charge, supplied)| {
                *charge = charge.after(&self.world.battery, 0.0, driven_m, Supply::Nothing);
                *supplied = supply;
            });
        }
    }

    /// Drains and charges with time, and publishes.
    async fn drain(self, context: ComponentContext, publisher: Publisher<BatteryState>) {
        let mut ticks = tokio::time::interval(TICK);
        let mut parameters = context.parameters().watch();
        let mut wanted = parameters.borrow_and_update().get(PERCENT).cloned();
        let mut last = Instant::now();
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                changed = parameters.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let now_wanted = parameters.borrow_and_update().get(PERCENT).cloned();
                    if let Some(ParameterValue::Double(percent)) = now_wanted
                        && now_wanted != wanted
                    {
                        self.charge.send_modify(|(charge, _)| *charge = Charge::of_percent(percent));
                        wanted = now_wanted;
                    }
                }
            }
            let seconds = last.elapsed().as_secs_f64() * context.parameters().double(TIME_SCALE).unwrap_or(1.0);
            last = Instant::now();
            let silent = self.odometry.get().is_ok_and(|odometry| odometry.fresh(SILENCE).is_none());
            self.charge.send_modify(|(charge, supply)| {
                if silent {
                    // Nobody knows where the robot is, so nobody says that it is docked.
                    *supply = Supply::Nothing;
                }
                *charge = charge.after(&self.world.battery, seconds, 0.0, *supply);
            });
            let (charge, supply) = *self.charge.borrow();
            publisher.publish(&self.message(charge, supply, context.now()));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the message's numbers are f32")]
    fn message(&self, charge: Charge, supply: Supply, stamp: Time) -> BatteryState {
        let settings = &self.world.battery;
        let share = charge.percent() / 100.0;
        let status = match supply {
            Supply::Dock if charge.percent() >= FULL_PERCENT => BatteryState::POWER_SUPPLY_STATUS_FULL as u8,
            Supply::Dock => BatteryState::POWER_SUPPLY_STATUS_CHARGING as u8,
            Supply::Nothing => BatteryState::POWER_SUPPLY_STATUS_DISCHARGING as u8,
        };
        BatteryState {
            header: Header { stamp, frame_id: "base_link".to_owned() },
            voltage: settings.voltage_v as f32,
            temperature: f32::NAN,
            current: f32::NAN,
            charge: (settings.capacity_ah * share) as f32,
            capacity: settings.capacity_ah as f32,
            design_capacity: settings.capacity_ah as f32,
            percentage: share as f32,
            power_supply_status: status,
            power_supply_health: BatteryState::POWER_SUPPLY_HEALTH_GOOD as u8,
            power_supply_technology: BatteryState::POWER_SUPPLY_TECHNOLOGY_LION as u8,
            present: true,
            ..BatteryState::default()
        }
    }
}
