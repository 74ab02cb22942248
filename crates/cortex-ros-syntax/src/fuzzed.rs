//! Names and command lines that nobody has thought of: nothing but a checked name becomes a path, and no argument is lost.

use crate::{InterfaceName, arguments};

fn read_name(text: &str) -> String {
    match text.parse::<InterfaceName>() {
        Ok(name) => {
            assert_eq!(name.to_string(), text, "a name is written as it was read");
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            assert!(name.package().bytes().chain(name.name().bytes()).all(is_plain), "{name}");
            name.kind().to_string()
        }
        Err(problem) => {
            let told = problem.to_string();
            assert!(told.chars().count() < 500, "{told}");
            assert!(!told.chars().any(char::is_control), "{told:?}");
            problem.problem.to_owned()
        }
    }
}

#[test]
fn no_mutant_of_a_name_or_a_command_line_is_read_as_another() {
    cortex_fuzz::fuzz(&["fuzz"], |input| {
        let text = String::from_utf8_lossy(input);
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let split = arguments::split(words.clone());
        assert_eq!(split.own.len() + split.ros.len(), words.len(), "an argument is lost: {split:?}");
        assert!(!split.own.iter().any(|word| word == "--ros-args"), "{split:?}");
        let whole = [split.own.as_slice(), split.ros.as_slice()].concat();
        assert_eq!(arguments::split(whole), split, "{text:?}");
        format!("{} {} {}", read_name(&text), split.own.len() > 1, split.ros.len() > 1)
    });
}
