//! The page for people: served beside the robot, which works on without it.

use std::path::PathBuf;
use std::sync::Arc;

use cortex_config::{LoginChoice, PageSettings, TlsChoice};
use cortex_core::OperatorPort;
use cortex_node::management::tell;
use cortex_protocol::Role;
use cortex_runtime::RuntimeConfig;
use cortex_runtime::tape::PAGE_FOLDER;
use cortex_web::{Login, TlsFiles, WebServer, WebSettings};

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
    let settings = WebSettings { state_directory: sessions, login, tls, ..WebSettings::new(page.address, robot) };
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

/// Where the sessions of this node's page outlive a restart. None: its records don't, either.
pub(crate) fn sessions(config: &RuntimeConfig) -> Option<PathBuf> {
    let tapes = &config.tape.as_ref()?.directory;
    let node = config.journal.as_ref()?.file.file_stem()?;
    Some(tapes.join(PAGE_FOLDER).join(node))
}
