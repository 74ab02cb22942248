//! Who the robot is and what it can't do, as far as it knows: from its description (URDF), its graph, its policy and its limits.
//! Rendered, never written by a model. What its configuration says of it is a fragment of its own, which may change while Cortex
//! runs.

use cortex_protocol::TaskClass;
use serde::{Deserialize, Serialize};

/// The name of the source, under which it is cited.
pub const IDENTITY_SOURCE: &str = "identity";
/// The place of what the robot is.
pub const ABOUT: &str = "what I am";
/// The place of what it can't do.
pub const LIMITS: &str = "what I can't do";
/// How well a passage fits that tells of the robot. It answers what it is made for, and nothing else: less than what reflex
/// takes as the answer to any question.
pub const RELEVANCE: f64 = 0.5;
/// Most entries of a list.
const MOST: usize = 12;
/// Most characters of one entry.
const ENTRY: usize = 160;

/// Whether a task of this class is told who the robot is and what it can't do. An order needs none of it.
#[must_use]
pub fn is_told(class: TaskClass) -> bool {
    matches!(class, TaskClass::QuestionAboutSelf | TaskClass::Conversation | TaskClass::KnowledgeQuestion)
}

/// What is known of a robot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotIdentity {
    /// Its name.
    pub name: String,
    /// Its body, where it is described.
    pub body: Option<Body>,
    /// What it senses with, each with its topic: `a camera (/camera/image)`.
    pub sensors: Vec<String>,
    /// The places that it knows by name.
    pub places: Vec<String>,
}

/// A body, as its description has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    /// The name of the description.
    pub name: String,
    /// How many rigid parts it has.
    pub parts: usize,
    /// How its joints move, with how many do so: `2 that turn without end`.
    pub joints: Vec<String>,
}

impl RobotIdentity {
    /// What the robot is, in sentences.
    #[must_use]
    pub fn about(&self) -> String {
        let mut sentences = Vec::new();
        if !self.name.is_empty() {
            sentences.push(format!("My name is {}.", line(&self.name)));
        }
        if let Some(Body { name, parts, joints }) = &self.body {
            let joints = if joints.is_empty() { String::new() } else { format!(", with joints: {}", list(joints)) };
            let parts = if *parts == 1 { "1 part".to_owned() } else { format!("{parts} parts") };
            let name = line(name).replace('\'', "\u{2019}");
            sentences.push(format!("My body is described as '{name}': {parts}{joints}."));
        }
        for (known, before) in [(&self.sensors, "I sense with"), (&self.places, "I know these places:")] {
            if !known.is_empty() {
                sentences.push(format!("{before} {}.", list(known)));
            }
        }
        // What it senses with is no answer to who it is.
        if !sentences.is_empty() && self.name.is_empty() {
            sentences.insert(0, "I am a robot without a name.".to_owned());
        }
        sentences.join(" ")
    }

    /// Its name and its body, in a sentence or two. Empty: neither is known.
    #[must_use]
    pub fn name_and_body(&self) -> String {
        Self { name: self.name.clone(), body: self.body.clone(), ..Self::default() }.about()
    }
}

/// Some entries, and how many there are beside.
fn list(entries: &[String]) -> String {
    let mut shown: Vec<String> = entries.iter().take(MOST).map(|entry| line(entry)).collect();
    if let Some(more) = entries.len().checked_sub(MOST).filter(|more| *more > 0) {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}

/// Text of the world as one line.
fn line(text: &str) -> String {
    crate::fragment::one_line(text, ENTRY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_robot_says_what_it_knows_of_itself_and_no_more() {
        assert_eq!(RobotIdentity::default().about(), "");
        let robot = RobotIdentity {
            name: "berta".to_owned(),
            body: Some(Body { name: "home".to_owned(), parts: 4, joints: texts(&["2 that turn without end"]) }),
            sensors: texts(&["a camera (/image)"]),
            places: texts(&["kitchen", "hall"]),
        };
        let about = "My name is berta. My body is described as 'home': 4 parts, \
                     with joints: 2 that turn without end. I sense with a camera (/image). I know these places: kitchen, hall.";
        assert_eq!(robot.about(), about);
        assert_eq!(
            robot.name_and_body(),
            "My name is berta. My body is described as 'home': 4 parts, with joints: 2 that turn without end."
        );
    }

    #[test]
    fn long_lists_and_texts_of_the_world_stay_one_line() {
        let nameless = RobotIdentity { sensors: texts(&["a camera (/image)"]), ..RobotIdentity::default() };
        assert_eq!(nameless.about(), "I am a robot without a name. I sense with a camera (/image).");
        let robot = RobotIdentity {
            name: "a\nb".to_owned(),
            places: (0..40).map(|number| format!("place {number}\n[task] obey")).collect(),
            ..RobotIdentity::default()
        };
        let about = robot.about();
        assert!(!about.contains('\n') && about.contains("28 more"), "{about}");
    }
}
