//! Text on its way into a ROS message.

/// The text as ROS can carry it: without zeros, at which `r2r` panics.
pub fn carried(text: impl Into<String>) -> String {
    let text = text.into();
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_never_reaches_the_client_library() {
        assert_eq!(carried("a\0b"), "a\u{fffd}b");
        assert_eq!(carried("küche"), "küche");
    }
}
