//! The camera: reports what is visible from where the robot is, and what is not there any more.

use std::sync::Arc;
use std::time::Duration;

use cortex_component::messages::cortex_msgs::msg::{Observation, Observations};
use cortex_component::messages::sensor_msgs::msg::Image;
use cortex_component::messages::std_msgs::msg::{Header, String as Text};
use cortex_component::{
    Component, ComponentContext, Effect, Failure, Latest, Method, NoArguments, Publisher, QosProfile, Slot, ToolPhase,
};
use serde_json::{Value, json};

use super::MOVED_TOPIC;
use super::place::{PlaceFinder, room_at};
use crate::moved::Moved;
use crate::picture::{self, Scenery};
use crate::questions::Scene;
use crate::world::{Room, World};

/// How often it shows what it sees.
const TICK: Duration = Duration::from_millis(100);
/// How often it tells what it observed of things.
const LOOK: Duration = Duration::from_secs(1);
/// How often it sends a picture while somebody looks.
const FRAME: Duration = Duration::from_millis(250);

pub(super) fn component(world: Arc<World>) -> Component {
    let scenery = Arc::new(Scenery::of(&world));
    let eye = Eye { finder: PlaceFinder::new(Arc::clone(&world)), world, moved: Slot::default() };
    let (scene, image): (Slot<Publisher<Text>>, Slot<Publisher<Image>>) = (Slot::default(), Slot::default());
    let looks: Slot<Publisher<Observations>> = Slot::default();
    let configured = (eye.clone(), scene.clone(), image.clone(), looks.clone());
    let activated = (eye.clone(), scene, image, looks, scenery);
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
                    let eye = eye.clone();
                    async move { Ok(view(&eye.seen_in(&call.or_cancelled(eye.finder.room()).await??))) }
                }),
        )
        .on_configure(move |context| {
            let (eye, scene, image, looks) = configured.clone();
            async move {
                eye.configure(&context).await?;
                // Who looks wants the latest.
                image.put(context.publisher("~/image", QosProfile::default().keep_last(1)).await?);
                scene.put(context.publisher("~/scene", QosProfile::default()).await?);
                looks.put(context.publisher("~/observations", QosProfile::default()).await?);
                Ok(())
            }
        })
        .on_activate(move |context| {
            let (eye, scene, image, looks, scenery) = activated.clone();
            async move {
                context.spawn_while_active("filming", film(context.clone(), eye.finder.clone(), image.get()?, scenery));
                context.spawn_while_active("observing", observe(context.clone(), eye.clone(), looks.get()?));
                context.spawn_while_active("showing", show(eye, scene.get()?));
                Ok(())
            }
        })
}

/// What sees: where the robot is, and what is there.
#[derive(Clone)]
struct Eye {
    finder: PlaceFinder,
    world: Arc<World>,
    moved: Slot<Latest<Text>>,
}

impl Eye {
    async fn configure(&self, context: &ComponentContext) -> Result<(), Failure> {
        self.moved.put(context.latest(MOVED_TOPIC, QosProfile::TRANSIENT_LOCAL).await?);
        self.finder.configure(context).await
    }

    /// What people have moved since the world began.
    fn moved(&self) -> Moved {
        let told = self.moved.get().ok().and_then(|moved| moved.last());
        told.map(|told| Moved::read(&told.message.data)).unwrap_or_default()
    }

    fn seen_in(&self, room: &Room) -> Scene {
        Scene { place: room.name.clone(), sees: self.moved().things_in(&self.world, &room.name) }
    }

    /// What is to be told of the room that the robot is in; nothing between rooms. What is at home somewhere and is not here
    /// was looked for in all of the room.
    fn look(&self) -> Option<Vec<Observation>> {
        let room = room_at(&self.world, self.finder.pose_now()?.position);
        let (here, all) = (self.moved().things_in(&self.world, &room), self.moved().all(&self.world));
        let name = |thing: &String| thing.split_once(' ').map_or(thing.as_str(), |(_, name)| name).to_owned();
        let is = |thing: &String| Observation {
            claim: Observation::IS as u8,
            subject: name(thing),
            value: room.clone(),
            confidence: 1.0,
            ..Observation::default()
        };
        let is_not = |thing: &String| Observation {
            claim: Observation::NOT_THERE as u8,
            subject: name(thing),
            place: room.clone(),
            confidence: 1.0,
            ..Observation::default()
        };
        let missing = all.iter().filter(|thing| !here.contains(thing)).map(is_not);
        (!room.is_empty()).then(|| here.iter().map(is).chain(missing).collect())
    }
}

/// Tells what it observes, over and over; nothing while it is not known where the robot is, or between rooms.
async fn observe(context: ComponentContext, eye: Eye, looks: Publisher<Observations>) {
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut picture = 0;
    loop {
        ticks.tick().await;
        picture += 1;
        let Some(observations) = eye.look() else { continue };
        looks.publish(&Observations {
            stamp: context.now(),
            frame: String::new(),
            sensor: "camera".to_owned(),
            picture,
            observations,
        });
    }
}

/// Shows what it sees, over and over; nothing while it is not known where the robot is.
async fn show(eye: Eye, scene: Publisher<Text>) {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let seen = eye.finder.room_now().and_then(|room| serde_json::to_string(&eye.seen_in(&room)).ok());
        if let Some(data) = seen {
            scene.publish(&Text { data });
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

fn view(scene: &Scene) -> Value {
    json!({"place": scene.place, "sees": scene.sees, "text": scene.in_words()})
}
