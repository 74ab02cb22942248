//! The robot itself on the page, in a real browser over real components: its map, what a camera sees, its parameters.

use cortex_stories::{Browser, BuiltInterfaces, Colours, Monitored, Page, TestRobot, Viewport};

/// A robot with a navigation stack, and a camera whose parameters say what it sends.
async fn robot() -> (TestRobot, Monitored, String) {
    let mut test_robot = TestRobot::empty();
    test_robot.find_programs();
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
    test_robot.start_python("lens", "page_camera.py", &[]).await;
    let recipe = format!("{}/../recipes/navigation.toml", env!("CARGO_MANIFEST_DIR"));
    let mut robot = Monitored::start(&test_robot, &recipe, &["--model", "reflex"]);
    robot.wait_until_all_work(&["base", "map_server", "localization", "planner", "controller", "navigator"]).await;
    let line = robot.process().wait_for_line("page: http").await;
    (test_robot, robot, line.trim_start_matches("page: ").to_owned())
}

/// The colours of a canvas at some of its points, without those that nothing was drawn on.
async fn colours_of(page: &Page, canvas: &str) -> usize {
    let script = "const canvas = document.querySelector(arguments[0]); \
                  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data; \
                  const found = new Set(); \
                  for (let at = 0; at < pixels.length; at += 4) if (pixels[at + 3]) found.add(`${pixels[at] >> 4},${pixels[at + 1] >> 4},${pixels[at + 2] >> 4}`); \
                  return found.size;";
    let found = page.script(script, vec![canvas.into()]).await;
    usize::try_from(found.as_u64().unwrap_or_default()).unwrap_or_default()
}

/// Types a value into a parameter, and sets it.
async fn set(page: &Page, parameter: &str, value: &str) {
    let script = "const field = document.getElementById(`parameter-${arguments[0]}`); field.value = arguments[1]; \
                  field.form.requestSubmit();";
    page.wait_for(&format!("[id='parameter-{parameter}']"), "").await;
    page.script(script, vec![parameter.into(), value.into()]).await;
}

async fn choose(page: &Page, label: &str, value: &str) {
    let script = "const select = [...document.querySelectorAll('.choice-of')].find((one) => one.textContent.startsWith(arguments[0])).querySelector('select'); \
                  select.value = arguments[1]; select.dispatchEvent(new Event('change'));";
    page.wait_for(".choice-of", label).await;
    page.script(script, vec![label.into(), value.into()]).await;
}

#[tokio::test]
async fn a_person_sees_the_map_and_sends_the_robot_to_a_place_that_they_clicked() {
    let (_test_robot, _robot, address) = robot().await;
    let browser = Browser::start().await;
    let page = browser.open(&address, Viewport::Wide, Colours::Light).await;
    page.click("nav a", "Robot").await;
    let told = page.wait_for(".map-panel [role=status]", "The robot is at x").await;
    assert!(told.contains("in the frame map"), "{told}");
    assert!(colours_of(&page, ".map-canvas").await > 3, "cells, the robot and the scale are drawn");
    page.wait_for("[aria-label=System] .plan-steps", "navigator").await;
    page.wait_for("[aria-label=System] .plan-steps", "depends on").await;
    // A click becomes words, and nothing is sent before the person sends them.
    let middle = "const box = document.querySelector('.map-canvas').getBoundingClientRect(); \
                  document.querySelector('.map-frame').dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2})); \
                  return document.querySelector('#goal-task').value;";
    let words = page.script(middle, Vec::new()).await;
    let words = words.as_str().unwrap_or_default().to_owned();
    assert!(words.starts_with("go to x=") && words.ends_with("in frame map"), "{words}");
    page.click(".places button", "kitchen").await;
    page.keep_screenshot("robot-map").await;
    page.send(".goal").await;
    // It goes the way of every task: the mission is shown, with its plan.
    page.wait_for(".mission-head", "go to the kitchen").await;
    page.click("nav a", "Robot").await;
    let start = told;
    page.wait_until_gone(".map-panel [role=status]", &start).await;
    page.click("nav a", "Mission").await;
    page.wait_for(".mission-head", "Succeeded").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_camera_is_seen_stops_and_comes_back_with_another_encoding_and_a_parameter_is_refused_out_of_range() {
    let (mut test_robot, _robot, address) = robot().await;
    let browser = Browser::start().await;
    let page = browser.open(&address, Viewport::Wide, Colours::Dark).await;
    page.click("nav a", "Robot").await;
    page.wait_for(".camera-panel", "rgb8").await;
    choose(&page, "Camera", "/lens/image").await;
    page.wait_for(".camera-panel", "320 × 240 · rgb8").await;
    assert!(colours_of(&page, ".camera-canvas").await > 20, "a picture in colours");
    choose(&page, "Node", "/lens").await;
    page.wait_for(".parameters", "How long the shutter is open.").await;
    page.wait_for(".parameters", "from 0 to 1").await;
    page.wait_for(".parameters", "read-only").await;
    // Out of its range; within it, and refused by the node; and what it takes.
    set(&page, "exposure", "7").await;
    page.wait_for(".parameters .tone-bad", "from 0 to 1").await;
    set(&page, "exposure", "0.9").await;
    page.wait_for(".parameters .tone-bad", "that would blind it").await;
    set(&page, "exposure", "0.25").await;
    page.wait_for(".parameters .tone-good", "Set.").await;
    page.keep_screenshot("robot-camera").await;
    set(&page, "encoding", "off").await;
    page.wait_for(".camera-still", "No picture for").await;
    page.keep_screenshot("robot-camera-still").await;
    set(&page, "encoding", "bayer_rggb8").await;
    page.wait_for(".camera-still", "bayer_rggb8").await;
    set(&page, "encoding", "mono8").await;
    page.wait_for(".camera-panel", "320 × 240 · mono8").await;
    page.wait_until_gone(".camera-still", "No picture").await;
    // Who looks elsewhere leaves the camera alone.
    let lens = test_robot.process("lens");
    lens.wait_for_json("one who looks", |told| told["count"] == 1).await;
    page.click("nav a", "Mission").await;
    let is_alone = |lines: &[String]| lines.last().filter(|line| line.contains("\"count\": 0")).map(drop);
    lens.wait_for("nobody who looks", is_alone).await;
    let complaints = page.complaints().await;
    // The browser notes each request that was refused: those above.
    let others = complaints.iter().filter(|complaint| !complaint.contains("Failed to load resource"));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&String>::new());
}

