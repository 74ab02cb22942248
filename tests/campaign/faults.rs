//! What goes wrong, and when: drawn from a seed.

use std::time::Duration;

use cortex_stories::Dice;

/// The components that go wrong on command (`tests/python/bad/component.py`).
pub(crate) const TRAYS: [&str; 3] = ["tray_1", "tray_2", "tray_3"];

/// A component whose standby is [`SPARE`]; nothing else goes wrong with it.
pub(crate) const DOUBLED: &str = "tray_4";
/// Its standby.
pub(crate) const SPARE: &str = "spare";
/// A component that is in no recipe.
pub(crate) const GUEST: &str = "guest";

/// A kind of fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A process gets SIGKILL.
    #[default]
    Killed,
    /// A process gets SIGTERM, which Cortex has not sent.
    Ended,
    /// A process gets SIGSTOP, for good.
    Frozen,
    /// A process gets SIGSTOP, and SIGCONT after a while.
    Paused,
    /// Two processes get SIGKILL at once.
    TwoKilled,
    /// A process gets SIGKILL, and the next one as soon as it was started.
    KilledWhileBroughtUp,
    /// The heartbeat stops; process and node stay.
    Silent,
    /// Health that is nonsense.
    Garbage,
    /// Calls are taken and not answered.
    HangsInCalls,
    /// Nothing is done any more, not even on SIGTERM.
    Hangs,
    /// Silent, and SIGTERM is ignored.
    IgnoresSigterm,
    /// Memory is taken until the kernel kills.
    EatsMemory,
    /// It crashes by itself (SIGSEGV).
    Crashes,
    /// It says that it fails, and that it works, by turns.
    Flaps,
    /// A call that nothing halts is not answered.
    UnhaltableHangs,
    /// It hangs, its standby takes its place, and it goes on while the standby is at work.
    HealsDuringCall,
    /// A topic is to be published on that nobody reads.
    NobodyReads,
    /// A component that is in no recipe is killed, and replaced by one of another schema.
    GuestReplaced,
    /// The model's endpoint is gone, for a while.
    ModelGone,
}

impl Kind {
    /// All of them.
    pub(crate) const ALL: [Self; 19] = [
        Self::Killed,
        Self::Ended,
        Self::Frozen,
        Self::Paused,
        Self::TwoKilled,
        Self::KilledWhileBroughtUp,
        Self::Silent,
        Self::Garbage,
        Self::HangsInCalls,
        Self::Hangs,
        Self::IgnoresSigterm,
        Self::EatsMemory,
        Self::Crashes,
        Self::Flaps,
        Self::UnhaltableHangs,
        Self::HealsDuringCall,
        Self::NobodyReads,
        Self::GuestReplaced,
        Self::ModelGone,
    ];

    /// In words, for the table.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Killed => "process killed (SIGKILL)",
            Self::Ended => "process ended by another (SIGTERM)",
            Self::Frozen => "process frozen (SIGSTOP)",
            Self::Paused => "process paused for 0.2 to 6 s (SIGSTOP, SIGCONT)",
            Self::TwoKilled => "two processes killed at once",
            Self::KilledWhileBroughtUp => "process killed, and the next one while it comes up",
            Self::Silent => "heartbeat stops, the rest goes on",
            Self::Garbage => "health is nonsense",
            Self::HangsInCalls => "calls are not answered",
            Self::Hangs => "alive, and nothing is done",
            Self::IgnoresSigterm => "silent, and SIGTERM is ignored",
            Self::EatsMemory => "killed by the kernel for its memory",
            Self::Crashes => "crash (SIGSEGV)",
            Self::Flaps => "fails and works by turns",
            Self::UnhaltableHangs => "a call without a cancel method hangs",
            Self::HealsDuringCall => "hangs, and goes on while its standby is at work",
            Self::NobodyReads => "a topic to be published on has no reader",
            Self::GuestReplaced => "component of no recipe replaced by another schema",
            Self::ModelGone => "the model's endpoint is gone for 0.5 to 4 s",
        }
    }

    /// What the component that goes wrong on command is told.
    pub(crate) const fn command(self) -> Option<&'static str> {
        match self {
            Self::Silent => Some("goes_silent"),
            Self::Garbage => Some("publishes_garbage"),
            Self::HangsInCalls => Some("does_not_execute"),
            Self::Hangs => Some("hangs"),
            Self::IgnoresSigterm => Some("ignores_sigterm"),
            Self::EatsMemory => Some("eats_memory"),
            Self::Crashes => Some("crashes"),
            Self::Flaps => Some("flaps"),
            Self::UnhaltableHangs => Some("announce_hangs"),
            _ => None,
        }
    }

    /// Whether it shows only in a task that is about it.
    pub(crate) const fn needs_errands(self) -> bool {
        matches!(
            self,
            Self::HangsInCalls
                | Self::UnhaltableHangs
                | Self::HealsDuringCall
                | Self::NobodyReads
                | Self::GuestReplaced
        )
    }

    /// Whether it may pass without anybody noticing: it is over by itself.
    pub(crate) const fn may_pass(self) -> bool {
        matches!(self, Self::Paused | Self::ModelGone)
    }
}

/// One fault.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// Of which components of the recipe; none for the model, a topic, and a component of no recipe.
    pub(crate) targets: Vec<&'static str>,
    /// How long after the one before it.
    pub(crate) after: Duration,
    /// How long it lasts, where it ends by itself.
    pub(crate) lasts: Duration,
}

/// So many faults of these components. Each kind comes once before any comes again.
pub(crate) fn draw(seed: u64, count: usize, components: &[&'static str]) -> Vec<Fault> {
    let mut dice = Dice::new(seed);
    let mut deck: Vec<Kind> = Vec::new();
    (0..count)
        .map(|_| {
            if deck.is_empty() {
                deck.extend(Kind::ALL);
            }
            let card = usize::try_from(dice.between(0, deck.len() as u64 - 1)).unwrap_or_default();
            let kind = deck.swap_remove(card);
            let targets = match (kind, kind.command()) {
                (_, Some(_)) => vec![dice.of(&TRAYS)],
                (Kind::ModelGone | Kind::NobodyReads | Kind::GuestReplaced, None) => Vec::new(),
                (Kind::HealsDuringCall, None) => vec![DOUBLED],
                (Kind::TwoKilled, None) => two(&mut dice, components),
                _ => vec![dice.of(components)],
            };
            let lasts = match kind {
                Kind::Paused => dice.between(200, 6_000),
                Kind::ModelGone => dice.between(500, 4_000),
                _ => 0,
            };
            let after = Duration::from_millis(dice.between(100, 2_000));
            Fault { kind, targets, after, lasts: Duration::from_millis(lasts) }
        })
        .collect()
}

fn two(dice: &mut Dice, components: &[&'static str]) -> Vec<&'static str> {
    let first = dice.of(components);
    let others: Vec<&str> = components.iter().copied().filter(|component| *component != first).collect();
    vec![first, dice.of(&others)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_faults_and_every_kind_comes() {
        let components = ["base", TRAYS[0], TRAYS[1], TRAYS[2]];
        let shown = |seed| format!("{:?}", draw(seed, 40, &components));
        assert_eq!(shown(7), shown(7));
        assert_ne!(shown(7), shown(8));
        let faults = draw(7, Kind::ALL.len(), &components);
        assert!(Kind::ALL.iter().all(|kind| faults.iter().any(|fault| fault.kind == *kind)));
        assert!(
            draw(7, 500, &components)
                .iter()
                .all(|fault| fault.targets.len() < 2 || fault.targets[0] != fault.targets[1])
        );
    }
}
