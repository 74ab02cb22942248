//! Text on its way into a ROS message.

/// The text as a ROS string can carry it: without NUL, on which the client library would panic.
pub(crate) fn ros_text(text: impl Into<String>) -> String {
    let text = text.into();
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nul_never_reaches_the_client_library() {
        assert_eq!(ros_text("a\0b"), "a\u{fffd}b");
        assert_eq!(ros_text("küche"), "küche");
    }
}
