//! The map server: the map of the home, for whoever plans ways through it.

use std::sync::Arc;

use cortex_component::messages::builtin_interfaces::msg::Time;
use cortex_component::messages::geometry_msgs::msg::{Point, Pose};
use cortex_component::messages::nav_msgs::msg::{MapMetaData, OccupancyGrid};
use cortex_component::messages::nav_msgs::srv::GetMap;
use cortex_component::messages::std_msgs::msg::Header;
use cortex_component::{Component, Publisher, QosProfile, Slot};

use super::MAP_TOPIC;
use super::geometry::MAP_FRAME;
use crate::floor::Floor;
use crate::world::World;

pub(super) fn component(world: Arc<World>) -> Component {
    let publisher: Slot<Publisher<OccupancyGrid>> = Slot::default();
    let (configured, activated) = (publisher.clone(), publisher);
    let map = Arc::new(move |stamp: Time| message(&Floor::of(&world), stamp));
    let served = Arc::clone(&map);
    Component::new("map_server")
        .summary("The map of the home. It has nothing that could be called.")
        .on_configure(move |context| {
            let (slot, map) = (configured.clone(), served(context.now()));
            async move {
                // Whoever comes late gets it, too.
                let quality = QosProfile::default().keep_last(1).transient_local();
                slot.put(context.publisher(MAP_TOPIC, quality).await?);
                let answer = move |_| GetMap::Response { map: map.clone() };
                Ok(context.serve::<GetMap::Service>("~/map", answer).await?)
            }
        })
        .on_activate(move |context| {
            let published = activated.get().map(|publisher| publisher.publish(&map(context.now())));
            std::future::ready(published)
        })
}

#[expect(clippy::cast_possible_truncation, reason = "the message's length of a cell is an f32")]
fn message(floor: &Floor, stamp: Time) -> OccupancyGrid {
    let (width, height) = floor.size();
    let origin = Point { x: floor.origin().x_m, y: floor.origin().y_m, z: 0.0 };
    let info = MapMetaData {
        map_load_time: stamp.clone(),
        resolution: floor.cell_m() as f32,
        width,
        height,
        origin: Pose { position: origin, ..Pose::default() },
    };
    OccupancyGrid { header: Header { stamp, frame_id: MAP_FRAME.to_owned() }, info, data: floor.cells().to_vec() }
}
