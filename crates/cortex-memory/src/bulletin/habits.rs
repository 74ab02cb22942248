//! Observations from repetition: a task that people give at about the same local hour on several days. Told with its count and
//! its times; that it will come again is nobody's word.

use std::collections::{BTreeMap, BTreeSet};

use super::words::said;
use crate::interaction::KeptInteraction;
use crate::time::rfc3339;
use crate::words::task_key;

/// Least days on which it was given.
const LEAST_DAYS: u32 = 3;
/// Within so many minutes of the day.
const WINDOW_MIN: i64 = 60;
const DAY_MIN: i64 = 24 * 60;
/// Most habits of one task: one that is given all day long is none.
const MOST_OF_TASK: usize = 4;
/// Most people who are named.
const MOST_PEOPLE: usize = 2;

struct Habit<'m> {
    /// The last time.
    last: &'m KeptInteraction,
    days: u32,
    /// The minutes of the local day between which it was given.
    from_min: i64,
    to_min: i64,
    people: BTreeSet<&'m str>,
}

/// The habits in words, those of most days first. `asked`: the last first.
pub(super) fn told(asked: &[KeptInteraction]) -> Vec<String> {
    let mut tasks: BTreeMap<String, Vec<&KeptInteraction>> = BTreeMap::new();
    for kept in asked {
        tasks.entry(task_key(&kept.interaction.subject)).or_default().push(kept);
    }
    let mut habits: Vec<Habit<'_>> = tasks.into_values().flat_map(of_task).collect();
    habits.sort_by_key(|habit| std::cmp::Reverse((habit.days, habit.last.sequence)));
    habits.iter().map(Habit::told).collect()
}

/// The habits of one task: it may have one in the morning and one in the evening.
fn of_task(mut asked: Vec<&KeptInteraction>) -> Vec<Habit<'_>> {
    let mut habits = Vec::new();
    while habits.len() < MOST_OF_TASK {
        let starts: BTreeSet<i64> = asked.iter().map(|kept| local_min(kept).rem_euclid(DAY_MIN)).collect();
        let best = starts.into_iter().map(|start| (days(&asked, start), std::cmp::Reverse(start))).max();
        let Some((days, std::cmp::Reverse(start))) = best.filter(|(days, _)| *days >= LEAST_DAYS) else { break };
        let (within, rest): (Vec<_>, Vec<_>) = asked.into_iter().partition(|kept| is_within(kept, start));
        let latest = within.iter().map(|kept| since(kept, start)).max().unwrap_or_default();
        let people = within.iter().map(|kept| kept.interaction.person.as_str()).collect();
        // They are in the order of arrival, the last first.
        habits.extend(within.first().map(|last| Habit {
            last,
            days,
            from_min: start,
            to_min: (start + latest).rem_euclid(DAY_MIN),
            people,
        }));
        asked = rest;
    }
    habits
}

/// On how many days it was given within the window that begins at this minute of the day. A bit stands for a day, as this is
/// counted for each minute at which it was given; they are of fewer days than there are bits.
fn days(asked: &[&KeptInteraction], start: i64) -> u32 {
    let day = |kept: &KeptInteraction| (local_min(kept) - start).div_euclid(DAY_MIN);
    let within = || asked.iter().filter(|kept| is_within(kept, start)).map(|kept| day(kept));
    let first = within().min().unwrap_or_default();
    within().fold(0_u64, |days, day| days | 1 << (day - first).clamp(0, 63)).count_ones()
}

fn is_within(kept: &KeptInteraction, start: i64) -> bool {
    since(kept, start) <= WINDOW_MIN
}

/// How many minutes after that minute of the day, whatever the day: a window may go over midnight.
fn since(kept: &KeptInteraction, start: i64) -> i64 {
    (local_min(kept) - start).rem_euclid(DAY_MIN)
}

/// The minutes of the local time since the beginning of 1970.
fn local_min(kept: &KeptInteraction) -> i64 {
    let minutes = i64::try_from(kept.interaction.wall_ms / 60_000).unwrap_or_default();
    minutes + i64::from(kept.interaction.utc_offset_min)
}

impl Habit<'_> {
    fn told(&self) -> String {
        let Self { last, days, from_min, to_min, people } = self;
        let clock = |minute: &i64| format!("{:02}:{:02}", minute / 60, minute % 60);
        let mut named: Vec<String> = people.iter().take(MOST_PEOPLE).map(|person| said(person)).collect();
        if let Some(more) = people.len().checked_sub(MOST_PEOPLE).filter(|more| *more > 0) {
            named.push(format!("{more} more"));
        }
        let (task, by) = (said(&last.interaction.subject), named.join(" and "));
        let when = if from_min == to_min {
            format!("at {}", clock(from_min))
        } else {
            format!("between {} and {}", clock(from_min), clock(to_min))
        };
        format!(
            "{task} was asked for {when} local time on {days} days, the last {}, by {by}",
            rfc3339(last.interaction.wall_ms)
        )
    }
}
