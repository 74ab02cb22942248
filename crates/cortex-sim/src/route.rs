//! The way from where the robot is to a room, through the doors.

use std::collections::BTreeMap;

use crate::floor::Floor;
use crate::world::{Position, Room, World};

/// How far from the line between two rooms the robot still counts as being on it, in metres.
const ON_LINE_M: f64 = 1e-6;

/// The points to drive through, ending in the middle of the room; `None` if there is no such room or no way.
#[must_use]
pub fn route(world: &World, from: Position, goal: &str) -> Option<Vec<Position>> {
    let distances = distances_to(world, goal)?;
    // The robot is on or beside a line between two rooms, since it drives along such lines: it may go on or turn back.
    let entries = entries(world, from);
    let cost = |room: &str| {
        let position = world.room(room)?.position();
        Some(from.distance_m(position) + distances.get(room)?)
    };
    let mut here = entries
        .into_iter()
        .filter_map(|room| Some((room, cost(room)?)))
        .min_by(|left, right| left.1.total_cmp(&right.1))?
        .0;
    let mut points = vec![world.room(here)?.position()];
    // Each step comes nearer, so this ends after at most as many steps as there are rooms.
    while here != goal {
        let remaining = *distances.get(here)?;
        let position = world.room(here)?.position();
        let (next, _) = neighbours(world, here)
            .filter_map(|next| {
                let rest = *distances.get(next)?;
                let length = world.room(next)?.position().distance_m(position);
                (rest < remaining).then_some((next, rest + length))
            })
            .min_by(|left, right| left.1.total_cmp(&right.1))?;
        points.push(world.room(next)?.position());
        here = next;
    }
    points.dedup_by(|next, last| next.distance_m(*last) < ON_LINE_M);
    if points.len() > 1 && points.first().is_some_and(|first| first.distance_m(from) < ON_LINE_M) {
        points.remove(0);
    }
    Some(points)
}

/// The points to drive through, ending at a point of the map; `None` if there is no room for the robot, or no way.
#[must_use]
pub fn route_to_point(world: &World, from: Position, goal: Position) -> Option<Vec<Position>> {
    let floor = Floor::of(world);
    if floor.is_way_free(from, goal) {
        return Some(vec![goal]);
    }
    // From the middle of the nearest room that it can be seen from.
    let is_seen = |room: &&Room| floor.is_way_free(room.position(), goal);
    let distance_m = |room: &Room| room.position().distance_m(goal);
    let seen = world.rooms.iter().filter(is_seen);
    let room = seen.min_by(|one, other| distance_m(one).total_cmp(&distance_m(other)))?;
    let mut points = route(world, from, &room.name)?;
    points.push(goal);
    Some(points)
}

/// The rooms at the ends of the lines that the robot is on; of the nearest line, if it was put elsewhere.
fn entries(world: &World, from: Position) -> Vec<&str> {
    let lines: Vec<(&str, &str, f64)> = world
        .doors
        .iter()
        .filter_map(|(one, other)| {
            let ends = (world.room(one)?.position(), world.room(other)?.position());
            Some((one.as_str(), other.as_str(), from.distance_to_line_m(ends)))
        })
        .collect();
    let nearest = lines.iter().map(|line| line.2).fold(f64::INFINITY, f64::min);
    let mut entries: Vec<&str> = lines
        .into_iter()
        .filter(|line| line.2 <= nearest + ON_LINE_M)
        .flat_map(|(one, other, _)| [one, other])
        .collect();
    if entries.is_empty() {
        entries.extend(world.rooms.iter().map(|room| room.name.as_str()));
    }
    entries
}

/// How long the way through these points is, in metres.
pub(crate) fn length_m(points: &[Position]) -> f64 {
    points.iter().zip(points.iter().skip(1)).map(|(one, next)| one.distance_m(*next)).sum()
}

fn neighbours<'a>(world: &'a World, room: &'a str) -> impl Iterator<Item = &'a str> {
    world.doors.iter().filter_map(move |(one, other)| match (one == room, other == room) {
        (true, _) => Some(other.as_str()),
        (_, true) => Some(one.as_str()),
        _ => None,
    })
}

