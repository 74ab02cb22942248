//! How messages of a topic are delivered.

/// The quality of service of a subscription or publisher. Two ends whose profiles do not fit do not find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QosProfile {
    /// Whether messages that are lost on the way are sent again.
    pub reliability: Reliability,
    /// Whether late joiners receive messages that were sent before.
    pub durability: Durability,
    /// How many messages the middleware keeps for a slow reader, or for a late joiner.
    pub depth: usize,
}

/// Whether messages that are lost on the way are sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reliability {
    /// They are.
    Reliable,
    /// They are not. A subscription that asks for no more fits every publisher.
    BestEffort,
}

/// Whether late joiners receive messages that were sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// They do. A publisher that offers this fits every subscription.
    TransientLocal,
    /// They do not. A subscription that asks for no more fits every publisher.
    Volatile,
}

impl QosProfile {
    /// For subscriptions: receives from every publisher, whatever it offers.
    pub const BEST_EFFORT: Self =
        Self { reliability: Reliability::BestEffort, durability: Durability::Volatile, depth: 10 };
    /// What most topics and all services have, and the default of ROS.
    pub const RELIABLE: Self = Self { reliability: Reliability::Reliable, durability: Durability::Volatile, depth: 10 };
    /// For topics whose last message is what counts, such as maps and states. For publishers: reaches every subscription.
    pub const TRANSIENT_LOCAL: Self =
        Self { reliability: Reliability::Reliable, durability: Durability::TransientLocal, depth: 1 };

    /// The same with so many messages kept.
    #[must_use]
    pub const fn keep_last(self, depth: usize) -> Self {
        Self { depth, ..self }
    }

    /// The same with lost messages sent again.
    #[must_use]
    pub const fn reliable(self) -> Self {
        Self { reliability: Reliability::Reliable, ..self }
    }

    /// The same without lost messages sent again.
    #[must_use]
    pub const fn best_effort(self) -> Self {
        Self { reliability: Reliability::BestEffort, ..self }
    }

    /// The same with messages kept for late joiners.
    #[must_use]
    pub const fn transient_local(self) -> Self {
        Self { durability: Durability::TransientLocal, ..self }
    }

    /// The same without messages kept for late joiners.
    #[must_use]
    pub const fn volatile(self) -> Self {
        Self { durability: Durability::Volatile, ..self }
    }
}

impl Default for QosProfile {
    fn default() -> Self {
        Self::RELIABLE
    }
}

impl From<QosProfile> for r2r::QosProfile {
    fn from(profile: QosProfile) -> Self {
        let typed = Self::default().keep_last(profile.depth);
        let typed = match profile.reliability {
            Reliability::Reliable => typed.reliable(),
            Reliability::BestEffort => typed.best_effort(),
        };
        match profile.durability {
            Durability::TransientLocal => typed.transient_local(),
            Durability::Volatile => typed.volatile(),
        }
    }
}
