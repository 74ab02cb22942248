//! Which request is answered by what.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{StatusCode, Version};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};

use crate::connection::Connection;
use crate::error::{ApiError, ErrorKind};
use crate::site::Site;
use crate::webhooks::incoming;
use crate::{
    accounts, commands, headers, incident, live, login, logs, memory, missions, openapi, pages, robot, skills, sse,
    stop,
};

const STOP: &str = "/stop";

pub(crate) fn router(site: Arc<Site>) -> Router {
    let api = Router::new()
        .route("/overview", get(missions::overview))
        .route("/questions", get(missions::questions))
        .route("/tools", get(missions::tools))
        .route("/seen", get(live::seen))
        .route("/missions", get(missions::recorded))
        .route("/missions/{id}/events", get(missions::events))
        .route("/missions/{id}/tape", get(missions::tape))
        .route("/missions/{id}/report", get(missions::report))
        .route("/missions/{id}/incident", get(incident::incident))
        .route("/events", get(sse::events))
        .route("/logs", get(logs::logs))
        .route("/live", get(live::live))
        .route("/commands", post(commands::command))
        .route("/webhooks/{name}", post(incoming::receive))
        .route("/pairings", get(login::pairings).post(login::make_pairing))
        .route("/pairings/{id}", delete(login::end_pairing))
        .route("/users", get(accounts::users).post(accounts::make_user))
        .route("/users/{name}", delete(accounts::remove_user))
        .route("/sessions", get(login::sessions))
        .route("/sessions/{id}", delete(login::end_session))
        .route("/robot", get(robot::robot))
        .route("/robot/map", get(robot::map))
        .route("/robot/picture", get(robot::picture))
        .route("/robot/scene", get(robot::scene))
        .route("/robot/parameters", get(robot::parameters).post(robot::set_parameter))
        .route("/memory", get(memory::recall))
        .route("/memory/tasks", get(memory::tasks))
        .route("/memory/facts", post(memory::tell))
        .route("/memory/facts/{id}", get(memory::trail))
        .route("/memory/forget", post(memory::forget))
        .route("/identity", get(skills::identity))
        .route("/skills", get(skills::skills))
        .route("/skills/text", get(skills::text))
        .route("/skills/decide", post(skills::decide))
        .route("/skills/forget", post(skills::forget))
        .route("/openapi.json", get(openapi::document));
    Router::new()
        .route("/", get(pages::page))
        .route("/assets/{*path}", get(pages::asset))
        .route("/login", get(login::login_page).post(login::log_in))
        .route("/logout", post(login::log_out))
        .route(STOP, post(stop::stop))
        .nest("/api/v1", api)
        .fallback(|| async { ApiError::new(ErrorKind::NotFound, "There is nothing at this address.") })
        .method_not_allowed_fallback(|| async {
            let reason = "This address does not take this method. See /api/v1/openapi.json.";
            (StatusCode::METHOD_NOT_ALLOWED, Json(ApiError::invalid(reason)))
        })
        .layer(middleware::from_fn(keep_free_for_stop))
        .layer(middleware::from_fn(refuse_old_versions))
        .layer(middleware::map_response(headers::secure))
        .with_state(site)
}

/// Nothing that people use speaks HTTP/1.0 but proxies that were not told otherwise. They pass on neither the host that was
/// asked for nor by whom: the whole network would count as this machine.
async fn refuse_old_versions(request: Request, next: Next) -> Response {
    if request.version() >= Version::HTTP_11 {
        return next.run(request).await;
    }
    let reason =
        "This server speaks HTTP/1.1. A proxy has to speak it, too, to keep 'Host', and to send 'X-Forwarded-For'.";
    (StatusCode::HTTP_VERSION_NOT_SUPPORTED, Json(ApiError::invalid(reason))).into_response()
}

/// On the connections that are kept free for STOP nothing else is answered.
async fn keep_free_for_stop(request: Request, next: Next) -> Response {
    let is_spare = request.extensions().get::<Connection>().is_some_and(Connection::is_spare);
    if is_spare && request.uri().path() != STOP {
        let reason = "Too many connections. Close some, or try again later. STOP is still taken.";
        return ApiError::new(ErrorKind::Busy, reason).into_response();
    }
    next.run(request).await
}
