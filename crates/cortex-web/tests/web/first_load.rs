//! What a browser loads before a person sees and uses the page.

use std::collections::BTreeSet;
use std::io::Read as _;

use flate2::read::GzDecoder;

use crate::support::TestServer;

/// Bytes of all answers that the first load takes: of the page, its style and all scripts that it imports.
const MOST_BYTES: usize = 80_000;

/// The files that a file has the browser load with it.
fn named(text: &str, folder: &str) -> Vec<String> {
    let after = |mark: &'static str| text.split(mark).skip(1).filter_map(|rest| rest.split(['\'', '"']).next());
    let linked = after("href=\"/assets/").chain(after("src=\"/assets/")).map(|name| format!("/assets/{name}"));
    let imported = after("from './").map(|name| format!("{folder}/{name}"));
    linked.chain(imported).collect()
}

#[tokio::test]
async fn the_first_load_is_small_on_the_way() {
    let server = TestServer::start();
    let (mut open, mut seen, mut bytes) = (vec!["/".to_owned()], BTreeSet::new(), 0);
    while let Some(path) = open.pop() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let answer = server.get(&path).header("Accept-Encoding", "gzip, deflate, br").send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        bytes += answer.headers().iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>();
        let is_compressed = answer.headers().get("content-encoding").is_some();
        let body = answer.bytes().await.unwrap();
        bytes += body.len();
        let mut text = String::from_utf8_lossy(&body).into_owned();
        if is_compressed {
            text.clear();
            GzDecoder::new(&body[..]).read_to_string(&mut text).unwrap();
        }
        open.extend(named(&text, path.rsplit_once('/').unwrap().0));
    }
    assert!(seen.len() > 15 && seen.iter().any(|path| path.ends_with("/state.js")), "{seen:?}");
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}

#[tokio::test]
async fn a_file_is_the_same_compressed_and_not_and_caches_tell_them_apart() {
    let server = TestServer::start();
    let get = |encoding: &'static str| server.get("/assets/main.js").header("Accept-Encoding", encoding);
    let (plain, small) = (get("identity").send().await.unwrap(), get("gzip").send().await.unwrap());
    assert_eq!(small.headers()["content-encoding"], "gzip");
    assert!(plain.headers().get("content-encoding").is_none());
    for answer in [&plain, &small] {
        assert_eq!(answer.headers()["vary"], "Accept-Encoding");
        assert_eq!(answer.headers()["content-type"], "text/javascript; charset=utf-8");
    }
    let tag = small.headers()["etag"].to_str().unwrap().to_owned();
    assert_ne!(plain.headers()["etag"], tag.as_str());
    let known = get("gzip").header("If-None-Match", &tag).send().await.unwrap();
    assert_eq!(known.status(), 304);
    let mut text = String::new();
    GzDecoder::new(&small.bytes().await.unwrap()[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, plain.text().await.unwrap());
    // What is made for one person is not compressed: its length would tell of what is in it.
    let page = server.get("/").header("Accept-Encoding", "gzip").send().await.unwrap();
    assert!(page.headers().get("content-encoding").is_none());
}
