//! Whether a request comes from this very machine, and whether the page that sends it is the robot's own.

use std::net::IpAddr;

use axum::http::header::{AUTHORIZATION, FORWARDED, HOST, HeaderName, ORIGIN, VIA};
use axum::http::{HeaderMap, Uri};

use crate::error::{ApiError, ErrorKind};
use crate::headers::{media_type, one};

/// Says that a request was passed on: its sender is somebody else than the peer.
const PASSED_ON: [HeaderName; 2] = [FORWARDED, VIA];
/// Names of the many more that proxies and tunnels add: `x-forwarded-for`, `x-real-ip`, `true-client-ip`, ...
const PASSED_ON_PARTS: [&str; 4] = ["forwarded", "real-ip", "client-ip", "connecting-ip"];
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Whether nobody but a program or a person on this machine can have sent it: the peer is this machine, the request was
/// meant for it by a name that no foreign DNS decides, and nothing has passed it on.
pub(crate) fn is_this_machine(peer: IpAddr, headers: &HeaderMap) -> bool {
    let passed_on = PASSED_ON.iter().any(|name| headers.contains_key(name))
        || headers.keys().any(|name| says_passed_on(&name.as_str().replace('_', "-")));
    let is_meant = one(headers, HOST).is_some_and(|host| is_loopback_name(host_name(host)));
    peer.to_canonical().is_loopback() && is_meant && !passed_on
}

fn says_passed_on(name: &str) -> bool {
    PASSED_ON_PARTS.iter().any(|part| name.contains(part))
}

