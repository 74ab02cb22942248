//! Interfaces by their names, for tasks: to look one up blocks where it has to be loaded from files.

use std::sync::Arc;

use cortex_interfaces::{InterfaceError, Interfaces};

use crate::RosError;

/// Looks an interface up on a thread for what blocks.
///
/// # Errors
/// When it is not known or can't be loaded, and when the runtime ends.
pub async fn load_interface<T: Send + 'static>(
    interfaces: &Arc<Interfaces>,
    find: impl FnOnce(&Interfaces) -> Result<T, InterfaceError> + Send + 'static,
) -> Result<T, RosError> {
    let interfaces = Arc::clone(interfaces);
    let found = tokio::task::spawn_blocking(move || find(&interfaces)).await.map_err(|_| RosError::ShutDown)?;
    Ok(found?)
}
