//! The arguments of `cortex watch`, and what they come to.

use clap::Args;

use crate::address::Address;
use crate::error::WatchError;
use crate::http::token;
use crate::screen::Ink;

/// The arguments of `cortex watch`.
#[derive(Debug, Clone, Args)]
pub struct WatchArguments {
    /// Where the page of the Cortex is: `http://HOST:PORT`. From another machine, the variable `CORTEX_WATCH_TOKEN` holds
    /// the token of a session.
    #[arg(env = "CORTEX_WEB__LISTEN", default_value = Address::DEFAULT)]
    pub address: String,
    /// Print one line for each event instead of a screen. So it is without a terminal, too.
    #[arg(long)]
    pub plain: bool,
    /// For scripts: print each event as one line of JSON, a CloudEvent.
    #[arg(long, conflicts_with = "plain")]
    pub json: bool,
}

/// How what happens is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// A screen where a person sits at a terminal, and lines otherwise.
    Automatic,
    /// Lines.
    Plain,
    /// CloudEvents.
    Json,
}

/// What is watched, and how.
#[derive(Clone, PartialEq, Eq)]
pub struct WatchOptions {
    /// Where the Cortex is.
    pub address: Address,
    /// The token of a session. None: on the robot itself none is needed.
    pub token: Option<String>,
    /// How what happens is shown.
    pub output: Output,
    /// Whether the screen has colours.
    pub ink: Ink,
}

impl std::fmt::Debug for WatchOptions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { address, token, output, ink } = self;
        let token = token.as_ref().map(|_| "(secret)");
        let mut shown = formatter.debug_struct("WatchOptions");
        shown.field("address", address).field("token", &token).field("output", output).field("ink", ink).finish()
    }
}

impl WatchArguments {
    /// The options, with what the environment says of token and colours.
    ///
    /// # Errors
    /// When the address is none.
    pub fn options(&self) -> Result<WatchOptions, WatchError> {
        let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let output = match (self.json, self.plain) {
            (true, _) => Output::Json,
            (false, true) => Output::Plain,
            (false, false) => Output::Automatic,
        };
        Ok(WatchOptions {
            address: self.address.parse()?,
            token: token(),
            output,
            ink: if set("NO_COLOR").is_some() { Ink::Plain } else { Ink::Colours },
        })
    }
}
