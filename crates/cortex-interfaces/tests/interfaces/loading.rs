//! Interfaces by name: found, loaded, described; or not, with what to do.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use cortex_interfaces::{AmentIndex, Arity, Choices, FieldKind, InterfaceError, Interfaces, MessageType};
use serde_json::json;

use crate::support::{all_names, interfaces, load, load_from};

fn lines(message_type: &MessageType) -> Vec<String> {
    let lines = message_type.fields.iter().map(|field| {
        let arity = match field.arity {
            Arity::One => String::new(),
            Arity::Array(count) => format!("[{count}]"),
            Arity::Sequence { bound: None } => "[]".to_owned(),
            Arity::Sequence { bound: Some(bound) } => format!("[<={bound}]"),
        };
        let default = field.default.as_ref().map(|value| format!(" {value}")).unwrap_or_default();
        format!("{}{arity} {}{default}", field.kind.name(), field.name)
    });
    lines.collect()
}

#[test]
fn every_installed_interface_can_be_loaded() {
    let names = all_names(interfaces().index());
    assert!(names.len() > 200, "only {} interfaces are installed", names.len());
    for name in names {
        assert_eq!(load(&name).message_type().name.to_string(), name);
    }
}

#[test]
fn a_type_is_described_as_its_file_was_written() {
    assert_eq!(
        lines(load("test_msgs/msg/Defaults").message_type()),
        [
            "bool bool_value true",
            "byte byte_value 50",
            "uint8 char_value 100",
            "float32 float32_value 1.125",
            "float64 float64_value 1.125",
            "int8 int8_value -50",
            "uint8 uint8_value 200",
            "int16 int16_value -1000",
            "uint16 uint16_value 2000",
            "int32 int32_value -30000",
            "uint32 uint32_value 60000",
            "int64 int64_value -40000000",
            "uint64 uint64_value 50000000",
        ]
    );
    let sequences = lines(load("test_msgs/msg/BoundedSequences").message_type());
    assert_eq!(sequences.len(), 32);
    assert_eq!(sequences[14], "test_msgs/msg/BasicTypes[<=3] basic_types_values");
    assert_eq!(sequences[28], "int64[<=3] int64_values_default [0,9223372036854775807,-9223372036854775808]");
    assert_eq!(sequences[30], r#"string[<=3] string_values_default ["","max value","min value"]"#);
    let strings = lines(load("test_msgs/msg/Strings").message_type());
    assert_eq!(strings[10], r#"string<=22 bounded_string_value_default4 "Hello'world!""#);
    let wide = lines(load("test_msgs/msg/WStrings").message_type());
    assert_eq!(wide[3], r#"wstring wstring_value_default3 "ハローワールド""#);
    assert_eq!(lines(load("test_msgs/msg/Empty").message_type()), [""; 0]);
    // A default that is zero is told by the file alone.
    assert_eq!(lines(load("geometry_msgs/msg/Quaternion").message_type())[0], "float64 x 0.0");
}

#[test]
fn constants_comments_and_choices_come_from_the_file() {
    let constants = load("test_msgs/msg/Constants");
    let named: Vec<String> = constants
        .message_type()
        .constants
        .iter()
        .map(|constant| format!("{} {}={}", constant.kind.name(), constant.name, constant.value))
        .collect();
    assert_eq!(named.len(), 13);
    assert_eq!(named[12], "uint64 UINT64_CONST=50000000");

    let battery = load("sensor_msgs/msg/BatteryState");
    let status = battery.message_type().field("power_supply_status").unwrap();
    let Choices::OneOf(choices) = &status.choices else { panic!("{:?}", status.choices) };
    assert_eq!(choices.len(), 5);
    assert_eq!(choices[4].name, "POWER_SUPPLY_STATUS_FULL");
    assert_eq!(status.description, "The charging status as reported. Values defined above");

    let fix = load("sensor_msgs/msg/NavSatStatus");
    assert!(matches!(fix.message_type().field("service").unwrap().choices, Choices::SumOf(_)));

    let set_bool = interfaces().service("std_srvs/srv/SetBool").unwrap();
    assert_eq!(
        set_bool.request.message_type().field("data").unwrap().description,
        "e.g. for hardware enabling / disabling"
    );
    assert_eq!(
        set_bool.response.message_type().field("success").unwrap().description,
        "indicate successful run of triggered service"
    );
    let pose = load("geometry_msgs/msg/PoseStamped");
    assert_eq!(pose.message_type().description, "A Pose with reference coordinate frame and timestamp");
}

#[test]
fn a_service_and_an_action_have_all_their_parts() {
    let service = interfaces().service("test_msgs/srv/BasicTypes").unwrap();
    assert_eq!(service.request.message_type().fields.len(), 14);
    assert!(!service.type_support.as_ptr().is_null());

    let action = interfaces().action("test_msgs/action/Fibonacci").unwrap();
    assert_eq!(lines(action.goal.message_type()), ["int32 order"]);
    assert_eq!(lines(action.result.message_type()), ["int32[] sequence"]);
    assert_eq!(
        lines(action.send_goal.request.message_type()),
        ["unique_identifier_msgs/msg/UUID goal_id", "test_msgs/action/Fibonacci_Goal goal"]
    );
    assert_eq!(
        lines(action.get_result.response.message_type()),
        ["int8 status", "test_msgs/action/Fibonacci_Result result"]
    );
    assert_eq!(
        lines(action.feedback_message.message_type()),
        ["unique_identifier_msgs/msg/UUID goal_id", "test_msgs/action/Fibonacci_Feedback feedback"]
    );
    assert!(!action.type_support.as_ptr().is_null());
    assert_eq!(action.goal.message_type().description, "goal definition");
}

#[test]
fn hashes_tell_types_apart() {
    let hash = |name: &str| load(name).type_support().hash().unwrap();
    let installed = std::fs::read_to_string(share("test_msgs/msg/BasicTypes.json")).unwrap();
    let description: serde_json::Value = serde_json::from_str(&installed).unwrap();
    let expected = description["type_hashes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|entry| entry["type_name"] == json!("test_msgs/msg/BasicTypes"))
        .unwrap()["hash_string"]
        .clone();
    assert_eq!(json!(hash("test_msgs/msg/BasicTypes")), expected);
    assert_ne!(hash("test_msgs/msg/BasicTypes"), hash("test_msgs/msg/Nested"));
    let service = interfaces().service("std_srvs/srv/SetBool").unwrap();
    assert!(service.type_support.hash().unwrap().starts_with("RIHS01_"));
    let action = interfaces().action("test_msgs/action/Fibonacci").unwrap();
    assert!(action.type_support.hash().unwrap().starts_with("RIHS01_"));
}

#[test]
fn one_type_is_loaded_once_from_many_threads() {
    let interfaces = Interfaces::from_environment();
    let first = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|index| {
                let names = ["nav_msgs/msg/Path", "nav_msgs/msg/Odometry"];
                let interfaces = &interfaces;
                scope.spawn(move || {
                    let other = load_from(interfaces, names[index % 2]);
                    (load_from(interfaces, "nav_msgs/msg/Path"), other)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap().0).collect::<Vec<_>>()
    });
    assert!(first.iter().all(|path| Arc::ptr_eq(path, &first[0])));
    // A message that is part of two others is one type.
    let pose = |name: &str| {
        let stamped = load_from(&interfaces, name);
        let FieldKind::Message(nested) = &stamped.message_type().field("pose").unwrap().kind else { panic!() };
        Arc::clone(nested)
    };
    assert!(Arc::ptr_eq(&pose("geometry_msgs/msg/PoseStamped"), &pose("geometry_msgs/msg/PoseWithCovariance")));
}

#[test]
fn what_is_not_there_says_what_to_do() {
    let error = |name: &str| interfaces().message(name).err().unwrap();
    assert!(matches!(error("no_such_msgs/msg/Any"), InterfaceError::PackageNotFound { .. }));
    let missing = error("std_msgs/msg/Any");
    assert!(
        missing.to_string().contains("without std_msgs/msg/Any (it has: std_msgs/msg/Bool, std_msgs/msg/Byte, "),
        "{missing}"
    );
    assert!(matches!(error("../../etc/msg/Any"), InterfaceError::InvalidName(_)));
    assert_eq!(
        error("std_srvs/srv/SetBool").to_string(),
        "std_srvs/srv/SetBool is not a msg interface; ask for a msg, or load it as what it is"
    );
    assert!(matches!(interfaces().action("test_msgs/srv/Empty").err().unwrap(), InterfaceError::WrongKind { .. }));
}

/// A prefix whose package `package` lists a message and has those libraries.
fn prefix(package: &str, libraries: &[(&str, &[u8])]) -> tempfile::TempDir {
    let prefix = tempfile::tempdir().unwrap();
    for (kind, text) in [("packages", ""), ("rosidl_interfaces", "msg/Any.msg\n")] {
        let folder = prefix.path().join("share/ament_index/resource_index").join(kind);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(package), text).unwrap();
    }
    let folder = prefix.path().join("lib");
    std::fs::create_dir_all(&folder).unwrap();
    for (kind, bytes) in libraries {
        std::fs::write(folder.join(format!("lib{package}__{kind}.so")), bytes).unwrap();
    }
    prefix
}

#[test]
fn a_library_that_is_missing_or_no_library_is_named() {
    let message = |prefix: &tempfile::TempDir, name: &str| {
        let interfaces = Interfaces::new(AmentIndex::new(vec![prefix.path().to_owned()]));
        interfaces.message(name).err().unwrap()
    };
    let missing = message(&prefix("absent_msgs", &[]), "absent_msgs/msg/Any");
    let InterfaceError::LibraryNotLoadable { path, .. } = &missing else { panic!("{missing}") };
    assert_eq!(path, &PathBuf::from("libabsent_msgs__rosidl_typesupport_introspection_c.so"));
    assert!(missing.to_string().contains("rebuild the package for this ROS 2"), "{missing}");

    let broken = prefix("broken_msgs", &[("rosidl_typesupport_introspection_c", b"not a library")]);
    let error = message(&broken, "broken_msgs/msg/Any");
    let InterfaceError::LibraryNotLoadable { path, reason } = &error else { panic!("{error}") };
    assert_eq!(path, &broken.path().join("lib/libbroken_msgs__rosidl_typesupport_introspection_c.so"));
    assert!(!reason.is_empty());
}

#[test]
fn a_library_without_the_type_is_named_with_the_symbol() {
    let library = |kind: &str| {
        let file = format!("lib/libstd_msgs__{kind}.so");
        let prefixes = interfaces().index().prefixes();
        std::fs::read(prefixes.iter().map(|prefix| prefix.join(&file)).find(|path| path.is_file()).unwrap()).unwrap()
    };
    let (support, description) = (library("rosidl_typesupport_c"), library("rosidl_typesupport_introspection_c"));
    let odd =
        prefix("odd_msgs", &[("rosidl_typesupport_c", &support), ("rosidl_typesupport_introspection_c", &description)]);
    let error = Interfaces::new(AmentIndex::new(vec![odd.path().to_owned()])).message("odd_msgs/msg/Any").err();
    assert_eq!(
        error.unwrap().to_string(),
        format!(
            "{} does not define rosidl_typesupport_c__get_message_type_support_handle__odd_msgs__msg__Any; rebuild the \
             package with rosidl_default_generators",
            odd.path().join("lib/libodd_msgs__rosidl_typesupport_c.so").display()
        )
    );
}

/// A file below `share` of the prefix that has it.
fn share(path: &str) -> PathBuf {
    let prefixes = interfaces().index().prefixes();
    prefixes.iter().map(|prefix| prefix.join("share").join(path)).find(|path| path.is_file()).unwrap()
}
