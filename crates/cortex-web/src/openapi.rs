//! The API as a document: OpenAPI 3.1, made from the very types.

use std::sync::LazyLock;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::Response;
use cortex_protocol::memory_view::{MemoryAnswer, MemoryForgotten, MemoryTask};
use cortex_protocol::overview::Overview;
use cortex_protocol::robot_view::{NodeParameter, RobotSources};
use cortex_protocol::skill_view::SkillsView;
use cortex_protocol::{CloudEvent, CommandOutcome, LogLine, OpenQuestion, RecordedMission, ToolSpec};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::access::{OpenPairing, ShownSession, ShownUser};
use crate::accounts::NewUser;
use crate::commands::CommandRequest;
use crate::error::ApiError;
use crate::login::{LogIn, LoggedIn, NewPairing, PairingCode};
use crate::memory::{Correction, ToForget};
use crate::robot::{NewValue, Scene};
use crate::seen::Seen;
use crate::skills::{CountsToForget, Deciding, Identity, WholeText};
use crate::webhooks::incoming::GivenTask;

/// `GET /api/v1/openapi.json`.
pub(crate) async fn document() -> Response {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| written().to_string());
    let mut response = Response::new(Body::from(DOCUMENT.as_str()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

struct Document {
    schemas: SchemaGenerator,
    paths: Map<String, Value>,
}

/// A body or an answer.
enum Content {
    Nothing,
    Json(Value),
    Other(&'static str),
}

impl Document {
    fn json<T: JsonSchema>(&mut self) -> Content {
        Content::Json(self.schemas.subschema_for::<T>().to_value())
    }

    /// Adds a request. `role`: the least that it takes, or who may make it.
    fn add(&mut self, method: &str, path: &str, role: &str, what: &str, body: Content, answer: Content) {
        let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let in_path = |name: &str| json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}});
        let parameters: Vec<Value> = names.map(in_path).collect();
        let (status, ok) = match answer {
            Content::Nothing => ("204", json!({"description": "Done."})),
            Content::Json(schema) => ("200", content("application/json", &schema)),
            Content::Other(media_type) => ("200", content(media_type, &json!({"type": "string"}))),
        };
        let error = content("application/json", &self.schemas.subschema_for::<ApiError>().to_value());
        let mut operation = json!({
            "summary": what,
            "description": format!("Takes: {role}."),
            "parameters": parameters,
            "responses": {status: ok, "default": error},
        });
        if let Content::Json(schema) = body {
            let mut body = content("application/json", &schema);
            set(&mut body, "required", json!(true));
            set(&mut operation, "requestBody", body);
        }
        let item = self.paths.entry(path).or_insert_with(|| json!({}));
        set(item, method, operation);
    }

    /// Adds a parameter of the query to a request that reads.
    fn add_query(&mut self, path: &str, name: &str, what: &str, kind: &str) {
        let parameter = json!({"name": name, "in": "query", "description": what, "schema": {"type": kind}});
        let get = self.paths.get_mut(path).and_then(|item| item.get_mut("get"));
        if let Some(Value::Array(parameters)) = get.and_then(|get| get.get_mut("parameters")) {
            parameters.push(parameter);
        }
    }
}

fn content(media_type: &str, schema: &Value) -> Value {
    json!({"description": "See the schema.", "content": {media_type: {"schema": schema}}})
}

fn set(object: &mut Value, name: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(name.to_owned(), value);
    }
}

fn written() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut document = Document { schemas: settings.into_generator(), paths: Map::new() };
    add_readings(&mut document);
    add_robot(&mut document);
    add_memory(&mut document);
    add_skills(&mut document);
    add_actions(&mut document);
    let Document { mut schemas, paths } = document;
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Cortex", "version": env!("CARGO_PKG_VERSION"), "license": {"name": "Apache-2.0"}},
        "security": [{"session": []}, {"cookie": []}, {}],
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "securitySchemes": {
                "session": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "cortex_session"},
            },
        },
    })
}

