//! What was last reported of a component, so that the same is not reported again, nor anything many times a second.

use std::time::Duration;

use cortex_protocol::ComponentName;
use serde::{Deserialize, Serialize};

use crate::flap_damping::FlapDamping;
use crate::health::{Health, Symptom};

/// How often other symptoms of one state of health are reported at most.
const SYMPTOMS_PERIOD: Duration = Duration::from_secs(1);

/// The last reports of a component.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Reports {
    /// What keeps its health from being reported again and again, also where nothing is done about it.
    damping: FlapDamping,
    health: Option<HealthReport>,
    /// What it waits for.
    waits_for: Vec<ComponentName>,
}

/// The last report of a component's health.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct HealthReport {
    health: Health,
    symptoms: Vec<Symptom>,
    at: Duration,
}

/// What is to be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    Health,
    Symptoms,
}

impl Reports {
    pub(super) fn new(damping: FlapDamping) -> Self {
        Self { damping, health: None, waits_for: Vec::new() }
    }

    /// Notes the component's health as reported, where it is to be.
    pub(super) fn judge(&mut self, now: Duration, symptoms: &[Symptom], is_proven: bool) -> Option<News> {
        let health = Health::of(symptoms);
        self.damping.judge(now, matches!(health, Health::Failed { .. }) || !is_proven);
        // That it is good for a moment is no news: it may come and go many times a second.
        let is_news = health != Health::Healthy || !self.damping.is_bad();
        let before = self.health.as_ref().map(|report| report.health);
        let (news, health) = if before != Some(health) && is_news {
            (News::Health, health)
        } else {
            // Without symptoms it has yet to show that it works.
            let is_due = self.symptoms_at(symptoms).is_some_and(|at| now >= at);
            (News::Symptoms, before.filter(|_| is_due)?)
        };
        self.health = Some(HealthReport { health, symptoms: symptoms.to_vec(), at: now });
        Some(news)
    }

    /// When the symptoms are to be reported, where they are others than those that were: it still fails, but for another
    /// reason. Not at once each time, since a component may give a new reason many times a second.
    pub(super) fn symptoms_at(&self, symptoms: &[Symptom]) -> Option<Duration> {
        let report = self.health.as_ref()?;
        (report.symptoms != symptoms).then(|| report.at.saturating_add(SYMPTOMS_PERIOD))
    }

    /// When its good health lasts long enough to be news.
    pub(super) fn good_at(&self) -> Option<Duration> {
        self.damping.good_at()
    }

    /// Whether it is news that the component waits for these. Notes it.
    pub(super) fn waits_for(&mut self, missing: &[ComponentName]) -> bool {
        let is_news = self.waits_for != missing;
        if is_news {
            self.waits_for = missing.to_vec();
        }
        is_news
    }

    /// The component is not in use: its health is news when it is again.
    pub(super) fn forget_health(&mut self) {
        self.health = None;
    }
}
