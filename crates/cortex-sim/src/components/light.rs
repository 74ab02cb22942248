//! The lights of the rooms.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use cortex_component::messages::std_msgs::msg;
use cortex_component::{CallContext, Component, Effect, Failure, Method, Publisher, QosProfile, Slot, ToolPhase};
use serde::Deserialize;
use serde_json::{Value, json};

use super::place::PlaceFinder;
use crate::world::{LightSwitch, World};

/// Means the lights of every room.
const EVERYWHERE: &str = "everywhere";

#[derive(Deserialize)]
struct Which {
    /// A room or [`EVERYWHERE`]. Left out: the room where the robot is.
    room: Option<String>,
}

/// The rooms with a light, and whether it is on.
type Lights = BTreeMap<String, bool>;

#[derive(Clone)]
struct Light {
    finder: PlaceFinder,
    lights: Arc<Mutex<Lights>>,
    state: Slot<Publisher<msg::String>>,
}

pub(super) fn component(world: Arc<World>) -> Component {
    let lights = world
        .rooms
        .iter()
        .filter_map(|room| Some((room.name.clone(), room.light? == LightSwitch::On)))
        .collect::<Lights>();
    let schema = which_schema(&lights);
    let light = Light { finder: PlaceFinder::new(world), lights: Arc::new(Mutex::new(lights)), state: Slot::default() };
    let configured = light.clone();
    Component::new("light")
        .summary("The lights of the rooms. Without a room, the light of the room where the robot is.")
        .method(light.switch("turn_on", "Turns a light on.", LightSwitch::On, &schema))
        .method(light.switch("turn_off", "Turns a light off.", LightSwitch::Off, &schema))
        .method(light.is_on(schema))
        .on_configure(move |context| {
            let light = configured.clone();
            async move {
                light.finder.configure(&context).await?;
                let qos = QosProfile::default().keep_last(1).transient_local();
                light.state.put(context.publisher("~/state", qos).await?);
                light.publish()
            }
        })
}

fn which_schema(lights: &Lights) -> Value {
    let rooms: Vec<&str> = lights.keys().map(String::as_str).chain([EVERYWHERE]).collect();
    json!({
        "type": "object",
        "properties": {"room": {
            "type": "string",
            "enum": rooms,
            "description": "The room of the light. Left out: the room where the robot is.",
        }},
        "additionalProperties": false,
    })
}

impl Light {
    fn switch(&self, name: &str, description: &str, to: LightSwitch, schema: &Value) -> Method {
        let light = self.clone();
        let word = if to == LightSwitch::On { "on" } else { "off" };
        Method::new(name, description)
            .parameters_schema::<Which>(schema.clone())
            .effect(Effect::Act)
            .phrase(format!("turn {word} the light"))
            .phrase(format!("turn the light {word}"))
            .phrase(format!("switch {word} the light"))
            .phrase(format!("switch the light {word}"))
            .phrase(format!("turn {word} the light in {{room}}"))
            .phrase(format!("turn {word} the {{room}} light"))
            .run(move |which, call| {
                let light = light.clone();
                async move {
                    let rooms = light.rooms(which, &call).await?;
                    light.set(&rooms, to == LightSwitch::On);
                    light.publish()?;
                    let verb = if rooms.len() == 1 { "is" } else { "are" };
                    Ok(format!("{} {verb} {word}", subject(&rooms)))
                }
            })
    }

    fn is_on(&self, schema: Value) -> Method {
        let light = self.clone();
        Method::new("is_on", "Tells whether a light is on.")
            .parameters_schema::<Which>(schema)
            .phase(ToolPhase::Both)
            .effect(Effect::Observe)
            .phrase("is the light on")
            .phrase("is the light off")
            .phrase("is the light on in {room}")
            .phrase("is the {room} light on")
            .run(move |which, call| {
                let light = light.clone();
                async move {
                    let rooms = light.rooms(which, &call).await?;
                    let lights = light.all();
                    let lit = |room: &String| lights.get(room) == Some(&true);
                    let (on, off): (Vec<String>, Vec<String>) = rooms.into_iter().partition(lit);
                    let text = match (on.as_slice(), off.as_slice()) {
                        ([], off) => format!("{} {} off.", subject(off), if off.len() == 1 { "is" } else { "are" }),
                        ([_], _) => format!("{} is on.", subject(&on)),
                        _ => format!("{} are on.", subject(&on)),
                    };
                    Ok(json!({"on": on, "off": off, "text": text}))
                }
            })
    }

    /// The rooms that are meant, all with a light.
    async fn rooms(&self, which: Which, call: &CallContext) -> Result<Vec<String>, Failure> {
        let lights = self.all();
        let room = match which.room {
            Some(room) if room == EVERYWHERE => return Ok(lights.into_keys().collect()),
            Some(room) => room,
            None => call.or_cancelled(self.finder.room()).await??.name,
        };
        if lights.contains_key(&room) {
            Ok(vec![room])
        } else {
            let known: Vec<String> = lights.into_keys().collect();
            Err(format!("the {room} has no light that can be switched; there are lights in: {}", known.join(", "))
                .into())
        }
    }

    fn all(&self) -> Lights {
        self.lights.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, rooms: &[String], on: bool) {
        let mut lights = self.lights.lock().unwrap_or_else(PoisonError::into_inner);
        for room in rooms {
            lights.insert(room.clone(), on);
        }
    }

    fn publish(&self) -> Result<(), Failure> {
        let data = serde_json::to_string(&self.all()).map_err(|problem| problem.to_string())?;
        self.state.get()?.publish(&msg::String { data });
        Ok(())
    }
}

/// The lights of those rooms as the beginning of a sentence.
fn subject(rooms: &[String]) -> String {
    match rooms {
        [] => "No light".to_owned(),
        [room] => format!("The light in the {room}"),
        [others @ .., last] => format!("The lights in the {} and the {last}", others.join(", the ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lights_are_named_as_people_speak() {
        let rooms = |names: &[&str]| subject(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(rooms(&["kitchen"]), "The light in the kitchen");
        assert_eq!(rooms(&["kitchen", "hall"]), "The lights in the kitchen and the hall");
        assert_eq!(rooms(&["kitchen", "hall", "office"]), "The lights in the kitchen, the hall and the office");
    }
}