fn add_readings(document: &mut Document) {
    use Content::{Nothing, Other};
    let watch = "the role watch";
    let administer = "the role administer";
    let answer = document.json::<Overview>();
    document.add("get", "/api/v1/overview", watch, "The live status.", Nothing, answer);
    let answer = document.json::<Vec<OpenQuestion>>();
    document.add("get", "/api/v1/questions", watch, "The open questions, oldest first.", Nothing, answer);
    let answer = document.json::<Vec<ToolSpec>>();
    document.add("get", "/api/v1/tools", watch, "The tools on offer.", Nothing, answer);
    let answer = document.json::<Seen>();
    document.add("get", "/api/v1/seen", watch, "What a command without a live stream refers to.", Nothing, answer);
    let answer = document.json::<Vec<RecordedMission>>();
    document.add("get", "/api/v1/missions", watch, "The recorded missions, newest first.", Nothing, answer);
    document.add_query("/api/v1/missions", "before", "Those that began before this mission.", "string");
    document.add_query("/api/v1/missions", "most", "How many, from 1 to 500.", "integer");
    let answer = document.json::<Vec<CloudEvent>>();
    let path = "/api/v1/missions/{id}/events";
    document.add("get", path, watch, "Its events so far, or a part of them.", Nothing, answer);
    document.add_query(path, "before", "The last ones before the event of this id.", "string");
    document.add_query(path, "most", "How many of the last ones, from 1 to 20000.", "integer");
    let what = "'latest': of those that only say how a call is getting on, those alone that are not outdated at once.";
    document.add_query(path, "progress", what, "string");
    let tape = Other("application/x-ndjson");
    document.add("get", "/api/v1/missions/{id}/tape", "the role operate", "Its tape, as it is.", Nothing, tape);
    document.add("get", "/api/v1/missions/{id}/report", watch, "A report.", Nothing, Other("text/markdown"));
    let what = "What is needed to look into a mission elsewhere, as a .tar.gz.";
    document.add("get", "/api/v1/missions/{id}/incident", "the role operate", what, Nothing, Other("application/gzip"));
    let stream = Other("text/event-stream");
    document.add("get", "/api/v1/events", watch, "The events of all missions from now on.", Nothing, stream);
    document.add_query("/api/v1/events", "after", "The last event that the client has.", "string");
    let answer = document.json::<Vec<LogLine>>();
    let what =
        "The newest lines of the log of the robot's nodes; without 'most', those from now on: text/event-stream.";
    document.add("get", "/api/v1/logs", watch, what, Nothing, answer);
    document.add_query("/api/v1/logs", "most", "How many, from 1 to 2000.", "integer");
    let answer = document.json::<Vec<OpenPairing>>();
    document.add("get", "/api/v1/pairings", administer, "The open pairing codes.", Nothing, answer);
    let answer = document.json::<Vec<ShownUser>>();
    document.add("get", "/api/v1/users", administer, "The users who log in with a password.", Nothing, answer);
    let answer = document.json::<Vec<ShownSession>>();
    document.add("get", "/api/v1/sessions", administer, "The sessions.", Nothing, answer);
}

fn add_robot(document: &mut Document) {
    use Content::{Nothing, Other};
    let watch = "the role watch";
    let answer = document.json::<RobotSources>();
    document.add("get", "/api/v1/robot", watch, "What of the robot can be looked at.", Nothing, answer);
    for (path, what, media_type) in [
        (
            "/api/v1/robot/map",
            "A map; 'cortex-about' says where it lies. Waits up to 1 s for another ETag. 204 while none has come.",
            "image/png",
        ),
        (
            "/api/v1/robot/picture",
            "What a camera sees. Waits up to 1 s for another ETag. 204 while nothing has come.",
            "image/jpeg",
        ),
    ] {
        document.add("get", path, watch, what, Nothing, Other(media_type));
        document.add_query(path, "topic", "The full name of the topic.", "string");
    }
    let answer = document.json::<Scene>();
    document.add("get", "/api/v1/robot/scene", watch, "Where the robot is, its path, its numbers.", Nothing, answer);
    document.add_query("/api/v1/robot/scene", "pose", "The topic that tells where the robot is.", "string");
    document.add_query("/api/v1/robot/scene", "path", "The topic with its path.", "string");
    document.add_query("/api/v1/robot/scene", "frame", "The frame in which they are given, that of the map.", "string");
    document.add_query("/api/v1/robot/scene", "plots", "Numbers, as topic:field, with commas between them.", "string");
    document.add_query("/api/v1/robot/scene", "since", "Numbers after this time, in ms since 1970.", "integer");
    let answer = document.json::<Vec<NodeParameter>>();
    document.add("get", "/api/v1/robot/parameters", "the role operate", "The parameters of a node.", Nothing, answer);
    document.add_query("/api/v1/robot/parameters", "node", "The full name of the node.", "string");
    let body = document.json::<NewValue>();
    document.add("post", "/api/v1/robot/parameters", "the role operate", "Sets a parameter.", body, Nothing);
}

