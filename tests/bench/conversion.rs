//! JSON to message and back, of a type that is loaded at run time.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::ensure;
use cortex_interfaces::{Interfaces, Message, ReadOptions, WriteOptions};
use serde_json::{Value, json};

use crate::table::{Table, median};

/// Poses of the path.
const POSES: u32 = 1_000;
/// Conversions that are measured, after one that is not.
const CONVERSIONS: usize = 200;

pub(crate) fn measure(table: &mut Table) -> anyhow::Result<()> {
    let path = Interfaces::from_environment().message("nav_msgs/msg/Path")?;
    let text = path_of_poses().to_string();
    let mut written = Vec::with_capacity(2 * text.len());
    let (mut read_times, mut write_times, mut both_times) = (Vec::new(), Vec::new(), Vec::new());
    for conversion in 0..=CONVERSIONS {
        written.clear();
        let begun = Instant::now();
        let message = Message::from_json_str(&path, &text, &ReadOptions::exact())?;
        let read = begun.elapsed();
        message.view().write_json(black_box(&mut written), &WriteOptions::exact())?;
        let both = begun.elapsed();
        if conversion > 0 {
            read_times.push(read);
            write_times.push(both.saturating_sub(read));
            both_times.push(both);
        }
    }
    let (given, back): (Value, Value) = (serde_json::from_str(&text)?, serde_json::from_slice(&written)?);
    ensure!(given == back, "the path that came back is another");
    // Both ways, the whole text is gone through twice.
    let speed =
        |bytes: usize, times: &[Duration]| format!("{:.0} MB/s", megabytes(bytes) / median(times).as_secs_f64());
    table.add(
        format!("nav_msgs/Path of {POSES} poses: JSON to message and back"),
        "over 50 MB/s",
        speed(text.len() + written.len(), &both_times),
        format!(
            "to message {}, back {}; {:.2} MB, n {CONVERSIONS}",
            speed(text.len(), &read_times),
            speed(written.len(), &write_times),
            megabytes(text.len()),
        ),
    );
    Ok(())
}

fn path_of_poses() -> Value {
    let pose = |index: u32| {
        let angle = f64::from(index) * 0.01;
        json!({
            "header": {"stamp": {"sec": index, "nanosec": index}, "frame_id": "map"},
            "pose": {
                "position": {"x": angle.cos() * 12.5, "y": angle.sin() * 12.5, "z": 0.0},
                "orientation": {"x": 0.0, "y": 0.0, "z": (angle / 2.0).sin(), "w": (angle / 2.0).cos()}
            }
        })
    };
    json!({
        "header": {"stamp": {"sec": 1, "nanosec": 2}, "frame_id": "map"},
        "poses": (0..POSES).map(pose).collect::<Vec<_>>()
    })
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52 bytes")]
fn megabytes(bytes: usize) -> f64 {
    bytes as f64 / 1e6
}
