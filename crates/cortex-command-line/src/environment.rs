//! What the environment says of ROS, before anything of ROS is loaded: the first look of `cortex doctor`.

use std::process::ExitCode;

/// What one check found.
pub enum Finding {
    /// All is well.
    Good(String),
    /// Not wrong, but perhaps not what was meant.
    Notable(String, String),
    /// What is wrong, and the fix.
    Bad(String, String),
}

/// Looks a variable of the environment up.
type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What the environment says: which ROS 2 is sourced, how its middleware sends, and who may command the robot.
pub fn first_look() -> Vec<(&'static str, Finding)> {
    let mut findings = vec![("ROS 2", sourced(&variable))];
    findings.extend(shared_memory(&variable).map(|finding| ("ROS 2", finding)));
    findings.extend(exposure(&variable).map(|finding| ("security", finding)));
    findings
}

/// Prints findings, each with its subject, and gives the exit status: 0 if nothing is wrong, else 1.
pub fn print_findings(findings: Vec<(&'static str, Finding)>) -> ExitCode {
    let mut healthy = true;
    for (subject, finding) in findings {
        match finding {
            Finding::Good(text) => println!("ok    {subject}: {text}"),
            Finding::Notable(text, fix) => println!("note  {subject}: {text}\n      -> {fix}"),
            Finding::Bad(text, fix) => {
                healthy = false;
                println!("FAIL  {subject}: {text}\n      -> {fix}");
            }
        }
    }
    if healthy { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A variable of the environment that says something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether a ROS 2 is sourced, and which.
fn sourced(variable: Variable<'_>) -> Finding {
    let Some(distribution) = variable("ROS_DISTRO") else {
        return Finding::Bad(
            "no ROS 2 is sourced (ROS_DISTRO is not set)".to_owned(),
            "run `source /opt/ros/jazzy/setup.bash`, or `eval \"$(cargo xtask env)\"` in the repository".to_owned(),
        );
    };
    if variable("AMENT_PREFIX_PATH").is_none() {
        return Finding::Bad(
            format!("ROS_DISTRO is {distribution}, but AMENT_PREFIX_PATH is not set"),
            "source the setup file of ROS 2 again".to_owned(),
        );
    }
    let domain = variable("ROS_DOMAIN_ID").unwrap_or_else(|| "0".to_owned());
    let middleware = variable("RMW_IMPLEMENTATION").unwrap_or_else(|| "the default".to_owned());
    let range = variable("ROS_AUTOMATIC_DISCOVERY_RANGE").unwrap_or_else(|| "SUBNET".to_owned());
    Finding::Good(format!("{distribution}, domain {domain}, discovery range {range}, middleware {middleware}"))
}

/// Whether Fast DDS sends through shared memory, which loses messages where processes are killed and started again
/// (`config/fastdds_loopback.xml` has the figures). A profile that somebody wrote is not judged.
fn shared_memory(variable: Variable<'_>) -> Option<Finding> {
    let is_fast_dds = variable("RMW_IMPLEMENTATION").is_none_or(|name| name.starts_with("rmw_fastrtps"));
    let is_local = variable("ROS_AUTOMATIC_DISCOVERY_RANGE").is_some_and(|range| range == "LOCALHOST");
    let transports = variable("FASTDDS_BUILTIN_TRANSPORTS");
    let has_profile =
        ["FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE"].iter().any(|name| variable(name).is_some());
    let is_off = has_profile || transports.is_some_and(|transports| transports.starts_with("UDP"));
    // With this range, the shared memory is used whatever else is set.
    (is_fast_dds && (is_local || !is_off)).then(|| {
        let fix = if is_local {
            "set ROS_AUTOMATIC_DISCOVERY_RANGE=SYSTEM_DEFAULT and FASTRTPS_DEFAULT_PROFILES_FILE to the path of \
             config/fastdds_loopback.xml, for all nodes: the same range, without it"
        } else {
            "set FASTDDS_BUILTIN_TRANSPORTS=UDPv4 for all nodes"
        };
        Finding::Notable(
            "Fast DDS uses shared memory; a node that was killed and started again may not hear the others (about 1 of \
             100 times)"
                .to_owned(),
            fix.to_owned(),
        )
    })
}

/// Whether others than this machine may command the robot. Who is on the graph may, with Cortex or past it.
fn exposure(variable: Variable<'_>) -> Option<Finding> {
    let notable = |text: &str, fix: &str| Some(Finding::Notable(text.to_owned(), fix.to_owned()));
    if variable("ROS_SECURITY_ENABLE").is_some_and(|enabled| enabled == "true") {
        if variable("ROS_SECURITY_STRATEGY").is_some_and(|strategy| strategy == "Enforce") {
            return None;
        }
        return notable(
            "SROS2 is on, but nodes without keys run unsecured (ROS_SECURITY_STRATEGY is not Enforce)",
            "set ROS_SECURITY_STRATEGY=Enforce for all nodes; docs/security.md tells more",
        );
    }
    let has_profile = ["FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_DEFAULT_PROFILES_FILE", "CYCLONEDDS_URI"]
        .iter()
        .any(|name| variable(name).is_some());
    let is_closed = match variable("ROS_AUTOMATIC_DISCOVERY_RANGE").as_deref() {
        Some("LOCALHOST" | "OFF") => true,
        // What the middleware is told by its own file is not judged.
        Some("SYSTEM_DEFAULT") => has_profile,
        _ => variable("ROS_LOCALHOST_ONLY").is_some_and(|only| only == "1"),
    };
    if is_closed {
        return None;
    }
    notable(
        "the graph is open to the subnet, without SROS2: anybody on the local network can command the robot",
        "set ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST for all nodes where the robot is one machine, or a network of its own, or \
         SROS2; docs/security.md says how",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_that_is_open_to_the_subnet_is_told() {
        let told = |set: &[(&str, &str)]| {
            let variable = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            exposure(&variable).map(|finding| match finding {
                Finding::Good(text) | Finding::Notable(text, _) | Finding::Bad(text, _) => text,
            })
        };
        let is_open = |set: &[(&str, &str)]| told(set).is_some_and(|text| text.contains("open to the subnet"));
        let range = |range| ("ROS_AUTOMATIC_DISCOVERY_RANGE", range);
        assert!(is_open(&[]) && is_open(&[range("SUBNET")]) && is_open(&[range("SYSTEM_DEFAULT")]));
        assert!(is_open(&[("ROS_SECURITY_ENABLE", "false"), ("ROS_SECURITY_STRATEGY", "Enforce")]));
        for closed in [
            &[range("LOCALHOST")][..],
            &[range("OFF")],
            &[range("SYSTEM_DEFAULT"), ("FASTRTPS_DEFAULT_PROFILES_FILE", "a.xml")],
            &[("ROS_LOCALHOST_ONLY", "1")],
            &[("ROS_SECURITY_ENABLE", "true"), ("ROS_SECURITY_STRATEGY", "Enforce")],
        ] {
            assert_eq!(told(closed), None, "{closed:?}");
        }
        assert!(told(&[("ROS_SECURITY_ENABLE", "true")]).is_some_and(|text| text.contains("run unsecured")));
    }

    #[test]
    fn shared_memory_of_fast_dds_is_told_unless_it_is_off() {
        let fix = |set: &[(&str, &str)]| {
            let variable = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            shared_memory(&variable).map(|finding| match finding {
                Finding::Good(text) => text,
                Finding::Notable(_, fix) | Finding::Bad(_, fix) => fix,
            })
        };
        let (profile, range) = (("FASTRTPS_DEFAULT_PROFILES_FILE", "a.xml"), "ROS_AUTOMATIC_DISCOVERY_RANGE");
        assert!(fix(&[]).is_some_and(|fix| fix.contains("FASTDDS_BUILTIN_TRANSPORTS=UDPv4")));
        assert_eq!(fix(&[("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")]), None);
        assert_eq!(fix(&[profile, (range, "SYSTEM_DEFAULT")]), None);
        assert!(fix(&[profile, (range, "LOCALHOST")]).is_some_and(|fix| fix.contains("fastdds_loopback.xml")));
        assert_eq!(fix(&[("RMW_IMPLEMENTATION", "rmw_cyclonedds_cpp")]), None);
    }
}
