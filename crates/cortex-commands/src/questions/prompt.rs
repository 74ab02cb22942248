//! Questions of a task in the terminal that sent it.

use std::collections::VecDeque;

use cortex_command_line::visible_text::plain;
use cortex_protocol::question::{ApprovalScope, MAX_REASON_BYTES, Subject};
use cortex_protocol::{Answer, CloudEvent, MissionEvent, Question, QuestionId, QuestionOutcome};
use cortex_ros::TaskClient;
use cortex_ros::task::ServiceReply;
use cortex_ros_client::RosError;
use futures::future::BoxFuture;
use serde::Deserialize;

use super::shown;
use super::terminal::Terminal;

/// Asks the person who sent a task what its mission asks. Without a terminal it says how the questions are answered.
pub(crate) struct Prompt<'a> {
    client: &'a TaskClient,
    /// The node that the task was sent to.
    server: &'a str,
    terminal: Option<Terminal>,
    /// What is open and was not answered here, oldest first.
    open: VecDeque<(QuestionId, Question)>,
    /// Whether the first of them stands in the terminal.
    is_asked: bool,
    /// Whether the task has ended: nothing is asked any more, whatever is still heard of it.
    is_over: bool,
    /// An answer on its way.
    answering: Option<BoxFuture<'a, Result<ServiceReply, RosError>>>,
}

/// The kind of an event.
#[derive(Deserialize)]
struct Heading {
    #[serde(rename = "type")]
    kind: String,
}

/// What a person's line means.
#[derive(Debug, PartialEq)]
enum Reply {
    Answer(Answer),
    /// Nothing: the person is asked again.
    Unclear(String),
}

impl<'a> Prompt<'a> {
    pub(crate) fn new(client: &'a TaskClient, server: &'a str) -> Self {
        Self {
            client,
            server,
            terminal: Terminal::find(),
            open: VecDeque::new(),
            is_asked: false,
            is_over: false,
            answering: None,
        }
    }

    /// Takes note of an event of the task, which may ask something, or end a question.
    pub(crate) fn note(&mut self, event: &str) {
        let is_question = |heading: Heading| heading.kind.starts_with("cortex.question.");
        if !serde_json::from_str(event).is_ok_and(is_question) {
            return;
        }
        let Ok(event) = serde_json::from_str::<CloudEvent>(event) else { return };
        match event.data.payload {
            MissionEvent::Asked { question } => {
                let id = QuestionId { mission: event.subject, number: question.number };
                self.asked(id, question);
            }
            MissionEvent::QuestionEnded { number, outcome } => {
                self.ended(&QuestionId { mission: event.subject, number }, &outcome);
            }
            _ => {}
        }
    }

    /// The task has ended. What is still heard of it may say how a question ended.
    pub(crate) fn task_has_ended(&mut self) {
        self.is_over = true;
    }

    fn asked(&mut self, id: QuestionId, question: Question) {
        if self.is_over {
            return;
        }
        if self.terminal.as_ref().is_some_and(Terminal::is_at_hand) {
            self.open.push_back((id, question));
            self.ask();
            return;
        }
        let left = question.patience.as_secs();
        let how = shown::commands(&id, &question.subject, self.server);
        let default = shown::default(&question.subject);
        eprintln!("cortex: the task waits for a person, at most {left} s: {how}; {default}");
    }

    fn ended(&mut self, id: &QuestionId, outcome: &QuestionOutcome) {
        let was_first = self.open.front().is_some_and(|(first, _)| first == id);
        self.open.retain(|(open, _)| open != id);
        if was_first && std::mem::take(&mut self.is_asked) {
            let how = match outcome {
                QuestionOutcome::Answered { .. } => "it was answered elsewhere",
                QuestionOutcome::Expired => "nobody answered in time",
                QuestionOutcome::Withdrawn { .. } => "it is not asked any more",
            };
            eprintln!("\ncortex: {how}");
        }
        self.ask();
    }

    /// Puts the first open question into the terminal, if none stands there.
    fn ask(&mut self) {
        let (Some(terminal), Some((id, question))) = (&mut self.terminal, self.open.front()) else { return };
        if self.is_asked || self.is_over || self.answering.is_some() {
            return;
        }
        self.is_asked = true;
        terminal.forget();
        let seconds = question.patience.as_secs();
        match &question.subject {
            Subject::Choice { .. } => eprintln!("\n{}  ({seconds} s)", plain(&question.text)),
            // The calls themselves say it to the byte.
            Subject::Call { .. } | Subject::Plan { .. } => {
                eprintln!("\nA person must approve this, within {seconds} s:");
            }
        }
        for line in shown::subject(&question.subject) {
            eprintln!("  {line}");
        }
        eprint!("{}", invitation(id, &question.subject));
    }

    /// Reads an answer and gives it. Comes back after each; never, while nothing is asked here. May be dropped at any time.
    pub(crate) async fn progress(&mut self) {
        if let Some(answering) = &mut self.answering {
            let report = answering.await;
            self.answering = None;
            match report {
                Ok(report) if report.success => {}
                Ok(report) => eprintln!("cortex: the answer does not count: {}", plain(&report.message)),
                Err(problem) => eprintln!("cortex: the answer could not be given: {problem}"),
            }
            return self.ask();
        }
        let (Some(terminal), true) = (&mut self.terminal, self.is_asked) else { return std::future::pending().await };
        let line = match terminal.line().await {
            Ok(Some(line)) => line,
            Ok(None) => return self.leave("the input has ended"),
            Err(problem) => return self.leave(&format!("the terminal can't be read ({problem})")),
        };
        let Some((id, question)) = self.open.front() else { return };
        match reply(&question.subject, &line) {
            Reply::Unclear(problem) => {
                eprint!("{problem}\n{}", invitation(id, &question.subject));
            }
            Reply::Answer(answer) => {
                let (client, id) = (self.client, id.clone());
                self.answering = Some(Box::pin(async move { client.answer(&id, &answer).await }));
                self.open.pop_front();
                self.is_asked = false;
            }
        }
    }

