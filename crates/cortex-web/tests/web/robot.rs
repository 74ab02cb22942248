//! The robot itself: its map, what its cameras see, its numbers, its parameters.

use cortex_protocol::Role;
use cortex_protocol::robot_view::{CameraPicture, FloorPath, FloorPose, GridMap, RobotSight};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::support::{TestServer, log, refusal};

const MAP: &str = "/api/v1/robot/map?topic=/map";
const CAMERA: &str = "/api/v1/robot/picture?topic=/camera";

fn pose(frame: &str) -> FloorPose {
    FloorPose { frame: frame.to_owned(), x: 1.0, y: 2.0, heading: 0.5 }
}

fn map(cells: [i8; 4]) -> RobotSight {
    let origin = pose("map");
    RobotSight::Map(GridMap { width: 2, height: 2, resolution_m: 0.1, origin, cells: cells.to_vec() })
}

fn frame(encoding: &str, gray: u8) -> RobotSight {
    let (step, data) = (8 * 3, vec![gray; 8 * 8 * 3]);
    let encoding = encoding.to_owned();
    RobotSight::Picture(CameraPicture::Raw { width: 8, height: 8, step, encoding, is_big_endian: false, data })
}

/// The `ETag` of an answer that is fine, and its body.
async fn fetched(request: reqwest::RequestBuilder) -> (String, Vec<u8>) {
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
    (tag, answer.bytes().await.unwrap().to_vec())
}

#[tokio::test]
async fn a_map_comes_with_its_place_once_and_again_when_it_has_changed() {
    let server = TestServer::start();
    let robot = &server.port.robot;
    assert_eq!(server.get(MAP).send().await.unwrap().status(), 204, "nothing has come yet");
    robot.show("/map", map([0, 100, -1, 0]));
    let answer = server.get(MAP).send().await.unwrap();
    let about: Value = serde_json::from_str(answer.headers()["cortex-about"].to_str().unwrap()).unwrap();
    assert_eq!((&about["origin"]["frame"], &about["width"]), (&json!("map"), &json!(2)), "{about}");
    assert_eq!(answer.headers()["content-type"], "image/png");
    let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
    assert!(answer.bytes().await.unwrap().starts_with(b"\x89PNG"));
    let known = server.get(MAP).header("If-None-Match", &tag).send().await.unwrap();
    assert_eq!(known.status(), 304);
    // One that waits hears of the change.
    let waits = server.get(MAP).header("If-None-Match", &tag).send();
    let changes = async { robot.show("/map", map([0, 0, 0, 0])) };
    let (answer, ()) = futures::future::join(waits, changes).await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 200);
    assert_ne!(answer.headers()["etag"].to_str().unwrap(), tag);
    for hostile in ["", "map", "/m%20p", &format!("/{}", "x".repeat(500)), "/%E2%80%AE"] {
        assert_eq!(refusal(server.get(&format!("/api/v1/robot/map?topic={hostile}"))).await.0, 400, "{hostile}");
    }
    assert_eq!(refusal(server.get("/api/v1/robot/map")).await.0, 400);
}

#[tokio::test]
async fn a_camera_is_looked_at_once_for_all_who_look_and_left_alone_when_nobody_does() {
    let server = TestServer::start();
    let robot = &server.port.robot;
    robot.show("/camera", frame("rgb8", 10));
    assert_eq!(robot.lookers("/camera"), 0, "nobody has asked yet");
    let all = join_all((0..20).map(|_| fetched(server.get(CAMERA)))).await;
    assert!(all.iter().all(|(tag, jpeg)| *tag == all[0].0 && jpeg.starts_with(&[0xff, 0xd8])));
    assert_eq!(robot.lookers("/camera"), 1);
    robot.left_alone("/camera").await;
    // Whoever comes back sees it again.
    robot.show("/camera", frame("bgr8", 200));
    assert_ne!(fetched(server.get(CAMERA)).await.0, all[0].0);
}

