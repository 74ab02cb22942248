//! The map of a home as a grid of cells: where there is room for the robot, and where nobody knows of any. Pure.
//!
//! Follows the meaning of `nav_msgs/OccupancyGrid`: row by row from the origin, 0 is free, 100 is occupied.

use crate::world::{Position, World};

/// A cell in which there is room.
pub const FREE: i8 = 0;
/// A cell in which there is none.
pub const OCCUPIED: i8 = 100;

/// How long a cell is, in metres, where the home is not too large for that.
const CELL_M: f64 = 0.05;
/// Most cells along one side. A home so large has coarser cells.
const MOST_CELLS: u32 = 500;
/// How far there is room around the middle of a room and beside the line between two of them, in metres.
const ROOM_M: f64 = 0.6;
/// What is around all that, in metres.
const WALL_M: f64 = 0.2;

/// A grid of cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    cell_m: f64,
    width: u32,
    height: u32,
    origin: Position,
    cells: Vec<i8>,
}

impl Floor {
    /// The floor of a home: there is room in its rooms and on the ways between them.
    #[must_use]
    pub fn of(world: &World) -> Self {
        let spread = |of: fn(&Position) -> f64| {
            let values = world.rooms.iter().map(|room| of(&room.position()));
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| (least.min(value), most.max(value)))
        };
        let ((left, right), (low, high)) = (spread(|point| point.x_m), spread(|point| point.y_m));
        let longest = (right - left).max(high - low).max(0.0);
        // The margin grows with the cells, which grow with the margin: a little more than needed settles both.
        let cell_m = CELL_M.max((longest + 2.0 * (ROOM_M + WALL_M)) / f64::from(MOST_CELLS - 10));
        let beside_m = ROOM_M.max(cell_m);
        let margin = beside_m + WALL_M.max(cell_m);
        let origin = Position { x_m: left - margin, y_m: low - margin };
        let (width, height) =
            (cells_in(right - left + 2.0 * margin, cell_m), cells_in(high - low + 2.0 * margin, cell_m));
        let mut floor = Self { cell_m, width, height, origin, cells: Vec::new() };
        let ways: Vec<(Position, Position)> = world
            .doors
            .iter()
            .filter_map(|(one, other)| Some((world.room(one)?.position(), world.room(other)?.position())))
            .chain(world.rooms.iter().map(|room| (room.position(), room.position())))
            .collect();
        floor.cells = (0..height)
            .flat_map(|row| (0..width).map(move |column| (column, row)))
            .map(|(column, row)| {
                let middle = floor.middle(column, row);
                let is_free = ways.iter().any(|way| middle.distance_to_line_m(*way) <= beside_m);
                if is_free { FREE } else { OCCUPIED }
            })
            .collect();
        floor
    }

    /// A floor that somebody else has told of; `None` if it makes no sense.
    #[must_use]
    pub fn told(cell_m: f64, (width, height): (u32, u32), origin: Position, cells: Vec<i8>) -> Option<Self> {
        let is_sound = cell_m.is_finite() && cell_m > 0.0 && origin.x_m.is_finite() && origin.y_m.is_finite();
        let count = u64::from(width) * u64::from(height);
        (is_sound && u64::try_from(cells.len()) == Ok(count)).then_some(Self { cell_m, width, height, origin, cells })
    }

    /// How long a cell is, in metres.
    #[must_use]
    pub fn cell_m(&self) -> f64 {
        self.cell_m
    }

    /// How many cells there are along the x axis and along the y axis.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        (self.width, self.height)
    }

    /// The corner of the first cell.
    #[must_use]
    pub fn origin(&self) -> Position {
        self.origin
    }

    /// The cells, row by row from the origin.
    #[must_use]
    pub fn cells(&self) -> &[i8] {
        &self.cells
    }

    /// Whether there is room all along the straight line between two points.
    #[must_use]
    pub fn is_way_free(&self, from: Position, to: Position) -> bool {
        let length_m = from.distance_m(to);
        // So that no cell on the way is leapt over, and none is looked at often.
        let looks = (length_m / self.cell_m * 2.0).ceil();
        if !looks.is_finite() || looks > f64::from(MOST_CELLS) * 8.0 {
            return false;
        }
        let mut look = 0.0;
        while look <= looks {
            let share = if looks > 0.0 { look / looks } else { 0.0 };
            let here =
                Position { x_m: from.x_m + share * (to.x_m - from.x_m), y_m: from.y_m + share * (to.y_m - from.y_m) };
            if !self.is_free(here) {
                return false;
            }
            look += 1.0;
        }
        true
    }

    /// Whether there is room. Outside of the map nobody knows of any.
    #[must_use]
    pub fn is_free(&self, at: Position) -> bool {
        let column = cell_at(at.x_m - self.origin.x_m, self.cell_m, self.width);
        let row = cell_at(at.y_m - self.origin.y_m, self.cell_m, self.height);
        let index = column.zip(row).map(|(column, row)| u64::from(row) * u64::from(self.width) + u64::from(column));
        let cell = index.and_then(|index| self.cells.get(usize::try_from(index).ok()?));
        cell == Some(&FREE)
    }

    fn middle(&self, column: u32, row: u32) -> Position {
        Position {
            x_m: self.origin.x_m + (f64::from(column) + 0.5) * self.cell_m,
            y_m: self.origin.y_m + (f64::from(row) + 0.5) * self.cell_m,
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be a small whole number")]
fn cells_in(length_m: f64, cell_m: f64) -> u32 {
    (length_m / cell_m).ceil().clamp(1.0, f64::from(MOST_CELLS)) as u32
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be one of the cells")]
fn cell_at(offset_m: f64, cell_m: f64, count: u32) -> Option<u32> {
    let cell = (offset_m / cell_m).floor();
    (cell >= 0.0 && cell < f64::from(count)).then_some(cell as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(x_m: f64, y_m: f64) -> Position {
        Position { x_m, y_m }
    }

    #[test]
    fn there_is_room_in_rooms_and_on_ways_and_nowhere_else() {
        let world = World::load(None).unwrap();
        let floor = Floor::of(&world);
        assert_eq!(floor.cells().len() as u64, u64::from(floor.size().0) * u64::from(floor.size().1));
        for room in &world.rooms {
            assert!(floor.is_free(room.position()), "{}", room.name);
        }
        for (one, other) in &world.doors {
            let ends = (world.room(one).unwrap().position(), world.room(other).unwrap().position());
            assert!(floor.is_way_free(ends.0, ends.1), "{one} {other}");
        }
        let (kitchen, office) = (point(3.0, 1.5), point(-1.5, 2.0));
        assert!(!floor.is_way_free(kitchen, office), "through the walls");
        assert!(!floor.is_free(point(100.0, 0.0)) && !floor.is_free(point(f64::NAN, 0.0)));
        assert!(!floor.is_way_free(kitchen, point(f64::INFINITY, 0.0)));
    }

    #[test]
    fn a_large_home_has_coarser_cells_and_its_ways_stay_open() {
        let mut world = World::load(None).unwrap();
        for room in &mut world.rooms {
            room.x *= 1000.0;
            room.y *= 1000.0;
        }
        let floor = Floor::of(&world);
        assert!(floor.size().0 <= MOST_CELLS && floor.size().1 <= MOST_CELLS, "{:?}", floor.size());
        for (one, other) in &world.doors {
            let ends = (world.room(one).unwrap().position(), world.room(other).unwrap().position());
            assert!(floor.is_way_free(ends.0, ends.1), "{one} {other}");
        }
    }

    #[test]
    fn a_floor_that_makes_no_sense_is_none() {
        let here = Position::default();
        assert!(Floor::told(0.5, (2, 1), here, vec![0, 100]).is_some());
        assert!(Floor::told(0.5, (2, 2), here, vec![0, 100]).is_none(), "cells are missing");
        assert!(Floor::told(0.5, (u32::MAX, u32::MAX), here, vec![0]).is_none());
        for cell_m in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Floor::told(cell_m, (1, 1), here, vec![0]).is_none(), "{cell_m}");
        }
        assert!(Floor::told(0.5, (1, 1), point(f64::NAN, 0.0), vec![0]).is_none());
    }
}
