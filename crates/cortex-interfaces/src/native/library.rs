//! Loads the libraries of packages and takes what they define.
//!
//! A library is loaded once and stays until the process ends: types, messages and type supports of it may be anywhere, and
//! the middleware keeps pointers of its own. So a package that is rebuilt while this process runs is not seen; see
//! [`changed_on_disk`].

use std::collections::{BTreeMap, BTreeSet};
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use libloading::Library;
use r2r_rcl::{rosidl_action_type_support_t, rosidl_message_type_support_t, rosidl_service_type_support_t};

use super::handle::{ActionTypeSupport, MessageTypeSupport, ServiceTypeSupport, TypeSupport};
use super::introspection::Reader;
use super::layout::Layout;
use crate::index::AmentIndex;
use crate::{InterfaceError, InterfaceName};

/// The type support that `rcl` takes; it hands calls on to that of the middleware.
const TYPESUPPORT: &str = "rosidl_typesupport_c";
/// The type support that describes messages.
const INTROSPECTION: &str = "rosidl_typesupport_introspection_c";
/// Libraries that others of the package, or of packages that build on it, ask for by their bare names. The loader knows
/// those only where the environment names their folder; once they are loaded, it finds them in the process.
const ASKED_FOR: [&str; 4] = [
    "rosidl_generator_c",
    "rosidl_typesupport_introspection_c",
    "rosidl_typesupport_fastrtps_cpp",
    "rosidl_typesupport_fastrtps_c",
];

/// Every library that was loaded here. Also held while generated functions run: they set up static data.
static LOADED: Mutex<BTreeMap<PathBuf, Loaded>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Copy)]
struct Loaded {
    library: &'static Library,
    /// What the file was like; none where the loader found it elsewhere.
    state: Option<FileState>,
}

/// What tells that a file was replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileState {
    length: u64,
    modified: Option<SystemTime>,
}

/// A package whose libraries are loaded. One user at a time.
pub(crate) struct Package<'a> {
    /// Generated functions run one at a time.
    _turn: MutexGuard<'a, BTreeMap<PathBuf, Loaded>>,
    typesupport: (PathBuf, Loaded),
    introspection: (PathBuf, Loaded),
}

impl Package<'_> {
    /// Loads what a package of interfaces and those it builds on need.
    pub(crate) fn load(index: &AmentIndex, prefix: &Path, package: &str) -> Result<Self, InterfaceError> {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        preload(&mut loaded, index, prefix, package, &mut BTreeSet::new());
        let introspection = open(&mut loaded, prefix, package, INTROSPECTION)?;
        let typesupport = open(&mut loaded, prefix, package, TYPESUPPORT)?;
        Ok(Self { _turn: loaded, typesupport, introspection })
    }

    /// The type support and the layout of a message of the package.
    pub(crate) fn message(
        &self,
        name: &InterfaceName,
        reader: &mut Reader<'_>,
    ) -> Result<(MessageTypeSupport, Arc<Layout>), InterfaceError> {
        let support = call::<rosidl_message_type_support_t>(&self.typesupport, TYPESUPPORT, "message", name)?;
        let described = call::<rosidl_message_type_support_t>(&self.introspection, INTROSPECTION, "message", name)?;
        // SAFETY: just returned by the generated function; libraries are never unloaded, and `self` holds the lock.
        let layout = unsafe { reader.layout(described) }?;
        // SAFETY: it lies in a library that is never unloaded.
        Ok((unsafe { TypeSupport::new(support) }, layout))
    }

    /// The type support of a service of the package.
    pub(crate) fn service(&self, name: &InterfaceName) -> Result<ServiceTypeSupport, InterfaceError> {
        let support = call::<rosidl_service_type_support_t>(&self.typesupport, TYPESUPPORT, "service", name)?;
        // SAFETY: it lies in a library that is never unloaded.
        Ok(unsafe { TypeSupport::new(support) })
    }

    /// The type support of an action of the package.
    pub(crate) fn action(&self, name: &InterfaceName) -> Result<ActionTypeSupport, InterfaceError> {
        let support = call::<rosidl_action_type_support_t>(&self.typesupport, TYPESUPPORT, "action", name)?;
        // SAFETY: it lies in a library that is never unloaded.
        Ok(unsafe { TypeSupport::new(support) })
    }
}

