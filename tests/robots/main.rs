//! What Cortex makes of the robot that it meets: any ROS 2 robot, components and servers that misbehave, clients of others.

mod any_robot;
mod bad_components;
mod bad_servers;
mod examples;
mod goal_soak;
mod names;
mod progress;
mod ros_clients;
