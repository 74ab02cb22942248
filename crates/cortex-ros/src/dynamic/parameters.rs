//! The parameters of any node.
