//! The pages: shells that the server fills in, so that there is something to see and a STOP to press before any script runs;
//! and what they load, embedded in the binary.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION, SET_COOKIE, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use cortex_protocol::overview::Overview;
use cortex_protocol::{CommandOutcome, ToolName};
use rust_embed::{EmbeddedFile, RustEmbed};
use sha2::{Digest as _, Sha256};

use crate::access::check_embedding;
use crate::compressed::{gzip, takes_gzip};
use crate::connection::Connection;
use crate::error::{ApiError, ErrorKind};
use crate::site::Site;

#[derive(RustEmbed)]
#[folder = "assets/"]
struct Assets;

/// The shells. They are no assets: nobody gets them as they are.
const PAGE: &str = "page.html";
const LOGIN: &str = "login.html";
const STOPPED: &str = "stopped.html";

/// Where a login leads to. It tells whether the browser has kept the cookie.
pub(crate) const AFTER_LOGIN: &str = "/?from=login";
const FROM_LOGIN: &str = "from=login";

/// A digest of all assets: part of their addresses, so that a browser keeps them until any of them changes.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for name in Assets::iter().collect::<BTreeSet<_>>() {
        let content = Assets::get(&name).map(|file| file.metadata.sha256_hash());
        digest.update(name.as_bytes());
        digest.update(content.unwrap_or_default());
    }
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
});

/// Those that are smaller compressed, by name. Made once, when the first one is asked for.
static COMPRESSED: LazyLock<BTreeMap<String, Bytes>> = LazyLock::new(|| {
    let compressed = |name: &str| Some(Bytes::from(gzip(&Assets::get(name)?.data)?));
    Assets::iter().filter_map(|name| Some((name.to_string(), compressed(&name)?))).collect()
});

/// `GET /`.
pub(crate) async fn page(
    State(site): State<Arc<Site>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    if let Err(error) = check_embedding(&headers) {
        return error.into_response();
    }
    let is_from_login = uri.query() == Some(FROM_LOGIN);
    match site.access.identify(&connection, &headers) {
        Err(_) if is_from_login => {
            let said = "You were logged in, but this browser did not keep the cookie. Allow cookies for this address, then \
                        log in with a new code.";
            return login(&site, StatusCode::FORBIDDEN, said);
        }
        Err(_) => return see_other("/login", None),
        Ok(_) if is_from_login => return see_other("/", None),
        Ok(_) => {}
    }
    let overview = site.port.overviews().latest();
    let values = [("summary", summary(&overview)), ("version", env!("CARGO_PKG_VERSION").to_owned())];
    shell(&site, PAGE, StatusCode::OK, &values)
}

/// The login page, with what is to be said about the last try.
pub(crate) fn login(site: &Site, status: StatusCode, said: &str) -> Response {
    let users = if site.access.users().are_there() { "" } else { "hidden" };
    shell(site, LOGIN, status, &[("problem", said.to_owned()), ("users", users.to_owned())])
}

/// The answer to a STOP that was pressed without a script.
pub(crate) fn stopped(site: &Site, result: Result<CommandOutcome, ApiError>) -> Response {
    let (status, outcome, not_stopped) = match result {
        Ok(CommandOutcome::Stopped(stopped)) => {
            let outcome = format!("The robot is stopped. {stopped}");
            (StatusCode::OK, outcome, not_at_rest(&stopped.not_stopped))
        }
        Ok(outcome) => (StatusCode::OK, outcome.to_string(), String::new()),
        Err(error) => (error.status(), "This did NOT stop the robot.".to_owned(), error.reason),
    };
    shell(site, STOPPED, status, &[("outcome", outcome), ("not_stopped", not_stopped)])
}

/// What may still move, in a sentence; empty where nothing does.
fn not_at_rest(tools: &[ToolName]) -> String {
    if tools.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = tools.iter().map(ToolName::as_str).collect();
    format!("Not confirmed to be at rest: {}. Look at the robot.", names.join(", "))
}

/// What is true at the moment, in a sentence or two.
fn summary(overview: &Overview) -> String {
    let mut words = if overview.stop.stopped {
        format!("The robot is stopped. {}", not_at_rest(&overview.stop.not_stopped))
    } else {
        format!("The robot {}.", overview.readiness)
    };
    if let Some(mission) = overview.missions.iter().find(|mission| mission.ended_ms.is_none()) {
        let _ = write!(words, " Task: {}", mission.task);
    }
    words
}

