//! The operators' page: how soon a line is seen and how soon STOP acts while many pages are open, what disconnects cost, how
//! soon there is something to see, and what pages cost Cortex in memory.

mod port;
mod readers;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use cortex_protocol::{Origin, Principal};
use cortex_stories::{Browser, Colours, PATIENCE, TestRobot, Viewport};
use cortex_web::{WebServer, WebSettings};
use futures::future::try_join_all;
use serde_json::Value;

use crate::missions::resident_megabytes;
use crate::stop::{BusyRobot, GOALS, STOPS};
use crate::table::Table;
use port::TalkativePort;
use readers::{Gathered, Reader, break_off};

/// Pages that are open: two in a browser, one that reads nothing, and readers of the stream.
const PAGES: usize = 50;
/// What the camera sends, 10 MB/s: its width, height, and pictures a second.
const CAMERA: [&str; 3] = ["640", "480", "11"];
const CAMERA_SHOWN: &str = "640 × 480 · rgb8";
/// For how long lines are timed.
const TIMED: Duration = Duration::from_secs(10);
/// Disconnects, and readers that share them.
const DISCONNECTS: u32 = 1_000;
const BREAKING_READERS: u32 = 4;
/// Times that the page is opened in a new browser.
const OPENINGS: usize = 5;

/// Notes for each line when it comes into the document, in milliseconds after it came to be.
const TIME_LINES: &str = "
    window.delays = [];
    const begun = performance.timeOrigin + performance.now();
    new MutationObserver((records) => {
      const now = performance.timeOrigin + performance.now();
      for (const record of records) for (const node of record.addedNodes) {
        const at = / at (\\d+),/.exec(node.textContent);
        if (at && Number(at[1]) / 1000 > begun) window.delays.push(now - Number(at[1]) / 1000);
      }
    }).observe([...document.querySelectorAll('.log .lines')].find((list) => list.offsetParent), { childList: true });";
/// Notes when STOP is pressed, in milliseconds since 1970.
const TIME_PRESSES: &str = "
    window.presses = [];
    document.getElementById('stop').addEventListener('click',
      () => window.presses.push(performance.timeOrigin + performance.now()), { capture: true });";
/// When something is seen, and how many bytes came.
const TIME_OPENING: &str = "
    const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    return { paint: performance.getEntriesByName('first-contentful-paint')[0].startTime,
             bytes: all.reduce((sum, entry) => sum + entry.transferSize, 0) };";

/// Under load: lines at 1 kHz, a camera at 10 MB/s that is looked at, [`PAGES`] pages, one of which reads nothing.
pub(crate) async fn under_load(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    let robot = BusyRobot::start(test_robot).await?;
    let port = Arc::new(TalkativePort::new(robot.stop_handle(), Arc::new(robot.views()))?);
    let settings = WebSettings::new("127.0.0.1:0".parse()?, "Bench");
    let server = WebServer::start(settings, Arc::clone(&port) as Arc<dyn cortex_core::OperatorPort>)?;
    let address = server.address();
    let browser = Browser::start().await;
    openings(address, &browser, table).await?;
    let talking = port.talk();
    let stuck = Reader::connect(address, None).await?;
    test_robot.start_python("lens", "page_camera.py", &CAMERA).await;
    let watching = browser.open(&format!("http://{address}/"), Viewport::Wide, Colours::Light).await;
    watching.click("nav a", "Robot").await;
    watching.wait_for(".camera-panel", CAMERA_SHOWN).await;
    let readers = try_join_all((3..PAGES).map(|_| Reader::connect(address, None))).await?;
    let readers: Vec<_> = readers.into_iter().map(Reader::read_on).collect();
    let page = browser.open(&format!("http://{address}/"), Viewport::Wide, Colours::Light).await;
    page.wait_for(".log .line-text", "line").await;

    page.script(TIME_LINES, Vec::new()).await;
    // Not waiting for something, but measuring for so long.
    tokio::time::sleep(TIMED).await;
    let delays = times(&page.script("return window.delays", Vec::new()).await);
    ensure!(!delays.is_empty(), "no line came into the page");
    table.add_times(
        format!(
            "from a line to the document of a page in Chromium, 1 kHz, {PAGES} pages of which one reads nothing and one \
             looks at a camera of 10 MB/s"
        ),
        "50 ms (p99)",
        &delays,
    );

    page.script(TIME_PRESSES, Vec::new()).await;
    let mut stops = Vec::new();
    for round in 0..STOPS {
        robot.begin_goals(round).await?;
        page.click("#stop", "STOP").await;
        let mut sent = port.stops.subscribe();
        let sent = tokio::time::timeout(PATIENCE, sent.wait_for(|sent| sent.len() > round as usize));
        let sent_at = sent.await.context("nothing is cancelled")??.last().copied().context("a time")?;
        let pressed = page.script("return window.presses.at(-1)", Vec::new()).await;
        stops.push(since_1970(sent_at).saturating_sub(milliseconds(&pressed)));
        // The page has its answer, and asks no more.
        page.wait_for("#stop-panel", "No task was running").await;
        let operator = Principal::operator(Origin::new("bench", "bench"));
        robot.stop_handle().resume_for_task(operator).await?;
    }
    table.add_times(
        format!("from STOP on that page to the last cancel sent, {GOALS} goals in flight, under the same load"),
        "10 ms beyond the network (p99)",
        &stops,
    );
    watching.wait_for(".camera-panel", CAMERA_SHOWN).await;
    page.close().await;
    watching.close().await;
    drop((readers, stuck));
    disconnects(address, table).await?;
    drop(talking);
    server.shut_down().await;
    robot.end(test_robot).await
}

