//! What people say of missions: `~/answer` answers a question of one, `~/questions` lists the open ones, and `~/dispute`
//! reopens a mission that did not do what was asked.

use std::sync::Arc;

use cortex_protocol::question::{ApprovalScope, InvalidQuestionId, MAX_REASON_BYTES};
use cortex_protocol::{Answer, Command, QuestionId};
use cortex_ros_client::QosProfile;
use cortex_ros_client::serving::respond;
use cortex_ros_client::text::carried;
use futures::Stream;
use r2r::cortex_msgs::srv::{AnswerQuestion, DisputeMission, ListQuestions};
use r2r::{Node, ServiceRequest};
use thiserror::Error;

use super::{SUBMIT_LIMIT, Shared, principal};
use crate::task::ServiceReply;

/// Requests to one of these services, until the node ends.
pub(super) trait Requests<S: r2r::WrappedServiceTypeSupport>:
    Stream<Item = ServiceRequest<S>> + Unpin + Send + 'static
{
}

impl<S, T> Requests<S> for T
where
    S: r2r::WrappedServiceTypeSupport,
    T: Stream<Item = ServiceRequest<S>> + Unpin + Send + 'static,
{
}

/// Creates the services.
pub(super) fn endpoints(
    node: &mut Node,
) -> Result<
    (
        impl Requests<AnswerQuestion::Service> + use<>,
        impl Requests<ListQuestions::Service> + use<>,
        impl Requests<DisputeMission::Service> + use<>,
    ),
    r2r::Error,
> {
    let quality = r2r::QosProfile::from(QosProfile::RELIABLE);
    Ok((
        node.create_service::<AnswerQuestion::Service>("~/answer", quality.clone())?,
        node.create_service::<ListQuestions::Service>("~/questions", quality.clone())?,
        node.create_service::<DisputeMission::Service>("~/dispute", quality)?,
    ))
}

pub(super) fn answer(shared: &Arc<Shared>, request: ServiceRequest<AnswerQuestion::Service>) {
    let (question, answer) = match read(&request.message) {
        Ok(read) => read,
        Err(problem) => return respond_answer(request, ServiceReply::refusal(problem.to_string())),
    };
    let Ok(permit) = Arc::clone(&shared.triggers).try_acquire_owned() else {
        return respond_answer(request, ServiceReply::refusal(BUSY));
    };
    let (port, by) = (Arc::clone(&shared.port), principal(&format!("{}/answer", shared.name)));
    shared.tasks.spawn(async move {
        let _permit = permit;
        let answered = port.execute(Command::Answer { question, answer }, by);
        let reply = tokio::time::timeout(SUBMIT_LIMIT, answered).await.map(ServiceReply::of);
        respond_answer(request, reply.unwrap_or_else(|_| ServiceReply::refusal(LATE)));
    });
}

pub(super) fn list(shared: &Arc<Shared>, request: ServiceRequest<ListQuestions::Service>) {
    // Values of the protocol always have a form in JSON.
    let questions_json = serde_json::to_string(&shared.port.questions()).unwrap_or_else(|_| "[]".to_owned());
    respond(request, ListQuestions::Response { questions_json: carried(questions_json) });
}

pub(super) fn dispute(shared: &Arc<Shared>, request: ServiceRequest<DisputeMission::Service>) {
    let DisputeMission::Request { mission, reason } = request.message.clone();
    if let Some(problem) = wrong_dispute(&mission, &reason) {
        return respond_dispute(request, ServiceReply::refusal(problem));
    }
    let Ok(permit) = Arc::clone(&shared.triggers).try_acquire_owned() else {
        return respond_dispute(request, ServiceReply::refusal(BUSY));
    };
    let (port, by) = (Arc::clone(&shared.port), principal(&format!("{}/dispute", shared.name)));
    shared.tasks.spawn(async move {
        let _permit = permit;
        let disputed = port.execute(Command::Dispute { mission: mission.as_str().trim().into(), reason }, by);
        let reply = tokio::time::timeout(SUBMIT_LIMIT, disputed).await.map(ServiceReply::of);
        respond_dispute(request, reply.unwrap_or_else(|_| ServiceReply::refusal(LATE)));
    });
}

pub(super) const BUSY: &str = "many such requests are under way; wait for their answers";
pub(super) const LATE: &str = "the agent did not answer in time";

/// Why a request is no answer. In words for the person.
#[derive(Debug, PartialEq, Error)]
enum AnswerRequestProblem {
    #[error(transparent)]
    Question(#[from] InvalidQuestionId),
    #[error("no answer is given; write 'approve', 'deny', or one of the choices")]
    NoAnswer,
    #[error("there is no scope '{scope}'; write 'once' or 'mission'")]
    UnknownScope { scope: String },
    #[error("a scope goes with 'approve' alone; leave it empty")]
    ScopeWithoutApproval,
    #[error(
        "a reason goes with 'deny' alone: what is approved under a condition is not approved. Leave it empty, or deny with \
         it"
    )]
    ReasonWithoutDenial,
    #[error("{}", too_long(*.bytes))]
    LongReason { bytes: usize },
}

