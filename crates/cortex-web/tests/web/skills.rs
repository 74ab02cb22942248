//! Skills: read by everybody, decided upon by who administers, and only as they were read.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use cortex_core::SkillPort;
use cortex_protocol::skill_view::{SkillCounts, SkillDecision, SkillDigest, SkillStanding, SkillView, SkillsView};
use cortex_protocol::{CommandError, CommandErrorKind, Role};
use serde_json::{Value, json};

use crate::support::{TestServer, log, refusal};

const NAME: &str = "learned-tour";

/// A robot with one skill that it has learned.
struct OneSkill {
    digest: Mutex<SkillDigest>,
    done: Mutex<Vec<String>>,
}

impl OneSkill {
    /// Puts it behind a page.
    fn behind(server: &TestServer) -> Arc<Self> {
        let skills = Arc::new(Self { digest: Mutex::new(SkillDigest(1)), done: Mutex::default() });
        *server.port.skills.lock().unwrap() = Some(Arc::clone(&skills) as Arc<dyn SkillPort>);
        skills
    }

    fn check(&self, name: &str, digest: SkillDigest) -> Result<(), CommandError> {
        let error = |kind, reason: &str| Err(CommandError::new(kind, reason));
        match name {
            NAME if digest == *self.digest.lock().unwrap() => Ok(()),
            NAME => error(CommandErrorKind::Changed, "it was changed since you saw it"),
            _ => error(CommandErrorKind::NotFound, "there is none"),
        }
    }

    fn done(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }
}

#[async_trait]
impl SkillPort for OneSkill {
    async fn skills(&self) -> Result<SkillsView, CommandError> {
        let skill = SkillView {
            name: NAME.to_owned(),
            digest: *self.digest.lock().unwrap(),
            description: "A tour.".to_owned(),
            standing: SkillStanding::Proposed,
            is_learned: true,
            phrases: Vec::new(),
            triggers: Vec::new(),
            steps: Vec::new(),
            counts: SkillCounts::default(),
        };
        Ok(SkillsView { skills: vec![skill], troubles: Vec::new() })
    }

    async fn text(&self, name: &str, digest: SkillDigest) -> Result<String, CommandError> {
        self.check(name, digest).map(|()| "---\nname: learned-tour\n".to_owned())
    }

    async fn decide(&self, name: &str, seen: SkillDigest, decision: SkillDecision) -> Result<(), CommandError> {
        self.check(name, seen)?;
        self.done.lock().unwrap().push(format!("{decision:?} {name}"));
        Ok(())
    }

    async fn forget_counts(&self, name: Option<&str>) -> Result<(), CommandError> {
        self.done.lock().unwrap().push(format!("forget {}", name.unwrap_or("all")));
        Ok(())
    }
}

/// Status and kind of what comes of a request by somebody who looks again for as long as the view is too old.
async fn act(server: &TestServer, path: &str, mut body: Value) -> (u16, String) {
    loop {
        body["seen"] = server.seen().await;
        let answer = server.post(path).json(&body).send().await.unwrap();
        let status = answer.status().as_u16();
        let error: Value = answer.json().await.unwrap_or_default();
        match error["kind"].as_str().unwrap_or_default() {
            "stale" => {}
            kind => return (status, kind.to_owned()),
        }
    }
}

#[tokio::test]
async fn a_decision_counts_for_the_text_that_its_sender_has_read() {
    let server = TestServer::start();
    let skills = OneSkill::behind(&server);
    let listed = server.get_json("/api/v1/skills").await;
    let digest = listed["skills"][0]["digest"].as_str().unwrap().to_owned();
    assert_eq!(digest, format!("{:032x}", 1));
    let text = server.get_json(&format!("/api/v1/skills/text?name={NAME}&digest={digest}")).await;
    assert_eq!(text, json!({"text": "---\nname: learned-tour\n"}));
    let decide = async |body: Value| act(&server, "/api/v1/skills/decide", body).await;
    for hostile in [
        json!({"name": NAME, "decision": "accept"}),
        json!({"name": NAME, "decision": "accept", "digest": null}),
        json!({"name": NAME, "decision": "accept", "digest": ""}),
        json!({"name": NAME, "decision": "accept", "digest": 1}),
        json!({"name": NAME, "decision": "accept", "digest": &digest[1..]}),
        json!({"name": NAME, "decision": "accept", "digest": format!("+{}", &digest[1..])}),
    ] {
        assert_eq!(decide(hostile.clone()).await, (400, "invalid".to_owned()), "{hostile}");
    }
    let accept = json!({"name": NAME, "decision": "accept", "digest": digest});
    *skills.digest.lock().unwrap() = SkillDigest(2);
    assert_eq!(decide(accept.clone()).await, (412, "changed".to_owned()), "changed in between");
    let path = format!("/api/v1/skills/text?name={NAME}&digest={digest}");
    assert_eq!(refusal(server.get(&path)).await, (412, "changed".to_owned()));
    let mut other = accept.clone();
    other["name"] = json!("../learned-tour");
    assert_eq!(decide(other).await, (404, "not_found".to_owned()));
    assert!(skills.done().is_empty());
    *skills.digest.lock().unwrap() = SkillDigest(1);
    assert_eq!(decide(accept).await.0, 204);
    assert_eq!(skills.done(), ["Accept learned-tour"]);
    assert!(log().contains(&format!("accept the learned skill \\\"{NAME}\\\" with the digest {digest}")), "{}", log());
}

