//! Services and topics of any type, with peers in Python.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cortex_interfaces::{Interfaces, Message, MessageInterface, ReadOptions, WriteOptions};
use cortex_ros_client::dynamic::{Endpoints, ServiceClient};
use cortex_ros_client::testing::Peer;
use cortex_ros_client::{GraphWatch, QosProfile, RosError, ros_tests};
use serde_json::{Value, json};

use crate::support::{LIMIT, script};

/// The agent's side: clients of any type.
pub(crate) struct Clients {
    pub(crate) graph: GraphWatch,
    pub(crate) endpoints: Endpoints,
    pub(crate) interfaces: Arc<Interfaces>,
}

impl Clients {
    pub(crate) fn start() -> Self {
        let graph = GraphWatch::start("/me").unwrap();
        let endpoints = Endpoints::start(&graph).unwrap();
        Self { graph, endpoints, interfaces: Arc::new(Interfaces::from_environment()) }
    }

    /// A client of a service whose server is there.
    pub(crate) async fn service(&self, name: &str, interface: &str) -> ServiceClient {
        let client = self.client(name, interface).await;
        client.wait_for_server(LIMIT).await.unwrap();
        client
    }

    async fn client(&self, name: &str, interface: &str) -> ServiceClient {
        self.endpoints.service_client(name, &self.interfaces.service(interface).unwrap()).await.unwrap()
    }

    pub(crate) fn shut_down(&self) {
        self.endpoints.shut_down();
        self.graph.shut_down();
    }
}

pub(crate) fn message(interface: &Arc<MessageInterface>, value: &Value) -> Message {
    Message::from_json(interface, value, &ReadOptions::exact()).unwrap()
}

pub(crate) fn exact(message: &Message) -> Value {
    message.view().to_json(&WriteOptions::exact()).value
}

/// What rclpy says that it received.
async fn received(peer: &mut Peer, name: &str, interface: &Arc<MessageInterface>) -> Value {
    let line = peer.line(&format!("got {name} ")).await.unwrap();
    exact(&Message::from_serialized(interface, &STANDARD.decode(line).unwrap()).unwrap())
}

