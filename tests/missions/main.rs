//! Tasks that people give, from the sentence to the robot at rest, on real ROS 2.

mod answers;
mod approvals;
mod bad_models;
mod conditions;
mod everyday_words;
mod leftovers;
mod mission_costs;
mod missions;
mod model_chain;
mod pictures;
mod shadow;
mod stop_path;
mod tape;
