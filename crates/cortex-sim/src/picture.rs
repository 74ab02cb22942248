//! What a camera in front of the robot sees of its home: walls, floor and things, simply drawn. Pure.

use crate::floor::Floor;
use crate::pursuit::Pose;
use crate::world::{Position, World};

/// Pixels of a row, and rows.
pub const WIDTH: u32 = 240;
/// See [`WIDTH`].
pub const HEIGHT: u32 = 160;
/// Bytes of a pixel: red, green, blue.
pub const BYTES_PER_PIXEL: u32 = 3;

/// Half the width of the picture, one metre ahead, in metres.
const HALF_VIEW_M: f64 = 1.2;
/// How high the camera is, and the walls, in metres.
const CAMERA_M: f64 = 0.4;
const WALL_M: f64 = 0.8;
/// How far it sees, in metres, and how far two looks along its way lie apart.
const FAR_M: f64 = 12.0;
const STEP_M: f64 = 0.05;
/// How often the last step is halved, so that the edges of walls are straight.
const HALVINGS: u32 = 4;
/// How far from the middle of a room its things stand, in metres.
const THINGS_M: f64 = 0.42;
/// How wide and how high things are, in metres.
const THING_M: (f64, f64) = (0.2, 0.3);
/// How long the tiles of the floor are, in metres.
const TILE_M: f64 = 0.4;

/// Colours of walls, room by room.
const WALLS: [Colour; 6] =
    [[214, 196, 170], [176, 196, 206], [226, 204, 140], [188, 176, 208], [166, 206, 196], [206, 176, 160]];
/// Colours of things that do not say theirs.
const THINGS: [Colour; 6] = [[120, 84, 60], [70, 98, 120], [150, 120, 70], [96, 112, 80], [128, 82, 98], [84, 84, 92]];
/// Colours as people name them.
const NAMED: [(&str, Colour); 8] = [
    ("red", [196, 52, 44]),
    ("blue", [48, 92, 184]),
    ("green", [62, 140, 72]),
    ("yellow", [226, 190, 58]),
    ("grey", [138, 138, 142]),
    ("white", [238, 236, 230]),
    ("black", [44, 44, 48]),
    ("brown", [122, 82, 52]),
];
const CEILING: Colour = [240, 238, 232];

/// Red, green, blue.
type Colour = [u8; 3];

/// A thing that stands in the home.
struct Thing {
    at: Position,
    colour: Colour,
}

/// The home as a camera sees it.
pub struct Scenery {
    world: World,
    floor: Floor,
    things: Vec<Thing>,
}

impl Scenery {
    /// Of a home. Its things stand around the middle of their room.
    #[must_use]
    pub fn of(world: &World) -> Self {
        let things = world.rooms.iter().flat_map(|room| {
            let count = room.sees.len();
            room.sees.iter().enumerate().map(move |(index, name)| {
                let turn = std::f64::consts::TAU * (share(index, count) + 0.125);
                let middle = room.position();
                let at = Position { x_m: middle.x_m + THINGS_M * turn.cos(), y_m: middle.y_m + THINGS_M * turn.sin() };
                Thing { at, colour: colour_of(name, index) }
            })
        });
        Self { floor: Floor::of(world), things: things.collect(), world: world.clone() }
    }

    /// What is seen from there: rows of pixels from the top, each of red, green and blue.
    #[must_use]
    pub fn seen_from(&self, eye: Pose) -> Vec<u8> {
        let (forward_x, forward_y) = (eye.heading_rad.cos(), eye.heading_rad.sin());
        let mut pixels = vec![[0; 3]; usize::try_from(WIDTH * HEIGHT).unwrap_or_default()];
        let mut depths = Vec::new();
        for column in 0..WIDTH {
            // To the left of the middle is positive, as with angles.
            let side = HALF_VIEW_M * (1.0 - 2.0 * (f64::from(column) + 0.5) / f64::from(WIDTH));
            let (ray_x, ray_y) = (forward_x - side * forward_y, forward_y + side * forward_x);
            let at = |depth_m: f64| Position {
                x_m: eye.position.x_m + ray_x * depth_m,
                y_m: eye.position.y_m + ray_y * depth_m,
            };
            let depth_m = self.wall_ahead(at);
            depths.push(depth_m);
            let wall = shaded(self.wall_at(at(depth_m)), depth_m);
            let (top, foot) = (row_of(WALL_M - CAMERA_M, depth_m), row_of(-CAMERA_M, depth_m));
            for row in 0..HEIGHT {
                let middle = f64::from(row) + 0.5;
                let colour = if middle < top {
                    CEILING
                } else if middle < foot {
                    wall
                } else {
                    let depth_m = depth_of(middle);
                    self.floor_at(at(depth_m), depth_m)
                };
                put(&mut pixels, column, row, colour);
            }
        }
        self.put_things(&mut pixels, &depths, eye);
        pixels.into_iter().flatten().collect()
    }

