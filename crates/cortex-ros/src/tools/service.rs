//! Requests to services of any type.

use std::sync::Arc;
use std::time::Duration;

use cortex_core::Invocation;
use cortex_protocol::{CancelMode, FailureKind, HaltState, ToolOutcome};
use cortex_ros_client::RosError;
use cortex_ros_client::dynamic::ServiceClient;
use tokio::sync::oneshot;

use super::late_response::ServerLost;
use super::messages::{message_of, outcome_of};
use super::pool::Pool;
use super::sent::Sent;
use super::server::Server;
use super::{Surroundings, late_response};
use crate::calls::{ends_with, halted_before_it_was_sent, key};
use crate::catalog::Entry;

/// How long a server that is on the graph may take to be connected with.
const SERVER_LIMIT: Duration = Duration::from_secs(2);

/// Sends requests.
pub(super) struct Services {
    around: Arc<Surroundings>,
    clients: Pool<ServiceClient>,
}

impl Services {
    pub(super) fn new(around: &Arc<Surroundings>) -> Self {
        Self { around: Arc::clone(around), clients: Pool::default() }
    }

    /// Carries out a call to its end.
    pub(super) async fn invoke(&self, invocation: &Invocation, entry: &Entry) -> ToolOutcome {
        let conventions = &self.around.shared().conventions;
        let unavailable = |problem: RosError| ToolOutcome::failure(FailureKind::Unavailable, problem.to_string());
        let client = match self.client(entry).await {
            Ok(client) => client,
            Err(problem) => return unavailable(problem),
        };
        let request = match message_of(invocation, &client.interface().request, self.around.shared()) {
            Ok(request) => request,
            Err(outcome) => return outcome,
        };
        let there = client.wait_for_server(SERVER_LIMIT).await;
        if let Err(problem) = there.and_then(|()| self.around.endpoints.check_service(&entry.name, client.interface()))
        {
            return unavailable(problem);
        }
        let server = Server::of(entry, &self.around.graph.current());
        let who = &entry.name;
        let turn = tokio::select! {
            biased;
            () = self.around.calls.halts().until_halted(key(invocation)) => return halted_before_it_was_sent(),
            // Looked at first: what others had sent gives its turn back when the server is lost.
            loss = server.lost(self.around.graph.subscribe()) => {
                let problem = format!("the server of {who} {loss} before the request was sent");
                return ToolOutcome::failure(FailureKind::ComponentLost, problem);
            }
            turn = late_response::turn(client.turn(), entry.spec.effect) => match turn {
                Ok(turn) => turn,
                Err(outcome) => return outcome,
            },
        };
        let send = || {
            self.around.note_unhaltable(invocation, entry);
            client.send(&request)
        };
        let calls = &self.around.calls;
        let sent = Sent::Request(entry.spec.cancel);
        let answer = match calls.send(invocation, ends_with(&entry.spec), sent, send) {
            Ok(Ok(answer)) => answer,
            Ok(Err(problem)) => {
                calls.answered(&key(invocation));
                return unavailable(problem);
            }
            Err(unsent) => return unsent.outcome(),
        };
        let (deliver, answer_of_server) = oneshot::channel();
        let (caller, given_up) = oneshot::channel();
        let answer = late_response::in_place(answer, turn, given_up);
        let waiting = late_response::wait(answer, Arc::clone(calls), key(invocation), invocation.timeout, deliver);
        self.around.waiting.spawn(waiting);
        // What a lost server began may go on without it.
        let unknown = match entry.spec.cancel {
            CancelMode::Drop => HaltState::AtRest,
            CancelMode::Halt => HaltState::Unconfirmed,
        };
        tokio::select! {
            // An answer that is there counts, even if its server has gone since.
            biased;
            answer = answer_of_server => match answer {
                Ok(Ok(answer)) => outcome_of(who, answer.view(), conventions),
                Ok(Err(problem)) => unavailable(problem).with_halt(unknown),
                Err(_) => {
                    ToolOutcome::failure(FailureKind::Timeout, format!("{who} has not answered")).with_halt(unknown)
                }
            },
            loss = server.lost(self.around.graph.subscribe()) => {
                // The answer may have come just now.
                let _ = caller.send(ServerLost);
                let problem = format!("the server of {who} {loss} before it answered");
                ToolOutcome::failure(FailureKind::ComponentLost, problem).with_halt(unknown)
            }
        }
    }

    async fn client(&self, entry: &Entry) -> Result<ServiceClient, RosError> {
        let make = async {
            let type_name = entry.type_name.clone();
            let interface = self.around.interface(move |interfaces| interfaces.service(&type_name)).await?;
            self.around.endpoints.service_client(&entry.name, &interface).await
        };
        self.clients.get(&entry.name, &entry.type_name, make).await
    }
}
