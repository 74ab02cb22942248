//! Documents in PDF, written object by object: sound ones, and those that no reader should trust.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Numbers of the objects that every file has.
const CATALOG: usize = 1;
const PAGES: usize = 2;
const FONT: usize = 3;

/// A PDF in the making. Objects are numbered from 1, in the order in which they are added.
pub struct PdfFile {
    objects: Vec<Vec<u8>>,
    pages: Vec<usize>,
    /// What stands in the trailer besides the catalog.
    trailer: String,
}

impl PdfFile {
    /// One with a page for each of these texts, line by line, in letters of the Latin alphabet.
    #[must_use]
    pub fn with_pages(texts: &[&str]) -> Self {
        let mut file = Self { objects: vec![Vec::new(), Vec::new()], pages: Vec::new(), trailer: String::new() };
        file.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
        for text in texts {
            file.add_page(text);
        }
        file
    }

    /// Adds an object, and says its number.
    pub fn add(&mut self, object: impl Into<Vec<u8>>) -> usize {
        self.objects.push(object.into());
        self.objects.len()
    }

    /// Adds a stream with these entries of its dictionary, and says its number.
    pub fn add_stream(&mut self, entries: &str, data: &[u8]) -> usize {
        let head = format!("<< /Length {} {entries} >>\nstream\n", data.len());
        self.add([head.as_bytes(), data, b"\nendstream"].concat())
    }

    /// Adds a page with this text.
    pub fn add_page(&mut self, text: &str) {
        let mut drawn = "BT /F1 12 Tf 14 TL 72 720 Td\n".to_owned();
        for line in text.lines() {
            let escaped = line.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
            drawn.push_str(&format!("({escaped}) Tj T*\n"));
        }
        drawn.push_str("ET");
        let content = self.add_stream("", drawn.as_bytes());
        self.add_page_of("/MediaBox [0 0 595 842]", "", content);
    }

    /// Adds a page with these entries and resources, drawn by the stream of that number.
    pub fn add_page_of(&mut self, entries: &str, resources: &str, content: usize) {
        let page = self.add(format!(
            "<< /Type /Page /Parent {PAGES} 0 R {entries} /Contents {content} 0 R \
             /Resources << /Font << /F1 {FONT} 0 R >> {resources} >> >>"
        ));
        self.pages.push(page);
    }

    /// Puts another object in the place of the one of this number.
    pub fn replace(&mut self, number: usize, object: impl Into<Vec<u8>>) {
        if let Some(place) = number.checked_sub(1).and_then(|index| self.objects.get_mut(index)) {
            *place = object.into();
        }
    }

    /// Adds to the trailer.
    pub fn add_to_trailer(&mut self, entries: &str) {
        self.trailer.push_str(entries);
    }

    /// The file.
    #[must_use]
    pub fn into_bytes(mut self) -> Vec<u8> {
        self.replace(CATALOG, format!("<< /Type /Catalog /Pages {PAGES} 0 R >>"));
        if self.objects.get(PAGES - 1).is_some_and(Vec::is_empty) {
            let kids: String = self.pages.iter().map(|page| format!("{page} 0 R ")).collect();
            self.replace(PAGES, format!("<< /Type /Pages /Kids [{kids}] /Count {} >>", self.pages.len()));
        }
        let mut bytes = b"%PDF-1.7\n".to_vec();
        let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", self.objects.len() + 1);
        for (index, object) in self.objects.iter().enumerate() {
            table.push_str(&format!("{:010} 00000 n \n", bytes.len()));
            bytes.extend(format!("{} 0 obj\n", index + 1).into_bytes());
            bytes.extend(object);
            bytes.extend(b"\nendobj\n");
        }
        let (size, start) = (self.objects.len() + 1, bytes.len());
        bytes.extend(table.into_bytes());
        let trailer = &self.trailer;
        bytes.extend(
            format!("trailer\n<< /Size {size} /Root {CATALOG} 0 R {trailer} >>\nstartxref\n{start}\n%%EOF\n")
                .into_bytes(),
        );
        bytes
    }
}

/// A PDF of these pages that wants a password.
#[must_use]
pub fn encrypted() -> Vec<u8> {
    let mut file = PdfFile::with_pages(&["secret"]);
    let nonsense = "5a".repeat(32);
    let encryption =
        file.add(format!("<< /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <{nonsense}> /U <{nonsense}> >>"));
    file.add_to_trailer(&format!("/Encrypt {encryption} 0 R /ID [<00> <00>]"));
    file.into_bytes()
}

