//! People who log in with a name and a password.

use cortex_protocol::Role;
use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::support::{Live, TestServer, log, refusal};

const PASSWORD: &str = "correct horse battery";

async fn make(server: &TestServer, name: &str, role: &str) {
    let body = json!({"name": name, "role": role, "password": PASSWORD});
    assert_eq!(server.post("/api/v1/users").json(&body).send().await.unwrap().status(), 204);
}

fn log_in(server: &TestServer, user: &str, password: &str) -> RequestBuilder {
    server.post("/login").json(&json!({"user": user, "password": password, "name": "Tablet"}))
}

#[tokio::test]
async fn a_user_logs_in_with_a_password_and_acts_under_that_name() {
    let server = TestServer::start();
    assert!(!server.get("/login").send().await.unwrap().text().await.unwrap().contains("action=\"/login\" >"));
    make(&server, "ada", "operate").await;
    assert_eq!(server.get_json("/api/v1/users").await, json!([{"name": "ada", "role": "operate"}]));
    assert!(server.get("/login").send().await.unwrap().text().await.unwrap().contains("action=\"/login\" >"));
    let answer: Value = log_in(&server, " Ada ", PASSWORD).send().await.unwrap().json().await.unwrap();
    assert_eq!((answer["name"].as_str(), answer["role"].as_str()), (Some("Tablet"), Some("operate")));
    let token = answer["token"].as_str().unwrap();
    let task = json!({"id": format!("{:032x}", 1), "command": {"command": "submit", "task": "go", "session": null}});
    let sent = server.post("/api/v1/commands").bearer_auth(token).json(&task).send().await.unwrap();
    assert_eq!(sent.status(), 200);
    assert_eq!(server.port.executed()[0].1.origin.client, "ada");
    let session = &server.get_json("/api/v1/sessions").await[0];
    assert_eq!((session["user"].as_str(), session["name"].as_str()), (Some("ada"), Some("Tablet")));
    assert!(!log().contains(PASSWORD));
}

#[tokio::test]
async fn a_browser_logs_in_with_a_password() {
    let server = TestServer::start();
    make(&server, "grace", "watch").await;
    let form = |password| server.post("/login").form(&[("user", "grace"), ("password", password)]);
    let wrong = form("wrong").send().await.unwrap();
    assert_eq!(wrong.status(), 403);
    assert!(wrong.text().await.unwrap().contains("The name or the password is wrong"));
    let answer = form(PASSWORD).send().await.unwrap();
    assert_eq!(answer.status(), 303);
    assert!(answer.headers()["set-cookie"].to_str().unwrap().contains("HttpOnly"));
}

#[tokio::test]
async fn whoever_is_removed_is_out_also_where_that_can_not_be_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::with_state(folder.path().join("web"));
    make(&server, "ada", "operate").await;
    let answer: Value = log_in(&server, "ada", PASSWORD).send().await.unwrap().json().await.unwrap();
    let token = answer["token"].as_str().unwrap();
    // No file of this name can be made.
    std::fs::create_dir_all(folder.path().join("web/users.new/in the way")).unwrap();
    let removed = server.http.delete(server.url("/api/v1/users/ada")).header("Origin", server.url(""));
    assert_eq!(refusal(removed).await, (503, "unavailable".to_owned()), "it is told");
    assert_eq!(server.get("/api/v1/overview").bearer_auth(token).send().await.unwrap().status(), 401);
}

#[tokio::test]
async fn whoever_was_shut_out_makes_no_users_with_requests_that_still_wait() {
    let server = TestServer::start();
    let token = server.log_in("Rogue", Role::Administer).await;
    let requests = (0..40).map(|number| {
        let body = json!({"name": format!("rogue{number}"), "role": "administer", "password": PASSWORD});
        tokio::spawn(server.post("/api/v1/users").bearer_auth(&token).json(&body).send())
    });
    let requests: Vec<_> = requests.collect();
    let count = async || server.get_json("/api/v1/users").await.as_array().unwrap().len();
    while count().await == 0 {}
    server.revoke("Rogue").await;
    let before = count().await;
    for request in requests {
        request.await.unwrap().unwrap();
    }
    // Two are made at a time.
    let after = count().await;
    assert!(after <= before + 2, "{before} users, and later {after}");
}

