//! The planner: a path from one place to another, through the doors, where the map has room.

use std::sync::Arc;

use cortex_component::messages::geometry_msgs::msg::PoseStamped;
use cortex_component::messages::nav_msgs::msg::{OccupancyGrid, Path};
use cortex_component::messages::nav_msgs::srv::GetPlan;
use cortex_component::{Component, ComponentContext, Failure, Latest, QosProfile, Slot};

use super::MAP_TOPIC;
use super::geometry::{MAP_FRAME, is_finite, path, position_of};
use super::place::room_at;
use crate::floor::Floor;
use crate::route::route;
use crate::world::{Position, World};

/// The service that is asked for a path, below the node. A path without poses means that there is none.
pub(super) const GET_PLAN: &str = "get_plan";

pub(super) fn component(world: Arc<World>) -> Component {
    let map: Slot<Latest<OccupancyGrid>> = Slot::default();
    Component::new("planner")
        .summary("Plans paths through the home for the navigator. It has nothing that could be called.")
        .on_configure(move |context| {
            let (world, map) = (Arc::clone(&world), map.clone());
            async move { configure(context, world, &map).await }
        })
}

async fn configure(
    context: ComponentContext,
    world: Arc<World>,
    map: &Slot<Latest<OccupancyGrid>>,
) -> Result<(), Failure> {
    map.put(context.latest(MAP_TOPIC, QosProfile::default().keep_last(1).transient_local()).await?);
    let (map, clock) = (map.clone(), context.clone());
    let answer = move |request: GetPlan::Request| {
        let planned = floor(&map).and_then(|floor| plan(&world, &floor, &request));
        let plan = planned.map_or_else(
            |problem| {
                tracing::warn!("there is no path: {problem}");
                Path::default()
            },
            |points| path(&points, &clock.now()),
        );
        GetPlan::Response { plan }
    };
    Ok(context.serve::<GetPlan::Service>(&format!("~/{GET_PLAN}"), answer).await?)
}

/// The map, as it was last told. A map does not age.
fn floor(map: &Slot<Latest<OccupancyGrid>>) -> Result<Floor, String> {
    let latest = map.get().map_err(|problem| problem.to_string())?;
    let message = latest.last().ok_or("nobody has told of a map")?.message;
    let info = &message.info;
    let floor = Floor::told(
        f64::from(info.resolution),
        (info.width, info.height),
        position_of(&info.origin),
        message.data.clone(),
    );
    floor.ok_or_else(|| "the map makes no sense".to_owned())
}

/// The points of the way, from the start to the goal.
fn plan(world: &World, floor: &Floor, request: &GetPlan::Request) -> Result<Vec<Position>, String> {
    let at = |pose: &PoseStamped, what: &str| {
        let position = position_of(&pose.pose);
        if pose.header.frame_id != MAP_FRAME {
            return Err(format!("the {what} is in the frame '{}', not '{MAP_FRAME}'", pose.header.frame_id));
        }
        if is_finite(position) { Ok(position) } else { Err(format!("the {what} is no place")) }
    };
    let (start, goal) = (at(&request.start, "start")?, at(&request.goal, "goal")?);
    let room = room_at(world, goal);
    let mut points = vec![start];
    points.extend(route(world, start, &room).ok_or("the goal is in no room")?);
    if points.last() != Some(&goal) {
        points.push(goal);
    }
    points.dedup();
    let blocked = points.windows(2).find_map(|ends| match ends {
        [from, to] if !floor.is_way_free(*from, *to) => Some((*from, *to)),
        _ => None,
    });
    match blocked {
        None => Ok(points),
        Some((from, to)) => Err(format!(
            "the map has no room between ({:.1}, {:.1}) and ({:.1}, {:.1})",
            from.x_m, from.y_m, to.x_m, to.y_m
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pursuit::Pose;

    fn planned(start: (f64, f64), goal: (f64, f64)) -> Result<Vec<(f64, f64)>, String> {
        let world = World::load(None).unwrap();
        let floor = Floor::of(&world);
        let plan = plan(&world, &floor, &request(start, goal))?;
        Ok(plan.iter().map(|point| (point.x_m, point.y_m)).collect())
    }

    fn request(start: (f64, f64), goal: (f64, f64)) -> GetPlan::Request {
        let stamped = |(x_m, y_m): (f64, f64)| {
            let pose = super::super::geometry::pose_message(Pose { position: Position { x_m, y_m }, heading_rad: 0.0 });
            let mut stamped = PoseStamped { pose, ..PoseStamped::default() };
            stamped.header.frame_id = MAP_FRAME.to_owned();
            stamped
        };
        GetPlan::Request { start: stamped(start), goal: stamped(goal), tolerance: 0.0 }
    }

    #[test]
    fn a_path_leads_through_the_doors_to_the_goal() {
        assert_eq!(planned((0.0, 0.0), (3.0, 1.5)), Ok(vec![(0.0, 0.0), (2.0, 0.0), (3.0, 1.5)]));
        assert_eq!(planned((3.0, 1.5), (3.0, 1.5)), Ok(vec![(3.0, 1.5)]), "it is there already");
        assert_eq!(
            planned((1.0, 0.05), (3.1, 1.4)),
            Ok(vec![(1.0, 0.05), (2.0, 0.0), (3.0, 1.5), (3.1, 1.4)]),
            "from beside the line to beside the middle"
        );
    }

    #[test]
    fn what_can_t_be_planned_is_said() {
        let problem = |start, goal| planned(start, goal).unwrap_err();
        assert_eq!(problem((0.0, 0.0), (9.0, 9.0)), "the goal is in no room");
        assert_eq!(problem((f64::NAN, 0.0), (3.0, 1.5)), "the start is no place");
        assert_eq!(problem((0.0, 0.0), (f64::INFINITY, 0.0)), "the goal is no place");
        assert!(problem((-5.0, -5.0), (3.0, 1.5)).starts_with("the map has no room between (-5.0, -5.0)"));
        let world = World::load(None).unwrap();
        let mut of_odometry = request((0.0, 0.0), (3.0, 1.5));
        of_odometry.start.header.frame_id = "odom".to_owned();
        let refused = plan(&world, &Floor::of(&world), &of_odometry).unwrap_err();
        assert_eq!(refused, "the start is in the frame 'odom', not 'map'");
    }

    #[test]
    fn a_way_that_the_map_does_not_have_is_none() {
        let world = World::load(None).unwrap();
        let floor = Floor::of(&world);
        let mut cells = floor.cells().to_vec();
        cells.fill(crate::floor::OCCUPIED);
        let walled = Floor::told(floor.cell_m(), floor.size(), floor.origin(), cells).unwrap();
        let refused = plan(&world, &walled, &request((0.0, 0.0), (3.0, 1.5))).unwrap_err();
        assert!(refused.starts_with("the map has no room"), "{refused}");
    }
}
