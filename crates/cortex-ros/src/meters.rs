//! Measures what the robot spends: hears its odometry and its battery, and keeps the sums of `cortex_core::meter`.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::meter::{Battery, EnergyMeter, Flow, Pose, Reading, WayMeter};
use cortex_interfaces::{Interfaces, MessageInterface, WriteOptions};
use cortex_ros_client::dynamic::{Endpoints, Subscription};
use cortex_ros_client::load_interface::load_interface;
use cortex_ros_client::{QosProfile, RosError};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

const ODOMETRY: &str = "nav_msgs/msg/Odometry";
const BATTERY: &str = "sensor_msgs/msg/BatteryState";
/// How long the next attempt to hear a topic waits after one that failed.
const PAUSE: Duration = Duration::from_secs(5);

/// Measures the way by the odometry on this topic (`nav_msgs/msg/Odometry`), in metres. Must be called within a tokio
/// runtime. Ends when nobody reads any more, or the endpoints are shut down.
#[must_use]
pub fn way(endpoints: &Endpoints, interfaces: &Arc<Interfaces>, topic: &str, patience: Duration) -> Measured {
    let mut meter = WayMeter::default();
    start(endpoints, interfaces, ODOMETRY, topic, patience, move |now, message| {
        if let Some(message) = message.and_then(pose) {
            meter.observe(now, message);
        }
        meter.reading(now, patience)
    })
}

/// Measures the energy that is taken from the battery on this topic (`sensor_msgs/msg/BatteryState`), in watt-hours. As
/// [`way`].
#[must_use]
pub fn energy(endpoints: &Endpoints, interfaces: &Arc<Interfaces>, topic: &str, patience: Duration) -> Measured {
    let mut meter = EnergyMeter::default();
    start(endpoints, interfaces, BATTERY, topic, patience, move |now, message| {
        if let Some(message) = message {
            meter.observe(now, &battery(message));
        }
        meter.reading(now, patience)
    })
}

/// What a meter says. Silent until the first message, and when none that can be used came for its patience.
pub type Measured = watch::Receiver<Reading>;

