//! 1,000,000 observations of 1,000 things at 100 places on a map, half of them at another place than the last time: questions
//! with filters, and the file after half of it was forgotten.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use cortex_memory::{
    Claim, Forget, IS_AT, Layer, LayerKind, Location, MapRef, Memory, MemoryRules, Now, Observation, Pose, Region,
    Source, SourceKind, Span, SpatialQuery, Value,
};
use serde_json::json;

use super::alone::{figure, figures, file, milliseconds, most_megabytes, own_megabytes, times};
use super::documents::megabytes;
use super::numbers::Random;
use crate::table::Table;

pub(crate) const ADDS: &str = "observations-add";
pub(crate) const ASKS: &str = "observations-ask";

const OBSERVATIONS: u64 = 1_000_000;
const THINGS: u64 = 1_000;
const PLACES: u64 = 100;
const BATCH: u64 = 500;
/// A day in November 2023, and the time between two observations: all of them are of 30 days.
const START: u64 = 1_700_000_000_000;
const STEP_MS: u64 = 2_592;
/// Questions of each kind.
const QUESTIONS: u64 = 250;
const MOST: usize = 10;

pub(crate) fn measure(table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("memory.sqlite");
    let added = figures(ADDS, &file)?;
    let asked = figures(ASKS, &file)?;
    table.add(
        format!("{OBSERVATIONS} observations added"),
        "",
        format!("{:.0} a second", figure(&added, "each_second")),
        format!(
            "{:.0} rows, {:.0} facts; at most {:.0} MB",
            figure(&added, "rows"),
            figure(&added, "facts"),
            figure(&added, "most_mb")
        ),
    );
    for (key, kind) in [
        ("all_ms", "all kinds"),
        ("time_ms", "of a time"),
        ("place_ms", "of a part of the map"),
        ("words_ms", "in words"),
    ] {
        table.add_times(
            format!("a question with filters to {OBSERVATIONS} observations, {kind}"),
            "p99 25 ms",
            &times(&asked, key),
        );
    }
    table.add(
        format!("memory that questions to {OBSERVATIONS} observations add (PSS)"),
        "80 MB",
        format!("{:.0} MB", figure(&asked, "grown_mb")),
        format!("at most {:.0} MB in all", figure(&asked, "most_mb")),
    );
    table.add(
        "the file after half was forgotten, of the bytes of the rows that are left",
        "1.2",
        format!("{:.2}", figure(&asked, "after_of_live")),
        format!(
            "{:.0} MB of {:.0} MB, in {:.1} s",
            figure(&asked, "after_mb"),
            figure(&asked, "before_mb"),
            figure(&asked, "forget_s")
        ),
    );
    Ok(())
}

/// The process that adds them.
pub(crate) async fn add() -> anyhow::Result<()> {
    let memory = Memory::open(file()?, rules()).await?;
    let (mut random, mut places) = (Random(3), vec![0; usize::try_from(THINGS)?]);
    let mut adding = Duration::ZERO;
    for first in (0..OBSERVATIONS).step_by(usize::try_from(BATCH)?) {
        let mut batch = Vec::new();
        for number in first..first + BATCH {
            let thing = random.below(THINGS);
            let place = places.get_mut(usize::try_from(thing)?).context("a thing")?;
            if random.below(2) == 0 {
                *place = random.below(PLACES);
            }
            batch.push(sight(&mut random, thing, *place, START + number * STEP_MS));
        }
        let begun = Instant::now();
        memory.add(batch).await?;
        adding += begun.elapsed();
    }
    let size = memory.size().await?;
    let each_second = OBSERVATIONS as f64 / adding.as_secs_f64();
    println!(
        "{}",
        json!({
            "each_second": each_second, "rows": size.observations, "facts": size.open_facts + size.ended_facts,
            "most_mb": most_megabytes()?,
        })
    );
    Ok(())
}

