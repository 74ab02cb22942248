//! What must never happen to facts: that one ends by mistake, and that a pose of another map is one to drive to.

use anyhow::Context as _;
use cortex_memory::{Claim, Coverage, Fact, IS_AT, Memory, MemoryRules, NOTES, Observation, Source, SourceKind, Value};

use super::numbers::Random;
use super::old_maps;
use crate::table::Table;

const THINGS: u64 = 2_500;
/// Facts of each thing beside the place where it is.
const TAGS: u64 = 3;
const SHELVES: u64 = 50;
const TRIALS: usize = 10_000;

/// 10,000 facts, of which some are seen otherwise, in an order of chance; the names of the things hold each other.
pub(crate) async fn retired(table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let memory = Memory::open(folder.path().join("memory.sqlite"), MemoryRules::default()).await?;
    let mut first = Vec::new();
    for thing in 0..THINGS {
        first.push(camera(thing, is(IS_AT, format!("shelf {}", thing % SHELVES)), 0));
        first.extend((0..TAGS).map(|tag| camera(thing, is("has tag", format!("tag {}", thing % 7 + tag)), 0)));
    }
    memory.add(first).await?;
    let mut order: Vec<u64> = (0..THINGS).collect();
    let mut random = Random(5);
    order.sort_by_cached_key(|_| random.next());
    let shelf = |number: u64| Coverage::Place(format!("shelf {}", number % SHELVES));
    let ends = |thing: u64| thing.is_multiple_of(10);
    let later = order.iter().map(|thing| {
        let claim = match thing {
            thing if thing % 20 == 10 => is(IS_AT, "cellar".to_owned()),
            thing if thing % 20 == 0 => Claim::NotThere { covered: shelf(*thing) },
            thing if thing % 2 == 0 => Claim::NotThere { covered: shelf(*thing + 1) },
            thing if thing % 3 == 0 => is("has tag", "tag 99".to_owned()),
            thing => Claim::CouldNotSee { covered: shelf(*thing), reason: "it was dark".to_owned() },
        };
        camera(*thing, claim, 20)
    });
    memory.add(later.collect()).await?;
    let (mut facts, mut wrongly, mut kept_wrongly) = (0, 0, 0);
    for thing in 0..THINGS {
        let places = memory.history(&name(thing), IS_AT, 10).await?;
        let shelf = Value::Text(format!("shelf {}", thing % SHELVES));
        let place = places.iter().find(|fact| fact.value == shelf).context("its first place")?;
        let tags = memory.history(&name(thing), "has tag", 10).await?;
        let ended = |fact: &Fact| fact.ended.is_some();
        facts += 1 + tags.len();
        wrongly += usize::from(ended(place) && !ends(thing)) + tags.iter().filter(|fact| ended(fact)).count();
        kept_wrongly += usize::from(!ended(place) && ends(thing));
    }
    table.add(
        "facts that ended wrongly",
        "0",
        wrongly.to_string(),
        format!("of {facts}; {kept_wrongly} went on wrongly"),
    );
    Ok(())
}

/// A map that is replaced again and again.
pub(crate) async fn old_maps(table: &mut Table) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let memory = Memory::open(folder.path().join("memory.sqlite"), old_maps::rules()).await?;
    let trials = old_maps::run(&memory, TRIALS).await;
    table.add(
        "goals sent to a pose of another map",
        "0",
        trials.sent_wrongly.to_string(),
        format!("of {} sent, {} answers; {} in words without a warning", trials.sent, trials.answers, trials.unmarked),
    );
    Ok(())
}

fn name(thing: u64) -> String {
    if thing.is_multiple_of(2) { format!("thing {thing}") } else { format!("thing {} lid", thing - 1) }
}

fn is(relation: &str, value: String) -> Claim {
    Claim::Is { relation: relation.to_owned(), value: Value::Text(value) }
}

fn camera(thing: u64, claim: Claim, minute: u64) -> Observation {
    Observation {
        subject: name(thing),
        claim,
        wall_ms: 1_700_000_000_000 + minute * 60_000,
        location: None,
        layer: NOTES.to_owned(),
        view: None,
        source: Source { kind: SourceKind::Sensor, name: "/camera".to_owned() },
        confidence: None,
    }
}
