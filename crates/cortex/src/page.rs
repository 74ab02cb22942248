//! The page for people: served beside the robot, which works on without it.

use std::path::PathBuf;
use std::sync::Arc;

use cortex_config::{LoginChoice, PageSettings};
use cortex_core::OperatorPort;
use cortex_interfaces::Interfaces;
use cortex_node::management::tell;
use cortex_protocol::Role;
use cortex_robot::Robot;
use cortex_ros::NodeLog;
use cortex_runtime::tape::PAGE_FOLDER;
use cortex_runtime::{FEEDBACK, RuntimeConfig};
use cortex_web::{Login, WebServer, WebSettings};

/// Reads the log of the robot's nodes for the page, where there is to be one.
pub(crate) fn node_log(page: Option<PageSettings>, robot: &Robot) -> Option<Arc<NodeLog>> {
    page?;
    let own = robot.node.fully_qualified_name();
    NodeLog::start(&robot.graph, &Interfaces::from_environment(), own, FEEDBACK)
        .inspect_err(|problem| tracing::warn!("the page shows no log of the robot's nodes: {problem}"))
        .ok()
        .map(Arc::new)
}

/// Serves the page there, and says where it is. Whoever is not at this machine needs a code, of which the first is printed.
pub(crate) fn serve(
    page: PageSettings,
    robot: String,
    sessions: Option<PathBuf>,
    port: Arc<dyn OperatorPort>,
) -> Option<WebServer> {
    let login = match page.login {
        LoginChoice::Others => Login::Others,
        LoginChoice::Everyone => Login::Everyone,
    };
    let settings = WebSettings { state_directory: sessions, login, ..WebSettings::new(page.address, robot) };
    let server = WebServer::start(settings, port)
        .inspect_err(|problem| tracing::error!("there is no page, and the robot works on without: {problem}"))
        .ok()?;
    let address = server.address();
    tell(&format!("page: http://{address}/"));
    // Who may let others in, where the robot's own computer can't.
    let role = if login == Login::Everyone { Role::Administer } else { Role::Operate };
    if login == Login::Everyone || !address.ip().is_loopback() {
        match server.pairing_code(role) {
            Ok(code) => tell(&format!(
                "page: a device logs in with the code {code}, once, within ten minutes; \
                 its Access view, or that on this machine, makes further ones"
            )),
            Err(problem) => tracing::error!("nobody can log in to the page from another device: {problem}"),
        }
    }
    Some(server)
}

/// Where the sessions of this node's page outlive a restart. None: its records don't, either.
pub(crate) fn sessions(config: &RuntimeConfig) -> Option<PathBuf> {
    let tapes = &config.tape.as_ref()?.directory;
    let node = config.journal.as_ref()?.file.file_stem()?;
    Some(tapes.join(PAGE_FOLDER).join(node))
}
