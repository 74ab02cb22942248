//! `[knowledge]`: the documents that the robot knows. The names of the keys but `store` are those of `seeds/0`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use cortex_model::ChoiceError;
use serde::{Deserialize, Serialize};

use super::file_name;
use crate::chain::{self, KeyConfig};
use crate::secret_place::SecretPlace;

/// The folder of the documents, in the folder of the tapes.
const FOLDER: &str = "knowledge";
/// Documents in a file, and on a server.
const EMBEDDED: &str = "embedded";
const QDRANT: &str = "qdrant:";
/// Most passages for one task: more would crowd out the task.
const MOST_RESULTS: usize = 20;

/// The documents that the robot knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnowledgeConfig {
    pub(crate) enable_rag: bool,
    /// `embedded`, or `qdrant:URL`.
    pub(crate) store: String,
    /// Empty: the robot's name.
    pub(crate) collection_name: String,
    pub(crate) n_results: usize,
    pub(crate) add_metadata: bool,
}

impl Default for KnowledgeConfig {
    fn default() -> Self {
        Self {
            enable_rag: true,
            store: EMBEDDED.to_owned(),
            collection_name: String::new(),
            n_results: 5,
            add_metadata: false,
        }
    }
}

/// Where documents are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnowledgeStore {
    /// In a file of this machine.
    Embedded {
        /// Which.
        file: PathBuf,
    },
    /// On a server of Qdrant.
    Qdrant {
        /// Its address, with the port of gRPC.
        server: String,
        /// The collection. Robots may share it.
        collection: String,
        /// Whose documents.
        robot: String,
        /// Where the key of the server is.
        key: Option<SecretPlace>,
    },
}

/// For people.
impl fmt::Display for KnowledgeStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded { file } => write!(formatter, "{}", file.display()),
            Self::Qdrant { server, collection, robot, .. } => {
                write!(formatter, "the collection '{collection}' of {server}, for the robot '{robot}'")
            }
        }
    }
}

/// Where the documents are, and how they are used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnowledgeSettings {
    /// Where they are kept.
    pub store: KnowledgeStore,
    /// Most passages for one task.
    pub results: usize,
    /// Whether passages are shown with the metadata of their documents.
    pub with_metadata: bool,
    /// Whether planning uses them.
    pub is_enabled: bool,
}

pub(super) fn settings(
    knowledge: &KnowledgeConfig,
    keys: &BTreeMap<String, KeyConfig>,
    robot: &str,
    tapes: &Path,
) -> anyhow::Result<KnowledgeSettings> {
    let results = knowledge.n_results;
    anyhow::ensure!(
        (1..=MOST_RESULTS).contains(&results),
        "configuration: knowledge.n_results is {results}; it must be from 1 to {MOST_RESULTS}"
    );
    let name = file_name(match knowledge.collection_name.trim() {
        "" => robot,
        name => name,
    });
    let store = match knowledge.store.trim() {
        EMBEDDED => KnowledgeStore::Embedded { file: tapes.join(FOLDER).join(format!("{name}.sqlite")) },
        written => {
            let server = server(written)?;
            let key = chain::keys(keys)?.remove(&server);
            KnowledgeStore::Qdrant { server, collection: name, robot: robot.trim().to_owned(), key }
        }
    };
    Ok(KnowledgeSettings { store, results, with_metadata: knowledge.add_metadata, is_enabled: knowledge.enable_rag })
}

/// The address of a server, written as keys of servers are.
fn server(written: &str) -> anyhow::Result<String> {
    let Some(url) = written.strip_prefix(QDRANT) else {
        anyhow::bail!(
            "configuration: knowledge.store is '{}'; it must be \"{EMBEDDED}\", or \"{QDRANT}URL\" such as \
             \"{QDRANT}http://localhost:6334\"",
            crate::redacted::without_login(written)
        );
    };
    let server = chain::endpoint(url).map_err(|error| {
        // Its own words have the example of a model.
        let problem = match error {
            ChoiceError::BadUrl { url, problem } => format!("'{url}' can't be used: {problem}"),
            error => error.to_string(),
        };
        anyhow::anyhow!("configuration: knowledge.store: {problem}; write {QDRANT}http://HOST:6334")
    })?;
    let host = url.split_once("://").map_or(url, |(_, host)| host).trim_end_matches('/');
    let port = host.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    anyhow::ensure!(
        !host.contains('/') && port.is_some(),
        "configuration: knowledge.store is '{written}'; give the host and the port of gRPC, such as \
         {QDRANT}http://localhost:6334, and nothing behind it"
    );
    Ok(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(store: &str) -> anyhow::Result<KnowledgeStore> {
        let knowledge = KnowledgeConfig { store: store.to_owned(), ..KnowledgeConfig::default() };
        let key = KeyConfig { key_file: None, key_env: Some("QDRANT_KEY".to_owned()) };
        let keys = [("http://BOX:6334/".to_owned(), key)].into();
        Ok(settings(&knowledge, &keys, "robbie", Path::new("/tapes"))?.store)
    }

    #[test]
    fn documents_are_in_a_file_or_on_a_server() {
        let file = PathBuf::from("/tapes/knowledge/robbie.sqlite");
        assert_eq!(set("embedded").unwrap(), KnowledgeStore::Embedded { file });
        let KnowledgeStore::Qdrant { server, collection, robot, key } = set("qdrant:http://box:6334").unwrap() else {
            panic!("it is on a server");
        };
        assert_eq!((server.as_str(), collection.as_str(), robot.as_str()), ("http://box:6334", "robbie", "robbie"));
        assert_eq!(key, Some(SecretPlace::Variable("QDRANT_KEY".to_owned())), "written as in [keys] or not");
        let other = set("qdrant:https://other:6334/").unwrap();
        assert!(matches!(&other, KnowledgeStore::Qdrant { key: None, .. }), "a key goes to its server only");
        assert_eq!(other.to_string(), "the collection 'robbie' of https://other:6334, for the robot 'robbie'");
    }

    #[test]
    fn what_is_no_store_is_refused_with_what_would_be_one() {
        for (store, says) in [
            ("sqlite", "it must be \"embedded\", or \"qdrant:URL\""),
            ("", "it must be \"embedded\""),
            ("qdrant:", "http://"),
            ("qdrant:box:6334", "http://"),
            ("qdrant:http://box", "the port of gRPC"),
            ("qdrant:http://box:6334/v1", "nothing behind it"),
            ("qdrant:ftp://box:6334", "http://"),
        ] {
            let error = set(store).unwrap_err().to_string();
            assert!(error.contains("knowledge.store") && error.contains(says), "{store}: {error}");
        }
        for store in ["qdrant:http://me:hunter2@box:6334", "http://me:hunter2@box:6334"] {
            let error = set(store).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
