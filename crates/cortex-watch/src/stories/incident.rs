//! An incident is saved: by a key of the view, and by `cortex incident`.

use std::io::{Read as _, repeat};
use std::path::{Path, PathBuf};

use crossterm::event::KeyCode;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::server::Server;
use super::{Person, running};
use crate::incident::{IncidentArguments, save_named};
use crate::made;

/// An archive as Cortex makes it.
fn archive() -> Vec<u8> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, bytes) in [("README.txt", 10), ("topics/topics_0.mcap", 2_500_000)] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes);
        archive.append_data(&mut header, format!("incident-m/{name}"), repeat(7).take(bytes)).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

fn arguments(server: &Server, mission: Option<&str>, output: &Path) -> IncidentArguments {
    let output: Option<PathBuf> = Some(output.to_owned());
    IncidentArguments { mission: mission.map(str::to_owned), output, address: server.address().to_string() }
}

fn files(folder: &Path) -> Vec<String> {
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    files.sort();
    files
}

#[tokio::test]
async fn the_command_saves_the_last_mission_and_says_what_is_in_the_file() {
    let (server, folder) = (Server::start().await, tempfile::tempdir().unwrap());
    let path = folder.path().join("a.tar.gz");
    let problem = save_named(&arguments(&server, None, &path)).await.unwrap_err().to_string();
    assert!(problem.contains("has run no mission") && problem.contains("cortex tape list"), "{problem}");
    server.change(|robot| {
        running(robot);
        robot.archive = Some(archive());
    });
    let saved = save_named(&arguments(&server, None, &path)).await.unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), archive());
    let said = saved.to_string();
    assert!(said.starts_with(path.to_str().unwrap()), "{said}");
    assert!(said.contains("README.txt") && said.contains("10 B"), "{said}");
    assert!(said.contains("topics/topics_0.mcap") && said.contains("2.5 MB"), "{said}");
    // What is there is never written over.
    let problem = save_named(&arguments(&server, Some(made::MISSION), &path)).await.unwrap_err().to_string();
    assert!(problem.contains("a.tar.gz can't be written: it exists already"), "{problem}");
    assert_eq!(files(folder.path()), ["a.tar.gz"]);
}

#[tokio::test]
async fn an_archive_that_breaks_off_or_is_refused_leaves_no_file() {
    let (server, folder) = (Server::start().await, tempfile::tempdir().unwrap());
    let path = folder.path().join("a.tar.gz");
    let problem = save_named(&arguments(&server, Some("m"), &path)).await.unwrap_err().to_string();
    assert!(problem.contains("There are no events of this mission."), "{problem}");
    let whole = archive();
    for bytes in [whole.len() - 1, whole.len() / 2, 0] {
        let part = whole[..bytes].to_vec();
        server.change(|robot| robot.archive = Some(part));
        let problem = save_named(&arguments(&server, Some("m"), &path)).await.unwrap_err().to_string();
        assert!(problem.contains("did not come to its end"), "{bytes}: {problem}");
    }
    assert_eq!(files(folder.path()), Vec::<String>::new());
}

#[tokio::test]
async fn one_key_saves_the_incident_also_while_the_picture_is_frozen() {
    let server = Server::start().await;
    let mut person = Person::before(&server).await;
    person.sees_live().await;
    person.press(KeyCode::Char('i')).await;
    person.sees("There is no mission to save an incident of.").await;
    server.change(|robot| {
        running(robot);
        robot.archive = Some(archive());
    });
    person.sees("Bring me the red cup").await;
    server.change(|robot| robot.is_live = false);
    person.sees("FROZEN: no news from the robot").await;
    let name = format!("incident-{}.tar.gz", made::MISSION);
    person.press(KeyCode::Char('i')).await;
    person.sees("The incident is in").await;
    assert_eq!(std::fs::read(person.folder.path().join(&name)).unwrap(), archive());
    // The next one has a name of its own.
    person.press(KeyCode::Char('i')).await;
    person.sees("is being saved").await;
    person.sees("The incident is in").await;
    assert_eq!(files(person.folder.path()), [name.replace(".tar.gz", "-2.tar.gz"), name]);
}
