//! The full screen, drawn into the cells of a buffer. Pure: the same picture, size and time always give the same cells.

mod dialog;
mod layout;
mod plan;
mod question;
mod row;
mod status;
mod tree;

#[cfg(test)]
mod tests;

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub use row::Ink;

use self::layout::{Need, share};
use self::row::{Row, short_time};
use crate::keys::{Mode, Ui};
use crate::model::{Log, Model, Tone};
use crate::text::{is_clean, wrap};

/// From this width on, what has happened stands beside the plan.
const TWO_COLUMNS: u16 = 100;
/// Rows that a question gets before everything else.
const QUESTION: usize = 9;
/// Columns of the time before a line of the log.
const TIME: usize = 9;

/// Draws the view. `ui` takes note of what was shown: a question is answered only after its end was on the screen.
pub(crate) fn draw(model: &Model, ui: &mut Ui, now: Duration, ink: Ink, buffer: &mut Buffer) {
    buffer.reset();
    let area = buffer.area;
    let columns = usize::from(area.width);
    let top = status::top(model, now, ink, columns);
    let bottom = dialog::bottom(model, ui, now, ink, columns);
    // The keys and STOP stay on the screen, however small that is.
    let bottom_height = rows_of(&bottom).min(area.height);
    let top_height = rows_of(&top).min(area.height - bottom_height);
    let body = Rect { y: area.y + top_height, height: area.height - bottom_height - top_height, ..area };
    put(buffer, Rect { height: top_height, ..area }, top);
    put(buffer, Rect { y: body.y + body.height, height: bottom_height, ..area }, bottom);
    if ui.mode == Mode::Help {
        put(buffer, body, dialog::help(ink));
    } else if area.width >= TWO_COLUMNS {
        let left = Rect { width: area.width / 5 * 3, ..body };
        let right = Rect { x: left.x + left.width + 1, width: area.width - left.width - 1, ..body };
        let mut sections = Sections::new(model, ui, now, ink, left, left.height);
        sections.question(1).mission(2).plan(3).fit(buffer, left);
        let mut sections = Sections::new(model, ui, now, ink, right, right.height);
        sections.components(1).budgets(2).log(3).fit(buffer, right);
    } else {
        let mut sections = Sections::new(model, ui, now, ink, body, body.height);
        sections.mission(2).plan(3).question(1).components(4).budgets(5).log(6).fit(buffer, body);
    }
    secure(buffer);
}

/// The last barrier: a cell that holds anything but letters is shown as a character that cannot be shown.
fn secure(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !is_clean(cell.symbol()) {
            cell.set_symbol("\u{fffd}");
        }
    }
}

fn rows_of(rows: &[Row]) -> u16 {
    u16::try_from(rows.len()).unwrap_or(u16::MAX)
}

fn put(buffer: &mut Buffer, area: Rect, rows: Vec<Row>) {
    for (row, y) in rows.into_iter().zip(area.y..area.y.saturating_add(area.height)) {
        let _ = buffer.set_line(area.x, y, &row.line(usize::from(area.width)), area.width);
    }
}

/// One part of the body.
enum Section {
    /// Rows, of which the one of this number should be seen.
    Window(Vec<Row>, usize),
    /// The question that has the focus.
    Question(question::QuestionRows),
    /// The log fills what it gets.
    Log,
}

/// The parts of the body from top to bottom, each with its rank: who comes first when there is too little room.
struct Sections<'a> {
    model: &'a Model,
    ui: &'a mut Ui,
    now: Duration,
    ink: Ink,
    columns: usize,
    height: usize,
    list: Vec<(Section, Need)>,
}

impl<'a> Sections<'a> {
    fn new(model: &'a Model, ui: &'a mut Ui, now: Duration, ink: Ink, area: Rect, height: u16) -> Self {
        let (columns, height) = (usize::from(area.width), usize::from(height));
        Self { model, ui, now, ink, columns, height, list: Vec::new() }
    }

    fn add(&mut self, section: Section, rank: usize, least: usize, most: usize) -> &mut Self {
        if most > 0 {
            self.list.push((section, Need { rank, least: least.min(most), most }));
        }
        self
    }

    fn mission(&mut self, rank: usize) -> &mut Self {
        let Some((view, overview)) = self.model.mission() else {
            if self.model.overview().is_none() {
                return self;
            }
            let row = Row::new(self.ink.of(Tone::Quiet), "No mission has run. t: type a task.");
            return self.add(Section::Window(vec![row], 0), rank, 1, 1);
        };
        let rows = plan::mission(view, overview, self.model.robot_ms(self.now), self.ink, self.columns);
        let most = rows.len();
        self.add(Section::Window(rows, 0), rank, 2, most)
    }

