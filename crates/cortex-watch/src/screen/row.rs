//! One row of the screen. Text of others gets into a row through [`Row::text`] alone, which leaves nothing hostile in it.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::model::Tone;
use crate::text::{cut, one_line, width};

/// Whether colours are shown. Bold and reversed text is in either case: no meaning is in a colour alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Colours.
    Colours,
    /// None: `NO_COLOR` is set.
    Plain,
}

impl Ink {
    /// The style of a tone.
    pub(super) fn of(self, tone: Tone) -> Style {
        let style = Style::new();
        let (colour, style) = match tone {
            Tone::Plain => return style,
            Tone::Quiet => (Color::DarkGray, style),
            Tone::Good => (Color::Green, style),
            Tone::Warning => (Color::Yellow, style),
            Tone::Bad => (Color::Red, style.add_modifier(Modifier::BOLD)),
            Tone::Person => (Color::Cyan, style),
        };
        match self {
            Self::Colours => style.fg(colour),
            Self::Plain => style,
        }
    }

    /// The style of what nobody may overlook.
    pub(super) fn loud(self, tone: Tone) -> Style {
        self.of(tone).add_modifier(Modifier::REVERSED | Modifier::BOLD)
    }
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Row(Vec<(String, Style)>);

impl Row {
    /// A row that begins with this text.
    pub(super) fn new(style: Style, text: &str) -> Self {
        Self::default().text(style, text)
    }

    /// Adds text in one line.
    pub(super) fn text(self, style: Style, text: &str) -> Self {
        self.own(style, &one_line(text))
    }

    /// Adds text that is clean already: this program's own, or of [`exact_json`](crate::text::exact_json). Its spaces stay.
    pub(super) fn own(mut self, style: Style, text: &str) -> Self {
        if !text.is_empty() {
            self.0.push((text.to_owned(), style));
        }
        self
    }

    /// Adds spaces.
    pub(super) fn space(self, columns: usize) -> Self {
        self.own(Style::new(), &" ".repeat(columns))
    }

    /// Adds another row.
    pub(super) fn then(mut self, row: Self) -> Self {
        self.0.extend(row.0);
        self
    }

    /// How many columns it takes.
    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(text, _)| width(text)).sum()
    }

    /// Fills the row up to so many columns, in the style of its last text.
    pub(super) fn filled(self, columns: usize) -> Self {
        let style = self.0.last().map_or(Style::new(), |(_, style)| *style);
        let missing = columns.saturating_sub(self.width());
        self.own(style, &" ".repeat(missing))
    }

    /// The row as it is drawn, cut to so many columns.
    pub(super) fn line(self, columns: usize) -> Line<'static> {
        let mut left = columns;
        let mut spans = Vec::with_capacity(self.0.len());
        for (text, style) in self.0 {
            if left == 0 {
                break;
            }
            let shown = cut(&text, left);
            let is_cut = shown.len() != text.len();
            left = if is_cut { 0 } else { left - width(&shown) };
            spans.push(Span::styled(shown, style));
        }
        Line::from(spans)
    }
}

/// A bar of so many columns, filled to a share.
pub(super) fn bar(columns: usize, share: f64) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    // At most the number of columns.
    let full = ((columns as f64) * share).round() as usize;
    format!("{}{}", "█".repeat(full.min(columns)), "░".repeat(columns.saturating_sub(full)))
}

/// A time in few letters.
pub(super) fn short_time(milliseconds: u64) -> String {
    let seconds = milliseconds / 1_000;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
    }
}
