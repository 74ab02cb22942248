//! The page for people: served beside the robot, which works on without it.

use std::path::PathBuf;
use std::sync::Arc;

use cortex_config::{IncomingChoice, LoginChoice, PageSettings, SecretPlace, TlsChoice, WebhookChoice};
use cortex_core::OperatorPort;
use cortex_interfaces::Interfaces;
use cortex_node::IncidentKeeper;
use cortex_node::management::tell;
use cortex_protocol::Role;
use cortex_robot::Robot;
use cortex_ros::NodeLog;
use cortex_runtime::tape::PAGE_FOLDER;
use cortex_runtime::{FEEDBACK, RuntimeConfig};
use cortex_web::{IncomingWebhook, Login, TlsFiles, WebServer, WebSettings, WebhookSecret, WebhookTarget};

/// Reads the log of the robot's nodes for the page, where there is to be one.
pub(crate) fn node_log(has_page: bool, robot: &Robot) -> Option<Arc<NodeLog>> {
    if !has_page {
        return None;
    }
    let own = robot.node.fully_qualified_name();
    NodeLog::start(&robot.graph, &Interfaces::from_environment(), own, FEEDBACK)
        .inspect_err(|problem| tracing::warn!("the page shows no log of the robot's nodes: {problem}"))
        .ok()
        .map(Arc::new)
}

/// Ends the page, and then what it shows.
pub(crate) async fn end(page: Option<WebServer>, log: Option<Arc<NodeLog>>, incident: Option<Arc<IncidentKeeper>>) {
    if let Some(page) = page {
        page.shut_down().await;
    }
    // Joining their threads blocks.
    let ending = move || {
        if let Some(log) = log {
            log.shut_down();
        }
        if let Some(incident) = incident {
            incident.shut_down();
        }
    };
    let _ = tokio::task::spawn_blocking(ending).await;
}

/// Serves the page there, and says where it is, also to `tell_page`. Whoever is not at this machine needs a code, of which the first is printed.
pub(crate) fn serve(
    page: PageSettings,
    robot: String,
    sessions: Option<PathBuf>,
    port: Arc<dyn OperatorPort>,
    tell_page: impl FnOnce(String),
) -> Option<WebServer> {
    let login = match page.login {
        LoginChoice::Others => Login::Others,
        LoginChoice::Everyone => Login::Everyone,
    };
    let tls = page.tls.map(|TlsChoice { certificate, key }| TlsFiles { certificate, key });
    let settings = WebSettings {
        state_directory: sessions,
        login,
        tls,
        webhooks: page.webhooks.into_iter().filter_map(webhook).collect(),
        incoming: page.incoming.into_iter().filter_map(incoming).collect(),
        ..WebSettings::new(page.address, robot)
    };
    let server = WebServer::start(settings, port)
        .inspect_err(|problem| tracing::error!("there is no page, and the robot works on without: {problem}"))
        .ok()?;
    let address = server.address();
    let place = server.url();
    tell(&format!("page: {place}"));
    tell_page(place);
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

/// Another system that is told what happens. One that can't be is told in the log, and the robot works on without.
fn webhook(choice: WebhookChoice) -> Option<WebhookTarget> {
    let WebhookChoice { url, events, secret: place, allow_http } = choice;
    let made = secret(&place).and_then(|secret| Ok(WebhookTarget::new(&url, secret, events, allow_http)?));
    // The rest of the address may hold a secret.
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    made.inspect_err(|problem| tracing::error!("the webhook to '{host}' is not told of anything: {problem}")).ok()
}

/// Another system that gives tasks.
fn incoming(choice: IncomingChoice) -> Option<IncomingWebhook> {
    let made = secret(&choice.secret).and_then(|secret| Ok(IncomingWebhook::new(&choice.name, secret)?));
    made.inspect_err(|problem| tracing::error!("the webhook {:?} takes no tasks: {problem}", choice.name)).ok()
}

fn secret(place: &SecretPlace) -> anyhow::Result<WebhookSecret> {
    Ok(WebhookSecret::parse(&place.read()?)?)
}

/// Where the sessions of this node's page outlive a restart. None: its records don't, either.
pub(crate) fn sessions(config: &RuntimeConfig) -> Option<PathBuf> {
    let tapes = &config.tape.as_ref()?.directory;
    let node = config.journal.as_ref()?.file.file_stem()?;
    Some(tapes.join(PAGE_FOLDER).join(node))
}