/// Whether a library of the package was replaced since it was loaded: then what this process knows of its interfaces
/// is out of date.
pub(crate) fn changed_on_disk(prefix: &Path, package: &str) -> bool {
    let loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    [TYPESUPPORT, INTROSPECTION].iter().any(|kind| {
        let path = path(prefix, package, kind);
        loaded.get(&path).is_some_and(|library| library.state.is_some() && library.state != state(&path))
    })
}

/// Calls the generated function that returns a type support.
fn call<T>(
    (path, loaded): &(PathBuf, Loaded),
    typesupport: &str,
    what: &str,
    name: &InterfaceName,
) -> Result<NonNull<T>, InterfaceError> {
    let symbol =
        format!("{typesupport}__get_{what}_type_support_handle__{}__{}__{}", name.package(), name.kind(), name.name());
    let missing = || InterfaceError::SymbolMissing { path: path.clone(), symbol: symbol.clone() };
    // SAFETY: every function of that name has this type (`rosidl_typesupport_interface/macros.h`).
    let function = unsafe { loaded.library.get::<unsafe extern "C" fn() -> *const T>(symbol.as_bytes()) };
    let function = function.map_err(|_| missing())?;
    // SAFETY: it takes nothing; it sets up static data of its library, and the caller holds the lock.
    NonNull::new(unsafe { function() }.cast_mut()).ok_or_else(missing)
}

/// Loads what libraries of the package will ask the loader for, that of the packages it builds on first. What fails is
/// passed over: if it is really needed, the library that needs it says so.
fn preload(
    loaded: &mut BTreeMap<PathBuf, Loaded>,
    index: &AmentIndex,
    prefix: &Path,
    package: &str,
    visited: &mut BTreeSet<String>,
) {
    if !visited.insert(package.to_owned()) {
        return;
    }
    for (prefix, dependency) in index.dependencies(prefix, package) {
        preload(loaded, index, prefix, &dependency, visited);
    }
    for kind in ASKED_FOR {
        let path = path(prefix, package, kind);
        if !loaded.contains_key(&path) && path.is_file() {
            let _ = open_file(loaded, path);
        }
    }
}

/// Loads a library of a package: that of the prefix, or else what the loader finds under its name.
fn open(
    loaded: &mut BTreeMap<PathBuf, Loaded>,
    prefix: &Path,
    package: &str,
    kind: &str,
) -> Result<(PathBuf, Loaded), InterfaceError> {
    let path = path(prefix, package, kind);
    let path = if path.is_file() { path } else { PathBuf::from(file_name(package, kind)) };
    open_file(loaded, path.clone()).map(|library| (path, library))
}

fn open_file(loaded: &mut BTreeMap<PathBuf, Loaded>, path: PathBuf) -> Result<Loaded, InterfaceError> {
    if let Some(known) = loaded.get(&path) {
        return Ok(*known);
    }
    let state = state(&path);
    // SAFETY: loading runs the library's constructors. It is a library of an installed ROS package, in a folder that
    // whoever started this process named; its name was checked.
    let library = unsafe { Library::new(&path) }
        .map_err(|error| InterfaceError::LibraryNotLoadable { path: path.clone(), reason: error.to_string() })?;
    let opened = Loaded { library: Box::leak(Box::new(library)), state };
    loaded.insert(path, opened);
    Ok(opened)
}

fn path(prefix: &Path, package: &str, kind: &str) -> PathBuf {
    prefix.join("lib").join(file_name(package, kind))
}

fn file_name(package: &str, kind: &str) -> String {
    format!("{DLL_PREFIX}{package}__{kind}{DLL_SUFFIX}")
}

fn state(path: &Path) -> Option<FileState> {
    let metadata = fs::metadata(path).ok()?;
    Some(FileState { length: metadata.len(), modified: metadata.modified().ok() })
}
