//! `cortex wordings`: what the embedded command reader was told that words mean. Needs neither ROS nor a running Cortex.

use std::process::ExitCode;

use cortex_config::{self as config, Layers};
use cortex_model::WordingFile;
use cortex_protocol::words::counted;

use crate::arguments::{WordingsArguments, WordingsCommand};

pub(crate) fn wordings(arguments: &WordingsArguments) -> anyhow::Result<ExitCode> {
    let file = match &arguments.file {
        Some(file) => Some(WordingFile::new(file.clone())),
        None => config::wording_file(&Layers { file: config::file(arguments.config.as_deref()), ..Layers::default() })?,
    };
    let Some(file) = file else {
        println!("Nothing is learnt: the configuration says wordings.file = \"off\".");
        return Ok(ExitCode::SUCCESS);
    };
    match &arguments.command {
        WordingsCommand::List => list(&file),
        WordingsCommand::Forget { words } => forget(&file, words),
    }
}

fn list(file: &WordingFile) -> anyhow::Result<ExitCode> {
    let (wordings, bad) = file.read()?;
    if wordings.is_empty() {
        println!("Nothing was learnt yet; it would be kept in {}.", file.path().display());
    }
    for it in wordings.iter() {
        let by = if it.by.is_empty() { String::new() } else { format!("{}, ", it.by) };
        println!("{}  \"{}\" means \"{}\"  ({by}used {})", it.day(), it.words, it.means, counted(it.used, "time"));
    }
    for line in &bad {
        eprintln!("cortex: {}, {line}", file.path().display());
    }
    Ok(if bad.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn forget(file: &WordingFile, words: &str) -> anyhow::Result<ExitCode> {
    match file.forget(words)? {
        Some(it) => {
            println!("Forgotten: \"{}\" means \"{}\".", it.words, it.means);
            Ok(ExitCode::SUCCESS)
        }
        None => {
            eprintln!("cortex: no such wording was learnt; `cortex wordings list` shows those that were");
            Ok(ExitCode::FAILURE)
        }
    }
}
