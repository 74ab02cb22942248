//! `cortex doctor` where ROS can't be loaded: why not, and what needs no ROS.

use std::process::ExitCode;

use cortex_config::{self as config, Layers};

use crate::arguments::RunArguments;
use crate::environment::{Finding, first_look, print_findings};
use crate::ros_program::RosMissing;

/// Says what is missing, and what can be said without it. It is never all right.
pub(crate) fn doctor(arguments: &RunArguments, missing: &RosMissing) -> anyhow::Result<ExitCode> {
    let mut findings = first_look();
    findings.push(("ROS libraries", Finding::Bad(missing.what(), missing.fix())));
    let layers =
        Layers { file: config::file(arguments.config.as_deref()), model: arguments.model.clone(), ..Layers::default() };
    findings.push((
        "configuration",
        match config::load(&layers) {
            Ok(resolved) => {
                Finding::Good(format!("the model is {} (from: {})", resolved.models.first, resolved.model_origin))
            }
            Err(problem) => {
                Finding::Bad(format!("{problem:#}"), "correct it; config/cortex.toml explains every key".to_owned())
            }
        },
    ));
    Ok(print_findings(findings))
}
