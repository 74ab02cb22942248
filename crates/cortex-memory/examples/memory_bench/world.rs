//! The world of the bench: a robot that tours ten rooms for thirty days, and a plain record of what it saw, kept apart from
//! the memory: the answers are judged by it.

use std::collections::{BTreeMap, BTreeSet};

use cortex_memory::{
    Claim, Coverage, IS_AT, Location, MapRef, Observation, Pose, Presence, Source, SourceKind, Value, View,
};

pub(crate) const MINUTE: u64 = 60_000;
pub(crate) const DAY: u64 = 24 * 60 * MINUTE;
/// A day in November 2023.
pub(crate) const START: u64 = 1_700_000_000_000;
pub(crate) const ROOMS: [&str; 10] =
    ["kitchen", "living room", "bedroom", "bathroom", "hall", "office", "garage", "cellar", "guest room", "balcony"];
const COLOURS: [&str; 6] = ["red", "blue", "green", "white", "black", "yellow"];
const NOUNS: [&str; 10] = [
    "cup",
    "book",
    "box",
    "umbrella",
    "cup holder",
    "vase",
    "laptop",
    "pair of scissors",
    "water bottle",
    "remote control",
];

/// Numbers that look random and are the same for the same seed (SplitMix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("it is below the bound")
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

/// What the robot saw of a thing, as far as the probes ask for it.
#[derive(Default, Clone)]
pub(crate) struct Seen {
    /// The places, each with the time of its last sight, in milliseconds since 1970; the last one last.
    pub(crate) places: Vec<(usize, u64)>,
    /// Whether it is believed to be at the last of them.
    pub(crate) is_there: bool,
    /// What is known of each room.
    pub(crate) rooms: BTreeMap<usize, Room>,
}

/// What the robot knows of a thing in a room: the order of the last of each.
#[derive(Default, Clone, Copy)]
pub(crate) struct Room {
    seen: u64,
    not_there: u64,
    could_not_see: u64,
}