    /// How far ahead the wall is.
    fn wall_ahead(&self, at: impl Fn(f64) -> Position) -> f64 {
        let mut depth_m = STEP_M;
        while depth_m < FAR_M && self.floor.is_free(at(depth_m)) {
            depth_m += STEP_M;
        }
        // The edge lies somewhere in the last step.
        let mut free_m = depth_m - STEP_M;
        for _ in 0..HALVINGS {
            let middle_m = f64::midpoint(free_m, depth_m);
            *(if self.floor.is_free(at(middle_m)) { &mut free_m } else { &mut depth_m }) = middle_m;
        }
        depth_m
    }

    fn wall_at(&self, at: Position) -> Colour {
        let room = self.world.nearest(at);
        let index = room.and_then(|room| self.world.rooms.iter().position(|other| other.name == room.name));
        chosen(&WALLS, index.unwrap_or_default())
    }

    /// Tiles in the colour of the room, so that one sees the robot move.
    fn floor_at(&self, at: Position, depth_m: f64) -> Colour {
        let is_even = ((at.x_m / TILE_M).floor() + (at.y_m / TILE_M).floor()).rem_euclid(2.0) < 1.0;
        let tint = self.wall_at(at);
        shaded(mixed(tint, [92, 82, 74], if is_even { 0.62 } else { 0.72 }), depth_m)
    }

    /// The farthest first, and only what no wall hides.
    fn put_things(&self, pixels: &mut [Colour], depths: &[f64], eye: Pose) {
        let (cos, sin) = (eye.heading_rad.cos(), eye.heading_rad.sin());
        let seen = |thing: &'_ Thing| {
            let (dx, dy) = (thing.at.x_m - eye.position.x_m, thing.at.y_m - eye.position.y_m);
            (cos * dx + sin * dy, cos * dy - sin * dx)
        };
        let mut things: Vec<(f64, f64, Colour)> = self
            .things
            .iter()
            .map(|thing| (seen(thing), thing.colour))
            .filter(|((depth_m, _), _)| *depth_m > 0.15)
            .map(|((depth_m, side_m), colour)| (depth_m, side_m, colour))
            .collect();
        things.sort_by(|one, other| other.0.total_cmp(&one.0));
        for (depth_m, side_m, colour) in things {
            let column_of = |side_m: f64| f64::from(WIDTH) / 2.0 * (1.0 - side_m / depth_m / HALF_VIEW_M);
            let (left, right) = (column_of(side_m + THING_M.0 / 2.0), column_of(side_m - THING_M.0 / 2.0));
            let (top, foot) = (row_of(THING_M.1 - CAMERA_M, depth_m), row_of(-CAMERA_M, depth_m));
            for (column, _) in (0..WIDTH).zip(depths).filter(|(_, wall_m)| **wall_m > depth_m) {
                let x = (f64::from(column) + 0.5 - left) / (right - left);
                if !(0.0..1.0).contains(&x) {
                    continue;
                }
                // A round body: brighter on the left, where the light is, and with a dark foot.
                let light = 1.08 - 0.5 * x;
                for row in 0..HEIGHT {
                    let y = (f64::from(row) + 0.5 - top) / (foot - top);
                    if (0.0..1.0).contains(&y) {
                        let body = if y > 0.94 { mixed(colour, [20, 20, 20], 0.5) } else { colour };
                        put(pixels, column, row, shaded(brightened(body, light), depth_m));
                    }
                }
            }
        }
    }
}

/// The row in which something of this height over the camera is seen, at this depth.
fn row_of(over_m: f64, depth_m: f64) -> f64 {
    f64::from(HEIGHT) / 2.0 - over_m / depth_m * f64::from(WIDTH) / 2.0 / HALF_VIEW_M
}