/// The request as an answer, or what is wrong with it. Whatever is not exactly a yes is none: a scope or a reason beside
/// another answer than theirs makes the request unusable.
fn read(request: &AnswerQuestion::Request) -> Result<(QuestionId, Answer), AnswerRequestProblem> {
    let AnswerQuestion::Request { question, answer, scope, reason } = request;
    let question = question.trim().parse()?;
    let answer = match answer.as_str() {
        "" => return Err(AnswerRequestProblem::NoAnswer),
        "approve" => Answer::Approve { scope: scope_of(scope)? },
        "deny" => Answer::Deny { reason: reason.clone() },
        choice => Answer::Choose { choice: choice.to_owned() },
    };
    if !scope.is_empty() && !matches!(answer, Answer::Approve { .. }) {
        return Err(AnswerRequestProblem::ScopeWithoutApproval);
    }
    if !reason.is_empty() && !matches!(answer, Answer::Deny { .. }) {
        return Err(AnswerRequestProblem::ReasonWithoutDenial);
    }
    if reason.len() > MAX_REASON_BYTES {
        return Err(AnswerRequestProblem::LongReason { bytes: reason.len() });
    }
    Ok((question, answer))
}

fn scope_of(scope: &str) -> Result<ApprovalScope, AnswerRequestProblem> {
    match scope {
        "" | "once" => Ok(ApprovalScope::Once),
        "mission" => Ok(ApprovalScope::Mission),
        other => Err(AnswerRequestProblem::UnknownScope { scope: other.chars().take(100).collect() }),
    }
}

fn wrong_dispute(mission: &str, reason: &str) -> Option<String> {
    if mission.trim().is_empty() {
        return Some("no mission is named; `cortex tape list` lists them".to_owned());
    }
    if reason.trim().is_empty() {
        return Some("no reason is given; say what was not as it should be".to_owned());
    }
    (reason.len() > MAX_REASON_BYTES).then(|| too_long(reason.len()))
}

fn too_long(bytes: usize) -> String {
    format!("the reason has {bytes} bytes; at most {MAX_REASON_BYTES} are taken. Say it shorter")
}

fn respond_answer(request: ServiceRequest<AnswerQuestion::Service>, reply: ServiceReply) {
    respond(request, AnswerQuestion::Response { success: reply.success, message: carried(reply.message) });
}

fn respond_dispute(request: ServiceRequest<DisputeMission::Service>, reply: ServiceReply) {
    respond(request, DisputeMission::Response { success: reply.success, message: carried(reply.message) });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_fields(
        question: &str,
        answer: &str,
        scope: &str,
        reason: &str,
    ) -> Result<(QuestionId, Answer), AnswerRequestProblem> {
        let [question, answer, scope, reason] = [question, answer, scope, reason].map(str::to_owned);
        read(&AnswerQuestion::Request { question, answer, scope, reason })
    }

    #[test]
    fn an_answer_is_read_as_it_is_written() {
        let id: QuestionId = "m1/2".parse().unwrap();
        for (answer, scope, reason, expected) in [
            ("approve", "", "", Answer::Approve { scope: ApprovalScope::Once }),
            ("approve", "once", "", Answer::Approve { scope: ApprovalScope::Once }),
            ("approve", "mission", "", Answer::Approve { scope: ApprovalScope::Mission }),
            ("deny", "", "", Answer::Deny { reason: String::new() }),
            ("deny", "", "a child", Answer::Deny { reason: "a child".to_owned() }),
            ("the red cup", "", "", Answer::Choose { choice: "the red cup".to_owned() }),
        ] {
            assert_eq!(read_fields(" m1/2 ", answer, scope, reason), Ok((id.clone(), expected)));
        }
    }

    #[test]
    fn what_is_not_exactly_an_answer_is_refused_with_what_to_write() {
        let long = "a".repeat(MAX_REASON_BYTES + 1);
        for (question, answer, scope, reason, expected) in [
            ("", "approve", "", "", "a question is written MISSION/NUMBER"),
            ("m1", "approve", "", "", "a question is written MISSION/NUMBER"),
            ("m1/1", "", "", "", "no answer is given"),
            ("m1/1", "approve", "always", "", "there is no scope 'always'"),
            ("m1/1", "approve", "", "if nobody is there", "a reason goes with 'deny' alone"),
            ("m1/1", "deny", "mission", "", "a scope goes with 'approve' alone"),
            ("m1/1", "the red cup", "once", "", "a scope goes with 'approve' alone"),
            ("m1/1", "the red cup", "", "it is nearer", "a reason goes with 'deny' alone"),
            ("m1/1", "deny", "", &long, "at most 2048 are taken"),
        ] {
            let problem = read_fields(question, answer, scope, reason).unwrap_err().to_string();
            assert!(problem.contains(expected), "{problem}");
        }
        for (mission, reason, expected) in
            [("", "no", "no mission"), ("m1", "  ", "no reason"), ("m1", long.as_str(), "at most 2048")]
        {
            assert!(wrong_dispute(mission, reason).is_some_and(|problem| problem.contains(expected)), "{expected}");
        }
        assert_eq!(wrong_dispute("m1", "It is still dark."), None);
    }
}
