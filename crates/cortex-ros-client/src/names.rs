//! The names that a node offers and uses, as the remap rules of its process have them.
//!
//! The client library applies the rules to what is made on a node that takes the arguments of the process. Other nodes of the
//! process (those of threads of their own) have other names and take no arguments, so what is made on them for the main
//! node is named here, exactly as the client library would name it on the main node.

use std::sync::Arc;

use crate::RosError;
use crate::rcl::arguments::Arguments;
use crate::rcl::remap::{NameKind, remapped};

/// The parts of an action: services first, then topics.
const ACTION_SERVICES: [&str; 3] = ["send_goal", "cancel_goal", "get_result"];
const ACTION_TOPICS: [&str; 2] = ["feedback", "status"];

/// A name that a node offers or uses, as it is written without any rule: `~/stop`, `/diagnostics`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnName {
    /// A topic that is published or read.
    Topic(&'static str),
    /// A service.
    Service(&'static str),
    /// An action: a rule for its name counts for all its parts, and one for a part goes over that.
    Action(&'static str),
    /// A topic by which others know the node: no rule may be about it.
    Fixed(&'static str),
}

/// How the names of one node are resolved. Clones share it.
#[derive(Debug, Clone)]
pub struct Names {
    /// The full name of the node, after its own remapping.
    node: Arc<str>,
    arguments: Arc<Vec<String>>,
}

/// A name that a rule has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// As it is without rules: `~/stop`.
    pub own: String,
    /// As it is: `/estop`.
    pub now: String,
}

/// A remap rule of the process.
struct Rule<'a> {
    written: &'a str,
    /// Of which node. None: of all.
    node: Option<&'a str>,
    matches: &'a str,
}

impl Names {
    /// Of the node of this full name in this process.
    #[must_use]
    pub fn of_process(node: &str) -> Self {
        let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        Self::given(node, arguments)
    }

    fn given(node: &str, arguments: impl IntoIterator<Item = String>) -> Self {
        Self { node: node.into(), arguments: Arc::new(arguments.into_iter().collect()) }
    }

    /// The fully qualified name of a topic: `~/status` is the node's own, `/odom` everybody's.
    ///
    /// # Errors
    /// When it is no name.
    pub fn topic(&self, name: &str) -> Result<String, RosError> {
        self.resolved(NameKind::Topic, name)
    }

    /// The fully qualified name of a service, likewise.
    ///
    /// # Errors
    /// When it is no name.
    pub fn service(&self, name: &str) -> Result<String, RosError> {
        self.resolved(NameKind::Service, name)
    }

    /// The fully qualified name of an action as a whole. Its parts are below it: `/_action/send_goal` and so on. The client
    /// library knows of the parts only, so that a rule for the action would rename nothing.
    ///
    /// # Errors
    /// When it is no name.
    pub fn action(&self, name: &str) -> Result<String, RosError> {
        // An action is renamed as a service is, and as a topic where no rule for services is about it.
        let service = self.resolved(NameKind::Service, name)?;
        if service == self.expanded(name) { self.resolved(NameKind::Topic, name) } else { Ok(service) }
    }

    fn resolved(&self, kind: NameKind, name: &str) -> Result<String, RosError> {
        let arguments = Arguments::of(self.arguments.iter().cloned())?;
        let name = self.expanded(name);
        Ok(remapped(&arguments, kind, &name, self.parts())?.unwrap_or(name))
    }

    /// Without any rule.
    fn expanded(&self, name: &str) -> String {
        match name.strip_prefix('~') {
            Some(below) => format!("{}{below}", self.node),
            None if name.starts_with('/') => name.to_owned(),
            None => format!("{}/{name}", self.parts().1.trim_end_matches('/')),
        }
    }

    /// The node's own name, and its namespace.
    fn parts(&self) -> (&str, &str) {
        match self.node.rsplit_once('/') {
            Some(("", name)) => (name, "/"),
            Some((namespace, name)) => (name, namespace),
            None => (&self.node, "/"),
        }
    }

    /// Which of these names the rules have changed, in their order; of an action each part.
    ///
    /// # Errors
    /// When one is no name.
    pub fn renamed(&self, own: &[OwnName]) -> Result<Vec<Renamed>, RosError> {
        let mut renamed = Vec::new();
        let mut add = |own: String, now: String| {
            if now != self.expanded(&own) {
                renamed.push(Renamed { own, now });
            }
        };
        for name in own {
            match *name {
                OwnName::Topic(name) => add(name.to_owned(), self.topic(name)?),
                OwnName::Service(name) => add(name.to_owned(), self.service(name)?),
                OwnName::Fixed(_) => {}
                OwnName::Action(name) => {
                    let action = self.action(name)?;
                    for part in ACTION_SERVICES {
                        add(format!("{name}/_action/{part}"), self.service(&format!("{action}/_action/{part}"))?);
                    }
                    for part in ACTION_TOPICS {
                        add(format!("{name}/_action/{part}"), self.topic(&format!("{action}/_action/{part}"))?);
                    }
                }
            }
        }
        Ok(renamed)
    }

    /// Checks that each rule which is about this node renames one of these names. Gives the rules that are about names of
    /// others: they rename nothing.
    ///
    /// # Errors
    /// [`RosError::Arguments`] for a rule that is meant for this node and can't be obeyed.
    pub fn check(&self, own: &[OwnName]) -> Result<Vec<String>, RosError> {
        let mut idle = Vec::new();
        for rule in self.rules() {
            if rule.node.is_some_and(|node| node != self.parts().0) {
                continue;
            }
            let matches = self.expanded(rule.matches);
            let is_it = |name: &str| self.expanded(name) == matches;
            let known = own.iter().any(|name| match *name {
                OwnName::Topic(name) | OwnName::Service(name) => is_it(name),
                OwnName::Fixed(_) => false,
                OwnName::Action(name) => {
                    let parts = ACTION_SERVICES.iter().chain(&ACTION_TOPICS);
                    is_it(name) || parts.into_iter().any(|part| is_it(&format!("{name}/_action/{part}")))
                }
            });
            if known {
                continue;
            }
            let refused = |problem: String| {
                Err(RosError::Arguments { problem: format!("the remap rule '{}' {problem}", rule.written) })
            };
            if own.iter().any(|name| matches!(name, OwnName::Fixed(name) if is_it(name))) {
                return refused(format!(
                    "can't be obeyed: others know {} by {matches}; give the node another name (`-r __node:=NAME`)",
                    self.node
                ));
            }
            if rule.node.is_some() || matches.strip_prefix(&*self.node).is_some_and(|rest| rest.starts_with('/')) {
                let names: Vec<&str> = own.iter().filter_map(OwnName::may_change).collect();
                return refused(format!(
                    "renames nothing that {} offers or uses: {}; what Cortex finds on the graph it uses under the name that \
                     it has there",
                    self.node,
                    names.join(", ")
                ));
            }
            idle.push(rule.written.to_owned());
        }
        Ok(idle)
    }

    /// The rules for topics, services and actions, in the order in which they were given. The client library has checked
    /// them.
    fn rules(&self) -> Vec<Rule<'_>> {
        let (mut rules, mut is_ros, mut is_rule) = (Vec::new(), false, false);
        for argument in self.arguments.iter() {
            if std::mem::take(&mut is_rule) {
                rules.extend(Rule::read(argument));
                continue;
            }
            match argument.as_str() {
                "--ros-args" => is_ros = true,
                "--" => is_ros = false,
                "-r" | "--remap" if is_ros => is_rule = true,
                _ => {}
            }
        }
        rules
    }
}

