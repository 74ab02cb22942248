//! Reads documents from files: plain text, Markdown, HTML. What a file holds is hostile until checked: it is read only up to
//! a size, and nothing in it is run or fetched.

mod folder;
mod markdown;

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::document::{Document, Section};

pub use folder::{FileToRead, files};

/// Most bytes of a file: a manual has a few hundred kilobytes of text.
pub const FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Columns of HTML as text: so many that no paragraph is broken.
const COLUMNS: usize = 100_000;

/// The kinds of files that are read, by the end of their names.
const KINDS: [(&str, Kind); 7] = [
    ("htm", Kind::Html),
    ("html", Kind::Html),
    ("markdown", Kind::Markdown),
    ("md", Kind::Markdown),
    ("rst", Kind::Text),
    ("text", Kind::Text),
    ("txt", Kind::Text),
];

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Markdown,
    Html,
}

/// Why a file is not read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It can't be opened or read.
    #[error("{file} can't be read: {problem}", file = file.display())]
    Unreadable {
        /// Which.
        file: PathBuf,
        /// Why.
        problem: String,
    },
    /// Its kind is not known.
    #[error("{file} is not read: only files that end in {} are", KINDS.map(|(end, _)| format!(".{end}")).join(" "), file = file.display())]
    UnknownKind {
        /// Which.
        file: PathBuf,
    },
    /// It is too large.
    #[error("{file} has {bytes} bytes, more than the {FILE_BYTES} that are read; split it", file = file.display())]
    TooLarge {
        /// Which.
        file: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// It is no text.
    #[error("{file} is no text in UTF-8; save it as UTF-8 first", file = file.display())]
    NotText {
        /// Which.
        file: PathBuf,
    },
    /// It holds no words.
    #[error("{file} holds no text", file = file.display())]
    Empty {
        /// Which.
        file: PathBuf,
    },
}

/// Reads a file as the document of this id. Blocks on the disk.
///
/// # Errors
/// Why it is not read, and what to do.
pub fn read(file: &Path, id: &str) -> Result<Document, ReadError> {
    let kind = kind(file).ok_or_else(|| ReadError::UnknownKind { file: file.to_owned() })?;
    let text = text(file)?;
    let sections = match kind {
        Kind::Text => vec![Section { place: String::new(), text }],
        Kind::Markdown => markdown::sections(&text),
        Kind::Html => markdown::sections(&from_html(file, &text)?),
    };
    let sections: Vec<Section> = sections.into_iter().filter(|section| !section.text.trim().is_empty()).collect();
    if sections.is_empty() {
        return Err(ReadError::Empty { file: file.to_owned() });
    }
    Ok(Document { id: id.to_owned(), metadata: std::collections::BTreeMap::new(), sections })
}

fn kind(file: &Path) -> Option<Kind> {
    let end = file.extension()?.to_str()?.to_lowercase();
    KINDS.iter().find(|(known, _)| *known == end).map(|(_, kind)| *kind)
}

/// The text of a file, which may begin with a byte order mark.
fn text(file: &Path) -> Result<String, ReadError> {
    use std::io::Read as _;
    let unreadable =
        |problem: std::io::Error| ReadError::Unreadable { file: file.to_owned(), problem: problem.to_string() };
    let opened = std::fs::File::open(file).map_err(unreadable)?;
    let about = opened.metadata().map_err(unreadable)?;
    if about.len() > FILE_BYTES {
        return Err(ReadError::TooLarge { file: file.to_owned(), bytes: about.len() });
    }
    let mut bytes = Vec::new();
    // A file that grows, or has no size, is not read further either.
    opened.take(FILE_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES {
        return Err(ReadError::TooLarge { file: file.to_owned(), bytes: bytes.len() as u64 });
    }
    let text = String::from_utf8(bytes).map_err(|_| ReadError::NotText { file: file.to_owned() })?;
    if text.contains('\0') {
        return Err(ReadError::NotText { file: file.to_owned() });
    }
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// HTML as Markdown: its headings and paragraphs; scripts, styles and addresses of links are left out.
fn from_html(file: &Path, html: &str) -> Result<String, ReadError> {
    let shown = html2text::config::plain_no_decorate().string_from_read(html.as_bytes(), COLUMNS);
    shown.map_err(|problem| ReadError::Unreadable { file: file.to_owned(), problem: problem.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, content).unwrap();
        (folder, file)
    }

    #[test]
    fn a_text_is_read_without_its_byte_order_mark() {
        let (_folder, file) = written("note.TXT", "\u{feff}The key hangs by the door.".as_bytes());
        let document = read(&file, "note.txt").unwrap();
        assert_eq!(
            document.sections,
            [Section { place: String::new(), text: "The key hangs by the door.".to_owned() }]
        );
    }

    #[test]
    fn html_is_read_by_its_headings_and_without_its_scripts() {
        let html = "<html><head><title>x</title><script>steal()</script><style>p{}</style></head><body>\
                    <h1>Kettle</h1><p>Holds 2&nbsp;litres.</p><h2>Descaling</h2><p>Fill it with <b>vinegar</b> \
                    &amp; water. <a href='http://example.org'>More</a></p></body></html>";
        let (_folder, file) = written("kettle.html", html.as_bytes());
        let document = read(&file, "kettle.html").unwrap();
        let places: Vec<&str> = document.sections.iter().map(|section| section.place.as_str()).collect();
        assert_eq!(places, ["Kettle", "Kettle, Descaling"], "{document:#?}");
        let descaling = document.sections[1].text.as_str();
        assert!(descaling.contains("vinegar & water."), "{descaling}");
        let all = format!("{document:?}");
        assert!(!all.contains("steal") && !all.contains("example.org"), "{all}");
    }

    #[test]
    fn what_is_no_text_too_large_empty_or_of_another_kind_is_refused_with_the_reason() {
        let (_folder, binary) = written("a.txt", &[0xff, 0xfe, 0x00]);
        assert!(read(&binary, "a").unwrap_err().to_string().ends_with("save it as UTF-8 first"));
        let (_folder, null) = written("a.md", b"a\0b");
        assert!(matches!(read(&null, "a"), Err(ReadError::NotText { .. })));
        let (_folder, empty) = written("a.md", b" \n\n");
        assert!(matches!(read(&empty, "a"), Err(ReadError::Empty { .. })));
        let (_folder, image) = written("a.png", b"x");
        assert!(read(&image, "a").unwrap_err().to_string().contains(".md"), "it says what is read");
        let (_folder, large) = written("a.txt", b"");
        std::fs::File::options().write(true).open(&large).unwrap().set_len(FILE_BYTES + 1).unwrap();
        assert!(matches!(read(&large, "a"), Err(ReadError::TooLarge { .. })));
        assert!(matches!(read(Path::new("/dev/zero.txt"), "a"), Err(ReadError::Unreadable { .. })));
    }

    #[test]
    fn a_file_without_an_end_is_not_read_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let endless = folder.path().join("endless.txt");
        std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
        assert!(matches!(read(&endless, "a"), Err(ReadError::TooLarge { .. })));
    }
}
