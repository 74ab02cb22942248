//! What shows whether the components of a robot work, and what can be done to them. Nobody is judged here.
//!
//! - `presence`: whether the node of this run is on the graph; `states`: its lifecycle;
//! - `diagnostics`: what `/diagnostics` says about it; `progress`: whether it gets on;
//! - [`actions`]: requests, messages, methods and parameters, as recipes name them.
//!
//! What components say of themselves is heard with discovery ([`Health`]). What is heard comes on the thread of the endpoints, so that it is heard also when no task runs any more.

pub mod actions;
mod diagnostics;
mod presence;
mod progress;
mod states;

use std::sync::Arc;
use std::time::Duration;

use cortex_interfaces::{InterfaceError, Interfaces};
use cortex_protocol::ComponentName;
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::load_interface::load_interface;
use cortex_ros_client::{GraphWatch, RosError};
use tokio::task::JoinSet;

use crate::Discovery;
pub use crate::statuses::Health;
use crate::statuses::Hearing;
use presence::Presence;

/// The pause before something that can't be heard is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// A component to keep an eye on.
#[derive(Debug, Clone)]
pub struct Watched {
    /// Its name: that of its node without the leading slash.
    pub component: ComponentName,
    /// Whether its lifecycle is followed.
    pub is_managed: bool,
    /// What counts as its getting on, by the number that signs of it carry.
    pub progress: Vec<(usize, ProgressTopic)>,
}

/// Messages that show that something gets on.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgressTopic {
    /// The full name, beginning with a slash.
    pub topic: String,
    /// Only messages count in which this field has another value than in the last that counted.
    pub field: Option<String>,
    /// How much it must differ, for numbers: in each of them, or as a distance where there are several. In the unit of
    /// the field.
    pub changes_by: Option<f64>,
}

/// How bad an entry of `/diagnostics` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// OK.
    Ok,
    /// STALE.
    Stale,
    /// WARN.
    Warning,
    /// ERROR, and what is none of the levels that there are.
    Error,
}

/// Something that was seen or heard of a component.
#[derive(Debug, Clone, PartialEq)]
pub enum Sign {
    /// Whether its node is on the graph. Told when it changes, and again from time to time.
    Node {
        /// Whether it is there.
        present: bool,
    },
    /// Another run of its node has come, whoever has started it. What was asked of the run before says nothing about it.
    Anew,
    /// The label of the state of its lifecycle, such as `active`.
    Lifecycle {
        /// As the node writes it.
        label: String,
    },
    /// Its node is there, was asked for that state, and did not answer in time.
    Unanswered,
    /// It published its health.
    Status {
        /// What it says.
        health: Health,
    },
    /// `/diagnostics` has an entry about it.
    Diagnostic {
        /// The entry's name.
        name: String,
        /// How bad.
        level: Level,
        /// In words.
        message: String,
    },
    /// Something that counts as progress came.
    Progress {
        /// Which entry of [`Watched::progress`].
        watch: usize,
        /// How often.
        count: u32,
    },
}

/// Takes what was seen and heard. It must not block.
pub type Tell = Arc<dyn Fn(&ComponentName, Sign) + Send + Sync>;

/// What the parts work with.
#[derive(Clone)]
struct Senses {
    endpoints: Endpoints,
    graph: GraphWatch,
    interfaces: Arc<Interfaces>,
    presence: Arc<Presence>,
    tell: Tell,
}

impl Senses {
    /// Looks up an interface.
    async fn interface<T: Send + 'static>(
        &self,
        find: impl FnOnce(&Interfaces) -> Result<T, InterfaceError> + Send + 'static,
    ) -> Result<T, RosError> {
        load_interface(&self.interfaces, find).await
    }
}

/// Components that are kept an eye on, until this is dropped.
pub struct Monitoring {
    presence: Arc<Presence>,
    _hearings: Vec<Hearing>,
    _tasks: JoinSet<()>,
}

impl Monitoring {
    /// Begins. `own_node` is the full name of the node of this process: what it says itself is not heard. To be called
    /// within a tokio runtime.
    #[must_use]
    pub fn start(
        graph: &GraphWatch,
        endpoints: &Endpoints,
        discovery: &Discovery,
        interfaces: &Arc<Interfaces>,
        own_node: &str,
        watched: Vec<Watched>,
        tell: Tell,
    ) -> Self {
        let names = watched.iter().map(|watched| watched.component.clone());
        let presence = Arc::new(Presence::new(names, graph));
        let senses = Senses {
            endpoints: endpoints.clone(),
            graph: graph.clone(),
            interfaces: Arc::clone(interfaces),
            presence: Arc::clone(&presence),
            tell,
        };
        let (mut tasks, mut hearings) = (JoinSet::new(), Vec::new());
        tasks.spawn(presence::follow(senses.clone()));
        let names: Vec<ComponentName> = watched.iter().map(|watched| watched.component.clone()).collect();
        tasks.spawn(diagnostics::follow(senses.clone(), own_node.trim_start_matches('/').to_owned(), names));
        for Watched { component, is_managed, progress } in watched {
            if is_managed {
                tasks.spawn(states::follow(senses.clone(), component.clone()));
            }
            for (watch, progress) in progress {
                tasks.spawn(progress::follow(senses.clone(), component.clone(), watch, progress));
            }
            hearings.push(hear(&senses, discovery, component));
        }
        Self { presence, _hearings: hearings, _tasks: tasks }
    }

    /// A process is started for the component: what was seen of its node is of another run, and has to be seen anew, even
    /// though the graph may show the dead one for some time.
    pub fn expect_anew(&self, component: &ComponentName) {
        self.presence.expect_anew(component);
    }
}

/// Tells of all that the present run of a component says of itself.
fn hear(senses: &Senses, discovery: &Discovery, component: ComponentName) -> Hearing {
    let (tell, presence, name) = (senses.tell.clone(), senses.presence.clone(), component.clone());
    discovery.shared().statuses.hear(&component, move |health, publisher| {
        if presence.may_speak(&name, publisher) {
            tell(&name, Sign::Status { health: health.clone() });
        }
    })
}