impl<'a> Rule<'a> {
    /// None for the rules that name the node itself.
    fn read(written: &'a str) -> Option<Self> {
        let (left, _) = written.split_once(":=")?;
        let kind = ["rostopic://", "rosservice://"].iter().find_map(|kind| left.strip_prefix(kind));
        let (node, matches) = match (kind, left.split_once(':')) {
            (Some(matches), _) => (None, matches),
            (None, Some((node, matches))) => {
                let kind = ["rostopic://", "rosservice://"].iter().find_map(|kind| matches.strip_prefix(kind));
                (Some(node), kind.unwrap_or(matches))
            }
            (None, None) => (None, left),
        };
        (!matches.starts_with("__")).then_some(Self { written, node, matches })
    }
}

impl OwnName {
    fn may_change(&self) -> Option<&'static str> {
        match *self {
            Self::Topic(name) | Self::Service(name) | Self::Action(name) => Some(name),
            Self::Fixed(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: [OwnName; 5] = [
        OwnName::Action("~/task"),
        OwnName::Service("~/stop"),
        OwnName::Topic("~/output"),
        OwnName::Topic("/diagnostics"),
        OwnName::Fixed("~/instance"),
    ];

    fn names(node: &str, rules: &[&str]) -> Names {
        let rules = rules.iter().flat_map(|rule| ["-r".to_owned(), (*rule).to_owned()]);
        let program = ["cortex", "run", "--ros-args"].map(str::to_owned);
        Names::given(node, program.into_iter().chain(rules))
    }

    fn renamed(node: &str, rules: &[&str]) -> Vec<(String, String)> {
        let renamed = names(node, rules).renamed(&OWN).unwrap();
        renamed.into_iter().map(|renamed| (renamed.own, renamed.now)).collect()
    }

    #[test]
    fn every_kind_of_rule_renames_what_it_is_about_and_nothing_else() {
        assert_eq!(renamed("/cortex", &[]), []);
        for (node, rules, own, now) in [
            ("/cortex", &["~/stop:=/estop"][..], "~/stop", "/estop"),
            ("/cortex", &["/cortex/stop:=estop"], "~/stop", "/estop"),
            ("/robot1/cortex", &["~/stop:=estop"], "~/stop", "/robot1/estop"),
            ("/cortex", &["cortex:~/stop:=~/halt"], "~/stop", "/cortex/halt"),
            ("/cortex", &["other:~/stop:=/no", "cortex:/diagnostics:=/diag2"], "/diagnostics", "/diag2"),
            ("/cortex", &["rosservice://~/stop:=/estop", "rostopic://~/stop:=/no"], "~/stop", "/estop"),
            ("/cortex", &["~/output:=/say", "~/output:=/late"], "~/output", "/say"),
            ("/cortex", &["~/task/_action/feedback:=/progress"], "~/task/_action/feedback", "/progress"),
        ] {
            assert_eq!(renamed(node, rules), [(own.to_owned(), now.to_owned())], "{node} {rules:?}");
        }
        assert_eq!(renamed("/cortex", &["other:~/stop:=/estop", "/odom:=/odom2"]), []);
    }

    #[test]
    fn a_rule_for_an_action_renames_all_its_parts_and_one_for_a_part_goes_over_it() {
        let all = renamed("/cortex", &["~/task:=/do", "/do/_action/status:=/states"]);
        let expected = ["send_goal", "cancel_goal", "get_result", "feedback"].map(|part| format!("/do/_action/{part}"));
        let now: Vec<String> = all.iter().map(|(_, now)| now.clone()).collect();
        assert_eq!(now, [&expected[..], &["/states".to_owned()]].concat());
    }

    #[test]
    fn what_can_not_be_renamed_is_refused_with_what_can() {
        let check = |rules: &[&str]| names("/cortex", rules).check(&OWN).map_err(|problem| problem.to_string());
        assert_eq!(
            check(&["~/stop:=/e", "/cortex/task:=/do", "__node:=cortex", "other:~/nothing:=/e"]),
            Ok(Vec::new())
        );
        assert_eq!(check(&["/tf:=tf", "odom:=odom2"]), Ok(vec!["/tf:=tf".to_owned(), "odom:=odom2".to_owned()]));
        for (rule, told) in [
            (
                "~/stpo:=/estop",
                "'~/stpo:=/estop' renames nothing that /cortex offers or uses: ~/task, ~/stop, ~/output",
            ),
            ("/cortex/stpo:=/estop", "renames nothing"),
            ("cortex:/odom:=/odom2", "renames nothing"),
            ("~/instance:=/who", "others know /cortex by /cortex/instance; give the node another name"),
        ] {
            let refused = check(&["~/stop:=/estop", rule]).unwrap_err();
            assert!(refused.contains(told), "{rule}: {refused}");
        }
    }
}
