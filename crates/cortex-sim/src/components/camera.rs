//! The camera: reports what is visible from where the robot is.

use std::sync::Arc;

use cortex_component::{Component, Effect, Method, NoArguments, ToolPhase};
use serde_json::{Value, json};

use super::place::PlaceFinder;
use crate::world::{Room, World};

pub(super) fn component(world: Arc<World>) -> Component {
    let finder = PlaceFinder::new(world);
    let configured = finder.clone();
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
            let finder = configured.clone();
            async move { finder.configure(&context).await }
        })
}

fn view(room: &Room) -> Value {
    let text = match room.sees.split_last() {
        None => format!("I see nothing special in the {}.", room.name),
        Some((only, [])) => format!("I see {only}."),
        Some((last, others)) => format!("I see {} and {last}.", others.join(", ")),
    };
    json!({"place": room.name, "sees": room.sees, "text": text})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_reads_as_people_speak() {
        let mut room = World::load(None).unwrap().room("kitchen").unwrap().clone();
        let text = |room: &Room| view(room).get("text").unwrap().as_str().unwrap().to_owned();
        assert_eq!(text(&room), "I see a kettle, a table and a red cup.");
        room.sees.truncate(2);
        assert_eq!(text(&room), "I see a kettle and a table.");
        room.sees.truncate(1);
        assert_eq!(text(&room), "I see a kettle.");
        room.sees.clear();
        assert_eq!(text(&room), "I see nothing special in the kitchen.");
    }
}
