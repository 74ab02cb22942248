//! `cortex status`: the live status of a running Cortex, on one screen.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use cortex_protocol::overview::{OVERVIEW_VERSION, Overview};
use cortex_robot::end_ros;
use cortex_ros_client::dynamic::Endpoints;
use cortex_ros_client::{GraphWatch, LatchedText, Roll, RosError, RosNode, ServedNames};
use cortex_status::{Ink, TOPIC, now_ms, render};
use tokio::time::timeout;

use crate::absence::unless_absent;
use crate::arguments::StatusArguments;

/// How often the screen is drawn anew while nothing comes: ages grow.
const REDRAW: Duration = Duration::from_secs(1);
/// Clears a terminal and goes to its first place.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

/// `cortex status`: what Cortex is at, once or for as long as it is looked at.
///
/// # Errors
/// When the graph can't be joined, or no Cortex answers.
pub async fn status(arguments: &StatusArguments) -> anyhow::Result<ExitCode> {
    let node = RosNode::start(&format!("_cortex_cli_{}", std::process::id()), "")?;
    let graph = match GraphWatch::start(node.fully_qualified_name()) {
        Ok(graph) => graph,
        Err(error) => {
            node.shut_down();
            return Err(error.into());
        }
    };
    let endpoints = match Endpoints::start(&graph) {
        Ok(endpoints) => endpoints,
        Err(error) => {
            end_ros(node, graph, None).await;
            return Err(error.into());
        }
    };
    let shown = tokio::select! {
        shown = show(arguments, &node, &graph, &endpoints) => shown,
        _ = tokio::signal::ctrl_c() => Ok(ExitCode::SUCCESS),
    };
    end_ros(node, graph, Some(endpoints)).await;
    shown
}

async fn show(
    arguments: &StatusArguments,
    node: &RosNode,
    graph: &GraphWatch,
    endpoints: &Endpoints,
) -> anyhow::Result<ExitCode> {
    let server = format!("/{}", arguments.server.server.trim_matches('/'));
    let roll = Roll::call(node, &server).await?;
    let first = async {
        let mut texts = LatchedText::subscribe(endpoints, &ServedNames::of(&server).below(TOPIC)).await?;
        let first = tokio::select! {
            first = texts.next() => first,
            // Remap rules have it tell of itself elsewhere.
            names = roll.renamed() => {
                texts = LatchedText::subscribe(endpoints, &names.below(TOPIC)).await?;
                texts.next().await
            }
        };
        Ok::<_, RosError>((texts, first))
    };
    let Some(first) = unless_absent(&arguments.server, graph, first).await else {
        anyhow::bail!(
            "no Cortex tells of itself at {server}. Start one with `cortex run`, in the same ROS_DOMAIN_ID; name it with \
             --server if it has another name; `cortex doctor` looks for the reason"
        );
    };
    let (mut texts, first) = first?;
    let mut overview = read(&first.unwrap_or_default())?;
    if !print(&overview, arguments)? || !arguments.watch {
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        match timeout(REDRAW, texts.next()).await {
            Ok(Some(text)) => overview = read(&text)?,
            Ok(None) => return Ok(ExitCode::SUCCESS),
            // As JSON it was printed already.
            Err(_) if arguments.json => continue,
            Err(_) => {}
        }
        if !print(&overview, arguments)? {
            return Ok(ExitCode::SUCCESS);
        }
    }
}

/// What a running Cortex tells of itself.
pub(crate) fn read(text: &str) -> anyhow::Result<Overview> {
    let version = serde_json::from_str::<serde_json::Value>(text).ok();
    let version = version.and_then(|json| json.get("version").and_then(serde_json::Value::as_u64));
    anyhow::ensure!(
        version == Some(OVERVIEW_VERSION.into()),
        "this `cortex status` reads version {OVERVIEW_VERSION}, and that Cortex tells version {}; use the program that it \
         was started with",
        version.map_or_else(|| "none".to_owned(), |version| version.to_string())
    );
    serde_json::from_str(text).map_err(|problem| anyhow::anyhow!("what that Cortex tells can't be read: {problem}"))
}

/// Prints it; false when nobody reads any more.
fn print(overview: &Overview, arguments: &StatusArguments) -> anyhow::Result<bool> {
    let mut out = std::io::stdout();
    let terminal = out.is_terminal();
    let text = if arguments.json {
        format!("{}\n", serde_json::to_string(overview)?)
    } else {
        let plain = !terminal || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let screen = render(overview, now_ms(), if plain { Ink::Plain } else { Ink::Colours });
        match (arguments.watch, terminal) {
            (true, true) => format!("{CLEAR}{screen}"),
            (true, false) => format!("{screen}\n"),
            (false, _) => screen,
        }
    };
    Ok(out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_ok())
}
