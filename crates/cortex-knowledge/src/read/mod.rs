//! Reads documents from files: plain text, Markdown, HTML, PDF. What a file holds is hostile until checked: it is read only up
//! to a size, and nothing in it is run or fetched.

mod folder;
mod markdown;
mod pdf;

use std::fs::File;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::document::{Document, Section};
use pdf::{Failure, Pages};

pub use folder::{FileToRead, files};
pub use pdf::{PDF_BYTES, PdfLimits, PdfReader, extract_pages};

/// Most bytes of a file but a PDF: a manual has a few hundred kilobytes of text.
pub const FILE_BYTES: u64 = 16 * 1024 * 1024;
/// Columns of HTML as text: so many that no paragraph is broken.
const COLUMNS: usize = 100_000;

/// The kinds of files that are read, by the end of their names.
const KINDS: [(&str, Kind); 8] = [
    ("htm", Kind::Html),
    ("html", Kind::Html),
    ("markdown", Kind::Markdown),
    ("md", Kind::Markdown),
    ("pdf", Kind::Pdf),
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
    Pdf,
}

/// A file as a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadDocument {
    /// What could be read.
    pub document: Document,
    /// Pages of a PDF that could not, counted from 1.
    pub unread_pages: Vec<u32>,
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
    #[error("{file} has {bytes} bytes, more than the {most} that are read; split it", file = file.display())]
    TooLarge {
        /// Which.
        file: PathBuf,
        /// Its size.
        bytes: u64,
        /// Most bytes of its kind.
        most: u64,
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
    /// It is a PDF whose pages are pictures.
    #[error("{file} has no text in it: it is a scan; run OCR first", file = file.display())]
    Scan {
        /// Which.
        file: PathBuf,
    },
    /// It is a PDF that wants a password.
    #[error("{file} is encrypted; save it without a password first", file = file.display())]
    Encrypted {
        /// Which.
        file: PathBuf,
    },
    /// It is no PDF, or a broken one.
    #[error("{file} can't be read as PDF: {problem}; open it in a viewer, and print it as PDF anew", file = file.display())]
    DamagedPdf {
        /// Which.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// It takes more than is given to one PDF.
    #[error("{file} is not read: it takes {what}; split it, or print it as PDF anew", file = file.display())]
    TooDemanding {
        /// Which.
        file: PathBuf,
        /// What it takes too much of.
        what: String,
    },
    /// The process that reads PDF can't be started.
    #[error("{file} is not read: the process that reads PDF can't be started: {problem}", file = file.display())]
    NoPdfReader {
        /// Which.
        file: PathBuf,
        /// Why.
        problem: String,
    },
}

/// Reads a file as the document of this id. Blocks on the disk, and until a PDF is read.
///
/// # Errors
/// Why it is not read, and what to do.
pub fn read(file: &Path, id: &str, pdf: &PdfReader) -> Result<ReadDocument, ReadError> {
    let kind = kind(file).ok_or_else(|| ReadError::UnknownKind { file: file.to_owned() })?;
    let (sections, unread_pages) = match kind {
        Kind::Text => (vec![Section { place: String::new(), text: text(file)? }], Vec::new()),
        Kind::Markdown => (markdown::sections(&text(file)?), Vec::new()),
        Kind::Html => (markdown::sections(&from_html(file, &text(file)?)?), Vec::new()),
        Kind::Pdf => from_pdf(file, pdf)?,
    };
    let sections: Vec<Section> = sections.into_iter().filter(|section| !section.text.trim().is_empty()).collect();
    if sections.is_empty() {
        return Err(ReadError::Empty { file: file.to_owned() });
    }
    let document = Document { id: id.to_owned(), metadata: std::collections::BTreeMap::new(), sections };
    Ok(ReadDocument { document, unread_pages })
}

fn kind(file: &Path) -> Option<Kind> {
    let end = file.extension()?.to_str()?.to_lowercase();
    KINDS.iter().find(|(known, _)| *known == end).map(|(_, kind)| *kind)
}

/// Opens a file that has no more bytes than that. What is no file, such as a pipe, might never end.
fn open(file: &Path, most: u64) -> Result<File, ReadError> {
    let unreadable = |problem: String| ReadError::Unreadable { file: file.to_owned(), problem };
    let about = std::fs::metadata(file).map_err(|problem| unreadable(problem.to_string()))?;
    if !about.is_file() {
        return Err(unreadable("it is no file".to_owned()));
    }
    if about.len() > most {
        return Err(ReadError::TooLarge { file: file.to_owned(), bytes: about.len(), most });
    }
    File::open(file).map_err(|problem| unreadable(problem.to_string()))
}

/// The text of a file, which may begin with a byte order mark.
fn text(file: &Path) -> Result<String, ReadError> {
    use std::io::Read as _;
    let opened = open(file, FILE_BYTES)?;
    let mut bytes = Vec::new();
    // A file that grows is not read further either.
    opened
        .take(FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|problem| ReadError::Unreadable { file: file.to_owned(), problem: problem.to_string() })?;
    if bytes.len() as u64 > FILE_BYTES {
        return Err(ReadError::TooLarge { file: file.to_owned(), bytes: bytes.len() as u64, most: FILE_BYTES });
    }
    let text = String::from_utf8(bytes).map_err(|_| ReadError::NotText { file: file.to_owned() })?;
    if text.contains('\0') {
        return Err(ReadError::NotText { file: file.to_owned() });
    }
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// A section for each page, and the pages that can't be read.
fn from_pdf(path: &Path, reader: &PdfReader) -> Result<(Vec<Section>, Vec<u32>), ReadError> {
    let opened = open(path, PDF_BYTES)?;
    let file = path.to_owned();
    let Pages { texts, unread } = reader.pages(opened).map_err(|failure| match failure {
        Failure::NotStarted(problem) => ReadError::NoPdfReader { file, problem: problem.to_string() },
        Failure::Encrypted => ReadError::Encrypted { file },
        Failure::Damaged(problem) => ReadError::DamagedPdf { file, problem },
        Failure::TooDemanding(what) => ReadError::TooDemanding { file, what },
    })?;
    let has_text = texts.iter().any(|(_, text)| !text.trim().is_empty());
    if !has_text && unread.is_empty() {
        return Err(ReadError::Scan { file: path.to_owned() });
    }
    if !has_text {
        return Err(ReadError::DamagedPdf { file: path.to_owned(), problem: "no page of it can be read".to_owned() });
    }
    let section = |(number, text)| Section { place: format!("page {number}"), text };
    Ok((texts.into_iter().map(section).collect(), unread))
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

    fn read(file: &Path, id: &str) -> Result<Document, ReadError> {
        let no_pdf = PdfReader::new("/nowhere", Vec::new(), PdfLimits::default());
        super::read(file, id, &no_pdf).map(|read| read.document)
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
        let (_folder, large) = written("a.pdf", b"");
        std::fs::File::options().write(true).open(&large).unwrap().set_len(500 << 20).unwrap();
        assert!(matches!(read(&large, "a"), Err(ReadError::TooLarge { most: PDF_BYTES, .. })));
        assert!(matches!(read(Path::new("/dev/zero.txt"), "a"), Err(ReadError::Unreadable { .. })));
    }

    #[test]
    fn what_is_no_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["endless.txt", "endless.pdf"] {
            let endless = folder.path().join(name);
            std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
            assert!(matches!(read(&endless, "a"), Err(ReadError::Unreadable { .. })));
        }
        let pipe = folder.path().join("pipe.md");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, kind, mode, 0).unwrap();
        assert!(read(&pipe, "a").unwrap_err().to_string().contains("it is no file"));
    }
}
