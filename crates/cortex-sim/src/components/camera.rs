//! The camera: reports what is visible from where the robot is.

use std::sync::Arc;
use std::time::Duration;

use cortex_component::messages::std_msgs::msg::String as Text;
use cortex_component::{Component, Effect, Method, NoArguments, Publisher, QosProfile, Slot, ToolPhase};
use serde_json::{Value, json};

use super::place::PlaceFinder;
use crate::questions::Scene;
use crate::world::{Room, World};

/// How often it shows what it sees.
const TICK: Duration = Duration::from_millis(100);

pub(super) fn component(world: Arc<World>) -> Component {
    let finder = PlaceFinder::new(world);
    let scene: Slot<Publisher<Text>> = Slot::default();
    let (configured, activated) = ((finder.clone(), scene.clone()), (finder.clone(), scene));
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
            let (finder, scene) = configured.clone();
            async move {
                finder.configure(&context).await?;
                scene.put(context.publisher("~/scene", QosProfile::default()).await?);
                Ok(())
            }
        })
        .on_activate(move |context| {
            let (finder, scene) = activated.clone();
            async move {
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

fn seen(room: &Room) -> Scene {
    Scene { place: room.name.clone(), sees: room.sees.clone() }
}

fn view(room: &Room) -> Value {
    json!({"place": room.name, "sees": room.sees, "text": seen(room).in_words()})
}
