//! What is no mistake in a recipe, and still good to know.

use cortex_protocol::ToolName;

use crate::{ActionKind, Recipe};

impl Recipe {
    /// What becomes of each action of a component while another one has its place, in the order of the actions. Which methods
    /// a standby has is known only when it is there.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let remark = |(name, action): (_, &_)| {
            let component = self.component_of(action)?;
            let by = self.components.get(&component)?.standby.as_ref()?;
            Some(match &action.kind {
                ActionKind::Method(method) => {
                    let tool = ToolName::of_method(by, &method.name);
                    format!(
                        "while '{by}' has the place of '{component}', the action '{name}' is done by {tool}, if '{by}' offers \
                         that with the same effect and takes the arguments; it is refused otherwise"
                    )
                }
                ActionKind::Service(_) | ActionKind::Topic(_) | ActionKind::Command(_) | ActionKind::Parameters(_) => {
                    format!(
                        "while '{by}' has the place of '{component}', the action '{name}' is refused: only methods are taken over"
                    )
                }
            })
        };
        self.actions.iter().filter_map(remark).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPE: &str = r#"
recipe = 1
[components.base]
start = "external"
standby = "crawler"
[components.crawler]
start = "external"
[components.light]
start = "external"
[actions.dock]
method = { component = "base", name = "go_to", arguments = { place = "dock" } }
[actions.beep]
topic = { name = "/base/beep", type = "std_msgs/msg/Bool" }
[actions.power_off]
component = ""
service = { name = "/base/power_off", type = "std_srvs/srv/Trigger" }
[actions.dark]
method = { component = "light", name = "turn_off" }
"#;

    #[test]
    fn what_becomes_of_the_actions_of_a_component_that_can_be_replaced_is_told() {
        let recipe = Recipe::read(RECIPE).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
        assert_eq!(
            recipe.remarks(),
            [
                "while 'crawler' has the place of 'base', the action 'beep' is refused: only methods are taken over",
                "while 'crawler' has the place of 'base', the action 'dock' is done by crawler.go_to, if 'crawler' offers \
                 that with the same effect and takes the arguments; it is refused otherwise",
            ]
        );
    }
}
