//! The head of a GGUF file: its version, what it says of the model, and where each of the model's tensors lies.

use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Seek};

use super::sizes;

const MAGIC: [u8; 4] = *b"GGUF";
/// Most bytes of a name.
const MOST_NAME_BYTES: u64 = 64 * 1024;
/// Most dimensions of a tensor.
const MOST_DIMENSIONS: u32 = 8;
/// Where data begins if the file does not say otherwise: at a multiple of this.
const ALIGNMENT: u64 = 32;
/// Deepest that lists lie within lists.
const DEEPEST: u32 = 4;

/// Why a head can't be read.
#[derive(Debug)]
pub(super) enum HeadError {
    Unreadable(io::Error),
    NotGguf,
    Version(u32),
    /// It goes on after the end of the file.
    Cut {
        needs: u64,
    },
    Damaged(String),
}

/// What a head says.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) architecture: String,
    pub(super) name: String,
    /// Bytes of all tensors.
    pub(super) weights: u64,
    /// Where the last tensor ends, from the beginning of the file.
    pub(super) end: u64,
    pub(super) trained_tokens: Option<u64>,
    /// The numbers that it tells, by their keys.
    numbers: BTreeMap<String, u64>,
}

impl Head {
    /// Reads a file of this length.
    pub(super) fn read(file: impl Read + Seek, length: u64) -> Result<Self, HeadError> {
        let mut reader = HeadReader { file: BufReader::new(file), at: 0, length };
        let magic: [u8; 4] = reader.bytes().map_err(|error| match error {
            HeadError::Cut { .. } => HeadError::NotGguf,
            other => other,
        })?;
        if magic != MAGIC {
            return Err(HeadError::NotGguf);
        }
        let version = reader.u32()?;
        if !(2..=3).contains(&version) {
            return Err(HeadError::Version(version));
        }
        let tensors = reader.u64()?;
        let entries = reader.u64()?;
        let mut head = Self::default();
        for _ in 0..entries {
            let key = reader.name()?;
            match reader.value(0)? {
                Said::Text(text) if key == "general.architecture" => head.architecture = text,
                Said::Text(text) if key == "general.name" => head.name = text,
                Said::Number(number) => drop(head.numbers.insert(key, number)),
                Said::Text(_) | Said::Other => {}
            }
        }
        if head.architecture.is_empty() {
            return Err(HeadError::Damaged("it does not say which architecture its model has".to_owned()));
        }
        head.trained_tokens = head.number("context_length");
        let mut last = 0_u64;
        for _ in 0..tensors {
            let (offset, bytes) = reader.tensor()?;
            let end = offset.checked_add(bytes).ok_or_else(|| too_long("a tensor"))?;
            last = last.max(end);
            head.weights = head.weights.checked_add(bytes).ok_or_else(|| too_long("the model"))?;
        }
        let alignment = head.numbers.get("general.alignment").copied().unwrap_or(ALIGNMENT);
        let begin = reader.at.checked_next_multiple_of(alignment.max(1)).ok_or_else(|| too_long("the head"))?;
        head.end = begin.checked_add(last).ok_or_else(|| too_long("the model"))?;
        Ok(head)
    }

    /// A number of the model's architecture.
    fn number(&self, key: &str) -> Option<u64> {
        self.numbers.get(&format!("{}.{key}", self.architecture)).copied()
    }

    /// The bytes that one token takes while it is held: a key and a value of 16 bits for each layer and each head.
    pub(super) fn bytes_of_a_token(&self) -> Option<u64> {
        let layers = self.number("block_count")?;
        let heads = self.number("attention.head_count")?.max(1);
        let width = self.number("embedding_length")?;
        let kept_heads = self.number("attention.head_count_kv").unwrap_or(heads);
        let of_key = self.number("attention.key_length").unwrap_or(width / heads);
        let of_value = self.number("attention.value_length").unwrap_or(width / heads);
        of_key.checked_add(of_value)?.checked_mul(kept_heads)?.checked_mul(layers)?.checked_mul(2)
    }
}

fn too_long(what: &str) -> HeadError {
    HeadError::Damaged(format!("it says that {what} is longer than any file"))
}

/// A value, as far as it is of use here.
enum Said {
    Text(String),
    Number(u64),
    Other,
}

/// Reads a head, and never past the end of the file.
struct HeadReader<F> {
    file: BufReader<F>,
    at: u64,
    length: u64,
}

impl<F: Read + Seek> HeadReader<F> {
    /// So many bytes are to follow.
    fn expect(&self, bytes: u64) -> Result<u64, HeadError> {
        let needs = self.at.checked_add(bytes).ok_or_else(|| too_long("a part of it"))?;
        if needs > self.length { Err(HeadError::Cut { needs }) } else { Ok(needs) }
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], HeadError> {
        let mut bytes = [0; N];
        let after = self.expect(N as u64)?;
        self.file.read_exact(&mut bytes).map_err(HeadError::Unreadable)?;
        self.at = after;
        Ok(bytes)
    }

