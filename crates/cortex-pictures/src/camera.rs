//! A picture of a camera as a file that browsers and models take. What a camera says of its picture is checked before it is
//! believed.

use cortex_protocol::robot_view::CameraPicture;
use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

use crate::encoders::{Colours, EncodingError, jpeg};

/// Pixels of a row, at most: a larger picture is made smaller.
const WIDEST: u32 = 1_280;
/// Rows, at most.
const HIGHEST: u32 = 1_280;
/// The largest file that is passed on as it is, in bytes.
const MOST_FILE_BYTES: usize = 8 << 20;
/// Pixels of a side of a file that is passed on, at most.
const MOST_FILE_PIXELS: u32 = 8_192;
/// More pixels of a row than cameras have.
const MOST_PIXELS: u32 = 32_768;

/// A picture as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// `image/jpeg` or `image/png`.
    pub media_type: &'static str,
    /// What it was before.
    pub about: About,
    /// The file.
    pub file: Vec<u8>,
}

/// What a picture was before it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct About {
    /// Its pixels as they came: width and height.
    pub size: (u32, u32),
    /// How it came: `rgb8`, `jpeg`.
    pub encoding: String,
}

/// Why a picture can't be shown, for people.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum PictureError {
    /// No pixels.
    #[error("the picture is empty: it says that it has {width} x {height} pixels")]
    Empty {
        /// Pixels of a row, as it says.
        width: u32,
        /// Rows, as it says.
        height: u32,
    },
    /// More pixels than cameras have.
    #[error("the picture says that it has {width} x {height} pixels, and at most {most} a side are shown")]
    Huge {
        /// Pixels of a row, as it says.
        width: u32,
        /// Rows, as it says.
        height: u32,
        /// Pixels of a side at most.
        most: u32,
    },
    /// Nobody knows what its pixels consist of.
    #[error("the encoding '{0}' can't be shown; rgb8, bgr8, rgba8, bgra8, mono8, mono16 and 16UC1 can")]
    UnknownEncoding(String),
    /// Its rows are not as long or as many as it says.
    #[error(
        "the sizes of the picture do not fit: {width} x {height} pixels of {encoding} in rows of {step} bytes, and {bytes} bytes in all"
    )]
    Sizes {
        /// Pixels of a row, as it says.
        width: u32,
        /// Rows, as it says.
        height: u32,
        /// Bytes from the start of one row to that of the next.
        step: u32,
        /// What a pixel consists of.
        encoding: String,
        /// Bytes in all.
        bytes: usize,
    },
    /// Its file is of no format that is passed on: what its sender calls it.
    #[error("the file of format '{0}' is no JPEG and no PNG that says how large it is")]
    Format(String),
    /// Its file has so many bytes.
    #[error("the file has {} KiB, and at most {} KiB are passed on", .0 >> 10, MOST_FILE_BYTES >> 10)]
    LargeFile(usize),
    /// No file could be made of it.
    #[error(transparent)]
    Encoding(#[from] EncodingError),
}

/// Which bytes of a pixel mean what.
#[derive(Clone, Copy)]
enum Pixel {
    /// Red, green and blue at these places of so many bytes.
    Colour {
        bytes: usize,
        places: [usize; 3],
    },
    Gray8,
    Gray16,
}

