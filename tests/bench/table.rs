//! The one table that is printed.

use std::fmt;
use std::time::Duration;

/// Rows of what was measured.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<[String; 4]>,
}

impl Table {
    /// Adds times: their median, 99th percentile and largest.
    pub(crate) fn add_times(&mut self, what: impl Into<String>, target: &str, times: &[Duration]) {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let at = |part: f64| {
            let last = sorted.len().saturating_sub(1);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "an index of a short list"
            )]
            let index = (last as f64 * part).round() as usize;
            sorted.get(index).copied().unwrap_or_default()
        };
        let rest = format!("p99 {}, max {}, n {}", shown(at(0.99)), shown(at(1.0)), sorted.len());
        self.add(what, target, shown(at(0.5)), rest);
    }

    /// Adds one figure.
    pub(crate) fn add(
        &mut self,
        what: impl Into<String>,
        target: &str,
        figure: impl Into<String>,
        rest: impl Into<String>,
    ) {
        let row = [what.into(), figure.into(), target.to_owned(), rest.into()];
        eprintln!("{}: {} {}", row[0], row[1], row[3]);
        self.rows.push(row);
    }
}

/// The time in the middle.
pub(crate) fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

fn shown(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    if milliseconds >= 1_000.0 { format!("{:.2} s", milliseconds / 1e3) } else { format!("{milliseconds:.2} ms") }
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "| what | median | wanted | more |\n| --- | --- | --- | --- |")?;
        for [what, figure, target, rest] in &self.rows {
            writeln!(formatter, "| {what} | {figure} | {target} | {rest} |")?;
        }
        Ok(())
    }
}
