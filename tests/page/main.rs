//! The page in a real browser, over a real Cortex with real components.

mod browser;
mod page;
mod page_accessible;
mod page_by_hand;
mod page_incident;
mod page_memory;
mod page_robot;
mod page_skills;