#[tokio::test]
async fn a_camera_that_sends_what_can_not_be_shown_says_so_and_goes_on_with_the_next_good_picture() {
    let server = TestServer::start();
    let robot = &server.port.robot;
    robot.show("/camera", frame("rgb8", 10));
    let (tag, _) = fetched(server.get(CAMERA)).await;
    robot.show("/camera", frame("bayer_rggb8", 10));
    let answer = server.get(CAMERA).header("If-None-Match", &tag).send().await.unwrap();
    assert_eq!(answer.status(), 409);
    let answer: Value = answer.json().await.unwrap();
    assert!(answer["reason"].as_str().unwrap().contains("bayer_rggb8"), "{answer}");
    robot.show("/camera", RobotSight::Absent { reason: "no part of the robot publishes /camera now".to_owned() });
    // What is wrong may have been told before that was seen.
    let (status, _) = refusal(server.get(CAMERA).header("If-None-Match", &tag)).await;
    assert_eq!(status, 409);
    robot.show("/camera", frame("mono16", 10));
    let mut answer = server.get(CAMERA).send().await.unwrap();
    while answer.status() == 409 {
        answer = server.get(CAMERA).send().await.unwrap();
    }
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["cortex-about"], r#"{"size":[8,8],"encoding":"mono16"}"#);
    // A topic shows only what it is.
    assert_eq!(refusal(server.get("/api/v1/robot/map?topic=/camera")).await, (400, "invalid".to_owned()));
}

#[tokio::test]
async fn what_moves_comes_in_one_answer_with_its_frame_and_its_age() {
    let server = TestServer::start();
    let robot = &server.port.robot;
    robot.show("/pose", RobotSight::Pose(pose("odom")));
    robot.show("/path", RobotSight::Path(FloorPath { frame: "map".to_owned(), points: vec![(0.0, 0.0), (1.0, 1.0)] }));
    robot.show("/battery", RobotSight::Number(0.5));
    let address = "/api/v1/robot/scene?pose=/pose&path=/path&plots=/battery:percentage,/gone:x";
    let mut scene = server.get_json(address).await;
    while scene["plots"][0]["points"][0].is_null()
        || scene["pose"]["shown"].is_null()
        || scene["path"]["shown"].is_null()
    {
        scene = server.get_json(address).await;
    }
    assert_eq!(scene["pose"]["shown"], json!({"frame": "odom", "x": 1.0, "y": 2.0, "heading": 0.5}));
    assert!(scene["pose"]["age_ms"].is_u64());
    assert_eq!(scene["path"]["shown"]["points"][1], json!([1.0, 1.0]));
    assert_eq!(scene["plots"][0]["points"][0][1], 0.5);
    assert_eq!(scene["plots"][1]["points"], json!([]));
    let at = &scene["plots"][0]["points"][0][0];
    let later = server.get_json(&format!("{address}&since={at}")).await;
    assert_eq!(later["plots"][0]["points"], json!([]), "what is known is not sent again");
    robot.show("/pose", RobotSight::Unusable { reason: "no place".to_owned() });
    let mut scene = server.get_json(address).await;
    while scene["pose"]["problem"].is_null() {
        scene = server.get_json(address).await;
    }
    assert_eq!(scene["pose"]["shown"]["x"], 1.0, "the last that was seen stays, with its age");
    assert_eq!(refusal(server.get("/api/v1/robot/scene?plots=/battery")).await.0, 400);
}

#[tokio::test]
async fn what_lies_in_another_frame_is_asked_for_in_that_of_the_map_and_named_where_it_can_not_be_given() {
    let server = TestServer::start();
    let robot = &server.port.robot;
    let reason = "no transform of the frame 'odom' has come on /tf or /tf_static".to_owned();
    robot.show("/odom in map", RobotSight::UnplacedPose { pose: pose("odom"), reason: reason.clone() });
    let address = "/api/v1/robot/scene?pose=/odom&frame=map";
    let mut scene = server.get_json(address).await;
    while scene["pose"]["problem"].is_null() {
        scene = server.get_json(address).await;
    }
    assert_eq!((&scene["pose"]["shown"]["frame"], &scene["pose"]["problem"]), (&json!("odom"), &json!(reason)));
    robot.show("/odom in map", RobotSight::Pose(pose("map")));
    while !scene["pose"]["problem"].is_null() {
        scene = server.get_json(address).await;
    }
    assert_eq!(scene["pose"]["shown"]["frame"], "map");
    let long = format!("/api/v1/robot/scene?pose=/odom&frame={}", "x".repeat(500));
    assert_eq!(refusal(server.get(&long)).await.0, 400);
}

