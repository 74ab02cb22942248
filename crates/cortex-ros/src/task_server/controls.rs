//! `~/pause` and `~/unpause`: missions and events begin nothing, and what they have in motion is halted; and on again. To take
//! the controls needs a connection that lasts, which a service is not.

use std::sync::Arc;

use cortex_protocol::Command;
use cortex_ros_client::QosProfile;
use cortex_ros_client::serving::respond;
use cortex_ros_client::text::carried;
use r2r::std_srvs::srv::Trigger;
use r2r::{Node, ServiceRequest};

use super::questions::{BUSY, LATE, Requests};
use super::{SUBMIT_LIMIT, Shared, principal};
use crate::task::ServiceReply;

/// Creates the services.
pub(super) fn endpoints(
    node: &mut Node,
) -> Result<(impl Requests<Trigger::Service> + use<>, impl Requests<Trigger::Service> + use<>), r2r::Error> {
    let quality = r2r::QosProfile::from(QosProfile::RELIABLE);
    Ok((
        node.create_service::<Trigger::Service>("~/pause", quality.clone())?,
        node.create_service::<Trigger::Service>("~/unpause", quality)?,
    ))
}

pub(super) fn pause(shared: &Arc<Shared>, request: ServiceRequest<Trigger::Service>) {
    execute(shared, request, Command::Pause, "pause");
}

pub(super) fn unpause(shared: &Arc<Shared>, request: ServiceRequest<Trigger::Service>) {
    execute(shared, request, Command::Unpause, "unpause");
}

fn execute(shared: &Arc<Shared>, request: ServiceRequest<Trigger::Service>, command: Command, service: &str) {
    let Ok(permit) = Arc::clone(&shared.triggers).try_acquire_owned() else {
        return answer(request, ServiceReply::refusal(BUSY));
    };
    let (port, by) = (Arc::clone(&shared.port), principal(&format!("{}/{service}", shared.name)));
    shared.tasks.spawn(async move {
        let _permit = permit;
        let executed = port.execute(command, by);
        let reply = tokio::time::timeout(SUBMIT_LIMIT, executed).await.map(ServiceReply::of);
        answer(request, reply.unwrap_or_else(|_| ServiceReply::refusal(LATE)));
    });
}

fn answer(request: ServiceRequest<Trigger::Service>, reply: ServiceReply) {
    respond(request, Trigger::Response { success: reply.success, message: carried(reply.message) });
}
