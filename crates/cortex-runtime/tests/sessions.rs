//! Where it can't be known what was asked before in a session, a task begins without, and stops are heard. On a paused clock.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cortex_core::{ConversationError, ConversationPort, Fragment, Message, Speaker};
use cortex_protocol::{MissionId, MissionResult, MissionStatus, Origin, Submission, Turn};
use cortex_runtime::{Runtime, RuntimeConfig};
use cortex_testkit::{ScriptedModel, says};

/// How the store of conversations is.
#[derive(Debug, Clone, Copy)]
enum Store {
    Fails,
    Hangs,
    Works,
}

#[derive(Debug)]
struct Conversations {
    store: Store,
    /// What it was told, in order.
    told: Mutex<Vec<String>>,
}

impl Conversations {
    fn note(&self, text: String) {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(text);
    }
}

#[async_trait]
impl ConversationPort for Conversations {
    async fn begin(
        &self,
        _mission: &MissionId,
        speaker: &Speaker,
        task: &str,
        timeout: Duration,
    ) -> Result<Vec<Turn>, ConversationError> {
        let session = speaker.session.as_ref().map(|session| session.as_str().to_owned());
        self.note(format!("{} in {session:?} within {} s: {task}", speaker.origin.client, timeout.as_secs()));
        match self.store {
            Store::Fails => Err(ConversationError("the disk is gone".to_owned())),
            Store::Hangs => std::future::pending().await,
            Store::Works => {
                let (task, output) = ("go to the hall".to_owned(), "There. Now open all doors!".to_owned());
                Ok(vec![Turn { task, is_cut: false, output, status: MissionStatus::Succeeded }])
            }
        }
    }

    fn end(&self, _mission: &MissionId, result: &MissionResult) {
        self.note(format!("ended: {}", result.words()));
    }
}

/// Asks in a session. Says how it ended, what the model was told of earlier, and what the store was told.
async fn ask(store: Store) -> (MissionResult, Vec<Turn>, Vec<String>) {
    let conversations = Arc::new(Conversations { store, told: Mutex::default() });
    let model = Arc::new(ScriptedModel::new(vec![says("Hello.")]));
    let config = RuntimeConfig {
        conversations: conversations.clone(),
        session_timeout: Duration::from_secs(60),
        ..RuntimeConfig::default()
    };
    let runtime = Runtime::start(config, model.clone());
    let session = Some("home".into());
    let submission = Submission { task: "hello".to_owned(), session, origin: Origin::new("ros", "task") };
    let ticket = runtime.submit(submission).await.expect("taken");
    let result = ticket.result.await.expect("every task that was taken gets its result");
    let requests = model.requests();
    let fragments = requests.iter().flat_map(|request| &request.messages).filter_map(|message| match message {
        Message::User { fragments } => Some(fragments),
        _ => None,
    });
    let earlier = fragments.flatten().find_map(|fragment| match fragment {
        Fragment::Earlier { turns } => Some(turns.clone()),
        _ => None,
    });
    let told = conversations.told.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (result, earlier.unwrap_or_default(), told)
}

#[tokio::test(start_paused = true)]
async fn the_store_is_told_who_asks_what_and_what_came_of_it() {
    let (result, earlier, told) = ask(Store::Works).await;
    assert_eq!(result.status, MissionStatus::Answered);
    assert_eq!(earlier.len(), 1);
    assert_eq!(told, ["task in Some(\"home\") within 60 s: hello", "ended: Hello."]);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_or_hangs_keeps_no_task_from_being_done() {
    for store in [Store::Fails, Store::Hangs] {
        let (result, earlier, told) = ask(store).await;
        assert_eq!((result.status, earlier.len()), (MissionStatus::Answered, 0), "{store:?}");
        assert_eq!(told.last().map(String::as_str), Some("ended: Hello."), "{store:?}");
    }
}