/// Hands each message to the meter, and nothing when one is overdue.
fn start(
    endpoints: &Endpoints,
    interfaces: &Arc<Interfaces>,
    type_name: &'static str,
    topic: &str,
    patience: Duration,
    mut measure: impl FnMut(Duration, Option<&Value>) -> Reading + Send + 'static,
) -> Measured {
    let (sender, reading) = watch::channel(Reading::default());
    let (endpoints, interfaces, topic) = (endpoints.clone(), Arc::clone(interfaces), topic.to_owned());
    tokio::spawn(async move {
        let began = Instant::now();
        loop {
            match hear(&endpoints, &interfaces, type_name, &topic).await {
                Ok((mut subscription, interface)) => {
                    let mut is_live = false;
                    loop {
                        let message = tokio::select! {
                            () = sender.closed() => return,
                            message = tokio::time::timeout(patience, subscription.next()) => message,
                        };
                        let said = match message {
                            Ok(Some(message)) => Some(message.view().to_json(&WriteOptions::exact()).value),
                            Ok(None) => return,
                            Err(_) => None,
                        };
                        // Who began to publish since may mean something else by the type.
                        if !is_live && let Err(problem) = endpoints.check_topic(&topic, &interface) {
                            tracing::warn!("{topic} is not measured: {problem}");
                            tokio::time::sleep(PAUSE).await;
                            continue;
                        }
                        let now = measure(began.elapsed(), said.as_ref());
                        if now.is_live != is_live {
                            is_live = now.is_live;
                            tell(&topic, is_live);
                        }
                        sender.send_if_modified(|reading| std::mem::replace(reading, now) != now);
                    }
                }
                Err(RosError::ShutDown) => return,
                Err(problem) => tracing::warn!("{topic} can't be heard: {problem}"),
            }
            tokio::select! {
                () = sender.closed() => return,
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    });
    reading
}

fn tell(topic: &str, is_live: bool) {
    if is_live {
        tracing::info!("{topic} is measured");
    } else {
        tracing::warn!("nothing that can be measured comes on {topic}");
    }
}

async fn hear(
    endpoints: &Endpoints,
    interfaces: &Arc<Interfaces>,
    type_name: &'static str,
    topic: &str,
) -> Result<(Subscription, Arc<MessageInterface>), RosError> {
    let interface = load_interface(interfaces, move |interfaces| interfaces.message(type_name)).await?;
    let subscription = endpoints.subscribe(topic, &interface, QosProfile::BEST_EFFORT).await?;
    Ok((subscription, interface))
}

/// None for what has no position.
fn pose(message: &Value) -> Option<Pose> {
    let position = message.pointer("/pose/pose/position")?;
    let at = |axis: &str| position.get(axis).and_then(Value::as_f64);
    let stamp = message.pointer("/header/stamp").and_then(|stamp| {
        let (seconds, nanoseconds) = (stamp.get("sec")?.as_u64()?, stamp.get("nanosec")?.as_u64()?);
        let stamp = Duration::from_secs(seconds).checked_add(Duration::from_nanos(nanoseconds))?;
        // Zero is what who does not stamp writes.
        (!stamp.is_zero()).then_some(stamp)
    });
    Some(Pose {
        frame: message.pointer("/header/frame_id").and_then(Value::as_str).unwrap_or_default().to_owned(),
        position: [at("x")?, at("y")?, at("z")?],
        stamp,
    })
}

fn battery(message: &Value) -> Battery {
    // What is no number is not measured: NaN, and an infinity in the words of JSON.
    let number = |field: &str| message.get(field).and_then(Value::as_f64).unwrap_or(f64::NAN);
    let is_present = message.get("present").and_then(Value::as_bool).unwrap_or(true);
    let or_design = |capacity: f64| if capacity > 0.0 { capacity } else { number("design_capacity") };
    Battery {
        voltage: if is_present { number("voltage") } else { f64::NAN },
        current: number("current"),
        charge: number("charge"),
        capacity: or_design(number("capacity")),
        percentage: number("percentage"),
        flow: match message.get("power_supply_status").and_then(Value::as_u64) {
            // POWER_SUPPLY_STATUS_CHARGING and _FULL.
            Some(1 | 4) => Flow::Charging,
            // POWER_SUPPLY_STATUS_DISCHARGING.
            Some(2) => Flow::Discharging,
            _ => Flow::Unknown,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_position_is_read_with_its_stamp_and_frame_and_what_is_no_number_is_none() {
        let message = |x: Value, sec: i64| {
            json!({
                "header": {"stamp": {"sec": sec, "nanosec": 500_000_000}, "frame_id": "odom"},
                "pose": {"pose": {"position": {"x": x, "y": 2.0, "z": 0.0}}},
            })
        };
        let stamp = Some(Duration::from_millis(7_500));
        let read = Pose { frame: "odom".to_owned(), position: [1.0, 2.0, 0.0], stamp };
        assert_eq!(pose(&message(json!(1.0), 7)), Some(read));
        assert_eq!(pose(&message(json!("NaN"), 7)), None);
        assert_eq!(pose(&message(json!(1.0), -7)).unwrap().stamp, None);
        assert_eq!(pose(&json!({})), None);
    }

    #[test]
    fn a_battery_is_read_and_one_that_is_not_there_measures_nothing() {
        let message = json!({
            "voltage": 24.0, "current": "NaN", "charge": 5.0, "capacity": "NaN", "design_capacity": 10.0,
            "percentage": 0.5, "power_supply_status": 2, "present": true,
        });
        let read = battery(&message);
        assert_eq!((read.voltage, read.charge, read.capacity, read.flow), (24.0, 5.0, 10.0, Flow::Discharging));
        assert!(read.current.is_nan());
        let mut absent = message;
        absent["present"] = json!(false);
        assert!(battery(&absent).voltage.is_nan());
    }
}
