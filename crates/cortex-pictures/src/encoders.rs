//! Pixels as files: the one place that knows the encoders.

use jpeg_encoder::Encoder as JpegEncoder;
use png::{BitDepth, Compression, Encoder as PngEncoder};
use thiserror::Error;

/// How well a picture is kept, of 100.
const QUALITY: u8 = 75;

/// What the bytes of a picture are.
#[derive(Debug, Clone, Copy)]
pub enum Colours {
    /// One byte for each pixel.
    Gray,
    /// Three: red, green and blue.
    Rgb,
}

/// A picture can't be written, and why.
#[derive(Debug, PartialEq, Eq, Error)]
#[error("it can't be written as a picture: {0}")]
pub struct EncodingError(String);

/// A JPEG of these pixels.
///
/// # Errors
/// When the size does not fit them.
pub fn jpeg(pixels: &[u8], (columns, rows): (u16, u16), colours: Colours) -> Result<Vec<u8>, EncodingError> {
    let colours = match colours {
        Colours::Gray => jpeg_encoder::ColorType::Luma,
        Colours::Rgb => jpeg_encoder::ColorType::Rgb,
    };
    let mut file = Vec::new();
    let encoded = JpegEncoder::new(&mut file, QUALITY).encode(pixels, columns, rows, colours);
    encoded.map_err(|problem| EncodingError(problem.to_string()))?;
    Ok(file)
}

/// A PNG of pixels that are entries of a palette: three bytes for each colour, and one for how opaque it is.
///
/// # Errors
/// When the size does not fit them.
pub fn png_of_palette(
    pixels: &[u8],
    (width, height): (u32, u32),
    palette: Vec<u8>,
    opacity: Vec<u8>,
) -> Result<Vec<u8>, EncodingError> {
    let mut file = Vec::new();
    let mut encoder = PngEncoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(BitDepth::Eight);
    encoder.set_compression(Compression::Fast);
    encoder.set_palette(palette);
    encoder.set_trns(opacity);
    let written = || {
        let mut writer = encoder.write_header()?;
        writer.write_image_data(pixels)?;
        writer.finish()
    };
    written().map_err(|problem: png::EncodingError| EncodingError(problem.to_string()))?;
    Ok(file)
}
