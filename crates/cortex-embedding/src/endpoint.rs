//! A model behind an OpenAI-compatible endpoint: `POST BASE/embeddings`.

use std::sync::Arc;

use async_trait::async_trait;
use cortex_core::{EmbedError, Embedder};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Client, Response, StatusCode, redirect};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use url::Url;

use crate::endpoint_settings::{EndpointError, EndpointSettings};
use crate::reply::{self, ReplyFlaw};

/// Texts of one request: small servers take no more.
const BATCH: usize = 32;
/// Most bytes that a number of a reply takes, with what stands around it.
const NUMBER_BYTES: usize = 32;
/// What a reply may have besides its numbers, in bytes for each text.
const AROUND_BYTES: usize = 4 * 1024;
/// How much of an error's body is read, in bytes, and shown, in characters.
const ERROR_BYTES: usize = 4 * 1024;
const ERROR_SHOWN: usize = 300;
/// Characters to which a text that is refused is shortened at last.
const SHORTEST: usize = 60;

/// A model behind an endpoint. Nothing is sent before the first texts are. Clones share it.
#[derive(Clone)]
pub struct EndpointEmbedder {
    /// Which model: its name there, and the dimension of its vectors.
    identity: Arc<str>,
    client: Client,
    address: Arc<str>,
    authorization: Option<HeaderValue>,
    settings: Arc<EndpointSettings>,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [String],
}

impl EndpointEmbedder {
    /// The model of these settings.
    ///
    /// # Errors
    /// When its endpoint can't be asked.
    pub fn new(settings: EndpointSettings) -> Result<Self, EndpointError> {
        let base_url = settings.base_url.clone();
        let authorization = settings.key.as_ref().map(|key| {
            let value = HeaderValue::from_str(&format!("Bearer {}", key.expose_secret()));
            let mut value = value.map_err(|_| EndpointError::UnusableKey { base_url: base_url.clone() })?;
            value.set_sensitive(true);
            Ok(value)
        });
        let client = client(&base_url)
            .map_err(|problem| EndpointError::HttpClient { base_url: base_url.clone(), problem: chain(&problem) })?;
        Ok(Self {
            identity: format!("endpoint:{}/{}", settings.model, settings.dimension).into(),
            client,
            address: format!("{base_url}/embeddings").into(),
            authorization: authorization.transpose()?,
            settings: Arc::new(settings),
        })
    }

    /// The vectors of so many texts as go into one request. One text that the endpoint refuses keeps no other from its vector:
    /// they are then asked for by themselves.
    async fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Unanswered> {
        if texts.len() > 1 {
            match self.ask(texts).await {
                Err(Unanswered::TextRefused(_)) => {}
                answered => return answered,
            }
        }
        let mut vectors = Vec::with_capacity(texts.len());
        for text in texts {
            vectors.push(self.vector(text).await?);
        }
        Ok(vectors)
    }