pub(crate) struct World {
    pub(crate) random: Random,
    pub(crate) things: Vec<String>,
    /// Where they are, whether the robot knows or not.
    places: Vec<usize>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) battery: f64,
    pub(crate) temperature: f64,
    pub(crate) now_ms: u64,
    order: u64,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        let things: Vec<String> =
            COLOURS.iter().flat_map(|colour| NOUNS.iter().map(move |noun| format!("{colour} {noun}"))).collect();
        let places = things.iter().map(|_| random.below(ROOMS.len())).collect();
        let seen = vec![Seen::default(); things.len()];
        Self { random, things, places, seen, battery: 1.0, temperature: 30.0, now_ms: START, order: 0 }
    }

    /// A visit of one room: what the robot observes there.
    pub(crate) fn visit(&mut self, room: usize, stay_ms: u64) -> Vec<Observation> {
        let mut all = Vec::new();
        if self.random.chance(30) {
            let thing = self.random.below(self.things.len());
            self.places[thing] = self.random.below(ROOMS.len());
        }
        if self.random.chance(6) {
            for thing in 0..self.things.len() {
                if self.believed(thing) == Some(room) {
                    let covered = Coverage::Place(ROOMS[room].to_owned());
                    all.push(
                        self.look(thing, Claim::CouldNotSee { covered, reason: "the door was closed".to_owned() }),
                    );
                    self.order += 1;
                    self.seen[thing].rooms.entry(room).or_default().could_not_see = self.order;
                }
            }
        } else {
            let mut found = BTreeSet::new();
            for glance in 0..5 {
                self.now_ms += stay_ms / 5;
                for thing in 0..self.things.len() {
                    if self.places[thing] == room && (self.random.chance(85) || glance == 4) {
                        found.insert(thing);
                        all.push(self.sight(thing, room, 90));
                    }
                }
                // A detector errs, and is unsure when it does.
                if self.random.chance(10) {
                    let thing = self.random.below(self.things.len());
                    all.push(self.sight(thing, room, 20));
                }
            }
            for thing in 0..self.things.len() {
                let is_looked_for = self.believed(thing) == Some(room) || self.random.chance(2);
                if is_looked_for && !found.contains(&thing) && self.places[thing] != room {
                    all.push(self.look(thing, Claim::NotThere { covered: Coverage::Place(ROOMS[room].to_owned()) }));
                    self.order += 1;
                    if self.believed(thing) == Some(room) {
                        self.seen[thing].is_there = false;
                    }
                    self.seen[thing].rooms.entry(room).or_default().not_there = self.order;
                }
            }
        }
        all.extend(self.body());
        all
    }

    /// The room where a thing is believed to be.
    fn believed(&self, thing: usize) -> Option<usize> {
        let seen = &self.seen[thing];
        seen.places.last().filter(|_| seen.is_there).map(|(room, _)| *room)
    }

    fn sight(&mut self, thing: usize, room: usize, percent: u32) -> Observation {
        if percent >= 50 {
            self.order += 1;
            let seen = &mut self.seen[thing];
            match seen.places.last_mut() {
                Some((last, when)) if *last == room && seen.is_there => *when = self.now_ms,
                _ => seen.places.push((room, self.now_ms)),
            }
            seen.is_there = true;
            seen.rooms.entry(room).or_default().seen = self.order;
        }
        let value = Value::Text(ROOMS[room].to_owned());
        let claim = Claim::Is { relation: IS_AT.to_owned(), value };
        let jitter = self.random.below(100) as f64 / 500.0;
        let pose = Pose { x_m: room as f64 * 5.0 + jitter, y_m: thing as f64 / 20.0, yaw_rad: 0.0 };
        let map = MapRef { id: "ground floor".to_owned(), version: "7".to_owned() };
        let location = Some(Location { pose, frame: "map".to_owned(), map });
        Observation { location, confidence: Some(f64::from(percent) / 100.0), ..self.look(thing, claim) }
    }

    fn look(&self, thing: usize, claim: Claim) -> Observation {
        Observation {
            subject: self.things[thing].clone(),
            claim,
            wall_ms: self.now_ms,
            location: None,
            layer: "things".to_owned(),
            view: Some(View { sensor: "head camera".to_owned(), picture: None }),
            source: Source { kind: SourceKind::Sensor, name: "/detections".to_owned() },
            confidence: None,
        }
    }

    fn body(&mut self) -> Vec<Observation> {
        self.battery = if self.battery < 0.2 { 1.0 } else { self.battery - 0.01 };
        self.temperature = 30.0 + self.random.below(200) as f64 / 10.0;
        let reading = |relation: &str, value| Observation {
            subject: "robot".to_owned(),
            claim: Claim::Is { relation: relation.to_owned(), value: Value::Number(value) },
            layer: "body".to_owned(),
            source: Source { kind: SourceKind::Sensor, name: "/body".to_owned() },
            ..self.look(0, Claim::NotThere { covered: Coverage::Place("x".to_owned()) })
        };
        vec![reading("battery level", self.battery), reading("motor temperature", self.temperature)]
    }

    /// The things that are believed to be in a room.
    pub(crate) fn believed_in(&self, room: usize) -> Vec<&str> {
        let things = self.things.iter().enumerate();
        things.filter(|(thing, _)| self.believed(*thing) == Some(room)).map(|(_, name)| name.as_str()).collect()
    }

    /// What the answer to "is the thing in the room?" has to be.
    pub(crate) fn presence(&self, thing: usize, room: usize) -> Presence {
        let Room { seen, not_there, could_not_see } = self.seen[thing].rooms.get(&room).copied().unwrap_or_default();
        match self.believed(thing) {
            Some(believed) if believed == room => Presence::Present,
            _ if not_there > seen => Presence::NotThere,
            Some(_) => Presence::Elsewhere,
            None if seen > 0 => Presence::Elsewhere,
            None if could_not_see > 0 => Presence::CouldNotSee,
            None => Presence::NeverLooked,
        }
    }
}