async fn disconnects(address: SocketAddr, table: &mut Table) -> anyhow::Result<()> {
    let breaking = (0..BREAKING_READERS).map(|seed| break_off(address, DISCONNECTS / BREAKING_READERS, seed.into()));
    let all = try_join_all(breaking).await?;
    let sum = |part: fn(&Gathered) -> u64| all.iter().map(part).sum::<u64>();
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    let ratio = sum(|it| it.received) as f64 / sum(|it| it.different).max(1) as f64;
    table.add(
        format!("{DISCONNECTS} disconnects at 1 kHz: lines lost, twice"),
        "0, 0",
        format!("{}, {}", sum(|it| it.lost), sum(|it| it.twice)),
        format!("{ratio:.3} x the bytes of the lines, at most 1.05 wanted"),
    );
    Ok(())
}

async fn openings(address: SocketAddr, browser: &Browser, table: &mut Table) -> anyhow::Result<()> {
    let (mut paints, mut bytes) = (Vec::new(), 0);
    for _ in 0..OPENINGS {
        let page = browser.open(&format!("http://{address}/"), Viewport::Wide, Colours::Light).await;
        page.wait_for(".mission-head", "talk").await;
        let opening = page.script(TIME_OPENING, Vec::new()).await;
        paints.push(milliseconds(opening.get("paint").context("a paint")?));
        bytes = opening.get("bytes").and_then(Value::as_u64).context("a number of bytes")?;
        page.close().await;
    }
    table.add_times("from the request to the first content of the page, a new Chromium", "300 ms", &paints);
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    table.add("bytes of the whole page as they come", "150 kB", format!("{:.1} kB", bytes as f64 / 1e3), "");
    Ok(())
}

/// What pages cost a Cortex with the simulated robot.
pub(crate) async fn memory(test_robot: &mut TestRobot, table: &mut Table) -> anyhow::Result<()> {
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
    test_robot.start("sim", "cortex-sim", &[]).await;
    test_robot.start_cortex(&[]).await;
    let line = test_robot.process("cortex").wait_for_line("page: http").await;
    let address: SocketAddr = line.trim_start_matches("page: http://").trim_end_matches('/').parse()?;
    let process = test_robot.process("cortex").id();
    let before = resident_megabytes(process)?;
    let mut readers = Vec::new();
    for pages in [1, PAGES] {
        while readers.len() < pages {
            let mut reader = Reader::connect(address, None).await?;
            // The first frames have the most in them.
            for _ in 0..4 {
                reader.next().await?;
            }
            readers.push(reader.read_on());
        }
        table.add(
            format!("memory of Cortex that open pages add, {pages}"),
            if pages == 1 { "10 MB" } else { "40 MB" },
            format!("{:.1} MB", resident_megabytes(process)? - before),
            format!("{before:.1} MB without"),
        );
    }
    Ok(())
}

fn times(list: &Value) -> Vec<Duration> {
    list.as_array().map(Vec::as_slice).unwrap_or_default().iter().map(milliseconds).collect()
}

/// A number of milliseconds. A clock that was set back meanwhile is no reason to fail.
fn milliseconds(number: &Value) -> Duration {
    Duration::try_from_secs_f64(number.as_f64().unwrap_or_default() / 1e3).unwrap_or_default()
}

fn since_1970(instant: Instant) -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(instant.elapsed())
}