impl Pixel {
    fn of(encoding: &str) -> Option<Self> {
        Some(match encoding {
            "rgb8" | "8UC3" => Self::Colour { bytes: 3, places: [0, 1, 2] },
            "bgr8" => Self::Colour { bytes: 3, places: [2, 1, 0] },
            "rgba8" => Self::Colour { bytes: 4, places: [0, 1, 2] },
            "bgra8" => Self::Colour { bytes: 4, places: [2, 1, 0] },
            "mono8" | "8UC1" => Self::Gray8,
            "mono16" | "16UC1" => Self::Gray16,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Self::Colour { bytes, .. } => bytes,
            Self::Gray8 => 1,
            Self::Gray16 => 2,
        }
    }
}

/// The picture as a file. Takes some milliseconds: not for a thread that others wait for.
///
/// # Errors
/// When its sizes don't fit its data, or it is encoded in a way that can't be shown.
pub fn encode(picture: CameraPicture) -> Result<Shown, PictureError> {
    match picture {
        CameraPicture::Compressed { format, data } => passed_on(format, data),
        CameraPicture::Raw { width, height, step, encoding, is_big_endian, data } => {
            raw((width, height), step, encoding, is_big_endian, &data)
        }
    }
}

/// What begins as a JPEG or a PNG does; the browser looks at the rest, where nothing can come of it but a picture.
fn passed_on(format: String, file: Vec<u8>) -> Result<Shown, PictureError> {
    if file.len() > MOST_FILE_BYTES {
        return Err(PictureError::LargeFile(file.len()));
    }
    let (media_type, encoding) = match file.as_slice() {
        [0xff, 0xd8, 0xff, ..] => ("image/jpeg", "jpeg"),
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => ("image/png", "png"),
        _ => return Err(PictureError::Format(format)),
    };
    let Some((width, height)) = size_in(&file) else { return Err(PictureError::Format(format)) };
    if width == 0 || height == 0 {
        return Err(PictureError::Empty { width, height });
    }
    // A browser would unpack it into gigabytes.
    if width > MOST_FILE_PIXELS || height > MOST_FILE_PIXELS {
        return Err(PictureError::Huge { width, height, most: MOST_FILE_PIXELS });
    }
    Ok(Shown { media_type, about: About { size: (width, height), encoding: encoding.to_owned() }, file })
}

/// How many pixels a JPEG or a PNG says that it has. None where it does not say so in its header.
fn size_in(file: &[u8]) -> Option<(u32, u32)> {
    let short = |at: usize| Some(u16::from_be_bytes(*file.get(at..at.checked_add(2)?)?.first_chunk()?));
    if file.first() == Some(&0x89) {
        let long = |at: usize| Some(u32::from_be_bytes(*file.get(at..at.checked_add(4)?)?.first_chunk()?));
        return Some((long(16)?, long(20)?));
    }
    // Segments, each with its length, up to that with the size.
    let mut at = 2_usize;
    while let [0xff, marker, ..] = file.get(at..)? {
        match marker {
            // Filled up.
            0xff => at += 1,
            0xc4 | 0xc8 | 0xcc => at += 2 + usize::from(short(at + 2)?),
            0xc0..=0xcf => return Some((short(at + 7)?.into(), short(at + 5)?.into())),
            _ => at += 2 + usize::from(short(at + 2)?).max(2),
        }
    }
    None
}

fn raw(
    (width, height): (u32, u32),
    step: u32,
    encoding: String,
    is_big_endian: bool,
    data: &[u8],
) -> Result<Shown, PictureError> {
    if width == 0 || height == 0 {
        return Err(PictureError::Empty { width, height });
    }
    if width > MOST_PIXELS || height > MOST_PIXELS {
        return Err(PictureError::Huge { width, height, most: MOST_PIXELS });
    }
    let Some(pixel) = Pixel::of(&encoding) else { return Err(PictureError::UnknownEncoding(encoding)) };
    let [columns, rows, row_bytes] = [width, height, step].map(|number| usize::try_from(number).unwrap_or(usize::MAX));
    let used = columns.saturating_mul(pixel.bytes());
    // The last row need not be padded.
    let least = row_bytes.saturating_mul(rows - 1).saturating_add(used);
    if row_bytes < used || data.len() < least {
        return Err(PictureError::Sizes { width, height, step, encoding, bytes: data.len() });
    }
    let every = width.div_ceil(WIDEST).max(height.div_ceil(HIGHEST));
    let every = usize::try_from(every).unwrap_or(1).max(1);
    let picked = || data.chunks(row_bytes).take(rows).step_by(every).map(|row| row.get(..used).unwrap_or(row));
    let (pixels, colours): (Vec<u8>, Colours) = match pixel {
        Pixel::Colour { bytes, places } => {
            let of_pixel = |pixel: &[u8]| places.map(|place| pixel.get(place).copied().unwrap_or_default());
            (picked().flat_map(|row| row.chunks_exact(bytes).step_by(every)).flat_map(of_pixel).collect(), Colours::Rgb)
        }
        Pixel::Gray8 => (picked().flat_map(|row| row.iter().step_by(every)).copied().collect(), Colours::Gray),
        Pixel::Gray16 => {
            let value = |pixel: &[u8]| {
                let pair = [pixel.first().copied().unwrap_or_default(), pixel.get(1).copied().unwrap_or_default()];
                if is_big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
            };
            let depths = picked().flat_map(|row| row.chunks_exact(2).step_by(every)).map(value);
            (stretched(&depths.collect::<Vec<u16>>()), Colours::Gray)
        }
    };
    let (columns, rows) = (columns.div_ceil(every), rows.div_ceil(every));
    let size = u16::try_from(columns).ok().zip(u16::try_from(rows).ok());
    let (columns, rows) = size.ok_or(PictureError::Huge { width, height, most: MOST_PIXELS })?;
    let file = jpeg(&pixels, (columns, rows), colours)?;
    Ok(Shown { media_type: "image/jpeg", about: About { size: (width, height), encoding }, file })
}

/// Numbers of 16 bits as grays, from the least to the greatest there is; 0, which means that nothing was measured, is black.
fn stretched(values: &[u16]) -> Vec<u8> {
    let measured = || values.iter().copied().filter(|value| *value > 0);
    let (least, greatest) = (measured().min().unwrap_or_default(), measured().max().unwrap_or_default());
    let span = u32::from(greatest.saturating_sub(least)).max(1);
    let gray = |value: &u16| match value {
        0 => 0,
        // The nearest is not black, either.
        value => u8::try_from(u32::from(value - least) * 215 / span + 40).unwrap_or(u8::MAX),
    };
    values.iter().map(gray).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32, step: u32, encoding: &str, data: Vec<u8>) -> CameraPicture {
        CameraPicture::Raw { width, height, step, encoding: encoding.to_owned(), is_big_endian: false, data }
    }

