//! Questions to people, answered from the command line: `cortex pending`, `approve`, `deny`, `answer`, and `dispute`; in the
//! terminal of `cortex send`, `prompt` asks them.

mod prompt;
mod shown;
mod terminal;

use std::io::Write as _;
use std::process::ExitCode;

use cortex_command_line::visible_text::plain;
use cortex_protocol::question::{ApprovalScope, Subject};
use cortex_protocol::{Answer, OpenQuestion};
use cortex_ros::TaskClient;

use crate::arguments::{
    AnswerArguments, ApproveArguments, DenyArguments, DisputeArguments, PendingArguments, ServerArguments,
};
use crate::connection::{Connection, Purpose};
pub(crate) use prompt::Prompt;

/// The name of the node that is asked where no other is named.
pub(crate) const DEFAULT_SERVER: &str = "/cortex";

/// `cortex pending`: what waits for a person.
///
/// # Errors
/// When no Cortex can be asked.
pub async fn pending(arguments: &PendingArguments) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(&arguments.server, Purpose::Stop).await?;
    let open = connection.client.questions().await;
    connection.close().await;
    let open = open?;
    if arguments.json {
        print_line(&serde_json::to_string(&open)?);
    } else if open.is_empty() {
        print_line("Nothing is asked.");
    } else {
        for question in &open {
            shown::lines(question, &arguments.server.server).iter().for_each(|line| print_line(line));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `cortex approve`: says yes to what waits.
///
/// # Errors
/// When no Cortex can be asked.
pub async fn approve(arguments: &ApproveArguments) -> anyhow::Result<ExitCode> {
    let scope = if arguments.mission { ApprovalScope::Mission } else { ApprovalScope::Once };
    let find = |open: &[OpenQuestion]| {
        let question = select(open, arguments.question.as_deref())?;
        anyhow::ensure!(
            !matches!(question.question.subject, Subject::Choice { .. }),
            "{} asks for a choice; answer it with `cortex answer {} CHOICE`",
            question.id,
            question.id
        );
        Ok((question.clone(), Answer::Approve { scope }))
    };
    answer_with(&arguments.server, find).await
}

/// `cortex deny`: says no to what waits.
///
/// # Errors
/// When no Cortex can be asked.
pub async fn deny(arguments: &DenyArguments) -> anyhow::Result<ExitCode> {
    let find = |open: &[OpenQuestion]| {
        let (id, reason) = denied(open, arguments.question.as_deref(), arguments.reason.as_deref());
        Ok((select(open, id)?.clone(), Answer::Deny { reason: reason.unwrap_or_default().to_owned() }))
    };
    answer_with(&arguments.server, find).await
}

/// `cortex answer`: answers a question of the planner.
///
/// # Errors
/// When no Cortex can be asked.
pub async fn answer(arguments: &AnswerArguments) -> anyhow::Result<ExitCode> {
    let find = |open: &[OpenQuestion]| {
        let question = select(open, arguments.question.as_deref())?;
        let Subject::Choice { choices, .. } = &question.question.subject else {
            anyhow::bail!("{} asks for a yes or a no; answer it with `cortex approve` or `cortex deny`", question.id)
        };
        let choice = &arguments.choice;
        anyhow::ensure!(
            choices.contains(choice),
            "'{}' is none of the choices; write one of: {}",
            plain(choice),
            shown::choices(choices)
        );
        Ok((question.clone(), Answer::Choose { choice: choice.clone() }))
    };
    answer_with(&arguments.server, find).await
}

/// `cortex dispute`: "that was not it", of a mission that has ended.
///
/// # Errors
/// When no Cortex can be asked.
pub async fn dispute(arguments: &DisputeArguments) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(&arguments.server, Purpose::Stop).await?;
    let report = connection.client.dispute(&arguments.mission, &arguments.reason).await;
    connection.close().await;
    let report = report?;
    let message = plain(&report.message);
    if report.success {
        print_line(&format!("The mission is reopened as {message}; `cortex tape follow {message}` shows it."));
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("cortex: the mission is not reopened: {message}");
    Ok(ExitCode::FAILURE)
}

/// Answers the question that is found among the open ones.
async fn answer_with(
    server: &ServerArguments,
    find: impl FnOnce(&[OpenQuestion]) -> anyhow::Result<(OpenQuestion, Answer)>,
) -> anyhow::Result<ExitCode> {
    let connection = Connection::open(server, Purpose::Stop).await?;
    let answered = answer_found(&connection.client, find).await;
    connection.close().await;
    answered
}

async fn answer_found(
    client: &TaskClient,
    find: impl FnOnce(&[OpenQuestion]) -> anyhow::Result<(OpenQuestion, Answer)>,
) -> anyhow::Result<ExitCode> {
    let open = client.questions().await?;
    let (question, answer) = match find(&open) {
        Ok(found) => found,
        Err(problem) => {
            eprintln!("cortex: {problem:#}");
            return Ok(ExitCode::FAILURE);
        }
    };
    let report = client.answer(&question.id, &answer).await?;
    if !report.success {
        eprintln!("cortex: the answer does not count: {}", plain(&report.message));
        return Ok(ExitCode::FAILURE);
    }
    print_line(&shown::answered(&question, &answer));
    Ok(ExitCode::SUCCESS)
}

/// The open question that is meant: the one with this id or this end, or the only one.
fn select<'open>(open: &'open [OpenQuestion], written: Option<&str>) -> anyhow::Result<&'open OpenQuestion> {
    let ids = |questions: &[&OpenQuestion]| {
        questions.iter().map(|question| question.id.to_string()).collect::<Vec<_>>().join(", ")
    };
    let Some(written) = written.map(str::trim).filter(|written| !written.is_empty()) else {
        return match open {
            [] => anyhow::bail!("nothing is asked"),
            [only] => Ok(only),
            several => {
                anyhow::bail!("several questions are open; name one of {}", ids(&several.iter().collect::<Vec<_>>()))
            }
        };
    };
    match ending_with(open, written).as_slice() {
        [] => {
            anyhow::bail!("no open question is, or ends with, '{}'; `cortex pending` lists them", plain(written))
        }
        [only] => Ok(*only),
        several => anyhow::bail!("'{}' is not one question: {}", plain(written), ids(several)),
    }
}

