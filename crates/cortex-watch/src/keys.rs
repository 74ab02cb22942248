//! From keys to intents. Pure: what a key means depends on the picture that the person was shown, and on nothing else.
//!
//! STOP is never locked. Everything else that acts is locked while the picture is frozen; and a question takes an answer
//! only when it was on the screen for a moment, to its end.

use std::time::Duration;

use cortex_protocol::question::{ApprovalScope, MAX_REASON_BYTES, Subject};
use cortex_protocol::{Answer, Command, MissionId, QuestionId};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::incident::mission_of;
use crate::line_edit::LineEdit;
use crate::model::{Model, QuestionView, Tone};
use crate::text::one_line;
use crate::wire::{Basis, Seen};

/// So long a question must have been on the screen before a key answers it: the key may have been meant for another one.
const LOOK_FIRST: Duration = Duration::from_millis(700);
/// Longest task that is typed, in bytes. The server may take less.
const TASK_BYTES: usize = 16_384;

/// What the person wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Intent {
    /// To stop the robot, at once.
    Stop,
    /// To give a command, having seen this.
    Command {
        /// Which.
        command: Command,
        /// What the decision rests on.
        seen: Seen,
    },
    /// To save what is needed to look into this mission elsewhere.
    SaveIncident(MissionId),
    /// To end the view.
    Quit,
}

/// What is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A task.
    Task,
    /// A revision of the task of a mission.
    Revision(MissionId),
    /// Why a call is denied.
    Denial(QuestionId),
    /// The number of a choice.
    Choice(QuestionId),
}

/// What is to be confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Confirmation {
    /// To end a mission.
    Cancel(MissionId),
    /// To take tasks again.
    Resume,
    /// To let missions and events go on.
    Unpause,
}

/// What keys go to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Mode {
    /// The view itself.
    #[default]
    View,
    /// The list of the keys.
    Help,
    /// A line that is typed; the state of the robot when that began.
    Typing(Purpose, LineEdit, Basis),
    /// A question of the view; the state of the robot when it was asked.
    Confirming(Confirmation, Basis),
}

/// The question that keys answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Focus {
    /// Which.
    pub id: QuestionId,
    /// Since when it is on the screen.
    pub since: Duration,
    /// Its first line that is shown.
    pub scroll: usize,
    /// Lines that can be scrolled away.
    pub most_scroll: usize,
    /// Whether its end was on the screen.
    pub was_read: bool,
}

/// What the person has opened, typed and scrolled.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ui {
    /// What keys go to.
    pub mode: Mode,
    /// The question that keys answer.
    pub focus: Option<Focus>,
    /// How many lines the log is scrolled back.
    pub log_scroll: usize,
    /// The last frame that was drawn.
    pub drawn: Option<Seen>,
}

impl Ui {
    /// Follows the model before it is drawn: which question has the focus, and whether what is typed still has a subject.
    pub(crate) fn follow(&mut self, model: &mut Model, now: Duration) {
        let is_open = |id: &QuestionId| model.questions().iter().any(|question| question.open.id == *id);
        if !self.focus.as_ref().is_some_and(|focus| is_open(&focus.id)) {
            let first = model.questions().first();
            self.focus = first.map(|question| Focus::new(question.open.id.clone(), now));
        }
        let has_ended = match &self.mode {
            Mode::Typing(Purpose::Denial(id) | Purpose::Choice(id), ..) => !is_open(id),
            _ => false,
        };
        if has_ended {
            self.mode = Mode::View;
            model.note(Tone::Warning, "The question has ended before it was answered.");
        }
        self.drawn = model.seen();
    }

    /// Takes pasted text: into a line that is typed, and nowhere else.
    pub(crate) fn paste(&mut self, text: &str) {
        if let Mode::Typing(_, line, _) = &mut self.mode {
            line.insert(&one_line(text));
        }
    }

