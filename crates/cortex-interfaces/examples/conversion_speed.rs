//! Measures JSON to message and back: `cargo run --release -p cortex-interfaces --example conversion_speed`.
//!
//! The message is a `nav_msgs/msg/Path` of 1,000 poses. Prints the median of many runs, in megabytes of JSON per second.

use std::error::Error;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

use cortex_interfaces::{
    Conventions, InterfaceKind, Interfaces, Message, ReadOptions, Timestamp, WriteLimits, WriteOptions,
};

const POSES: u32 = 1000;
const RUNS: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let interfaces = Interfaces::from_environment();
    let start = Instant::now();
    let path = interfaces.message("nav_msgs/msg/Path")?;
    println!("nav_msgs/msg/Path loaded in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);

    let start = Instant::now();
    let names = interfaces.index().interfaces();
    for name in &names {
        let name_text = name.to_string();
        match name.kind() {
            InterfaceKind::Message => drop(interfaces.message(&name_text)?),
            InterfaceKind::Service => drop(interfaces.service(&name_text)?),
            InterfaceKind::Action => drop(interfaces.action(&name_text)?),
        }
    }
    println!("all {} installed interfaces loaded in {:.0} ms", names.len(), start.elapsed().as_secs_f64() * 1e3);

    let text = json(POSES)?;
    let exact = ReadOptions::exact();
    let message = Message::from_json_str(&path, &text, &exact)?;
    let mut written = Vec::with_capacity(2 * text.len());
    message.view().write_json(&mut written, &WriteOptions::exact())?;
    println!("{POSES} poses are {} bytes of JSON as given, {} as written", text.len(), written.len());

    let conventions = Conventions::default();
    let now = Timestamp { sec: 1_700_000_000, nanosec: 0 };
    let friendly = ReadOptions::friendly(&conventions, now);
    let whole = WriteOptions { limits: WriteLimits::NONE, ..WriteOptions::friendly(&conventions) };
    let tree: serde_json::Value = serde_json::from_str(&text)?;

    report("text to message, exact", text.len(), || Message::from_json_str(&path, &text, &exact).is_ok());
    report("text to message, friendly", text.len(), || Message::from_json_str(&path, &text, &friendly).is_ok());
    report("tree to message, exact", text.len(), || Message::from_json(&path, &tree, &exact).is_ok());
    report("text to tree (serde_json alone)", text.len(), || serde_json::from_str::<serde_json::Value>(&text).is_ok());
    let mut buffer = Vec::with_capacity(2 * text.len());
    report("message to text, exact", written.len(), || {
        buffer.clear();
        message.view().write_json(&mut buffer, &WriteOptions::exact()).is_ok()
    });
    report("message to text, friendly", written.len(), || {
        buffer.clear();
        message.view().write_json(&mut buffer, &whole).is_ok()
    });
    report("message to tree, exact", written.len(), || {
        message.view().to_json(&WriteOptions::exact()).left_out.is_empty()
    });

    let twist = interfaces.message("geometry_msgs/msg/Twist")?;
    let small = r#"{"linear":{"x":0.5,"y":0.0,"z":0.0},"angular":{"x":0.0,"y":0.0,"z":0.25}}"#;
    report("small text to message", small.len(), || Message::from_json_str(&twist, small, &exact).is_ok());
    Ok(())
}

fn json(poses: u32) -> Result<String, std::fmt::Error> {
    let mut text = String::from(r#"{"header":{"stamp":{"sec":1,"nanosec":2},"frame_id":"map"},"poses":["#);
    for index in 0..poses {
        let angle = f64::from(index) * 0.01;
        write!(
            text,
            r#"{}{{"header":{{"stamp":{{"sec":{index},"nanosec":{index}}},"frame_id":"map"}},"pose":{{"position":{{"x":{},"y":{},"z":0.0}},"orientation":{{"x":0.0,"y":0.0,"z":{},"w":{}}}}}}}"#,
            if index == 0 { "" } else { "," },
            angle.cos() * 12.5,
            angle.sin() * 12.5,
            (angle / 2.0).sin(),
            (angle / 2.0).cos(),
        )?;
    }
    text.push_str("]}");
    Ok(text)
}

fn report(what: &str, bytes: usize, mut run: impl FnMut() -> bool) {
    let mut times: Vec<Duration> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            assert!(black_box(run()), "{what} failed");
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let median = times.get(RUNS / 2).copied().unwrap_or_default();
    let speed = bytes as f64 / 1e6 / median.as_secs_f64();
    println!("{what:32} {:9.4} ms  {speed:6.0} MB/s", median.as_secs_f64() * 1e3);
}
