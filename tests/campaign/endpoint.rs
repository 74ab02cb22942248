//! The model: plans what its task says, by a server that can be taken away.

use cortex_stories::PATIENCE;
use cortex_testkit::{OpenAiServer, Served};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// How a task begins that the model can plan.
pub(crate) const TASK: &str = "errand ";
/// How long a long shake is, in seconds: longer than a component takes to be trusted again, and
/// shorter than a tray may go on without feedback.
const LONG_S: f64 = 2.5;

/// A model behind a port that is there or not.
pub(crate) struct Endpoint {
    model: OpenAiServer,
    /// Where it is found, as long as it is there.
    address: SocketAddr,
    /// Carries bytes there and back; with it every connection goes.
    relay: JoinSet<()>,
}

impl Endpoint {
    /// `drive` is the tool that drives.
    pub(crate) async fn start(drive: &'static str) -> anyhow::Result<Self> {
        let model = OpenAiServer::answering(move |request| answer(request, drive)).await?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let mut endpoint = Self { model, address, relay: JoinSet::new() };
        endpoint.serve(listener)?;
        Ok(endpoint)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Takes it away, in the middle of whatever it does, and brings it back after a while.
    pub(crate) async fn be_gone_for(&mut self, time: Duration) -> anyhow::Result<()> {
        self.relay.shutdown().await;
        tokio::time::sleep(time).await;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match TcpListener::bind(self.address).await {
                Ok(listener) => return self.serve(listener),
                Err(problem) if Instant::now() > deadline => return Err(problem.into()),
                // Somebody else has the port for a moment.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    fn serve(&mut self, listener: TcpListener) -> anyhow::Result<()> {
        let inner: SocketAddr = self.model.url().trim_start_matches("http://").trim_end_matches("/v1").parse()?;
        self.relay.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((mut outer, _)) = listener.accept().await {
                connections.spawn(async move {
                    if let Ok(mut inner) = TcpStream::connect(inner).await {
                        let _ = tokio::io::copy_bidirectional(&mut outer, &mut inner).await;
                    }
                });
                while connections.try_join_next().is_some() {}
            }
        });
        Ok(())
    }
}

/// A plan of what the task says, EXECUTE for each step, and "Done." at the end, whatever became of it: whether it was done
/// must not depend on what a model says.
fn answer(request: &Value, drive: &str) -> Served {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if request["tools"].as_array().is_some_and(|tools| tools.len() == 1) {
        return Served::Text("EXECUTE".to_owned());
    }
    if messages.iter().any(|message| message["role"] == "tool") {
        return Served::Text("Done.".to_owned());
    }
    let texts: Vec<String> = messages.iter().map(|message| message["content"].to_string()).collect();
    let task = texts.iter().rev().find_map(|text| text.split_once(TASK)).map(|(_, task)| task).unwrap_or_default();
    let mut tools = request["tools"].as_array().into_iter().flatten().map(|tool| &tool["function"]);
    let guest = tools.find(|tool| tool["name"] == "guest-shake");
    let has_force = guest.is_some_and(|guest| guest.pointer("/parameters/properties/force").is_some());
    let calls = calls(task, drive, has_force);
    if calls.is_empty() { Served::Text("I do not know that errand.".to_owned()) } else { Served::Calls(calls) }
}

/// Reads `3: go to the kitchen, shake tray_1 for t3, say it is done.` `has_force` is whether the guest asks for a
/// force by now.
fn calls(task: &str, drive: &str, has_force: bool) -> Vec<(String, Value)> {
    let task = task.split_once('.').map_or(task, |(task, _)| task);
    let parts = task.split([',', ':']).map(str::trim);
    parts
        .filter_map(|part| {
            if let Some(place) = part.strip_prefix("go to the ") {
                Some((drive.to_owned(), json!({ "place": place })))
            } else if let Some((tray, token)) = part.strip_prefix("shake ").and_then(|part| part.split_once(" for ")) {
                Some((format!("{tray}-shake"), json!({ "token": token })))
            } else if let Some((tray, token)) =
                part.strip_prefix("long shake ").and_then(|part| part.split_once(" for "))
            {
                Some((format!("{tray}-shake"), json!({ "token": token, "seconds": LONG_S })))
            } else if let Some(token) = part.strip_prefix("visit for ") {
                let force = json!({ "token": token, "force": 1 });
                Some(("guest-shake".to_owned(), if has_force { force } else { json!({ "token": token }) }))
            } else if let Some(tray) = part.strip_prefix("announce by ") {
                Some((format!("{tray}-announce"), json!({})))
            } else if let Some(tray) = part.strip_prefix("look at ") {
                Some((format!("{tray}-look"), json!({})))
            } else if part == "sound the horn" {
                Some(("horn".to_owned(), json!({})))
            } else {
                part.strip_prefix("say ").map(|text| ("speaker-say".to_owned(), json!({ "text": text })))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errand_is_planned_as_it_is_said() {
        let planned = calls("3: go to the living room, shake tray_1 for t3, say hello. More", "base-go_to", false);
        assert_eq!(
            planned,
            [
                ("base-go_to".to_owned(), json!({"place": "living room"})),
                ("tray_1-shake".to_owned(), json!({"token": "t3"})),
                ("speaker-say".to_owned(), json!({"text": "hello"})),
            ]
        );
    }
}
