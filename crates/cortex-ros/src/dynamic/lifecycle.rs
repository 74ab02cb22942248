//! The state of a node with a managed lifecycle.