/// A PDF whose page is a picture.
#[must_use]
pub fn scan() -> Vec<u8> {
    let mut file = PdfFile::with_pages(&[]);
    let entries = "/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8";
    let picture = file.add_stream(entries, &[127]);
    let content = file.add_stream("", b"q 595 0 0 842 0 0 cm /Im1 Do Q");
    file.add_page_of("/MediaBox [0 0 595 842]", &format!("/XObject << /Im1 {picture} 0 R >>"), content);
    file.into_bytes()
}

/// A PDF of a few kilobytes whose page has so many GiB.
#[must_use]
pub fn bomb(gib: u64) -> Vec<u8> {
    let mut file = PdfFile::with_pages(&[]);
    let mut outer = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Writing into memory does not fail.
    let _ = outer.write_all(&spaces(gib << 30));
    let content = file.add_stream("/Filter [/FlateDecode /FlateDecode]", &outer.finish().unwrap_or_default());
    file.add_page_of("/MediaBox [0 0 595 842]", "", content);
    file.into_bytes()
}

/// So many bytes of spaces, compressed without having them: a space, and then "the last one 258 times" in 13 bits.
fn spaces(length: u64) -> Vec<u8> {
    let mut bits = Bits { bytes: vec![0x78, 0xda], next: 0, used: 0 };
    // The last block, with the fixed code; its letters are written from their highest bit.
    bits.push(0b011, 3);
    bits.push_reversed(0x30 + u32::from(b' '), 8);
    for _ in 0..length / 258 {
        bits.push_reversed(0b1100_0101, 8);
        bits.push_reversed(0, 5);
    }
    bits.push_reversed(0, 7);
    bits.push(0, 7);
    bits.bytes
}

struct Bits {
    bytes: Vec<u8>,
    next: u8,
    used: u8,
}

impl Bits {
    /// From the lowest bit.
    fn push(&mut self, value: u32, count: u8) {
        for index in 0..count {
            self.next |= u8::from(value >> index & 1 == 1) << self.used;
            self.used += 1;
            if self.used == 8 {
                self.bytes.push(std::mem::take(&mut self.next));
                self.used = 0;
            }
        }
    }

    fn push_reversed(&mut self, value: u32, count: u8) {
        for index in (0..count).rev() {
            self.push(value >> index & 1, 1);
        }
    }
}

/// A PDF whose page draws a figure that draws itself.
#[must_use]
pub fn endless_figure() -> Vec<u8> {
    let mut file = PdfFile::with_pages(&[]);
    let figure = file.add("");
    let itself = format!("/Resources << /XObject << /Fm1 {figure} 0 R >> >>");
    file.replace(figure, form(&itself, "/Fm1 Do"));
    let content = file.add_stream("", b"/Fm1 Do");
    file.add_page_of("/MediaBox [0 0 595 842]", &format!("/XObject << /Fm1 {figure} 0 R >>"), content);
    file.into_bytes()
}

/// A PDF whose page draws a figure of ten figures, each of ten figures, and so on, so many times: it ends, but nobody
/// waits for that.
#[must_use]
pub fn figures_of_figures(depth: u32) -> Vec<u8> {
    let mut file = PdfFile::with_pages(&[]);
    let mut figure = file.add(form("", "0 0 m"));
    for _ in 0..depth {
        let inner = format!("/Resources << /XObject << /Fm1 {figure} 0 R >> >>");
        figure = file.add(form(&inner, &"/Fm1 Do ".repeat(10)));
    }
    let content = file.add_stream("", b"/Fm1 Do");
    file.add_page_of("/MediaBox [0 0 595 842]", &format!("/XObject << /Fm1 {figure} 0 R >>"), content);
    file.into_bytes()
}

fn form(entries: &str, content: &str) -> String {
    format!(
        "<< /Type /XObject /Subtype /Form /BBox [0 0 595 842] {entries} /Length {} >>\nstream\n{content}\nendstream",
        content.len()
    )
}

/// A PDF whose pages are their own parents and children.
#[must_use]
pub fn pages_of_themselves() -> Vec<u8> {
    let mut file = PdfFile::with_pages(&[]);
    file.replace(PAGES, format!("<< /Type /Pages /Kids [{PAGES} 0 R {PAGES} 0 R] /Parent {PAGES} 0 R /Count 2 >>"));
    file.into_bytes()
}

/// A PDF with a list in a list in a list, so many times.
#[must_use]
pub fn nested(depth: usize) -> Vec<u8> {
    let mut file = PdfFile::with_pages(&["deep"]);
    file.add(format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    file.into_bytes()
}

/// A PDF with a first page that can't be read, and a second one with this text.
#[must_use]
pub fn with_a_broken_page(text: &str) -> Vec<u8> {
    let mut file = PdfFile::with_pages(&[]);
    let content = file.add_stream("", b"BT (lost) Tj ET");
    // Without a size, and with a text in no font.
    file.add_page_of("", "", content);
    file.add_page(text);
    file.into_bytes()
}