#[tokio::test]
async fn a_user_who_is_taken_out_of_the_file_by_hand_is_out_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("web");
    let server = TestServer::with_state(state.clone());
    make(&server, "ada", "operate").await;
    let answer: Value = log_in(&server, "ada", PASSWORD).send().await.unwrap().json().await.unwrap();
    let of_ada = answer["token"].as_str().unwrap();
    let of_device = server.log_in("Wall display", Role::Watch).await;
    server.server.shut_down().await;
    std::fs::write(state.join("users.json"), "[]").unwrap();
    let server = TestServer::with_state(state);
    let status = async |token: &str| server.get("/api/v1/overview").bearer_auth(token).send().await.unwrap().status();
    assert_eq!(status(of_ada).await, 401);
    assert_eq!(status(&of_device).await, 200, "a device is no user");
}

#[tokio::test]
async fn whoever_is_removed_is_out_at_once_and_stays_out() {
    let folder = tempfile::tempdir().unwrap();
    let server = TestServer::with_state(folder.path().join("web"));
    make(&server, "ada", "operate").await;
    make(&server, "bob", "operate").await;
    let mut tokens = Vec::new();
    for user in ["ada", "bob"] {
        let answer: Value = log_in(&server, user, PASSWORD).send().await.unwrap().json().await.unwrap();
        tokens.push(answer["token"].as_str().unwrap().to_owned());
    }
    let bearer = [("authorization", format!("Bearer {}", tokens[0]))];
    let mut page = Live::connect_as(server.address(), None, &bearer).await.unwrap();
    page.next().await.unwrap();
    let remove =
        |user: &str| server.http.delete(server.url(&format!("/api/v1/users/{user}"))).header("Origin", server.url(""));
    assert_eq!(remove("ada").send().await.unwrap().status(), 204);
    assert!(page.end().await.contains("session was ended"));
    assert_eq!(refusal(remove("ada")).await, (404, "not_found".to_owned()));
    server.server.shut_down().await;
    let server = TestServer::with_state(folder.path().join("web"));
    assert_eq!(refusal(log_in(&server, "ada", PASSWORD)).await, (403, "forbidden".to_owned()));
    assert_eq!(refusal(server.get("/api/v1/overview").bearer_auth(&tokens[0])).await.0, 401);
    assert_eq!(server.get("/api/v1/overview").bearer_auth(&tokens[1]).send().await.unwrap().status(), 200);
    assert_eq!(log_in(&server, "bob", PASSWORD).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn passwords_are_tried_a_few_times_only() {
    let server = TestServer::start();
    make(&server, "ada", "watch").await;
    for user in ["ada", "eve", "ada", "eve", "ada"] {
        assert_eq!(refusal(log_in(&server, user, "wrong password")).await, (403, "forbidden".to_owned()));
    }
    assert_eq!(refusal(log_in(&server, "ada", PASSWORD)).await, (429, "too_many".to_owned()));
    // A code is another way in.
    server.log_in("phone", Role::Watch).await;
}

#[tokio::test]
async fn users_are_for_administrators_and_well_formed() {
    let server = TestServer::start();
    let token = server.log_in("phone", Role::Operate).await;
    let ada = json!({"name": "ada", "role": "watch", "password": PASSWORD});
    let forbidden = (403, "forbidden".to_owned());
    assert_eq!(refusal(server.get("/api/v1/users").bearer_auth(&token)).await, forbidden);
    assert_eq!(refusal(server.post("/api/v1/users").bearer_auth(&token).json(&ada)).await, forbidden);
    let delete = server.http.delete(server.url("/api/v1/users/ada")).bearer_auth(&token);
    assert_eq!(refusal(delete).await, forbidden);
    let invalid = (400, "invalid".to_owned());
    for body in [
        json!({"name": "a b", "role": "watch", "password": PASSWORD}),
        json!({"name": "ada", "role": "watch", "password": "short"}),
        json!({"name": "ada", "role": "owner", "password": PASSWORD}),
        json!({"name": "ada", "role": "watch"}),
    ] {
        assert_eq!(refusal(server.post("/api/v1/users").json(&body)).await, invalid, "{body}");
    }
    assert_eq!(refusal(server.post("/login").json(&json!({"name": "a"}))).await, invalid);
    let both = json!({"code": "AAAA-AAAA", "user": "ada", "password": PASSWORD});
    assert_eq!(refusal(server.post("/login").json(&both)).await, invalid);
    let foreign = server.http.post(server.url("/api/v1/users")).header("Origin", "http://evil.example").json(&ada);
    assert_eq!(refusal(foreign).await, (403, "cross_origin".to_owned()));
    make(&server, "ada", "watch").await;
    assert_eq!(refusal(server.post("/api/v1/users").json(&ada)).await, (409, "refused".to_owned()));
}
