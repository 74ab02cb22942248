//! The status of Cortex as it is published: the overview on `~/overview`, the same on `/diagnostics`, and metrics for
//! Prometheus.
//!
//! This crate owns how the overview is gathered (from the runtime, the monitor, the stop and the model), when it is
//! published, how it looks on a terminal (`cortex status`), which metrics are counted, and the endpoint that serves them.
//! It does not own the form of the overview on the wire, which is `cortex_protocol::overview`, nor the watchdog, which is in
//! `cortex-node`.
//!
//! Begin with [`Status::start`] and [`Sources`]; for the metrics with [`Metrics`]. A [`ModelWatch`] counts the requests to
//! models, for both.

#[cfg_attr(not(feature = "metrics"), path = "metrics_left_out.rs")]
mod metrics;
mod status;
mod watched_model;

pub use metrics::{Endpoint, Metrics};
pub use status::screen::{Ink, render};
pub use status::{Sources, Status, TOPIC, graph_in, now_ms};
pub use watched_model::ModelWatch;
