//! The live stream: what a page shows, over one WebSocket. Nothing is lost and nothing comes twice, however slowly a page
//! reads and however often its connection breaks; and no page holds another one up, or STOP.

mod connection;
mod frame;
mod hub;
mod recent;

pub(crate) use connection::{live, seen};
pub(crate) use hub::{Hub, json};
