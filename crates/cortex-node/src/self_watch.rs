//! How Cortex watches itself and shows itself: the watchdog, the overview and the figures, together.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use cortex_protocol::overview::Overview;
use cortex_robot::Robot;
use cortex_robot::supervision::{self, Supervised};
use cortex_ros::StopServer;
use cortex_ros_client::LivenessCounter;
use cortex_ros_client::lifecycle::State;
use cortex_runtime::Runtime;
use cortex_status::{Endpoint, ModelWatch, Sources, Status};
use tokio::sync::watch;

use crate::watchdog::{Loop, Watchdog};

/// What is watched and shown.
pub struct Watched<'a> {
    /// The robot's name.
    pub name: String,
    /// Its place on the graph.
    pub robot: &'a Robot,
    /// Its missions.
    pub runtime: &'a Runtime,
    /// Its stop.
    pub stop: &'a StopServer,
    /// The requests to its models.
    pub model: ModelWatch,
    /// The robot that Cortex itself brings up, and what can be looked at of it.
    pub supervised: Option<(&'a Supervised, supervision::Watch)>,
    /// The lifecycle of Cortex' node.
    pub lifecycle: watch::Receiver<State>,
}

/// All of it at work.
pub struct SelfWatch {
    watchdog: Watchdog,
    status: Status,
    _endpoint: Option<Endpoint>,
}

impl SelfWatch {
    /// Begins. It hangs when a loop does not turn for that long.
    ///
    /// # Errors
    /// When no thread can be had.
    pub fn start(watched: Watched<'_>, endpoint: Option<Endpoint>, hang: Duration) -> anyhow::Result<Self> {
        let Watched { name, robot, runtime, stop, model, supervised, lifecycle } = watched;
        if let Some(endpoint) = &endpoint {
            tracing::info!("figures are served at http://{}/metrics", endpoint.address);
        }
        let monitor =
            supervised.iter().map(|(robot, _)| Loop::new("monitor", LivenessCounter::of(robot.handle().liveness())));
        let watchdog = Watchdog::of(robot, &stop.handle(), monitor.collect(), hang).context("the watchdog")?;
        let sources = Sources {
            robot: name,
            runtime: runtime.clone(),
            stop: stop.handle(),
            model,
            supervised: supervised.map(|(_, watch)| watch),
            watchdog: Some(watchdog.overview()),
            lifecycle,
        };
        Ok(Self { watchdog, status: Status::start(robot, sources), _endpoint: endpoint })
    }

    /// The overview, now and later.
    #[must_use]
    pub fn overviews(&self) -> watch::Receiver<Arc<Overview>> {
        self.status.overviews()
    }

    /// Has the overview say where the page for people is.
    pub fn tell_page(&self, address: String) {
        self.status.tell_page(address);
    }

    /// Ends it. To be called before the loops are ended. Blocks for a moment.
    pub fn shut_down(self) {
        self.watchdog.shut_down();
    }
}
