//! The whole view before a real server: keys go in, pictures come out.

mod incident;
mod server;
mod terminal;

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use axum::http::StatusCode;
use cortex_protocol::question::ApprovalScope;
use cortex_protocol::{Answer, Command, MissionEvent};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use futures::stream;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use self::server::{Said, Server};
use crate::address::Address;
use crate::connection::{Begin, Connection, STOPS, UPDATES};
use crate::error::WatchError;
use crate::http::Http;
use crate::made;
use crate::model::Update;
use crate::plain::{Format, Line, Lines};
use crate::screen::Ink;
use crate::terminal::Picture;
use crate::view::{Edges, show};
use crate::wire::{Basis, Seen};

const PATIENCE: Duration = Duration::from_secs(10);

/// A person before the view.
struct Person {
    keys: mpsc::Sender<Event>,
    pictures: mpsc::Receiver<Picture>,
    showing: JoinHandle<Result<ExitCode, WatchError>>,
    connecting: JoinHandle<()>,
    /// Where incidents are saved.
    folder: tempfile::TempDir,
}

impl Drop for Person {
    fn drop(&mut self) {
        self.showing.abort();
        self.connecting.abort();
    }
}

impl Person {
    async fn before(server: &Server) -> Self {
        let (http, connection, updates, stops) = connect(server, Begin::WithMission);
        connection.check().await.unwrap();
        let (keys, pressed) = mpsc::channel(16);
        let (sender, pictures) = mpsc::channel(1);
        let pressed =
            stream::unfold(pressed, |mut pressed| async { Some((io::Result::Ok(pressed.recv().await?), pressed)) });
        let size = || Some(Rect::new(0, 0, 90, 40));
        let keys_of_view = Box::pin(pressed);
        let folder = tempfile::tempdir().unwrap();
        let edges = Edges {
            http,
            updates,
            stops,
            keys: keys_of_view,
            size,
            pictures: sender,
            ink: Ink::Plain,
            folder: folder.path().to_owned(),
        };
        let (showing, connecting) = (tokio::spawn(show(edges)), tokio::spawn(connection.run()));
        Self { keys, pictures, showing, connecting, folder }
    }

    async fn press(&self, key: impl Into<KeyEvent>) {
        self.keys.send(Event::Key(key.into())).await.unwrap();
    }

    async fn types(&self, text: &str) {
        for letter in text.chars() {
            self.press(KeyCode::Char(letter)).await;
        }
    }

    /// Waits until the screen shows that, and returns it.
    async fn sees(&mut self, text: &str) -> String {
        self.sees_that(&format!("'{text}'"), |screen| screen.contains(text)).await
    }

    /// Waits until the picture is live, and returns it.
    async fn sees_live(&mut self) -> String {
        self.sees_that("a live picture", |screen| screen.contains(" live") && !screen.contains("NOT LIVE")).await
    }

    async fn sees_that(&mut self, what: &str, is_meant: impl Fn(&str) -> bool) -> String {
        let mut last = String::new();
        let seen = async {
            loop {
                last = text_of(&self.pictures.recv().await.unwrap().cells);
                if is_meant(&last) {
                    return last.clone();
                }
            }
        };
        let seen = timeout(PATIENCE, seen).await;
        seen.unwrap_or_else(|_| panic!("{what} was not to be seen, but\n{last}"))
    }
}

