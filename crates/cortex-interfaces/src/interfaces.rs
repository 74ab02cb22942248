//! Interfaces of installed packages, loaded when they are first asked for.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::completion::complete;
use crate::definition::definition;
use crate::index::AmentIndex;
use crate::native::handle::{ActionTypeSupport, MessageTypeSupport, ServiceTypeSupport};
use crate::native::introspection::{KnownLayouts, Reader};
use crate::native::layout::Layout;
use crate::native::library::{Package, changed_on_disk};
use crate::{InterfaceError, InterfaceKind, InterfaceName, MessageType};

/// Loads interfaces by name.
///
/// Loading blocks for some milliseconds, the first time, while libraries are read; later calls return what is there. A
/// library stays in the process until its end. Failures are not remembered: what is installed later is found then.
pub struct Interfaces {
    index: AmentIndex,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    layouts: KnownLayouts,
    messages: BTreeMap<InterfaceName, Arc<MessageInterface>>,
    services: BTreeMap<InterfaceName, Arc<ServiceInterface>>,
    actions: BTreeMap<InterfaceName, Arc<ActionInterface>>,
}

/// A loaded type of message: what topics carry, and what services and actions consist of.
pub struct MessageInterface {
    layout: Arc<Layout>,
    support: MessageTypeSupport,
}

impl MessageInterface {
    /// What a message of this type consists of.
    #[must_use]
    pub fn message_type(&self) -> &Arc<MessageType> {
        self.layout.message_type()
    }

    /// For calls of `rcl`.
    #[must_use]
    pub fn type_support(&self) -> MessageTypeSupport {
        self.support
    }

    pub(crate) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }
}

impl fmt::Debug for MessageInterface {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("MessageInterface").field(&self.message_type().name.to_string()).finish()
    }
}

/// A loaded service.
#[derive(Debug)]
pub struct ServiceInterface {
    /// Its name.
    pub name: InterfaceName,
    /// What is sent to it.
    pub request: Arc<MessageInterface>,
    /// What it answers.
    pub response: Arc<MessageInterface>,
    /// For calls of `rcl`.
    pub type_support: ServiceTypeSupport,
}

/// A loaded action.
#[derive(Debug)]
pub struct ActionInterface {
    /// Its name.
    pub name: InterfaceName,
    /// What is to be done.
    pub goal: Arc<MessageInterface>,
    /// What came of it.
    pub result: Arc<MessageInterface>,
    /// How it is going.
    pub feedback: Arc<MessageInterface>,
    /// The service that takes a goal: the goal with its id (`goal_id`, `goal`), and whether it was accepted (`accepted`,
    /// `stamp`).
    pub send_goal: ServiceInterface,
    /// The service that gives the result: of which goal (`goal_id`), and how it ended (`status`, `result`).
    pub get_result: ServiceInterface,
    /// What the feedback topic carries: of which goal (`goal_id`), and the `feedback`.
    pub feedback_message: Arc<MessageInterface>,
    /// For calls of `rcl_action`.
    pub type_support: ActionTypeSupport,
}

impl fmt::Debug for Interfaces {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Interfaces").field("index", &self.index).finish_non_exhaustive()
    }
}

impl Interfaces {
    /// Interfaces of the packages in the index.
    #[must_use]
    pub fn new(index: AmentIndex) -> Self {
        Self { index, cache: Mutex::default() }
    }

    /// Interfaces of the packages in `AMENT_PREFIX_PATH`.
    #[must_use]
    pub fn from_environment() -> Self {
        Self::new(AmentIndex::from_environment())
    }

    /// Where interfaces are looked for.
    #[must_use]
    pub fn index(&self) -> &AmentIndex {
        &self.index
    }

    /// The message of that name, such as `geometry_msgs/msg/Pose`.
    ///
    /// # Errors
    /// When the name is none of a message, or the interface is not installed or can't be loaded.
    pub fn message(&self, name: &str) -> Result<Arc<MessageInterface>, InterfaceError> {
        let name = checked(name, InterfaceKind::Message)?;
        let mut cache = self.cache();
        if let Some(known) = cache.messages.get(&name) {
            return Ok(Arc::clone(known));
        }
        let prefix = self.index.locate(&name)?;
        let package = Package::load(&self.index, prefix, name.package())?;
        let message = self.load_message(&package, &mut cache.layouts, &name)?;
        cache.messages.insert(name, Arc::clone(&message));
        Ok(message)
    }

