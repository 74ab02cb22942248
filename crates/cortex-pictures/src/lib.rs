//! Pictures of cameras as files: for people on the page, and for models that see.
//!
//! - [`camera`]: a picture as a camera sent it, checked, made smaller, and written as a file;
//! - [`encoders`]: pixels as files;
//! - [`tools`]: the tool by which a planner takes a picture.

pub mod camera;
#[cfg_attr(not(feature = "encoders"), path = "encoders_left_out.rs")]
pub mod encoders;
pub mod tools;

pub use tools::PictureTools;