#[tokio::test]
async fn only_so_much_of_a_robot_is_looked_at_at_a_time() {
    let server = TestServer::start();
    for number in 0..32 {
        let answer = server.get(&format!("/api/v1/robot/scene?pose=/pose{number}")).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{number}");
    }
    assert_eq!(refusal(server.get("/api/v1/robot/scene?pose=/more")).await, (503, "busy".to_owned()));
    assert_eq!(server.get("/api/v1/robot/scene?pose=/pose1").send().await.unwrap().status(), 200);
    server.port.robot.left_alone("/pose2").await;
    let mut answer = server.get("/api/v1/robot/scene?pose=/more").send().await.unwrap();
    while answer.status() == 503 {
        answer = server.get("/api/v1/robot/scene?pose=/more").send().await.unwrap();
    }
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn a_parameter_is_set_by_who_may_operate_and_sees_the_robot_as_it_is() {
    let server = TestServer::start();
    let listed = server.get_json("/api/v1/robot/parameters?node=/base").await;
    assert_eq!((&listed[0]["name"], &listed[0]["range"]["to"]), (&json!("speed"), &json!(1.0)), "{listed}");
    assert_eq!(refusal(server.get("/api/v1/robot/parameters?node=/gone")).await, (404, "not_found".to_owned()));
    let address = "/api/v1/robot/parameters";
    let wanted = |seen: Value, value: Value| json!({"seen": seen, "node": "/base", "name": "speed", "value": value});
    let post = |body: Value| server.post(address).json(&body);
    let answer = post(wanted(server.seen().await, json!(0.7))).send().await.unwrap();
    assert_eq!(answer.status(), 204);
    let refused = post(wanted(server.seen().await, json!(7))).send().await.unwrap();
    assert_eq!(refused.status(), 409);
    let refused: Value = refused.json().await.unwrap();
    assert!(refused["reason"].as_str().unwrap().contains("too fast for this floor"), "the node's own words: {refused}");
    let mut old = server.seen().await;
    old["frame"] = json!(1);
    assert_eq!(refusal(post(wanted(old, json!(0.1)))).await, (412, "stale".to_owned()));
    let unseen = json!({"node": "/base", "name": "speed", "value": 0.1});
    assert_eq!(refusal(post(unseen)).await.0, 400);
    let elsewhere = server.http.post(server.url(address)).header("Origin", "http://evil.example");
    let body = wanted(server.seen().await, json!(0.1));
    assert_eq!(refusal(elsewhere.json(&body)).await, (403, "cross_origin".to_owned()));
    let token = server.log_in("Watcher", Role::Watch).await;
    let as_watcher =
        post(wanted(server.seen().await, json!(0.1))).bearer_auth(&token).header("X-Forwarded-For", "10.0.0.9");
    assert_eq!(refusal(as_watcher).await, (403, "forbidden".to_owned()));
    // Values may be secrets.
    let looks = server.get("/api/v1/robot/parameters?node=/base").bearer_auth(&token);
    assert_eq!(refusal(looks).await, (403, "forbidden".to_owned()));
    // Nor while somebody else has the controls.
    server.port.change(|overview| overview.control.holder = Some("somebody else's".into()));
    assert_eq!(refusal(post(wanted(server.seen().await, json!(0.1)))).await, (409, "refused".to_owned()));
    let set = server.port.robot.set.lock().unwrap().clone();
    assert_eq!(set, [("/base".to_owned(), "speed".to_owned(), json!(0.7))]);
    let log = log();
    assert!(log.contains("set the parameter \\\"speed\\\" of \\\"/base\\\" to 0.7"), "{log}");
    assert!(log.contains("Watcher"), "{log}");
}