    /// The service of that name, such as `std_srvs/srv/SetBool`.
    ///
    /// # Errors
    /// When the name is none of a service, or the interface is not installed or can't be loaded.
    pub fn service(&self, name: &str) -> Result<Arc<ServiceInterface>, InterfaceError> {
        let name = checked(name, InterfaceKind::Service)?;
        let mut cache = self.cache();
        if let Some(known) = cache.services.get(&name) {
            return Ok(Arc::clone(known));
        }
        let prefix = self.index.locate(&name)?;
        let package = Package::load(&self.index, prefix, name.package())?;
        let service = Arc::new(self.load_service(&package, &mut cache.layouts, &name)?);
        cache.services.insert(name, Arc::clone(&service));
        Ok(service)
    }

    /// The action of that name, such as `nav2_msgs/action/NavigateToPose`.
    ///
    /// # Errors
    /// When the name is none of an action, or the interface is not installed or can't be loaded.
    pub fn action(&self, name: &str) -> Result<Arc<ActionInterface>, InterfaceError> {
        let name = checked(name, InterfaceKind::Action)?;
        let mut cache = self.cache();
        if let Some(known) = cache.actions.get(&name) {
            return Ok(Arc::clone(known));
        }
        let prefix = self.index.locate(&name)?;
        let package = Package::load(&self.index, prefix, name.package())?;
        let layouts = &mut cache.layouts;
        let action = Arc::new(ActionInterface {
            goal: self.load_message(&package, layouts, &part(&name, "Goal")?)?,
            result: self.load_message(&package, layouts, &part(&name, "Result")?)?,
            feedback: self.load_message(&package, layouts, &part(&name, "Feedback")?)?,
            send_goal: self.load_service(&package, layouts, &part(&name, "SendGoal")?)?,
            get_result: self.load_service(&package, layouts, &part(&name, "GetResult")?)?,
            feedback_message: self.load_message(&package, layouts, &part(&name, "FeedbackMessage")?)?,
            type_support: package.action(&name)?,
            name: name.clone(),
        });
        cache.actions.insert(name, Arc::clone(&action));
        Ok(action)
    }

    /// The text that a message type is written in, with those of all types that it consists of, in the form that bags hold
    /// (`ros2msg`). Reads files.
    #[must_use]
    pub fn definition(&self, message: &MessageInterface) -> String {
        definition(&self.index, message.message_type())
    }

    /// Whether the package of an interface was rebuilt or replaced since it was loaded. This process can't take the new
    /// one in; who calls it with new servers should be told to restart.
    #[must_use]
    pub fn changed_on_disk(&self, name: &InterfaceName) -> bool {
        self.index.locate(name).is_ok_and(|prefix: &Path| changed_on_disk(prefix, name.package()))
    }

    fn load_service(
        &self,
        package: &Package<'_>,
        layouts: &mut KnownLayouts,
        name: &InterfaceName,
    ) -> Result<ServiceInterface, InterfaceError> {
        Ok(ServiceInterface {
            request: self.load_message(package, layouts, &part(name, "Request")?)?,
            response: self.load_message(package, layouts, &part(name, "Response")?)?,
            type_support: package.service(name)?,
            name: name.clone(),
        })
    }

    fn load_message(
        &self,
        package: &Package<'_>,
        layouts: &mut KnownLayouts,
        name: &InterfaceName,
    ) -> Result<Arc<MessageInterface>, InterfaceError> {
        let complete = |layout: &Arc<Layout>| complete(layout, &self.index);
        let mut reader = Reader { known: layouts, complete: &complete, interface: name };
        let (support, layout) = package.message(name, &mut reader)?;
        Ok(Arc::new(MessageInterface { layout, support }))
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        // What is in it is whole at every moment.
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn checked(name: &str, expected: InterfaceKind) -> Result<InterfaceName, InterfaceError> {
    let interface: InterfaceName = name.parse()?;
    if interface.kind() == expected { Ok(interface) } else { Err(InterfaceError::WrongKind { interface, expected }) }
}

/// A message or service that an interface consists of.
fn part(name: &InterfaceName, part: &str) -> Result<InterfaceName, InterfaceError> {
    Ok(InterfaceName::new(name.package(), name.kind(), &format!("{}_{part}", name.name()))?)
}
