//! The process of a local model: loads one file, and answers one request after another over its standard streams, as
//! [`cortex_local_model::protocol`] says. Cortex starts it.

mod engine;
mod lines;

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::mpsc;

use cortex_local_model::protocol::{Failed, FromModel, Load, PROGRAM, Problem, ToModel, VERSION};

use engine::Engine;
use lines::{Cancelled, Output};

/// Requests that wait. Cortex sends the next one when it has an answer.
const WAITING_REQUESTS: usize = 16;

fn main() -> ExitCode {
    if std::env::args_os().len() > 1 || io::stdin().is_terminal() {
        // Nobody may read it, here and below.
        let _ = writeln!(
            io::stderr(),
            "{PROGRAM} {}: a language model in a file, in a process of its own. Cortex starts it where `model` or `chain.models` \
             of its configuration names `local`; see docs/models.md. Engine: {}.",
            env!("CARGO_PKG_VERSION"),
            engine::DESCRIPTION
        );
        return ExitCode::from(2);
    }
    let cancelled = Cancelled::default();
    let (sender, requests) = mpsc::sync_channel(WAITING_REQUESTS);
    let output = Output;
    lines::read_in_background(sender, cancelled.clone());
    match serve(&requests, &cancelled, &output) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(io::stderr(), "{PROGRAM}: {}", problem.problem);
            output.write(&FromModel::Refused(problem));
            ExitCode::FAILURE
        }
    }
}

/// Answers until the input ends.
fn serve(requests: &mpsc::Receiver<ToModel>, cancelled: &Cancelled, output: &Output) -> Result<(), Problem> {
    let load = match requests.recv() {
        Ok(ToModel::Load(load)) => load,
        Ok(_) => return Err(problem("a request came before the model was loaded", "start Cortex anew")),
        Err(_) => return Ok(()),
    };
    let mut engine = loaded(&load)?;
    output.write(&FromModel::Ready(engine.ready()));
    while let Ok(request) = requests.recv() {
        let ask = match request {
            ToModel::Ask(ask) => ask,
            // Of a request that is over.
            ToModel::Cancel(_) => continue,
            ToModel::Load(_) => return Err(problem("the model is loaded already", "start Cortex anew")),
        };
        let reply = match engine.ask(&ask, cancelled, output) {
            Ok(done) => FromModel::Done(done),
            Err(problem) => FromModel::Failed(Failed { id: ask.id, problem }),
        };
        output.write(&reply);
    }
    Ok(())
}

fn loaded(load: &Load) -> Result<Engine, Problem> {
    if load.version != VERSION {
        let told =
            format!("Cortex speaks version {} of the protocol, and this program version {VERSION}", load.version);
        return Err(problem(&told, "install both from the same build"));
    }
    Engine::load(load)
}

fn problem(problem: &str, fix: &str) -> Problem {
    Problem { problem: problem.to_owned(), fix: fix.to_owned() }
}