    /// Takes a key.
    pub(crate) fn press(&mut self, key: KeyEvent, model: &mut Model, now: Duration) -> Option<Intent> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let letter = match key.code {
            KeyCode::Char(letter) => Some(letter),
            _ => None,
        };
        match letter {
            Some('c') if control => return Some(Intent::Quit),
            Some('s') if control => return Some(Intent::Stop),
            _ => {}
        }
        let is_typing = matches!(self.mode, Mode::Typing(..));
        if !is_typing && matches!(letter, Some('S' | '!')) {
            return Some(Intent::Stop);
        }
        // A key that is held down says something once.
        if key.kind == KeyEventKind::Repeat && !is_typing && letter.is_some() {
            return None;
        }
        model.clear_note();
        match std::mem::take(&mut self.mode) {
            Mode::View => self.press_in_view(key.code, model, now),
            Mode::Help => None,
            Mode::Confirming(what, basis) => self.press_in_confirmation(letter, what, basis, model, now),
            Mode::Typing(purpose, line, basis) if !control => {
                self.press_in_line(key.code, purpose, line, basis, model, now)
            }
            typing @ Mode::Typing(..) => {
                self.mode = typing;
                None
            }
        }
    }

    fn press_in_view(&mut self, code: KeyCode, model: &mut Model, now: Duration) -> Option<Intent> {
        match code {
            KeyCode::Char('q') => return Some(Intent::Quit),
            KeyCode::Char('?') | KeyCode::F(1) => self.mode = Mode::Help,
            KeyCode::Up => self.scroll(-1),
            KeyCode::Down => self.scroll(1),
            KeyCode::PageUp => self.log_scroll = self.log_scroll.saturating_add(10).min(model.log().lines().len()),
            KeyCode::PageDown => self.log_scroll = self.log_scroll.saturating_sub(10),
            KeyCode::Home => self.log_scroll = model.log().lines().len(),
            KeyCode::End => self.log_scroll = 0,
            // It changes nothing, so nothing locks it.
            KeyCode::Char('i') => return incident(model),
            KeyCode::Tab => self.next_question(model.questions(), now),
            KeyCode::Char(letter) => return self.act(letter, model, now),
            _ => {}
        }
        None
    }

    /// Scrolls the question if it is longer than its place, and the log otherwise.
    fn scroll(&mut self, lines: isize) {
        match &mut self.focus {
            Some(focus) if focus.most_scroll > 0 => {
                focus.scroll = focus.scroll.saturating_add_signed(lines).min(focus.most_scroll);
            }
            _ => self.log_scroll = self.log_scroll.saturating_add_signed(-lines),
        }
    }

    fn next_question(&mut self, questions: &[QuestionView], now: Duration) {
        let Some(focus) = &self.focus else { return };
        let at = questions.iter().position(|question| question.open.id == focus.id).unwrap_or_default();
        let next = questions.get(at + 1).or_else(|| questions.first());
        if let Some(next) = next.filter(|next| next.open.id != focus.id) {
            self.focus = Some(Focus::new(next.open.id.clone(), now));
        }
    }

    fn act(&mut self, letter: char, model: &mut Model, now: Duration) -> Option<Intent> {
        if !matches!(letter, 't' | 'e' | 'c' | 'r' | 'p' | 'y' | 'm' | 'n' | '0'..='9') {
            return None;
        }
        let seen = self.unlocked(model, now)?;
        let basis = seen.basis.clone();
        match (letter, basis.mission.clone()) {
            ('t', _) => self.mode = Mode::Typing(Purpose::Task, LineEdit::new(TASK_BYTES), basis),
            ('e', Some(mission)) => {
                self.mode = Mode::Typing(Purpose::Revision(mission), LineEdit::new(TASK_BYTES), basis);
            }
            ('c', Some(mission)) => self.mode = Mode::Confirming(Confirmation::Cancel(mission), basis),
            ('e' | 'c', None) => model.note(Tone::Warning, "No mission runs."),
            ('p', _) if model.overview().is_some_and(|overview| !overview.control.is_autonomous()) => {
                self.mode = Mode::Confirming(Confirmation::Unpause, basis);
            }
            ('p', _) => return Some(Intent::Command { command: Command::Pause, seen }),
            ('r', _) if basis.stopped => self.mode = Mode::Confirming(Confirmation::Resume, basis),
            ('r', _) => model.note(Tone::Warning, "The robot is not stopped: there is nothing to resume."),
            _ => return self.answer(letter, seen, model, now),
        }
        None
    }

    /// What the person has seen, unless acting is locked because that is old.
    fn unlocked(&self, model: &mut Model, now: Duration) -> Option<Seen> {
        if model.frozen(now).is_some() {
            model.note(Tone::Bad, "The picture is frozen, so this key is locked. STOP (S) is not.");
            return None;
        }
        self.drawn.clone()
    }

    fn answer(&mut self, letter: char, seen: Seen, model: &mut Model, now: Duration) -> Option<Intent> {
        let focus = self.focus.as_mut();
        let question =
            focus.as_ref().and_then(|focus| model.questions().iter().find(|question| question.open.id == focus.id));
        let (Some(focus), Some(question)) = (focus, question) else {
            if !letter.is_ascii_digit() {
                model.note(Tone::Warning, "No question is open.");
            }
            return None;
        };
        let id = question.open.id.clone();
        if now.saturating_sub(focus.since) < LOOK_FIRST {
            // A key that is held down answers one question, and not the next one too.
            focus.since = now;
            model.note(Tone::Warning, "The question has only just appeared. Read it, then press the key again.");
            return None;
        }
        // No is the safe answer.
        if letter != 'n' && !focus.was_read {
            model.note(Tone::Warning, "There is more of the question: go to its end with the arrow keys, then answer.");
            return None;
        }
        let answer = match (letter, &question.open.question.subject) {
            ('y' | 'm', Subject::Call { .. } | Subject::Plan { .. }) => {
                let scope = if letter == 'y' { ApprovalScope::Once } else { ApprovalScope::Mission };
                Answer::Approve { scope }
            }
            ('n', Subject::Call { .. } | Subject::Plan { .. }) => {
                self.mode = Mode::Typing(Purpose::Denial(id), LineEdit::new(MAX_REASON_BYTES), seen.basis);
                return None;
            }
            ('0'..='9', Subject::Choice { choices, .. }) if choices.len() > 9 => {
                let mut line = LineEdit::new(2);
                line.insert(letter.encode_utf8(&mut [0; 4]));
                self.mode = Mode::Typing(Purpose::Choice(id), line, seen.basis);
                return None;
            }
            ('0'..='9', Subject::Choice { choices, .. }) => match chosen(choices, letter.encode_utf8(&mut [0; 4])) {
                Some(answer) => answer,
                None => {
                    model.note(Tone::Warning, format!("There is no choice {letter}."));
                    return None;
                }
            },
            (_, Subject::Choice { .. }) => {
                model.note(Tone::Warning, "Choose one by its number.");
                return None;
            }
            _ => return None,
        };
        Some(Intent::Command { command: Command::Answer { question: id, answer }, seen })
    }

    fn press_in_confirmation(
        &mut self,
        letter: Option<char>,
        what: Confirmation,
        basis: Basis,
        model: &mut Model,
        now: Duration,
    ) -> Option<Intent> {
        if letter != Some('y') {
            model.note(Tone::Plain, "Nothing was done.");
            return None;
        }
        let command = match what {
            Confirmation::Cancel(mission) => Command::Cancel { mission },
            Confirmation::Resume => Command::Resume,
            Confirmation::Unpause => Command::Unpause,
        };
        self.command(command, basis, model, now)
    }

    fn press_in_line(
        &mut self,
        code: KeyCode,
        purpose: Purpose,
        mut line: LineEdit,
        basis: Basis,
        model: &mut Model,
        now: Duration,
    ) -> Option<Intent> {
        match code {
            KeyCode::Esc => {
                model.note(Tone::Plain, "Nothing was sent.");
                return None;
            }
            KeyCode::Enter if model.frozen(now).is_none() => match command_of(&purpose, line.text().trim(), model) {
                Ok(command) => return self.command(command, basis, model, now),
                Err(problem) => model.note(Tone::Warning, problem),
            },
            // What was typed is kept until the picture is live again.
            KeyCode::Enter => model.note(Tone::Bad, "The picture is frozen, so nothing is sent. STOP (Ctrl-S) is."),
            code => line.press(code),
        }
        self.mode = Mode::Typing(purpose, line, basis);
        None
    }

    /// The command, with the frame that the person saw last and the state that the decision began with.
    fn command(&self, command: Command, basis: Basis, model: &mut Model, now: Duration) -> Option<Intent> {
        let seen = self.unlocked(model, now)?;
        Some(Intent::Command { command, seen: Seen { basis, ..seen } })
    }
}

