//! The localization: where the robot is on the map, from its odometry.

use std::sync::Arc;

use cortex_component::messages::geometry_msgs::msg::{PoseWithCovariance, PoseWithCovarianceStamped};
use cortex_component::messages::nav_msgs::msg::Odometry;
use cortex_component::messages::std_msgs::msg::{Header, String as Text};
use cortex_component::{Component, ComponentContext, Health, Latest, Publisher, QosProfile, Slot};

use super::geometry::{MAP_FRAME, pose};
use super::place::room_at;
use super::{ODOMETRY_TOPIC, POSE_TOPIC, SILENCE};
use crate::world::World;

#[derive(Clone)]
struct Localization {
    world: Arc<World>,
    odometry: Slot<Latest<Odometry>>,
    pose: Slot<Publisher<PoseWithCovarianceStamped>>,
    place: Slot<Publisher<Text>>,
}

pub(super) fn component(world: Arc<World>) -> Component {
    let localization = Localization { world, odometry: Slot::default(), pose: Slot::default(), place: Slot::default() };
    let (configured, activated) = (localization.clone(), localization);
    Component::new("localization")
        .summary("Tells the other parts where the robot is on the map. It has nothing that could be called.")
        .on_configure(move |context| {
            let localization = configured.clone();
            async move {
                let latest = context.latest(ODOMETRY_TOPIC, QosProfile::default()).await?;
                localization.odometry.put(latest);
                localization.pose.put(context.publisher(POSE_TOPIC, QosProfile::default()).await?);
                localization.place.put(context.publisher("~/place", QosProfile::default()).await?);
                Ok(())
            }
        })
        .on_activate(move |context| {
            let localization = activated.clone();
            async move {
                let (pose, place) = (localization.pose.get()?, localization.place.get()?);
                let odometry = localization.odometry.get()?;
                let locating = localization.locate(context.clone(), odometry, pose, place);
                context.spawn_while_active("locating", locating);
                Ok(())
            }
        })
}

impl Localization {
    /// Says where the robot is as often as the odometry does, and nothing while that is silent.
    async fn locate(
        self,
        context: ComponentContext,
        mut odometry: Latest<Odometry>,
        poses: Publisher<PoseWithCovarianceStamped>,
        places: Publisher<Text>,
    ) {
        loop {
            let Ok(received) = tokio::time::timeout(SILENCE, odometry.next()).await else {
                let problem = format!("no odometry for {} s, so it is not known where the robot is", SILENCE.as_secs());
                context.health().report(ODOMETRY_TOPIC, Health::System, problem);
                continue;
            };
            let Some(received) = received else { return };
            let Some(here) = pose(&received.message.pose.pose) else {
                context.health().report(ODOMETRY_TOPIC, Health::System, "the odometry says what is no place");
                continue;
            };
            context.health().clear(ODOMETRY_TOPIC);
            let reckoned = &received.message.pose;
            poses.publish(&PoseWithCovarianceStamped {
                header: Header { stamp: context.now(), frame_id: MAP_FRAME.to_owned() },
                pose: PoseWithCovariance { pose: reckoned.pose.clone(), covariance: reckoned.covariance.clone() },
            });
            places.publish(&Text { data: room_at(&self.world, here.position) });
        }
    }
}