    /// The vector of one text, or of its beginning where the endpoint takes no more: models know texts up to some length.
    async fn vector(&self, text: &str) -> Result<Vec<f32>, Unanswered> {
        let mut text: Vec<char> = text.chars().collect();
        loop {
            let answered = self.ask(&[text.iter().collect()]).await;
            match answered {
                Err(Unanswered::TextRefused(_)) if text.len() > SHORTEST => {
                    text.truncate((text.len() / 2).max(SHORTEST));
                }
                answered => return answered.map(|mut vectors| vectors.pop().unwrap_or_default()),
            }
        }
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Unanswered> {
        let EndpointSettings { model, dimension, timeout, .. } = self.settings.as_ref();
        let body = serde_json::to_vec(&Request { model, input: texts })
            .map_err(|problem| Unanswered::Failed(problem.to_string()))?;
        let mut request = self.client.post(&*self.address).header(CONTENT_TYPE, "application/json").body(body);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let most = texts.len() * (dimension * NUMBER_BYTES + AROUND_BYTES);
        let reply = async {
            let response = request.send().await;
            let response = response.map_err(|problem| Unanswered::Failed(format!("no reply: {}", chain(&problem))))?;
            let status = response.status();
            if status.is_success() {
                body_of(response, most).await
            } else {
                Err(refused(status, refusal(status, response).await))
            }
        };
        let late = |_| Unanswered::Failed(format!("no reply within {} s", timeout.as_secs_f64()));
        let body = tokio::time::timeout(*timeout, reply).await.map_err(late)??;
        reply::vectors(&body, texts.len(), *dimension).map_err(|problem| match problem {
            ReplyFlaw::NoDirection => Unanswered::TextRefused(problem.to_string()),
            problem => Unanswered::Failed(problem.to_string()),
        })
    }

    /// What an endpoint says, for people: without the key, which endpoints have been seen to repeat, and not longer than anybody
    /// reads.
    fn shown(&self, unanswered: Unanswered) -> EmbedError {
        let (Unanswered::TextRefused(said) | Unanswered::Failed(said)) = unanswered;
        let key = self.settings.key.as_ref().map(|key| key.expose_secret()).filter(|key| !key.is_empty());
        let said = key.map_or_else(|| said.clone(), |key| said.replace(key, "[key]"));
        let said: String = said.chars().filter(|letter| !letter.is_control()).take(ERROR_SHOWN).collect();
        EmbedError(format!("{}: {said}", self.address))
    }
}

/// Why there are no vectors, in words of the endpoint, too.
enum Unanswered {
    /// It may take other texts, or a part of this one.
    TextRefused(String),
    Failed(String),
}

/// What a status that is none of success says of the texts.
fn refused(status: StatusCode, said: String) -> Unanswered {
    match status {
        StatusCode::BAD_REQUEST
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNPROCESSABLE_ENTITY
        | StatusCode::INTERNAL_SERVER_ERROR => Unanswered::TextRefused(said),
        _ => Unanswered::Failed(said),
    }
}

/// A client that goes nowhere but to this endpoint.
fn client(base_url: &str) -> Result<Client, reqwest::Error> {
    // A redirected request would take the texts elsewhere; the person shall write the right address.
    let mut builder = Client::builder().redirect(redirect::Policy::none());
    let url = Url::parse(base_url).ok();
    if url.as_ref().is_some_and(is_this_machine) {
        // A proxy of the machine can't reach a server on the machine.
        builder = builder.no_proxy();
    }
    if url.is_some_and(|url| url.scheme() == "http") {
        // Without TLS no certificates are needed, and a bare machine may have none to load.
        builder = builder.tls_certs_only(Vec::new());
    }
    builder.build()
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// The whole body of a reply, as long as it may be.
async fn body_of(mut response: Response, most: usize) -> Result<Vec<u8>, Unanswered> {
    let mut body = Vec::new();
    let broken_off = |problem| Unanswered::Failed(format!("the reply broke off: {}", chain(&problem)));
    while let Some(chunk) = response.chunk().await.map_err(broken_off)? {
        if body.len() + chunk.len() > most {
            let problem = format!("the reply is longer than the {most} bytes that such vectors can have");
            return Err(Unanswered::Failed(problem));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// What an endpoint says that does not compute, and what to do.
async fn refusal(status: StatusCode, mut response: Response) -> String {
    let mut body = Vec::new();
    while body.len() < ERROR_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    let said: String = String::from_utf8_lossy(&body).split_whitespace().collect::<Vec<_>>().join(" ");
    let advice = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "; check the key that [keys] names for it",
        StatusCode::NOT_FOUND => "; check embedding.endpoint and embedding.model",
        _ if status.is_redirection() => "; write the address that it leads to into embedding.endpoint",
        _ => "",
    };
    format!("status {status}{advice}: {said}")
}

/// An error with its causes: the outermost text of the client alone says little.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        cause = inner.source();
    }
    text
}

#[async_trait]
impl Embedder for EndpointEmbedder {
    fn model(&self) -> &str {
        &self.identity
    }

    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            vectors.extend(self.vectors(batch).await.map_err(|unanswered| self.shown(unanswered))?);
        }
        Ok(vectors)
    }
}
