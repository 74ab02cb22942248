//! A lift that Cortex can use: the component of `examples/lift.py` in Rust.
//!
//! In a crate of your own: `cortex-component`, `schemars`, `serde` and `tokio` (with `time`) as dependencies, and this file
//! as `src/main.rs`. Where it is started, `~/describe`, `~/execute_method`, `~/status`, the lifecycle and the parameters are
//! served by themselves.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use cortex_component::{CallContext, Component, Effect, Failure, Method, NoArguments, ToolPhase};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

const SPEED_MPS: f64 = 0.2;
const STEP: Duration = Duration::from_millis(20);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MoveTo {
    /// Height above the floor, in metres.
    #[schemars(range(min = 0.0, max = 1.2))]
    height_m: f64,
}

#[derive(Serialize)]
struct Height {
    height_m: f64,
    text: String,
}

/// The tray.
#[derive(Default)]
struct Tray {
    height_m: Mutex<f64>,
    /// Held by the one movement that runs.
    moving: Mutex<()>,
}

impl Tray {
    /// Returns when the tray is there, or at rest where the call was cancelled.
    async fn move_to(&self, height_m: f64, call: &CallContext) -> Result<String, Failure> {
        let Ok(_moving) = self.moving.try_lock() else { return Err("the tray is moving already".into()) };
        loop {
            call.or_cancelled(tokio::time::sleep(STEP)).await?;
            let mut now = self.height_m.lock().await;
            let (way, step) = (height_m - *now, SPEED_MPS * STEP.as_secs_f64());
            if way.abs() <= step {
                *now = height_m;
                return Ok(format!("the tray is at {height_m} m"));
            }
            *now += step.copysign(way);
        }
    }
}

/// The component, not yet started.
pub(crate) fn lift() -> Component {
    let tray = Arc::new(Tray::default());
    let (moved, asked) = (Arc::clone(&tray), tray);
    Component::new("lift")
        .summary("A lift that carries the robot's tray up and down.")
        .method(
            Method::new("move_to", "Moves the tray to a height and returns when it is there.")
                .parameters::<MoveTo>()
                .effect(Effect::Move)
                .cancelled_by("halt")
                .phrase("lift the tray to {height_m}")
                .run(move |arguments, call| {
                    let tray = Arc::clone(&moved);
                    async move { tray.move_to(arguments.height_m, &call).await }
                }),
        )
        .method(
            Method::new("height", "Tells how high the tray is.")
                .phase(ToolPhase::Both)
                .effect(Effect::Observe)
                .phrase("how high is the tray")
                .run(move |_: NoArguments, _| {
                    let tray = Arc::clone(&asked);
                    async move {
                        let height_m = *tray.height_m.lock().await;
                        Ok(Height { height_m, text: format!("The tray is {height_m:.2} m high.") })
                    }
                }),
        )
        .method(
            // It is answered when the movement that it cancels has returned.
            Method::new("halt", "Stops the tray. Returns when it stands.")
                .effect(Effect::Act)
                .holds_nothing()
                .run(|_: NoArguments, _| async { Ok("the tray stands") }),
        )
}

fn main() -> ExitCode {
    lift().run()
}