fn add_memory(document: &mut Document) {
    use Content::Nothing;
    let watch = "the role watch";
    let answer = document.json::<MemoryAnswer>();
    let what = "What is known of what a text names; without one, what was seen last.";
    document.add("get", "/api/v1/memory", watch, what, Nothing, answer);
    document.add_query("/api/v1/memory", "text", "A question, or names of things and places.", "string");
    let answer = document.json::<Vec<MemoryTask>>();
    let what = "The earlier tasks in which something happened; without a text, the last ones.";
    document.add("get", "/api/v1/memory/tasks", watch, what, Nothing, answer);
    document.add_query("/api/v1/memory/tasks", "text", "What happened.", "string");
    let answer = document.json::<Vec<String>>();
    let what = "The observations that a fact rests on.";
    document.add("get", "/api/v1/memory/facts/{id}", watch, what, Nothing, answer);
    let body = document.json::<Correction>();
    let what = "Says what is so; it outranks what it corrects.";
    document.add("post", "/api/v1/memory/facts", "the role operate", what, body, Nothing);
    let (body, answer) = (document.json::<ToForget>(), document.json::<MemoryForgotten>());
    let what = "Forgets a thing for good.";
    document.add("post", "/api/v1/memory/forget", "the role administer", what, body, answer);
}

fn add_skills(document: &mut Document) {
    use Content::Nothing;
    let watch = "the role watch";
    let answer = document.json::<Identity>();
    document.add("get", "/api/v1/identity", watch, "Who the robot is.", Nothing, answer);
    let answer = document.json::<SkillsView>();
    let what = "The skills: those that are on, that are proposed, and that are off, with what came of their tasks.";
    document.add("get", "/api/v1/skills", watch, what, Nothing, answer);
    let answer = document.json::<WholeText>();
    let what = "The whole file of a skill, as it was listed. 412 'changed' where it is another one by now.";
    document.add("get", "/api/v1/skills/text", watch, what, Nothing, answer);
    document.add_query("/api/v1/skills/text", "name", "The name of the skill.", "string");
    document.add_query("/api/v1/skills/text", "digest", "Its digest, as it was listed.", "string");
    let body = document.json::<Deciding>();
    let what = "Says whether a skill is used that the robot has learned. 412 'changed' where it is not any more as it was seen.";
    document.add("post", "/api/v1/skills/decide", "the role administer", what, body, Nothing);
    let body = document.json::<CountsToForget>();
    let what = "Forgets what is counted of the tasks of a skill, or of all skills. The skills stay.";
    document.add("post", "/api/v1/skills/forget", "the role administer", what, body, Nothing);
}

fn add_actions(document: &mut Document) {
    use Content::Nothing;
    let administer = "the role administer";
    let answer = document.json::<CommandOutcome>();
    document.add("post", "/stop", "the role watch", "STOP: everything halts. No body is needed.", Nothing, answer);
    let (body, answer) = (document.json::<CommandRequest>(), document.json::<CommandOutcome>());
    document.add("post", "/api/v1/commands", "the role of the command", "A command.", body, answer);
    let (body, answer) = (document.json::<NewPairing>(), document.json::<PairingCode>());
    document.add("post", "/api/v1/pairings", administer, "Makes a pairing code.", body, answer);
    document.add("delete", "/api/v1/pairings/{id}", administer, "Ends a pairing code.", Nothing, Nothing);
    let body = document.json::<NewUser>();
    document.add("post", "/api/v1/users", administer, "Makes a user.", body, Nothing);
    let what = "Removes a user, and ends the user's sessions.";
    document.add("delete", "/api/v1/users/{name}", administer, what, Nothing, Nothing);
    document.add("delete", "/api/v1/sessions/{id}", administer, "Ends a session.", Nothing, Nothing);
    let (body, answer) = (document.json::<GivenTask>(), document.json::<CommandOutcome>());
    let signed = "the headers of Standard Webhooks, signed with the secret of the webhook";
    document.add("post", "/api/v1/webhooks/{name}", signed, "A task from another system.", body, answer);
    let (body, answer) = (document.json::<LogIn>(), document.json::<LoggedIn>());
    document.add("post", "/login", "a pairing code, or a name and a password", "Begins a session.", body, answer);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_to_a_schema() {
        let document = written();
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 50, "{}", found.len());
        for reference in found {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        for schema in ["Overview", "CommandRequest", "Command", "Seen", "Basis", "ApiError"] {
            assert!(document.pointer(&format!("/components/schemas/{schema}")).is_some(), "{schema}");
        }
    }
}
