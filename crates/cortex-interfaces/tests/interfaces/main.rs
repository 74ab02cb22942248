//! Interfaces of the installed packages: loaded, filled from JSON, written as JSON, compared with `rclpy`.
//!
//! Nothing here talks over a network.

#[cfg(test)]
mod exact;
#[cfg(test)]
mod friendly;
#[cfg(test)]
mod generated;
#[cfg(test)]
mod loading;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod python;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod support;
