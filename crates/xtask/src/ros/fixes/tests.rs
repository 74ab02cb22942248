use super::*;

fn folders() -> IncludeFolders {
    IncludeFolders { python: String::from("/usr/include/python3.11"), numpy: String::from("/venv/numpy/_core/include") }
}

#[test]
fn foreign_include_folders_are_replaced() {
    let export = concat!(
        "set_target_properties(a::a PROPERTIES\n",
        "  INTERFACE_INCLUDE_DIRECTORIES \"${_IMPORT_PREFIX}/include/a;/opt/python/cp311-cp311/include/python3.11;",
        "/opt/python/cp311-cp311/lib/python3.11/site-packages/numpy/_core/include\"\n)\n"
    );
    let expected = concat!(
        "set_target_properties(a::a PROPERTIES\n",
        "  INTERFACE_INCLUDE_DIRECTORIES \"${_IMPORT_PREFIX}/include/a;/usr/include/python3.11;",
        "/venv/numpy/_core/include\"\n)\n"
    );
    assert_eq!(replace_foreign_folders(export, &folders()).unwrap(), expected);
    assert_eq!(replace_foreign_folders(expected, &folders()).unwrap(), expected);
}

#[test]
fn an_unknown_foreign_folder_is_an_error() {
    let error = replace_foreign_folders("\"/opt/python/cp311-cp311/lib/libpython.a\"", &folders()).unwrap_err();
    assert!(error.to_string().contains("/opt/python/cp311-cp311/lib/libpython.a"), "{error}");
}

#[test]
fn all_exports_of_a_prefix_are_corrected_and_nothing_else() {
    let prefix = tempfile::tempdir().unwrap();
    let cmake = prefix.path().join("share/a/cmake");
    fs::create_dir_all(&cmake).unwrap();
    fs::create_dir_all(prefix.path().join("share/without_exports")).unwrap();
    fs::write(cmake.join("aExport.cmake"), "\"/opt/python/cp310-cp310/include/python3.10\"").unwrap();
    fs::write(cmake.join("aConfig.cmake"), "include(aExport.cmake)").unwrap();
    fs::write(cmake.join("template.in"), "/opt/python/unknown").unwrap();
    assert_eq!(correct_include_folders(prefix.path(), &folders()).unwrap(), 1);
    assert_eq!(fs::read_to_string(cmake.join("aExport.cmake")).unwrap(), "\"/usr/include/python3.11\"");
    assert_eq!(fs::read_to_string(cmake.join("template.in")).unwrap(), "/opt/python/unknown");
}

#[test]
fn the_rmw_gets_a_linker_script_unless_it_is_there() {
    let prefix = tempfile::tempdir().unwrap();
    fs::create_dir(prefix.path().join("lib")).unwrap();
    name_the_rmw(prefix.path()).unwrap();
    let library = prefix.path().join("lib/librmw_implementation.so");
    assert_eq!(fs::read_to_string(&library).unwrap(), "INPUT(librmw_fastrtps_cpp.so)\n");
    fs::write(&library, "a real library").unwrap();
    name_the_rmw(prefix.path()).unwrap();
    assert_eq!(fs::read_to_string(&library).unwrap(), "a real library");
}

#[test]
fn only_real_elf_libraries_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let elf = folder.path().join("liba.so.1");
    fs::write(&elf, b"\x7fELF and more").unwrap();
    std::os::unix::fs::symlink(&elf, folder.path().join("liba.so")).unwrap();
    fs::write(folder.path().join("libscript.so"), "INPUT(liba.so)").unwrap();
    fs::write(folder.path().join("notes.txt"), "no library").unwrap();
    assert_eq!(shared_libraries(folder.path()).unwrap(), [elf]);
    assert!(is_python_generator(Path::new("/p/lib/liba_msgs__rosidl_generator_py.so")));
    assert!(!is_python_generator(Path::new("/p/lib/liba_msgs__rosidl_generator_c.so")));
}

#[test]
fn vendored_folders_come_in_a_stable_order() {
    let site_packages = tempfile::tempdir().unwrap();
    for name in ["ros_rcl.libs", "numpy.libs", "ros_fastrtps.libs", "ros_rcl-9.2.8.dist-info"] {
        fs::create_dir(site_packages.path().join(name)).unwrap();
    }
    let expected: Vec<_> = ["ros_fastrtps.libs", "ros_rcl.libs"].map(|name| site_packages.path().join(name)).into();
    assert_eq!(vendored_library_folders(site_packages.path()).unwrap(), expected);
}