    fn plan(&mut self, rank: usize) -> &mut Self {
        let plan = plan::rows(self.model, self.model.robot_ms(self.now), self.ink, self.columns);
        let most = plan.rows.len();
        self.add(Section::Window(plan.rows, plan.running), rank, 3, most)
    }

    fn question(&mut self, rank: usize) -> &mut Self {
        let questions = self.model.questions();
        let at = |id| questions.iter().position(|question| question.open.id == id);
        let Some(at) = self.ui.focus.as_ref().and_then(|focus| at(focus.id.clone())) else { return self };
        let Some(question) = questions.get(at) else { return self };
        let place = (at + 1, questions.len());
        let rows = question::rows(question, place, self.now, self.ink, self.columns);
        let most = rows.body.len() + 2;
        self.add(Section::Question(rows), rank, QUESTION, most)
    }

    fn components(&mut self, rank: usize) -> &mut Self {
        let rows = status::components(self.model, self.ink, self.columns);
        let most = rows.len();
        self.add(Section::Window(rows, 0), rank, 1, most)
    }

    fn budgets(&mut self, rank: usize) -> &mut Self {
        let rows = status::budgets(self.model, self.ink, self.columns);
        let most = rows.len();
        self.add(Section::Window(rows, 0), rank, 1, most)
    }

    fn log(&mut self, rank: usize) -> &mut Self {
        let height = self.height;
        self.add(Section::Log, rank, 4, height)
    }

    fn fit(&mut self, buffer: &mut Buffer, area: Rect) {
        let needs: Vec<Need> = self.list.iter().map(|(_, need)| *need).collect();
        let mut y = area.y;
        for ((section, _), height) in std::mem::take(&mut self.list).into_iter().zip(share(self.height, &needs)) {
            let rows = match section {
                Section::Window(rows, seen) => window(rows, seen, height, self.ink),
                Section::Question(rows) => self.question_rows(rows, height),
                Section::Log => log(self.model.log(), &mut self.ui.log_scroll, height, self.ink, self.columns),
            };
            let height = u16::try_from(height).unwrap_or(u16::MAX);
            put(buffer, Rect { y, height, ..area }, rows);
            y = y.saturating_add(height);
        }
    }

    fn question_rows(&mut self, rows: question::QuestionRows, height: usize) -> Vec<Row> {
        let Some(focus) = &mut self.ui.focus else { return Vec::new() };
        let room = height.saturating_sub(2);
        focus.shown(rows.body.len(), room);
        let more = rows.body.len().saturating_sub(focus.scroll + room);
        let keys = match (more, focus.was_read) {
            (0, _) | (_, true) => rows.keys,
            (more, false) => Row::default()
                .own(self.ink.loud(Tone::Warning), &format!(" ↓ {more} more: read on with ↓, then y or m")),
        };
        let body = rows.body.into_iter().skip(focus.scroll).take(room);
        std::iter::once(rows.title).chain(body).chain(std::iter::once(keys)).collect()
    }
}

/// As many of the rows as there is room for, the one of this number among them.
fn window(rows: Vec<Row>, seen: usize, height: usize, ink: Ink) -> Vec<Row> {
    let total = rows.len();
    if total <= height {
        return rows;
    }
    let first = seen.saturating_sub(height / 2).min(total - height);
    let mut shown: Vec<Row> = rows.into_iter().skip(first).take(height).collect();
    if let Some(last) = shown.last_mut().filter(|_| first + height < total) {
        let hidden = Row::default().own(ink.of(Tone::Quiet), &format!("  … {} more", total - first - height + 1));
        *last = hidden;
    }
    shown
}

/// The latest lines, or those that the person has scrolled back to.
fn log(log: &Log, scroll: &mut usize, height: usize, ink: Ink, columns: usize) -> Vec<Row> {
    *scroll = (*scroll).min(log.lines().len().saturating_sub(1));
    let title = if *scroll == 0 {
        "── events ".to_owned()
    } else {
        format!("── events, {scroll} later ones below: End ")
    };
    let rule = "─".repeat(columns.saturating_sub(crate::text::width(&title)));
    let title = Row::default().own(ink.of(Tone::Quiet), &title).own(ink.of(Tone::Quiet), &rule);
    let room = height.saturating_sub(1);
    let mut rows: Vec<Row> = Vec::new();
    for line in log.lines().rev().skip(*scroll) {
        if rows.len() >= room {
            break;
        }
        let time = line.since_ms.map(short_time).unwrap_or_default();
        let wrapped = wrap(&line.text, columns.saturating_sub(TIME));
        for (at, text) in wrapped.iter().enumerate().rev() {
            let time = if at == 0 { time.as_str() } else { "" };
            let row = Row::default().own(ink.of(Tone::Quiet), &format!("{time:>width$} ", width = TIME - 1));
            rows.push(row.own(ink.of(line.tone), text));
        }
    }
    rows.truncate(room);
    rows.push(title);
    rows.reverse();
    rows
}
