//! The questions of the bench, in two sets of wordings. The queries were written with the first set at hand; the second was
//! written down before it was ever tried, and nothing was changed for it since.

use cortex_memory::{Located, Now, Presence, Recollection, Value, Whereabouts};

use super::world::{ROOMS, World};

/// The kinds of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Where,
    When,
    LastSeen,
    Presence,
    Moved,
    Body,
    /// What is in a room: a kind that the queries were not written for.
    Contents,
}

pub(crate) const KINDS: [Kind; 7] =
    [Kind::Where, Kind::When, Kind::LastSeen, Kind::Presence, Kind::Moved, Kind::Body, Kind::Contents];

/// A question, and what it is about.
pub(crate) struct Probe {
    pub(crate) kind: Kind,
    pub(crate) is_unseen: bool,
    pub(crate) text: String,
    pub(crate) thing: usize,
    room: usize,
    wants_battery: bool,
}

impl Kind {
    fn wordings(self, is_unseen: bool) -> &'static [&'static str] {
        match (self, is_unseen) {
            (Self::Where, false) => &["where is the THING?", "bring me the THING"],
            (Self::Where, true) => &[
                "I can't find my THING, any idea?",
                "Please fetch THING from wherever it lies",
                "the REVERSED, where did it go?",
            ],
            (Self::When, false) => &["when did you last see the THING?"],
            (Self::When, true) => {
                &["how long ago was the THING in sight", "how fresh is what you know about the THING"]
            }
            (Self::LastSeen, false) => &["where did you last see the THING?"],
            (Self::LastSeen, true) => {
                &["Somebody took the THING. Where had it been?", "the THING is missing, look for it"]
            }
            (Self::Presence, false) => &["is the THING in the ROOM?", "look whether the THING is in the ROOM"],
            (Self::Presence, true) => &[
                "Could you tell me if THING's still at ROOM",
                "go to the ROOM and get the THING if it is there",
                "nobody put my THING into the ROOM, or did they?",
            ],
            (Self::Moved, false) => &["has the THING been moved?"],
            (Self::Moved, true) => &["did anyone carry the THING somewhere else", "what became of the THING lately"],
            (Self::Contents, _) => &["what is in the ROOM?", "tidy up the ROOM", "anything left in ROOM by now?"],
            (Self::Body, false) => &["what is the BODY of the robot?"],
            (Self::Body, true) => {
                &["tell me your BODY please", "is the BODY okay for a long tour?", "how is the PART doing?"]
            }
        }
    }
}

impl Probe {
    /// A question that the robot can know something about.
    pub(crate) fn draw(world: &mut World, kind: Kind, is_unseen: bool) -> Self {
        let known: Vec<usize> = (0..world.things.len())
            .filter(|thing| {
                let seen = &world.seen[*thing];
                match kind {
                    Kind::LastSeen => !seen.is_there && !seen.places.is_empty(),
                    Kind::Moved => seen.places.len() > 1,
                    Kind::Where | Kind::When => !seen.places.is_empty(),
                    Kind::Presence | Kind::Body | Kind::Contents => true,
                }
            })
            .collect();
        let thing = if known.is_empty() { 0 } else { known[world.random.below(known.len())] };
        let room = world.random.below(ROOMS.len());
        let wants_battery = world.random.chance(50);
        let wordings = kind.wordings(is_unseen);
        let text = wordings[world.random.below(wordings.len())]
            .replace("THING", &world.things[thing])
            .replace("REVERSED", &reversed(&world.things[thing]))
            .replace("PART", if wants_battery { "battery" } else { "motor" })
            .replace("ROOM", ROOMS[room])
            .replace("BODY", if wants_battery { "battery level" } else { "motor temperature" });
        let is_unseen = is_unseen || kind == Kind::Contents;
        Self { kind, is_unseen, text, thing, room, wants_battery }
    }

    /// Whether what a text brought to mind answers the question rightly.
    pub(crate) fn is_right(&self, world: &World, recalled: &Recollection) -> bool {
        let name = &world.things[self.thing];
        let located = recalled.located.first().filter(|located| located.subject == *name);
        match self.kind {
            Kind::Body => recalled.facts.first().is_some_and(|found| {
                let (relation, value) = if self.wants_battery {
                    ("battery level", world.battery)
                } else {
                    ("motor temperature", world.temperature)
                };
                found.answer.fact.relation == relation && found.answer.fact.value == Value::Number(value)
            }),
            Kind::Contents => {
                let things = world.believed_in(self.room);
                let told: Vec<&str> = recalled
                    .facts
                    .iter()
                    .map(|found| &found.answer.fact)
                    .filter(|fact| fact.ended.is_none())
                    .map(|fact| fact.subject.as_str())
                    .collect();
                told.len() == things.len().min(5) && told.iter().all(|thing| things.contains(thing))
            }
            Kind::Presence => recalled.presence.first().is_some_and(|named| {
                named.subject == *name
                    && named.place == ROOMS[self.room]
                    && named.answer.presence == world.presence(self.thing, self.room)
                    && (named.answer.as_of().is_some() || named.answer.presence == Presence::NeverLooked)
            }),
            Kind::Where | Kind::When | Kind::LastSeen => located.is_some_and(|located| self.is_there(world, located)),
            Kind::Moved => located.is_some_and(|located| {
                let places = &world.seen[self.thing].places;
                let before = places.len().checked_sub(2).and_then(|index| places.get(index));
                self.is_there(world, located)
                    && located.before.first().map(|fact| &fact.value)
                        == before.map(|(room, _)| Value::Text(ROOMS[*room].to_owned())).as_ref()
            }),
        }
    }

    /// Whether the place, the time and whether it is still there are those of the record.
    fn is_there(&self, world: &World, located: &Located) -> bool {
        let seen = &world.seen[self.thing];
        let (answer, is_there) = match &located.whereabouts {
            Whereabouts::At(answer) => (answer, true),
            Whereabouts::LastSeen(answer) => (answer, false),
            Whereabouts::NeverSeen => return seen.places.is_empty(),
        };
        seen.places.last().is_some_and(|(room, when)| {
            answer.fact.value == Value::Text(ROOMS[*room].to_owned()) && answer.fact.seen_at.wall_ms == *when
        }) && is_there == seen.is_there
    }

    /// Whether a line of a plain log answers the question: it names the right thing with its last place or reading.
    pub(crate) fn is_right_in_log(&self, world: &World, line: &str) -> bool {
        let seen = &world.seen[self.thing];
        match self.kind {
            Kind::Body => {
                let value = if self.wants_battery { world.battery } else { world.temperature };
                line.ends_with(&format!(" {value}"))
            }
            Kind::Contents => {
                world.believed_in(self.room).iter().any(|thing| line == format!("{thing} is at {}", ROOMS[self.room]))
            }
            Kind::Presence => match world.presence(self.thing, self.room) {
                Presence::Present => line == format!("{} is at {}", world.things[self.thing], ROOMS[self.room]),
                Presence::NotThere => line == format!("{} was not at {}", world.things[self.thing], ROOMS[self.room]),
                _ => false,
            },
            _ => seen
                .places
                .last()
                .is_some_and(|(room, _)| line == format!("{} is at {}", world.things[self.thing], ROOMS[*room])),
        }
    }
}

/// "red cup" as "cup, the red one".
fn reversed(thing: &str) -> String {
    thing.split_once(' ').map_or_else(|| thing.to_owned(), |(colour, noun)| format!("{noun}, the {colour} one"))
}

/// The time and the map of a question.
pub(crate) fn now(world: &World) -> Now {
    Now { wall_ms: world.now_ms, map: None }
}