/// The name or address of `NAME:PORT`, without the brackets of an IPv6 address. Empty where it is anything else: what no
/// browser sends is not guessed at.
fn host_name(host: &str) -> &str {
    let (name, rest) = match host.strip_prefix('[') {
        Some(address) => address.split_once(']').unwrap_or_default(),
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| port.chars().all(|digit| digit.is_ascii_digit());
    let is_whole = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
    if is_whole { name } else { "" }
}

fn is_loopback_name(name: &str) -> bool {
    let address = name.parse::<IpAddr>().map(|address| address.to_canonical());
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Checks that a request that changes something was sent by the robot's own page, or by no browser at all.
///
/// `is_program_trusted`: whether a request that says nothing about a page counts where it is no form: it bears a token that
/// browsers do not send by themselves, or comes from this machine.
///
/// # Errors
/// When another site's page may have sent it.
pub(crate) fn check_origin(headers: &HeaderMap, is_program_trusted: bool, is_encrypted: bool) -> Result<(), ApiError> {
    let allowed = if headers.contains_key(ORIGIN) {
        is_own_origin(headers, is_encrypted)
    } else if headers.contains_key(FETCH_SITE) {
        one(headers, FETCH_SITE).is_some_and(|site| matches!(site, "same-origin" | "none"))
    } else {
        // A browser without either header can send forms, which always have a type, and none that is JSON.
        let is_form = headers.contains_key(axum::http::header::CONTENT_TYPE)
            && media_type(headers).as_deref() != Some("application/json");
        is_program_trusted && (headers.contains_key(AUTHORIZATION) || !is_form)
    };
    if allowed {
        return Ok(());
    }
    let reason = "Another site's page, or a program that does not say who it is, asks for this. Use the robot's own page; a \
                  program sends 'Content-Type: application/json' and 'Authorization: Bearer ...'.";
    Err(ApiError::new(ErrorKind::CrossOrigin, reason))
}

/// Whether the page that asks has the same host and port as the request itself. On an encrypted connection, one that was
/// loaded in clear may have been made by anybody on the way.
pub(crate) fn is_own_origin(headers: &HeaderMap, is_encrypted: bool) -> bool {
    let Some((origin, host)) = one(headers, ORIGIN).zip(one(headers, HOST)) else { return false };
    let Ok(origin) = origin.parse::<Uri>() else { return false };
    let default_port = match origin.scheme_str() {
        Some("http") if !is_encrypted => ":80",
        Some("https") => ":443",
        _ => return false,
    };
    let plain = |authority: &str| {
        let authority = authority.to_ascii_lowercase();
        authority.strip_suffix(default_port).map(str::to_owned).unwrap_or(authority)
    };
    origin.authority().is_some_and(|authority| plain(authority.as_str()) == plain(host))
}

/// Checks that a request that only reads was not made by a part of another site's page: a link from there is fine.
///
/// # Errors
/// When it was.
pub(crate) fn check_embedding(headers: &HeaderMap) -> Result<(), ApiError> {
    let is_foreign = one(headers, FETCH_SITE).is_some_and(|site| matches!(site, "cross-site" | "same-site"));
    let is_link = one(headers, FETCH_MODE).is_some_and(|mode| mode == "navigate");
    if is_foreign && !is_link {
        let reason = "Another site's page asks for this. Use the robot's own page.";
        return Err(ApiError::new(ErrorKind::CrossOrigin, reason));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(given: &[(&'static str, &'static str)]) -> HeaderMap {
        let given = given.iter();
        given.map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn only_who_sits_at_the_machine_needs_no_login() {
        for host in ["127.0.0.1:8642", "localhost", "LOCALHOST:80", "[::1]:8642", "127.8.0.1", "[::ffff:127.0.0.1]:1"] {
            for peer in ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"] {
                assert!(is_this_machine(peer.parse().unwrap(), &headers(&[("host", host)])), "{peer} {host}");
            }
            for peer in ["192.168.0.7", "10.0.0.1", "fe80::1", "0.0.0.0", "::", "::ffff:10.0.0.1"] {
                assert!(!is_this_machine(peer.parse().unwrap(), &headers(&[("host", host)])), "{peer} {host}");
            }
        }
    }

    #[test]
    fn a_foreign_name_that_leads_to_this_machine_is_not_this_machine() {
        let loopback = "127.0.0.1".parse().unwrap();
        for host in [
            "evil.example:8642",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "robot.local",
            "",
            "192.168.0.7:8642",
            "0.0.0.0:8642",
            "evil.example@127.0.0.1",
            "[evil]:1",
            "[::1]evil.example",
            "[::1",
            "localhost:80@evil.example",
            "localhost:evil.example",
        ] {
            assert!(!is_this_machine(loopback, &headers(&[("host", host)])), "{host}");
        }
        assert!(!is_this_machine(loopback, &headers(&[])));
        let mut twice = headers(&[("host", "localhost")]);
        twice.append(HOST, HeaderValue::from_static("evil.example"));
        assert!(!is_this_machine(loopback, &twice));
    }

    #[test]
    fn what_was_passed_on_comes_from_somebody_else() {
        for name in [
            "forwarded",
            "via",
            "x-real-ip",
            "x-forwarded-for",
            "x-forwarded-host",
            "x-forwarded-anything",
            "x_forwarded_for",
            "x-original-forwarded-for",
            "true-client-ip",
            "cf-connecting-ip",
            "x-client-ip",
        ] {
            let headers = headers(&[("host", "localhost"), (name, "")]);
            assert!(!is_this_machine("127.0.0.1".parse().unwrap(), &headers), "{name}");
        }
    }

    #[test]
    fn a_page_acts_only_for_its_own_host() {
        for (origin, host, own) in [
            ("http://127.0.0.1:8642", "127.0.0.1:8642", true),
            ("https://Robot.local", "robot.local", true),
            ("https://robot.local", "robot.local:443", true),
            ("http://[::1]:8642", "[::1]:8642", true),
            ("http://127.0.0.1:3000", "127.0.0.1:8642", false),
            ("http://localhost:8642", "127.0.0.1:8642", false),
            ("http://evil.example", "127.0.0.1:8642", false),
            ("null", "127.0.0.1:8642", false),
            ("", "", false),
            ("ftp://127.0.0.1:8642", "127.0.0.1:8642", false),
            ("http://evil.example@127.0.0.1:8642", "127.0.0.1:8642", false),
        ] {
            let headers = headers(&[("origin", origin), ("host", host)]);
            assert_eq!(check_origin(&headers, true, false).is_ok(), own, "{origin} {host}");
        }
    }

    #[test]
    fn a_page_that_came_in_clear_does_nothing_on_an_encrypted_connection() {
        let from = |origin| headers(&[("origin", origin), ("host", "robot.local")]);
        assert!(check_origin(&from("https://robot.local"), true, true).is_ok());
        assert!(check_origin(&from("http://robot.local"), true, true).is_err());
        assert!(check_origin(&from("https://robot.local"), true, false).is_ok(), "a proxy may have encrypted it");
    }

    #[test]
    fn without_an_origin_the_browser_or_the_kind_of_request_decides() {
        let judged =
            |given: &[(&'static str, &'static str)], trusted| check_origin(&headers(given), trusted, false).is_ok();
        assert!(judged(&[("sec-fetch-site", "same-origin")], false));
        assert!(judged(&[("sec-fetch-site", "none")], false));
        assert!(!judged(&[("sec-fetch-site", "cross-site")], true));
        assert!(!judged(&[("sec-fetch-site", "same-site")], true));
        assert!(judged(&[("content-type", "application/json; charset=utf-8")], true));
        assert!(judged(&[], true), "a form has a type");
        assert!(!judged(&[("content-type", "application/x-www-form-urlencoded")], true));
        assert!(!judged(&[("content-type", "text/plain")], true));
        assert!(!judged(&[("content-type", "application/json")], false), "a cookie alone is sent by any page");
    }
}
