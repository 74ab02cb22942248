//! Bounds against hangs: many times what reading takes, so that they hold on a slow machine that others use as well.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/corpus.rs"]
mod corpus;

use std::time::{Duration, Instant};

use corpus::ToolEntry;
use cortex_language::{Part, Understanding, understand};

/// Far more than a text takes, also in a debug build.
const AT_MOST: Duration = Duration::from_secs(20);

/// The tools of all six robots again and again, each time of another unit.
fn fleet(count: usize) -> Vec<ToolEntry> {
    let mut units = Vec::new();
    for unit in 0.. {
        for mut tool in corpus::ROBOTS.iter().flat_map(|robot| corpus::tools(robot)) {
            if units.len() == count {
                return units;
            }
            tool.name = format!("unit{unit}_{}", tool.name);
            units.push(tool);
        }
    }
    units
}

#[test]
fn many_joined_orders_are_read_in_time() {
    let robot = corpus::robot(&corpus::tools("hotel"));
    let begun = Instant::now();
    for (orders, calls) in [
        (vec!["go to the lobby"; 150], 150),
        (["open drawer 1", "close drawer 2", "go to the lobby"].repeat(50), 150),
        (["go to the lobby", "say hello to everyone"].repeat(75), 0),
    ] {
        let read = understand(&robot, &orders.join(" and "));
        if calls > 0 {
            let Understanding::Understood(parts) = &read else { panic!("{} orders: {read:?}", orders.len()) };
            assert_eq!(parts.iter().filter(|part| matches!(part, Part::Call { .. })).count(), calls);
        }
    }
    assert!(begun.elapsed() < AT_MOST, "{:?}", begun.elapsed());
}

#[test]
fn a_robot_of_many_tools_is_read_in_time() {
    let tools = fleet(6_000);
    let begun = Instant::now();
    let robot = corpus::robot(&tools);
    assert_eq!(robot.len(), 6_000);
    // Every unit that drives may be meant.
    let read = understand(&robot, "go to the kitchen");
    assert!(matches!(&read, Understanding::Unsure { offers, .. } if offers.len() > 1), "{read:?}");
    let read = understand(&robot, "what is the level of the north fan, and do not turn on the hall light");
    assert!(matches!(read, Understanding::Refused(_)), "{read:?}");
    assert!(begun.elapsed() < AT_MOST, "{:?}", begun.elapsed());
}
