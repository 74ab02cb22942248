//! Compression of what browsers load of the page: a third of the bytes. Only files that are the same for everybody are
//! compressed; what holds secrets never is, since its length would tell of them.

use std::io::Write as _;

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;
use flate2::Compression;
use flate2::write::GzEncoder;

/// The bytes in the format of gzip. None where that saves nothing.
pub(crate) fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().filter(|compressed| compressed.len() < bytes.len())
}

/// Whether the client takes gzip.
pub(crate) fn takes_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut any = None;
    for part in values.flat_map(|value| value.split(',')) {
        let (name, weight) = part.split_once(';').unwrap_or((part, ""));
        let takes = weight.trim().strip_prefix("q=").is_none_or(|weight| weight.parse().is_ok_and(|q: f32| q > 0.0));
        match name.trim() {
            name if name.eq_ignore_ascii_case("gzip") => return takes,
            "*" => any = Some(takes),
            _ => {}
        }
    }
    any.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_who_asks_for_it_gets_it() {
        for (value, takes) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("*", true),
            ("gzip;q=0, *", false),
            ("*;q=0", false),
            ("gzip;q=0.000", false),
            ("gzip;q=x", false),
            ("identity", false),
            ("", false),
            ("xgzip", false),
        ] {
            let headers = [(ACCEPT_ENCODING, HeaderValue::from_static(value))].into_iter().collect();
            assert_eq!(takes_gzip(&headers), takes, "{value}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
        assert_eq!(gzip(b"a"), None, "nothing is saved");
    }
}
