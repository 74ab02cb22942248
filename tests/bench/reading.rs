//! Sentences read without a model, by robots of few and of many tools.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::ensure;
use cortex_language::{Declared, Robot, Understanding, Usage, understand};
use serde_json::{Value, json};

use crate::table::{Table, median};

/// Readings that are measured, after one that is not.
const READINGS: usize = 20;
/// Robots that are built.
const ROBOTS: usize = 5;
/// Orders that are joined by "and".
const ORDERS: usize = 150;

const SHORT: &str = "set the level of the north pump to 40 percent";
const LONG: &str = "please set the level of the north pump to 40 percent, then open the north valve, close the north \
                    door, start the north fan and after that set the level of the north lamp to 10 percent";
const ORDER: &str = "open the north valve";

const PLACES: [&str; 25] = [
    "north", "east", "west", "upper", "lower", "inner", "outer", "rear", "main", "spare", "amber", "azure", "coral",
    "ivory", "olive", "pearl", "ruby", "topaz", "jade", "onyx", "opal", "cedar", "maple", "birch", "willow",
];
const THINGS: [&str; 25] = [
    "pump",
    "valve",
    "door",
    "fan",
    "lamp",
    "heater",
    "conveyor",
    "camera",
    "window",
    "shelf",
    "winch",
    "mixer",
    "sprayer",
    "crane",
    "mower",
    "tank",
    "filter",
    "oven",
    "feeder",
    "printer",
    "turntable",
    "vacuum",
    "ladder",
    "hatch",
    "cooler",
];
/// With the beginnings of their descriptions.
const METHODS: [(&str, &str); 10] = [
    ("open", "Opens"),
    ("close", "Closes"),
    ("set_level", "Sets the level of"),
    ("start", "Starts"),
    ("stop", "Stops"),
    ("clean", "Cleans"),
    ("reset", "Resets"),
    ("test", "Tests"),
    ("get_level", "Level of"),
    ("get_temperature", "Temperature of"),
];

/// A tool, in the words of its robot.
struct Sketch {
    name: String,
    description: String,
    parameters: Value,
    looks: bool,
}

pub(crate) fn measure(table: &mut Table) -> anyhow::Result<()> {
    let few = sketches(25);
    let robot = robot(&few);
    let (long, _) = times(&robot, LONG)?;
    table.add_times("30 words, 25 tools", "under 2 ms", &long);
    let (short, _) = times(&robot, SHORT)?;
    table.add_times("a sentence, 25 tools", "", &short);
    let text = vec![ORDER; ORDERS].join(" and ");
    let (joined, parts) = times(&robot, &text)?;
    ensure!(parts == ORDERS, "{parts} of {ORDERS} orders were read");
    let one = times(&robot, ORDER)?.0;
    table.add_times(format!("{ORDERS} orders joined by \"and\""), "", &joined);
    table.add("the same, in times of one order", "", ratio(&joined, &one), String::new());
    for (count, target) in [(1_000, "under 5 ms"), (6_000, "under 30 ms")] {
        let many = sketches(count);
        let mut built = Vec::new();
        for _ in 0..ROBOTS {
            let begun = Instant::now();
            black_box(self::robot(&many));
            built.push(begun.elapsed());
        }
        let robot = self::robot(&many);
        let (read, _) = times(&robot, SHORT)?;
        let wanted = if count == 1_000 { "under 30 ms" } else { "" };
        table.add_times(format!("the words of a robot of {count} tools"), wanted, &built);
        table.add_times(format!("a sentence, {count} tools"), target, &read);
        table.add(
            format!("the same, in times of 25 tools, where {count} has {}", count / 25),
            "",
            ratio(&read, &short),
            "",
        );
    }
    Ok(())
}

/// How long the text takes, and of how many parts it is.
fn times(robot: &Robot, text: &str) -> anyhow::Result<(Vec<Duration>, usize)> {
    let Understanding::Understood(parts) = understand(robot, text) else {
        anyhow::bail!("not understood: {text:.60}");
    };
    let read = |_| {
        let begun = Instant::now();
        black_box(understand(robot, text));
        begun.elapsed()
    };
    Ok(((0..READINGS).map(read).collect(), parts.len()))
}

fn ratio(one: &[Duration], other: &[Duration]) -> String {
    format!("{:.1}", median(one).as_secs_f64() / median(other).as_secs_f64())
}

/// So many tools of different things at different places, those of the first five things at one place first.
fn sketches(count: usize) -> Vec<Sketch> {
    let tool = |index: usize| -> Option<Sketch> {
        let (method, does) = METHODS.get(index / 5 % METHODS.len())?;
        let thing = THINGS.get(index % 5 + index / 50 % 5 * 5)?;
        let place = PLACES.get(index / (METHODS.len() * THINGS.len()))?;
        let properties = if *method == "set_level" {
            json!({"level": {"type": "number", "minimum": 0, "maximum": 100, "description": "In percent."}})
        } else {
            json!({})
        };
        let required: Vec<&String> = properties.as_object().into_iter().flat_map(|it| it.keys()).collect();
        Some(Sketch {
            name: format!("{place}_{thing}-{method}"),
            description: format!("{does} the {place} {thing}."),
            parameters: json!({"type": "object", "properties": properties, "required": required}),
            looks: method.starts_with("get_"),
        })
    };
    (0..count).filter_map(tool).collect()
}

fn robot(sketches: &[Sketch]) -> Robot {
    Robot::new(sketches.iter().map(|sketch| Declared {
        name: &sketch.name,
        description: &sketch.description,
        parameters: &sketch.parameters,
        phrases: &[],
        usage: if sketch.looks { Usage::Research } else { Usage::Step },
        looks: sketch.looks,
    }))
}
