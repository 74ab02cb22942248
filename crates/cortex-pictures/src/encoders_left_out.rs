//! What stands in for the encoders where Cortex is built without the feature `pictures`: no file is written.

use thiserror::Error;

/// What the bytes of a picture are.
#[derive(Debug, Clone, Copy)]
pub enum Colours {
    /// One byte for each pixel.
    Gray,
    /// Three: red, green and blue.
    Rgb,
}

/// No picture can be written.
#[derive(Debug, PartialEq, Eq, Error)]
#[error(
    "it can't be shown, since this Cortex was built without pictures; build it with the feature `pictures`, or have the camera \
     publish compressed pictures, which are passed on as they are"
)]
pub struct EncodingError;

/// Refuses.
pub fn jpeg(_pixels: &[u8], _size: (u16, u16), _colours: Colours) -> Result<Vec<u8>, EncodingError> {
    Err(EncodingError)
}

/// Refuses.
pub fn png_of_palette(
    _pixels: &[u8],
    _size: (u32, u32),
    _palette: Vec<u8>,
    _opacity: Vec<u8>,
) -> Result<Vec<u8>, EncodingError> {
    Err(EncodingError)
}