/// The length of the shortest way from each room to the goal, in metres. Worlds are small: relaxing every door until
/// nothing changes is quick.
fn distances_to<'a>(world: &'a World, goal: &str) -> Option<BTreeMap<&'a str, f64>> {
    let mut distances = BTreeMap::from([(world.room(goal)?.name.as_str(), 0.0_f64)]);
    for _ in &world.rooms {
        for (one, other) in &world.doors {
            let length = world.room(one)?.position().distance_m(world.room(other)?.position());
            for (near, far) in [(one, other), (other, one)] {
                if let Some(distance) = distances.get(near.as_str()).map(|distance| distance + length)
                    && distances.get(far.as_str()).is_none_or(|known| distance < *known)
                {
                    distances.insert(far.as_str(), distance);
                }
            }
        }
    }
    Some(distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> World {
        World::load(None).unwrap()
    }

    fn points(from: (f64, f64), goal: &str) -> Option<Vec<(f64, f64)>> {
        let from = Position { x_m: from.0, y_m: from.1 };
        Some(route(&world(), from, goal)?.iter().map(|point| (point.x_m, point.y_m)).collect())
    }

    #[test]
    fn the_way_leads_through_the_doors() {
        let table = [
            ((0.0, 0.0), "kitchen", Some(vec![(2.0, 0.0), (3.0, 1.5)])),
            ((-1.5, 2.0), "bathroom", Some(vec![(0.0, 0.0), (2.0, 0.0), (4.0, -0.5)])),
            ((3.0, 1.5), "kitchen", Some(vec![(3.0, 1.5)])),
            ((0.0, 0.0), "cellar", None),
        ];
        for (from, goal, expected) in table {
            assert_eq!(points(from, goal), expected, "{from:?} {goal}");
        }
    }

    #[test]
    fn a_point_is_driven_to_straight_or_from_the_room_that_it_is_seen_from() {
        let point = |(x_m, y_m)| Position { x_m, y_m };
        let way = |from, goal| {
            let way = route_to_point(&world(), point(from), point(goal))?;
            Some(way.iter().map(|point| (point.x_m, point.y_m)).collect::<Vec<_>>())
        };
        assert_eq!(way((0.0, 0.0), (0.4, 0.2)), Some(vec![(0.4, 0.2)]));
        assert_eq!(way((0.0, 0.0), (3.2, 1.6)), Some(vec![(2.0, 0.0), (3.0, 1.5), (3.2, 1.6)]));
        assert_eq!(way((0.0, 0.0), (1.0, 2.0)), None, "a wall");
        assert_eq!(way((0.0, 0.0), (f64::NAN, 2.0)), None);
        assert_eq!(way((0.0, 0.0), (1e9, 2.0)), None);
    }

    #[test]
    fn a_robot_that_was_halted_between_rooms_goes_on_or_turns_back() {
        assert_eq!(points((2.5, 0.75), "kitchen"), Some(vec![(3.0, 1.5)]));
        assert_eq!(points((2.5, 0.75), "hallway"), Some(vec![(2.0, 0.0)]));
        assert_eq!(points((2.5, 0.75), "bedroom"), Some(vec![(2.0, 0.0), (2.5, -2.2)]));
        assert_eq!(points((1.9, 0.0), "living room"), Some(vec![(0.0, 0.0)]));
    }

    #[test]
    fn every_room_is_reached_from_every_room() {
        let world = world();
        for from in &world.rooms {
            for goal in &world.rooms {
                let route = route(&world, from.position(), &goal.name).unwrap();
                assert_eq!(route.last(), Some(&goal.position()), "{} {}", from.name, goal.name);
                assert!(route.len() <= 4, "{} {}: {route:?}", from.name, goal.name);
            }
        }
    }

    #[test]
    fn a_home_of_one_room_needs_no_door() {
        let mut world = world();
        world.doors.clear();
        world.rooms.truncate(1);
        let from = Position { x_m: 1.0, y_m: 1.0 };
        assert_eq!(route(&world, from, "living room"), Some(vec![Position::default()]));
    }
}
