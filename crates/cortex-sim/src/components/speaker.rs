//! The speaker: says things aloud where `espeak-ng` is there, else takes the time and logs.

use std::io::ErrorKind;
use std::process::Stdio;
use std::time::Duration;

use cortex_component::{CallContext, Component, ComponentContext, Effect, Failure, Health, Method, NoArguments, Slot};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use super::{TIME_SCALE, time_scale};
use crate::world::World;

/// The speech program. It reads the text from its input: no text can be taken for an option or reach a shell.
const PROGRAM: &str = "espeak-ng";
/// Longest a text may take to say: 500 characters are about 40 s.
const SPEECH_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a character takes where nothing speaks.
const CHARACTER_TIME: Duration = Duration::from_millis(10);
/// Longest that a text takes where nothing speaks.
const LONGEST_SILENT_SPEECH: Duration = Duration::from_secs(2);

#[derive(Deserialize, JsonSchema)]
struct Say {
    /// What to say, in plain words.
    #[schemars(length(min = 1, max = 500))]
    text: String,
}

pub(super) fn component(world: &World) -> Component {
    let slot: Slot<ComponentContext> = Slot::default();
    let configured = slot.clone();
    Component::new("speaker")
        .summary("The robot's voice.")
        .parameter(time_scale(world))
        .method(
            Method::new("say", "Says a text aloud and returns when it was said.")
                .parameters::<Say>()
                .effect(Effect::Act)
                .resource("speech")
                .timeout(SPEECH_TIMEOUT)
                .cancelled_by("quiet")
                .phrase("say {text}")
                .run(move |arguments, call| {
                    let slot = slot.clone();
                    async move { say(&slot.get()?, arguments.text, &call).await }
                }),
        )
        .method(
            Method::new("quiet", "Stops speaking. Returns when it is quiet.")
                .effect(Effect::Act)
                .holds_nothing()
                .phrase("be quiet")
                .phrase("stop talking")
                .run(|_: NoArguments, _| std::future::ready(Ok("quiet"))),
        )
        .on_configure(move |context| {
            configured.put(context);
            std::future::ready(Ok(()))
        })
}

async fn say(context: &ComponentContext, text: String, call: &CallContext) -> Result<String, Failure> {
    let spoken = match begin_speech() {
        Ok(speech) => speak(speech, &text, call).await?,
        Err(problem) if problem.kind() == ErrorKind::NotFound => Spoken::NoProgram,
        Err(problem) => Spoken::Failed(problem.to_string()),
    };
    if let Spoken::Failed(problem) = &spoken {
        context.health().report(PROGRAM, Health::System, format!("{PROGRAM} does not speak: {problem}"));
    } else {
        context.health().clear(PROGRAM);
    }
    if spoken != Spoken::Aloud {
        tracing::info!("says: {text:?}");
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let length = CHARACTER_TIME.saturating_mul(characters).min(LONGEST_SILENT_SPEECH);
        let length = length.div_f64(context.parameters().double(TIME_SCALE)?);
        call.or_cancelled(tokio::time::sleep(length)).await?;
    }
    Ok(format!("said: {text}"))
}

#[derive(Debug, PartialEq)]
enum Spoken {
    Aloud,
    NoProgram,
    Failed(String),
}

fn begin_speech() -> std::io::Result<Child> {
    Command::new(PROGRAM)
        .arg("--stdin")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}

/// Speaks to the end, or ends the program when the call is cancelled.
async fn speak(mut speech: Child, text: &str, call: &CallContext) -> Result<Spoken, Failure> {
    let speaking = async {
        if let Some(mut input) = speech.stdin.take() {
            // A program that ends before it has read everything says more by its status than by the broken pipe.
            let _ = input.write_all(text.as_bytes()).await;
            // Dropping the input ends the text; the program speaks only then.
        }
        speech.wait().await
    };
    match call.or_cancelled(speaking).await {
        Ok(Ok(status)) if status.success() => Ok(Spoken::Aloud),
        Ok(Ok(status)) => Ok(Spoken::Failed(status.to_string())),
        Ok(Err(problem)) => Ok(Spoken::Failed(problem.to_string())),
        Err(cancelled) => {
            // Killed and reaped, so that it is quiet when the call has ended.
            if let Err(problem) = speech.kill().await {
                tracing::warn!("{PROGRAM} could not be stopped: {problem}");
            }
            Err(cancelled)
        }
    }
}