    /// Asks nobody here any more.
    fn leave(&mut self, because: &str) {
        self.terminal = None;
        self.is_asked = false;
        eprintln!("\ncortex: {because}; questions are answered from elsewhere now");
        for (id, question) in std::mem::take(&mut self.open) {
            eprintln!("cortex: {}", shown::commands(&id, &question.subject, self.server));
        }
    }
}

fn invitation(id: &QuestionId, subject: &Subject) -> String {
    match subject {
        Subject::Call { .. } => format!("{id}: may it be called? [y/N, or why not] "),
        Subject::Plan { .. } => format!("{id}: may these steps be run, exactly so? [y/N, or why not] "),
        Subject::Choice { choices, .. } => format!("{id}: which? [1-{}] ", choices.len()),
    }
}

/// Reads a person's line. Only a bare yes is one: whatever stands beside it makes it a no, with the words as the reason.
fn reply(subject: &Subject, line: &str) -> Reply {
    let Subject::Choice { choices, default } = subject else {
        let answer = match line.to_lowercase().as_str() {
            "y" | "yes" => Answer::Approve { scope: ApprovalScope::Once },
            "" | "n" | "no" => Answer::Deny { reason: String::new() },
            _ => Answer::Deny { reason: cut(line) },
        };
        return Reply::Answer(answer);
    };
    let numbered = line.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let named = choices.iter().find(|choice| *choice == line).or(numbered).or_else(|| begun(choices, line));
    match (named, default) {
        (Some(choice), _) => Reply::Answer(Answer::Choose { choice: choice.clone() }),
        (None, Some(default)) if line.is_empty() => Reply::Answer(Answer::Choose { choice: default.clone() }),
        (None, _) => Reply::Unclear(format!("Write a number from 1 to {}, or how one of them begins.", choices.len())),
    }
}

/// The only choice that begins with these words: "yes" for "yes, go to the kitchen".
fn begun<'c>(choices: &'c [String], line: &str) -> Option<&'c String> {
    let line = line.to_lowercase();
    let is_text = line.starts_with(char::is_alphabetic);
    let mut begun = choices.iter().filter(|choice| is_text && choice.to_lowercase().starts_with(&line));
    begun.next().filter(|_| begun.next().is_none())
}

/// As much of a reason as may be given.
fn cut(reason: &str) -> String {
    let mut end = reason.len().min(MAX_REASON_BYTES);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    reason.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::shown::tests::question;
    use super::*;

    #[test]
    fn only_a_bare_yes_is_one() {
        let call = question("m/1").question.subject;
        let yes = Reply::Answer(Answer::Approve { scope: ApprovalScope::Once });
        let no = |reason: &str| Reply::Answer(Answer::Deny { reason: reason.to_owned() });
        for line in ["y", "Y", "yes", "YES"] {
            assert_eq!(reply(&call, line), yes, "{line}");
        }
        for line in ["", "n", "No"] {
            assert_eq!(reply(&call, line), no(""), "{line}");
        }
        for line in ["y, if nobody is there", "yes?", "ye", "ok", "1", "nö", "approve"] {
            assert_eq!(reply(&call, line), no(line), "{line}");
        }
        let long = "ö".repeat(MAX_REASON_BYTES);
        assert_eq!(reply(&call, &long), no(&"ö".repeat(MAX_REASON_BYTES / 2)));
    }

    #[test]
    fn a_choice_is_named_by_how_it_begins_where_no_other_does() {
        let choices = ["yes, go to the kitchen", "no, do nothing", "nod"].map(str::to_owned).to_vec();
        let of = |line: &str| reply(&Subject::Choice { choices: choices.clone(), default: None }, line);
        for (line, choice) in [("y", 0), ("Yes", 0), ("no,", 1), ("nod", 2)] {
            assert_eq!(of(line), Reply::Answer(Answer::Choose { choice: choices[choice].clone() }), "{line}");
        }
        for line in ["n", "no", "yes please", ","] {
            assert!(matches!(of(line), Reply::Unclear(_)), "{line}");
        }
    }

    #[test]
    fn a_choice_is_named_by_its_number_or_to_the_letter() {
        let choices = vec!["red".to_owned(), "3".to_owned()];
        let of = |default: Option<&str>, line: &str| {
            reply(&Subject::Choice { choices: choices.clone(), default: default.map(str::to_owned) }, line)
        };
        let chosen = |choice: &str| Reply::Answer(Answer::Choose { choice: choice.to_owned() });
        assert_eq!(
            (of(None, "1"), of(None, "red"), of(None, "2"), of(None, "3")),
            (chosen("red"), chosen("red"), chosen("3"), chosen("3"))
        );
        assert_eq!(of(Some("red"), ""), chosen("red"));
        for line in ["", "0", "4", "-1", "blue"] {
            assert!(matches!(of(None, line), Reply::Unclear(_)), "{line}");
        }
    }
}
