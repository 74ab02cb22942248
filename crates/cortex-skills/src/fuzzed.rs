//! Skills that nobody has thought of: each is read, or what is wrong is told in one line.

use crate::Skill;

#[test]
fn every_mutant_of_a_skill_is_read_or_told_what_is_wrong_with_it() {
    cortex_fuzz::fuzz(&["fuzz"], |input| {
        let text = String::from_utf8_lossy(input);
        match Skill::read("fuzzed", &text) {
            Ok(skill) => {
                assert_eq!(skill.name, "fuzzed");
                let steps: Vec<_> = skill.phrases.iter().map(|phrase| skill.asked_for(phrase)).collect();
                let asked = skill.asked_for("look after the kitchen");
                if let Some(steps) = &asked {
                    assert_eq!(steps.len(), skill.procedure.len(), "no step is lost");
                }
                format!("{} {} {steps:?} {asked:?}", skill.procedure.len(), skill.metadata.len())
            }
            Err(problem) => {
                let told = problem.to_string();
                assert!(!told.contains(char::is_control), "{told:?}");
                told
            }
        }
    });
}