/// The question of that id, or else those whose ids end so.
fn ending_with<'open>(open: &'open [OpenQuestion], written: &str) -> Vec<&'open OpenQuestion> {
    let exact = open.iter().find(|question| question.id.to_string() == written);
    match exact {
        Some(exact) => vec![exact],
        None => open.iter().filter(|question| question.id.to_string().ends_with(written)).collect(),
    }
}

/// The question and the reason of a denial. One text alone is the question if one ends so, and else, if it has several words,
/// the reason.
fn denied<'a>(
    open: &[OpenQuestion],
    first: Option<&'a str>,
    second: Option<&'a str>,
) -> (Option<&'a str>, Option<&'a str>) {
    match (first, second) {
        (Some(text), None)
            if text.trim().contains(char::is_whitespace) && ending_with(open, text.trim()).is_empty() =>
        {
            (None, Some(text))
        }
        other => other,
    }
}

/// A reader that has gone is nobody's loss.
fn print_line(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::shown::tests::question;
    use super::*;

    fn open(ids: &[&str]) -> Vec<OpenQuestion> {
        ids.iter().map(|id| question(id)).collect()
    }

    fn selected(ids: &[&str], written: Option<&str>) -> Result<String, String> {
        let open = open(ids);
        select(&open, written).map(|question| question.id.to_string()).map_err(|problem| problem.to_string())
    }

    #[test]
    fn a_question_is_named_by_an_end_that_no_other_has() {
        let ids = ["019a-1/1", "019b-1/1", "019b-1/12", "019b-1/2"];
        for (written, expected) in
            [("019b-1/1", "019b-1/1"), ("b-1/1", "019b-1/1"), ("/12", "019b-1/12"), (" 12 ", "019b-1/12")]
        {
            assert_eq!(selected(&ids, Some(written)), Ok(expected.to_owned()), "{written}");
        }
        for (written, expected) in [
            (Some("1/1"), "'1/1' is not one question: 019a-1/1, 019b-1/1"),
            (Some("2"), "not one question: 019b-1/12, 019b-1/2"),
            (Some("019b"), "no open question is, or ends with, '019b'"),
            (None, "several questions are open; name one of 019a-1/1"),
            (Some(" "), "several questions are open"),
        ] {
            let problem = selected(&ids, written).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
        assert_eq!(selected(&["m/1"], None), Ok("m/1".to_owned()));
        assert!(selected(&[], None).is_err_and(|problem| problem == "nothing is asked"));
    }

    #[test]
    fn a_denial_without_an_id_may_have_a_reason() {
        let open = open(&["m/1"]);
        assert_eq!(denied(&open, None, None), (None, None));
        assert_eq!(denied(&open, Some("m/1"), None), (Some("m/1"), None));
        assert_eq!(denied(&open, Some("1"), Some("a child")), (Some("1"), Some("a child")));
        assert_eq!(denied(&open, Some("a child is there"), None), (None, Some("a child is there")));
        assert_eq!(denied(&open, Some("n/1"), None), (Some("n/1"), None), "a slip of an id is no reason");
    }
}
