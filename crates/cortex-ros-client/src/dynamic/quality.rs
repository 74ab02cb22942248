//! How messages of a topic are delivered.

/// The quality of service of a subscription or publisher. Two ends whose qualities do not fit do not find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quality {
    /// Whether what is lost on the way is sent again.
    pub reliability: Reliability,
    /// Whether who comes late gets what was sent before.
    pub durability: Durability,
    /// How many messages the middleware keeps for a slow reader, or for one that comes late.
    pub depth: usize,
}

/// Whether what is lost on the way is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reliability {
    /// It is.
    Reliable,
    /// It is not. A subscription that asks for no more fits every publisher.
    BestEffort,
}

/// Whether who comes late gets what was sent before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It does. A publisher that offers this fits every subscription.
    TransientLocal,
    /// It does not. A subscription that asks for no more fits every publisher.
    Volatile,
}

impl Quality {
    /// For subscriptions: hears every publisher, whatever it offers.
    pub const HEARS_ALL: Self =
        Self { reliability: Reliability::BestEffort, durability: Durability::Volatile, depth: 10 };
    /// What most topics have.
    pub const RELIABLE: Self = Self { reliability: Reliability::Reliable, durability: Durability::Volatile, depth: 10 };
    /// For topics whose last message is what counts, such as maps and states. For publishers: reaches every subscription.
    pub const LATCHED: Self =
        Self { reliability: Reliability::Reliable, durability: Durability::TransientLocal, depth: 1 };
}
