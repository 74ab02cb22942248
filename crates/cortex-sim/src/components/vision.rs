//! The vision: answers questions about what the camera sees.

use std::time::Instant;

use cortex_component::messages::std_msgs::msg::String as Text;
use cortex_component::{CallContext, Component, Effect, Failure, Latest, Method, QosProfile, Slot, ToolPhase};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{FIRST_MESSAGE_PATIENCE, SCENE_TOPIC};
use crate::questions::{self, Scene, Vocabulary};
use crate::world::World;

/// Longest description of a scene that is read, in bytes.
const MAX_SCENE_BYTES: usize = 1 << 16;

#[derive(Deserialize, JsonSchema)]
struct Question {
    /// The question, in plain words: "is there a cat?", "how many chairs do you see?", "what colour is the cup?"
    #[schemars(length(min = 1, max = 200))]
    question: String,
}

#[derive(Deserialize, JsonSchema)]
struct Thing {
    /// The thing, in plain words: "a red cup".
    #[schemars(length(min = 1, max = 100))]
    thing: String,
}

#[derive(Deserialize, JsonSchema)]
struct Things {
    /// The things, in plain words: "chairs".
    #[schemars(length(min = 1, max = 100))]
    things: String,
}

#[derive(Clone)]
struct Vision {
    vocabulary: Vocabulary,
    scene: Slot<Latest<Text>>,
}

pub(super) fn component(world: &World) -> Component {
    let things = world.rooms.iter().flat_map(|room| room.sees.iter().map(String::as_str));
    let vision = Vision { vocabulary: Vocabulary::of(things), scene: Slot::default() };
    let (questions, things, counts) = (vision.clone(), vision.clone(), vision.clone());
    Component::new("vision")
        .summary("Answers questions about what the camera sees where the robot is now, and says so when it can't tell.")
        .method(
            Method::new(
                "answer",
                "Answers a question about what is visible now: whether something is there, how many, which colour.",
            )
            .parameters::<Question>()
            .phase(ToolPhase::Both)
            .effect(Effect::Observe)
            .phrase("answer {question}")
            .phrase("answer the question {question}")
            .run(move |Question { question }, call| {
                let vision = questions.clone();
                async move { vision.say(&call, |scene, known| questions::answer(scene, known, &question)).await }
            }),
        )
        .method(
            Method::new("is_there", "Answers whether a thing is visible now.")
                .parameters::<Thing>()
                .phase(ToolPhase::Both)
                .effect(Effect::Observe)
                .phrase("is there {thing}")
                .phrase("are there {thing}")
                .phrase("do you see {thing}")
                .phrase("check whether there is {thing}")
                .phrase("check whether there are {thing}")
                .run(move |Thing { thing }, call| {
                    let vision = things.clone();
                    async move { vision.say(&call, |scene, known| questions::is_there(scene, known, &thing)).await }
                }),
        )
        .method(
            Method::new("count", "Counts the things of a kind that are visible now.")
                .parameters::<Things>()
                .phase(ToolPhase::Both)
                .effect(Effect::Observe)
                .phrase("how many {things} do you see")
                .phrase("how many {things} are there")
                .phrase("count the {things}")
                .run(move |Things { things }, call| {
                    let vision = counts.clone();
                    async move { vision.say(&call, |scene, known| questions::count(scene, known, &things)).await }
                }),
        )
        .on_configure(move |context| {
            let vision = vision.clone();
            async move {
                vision.scene.put(context.latest(SCENE_TOPIC, QosProfile::default()).await?);
                Ok(())
            }
        })
}

impl Vision {
    async fn say(
        &self,
        call: &CallContext,
        answer: impl Fn(&Scene, &Vocabulary) -> questions::Answer,
    ) -> Result<Value, Failure> {
        let scene = call.or_cancelled(self.scene()).await??;
        Ok(answer(&scene, &self.vocabulary).to_json())
    }

    /// What the camera sees from now on: what it saw before may be another room.
    async fn scene(&self) -> Result<Scene, Failure> {
        let mut latest = self.scene.get()?;
        let asked = Instant::now();
        let coming = async {
            while let Some(received) = latest.next().await {
                if received.at > asked {
                    return Some(received.message);
                }
            }
            None
        };
        let shown = tokio::time::timeout(FIRST_MESSAGE_PATIENCE, coming).await.ok().flatten();
        let shown = shown.ok_or("the camera shows nothing, so there is nothing to answer from; is it running?")?;
        if shown.data.len() > MAX_SCENE_BYTES {
            return Err("the camera shows more than can be taken in".into());
        }
        serde_json::from_str(&shown.data).map_err(|_| "the camera shows what makes no sense".into())
    }
}
