//! `cortex knowledge` with documents on a server of Qdrant, in whose place a server of tests answers.
#![cfg(feature = "qdrant")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use cortex_testkit::qdrant::Server;
use qdrant_client::qdrant::Value;

const KEY: &str = "hunter2-hunter2";

/// A robot with its configuration in a folder.
struct Robot {
    folder: tempfile::TempDir,
}

impl Robot {
    fn new(name: &str, server: &str, key: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let key_file = folder.path().join("key");
        std::fs::write(&key_file, format!("{key}\n")).unwrap();
        let configuration = format!(
            "robot = \"{name}\"\n[knowledge]\nstore = \"qdrant:{server}\"\ncollection_name = \"house\"\n\
             [keys.\"{server}/\"]\nkey_file = \"{}\"\n",
            key_file.display()
        );
        std::fs::write(folder.path().join("cortex.toml"), configuration).unwrap();
        Self { folder }
    }

    /// The status of `cortex knowledge`, and what it prints.
    fn knowledge(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cortex"));
        command.arg("knowledge").args(arguments).env_clear().env("HOME", self.path()).stdin(Stdio::null());
        command.env("CORTEX_CONFIG", self.path().join("cortex.toml")).current_dir(self.path());
        let Output { status, stdout, stderr } = command.output().unwrap();
        (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn documents_are_added_listed_found_and_removed_on_a_server() {
    let server = Server::start(Some(KEY)).await.unwrap();
    let (one, other) = (Robot::new("one", &server.url(), KEY), Robot::new("other", &server.url(), KEY));
    let place = format!("the collection 'house' of {}, for the robot 'one'", server.url());
    assert_eq!(
        one.knowledge(&["list"]),
        (Some(0), format!("No documents yet; `cortex knowledge add FILE` keeps them in {place}.\n"))
    );
    std::fs::write(one.path().join("kettle.md"), "# Descaling\n\nFill the kettle with vinegar.\n").unwrap();
    let added = |counts| (Some(0), format!("{counts}, 0 not read; kept in {place}\n"));
    assert_eq!(one.knowledge(&["add", "kettle.md"]), added("1 added, 0 replaced, 0 unchanged"));
    assert_eq!(one.knowledge(&["add", "kettle.md"]), added("0 added, 0 replaced, 1 unchanged"));
    assert_eq!(one.knowledge(&["list"]), (Some(0), "kettle.md  1 passage\n".to_owned()));
    let (code, found) = one.knowledge(&["search", "how", "do", "I", "descale", "it?"]);
    assert_eq!((code, found.contains("100 %  kettle.md, Descaling")), (Some(0), true), "{found}");
    let nothing = (Some(1), "Nothing about that is in the documents.\n".to_owned());
    assert_eq!(other.knowledge(&["search", "descaling"]), nothing, "it is another robot's");
    let robots = server.state.spoil("house", "robot", "one", |point| {
        assert_eq!(point.payload.get("document"), Some(&Value::from("kettle.md")));
    });
    assert_eq!(robots, 2, "the document and its passage");
    assert_eq!(one.knowledge(&["remove", "kettle.md"]), (Some(0), "removed: kettle.md\n".to_owned()));
    assert_eq!(one.knowledge(&["remove", "kettle.md"]).0, Some(1));
    assert_eq!(server.state.spoil("house", "robot", "one", |_| ()), 0, "nothing is left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_the_server_is_told_with_what_to_do() {
    let server = Server::start(Some(KEY)).await.unwrap();
    let url = server.url();
    let stranger = Robot::new("one", &url, "hunter3-hunter3");
    let (code, told) = stranger.knowledge(&["list"]);
    assert_eq!(code, Some(2));
    assert!(told.contains(&format!("{url} refuses the key; check the one that [keys] names for it")), "{told}");
    assert!(!told.contains("hunter"), "{told}");
    std::fs::remove_file(stranger.path().join("key")).unwrap();
    let (_, told) = stranger.knowledge(&["list"]);
    assert!(told.contains(&format!("configuration: keys.\"{url}\"")) && told.contains("can't be read"), "{told}");

    let robot = Robot::new("one", &url, KEY);
    server.stop().await;
    let (code, told) = robot.knowledge(&["search", "kettle"]);
    assert_eq!(code, Some(2));
    assert!(told.contains(&format!("{url} can't be reached: ")) && told.contains("Start the server"), "{told}");
}
