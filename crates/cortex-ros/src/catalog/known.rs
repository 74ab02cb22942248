//! What services and actions that many robots have are known to do. What is not here may move.

use cortex_protocol::Effect;

/// Services that only read. Planners are among them: a path is computed, not driven. No action is: see [`COMPUTE`].
const OBSERVE: [&str; 20] = [
    "control_msgs/srv/QueryCalibrationState",
    "control_msgs/srv/QueryTrajectoryState",
    "controller_manager_msgs/srv/ListControllerTypes",
    "controller_manager_msgs/srv/ListControllers",
    "controller_manager_msgs/srv/ListHardwareComponents",
    "controller_manager_msgs/srv/ListHardwareInterfaces",
    "moveit_msgs/srv/GetCartesianPath",
    "moveit_msgs/srv/GetMotionPlan",
    "moveit_msgs/srv/GetPlanningScene",
    "moveit_msgs/srv/GetPositionFK",
    "moveit_msgs/srv/GetPositionIK",
    "moveit_msgs/srv/GetStateValidity",
    "moveit_msgs/srv/QueryPlannerInterfaces",
    "nav2_msgs/srv/GetCost",
    "nav2_msgs/srv/GetCosts",
    "nav2_msgs/srv/GetCostmap",
    "nav2_msgs/srv/IsPathValid",
    "nav_msgs/srv/GetMap",
    "nav_msgs/srv/GetPlan",
    "tf2_msgs/srv/FrameGraph",
];

/// Actions that move nothing by themselves, of servers that have one goal at a time: a new goal ends the one before. The
/// drives of Nav2 are such users of its planner, so a path that is computed meanwhile stops them.
const COMPUTE: [&str; 3] =
    ["nav2_msgs/action/ComputePathThroughPoses", "nav2_msgs/action/ComputePathToPose", "nav2_msgs/action/SmoothPath"];

/// Types that change something that does not move.
const ACT: [&str; 11] = [
    "diagnostic_msgs/srv/AddDiagnostics",
    "nav2_msgs/srv/ClearCostmapAroundRobot",
    "nav2_msgs/srv/ClearCostmapExceptRegion",
    "nav2_msgs/srv/ClearEntireCostmap",
    "nav2_msgs/srv/LoadMap",
    "nav2_msgs/srv/SaveMap",
    "nav_msgs/srv/LoadMap",
    "nav_msgs/srv/SetMap",
    "sensor_msgs/srv/SetCameraInfo",
    "slam_toolbox/srv/SaveMap",
    "tf2_msgs/action/LookupTransform",
];

/// Types that drive the base.
const BASE: [&str; 12] = [
    "nav2_msgs/action/AssistedTeleop",
    "nav2_msgs/action/BackUp",
    "nav2_msgs/action/DockRobot",
    "nav2_msgs/action/DriveOnHeading",
    "nav2_msgs/action/FollowGPSWaypoints",
    "nav2_msgs/action/FollowPath",
    "nav2_msgs/action/FollowWaypoints",
    "nav2_msgs/action/NavigateThroughPoses",
    "nav2_msgs/action/NavigateToPose",
    "nav2_msgs/action/Spin",
    "nav2_msgs/action/UndockRobot",
    "nav2_msgs/action/Wait",
];

/// What something of this type does. None where that is not known: then it is taken to move.
pub(crate) fn effect(type_name: &str) -> Option<Effect> {
    if OBSERVE.contains(&type_name) {
        Some(Effect::Observe)
    } else if ACT.contains(&type_name) || COMPUTE.contains(&type_name) {
        Some(Effect::Act)
    } else {
        BASE.contains(&type_name).then_some(Effect::Move)
    }
}

/// Whether all that a request of this type begins is over when it is answered.
pub(crate) fn ends_with_answer(type_name: &str) -> bool {
    ACT.contains(&type_name)
}

/// What it holds, within the namespace of who offers it: `base`. None where that is not sure. What computes for the drives
/// holds what they do: it would take their server away.
pub(crate) fn resource(type_name: &str) -> Option<&'static str> {
    (BASE.contains(&type_name) || COMPUTE.contains(&type_name)).then_some("base")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_may_move_and_no_type_is_known_twice() {
        assert_eq!(effect("std_srvs/srv/Trigger"), None);
        assert_eq!(effect("nav_msgs/srv/GetMap"), Some(Effect::Observe));
        assert_eq!(effect("nav_msgs/srv/SetMap"), Some(Effect::Act));
        assert_eq!(resource("nav2_msgs/action/NavigateToPose"), Some("base"));
        assert_eq!(effect("nav2_msgs/action/ComputePathToPose"), Some(Effect::Act));
        assert_eq!(resource("nav2_msgs/action/ComputePathToPose"), Some("base"));
        let is_action = |name: &&&str| name.contains("/action/");
        assert_eq!(OBSERVE.iter().find(is_action), None, "a goal may end that of somebody else");
        assert!(OBSERVE.iter().all(|name| !ACT.contains(name) && resource(name).is_none()));
    }
}
