//! What must be fixed in a prefix made of wheels before anything outside Python can use it.
//!
//! The wheels are made to be imported by the Python that they were installed for. Each function here fixes one thing
//! that stands in the way of linking, of CMake or of bindgen, and says why. Change [`VERSION`] with every change here:
//! it is part of the prefix's key, so that prefixes with the old fixes are left behind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// Part of the key of a private prefix.
pub(crate) const VERSION: &str = "1";

/// The part of a library's name that marks Python's generated type support.
const PYTHON_GENERATOR: &str = "__rosidl_generator_py.so";

/// Where the machines that built the wheels keep their Pythons.
const FOREIGN_PYTHON: &str = "/opt/python/";

/// Gives `-lrmw_implementation` something to link.
///
/// The wheels link one RMW directly and ship no `librmw_implementation.so`, which r2r names as a library. A linker
/// script in its place passes the linker on to the RMW that is there.
pub(crate) fn name_the_rmw(prefix: &Path) -> Result<()> {
    let library = prefix.join("lib/librmw_implementation.so");
    if library.exists() {
        return Ok(());
    }
    fs::write(&library, "INPUT(librmw_fastrtps_cpp.so)\n")
        .with_context(|| format!("cannot write {}", library.display()))
}

/// Makes the libraries loadable outside Python.
///
/// Many list Python's generated type support as needed, though they do not use it. In a process without Python the
/// loader then fails on Python's own symbols (`PyExc_RuntimeError`).
pub(crate) fn forget_python_libraries(prefix: &Path) -> Result<usize> {
    let patchelf = prefix.join("bin/patchelf");
    let mut fixed = 0;
    for library in shared_libraries(&prefix.join("lib"))? {
        if is_python_generator(&library) {
            continue;
        }
        let needed = run_patchelf(&patchelf, &["--print-needed".as_ref(), library.as_os_str()])?;
        let unwanted: Vec<&str> = needed.lines().filter(|name| name.contains(PYTHON_GENERATOR)).collect();
        if unwanted.is_empty() {
            continue;
        }
        let mut arguments: Vec<&std::ffi::OsStr> = Vec::new();
        for name in &unwanted {
            arguments.extend(["--remove-needed".as_ref(), std::ffi::OsStr::new(name)]);
        }
        arguments.push(library.as_os_str());
        run_patchelf(&patchelf, &arguments)?;
        fixed += 1;
    }
    Ok(fixed)
}

fn is_python_generator(library: &Path) -> bool {
    library.file_name().is_some_and(|name| name.to_string_lossy().contains(PYTHON_GENERATOR))
}

/// The real files among a folder's `lib*.so*`: a symbolic link's target is fixed once, under its own name.
fn shared_libraries(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut libraries = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_library = name.starts_with("lib") && name.contains(".so");
        if is_library && entry.file_type().is_ok_and(|kind| kind.is_file()) && is_elf(&entry.path())? {
            libraries.push(entry.path());
        }
    }
    libraries.sort();
    Ok(libraries)
}

/// Linker scripts are called `.so` too.
fn is_elf(path: &Path) -> Result<bool> {
    use std::io::Read as _;
    let mut start = [0; 4];
    let mut file = fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(file.read_exact(&mut start).is_ok() && start == *b"\x7fELF")
}

fn run_patchelf(patchelf: &Path, arguments: &[&std::ffi::OsStr]) -> Result<String> {
    let output = Command::new(patchelf)
        .args(arguments)
        .output()
        .with_context(|| format!("cannot start {}", patchelf.display()))?;
    if !output.status.success() {
        bail!("patchelf {arguments:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The include folders that take the place of the build machines' ones.
#[derive(Debug, Clone)]
pub(crate) struct IncludeFolders {
    pub(crate) python: String,
    pub(crate) numpy: String,
}

/// Lets CMake's generate step find the headers of Python and numpy.
///
/// The exported targets name the include folders of the machine that built the wheels, and CMake refuses targets whose
/// include folders do not exist.
pub(crate) fn correct_include_folders(prefix: &Path, folders: &IncludeFolders) -> Result<usize> {
    let share = prefix.join("share");
    let mut fixed = 0;
    for package in fs::read_dir(&share).with_context(|| format!("cannot read {}", share.display()))? {
        let folder = package.with_context(|| format!("cannot read {}", share.display()))?.path().join("cmake");
        // Not every folder in `share` is a package with CMake exports.
        let Ok(files) = fs::read_dir(&folder) else { continue };
        for file in files {
            let file = file.with_context(|| format!("cannot read {}", folder.display()))?.path();
            if file.extension().is_none_or(|extension| extension != "cmake") {
                continue;
            }
            let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let corrected =
                replace_foreign_folders(&text, folders).with_context(|| format!("cannot fix {}", file.display()))?;
            if corrected != text {
                fs::write(&file, corrected).with_context(|| format!("cannot write {}", file.display()))?;
                fixed += 1;
            }
        }
    }
    Ok(fixed)
}

/// Replaces each path below [`FOREIGN_PYTHON`] by the folder that it stands for.
fn replace_foreign_folders(text: &str, folders: &IncludeFolders) -> Result<String> {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, from)) = rest.split_once(FOREIGN_PYTHON) {
        let end = from.find([';', '"', '>', ')', ' ', '\t', '\n']).unwrap_or(from.len());
        let (path, after) = from.split_at(end);
        result.push_str(before);
        if path.ends_with("/numpy/_core/include") || path.ends_with("/numpy/core/include") {
            result.push_str(&folders.numpy);
        } else if path.split('/').rev().nth(1) == Some("include") {
            result.push_str(&folders.python);
        } else {
            bail!("no folder of this machine is known for {FOREIGN_PYTHON}{path}");
        }
        rest = after;
    }
    result.push_str(rest);
    Ok(result)
}

/// The folders of vendored libraries (OpenSSL, libyaml, spdlog ...), to stand behind `lib` on the loader's path.
///
/// Libraries find them relative to `site-packages` of the Python that loads them; outside Python nothing does.
pub(crate) fn vendored_library_folders(site_packages: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(site_packages).with_context(|| format!("cannot read {}", site_packages.display()))? {
        let entry = entry.with_context(|| format!("cannot read {}", site_packages.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("ros_") && name.ends_with(".libs") {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

/// What bindgen needs beside the wheel's libclang: the compiler's own headers (`stddef.h` and the like), which that
/// wheel leaves out. `None` if the compiler does not tell where they are.
pub(crate) fn compiler_headers() -> Option<String> {
    let compiler = crate::prerequisites::find_any(&["gcc", "cc", "clang"])?;
    // gcc and clang know different names for the folder; each answers the other's question with the bare word.
    ["-print-file-name=include", "-print-resource-dir"].iter().find_map(|question| {
        let output = Command::new(&compiler).arg(question).output().ok()?;
        let answer = String::from_utf8(output.stdout).ok()?;
        let folder = Path::new(answer.trim());
        [folder.to_owned(), folder.join("include")]
            .into_iter()
            .find(|folder| folder.is_absolute() && folder.join("stddef.h").is_file())
            .map(|folder| folder.display().to_string())
    })
}

#[cfg(test)]
mod tests;