async fn peer() -> Peer {
    let mut peer = Peer::python(&script("services.py"), &[]).unwrap();
    peer.line("ready").await.unwrap();
    peer
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

fn resident_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn basic(extreme: bool) -> Value {
    json!({
        "bool_value": extreme, "byte_value": 255, "char_value": 127, "float32_value": if extreme { json!("-Infinity") } else { json!(1.5) },
        "float64_value": if extreme { json!("Infinity") } else { json!(0.1) }, "int8_value": -128, "uint8_value": 255, "int16_value": -32768,
        "uint16_value": 65535, "int32_value": i32::MIN, "uint32_value": u32::MAX, "int64_value": i64::MIN,
        "uint64_value": u64::MAX, "string_value": "ä ☃ \"quoted\"\n",
    })
}

ros_tests! {
    async fn requests_and_answers_of_hard_types_arrive_as_they_were_sent() {
        let clients = Clients::start();
        let mut peer = peer().await;
        let client = clients.service("/copy_basic", "test_msgs/srv/BasicTypes").await;
        for sent in [basic(true), basic(false)] {
            let answer = client.call(&message(&client.interface().request, &sent), LIMIT).await.unwrap();
            assert_eq!(received(&mut peer, "copy_basic", &client.interface().request).await, sent);
            assert_eq!(exact(&answer), sent);
        }

        let client = clients.service("/copy_arrays", "test_msgs/srv/Arrays").await;
        let mut element = basic(false);
        element.as_object_mut().unwrap().retain(|name, _| name != "string_value");
        let sent = message(&client.interface().request, &json!({
            "bool_values": [true, false, true], "byte_values": [0, 128, 255], "float64_values": [0.1, "Infinity", -0.0],
            "int64_values": [i64::MIN, 0, i64::MAX], "uint64_values": [0, 1, u64::MAX], "string_values": ["", "ß", "three"],
            "basic_types_values": [element, {}, {}],
        }));
        let answer = client.call(&sent, LIMIT).await.unwrap();
        assert_eq!(received(&mut peer, "copy_arrays", &client.interface().request).await, exact(&sent));
        assert_eq!(exact(&answer), exact(&sent));
        clients.shut_down();
    }

    async fn messages_of_topics_come_and_go_whatever_their_type_and_quality() {
        let clients = Clients::start();
        let mut peer = peer().await;
        let pose = json!({"header": {"frame_id": "map"}, "pose": {"position": {"x": 1.25, "y": -2.5}, "orientation": {"w": 1.0}}});
        let cases = [
            ("path", "nav_msgs/msg/Path", QosProfile::RELIABLE, json!({"header": {"stamp": {"sec": 7, "nanosec": 9}}, "poses": vec![pose; 500]})),
            ("image", "sensor_msgs/msg/Image", QosProfile::RELIABLE, json!({"height": 2, "width": 2, "encoding": "rgb8", "step": 6, "data": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255]})),
            ("nested", "test_msgs/msg/Nested", QosProfile::TRANSIENT_LOCAL, json!({"basic_types_value": {"uint64_value": u64::MAX}})),
            ("sequences", "test_msgs/msg/UnboundedSequences", QosProfile::RELIABLE, json!({"string_values": ["a", "", "ö"], "int64_values": [i64::MIN], "bool_values": [true]})),
            ("wide", "test_msgs/msg/WStrings", QosProfile::RELIABLE, json!({"wstring_value": "ハローワールド", "unbounded_sequence_of_wstrings": ["1", "zwei"]})),
        ];
        for (name, interface, quality, content) in cases {
            let interface = clients.interfaces.message(interface).unwrap();
            let mut subscription =
                clients.endpoints.subscribe(&format!("/{name}_out"), &interface, QosProfile::BEST_EFFORT).await.unwrap();
            let publisher = clients.endpoints.publisher(&format!("/{name}_in"), &interface, quality).await.unwrap();
            publisher.wait_for_reader(LIMIT).await.unwrap();
            let sent = message(&interface, &content);
            // Best effort, and the way back may not be there yet: said until it was heard.
            let came = async {
                loop {
                    publisher.publish(&sent).unwrap();
                    if let Ok(came) = tokio::time::timeout(Duration::from_millis(300), subscription.next()).await {
                        break came.unwrap();
                    }
                }
            };
            let came = tokio::time::timeout(LIMIT, came).await.unwrap();
            assert_eq!(received(&mut peer, name, &interface).await, exact(&sent));
            assert_eq!(exact(&came), exact(&sent));
        }
        clients.shut_down();
    }

    async fn who_comes_late_hears_the_last_word_of_a_latched_topic() {
        let clients = Clients::start();
        let interface = clients.interfaces.message("test_msgs/msg/Strings").unwrap();
        let publisher = clients.endpoints.publisher("/state", &interface, QosProfile::TRANSIENT_LOCAL).await.unwrap();
        for word in ["first", "last"] {
            publisher.publish(&message(&interface, &json!({"string_value": word}))).unwrap();
        }
        let mut subscription = clients.endpoints.subscribe("/state", &interface, QosProfile::TRANSIENT_LOCAL).await.unwrap();
        let heard = tokio::time::timeout(LIMIT, subscription.next()).await.unwrap().unwrap();
        assert_eq!(exact(&heard)["string_value"], "last");

        // A slow reader: the oldest go, and are counted.
        let quality = QosProfile { depth: 1000, ..QosProfile::RELIABLE };
        let mut slow = clients.endpoints.subscribe("/flood", &interface, quality).await.unwrap();
        let flood = clients.endpoints.publisher("/flood", &interface, quality).await.unwrap();
        flood.wait_for_reader(LIMIT).await.unwrap();
        for number in 0..500 {
            flood.publish(&message(&interface, &json!({"string_value": number.to_string()}))).unwrap();
        }
        let mut heard: Vec<u64> = Vec::new();
        while heard.last() != Some(&499) {
            let next = tokio::time::timeout(LIMIT, slow.next()).await.unwrap().unwrap();
            heard.push(exact(&next)["string_value"].as_str().unwrap().parse().unwrap());
        }
        assert!(heard.is_sorted(), "{heard:?}");
        assert_eq!(heard.len() as u64 + slow.dropped(), 500);

        clients.shut_down();
        assert!(slow.next().await.is_none());
        assert!(matches!(flood.publish(&message(&interface, &json!({}))), Err(RosError::ShutDown)));
    }

    async fn late_double_and_missing_answers_each_have_one_outcome() {
        let clients = Clients::start();
        let mut peer = peer().await;
        let trigger = "std_srvs/srv/Trigger";
        let request = |client: &ServiceClient| Message::new(&client.interface().request);

        let never = clients.service("/never", trigger).await;
        let short = Duration::from_millis(200);
        let problem = never.call(&request(&never), short).await.unwrap_err();
        assert_eq!(problem.to_string(), "/never did not answer within 0.2 s");
        // What came of one client may be counted after what comes of the next.
        assert_eq!(peer.line("counted").await.unwrap(), "1");

        // What comes after the caller gave up is dropped, and is not taken for the answer to the next request.
        let late = clients.service("/late", trigger).await;
        assert!(matches!(late.call(&request(&late), short).await, Err(RosError::NoAnswer { .. })));
        let answer = late.call(&request(&late), LIMIT).await.unwrap();
        assert_eq!(exact(&answer)["message"], "3");

        let twice = clients.service("/twice", trigger).await;
        for number in 4..20 {
            let answer = twice.call(&request(&twice), LIMIT).await.unwrap();
            assert_eq!(exact(&answer)["message"], number.to_string());
        }

        // Many at a time on one client, though no more than the server keeps: each gets its own.
        let switch = clients.service("/switch", "std_srvs/srv/SetBool").await;
        for _ in 0..20 {
            let answers = (0..8).map(|number| {
                let on = number % 3 == 0;
                let sent = switch.send(&message(&switch.interface().request, &json!({"data": on}))).unwrap();
                async move { (on, sent.await.unwrap()) }
            });
            for (on, answer) in futures::future::join_all(answers).await {
                assert_eq!(exact(&answer), json!({"success": on, "message": if on { "on" } else { "off" }}));
            }
        }
        clients.shut_down();
    }

    async fn what_is_missing_or_wrong_is_named() {
        let clients = Clients::start();
        let client = clients.client("/nobody", "std_srvs/srv/SetBool").await;
        let problem = client.wait_for_server(Duration::from_millis(100)).await.unwrap_err();
        assert_eq!(problem.to_string(), "nothing offers /nobody (waited 0.1 s)");
        let other = clients.interfaces.service("std_srvs/srv/Trigger").unwrap();
        let problem = client.call(&Message::new(&other.request), LIMIT).await.unwrap_err();
        assert_eq!(problem.to_string(), "/nobody takes std_srvs/srv/SetBool_Request, not std_srvs/srv/Trigger_Request");
        for name in ["not a name", "", "/zero\0", "/ends/"] {
            let problem = clients.endpoints.service_client(name, &other).await.map(|_| ()).unwrap_err();
            assert!(matches!(problem, RosError::Endpoint { .. }), "{name}: {problem}");
        }
        let interface = clients.interfaces.message("test_msgs/msg/Strings").unwrap();
        let publisher = clients.endpoints.publisher("/unheard", &interface, QosProfile::RELIABLE).await.unwrap();
        let problem = publisher.wait_for_reader(Duration::from_millis(100)).await.unwrap_err();
        assert_eq!(problem.to_string(), "nothing reads /unheard (waited 0.1 s)");
        clients.shut_down();
    }

    async fn a_shutdown_ends_every_wait_and_handles_do_nothing_afterwards() {
        let clients = Clients::start();
        let _peer = peer().await;
        let never = clients.service("/never", "std_srvs/srv/Trigger").await;
        let nobody = clients.client("/nobody", "std_srvs/srv/Trigger").await;
        let request = Message::new(&never.interface().request);
        let answer = never.send(&request).unwrap();
        let server = tokio::spawn(async move { nobody.wait_for_server(LIMIT).await });
        let begun = Instant::now();
        clients.endpoints.shut_down();
        assert!(matches!(answer.await, Err(RosError::ShutDown)));
        assert!(matches!(server.await.unwrap(), Err(RosError::ShutDown)));
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert!(matches!(never.send(&request).map(|_| ()), Err(RosError::ShutDown)));
        let interface = Arc::clone(never.interface());
        let later = clients.endpoints.service_client("/late", &interface).await;
        assert!(matches!(later.map(|_| ()), Err(RosError::ShutDown)));
        clients.shut_down();
        assert!(matches!(Endpoints::start(&clients.graph).map(|_| ()), Err(RosError::ShutDown)));
    }

    async fn clients_that_are_dropped_leave_nothing_behind() {
        let clients = Clients::start();
        let _peer = peer().await;
        let switch = clients.service("/switch", "std_srvs/srv/SetBool").await;
        let on = message(&switch.interface().request, &json!({"data": true}));
        let make = async |count: usize| {
            for _ in 0..count {
                let client = clients.client("/switch", "std_srvs/srv/SetBool").await;
                client.wait_for_server(LIMIT).await.unwrap();
                client.call(&on, LIMIT).await.unwrap();
            }
        };
        make(100).await;
        let (threads_before, memory_before) = (threads(), resident_kib());
        make(500).await;
        // What a client leaves behind, 500 leave 500 times. The blocking pool of the runtime keeps a few threads for a while.
        assert!(threads() < threads_before + 20, "{threads_before} threads became {}", threads());
        let grown = resident_kib() - memory_before;
        assert!(grown < 8 * 1024, "500 clients left {grown} KiB");
        // The thread that waits still does, for those that are left.
        assert!(switch.call(&on, LIMIT).await.unwrap().view().boolean("success").unwrap());
        clients.shut_down();
    }
}
