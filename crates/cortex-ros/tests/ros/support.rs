//! What the tests of this crate share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cortex_core::{Invocation, ToolProvider, Unobserved};
use cortex_interfaces::Interfaces;
use cortex_protocol::{CallId, ToolCall, ToolFingerprint, ToolOutcome, ToolSpec};
use cortex_ros::{Discovery, Policy, RosTools};
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::testing::Peer;
use cortex_ros_client::{GraphWatch, RosNode};
use serde_json::{Map, Value};

/// Bounds a wait against a hang; nothing is measured by it.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// The agent's side of the boundary.
pub(crate) struct Agent {
    pub(crate) node: RosNode,
    pub(crate) graph: GraphWatch,
    pub(crate) endpoints: Endpoints,
    pub(crate) discovery: Discovery,
    pub(crate) tools: RosTools,
}

impl Agent {
    pub(crate) fn start() -> Self {
        Self::with_policy(Policy::default())
    }

    pub(crate) fn with_policy(policy: Policy) -> Self {
        Self::with(Interfaces::from_environment(), policy)
    }

    /// One that has these types installed.
    pub(crate) fn with(interfaces: Interfaces, policy: Policy) -> Self {
        Self::as_node("cortex", interfaces, policy)
    }

    /// One whose node has another name.
    pub(crate) fn named(name: &str) -> Self {
        Self::as_node(name, Interfaces::from_environment(), Policy::default())
    }

    fn as_node(name: &str, interfaces: Interfaces, policy: Policy) -> Self {
        let node = RosNode::start(name, "").unwrap();
        let graph = GraphWatch::start(node.fully_qualified_name()).unwrap();
        let endpoints = Endpoints::start(&graph).unwrap();
        let discovery = Discovery::start(&node, &graph, &endpoints, &Arc::new(interfaces), policy);
        let tools = RosTools::new(&graph, &endpoints, &discovery);
        Self { node, graph, endpoints, discovery, tools }
    }

    /// Waits until the tools on offer are as wanted.
    pub(crate) async fn tools_until(&self, wanted: impl Fn(&[ToolSpec]) -> bool) -> Arc<Vec<ToolSpec>> {
        let mut tools = self.discovery.tools();
        let waited = tokio::time::timeout(LIMIT, tools.wait_for(|tools| wanted(tools))).await;
        let tools = waited.map(|tools| Arc::clone(&tools.unwrap()));
        tools.unwrap_or_else(|_| {
            let (tools, graph) = (self.discovery.tools(), self.graph.current());
            panic!("the tools are {:?}, and the graph is {graph:#?}", names(&tools.borrow()))
        })
    }

    /// Waits until a tool is on offer.
    pub(crate) async fn tool(&self, name: &str) {
        self.tools_until(|tools| tools.iter().any(|tool| tool.name.as_str() == name)).await;
    }

    /// Waits until a heartbeat of a component was heard.
    pub(crate) async fn heard(&self, component: &str) {
        let heard = async {
            while self.tools.inspect(component).await.unwrap()["health"].is_null() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(LIMIT, heard).await.expect("a heartbeat is heard");
    }

    /// The call, for the tool as it is now.
    pub(crate) fn planned(&self, mut invocation: Invocation) -> Invocation {
        let tools = self.discovery.tools();
        if let Some(tool) = tools.borrow().iter().find(|tool| tool.name == invocation.call.tool) {
            invocation.fingerprint = tool.fingerprint();
        }
        invocation
    }

    pub(crate) async fn call(&self, invocation: Invocation) -> ToolOutcome {
        let outcome = self.tools.invoke(self.planned(invocation), Arc::new(Unobserved));
        tokio::time::timeout(LIMIT, outcome).await.expect("the call has ended")
    }

    pub(crate) async fn shut_down(self) {
        self.discovery.shut_down().await;
        self.endpoints.shut_down();
        self.graph.shut_down();
        self.node.shut_down();
        self.tools.shut_down().await;
    }
}

pub(crate) fn names(tools: &[ToolSpec]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

pub(crate) fn invocation(id: u32, tool: &str, arguments: Value) -> Invocation {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    Invocation {
        mission: "test".into(),
        id: CallId(id),
        call: call(tool, arguments),
        fingerprint: ToolFingerprint(0),
        timeout: Duration::from_secs(10),
    }
}

fn call(tool: &str, arguments: Map<String, Value>) -> ToolCall {
    ToolCall { tool: tool.into(), arguments }
}

pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name)
}

/// Starts a component in Python; it is served when this returns.
pub(crate) async fn component(arguments: &[&str]) -> Peer {
    let mut peer = Peer::python(&script("component.py"), arguments).unwrap();
    peer.line("ready").await.unwrap();
    peer
}

/// Asks a peer to end in good order.
pub(crate) fn terminate(peer: &Peer) {
    let id = peer.id().expect("it runs").to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
}

/// Starts a robot that knows nothing of Cortex; everything is served when this returns.
pub(crate) async fn robot(arguments: &[&str]) -> Peer {
    let mut peer = Peer::python(&script("robot.py"), arguments).unwrap();
    peer.line("ready").await.unwrap();
    peer
}