#[tokio::test]
async fn the_text_of_a_skill_is_asked_for_by_its_name_and_its_digest() {
    let server = TestServer::start();
    OneSkill::behind(&server);
    for query in ["", "?name=learned-tour", "?name=learned-tour&digest=1", "?digest=00000000000000000000000000000001"] {
        let refused = refusal(server.get(&format!("/api/v1/skills/text{query}"))).await;
        assert_eq!(refused, (400, "invalid".to_owned()), "{query}");
    }
    let digest = format!("{:032x}", 1);
    for name in ["tour", "..%2Flearned-tour", &"x".repeat(5_000)] {
        let refused = refusal(server.get(&format!("/api/v1/skills/text?name={name}&digest={digest}"))).await;
        assert_eq!(refused, (404, "not_found".to_owned()), "{name}");
    }
}

#[tokio::test]
async fn what_is_counted_is_forgotten_of_what_is_named_and_never_of_all_by_accident() {
    let server = TestServer::start();
    let skills = OneSkill::behind(&server);
    for hostile in [json!(null), json!({}), json!({"skill": null}), json!("skill"), json!({"skill": "a", "all": null})]
    {
        let body = json!({"seen": server.seen().await, "counts": hostile});
        let refused = refusal(server.post("/api/v1/skills/forget").json(&body)).await;
        assert_eq!(refused, (400, "invalid".to_owned()), "{hostile}");
    }
    let without = json!({"seen": server.seen().await});
    assert_eq!(refusal(server.post("/api/v1/skills/forget").json(&without)).await, (400, "invalid".to_owned()));
    let mut old = server.seen().await;
    old["frame"] = json!(old["frame"].as_u64().unwrap() - 1_000_000);
    let stale = json!({"seen": old, "counts": "all"});
    assert_eq!(refusal(server.post("/api/v1/skills/forget").json(&stale)).await, (412, "stale".to_owned()));
    assert!(skills.done().is_empty());
    for counts in [json!({"skill": NAME}), json!("all")] {
        assert_eq!(act(&server, "/api/v1/skills/forget", json!({"counts": counts})).await.0, 204);
    }
    assert_eq!(skills.done(), ["forget learned-tour", "forget all"]);
    assert!(log().contains("what=\"forget what is counted of all skills\""), "{}", log());
}

#[tokio::test]
async fn only_who_administers_decides_upon_a_learned_skill_or_forgets_what_is_counted() {
    let server = TestServer::start();
    let skills = OneSkill::behind(&server);
    let digest = format!("{:032x}", 1);
    for role in [Role::Watch, Role::Operate] {
        let token = server.log_in(&format!("{role:?}"), role).await;
        let seen = server.seen().await;
        for (path, body) in [
            ("decide", json!({"seen": seen, "name": NAME, "digest": digest, "decision": "accept"})),
            ("forget", json!({"seen": seen, "counts": "all"})),
        ] {
            let request = server.post(&format!("/api/v1/skills/{path}")).bearer_auth(&token).json(&body);
            assert_eq!(refusal(request).await, (403, "forbidden".to_owned()), "{role:?} {path}");
        }
        let path = format!("/api/v1/skills/text?name={NAME}&digest={digest}");
        assert_eq!(server.get(&path).bearer_auth(&token).send().await.unwrap().status(), 200, "who watches reads");
    }
    assert!(skills.done().is_empty());
}

#[tokio::test]
async fn a_robot_without_skills_says_so() {
    let server = TestServer::start();
    let digest = format!("{:032x}", 1);
    let body = json!({"name": NAME, "digest": digest, "decision": "accept"});
    assert_eq!(act(&server, "/api/v1/skills/decide", body).await, (404, "not_found".to_owned()));
    assert_eq!(refusal(server.get("/api/v1/skills")).await, (404, "not_found".to_owned()));
}
