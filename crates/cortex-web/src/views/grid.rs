//! A map as a PNG: one byte for each cell, with a palette from free to occupied, and unknown cells transparent.

use cortex_pictures::encoders::{EncodingError, png_of_palette};
use cortex_protocol::robot_view::{FloorPose, GridMap};
use schemars::JsonSchema;
use serde::Serialize;

/// The longest side of a map that is sent, in pixels. A larger one is made smaller.
const LONGEST_SIDE: u32 = 2_048;
/// How occupied a cell can be, in percent.
const OCCUPIED: i8 = 100;
/// The entry of the palette for cells of which nothing is known: the one after the last percent.
const UNKNOWN: u8 = 101;

/// Where a map lies, and how large its pixels are.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct MapPlace {
    /// The topic.
    pub(crate) topic: String,
    /// Pixels of a row.
    pub(crate) width: u32,
    /// Rows; the first one is that with the greatest y.
    pub(crate) height: u32,
    /// How long a pixel is, in metres.
    pub(crate) resolution: f64,
    /// The corner with the least x and y, and how the map is turned.
    pub(crate) origin: FloorPose,
    /// So many cells along each side of a pixel: 1 where the map is sent as it is.
    pub(crate) cells_per_pixel: u32,
}

/// The picture of a map. Of the cells of a pixel, the most occupied counts: no obstacle vanishes. Takes a while for a large
/// map: not for a thread that others wait for.
///
/// # Errors
/// When the sizes of the map don't fit its cells.
pub(crate) fn encode(topic: &str, map: &GridMap) -> Result<(MapPlace, Vec<u8>), EncodingError> {
    let cells_per_pixel = map.width.max(map.height).div_ceil(LONGEST_SIDE).max(1);
    let (width, height) = (map.width.div_ceil(cells_per_pixel), map.height.div_ceil(cells_per_pixel));
    let pixels = pixels(map, cells_per_pixel, (width, height));
    let grays =
        (0..=OCCUPIED.unsigned_abs()).map(|percent| 255 - u8::try_from(u16::from(percent) * 255 / 100).unwrap_or(255));
    let palette: Vec<u8> = grays.chain([128]).flat_map(|gray| [gray; 3]).collect();
    let mut opacity = vec![255; usize::from(UNKNOWN)];
    opacity.push(0);
    let file = png_of_palette(&pixels, (width, height), palette, opacity)?;
    let resolution = map.resolution_m * f64::from(cells_per_pixel);
    let place =
        MapPlace { topic: topic.to_owned(), width, height, resolution, origin: map.origin.clone(), cells_per_pixel };
    Ok((place, file))
}

/// Rows from the greatest y down, as pictures have them.
fn pixels(map: &GridMap, cells_per_pixel: u32, (width, height): (u32, u32)) -> Vec<u8> {
    let side = usize::try_from(cells_per_pixel).unwrap_or(usize::MAX);
    let row_cells = usize::try_from(map.width).unwrap_or(usize::MAX).max(1);
    let mut rows: Vec<Vec<u8>> = Vec::new();
    for band in map.cells.chunks(row_cells.saturating_mul(side)) {
        let mut row = vec![UNKNOWN; usize::try_from(width).unwrap_or_default()];
        for cells in band.chunks(row_cells) {
            for (pixel, group) in row.iter_mut().zip(cells.chunks(side)) {
                for cell in group {
                    *pixel = more_occupied(*pixel, *cell);
                }
            }
        }
        rows.push(row);
    }
    rows.truncate(usize::try_from(height).unwrap_or_default());
    rows.into_iter().rev().flatten().collect()
}

fn more_occupied(pixel: u8, cell: i8) -> u8 {
    match u8::try_from(cell).ok().filter(|_| cell <= OCCUPIED) {
        Some(percent) if pixel == UNKNOWN || percent > pixel => percent,
        _ => pixel,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(width: u32, height: u32, cells: Vec<i8>) -> GridMap {
        let origin = FloorPose { frame: "map".to_owned(), x: -1.0, y: 2.0, heading: 0.0 };
        GridMap { width, height, resolution_m: 0.05, origin, cells }
    }

    fn decoded(file: &[u8]) -> (png::OutputInfo, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info, pixels)
    }

    #[test]
    fn free_occupied_and_unknown_are_told_apart_and_north_is_up() {
        let (place, file) = encode("/map", &map(2, 2, vec![0, 100, -1, 101])).unwrap();
        assert_eq!((place.width, place.height, place.cells_per_pixel), (2, 2, 1));
        let (info, pixels) = decoded(&file);
        assert_eq!((info.width, info.height), (2, 2));
        assert_eq!(pixels, [UNKNOWN, UNKNOWN, 0, 100], "the first row of cells is the last one of the picture");
        let reader = png::Decoder::new(std::io::Cursor::new(&file)).read_info().unwrap();
        let (palette, opacity) = (reader.info().palette.clone().unwrap(), reader.info().trns.clone().unwrap());
        assert_eq!((palette[0], palette[300], opacity[0], opacity[101]), (255, 0, 255, 0));
    }

    #[test]
    fn a_huge_map_is_made_smaller_and_a_lone_obstacle_stays() {
        let side = 8_000_u32;
        let mut cells = vec![0; usize::try_from(side * side).unwrap()];
        let at = usize::try_from(4_001 * side + 4_001).unwrap();
        cells[at] = 100;
        let (place, file) = encode("/map", &map(side, side, cells)).unwrap();
        assert_eq!((place.width, place.height, place.cells_per_pixel), (2_000, 2_000, 4));
        assert!((place.resolution - 0.2).abs() < 1e-9);
        let (_, pixels) = decoded(&file);
        assert_eq!(pixels.iter().filter(|pixel| **pixel == 100).count(), 1);
        assert_eq!(pixels[(1_999 - 1_000) * 2_000 + 1_000], 100);
    }

    #[test]
    fn sizes_that_do_not_divide_evenly_and_thin_maps_have_pictures() {
        let (place, file) = encode("/map", &map(4_097, 1, vec![-1; 4_097])).unwrap();
        assert_eq!((place.width, place.height), (1_366, 1));
        assert!(decoded(&file).1.iter().all(|pixel| *pixel == UNKNOWN));
    }

    #[test]
    fn a_map_whose_cells_do_not_fit_its_size_is_an_error_and_no_panic() {
        for (width, height, cells) in [(2, 2, vec![]), (0, 5, vec![0]), (2, 3, vec![0; 4])] {
            assert!(encode("/map", &map(width, height, cells)).is_err(), "{width} x {height}");
        }
        assert!(encode("/map", &map(2, 1, vec![0; 9])).is_ok(), "cells too many are left out");
        assert!(encode("/map", &map(2, 2, vec![0; 3])).is_ok(), "one that is missing is unknown");
    }
}
