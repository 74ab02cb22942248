//! What an idle Cortex asks of a model. On a paused clock.

#![expect(clippy::expect_used, reason = "a test whose set-up fails ends here, and says why")]

mod idle_day;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use cortex_core::{ContextError, ContextPassage, ContextQuery, ContextSource};
use cortex_runtime::ContextSources;
use idle_day::Requests;

/// Has nothing on record, and counts how often it is asked.
#[derive(Default)]
struct Asked(AtomicUsize);

#[async_trait]
impl ContextSource for Asked {
    fn name(&self) -> &str {
        "memory"
    }

    async fn gather(&self, _: &ContextQuery) -> Result<Vec<ContextPassage>, ContextError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Vec::new())
    }
}

#[tokio::test(start_paused = true)]
async fn a_day_without_a_task_costs_no_request_to_a_model() {
    let source = Arc::new(Asked::default());
    let requests = idle_day::run(ContextSources::new(vec![source.clone()])).await;
    assert_eq!(requests, Requests { before: 3, meanwhile: 0, after: 3 });
    let of_two_tasks = source.0.load(Ordering::Relaxed);
    assert!((2..=6).contains(&of_two_tasks), "nobody looks at the record without a task: {of_two_tasks}");
}
