//! The camera: reports what is visible from where the robot is.

use std::sync::Arc;
use std::time::Duration;

use cortex_component::messages::sensor_msgs::msg::Image;
use cortex_component::messages::std_msgs::msg::{Header, String as Text};
use cortex_component::{
    Component, ComponentContext, Effect, Method, NoArguments, Publisher, QosProfile, Slot, ToolPhase,
};
use serde_json::{Value, json};

use super::place::PlaceFinder;
use crate::picture::{self, Scenery};
use crate::questions::Scene;
use crate::world::{Room, World};

/// How often it shows what it sees.
const TICK: Duration = Duration::from_millis(100);
/// How often it sends a picture while somebody looks.
const FRAME: Duration = Duration::from_millis(250);

pub(super) fn component(world: Arc<World>) -> Component {
    let scenery = Arc::new(Scenery::of(&world));
    let finder = PlaceFinder::new(world);
    let (scene, image): (Slot<Publisher<Text>>, Slot<Publisher<Image>>) = (Slot::default(), Slot::default());
    let configured = (finder.clone(), scene.clone(), image.clone());
    let activated = (finder.clone(), scene, image, scenery);
    Component::new("camera")
        .summary("The robot's camera. It sees what is in the room where the robot is.")
        .method(
            Method::new("look", "Looks around and tells what is visible from where the robot is now.")
                .phase(ToolPhase::Both)
                .effect(Effect::Observe)
                .phrase("look around")
                .phrase("look")
                .phrase("what do you see")
                .phrase("what can you see")
                .run(move |_: NoArguments, call| {
                    let finder = finder.clone();
                    async move { Ok(view(&call.or_cancelled(finder.room()).await??)) }
                }),
        )
        .on_configure(move |context| {
            let (finder, scene, image) = configured.clone();
            async move {
                finder.configure(&context).await?;
                // Who looks wants the latest.
                image.put(context.publisher("~/image", QosProfile::default().keep_last(1)).await?);
                scene.put(context.publisher("~/scene", QosProfile::default()).await?);
                Ok(())
            }
        })
        .on_activate(move |context| {
            let (finder, scene, image, scenery) = activated.clone();
            async move {
                context.spawn_while_active("filming", film(context.clone(), finder.clone(), image.get()?, scenery));
                context.spawn_while_active("showing", show(finder, scene.get()?));
                Ok(())
            }
        })
}

/// Shows what it sees, over and over; nothing while it is not known where the robot is.
async fn show(finder: PlaceFinder, scene: Publisher<Text>) {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Some(shown) = finder.room_now().and_then(|room| serde_json::to_string(&seen(&room)).ok()) {
            scene.publish(&Text { data: shown });
        }
    }
}

/// Publishes pictures while somebody looks; none while it is not known where the robot is.
async fn film(context: ComponentContext, finder: PlaceFinder, images: Publisher<Image>, scenery: Arc<Scenery>) {
    let mut ticks = tokio::time::interval(FRAME);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if !images.is_read() {
            continue;
        }
        let Some(eye) = finder.pose_now() else { continue };
        let scenery = Arc::clone(&scenery);
        let Ok(data) = tokio::task::spawn_blocking(move || scenery.seen_from(eye)).await else { return };
        images.publish(&Image {
            header: Header { stamp: context.now(), frame_id: "camera".to_owned() },
            width: picture::WIDTH,
            height: picture::HEIGHT,
            encoding: "rgb8".to_owned(),
            step: picture::WIDTH * picture::BYTES_PER_PIXEL,
            is_bigendian: 0,
            data,
        });
    }
}

fn seen(room: &Room) -> Scene {
    Scene { place: room.name.clone(), sees: room.sees.clone() }
}

fn view(room: &Room) -> Value {
    json!({"place": room.name, "sees": room.sees, "text": seen(room).in_words()})
}