/// The process that asks, and forgets.
pub(crate) async fn ask() -> anyhow::Result<()> {
    let file = file()?;
    let before = own_megabytes()?;
    let memory = Memory::open(&file, rules()).await?;
    let mut random = Random(4);
    let now = Now { wall_ms: START + OBSERVATIONS * STEP_MS, map: Some(map()) };
    let (mut of_time, mut of_place, mut of_words) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..QUESTIONS {
        let hour = 3_600_000;
        let from_ms = START + random.below(OBSERVATIONS * STEP_MS - 24 * hour);
        let subject = Some(format!("thing {}", random.below(THINGS))).filter(|_| number % 2 == 0);
        let span = Span { from_ms, to_ms: from_ms + 24 * hour, subject, layer: Some("things".to_owned()) };
        let begun = Instant::now();
        let runs = memory.temporal_query(span, MOST).await?;
        of_time.push(begun.elapsed());
        // A thing may not be seen in a day.
        ensure!(number % 2 == 0 || !runs.is_empty(), "nothing in a whole day");

        let x_m = random.below(PLACES) as f64 * 5.0;
        let region = Region { x_m, y_m: 0.0, radius_m: 2.0, frame: "map".to_owned(), map: map() };
        let query = SpatialQuery { region, past: number % 2 == 0 };
        let begun = Instant::now();
        memory.spatial_query(query, MOST, &now).await?;
        of_place.push(begun.elapsed());

        let (thing, place) = (random.below(THINGS), random.below(PLACES));
        let question = format!("is thing {thing} at place {place}?");
        let begun = Instant::now();
        let recalled = memory.recall(&question, MOST, &now).await?;
        of_words.push(begun.elapsed());
        ensure!(!recalled.facts.is_empty(), "nothing of {question}");
    }
    let grown_mb = own_megabytes()? - before;
    let most_mb = most_megabytes()?;
    let all: Vec<Duration> = [&of_time, &of_place, &of_words].into_iter().flatten().copied().collect();

    let (rows, before_mb) = (memory.size().await?.observations, megabytes(&file)?);
    let begun = Instant::now();
    memory.forget(Forget::Span { from_ms: START, to_ms: START + OBSERVATIONS / 2 * STEP_MS }).await?;
    let forget_s = begun.elapsed().as_secs_f64();
    let (left, after_mb) = (memory.size().await?.observations, megabytes(&file)?);
    let live_mb = before_mb * left as f64 / rows as f64;
    println!(
        "{}",
        json!({
            "all_ms": milliseconds(&all), "time_ms": milliseconds(&of_time), "place_ms": milliseconds(&of_place),
            "words_ms": milliseconds(&of_words), "grown_mb": grown_mb, "most_mb": most_mb, "before_mb": before_mb,
            "after_mb": after_mb, "after_of_live": after_mb / live_mb, "forget_s": forget_s,
        })
    );
    Ok(())
}

fn rules() -> MemoryRules {
    let mut rules = MemoryRules::default();
    rules.layers.insert("things".to_owned(), Layer::new(LayerKind::Perception));
    rules
}

fn map() -> MapRef {
    MapRef { id: "ground floor".to_owned(), version: "7".to_owned() }
}

fn sight(random: &mut Random, thing: u64, place: u64, wall_ms: u64) -> Observation {
    let jitter = random.below(100) as f64 / 100.0;
    let pose = Pose { x_m: place as f64 * 5.0 + jitter, y_m: thing as f64 / 1_000.0, yaw_rad: 0.0 };
    Observation {
        subject: format!("thing {thing}"),
        claim: Claim::Is { relation: IS_AT.to_owned(), value: Value::Text(format!("place {place}")) },
        wall_ms,
        location: Some(Location { pose, frame: "map".to_owned(), map: map() }),
        layer: "things".to_owned(),
        view: None,
        source: Source { kind: SourceKind::Sensor, name: "/detections".to_owned() },
        confidence: Some(0.9),
    }
}
