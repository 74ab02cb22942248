//! `cortex knowledge add` with documents in PDF, sound and hostile: each in a process of its own, which is this program again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use cortex_knowledge::read::{PdfLimits, PdfReader, ReadError, read};
use cortex_testkit::pdf::{self, PdfFile};

const CORTEX: &str = env!("CARGO_BIN_EXE_cortex");

/// The status of `cortex knowledge` in this folder, and what it prints.
fn knowledge(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(CORTEX);
    command.arg("knowledge").args(arguments).env_clear().env("HOME", folder).stdin(Stdio::null()).current_dir(folder);
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

/// What a reader within these limits says of a file.
fn refused(file: &[u8], limits: PdfLimits) -> ReadError {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pdf");
    std::fs::write(&path, file).unwrap();
    let PdfLimits { memory_mib, seconds } = limits;
    let arguments = vec!["read-pdf".to_owned(), memory_mib.to_string(), seconds.to_string()];
    read(&path, "a.pdf", &PdfReader::new(CORTEX, arguments, limits)).unwrap_err()
}

#[test]
fn a_manual_in_pdf_is_found_by_its_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages =
        ["Kettle K-200\nHolds 2 litres (at most).", "", "Descaling\nFill it with vine-\ngar, and wait an hour."];
    std::fs::write(folder.path().join("Kettle.PDF"), PdfFile::with_pages(&pages).into_bytes()).unwrap();
    let (code, told) = knowledge(folder.path(), &["add", "Kettle.PDF"]);
    assert!(code == Some(0) && told.starts_with("1 added, 0 replaced, 0 unchanged, 0 not read"), "{told}");
    let (_, found) = knowledge(folder.path(), &["search", "descaling", "with", "vinegar"]);
    assert!(found.starts_with("100 %  Kettle.PDF, page 3\n"), "{found}");
    assert!(found.contains("Descaling Fill it with vinegar, and wait an hour."), "{found}");
    let (_, found) = knowledge(folder.path(), &["search", "how many litres?"]);
    assert!(found.contains("Kettle.PDF, page 1") && found.contains("Holds 2 litres (at most)."), "{found}");
    let (_, told) = knowledge(folder.path(), &["add", "Kettle.PDF"]);
    assert!(told.starts_with("0 added, 0 replaced, 1 unchanged, 0 not read"), "{told}");
}

#[test]
fn hostile_files_are_named_with_the_reason_and_the_others_are_added() {
    let folder = tempfile::tempdir().unwrap();
    let sound = PdfFile::with_pages(&["The fuse box is in the cellar."]).into_bytes();
    let (head, _) = sound.split_at(sound.len() / 2);
    let says = [
        ("bomb.pdf", pdf::bomb(1), "it takes more than "),
        ("cut.pdf", head.to_vec(), "can't be read as PDF: "),
        ("empty.pdf", Vec::new(), "can't be read as PDF: "),
        ("encrypted.pdf", pdf::encrypted(), "is encrypted; save it without a password first"),
        ("figure.pdf", pdf::endless_figure(), "it takes more than 768 MiB of memory, or endless nesting; split it"),
        ("pages.pdf", pdf::pages_of_themselves(), "can't be read as PDF: it has no pages"),
        ("scan.pdf", pdf::scan(), "has no text in it: it is a scan; run OCR first"),
        ("text.pdf", b"Not a PDF at all.".to_vec(), "can't be read as PDF: "),
    ];
    for (name, bytes, _) in &says {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let large = std::fs::File::create(folder.path().join("large.pdf")).unwrap();
    large.set_len(500 << 20).unwrap();
    std::fs::write(folder.path().join("fuses.pdf"), &sound).unwrap();
    // What no page asks for does no harm.
    std::fs::write(folder.path().join("nested.pdf"), pdf::nested(1_000_000)).unwrap();
    std::fs::write(folder.path().join("page.pdf"), pdf::with_a_broken_page("Second page.")).unwrap();
    let (code, told) = knowledge(folder.path(), &["add", "."]);
    assert_eq!(code, Some(1), "{told}");
    for (name, _, reason) in says {
        assert!(
            told.lines().any(|line| line.contains(&format!("/{name} ")) && line.contains(reason)),
            "{name}: {told}"
        );
    }
    assert!(told.contains("large.pdf has 524288000 bytes, more than the 67108864 that are read; split it"), "{told}");
    assert!(told.contains("page.pdf is read without the page 1, which can't be read"), "{told}");
    let (_, listed) = knowledge(folder.path(), &["list"]);
    assert_eq!(listed, "fuses.pdf  1 passage\nnested.pdf  1 passage\npage.pdf  1 passage\n");
}

#[test]
fn a_file_that_takes_too_long_is_given_up() {
    let limits = PdfLimits { seconds: 1, ..PdfLimits::default() };
    let problem = refused(&pdf::figures_of_figures(12), limits).to_string();
    assert!(problem.contains("it takes more than 1 s of a processor; split it"), "{problem}");
}

#[test]
fn a_bomb_takes_no_more_memory_than_is_given_to_it() {
    let limits = PdfLimits { memory_mib: 256, seconds: 300 };
    let problem = refused(&pdf::bomb(1), limits).to_string();
    assert!(problem.contains("it takes more than 256 MiB of memory, or endless nesting"), "{problem}");
}