/// Leads a browser elsewhere.
pub(crate) fn see_other(place: &'static str, cookie: Option<HeaderValue>) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(place));
    if let Some(cookie) = cookie {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

/// Fills in a shell.
fn shell(site: &Site, name: &str, status: StatusCode, values: &[(&str, String)]) -> Response {
    let file = Assets::get(name);
    let text = file.as_ref().and_then(|file| std::str::from_utf8(&file.data).ok()).unwrap_or_default();
    let assets = format!("/assets/{}", VERSION.as_str());
    let all = [("robot", site.settings.robot.clone()), ("assets", assets)];
    let page = fill(text, |name| {
        let value = values.iter().chain(&all).find(|(known, _)| *known == name);
        value.map(|(_, value)| value.as_str()).unwrap_or_default()
    });
    let mut response = (status, page).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// Puts values in the places of their names in double braces, as text that is never markup. A remark before the document
/// is left out.
fn fill<'a>(text: &str, value: impl Fn(&str) -> &'a str) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = without_remark(text);
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let Some((name, after)) = after.split_once("}}") else {
            rest = after;
            break;
        };
        escape(value(name.trim()), &mut filled);
        rest = after;
    }
    filled.push_str(rest);
    filled
}

/// The document behind the remark for its authors, `{# ... #}`.
fn without_remark(text: &str) -> &str {
    let remark = text.strip_prefix("{#").and_then(|text| text.split_once("#}"));
    remark.map_or(text, |(_, document)| document).trim_start()
}

/// Writes text so that it is text in HTML, within elements and within quoted attributes.
fn escape(text: &str, into: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            '\0' => into.push('\u{fffd}'),
            other => into.push(other),
        }
    }
}

/// `GET /assets/...`, with or without the version of the assets before the name.
pub(crate) async fn asset(Path(path): Path<String>, headers: HeaderMap) -> Result<Response, ApiError> {
    let (version, name) = match path.split_once('/') {
        Some((version, name)) if is_version(version) => (Some(version), name),
        _ => (None, path.as_str()),
    };
    let file = Assets::get(name).filter(|_| !name.ends_with(".html"));
    let (file, media_type) = file
        .zip(media_type(name))
        .ok_or_else(|| ApiError::new(ErrorKind::NotFound, "There is no such file. Load the page again."))?;
    let compressed = COMPRESSED.get(name).filter(|_| takes_gzip(&headers)).cloned();
    let tag = etag(&file, if compressed.is_some() { "-gzip" } else { "" });
    let is_known = headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let is_compressed = compressed.is_some();
    let data = compressed.unwrap_or_else(|| Bytes::from(file.data.into_owned()));
    let mut response =
        if is_known { StatusCode::NOT_MODIFIED.into_response() } else { Response::new(Body::from(data)) };
    // Of another version, the name may hold something else by now.
    let is_fixed = version == Some(VERSION.as_str());
    let kept = if is_fixed { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    Ok(response)
}

fn is_version(text: &str) -> bool {
    text.len() == VERSION.len() && text.chars().all(|letter| letter.is_ascii_hexdigit())
}

fn etag(file: &EmbeddedFile, form: &str) -> String {
    let digest: String = file.metadata.sha256_hash().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digest}{form}\"")
}

/// Files of other kinds are served to nobody.
fn media_type(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    Some(match ending {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "json" | "webmanifest" => "application/json",
        "woff2" => "font/woff2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_text_whatever_they_hold() {
        let filled = fill("{#- A remark. -#}\n<p title=\"{{ a }}\">{{b}}</p>{{", |name| match name {
            "a" => "\"'><script>",
            "b" => "{{a}} & \u{202e}🤖",
            _ => "",
        });
        assert_eq!(filled, "<p title=\"&quot;&#39;&gt;&lt;script&gt;\">{{a}} &amp; \u{202e}🤖</p>");
    }

    #[test]
    fn the_shells_are_there_and_ask_only_for_what_is_known() {
        for (shell, known) in [
            (PAGE, &["robot", "assets", "summary", "version"][..]),
            (LOGIN, &["robot", "assets", "problem", "users"]),
            (STOPPED, &["robot", "assets", "outcome", "not_stopped"]),
        ] {
            let file = Assets::get(shell).unwrap();
            let text = without_remark(std::str::from_utf8(&file.data).unwrap());
            assert!(text.starts_with("<!doctype html>"), "{shell}");
            let asked = text.split("{{").skip(1).map(|rest| rest.split_once("}}").unwrap().0.trim());
            asked.for_each(|name| assert!(known.contains(&name), "{shell} asks for {name}"));
            for inline in ["<style", "style=", "<script>", " onclick", "javascript:"] {
                assert!(!text.contains(inline), "{shell} holds {inline}, which the browser refuses to run");
            }
        }
        let page = Assets::get(PAGE).unwrap();
        let page = std::str::from_utf8(&page.data).unwrap();
        assert!(page.contains("method=\"post\" action=\"/stop\""), "STOP works without a script");
    }

    #[test]
    fn every_asset_has_a_type() {
        for name in Assets::iter().filter(|name| !name.ends_with(".html")) {
            assert!(media_type(&name).is_some(), "{name}");
        }
    }
}
