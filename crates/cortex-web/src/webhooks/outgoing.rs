//! What happens, told to another system: each event at least once, in order, and never in anybody's way. A system that does
//! not answer is asked again, less and less often; what it has not had waits on the tapes, not in memory.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cortex_protocol::CloudEvent;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::position::Position;
use super::{ID, SIGNATURE, TIMESTAMP, WebhookTarget};
use crate::hub::json;
use crate::site::Site;

/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(10);
/// The longest pause before an event is sent again.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// An event that is refused so often, for some 25 minutes, is left out. A system that does not answer is asked for ever.
const REFUSALS: u32 = 12;

/// Begins to tell all targets. To be called on the server's runtime.
pub(crate) fn start(site: &Arc<Site>) {
    if site.settings.webhooks.is_empty() {
        return;
    }
    // Nothing of a signed message goes anywhere but where it was addressed to.
    let client = Client::builder().redirect(Policy::none()).no_proxy().timeout(ANSWER).build();
    let client = match client {
        Ok(client) => client,
        Err(error) => return tracing::error!(%error, "webhooks can't be sent, and the robot works on without"),
    };
    for (place, target) in site.settings.webhooks.iter().enumerate() {
        // Two that are told of different events get to different places.
        let same_before = site.settings.webhooks.iter().take(place).filter(|other| other.url == target.url).count();
        let (site, client, target) = (Arc::clone(site), client.clone(), target.clone());
        let tracker = site.tasks.clone();
        tracker.spawn(async move {
            let position = Position::open(site.settings.state_directory.as_deref(), target.url.as_str(), same_before);
            Outgoing { site, client, target, position, is_failing: false }.run().await;
        });
    }
}

struct Outgoing {
    site: Arc<Site>,
    client: Client,
    target: WebhookTarget,
    position: Position,
    is_failing: bool,
}

/// What became of an event.
enum Delivery {
    Taken,
    /// It is refused for good.
    LeftOut,
    /// The other system wants no more events, or Cortex ends.
    Over,
}

impl Outgoing {
    async fn run(mut self) {
        let ended = self.site.ended.clone();
        if let Some(first) = self.position.first()
            && !self.pass_on(&first, &ended).await
        {
            return;
        }
        let mut events = self.site.port.events(self.position.last());
        let mut missed = 0;
        loop {
            let event = tokio::select! {
                biased;
                () = ended.cancelled() => None,
                event = events.next() => event,
            };
            let Some(event) = event else { break };
            let newly_missed = events.missed().saturating_sub(missed);
            if newly_missed > 0 {
                missed += newly_missed;
                self.tell(&format!("{newly_missed} events can't be had any more, and are not sent"));
            }
            if !self.pass_on(&event, &ended).await {
                break;
            }
        }
        self.position.write().await;
    }

    /// Returns whether more events are to be passed on.
    async fn pass_on(&mut self, event: &CloudEvent, ended: &CancellationToken) -> bool {
        let is_wanted = self.target.wants(&event.kind);
        if is_wanted {
            self.position.begin(event).await;
            let delivery = tokio::select! {
                biased;
                () = ended.cancelled() => Delivery::Over,
                delivery = self.deliver(event) => delivery,
            };
            match delivery {
                Delivery::Taken => {}
                Delivery::LeftOut => {
                    self.tell(&format!("the event {} is refused again and again, and is left out", event.id));
                }
                Delivery::Over => return false,
            }
        }
        self.position.pass(event.id.clone(), is_wanted).await;
        true
    }

    async fn deliver(&mut self, event: &CloudEvent) -> Delivery {
        let body = json(event);
        let (mut pause, mut refusals) = (self.site.settings.limits.webhook_pause, 0);
        loop {
            let problem = match self.send(event.id.as_str(), body.clone()).await {
                Ok(status) if status.is_success() => {
                    if std::mem::take(&mut self.is_failing) {
                        self.tell("it takes events again");
                    }
                    return Delivery::Taken;
                }
                Ok(StatusCode::GONE) => {
                    self.tell("it wants no more events, and gets none until Cortex is restarted");
                    return Delivery::Over;
                }
                Ok(status) => {
                    let is_temporary = status.is_server_error()
                        || matches!(
                            status,
                            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY | StatusCode::TOO_MANY_REQUESTS
                        );
                    refusals += u32::from(!is_temporary);
                    format!("it answers {status}")
                }
                // The address may hold a secret.
                Err(error) => format!("it can't be reached: {}", error.without_url()),
            };
            if refusals >= REFUSALS {
                return Delivery::LeftOut;
            }
            if !self.is_failing {
                self.is_failing = true;
                self.tell(&format!("{problem}; it is tried again, and gets what it has missed"));
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn send(&self, id: &str, body: String) -> Result<StatusCode, reqwest::Error> {
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let signature = self.target.secret.sign(id, now_s, body.as_bytes());
        let request = self.client.post(self.target.url.clone()).header(CONTENT_TYPE, "application/cloudevents+json");
        let request = request.header(ID, id).header(TIMESTAMP, now_s).header(SIGNATURE, signature);
        // The answer itself is not read.
        request.body(body).send().await.map(|answer| answer.status())
    }

    fn tell(&self, what: &str) {
        tracing::warn!(target: "cortex::audit", who = %self.target.shown(), what = "webhook", outcome = what);
    }
}