    fn skip(&mut self, bytes: u64) -> Result<(), HeadError> {
        let after = self.expect(bytes)?;
        let offset = i64::try_from(bytes).map_err(|_| too_long("a part of it"))?;
        self.file.seek_relative(offset).map_err(HeadError::Unreadable)?;
        self.at = after;
        Ok(())
    }

    fn u32(&mut self) -> Result<u32, HeadError> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, HeadError> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// A text that is kept.
    fn name(&mut self) -> Result<String, HeadError> {
        let length = self.u64()?;
        if length > MOST_NAME_BYTES {
            return Err(HeadError::Damaged(format!("it has a name of {length} bytes")));
        }
        let after = self.expect(length)?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        self.file.read_exact(&mut bytes).map_err(HeadError::Unreadable)?;
        self.at = after;
        String::from_utf8(bytes).map_err(|_| HeadError::Damaged("a name in it is no text".to_owned()))
    }

    /// A text, which is kept if it is as short as a name.
    fn text(&mut self) -> Result<Said, HeadError> {
        let length = self.u64()?;
        let after = self.expect(length)?;
        if length > MOST_NAME_BYTES {
            self.skip(length)?;
            return Ok(Said::Other);
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        self.file.read_exact(&mut bytes).map_err(HeadError::Unreadable)?;
        self.at = after;
        Ok(String::from_utf8(bytes).map_or(Said::Other, Said::Text))
    }

    fn value(&mut self, depth: u32) -> Result<Said, HeadError> {
        let kind = self.u32()?;
        self.value_of(kind, depth)
    }

    fn value_of(&mut self, kind: u32, depth: u32) -> Result<Said, HeadError> {
        let number = |number: i64| u64::try_from(number).map_or(Said::Other, Said::Number);
        Ok(match kind {
            0 => Said::Number(self.bytes().map(|[byte]: [u8; 1]| byte.into())?),
            1 => number(self.bytes().map(|[byte]: [u8; 1]| i8::from_le_bytes([byte]).into())?),
            2 => Said::Number(self.bytes().map(u16::from_le_bytes)?.into()),
            3 => number(self.bytes().map(i16::from_le_bytes)?.into()),
            4 => Said::Number(self.u32()?.into()),
            5 => number(self.bytes().map(i32::from_le_bytes)?.into()),
            6 => self.skip(4).map(|()| Said::Other)?,
            7 => self.skip(1).map(|()| Said::Other)?,
            8 => self.text()?,
            9 => self.list(depth)?,
            10 => Said::Number(self.u64()?),
            11 => number(self.bytes().map(i64::from_le_bytes)?),
            12 => self.skip(8).map(|()| Said::Other)?,
            other => return Err(HeadError::Damaged(format!("a value in it is of kind {other}, which does not exist"))),
        })
    }

    fn list(&mut self, depth: u32) -> Result<Said, HeadError> {
        let kind = self.u32()?;
        let items = self.u64()?;
        let width = match kind {
            0 | 1 | 7 => Some(1),
            2 | 3 => Some(2),
            4..=6 => Some(4),
            10..=12 => Some(8),
            _ => None,
        };
        if let Some(width) = width {
            self.skip(items.checked_mul(width).ok_or_else(|| too_long("a list"))?)?;
            return Ok(Said::Other);
        }
        if depth >= DEEPEST {
            return Err(HeadError::Damaged("it has lists within lists without end".to_owned()));
        }
        // Each item takes eight bytes at least, so a list that is told too long ends with the file.
        for _ in 0..items {
            match kind {
                8 => {
                    let length = self.u64()?;
                    self.skip(length)?;
                }
                _ => drop(self.value_of(kind, depth + 1)?),
            }
        }
        Ok(Said::Other)
    }

    /// Where a tensor begins, from the beginning of all of them, and its bytes.
    fn tensor(&mut self) -> Result<(u64, u64), HeadError> {
        let name = self.name()?;
        let dimensions = self.u32()?;
        if dimensions > MOST_DIMENSIONS {
            return Err(HeadError::Damaged(format!("its tensor '{}' has {dimensions} dimensions", shown(&name))));
        }
        let mut numbers = 1_u64;
        for _ in 0..dimensions {
            numbers = numbers.checked_mul(self.u64()?).ok_or_else(|| too_long("a tensor"))?;
        }
        let format = self.u32()?;
        let offset = self.u64()?;
        let bytes = sizes::bytes(format, numbers).ok_or_else(|| too_long("a tensor"))?;
        Ok((offset, bytes))
    }
}

/// A name from a file, for an error.
fn shown(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(60).collect()
}
