//! What moves, in one answer: where the robot is, its path, its numbers.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use cortex_protocol::robot_view::{FloorPath, FloorPose};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::view;
use crate::callers::Reading;
use crate::error::ApiError;
use crate::site::Site;
use crate::views::{Content, Seen, now_ms};

/// Plots in one request.
const MOST_PLOTS: usize = 8;

/// What is asked for. None of it is a must.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    pose: Option<String>,
    path: Option<String>,
    /// The frame in which these two are to be given: that of the map.
    frame: Option<String>,
    /// `topic:field`, several with commas between them.
    plots: Option<String>,
    /// Of plots, only what came after, in milliseconds since 1970.
    since: Option<u64>,
}

/// What moves.
#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Scene {
    /// When it was so, in milliseconds since 1970.
    at_ms: u64,
    pose: Option<Moving<FloorPose>>,
    path: Option<Moving<FloorPath>>,
    plots: Vec<Plot>,
}

/// The last that was seen of a topic.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Moving<T> {
    /// None: nothing was seen yet.
    shown: Option<T>,
    /// How long ago that was, in milliseconds.
    age_ms: Option<u64>,
    /// What is wrong since.
    problem: Option<String>,
}

/// Numbers of a topic.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Plot {
    topic: String,
    field: String,
    /// When, in milliseconds since 1970, and which number.
    points: Vec<(u64, f64)>,
    /// What is wrong now.
    problem: Option<String>,
}

/// `GET /api/v1/robot/scene`.
pub(crate) async fn scene(
    State(site): State<Arc<Site>>,
    Reading(_): Reading,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Scene>, ApiError> {
    let Wanted { pose, path, frame, plots, since } = wanted?.0;
    let frame = frame.filter(|frame| !frame.is_empty());
    let look = |topic: Option<String>| {
        topic.filter(|topic| !topic.is_empty()).map(|topic| view(&site, &topic, None, frame.as_deref())).transpose()
    };
    let pose = look(pose)?.map(|seen| {
        moving(&seen.borrow(), |content| match content {
            Content::Pose(pose) => Some(pose.clone()),
            _ => None,
        })
    });
    let path = look(path)?.map(|seen| {
        moving(&seen.borrow(), |content| match content {
            Content::Path(path) => Some(FloorPath::clone(path)),
            _ => None,
        })
    });
    let plots = plots.unwrap_or_default();
    let plots: Vec<Plot> = plots
        .split(',')
        .filter(|name| !name.is_empty())
        .take(MOST_PLOTS)
        .map(|name| plot(&site, name, since.unwrap_or_default()))
        .collect::<Result<_, _>>()?;
    Ok(Json(Scene { at_ms: now_ms(), pose, path, plots }))
}

fn moving<T>(seen: &Seen, pick: impl Fn(&Content) -> Option<T>) -> Moving<T> {
    let shown = seen.content.as_ref().and_then(pick);
    let age = shown.as_ref().and(seen.at).map(|at| at.elapsed().as_millis());
    Moving { shown, age_ms: age.and_then(|age| u64::try_from(age).ok()), problem: seen.problem.clone() }
}

fn plot(site: &Site, name: &str, since: u64) -> Result<Plot, ApiError> {
    let none = || ApiError::invalid("A plot is named by its topic and its field, '/battery_state:percentage'.");
    let (topic, field) = name.split_once(':').ok_or_else(none)?;
    let seen = view(site, topic, Some(field), None)?;
    let seen = seen.borrow();
    let points = match &seen.content {
        Some(Content::Numbers(numbers)) => numbers.iter().filter(|(at, _)| *at > since).copied().collect(),
        _ => Vec::new(),
    };
    Ok(Plot { topic: topic.to_owned(), field: field.to_owned(), points, problem: seen.problem.clone() })
}
