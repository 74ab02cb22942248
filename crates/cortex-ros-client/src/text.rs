//! Text on its way into a ROS message.

/// The text as ROS can carry it: without zeros, at which `r2r` panics.
pub fn carried(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}
