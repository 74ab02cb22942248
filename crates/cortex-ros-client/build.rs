//! Finds out what the ROS 2 that is built against can do.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(has_type_hashes)");
    println!("cargo::rerun-if-env-changed=ROS_DISTRO");
    println!("cargo::rerun-if-changed=build.rs");
    let distribution = std::env::var("ROS_DISTRO").unwrap_or_default();
    // Type hashes came with Iron.
    if !["foxy", "galactic", "humble"].contains(&distribution.as_str()) {
        println!("cargo::rustc-cfg=has_type_hashes");
    }
}
