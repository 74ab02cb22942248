//! What missions are told of the components.

use std::collections::BTreeMap;

use async_trait::async_trait;
use cortex_protocol::ComponentName;
use cortex_runtime::Runtime;
use cortex_supervisor::RobotView;
use tokio::sync::watch;

/// The missions, as far as the monitor is concerned.
#[async_trait]
pub(crate) trait Missions: Send + Sync {
    /// Nothing may be done with the component: because of itself, or of what it depends on.
    async fn quarantine(&self, component: &ComponentName, because: &str);
    /// It can be used again.
    async fn release(&self, component: &ComponentName);
    /// Somebody else has its place; None: itself again.
    async fn substitute(&self, component: &ComponentName, by: Option<&ComponentName>);
    /// All are to wait.
    async fn pause(&self, because: &str);
    /// They may go on.
    async fn unpause(&self);
}

/// Until the runtime contains failures itself, the gate in front of the tools does.
#[async_trait]
impl Missions for Runtime {
    async fn quarantine(&self, component: &ComponentName, because: &str) {
        tracing::warn!(%component, "in quarantine: {because}");
    }

    async fn release(&self, component: &ComponentName) {
        tracing::info!(%component, "released");
    }

    async fn substitute(&self, component: &ComponentName, by: Option<&ComponentName>) {
        tracing::info!(%component, by = by.map(ComponentName::as_str), "substituted");
    }

    async fn pause(&self, because: &str) {
        tracing::warn!("missions are to wait: {because}");
    }

    async fn unpause(&self) {
        tracing::info!("missions may go on");
    }
}

/// What missions are to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Told {
    /// Why each may not be used.
    quarantined: BTreeMap<ComponentName, String>,
    substitutes: BTreeMap<ComponentName, ComponentName>,
    paused: Option<String>,
}

impl Told {
    fn of(view: &RobotView, before: &Self) -> Self {
        let mut told = Self::default();
        for (name, component) in &view.components {
            if component.quarantined_because_of.is_some() {
                // As it was when it began: words that change later are no news.
                let known = before.quarantined.get(name).cloned();
                let why = known.or_else(|| view.refusal(name)).unwrap_or_default();
                told.quarantined.insert(name.clone(), why);
            }
            if let Some(by) = &component.replaced_by {
                told.substitutes.insert(name.clone(), by.clone());
            }
        }
        told.paused = view.missions_paused_because_of.as_ref().map(|name| {
            before
                .paused
                .clone()
                .unwrap_or_else(|| format!("'{name}' does not work, and nothing is to be done meanwhile"))
        });
        told
    }
}

/// Tells missions whatever changes. What came and went in between is not told.
pub(super) async fn keep_told(mut view: watch::Receiver<RobotView>, missions: std::sync::Arc<dyn Missions>) {
    let mut told = Told::default();
    loop {
        let now = Told::of(&view.borrow_and_update(), &told);
        tell(&told, &now, missions.as_ref()).await;
        told = now;
        if view.changed().await.is_err() {
            return;
        }
    }
}

/// What keeps from doing things comes first, what allows them last.
async fn tell(before: &Told, now: &Told, missions: &dyn Missions) {
    if let (None, Some(because)) = (&before.paused, &now.paused) {
        missions.pause(because).await;
    }
    for (component, because) in &now.quarantined {
        if !before.quarantined.contains_key(component) {
            missions.quarantine(component, because).await;
        }
    }
    for (component, by) in &now.substitutes {
        if before.substitutes.get(component) != Some(by) {
            missions.substitute(component, Some(by)).await;
        }
    }
    for component in before.substitutes.keys().filter(|component| !now.substitutes.contains_key(*component)) {
        missions.substitute(component, None).await;
    }
    for component in before.quarantined.keys().filter(|component| !now.quarantined.contains_key(*component)) {
        missions.release(component).await;
    }
    if before.paused.is_some() && now.paused.is_none() {
        missions.unpause().await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use cortex_monitor::Effect;
    use cortex_recipe::Recipe;

    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl Heard {
        fn note(&self, text: String) {
            self.0.lock().unwrap().push(text);
        }
    }

    #[async_trait]
    impl Missions for Heard {
        async fn quarantine(&self, component: &ComponentName, because: &str) {
            self.note(format!("quarantine {component}: {because}"));
        }
        async fn release(&self, component: &ComponentName) {
            self.note(format!("release {component}"));
        }
        async fn substitute(&self, component: &ComponentName, by: Option<&ComponentName>) {
            self.note(format!("substitute {component} by {}", by.map_or("itself", ComponentName::as_str)));
        }
        async fn pause(&self, _because: &str) {
            self.note("pause".to_owned());
        }
        async fn unpause(&self) {
            self.note("unpause".to_owned());
        }
    }

    #[tokio::test]
    async fn missions_hear_each_change_once_and_what_forbids_comes_before_what_allows() {
        let recipe = "recipe = 1\n[components.base]\nstart = \"external\"\n[components.spare]\nstart = \"external\"\n\
                      [components.arm]\nstart = \"external\"\nstand_in = \"spare\"\n";
        let recipe = Recipe::read(recipe).unwrap_or_else(|problems| panic!("{}", problems.show("recipe")));
        let mut view = RobotView::new(&recipe);
        let heard = Arc::new(Heard::default());
        let mut told = Told::default();
        let turn = async |view: &RobotView, told: &mut Told| {
            let now = Told::of(view, told);
            tell(told, &now, heard.as_ref()).await;
            *told = now;
            std::mem::take(&mut *heard.0.lock().unwrap())
        };
        let quarantine = |name: &str| Effect::Quarantine { component: name.into(), because_of: name.into() };
        view.note(&quarantine("base"));
        view.note(&Effect::PauseMissions { because_of: "base".into() });
        assert_eq!(
            turn(&view, &mut told).await,
            ["pause", "quarantine base: 'base' does not work now: it is being brought up again"]
        );
        assert!(turn(&view, &mut told).await.is_empty());
        view.note(&Effect::Release { component: "base".into() });
        view.note(&Effect::ResumeMissions);
        view.note(&quarantine("arm"));
        view.note(&Effect::Substitute { component: "arm".into(), by: Some("spare".into()) });
        view.note(&Effect::Release { component: "arm".into() });
        assert_eq!(turn(&view, &mut told).await, ["substitute arm by spare", "release base", "unpause"]);
        view.note(&Effect::Substitute { component: "arm".into(), by: None });
        assert_eq!(turn(&view, &mut told).await, ["substitute arm by itself"]);
    }
}