fn text_of(buffer: &Buffer) -> String {
    let rows = buffer.content.chunks(usize::from(buffer.area.width));
    let line = |row: &[ratatui::buffer::Cell]| row.iter().map(ratatui::buffer::Cell::symbol).collect::<String>();
    rows.map(|row| line(row).trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

fn connect(server: &Server, begin: Begin) -> (Http, Connection, mpsc::Receiver<Update>, mpsc::Sender<()>) {
    let address: Address = server.address().to_string().parse().unwrap();
    let http = Http::new(address.clone(), None).unwrap();
    let (updates, updated) = mpsc::channel(UPDATES);
    let (stops, stopping) = mpsc::channel(STOPS);
    let connection = Connection::new(http.clone(), address, None, begin, updates, stopping).unwrap();
    (http, connection, updated, stops)
}

fn events() -> Vec<Value> {
    made::events().into_iter().map(|event| event.json).collect()
}

fn running(robot: &mut server::Robot) {
    robot.overview.missions = made::overview().missions;
    robot.basis = made::basis();
}

fn is_command(said: &Said) -> bool {
    matches!(said, Said::Command(_))
}

async fn command_of(server: &Server) -> (Command, Seen) {
    match server.heard(is_command).await {
        Said::Command(request) => (request.command, request.seen.unwrap()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_person_types_a_task_and_watches_it_from_its_first_event_to_its_report() {
    let server = Server::start().await;
    let mut person = Person::before(&server).await;
    assert!(person.sees_live().await.contains("No mission has run"));
    person.types("tBring me the red cup from the kitchen.").await;
    person.press(KeyCode::Enter).await;
    person.sees("The task was taken.").await;
    let (command, seen) = command_of(&server).await;
    let task = "Bring me the red cup from the kitchen.".to_owned();
    assert_eq!(command, Command::Submit { task, session: None });
    assert!(seen.frame > 100 && seen.frame <= server.frame() && seen.basis == Basis::default(), "{seen:?}");
    server.change(|robot| {
        running(robot);
        robot.events.extend(events());
    });
    let screen = person.sees("► 1 base.go_to").await;
    assert!(screen.contains("█████░░░░░░░ 40%") && screen.contains("in flight: base.go_to 7 s, 40%"), "{screen}");
    server.change(|robot| {
        let result = made::reference_events().last().unwrap()["data"]["payload"].clone();
        let payload: MissionEvent = serde_json::from_value(result).unwrap();
        robot.events.push(made::event(6, 12_000, "SUCCEEDED: I have the cup.", payload).json);
        robot.basis = Basis::default();
    });
    person.sees("SUCCEEDED · plan 1").await;
    person.press(KeyCode::Char('q')).await;
    let left = timeout(PATIENCE, &mut person.showing).await.unwrap().unwrap();
    assert_eq!(format!("{:?}", left.unwrap()), format!("{:?}", ExitCode::SUCCESS));
    assert!(!server.said().iter().any(|said| matches!(said, Said::SocketStop | Said::PostStop)), "leaving is no stop");
}

#[tokio::test]
async fn whoever_comes_late_sees_the_mission_from_its_beginning() {
    let server = Server::start().await;
    server.change(|robot| {
        running(robot);
        robot.events.extend(events());
    });
    let mut person = Person::before(&server).await;
    let screen = person.sees("► 1 base.go_to").await;
    assert!(screen.contains("task accepted: Bring me the red cup"), "{screen}");
    // The stream goes on behind the last event of the mission so far.
    server.heard(|said| *said == Said::Live(Some("e5".to_owned()))).await;
}

#[tokio::test]
async fn a_question_is_shown_exactly_and_approved_by_a_key() {
    let server = Server::start().await;
    let mut person = Person::before(&server).await;
    let open = made::approval(1, json!({"thing": "the red cup"}));
    let id = open.id.clone();
    server.change(|robot| {
        running(robot);
        robot.questions = vec![open];
        robot.answer = (StatusCode::OK, json!({"outcome": "answered", "question": id}));
    });
    let screen = person.sees("QUESTION").await;
    for part in
        [r#"step 4: arm.grasp {"thing":"the red cup"}"#, "MOVES", "arm, gripper", "why: The arm moves near", "y once"]
    {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    // Whoever presses a key before they can have read it has answered nothing.
    person.press(KeyCode::Char('y')).await;
    person.sees("only just appeared").await;
    // Time has to pass here: the question must have been looked at.
    tokio::time::sleep(Duration::from_millis(750)).await;
    assert!(!server.said().iter().any(is_command));
    person.press(KeyCode::Char('m')).await;
    let (command, seen) = command_of(&server).await;
    let answer = Answer::Approve { scope: ApprovalScope::Mission };
    assert_eq!((command, seen.basis), (Command::Answer { question: id, answer }, made::basis()));
    person.sees("The answer counts.").await;
}

#[tokio::test]
async fn a_key_stops_the_robot_on_the_open_stream_and_shows_what_still_moves() {
    let server = Server::start().await;
    let mut person = Person::before(&server).await;
    server.change(running);
    person.sees_live().await;
    person.sees("Bring me the red cup").await;
    person.press(KeyCode::Char('S')).await;
    let screen = person.sees("NOT STOPPED, may still move: base.go_to").await;
    assert!(screen.contains("STOPPED. One task was ended."), "{screen}");
    let stops: Vec<Said> = server.said().into_iter().filter(|said| !matches!(said, Said::Live(_))).collect();
    assert_eq!(stops, [Said::SocketStop]);
    // It goes on after a confirmation.
    server.change(|robot| robot.answer = (StatusCode::OK, json!({"outcome": "resumed", "was_stopped": true})));
    person.types("r").await;
    person.sees("Take tasks again?").await;
    person.types("y").await;
    let (command, seen) = command_of(&server).await;
    assert_eq!((command, seen.basis.stops, seen.basis.stopped), (Command::Resume, 1, true));
    person.sees("Tasks are taken again.").await;
}

#[tokio::test]
async fn a_stop_that_the_stream_does_not_answer_goes_by_itself() {
    let server = Server::start().await;
    let mut person = Person::before(&server).await;
    server.change(|robot| robot.hears_socket = false);
    person.sees_live().await;
    person.press(KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL)).await;
    server.heard(|said| *said == Said::SocketStop).await;
    server.heard(|said| *said == Said::PostStop).await;
    person.sees("STOPPED. One task was ended.").await;
}

#[tokio::test]
async fn before_a_frozen_picture_only_stop_works_and_goes_by_itself() {
    let server = Server::start().await;
    server.change(running);
    let mut person = Person::before(&server).await;
    person.sees_live().await;
    server.change(|robot| robot.is_live = false);
    person.sees("FROZEN: no news from the robot").await;
    person.press(KeyCode::Char('c')).await;
    person.sees("The picture is frozen, so this key is locked.").await;
    person.press(KeyCode::Char('!')).await;
    server.heard(|said| *said == Said::PostStop).await;
    person.sees("NOT STOPPED, may still move: base.go_to").await;
    assert!(!server.said().iter().any(|said| is_command(said) || *said == Said::SocketStop));
}

#[tokio::test]
async fn a_command_on_an_old_picture_is_refused_and_the_reason_is_shown() {
    let server = Server::start().await;
    let mut person = Person::before(&server).await;
    server.change(|robot| {
        running(robot);
        let reason = "Another mission or another plan runs since you looked.";
        robot.answer = (StatusCode::PRECONDITION_FAILED, json!({"kind": "changed", "reason": reason}));
    });
    person.sees_live().await;
    person.sees("Bring me the red cup").await;
    person.types("c").await;
    person.sees("Cancel this mission?").await;
    server.change(|robot| robot.basis.plan = 2);
    person.types("y").await;
    let (command, seen) = command_of(&server).await;
    assert_eq!((command, seen.basis.plan), (Command::Cancel { mission: made::MISSION.into() }, 1));
    person.sees("Refused: Another mission or another plan runs since you looked.").await;
}

#[tokio::test]
async fn a_connection_that_breaks_comes_back_without_losing_or_repeating_an_event() {
    let server = Server::start().await;
    let mut events = events();
    let rest = events.split_off(3);
    server.change(|robot| {
        running(robot);
        robot.events = events;
    });
    let mut person = Person::before(&server).await;
    assert!(person.sees_live().await.contains("plan 1: 1. base.go_to"));
    server.change(|robot| {
        robot.generation += 1;
        robot.events.extend(rest);
    });
    person.sees("NO CONNECTION").await;
    let screen = person.sees("in flight: base.go_to 7 s").await;
    for text in ["task accepted", "planning (turn 1)", "plan 1: 1.", ": started", "in flight"] {
        assert_eq!(screen.matches(text).count(), 1, "{text}: {screen}");
    }
    server.heard(|said| *said == Said::Live(Some("e3".to_owned()))).await;
}

#[tokio::test]
async fn lines_are_complete_across_a_broken_connection() {
    let server = Server::start().await;
    let (_http, connection, mut updates, _stops) = connect(&server, Begin::Now);
    let connecting = tokio::spawn(connection.run());
    let mut lines = Lines::new(Format::Json);
    let mut ids: Vec<String> = Vec::new();
    let events = made::reference_events();
    let mut sent = 0;
    while ids.len() < events.len() {
        let update = timeout(PATIENCE, updates.recv()).await.unwrap().unwrap();
        let is_frame = matches!(update, Update::Frame(_));
        for line in lines.take(&update) {
            if let Line::Out(line) = line {
                ids.push(serde_json::from_str::<Value>(&line).unwrap()["id"].as_str().unwrap().to_owned());
            }
        }
        // The next ones come when these were seen, and the connection breaks with each fourth.
        if is_frame && ids.len() == sent {
            let next = events[sent..(sent + 4).min(events.len())].to_vec();
            sent += next.len();
            server.change(|robot| {
                robot.events.extend(next);
                robot.generation += u32::from(sent % 8 == 0);
            });
        }
    }
    let expected: Vec<&str> = events.iter().map(|event| event["id"].as_str().unwrap()).collect();
    assert_eq!(ids, expected);
    drop(updates);
    timeout(PATIENCE, connecting).await.unwrap().unwrap();
}

#[tokio::test]
async fn where_no_cortex_answers_the_error_says_what_to_do() {
    let server = Server::start().await;
    let (_, connection, ..) = connect(&server, Begin::Now);
    drop(server);
    tokio::task::yield_now().await;
    let error = connection.check().await.unwrap_err();
    assert!(matches!(error, WatchError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("Start one with `cortex run`"), "{error}");
}