impl Focus {
    fn new(id: QuestionId, now: Duration) -> Self {
        Self { id, since: now, scroll: 0, most_scroll: 0, was_read: false }
    }

    /// Takes note of how much of the question is on the screen.
    pub(crate) fn shown(&mut self, lines: usize, height: usize) {
        self.most_scroll = lines.saturating_sub(height);
        self.scroll = self.scroll.min(self.most_scroll);
        self.was_read |= height > 0 && self.scroll == self.most_scroll;
    }
}

/// The incident of the mission that runs, or else of the last one.
fn incident(model: &mut Model) -> Option<Intent> {
    let mission = model.overview().and_then(mission_of).cloned();
    if mission.is_none() {
        model.note(Tone::Warning, "There is no mission to save an incident of.");
    }
    mission.map(Intent::SaveIncident)
}

fn chosen(choices: &[String], number: &str) -> Option<Answer> {
    let at = number.parse::<usize>().ok()?.checked_sub(1)?;
    choices.get(at).map(|choice| Answer::Choose { choice: choice.clone() })
}

/// The command that a typed line makes.
fn command_of(purpose: &Purpose, text: &str, model: &Model) -> Result<Command, &'static str> {
    let text = text.to_owned();
    Ok(match purpose {
        Purpose::Task | Purpose::Revision(_) if text.is_empty() => return Err("Type something, or leave with Esc."),
        Purpose::Task => Command::Submit { task: text, session: None },
        Purpose::Revision(mission) => Command::Revise { mission: Some(mission.clone()), text },
        Purpose::Denial(question) => {
            Command::Answer { question: question.clone(), answer: Answer::Deny { reason: text } }
        }
        Purpose::Choice(question) => {
            let open = model.questions().iter().find(|open| open.open.id == *question);
            let answer = open.and_then(|open| match &open.open.question.subject {
                Subject::Choice { choices, .. } => chosen(choices, &text),
                _ => None,
            });
            Command::Answer { question: question.clone(), answer: answer.ok_or("There is no choice of that number.")? }
        }
    })
}

#[cfg(test)]
mod tests;