    /// Width and height as the file has them.
    fn size(file: &[u8]) -> (u32, u32) {
        let at = file.windows(2).position(|pair| pair == [0xff, 0xc0]).expect("a baseline JPEG");
        let number = |at: usize| u32::from(u16::from_be_bytes([file[at], file[at + 1]]));
        (number(at + 7), number(at + 5))
    }

    #[test]
    fn every_common_encoding_has_a_picture_also_with_padded_rows() {
        for (encoding, bytes) in
            [("rgb8", 3), ("bgr8", 3), ("rgba8", 4), ("bgra8", 4), ("mono8", 1), ("mono16", 2), ("16UC1", 2)]
        {
            let step = 4 * bytes + 5;
            // The last row is not padded.
            let data = vec![100; usize::try_from(step * 2 + 4 * bytes).unwrap()];
            let shown = encode(picture(4, 3, step, encoding, data)).unwrap();
            assert_eq!((size(&shown.file), shown.media_type), ((4, 3), "image/jpeg"), "{encoding}");
        }
    }

    #[test]
    fn sizes_that_are_lies_are_refused_in_words() {
        let refused = |width, height, step, bytes: usize| {
            encode(picture(width, height, step, "rgb8", vec![0; bytes])).unwrap_err()
        };
        assert!(matches!(refused(0, 4, 0, 0), PictureError::Empty { .. }));
        assert!(matches!(refused(u32::MAX, u32::MAX, u32::MAX, 10), PictureError::Huge { .. }));
        for (width, height, step, bytes) in
            [(4, 4, 11, 48), (4, 4, 12, 47), (30_000, 30_000, 90_000, 100), (4, 4, 0, 48), (4, 4, u32::MAX, 48)]
        {
            let problem = refused(width, height, step, bytes);
            assert!(matches!(problem, PictureError::Sizes { .. }), "{problem}");
        }
        assert!(refused(4, 4, 11, 48).to_string().contains("rows of 11 bytes, and 48 bytes in all"));
        let odd = encode(picture(1, 1, 1, "bayer_rggb8", vec![0])).unwrap_err();
        assert!(odd.to_string().contains("bayer_rggb8"), "{odd}");
    }

    #[test]
    fn a_wide_picture_is_made_smaller() {
        let shown = encode(picture(3_000, 10, 3_000, "mono8", vec![7; 30_000])).unwrap();
        assert_eq!(size(&shown.file), (1_000, 4));
        assert_eq!(shown.about.size, (3_000, 10));
        let shown = encode(picture(1, 5_000, 3, "rgb8", vec![7; 15_000])).unwrap();
        assert_eq!(size(&shown.file), (1, 1_250));
    }

    #[test]
    fn depths_are_seen_from_the_nearest_to_the_farthest() {
        assert_eq!(stretched(&[0, 1_000, 2_000, 3_000]), [0, 40, 147, 255]);
        assert_eq!(stretched(&[0, 0]), [0, 0]);
        assert_eq!(stretched(&[7, 7]), [40, 40]);
        assert_eq!(stretched(&[1, u16::MAX]), [40, 255]);
    }

    #[test]
    fn a_file_is_passed_on_by_how_it_begins_not_by_its_name() {
        let file = |format: &str, data: &[u8]| {
            encode(CameraPicture::Compressed { format: format.to_owned(), data: data.to_vec() })
        };
        let jpeg = encode(picture(4, 3, 12, "rgb8", vec![9; 36])).unwrap().file;
        let passed = file("png", &jpeg).unwrap();
        assert_eq!((passed.media_type, passed.about.size), ("image/jpeg", (4, 3)));
        assert_eq!(passed.file, jpeg, "it is passed on as it is");
        let png = |width: u32, height: u32| {
            let begin = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
            file("", &[&begin[..], &width.to_be_bytes(), &height.to_be_bytes()].concat())
        };
        assert_eq!(png(7, 5).unwrap().media_type, "image/png");
        assert!(matches!(png(60_000, 60_000), Err(PictureError::Huge { .. })), "a small file of a huge picture");
        assert!(matches!(png(0, 5), Err(PictureError::Empty { .. })));
        for end in 0..jpeg.len() {
            // However it was cut off, it is read within its bounds.
            let _ = file("jpeg", &jpeg[..end]);
        }
        for hostile in [&b"<svg onload=alert(1)>"[..], b"", b"GIF89a", b"\xff\xd8"] {
            assert!(matches!(file("jpeg", hostile), Err(PictureError::Format(_))));
        }
        assert!(matches!(file("jpeg", &vec![0xff; MOST_FILE_BYTES + 1]), Err(PictureError::LargeFile(_))));
    }
}
