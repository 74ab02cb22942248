//! Serving ROS services on tasks that end together, and answering their requests.
//!
//! Fast DDS sends no answer to a client that it has not matched yet: it waits 0.1 s and then refuses. On a busy machine a
//! client that has just come sees the server well before the server sees the client, so what was refused is sent again:
//! at first nearly without a pause, since most clients are matched within their first half second, then at a distance.

use std::future::Future;
use std::time::Duration;

use futures::StreamExt;
use r2r::{Node, ServiceRequest};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::{QosProfile, RosError, TypedService};

/// Further attempts to send an answer, and the pause before each: within the time in which a client expects it.
pub const ANSWER_ATTEMPTS: u32 = 15;
/// The pause before each of them.
pub const ANSWER_PAUSE: Duration = Duration::from_millis(200);
/// The first attempts that follow, and the pause before each. An attempt ends as soon as the client is matched, so that the
/// pause is all that an answer can be late by.
const SOON_ATTEMPTS: u32 = 10;
const SOON_PAUSE: Duration = Duration::from_millis(30);
/// All further attempts. They take as long as [`ANSWER_ATTEMPTS`] with their pauses do.
const MOST_ATTEMPTS: u32 = 20;
/// Answers of this process that wait to be sent again.
const MOST_UNSENT: usize = 16;

static UNSENT: Semaphore = Semaphore::const_new(MOST_UNSENT);
/// Held during an attempt and the pause before it: an attempt keeps its node busy for up to 0.1 s, and in each pause the
/// node gets to everything else.
static ATTEMPTING: Semaphore = Semaphore::const_new(1);

/// The tasks that serve a node. Clones share them.
#[derive(Clone)]
pub struct Serving {
    end: CancellationToken,
    tasks: TaskTracker,
    runtime: Handle,
}

impl Serving {
    /// Its tasks run on that runtime, from whichever thread they are created.
    #[must_use]
    pub fn on(runtime: Handle) -> Self {
        Self { end: CancellationToken::new(), tasks: TaskTracker::new(), runtime }
    }

    /// Runs `work` until it ends or the serving does.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let end = self.end.clone();
        let until_end = async move {
            let _ = end.run_until_cancelled(work).await;
        };
        self.tasks.spawn_on(until_end, &self.runtime);
    }

    /// Answers a request with what `work` returns, which may take a while. Answers that are owed at the end are still sent.
    pub fn spawn_answer<S: TypedService>(
        &self,
        request: ServiceRequest<S>,
        work: impl Future<Output = S::Response> + Send + 'static,
    ) {
        let answering = async move {
            let response = work.await;
            if request.clone().respond(response.clone()).is_err() {
                note_unsent(answer_again(request, response).await);
            }
        };
        self.tasks.spawn_on(answering, &self.runtime);
    }

    /// Creates a service whose answers need no waiting.
    ///
    /// # Errors
    /// When the name is not valid.
    pub fn serve<S: TypedService>(
        &self,
        node: &mut Node,
        name: &str,
        answer: impl Fn(S::Request) -> S::Response + Send + 'static,
    ) -> Result<(), RosError> {
        self.serve_each::<S>(node, name, move |request| {
            let response = answer(request.message.clone());
            respond(request, response);
        })
    }

    /// Creates a service whose requests are taken one by one, in order; `take` must not wait.
    ///
    /// # Errors
    /// When the name is not valid.
    pub fn serve_each<S: TypedService>(
        &self,
        node: &mut Node,
        name: &str,
        take: impl Fn(ServiceRequest<S>) + Send + 'static,
    ) -> Result<(), RosError> {
        let mut requests = node.create_service::<S>(name, QosProfile::RELIABLE.into())?;
        self.spawn(async move {
            while let Some(request) = requests.next().await {
                take(request);
            }
        });
        Ok(())
    }

    /// Takes no more requests and waits for the answers that are owed. What does not end in time is left to the end of
    /// the runtime.
    pub async fn stop(&self, patience: Duration) {
        self.end.cancel();
        self.tasks.close();
        if tokio::time::timeout(patience, self.tasks.wait()).await.is_err() {
            tracing::warn!("{} service tasks do not end", self.tasks.len());
        }
    }
}

/// Sends the answer, if not at once then in the background. To be called within a tokio runtime. A client that is gone
/// needs none.
pub fn respond<S: TypedService>(request: ServiceRequest<S>, response: S::Response) {
    if request.clone().respond(response.clone()).is_err() {
        tokio::spawn(async move { note_unsent(answer_again(request, response).await) });
    }
}

/// Sends an answer that was refused: again and again, but not for ever.
///
/// # Errors
/// The last refusal.
pub async fn answer_again<S: TypedService>(request: ServiceRequest<S>, response: S::Response) -> r2r::Result<()> {
    let turn = tokio::time::timeout(ANSWER_PAUSE * ANSWER_ATTEMPTS, UNSENT.acquire());
    let Ok(Ok(_permit)) = turn.await else {
        return Err(r2r::Error::RCL_RET_TIMEOUT);
    };
    until_sent(move || {
        let (request, response) = (request.clone(), response.clone());
        async move {
            // It is never closed.
            let _turn = ATTEMPTING.acquire().await.map_err(|_| r2r::Error::RCL_RET_ERROR)?;
            tokio::time::sleep(SOON_PAUSE).await;
            // An attempt waits for the client, which must not keep the other tasks of this thread waiting.
            let attempt = tokio::task::spawn_blocking(move || request.respond(response));
            attempt.await.unwrap_or(Err(r2r::Error::RCL_RET_ERROR))
        }
    })
    .await
}

async fn until_sent<Sent, P>(mut attempt: impl FnMut() -> Sent) -> Result<(), P>
where
    Sent: Future<Output = Result<(), P>>,
{
    let mut attempts = 1;
    loop {
        match attempt().await {
            Err(_) if attempts < SOON_ATTEMPTS => {}
            Err(_) if attempts < MOST_ATTEMPTS => tokio::time::sleep(ANSWER_PAUSE).await,
            sent => return sent,
        }
        attempts += 1;
    }
}

fn note_unsent(sent: r2r::Result<()>) {
    if let Err(problem) = sent {
        tracing::warn!("an answer could not be sent: {problem}");
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::ready;

    use super::*;

    /// How often it was tried, and what came of it, when so many attempts are refused.
    async fn refused(times: u32) -> (u32, Result<(), &'static str>) {
        let attempts = Cell::new(0);
        let attempt = || {
            attempts.set(attempts.get() + 1);
            ready(if attempts.get() > times { Ok(()) } else { Err("not matched yet") })
        };
        let sent = until_sent(attempt).await;
        (attempts.get(), sent)
    }

    #[tokio::test(start_paused = true)]
    async fn regression_the_answer_to_a_new_client_waited_for_the_next_of_rare_attempts() {
        let began = tokio::time::Instant::now();
        assert_eq!(refused(SOON_ATTEMPTS - 1).await, (SOON_ATTEMPTS, Ok(())));
        assert_eq!(began.elapsed(), Duration::ZERO, "what an attempt takes is all that it waits for");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_to_a_client_that_is_not_seen_yet_is_sent_once_as_soon_as_it_is() {
        assert_eq!(refused(0).await, (1, Ok(())));
        assert_eq!(refused(2).await, (3, Ok(())));
        assert_eq!(refused(MOST_ATTEMPTS - 1).await, (MOST_ATTEMPTS, Ok(())));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_to_a_client_that_is_never_seen_is_given_up() {
        assert_eq!(refused(u32::MAX).await, (MOST_ATTEMPTS, Err("not matched yet")));
    }
}
