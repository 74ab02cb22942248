//! Natural language: what people say to a robot.

pub mod task_class;