/// Where the robot is by transforms, and by a pose in another frame than the map.
#[tokio::test]
async fn a_robot_that_tells_of_itself_in_other_frames_is_drawn_where_its_transforms_say() {
    let mut test_robot = TestRobot::empty();
    test_robot.set_environment(BuiltInterfaces::transforms().await.environment());
    test_robot.add_environment("CORTEX_WEB__LISTEN", "127.0.0.1:0".to_owned());
    // Nobody else looks: an incident would keep the transforms.
    test_robot.add_environment("CORTEX_INCIDENT__TOPICS", "[]".to_owned());
    test_robot.start_python("rover", "transforms.py", &[]).await;
    test_robot.start_cortex(&[]).await;
    let line = test_robot.process("cortex").wait_for_line("page: http").await;
    let browser = Browser::start().await;
    let page = browser.open(line.trim_start_matches("page: "), Viewport::Wide, Colours::Light).await;
    page.click("nav a", "Robot").await;
    // map -> odom is (3, 1), and odom -> base_link (1, 2), as the odometry says, too.
    let told = page.wait_for(".map-panel [role=status]", "The robot is at x 4.00 m, y 3.00 m").await;
    assert!(told.contains("in the frame map"), "{told}");
    assert!(colours_of(&page, ".map-canvas").await > 3, "the robot is drawn");
    choose(&page, "Position by", "/odom").await;
    page.wait_for(".map-panel [role=status]", "The robot is at x 4.00 m, y 3.00 m").await;
    page.keep_screenshot("robot-transforms").await;
    // What comes no more says nothing of now: the robot is not drawn, and it is named why.
    test_robot.process("rover").write_line("still").await;
    let note = page.wait_for(".map-notes", "The robot is not drawn").await;
    assert!(note.contains("the transform from 'map' to 'odom' is") && note.contains("s old"), "{note}");
    page.keep_screenshot("robot-transforms-old").await;
    test_robot.process("rover").write_line("on").await;
    page.wait_until_gone(".map-notes", "The robot is not drawn").await;
    assert_eq!(page.complaints().await, Vec::<String>::new());
    // Who looks elsewhere leaves the transforms alone.
    let rover = test_robot.process("rover");
    rover.wait_for_json("one who looks", |told| told["count"] == 1).await;
    page.click("nav a", "Mission").await;
    let is_alone = |lines: &[String]| lines.last().filter(|line| line.contains("\"count\": 0")).map(drop);
    rover.wait_for("nobody who looks", is_alone).await;
}

/// The view on every device, in both colours, for people to look at: `target/screenshots`.
#[tokio::test]
async fn the_robot_fits_every_screen_in_both_colours() {
    let (_test_robot, mut robot, address) = robot().await;
    let browser = Browser::start().await;
    for (viewport, device) in [(Viewport::Wide, "wide"), (Viewport::Tablet, "tablet"), (Viewport::Phone, "phone")] {
        for (colours, name) in [(Colours::Light, "light"), (Colours::Dark, "dark")] {
            let page = browser.open(&address, viewport, colours).await;
            page.click("nav a", "Robot").await;
            page.wait_for(".map-panel [role=status]", "The robot is at x").await;
            page.wait_for(".camera-panel", "rgb8").await;
            page.wait_for(".parameters li", "Set").await;
            let beyond = page.script("return document.documentElement.scrollWidth - innerWidth", Vec::new()).await;
            assert_eq!(beyond, 0, "the robot's view on a {device} screen is wider than that");
            page.wait_for("#stop", "STOP").await;
            page.keep_screenshot(&format!("robot-{device}-{name}")).await;
            for part in ["[aria-label=System]", "[aria-label=Parameters]"] {
                page.script("document.querySelector(arguments[0]).scrollIntoView()", vec![part.into()]).await;
                let part = part.trim_matches(|letter| "[]".contains(letter)).trim_start_matches("aria-label=");
                page.keep_screenshot(&format!("robot-{}-{device}-{name}", part.to_lowercase())).await;
            }
            page.close().await;
        }
    }
    let page = browser.open(&address, Viewport::Wide, Colours::Light).await;
    page.click("nav a", "Robot").await;
    page.wait_for("[aria-label=System]", "localization").await;
    assert!(robot.signal("localization", "STOP"));
    page.wait_for("[aria-label=System]", "in quarantine").await;
    page.script("document.querySelector('[aria-label=System]').scrollIntoView()", Vec::new()).await;
    page.keep_screenshot("robot-quarantine").await;
    assert!(robot.signal("localization", "KILL"));
}