/// How far away the floor is that is seen in a row below the middle.
fn depth_of(row: f64) -> f64 {
    let below = (row - f64::from(HEIGHT) / 2.0).max(0.5);
    CAMERA_M * f64::from(WIDTH) / 2.0 / HALF_VIEW_M / below
}

fn put(pixels: &mut [Colour], column: u32, row: u32, colour: Colour) {
    let index = usize::try_from(row * WIDTH + column).unwrap_or(usize::MAX);
    if let Some(pixel) = pixels.get_mut(index) {
        *pixel = colour;
    }
}

/// The colour that the name of a thing says, or else one of its own.
fn colour_of(name: &str, index: usize) -> Colour {
    let said = NAMED.iter().find(|(word, _)| name.split(' ').any(|other| other == *word));
    said.map_or_else(|| chosen(&THINGS, index + name.len()), |(_, colour)| *colour)
}

fn chosen<const N: usize>(colours: &[Colour; N], index: usize) -> Colour {
    colours.get(index % N).copied().unwrap_or_default()
}

/// What is farther away is darker.
fn shaded(colour: Colour, depth_m: f64) -> Colour {
    brightened(colour, 1.0 / (1.0 + 0.10 * depth_m))
}

fn mixed(one: Colour, other: Colour, share: f64) -> Colour {
    let mut mixed = one;
    for (part, (one, other)) in mixed.iter_mut().zip(one.into_iter().zip(other)) {
        *part = byte(f64::from(one) * (1.0 - share) + f64::from(other) * share);
    }
    mixed
}

fn brightened(colour: Colour, factor: f64) -> Colour {
    colour.map(|part| byte(f64::from(part) * factor))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "kept between 0 and 255")]
fn byte(value: f64) -> u8 {
    value.clamp(0.0, 255.0) as u8
}

#[expect(clippy::cast_precision_loss, reason = "rooms have few things")]
fn share(index: usize, count: usize) -> f64 {
    index as f64 / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (World, Scenery) {
        let world = World::load(None).unwrap();
        let scenery = Scenery::of(&world);
        (world, scenery)
    }

    fn looking(world: &World, room: &str, heading_rad: f64) -> Pose {
        Pose { position: world.room(room).unwrap().position(), heading_rad }
    }

    #[test]
    fn a_picture_is_as_large_as_it_says_and_changes_with_the_robot() {
        let (world, scenery) = home();
        let ahead = scenery.seen_from(looking(&world, "kitchen", 0.0));
        assert_eq!(ahead.len() as u64, u64::from(WIDTH * HEIGHT * BYTES_PER_PIXEL));
        assert_eq!(ahead, scenery.seen_from(looking(&world, "kitchen", 0.0)), "the same place looks the same");
        assert_ne!(ahead, scenery.seen_from(looking(&world, "kitchen", 1.0)));
        assert_ne!(ahead, scenery.seen_from(looking(&world, "bedroom", 0.0)));
        // Out of its home, and nowhere at all.
        for x_m in [100.0, f64::NAN] {
            let lost = Pose { position: Position { x_m, y_m: 0.0 }, heading_rad: 0.0 };
            assert_eq!(scenery.seen_from(lost).len(), ahead.len());
        }
    }

    #[test]
    fn a_red_cup_is_red_and_is_seen_where_it_stands() {
        let (world, scenery) = home();
        let kitchen = world.room("kitchen").unwrap();
        let index = kitchen.sees.iter().position(|name| name == "a red cup").unwrap();
        let heading_rad = std::f64::consts::TAU * (share(index, kitchen.sees.len()) + 0.125);
        let is_red = |picture: &[u8]| {
            picture
                .chunks(3)
                .filter(|pixel| matches!(pixel, [red, green, blue] if *red > 120 && *green < 70 && *blue < 70))
                .count()
        };
        assert!(is_red(&scenery.seen_from(looking(&world, "kitchen", heading_rad))) > 100);
        assert_eq!(is_red(&scenery.seen_from(looking(&world, "kitchen", heading_rad + 3.0))), 0, "behind the robot");
        assert_eq!(is_red(&scenery.seen_from(looking(&world, "office", heading_rad))), 0, "behind walls");
    }
}
