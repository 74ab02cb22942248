//! Words of the data, which stay as long as the process does.
//!
//! Most of them have fewer than eight letters, and a block of memory of its own costs each 32 bytes, so they are written
//! one after another into large ones.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Bytes that are taken at once.
const BLOCK: usize = 64 * 1024;

/// What is left of the newest block.
static FREE: Mutex<&'static mut [u8]> = Mutex::new(&mut []);

/// The text, kept until the process ends. Only for data: what people or robots say would fill the memory.
pub(crate) fn kept(text: &str) -> &'static str {
    let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
    if free.len() < text.len() {
        *free = Box::leak(vec![0; BLOCK.max(text.len())].into_boxed_slice());
    }
    let (place, rest) = std::mem::take(&mut *free).split_at_mut(text.len());
    *free = rest;
    place.copy_from_slice(text.as_bytes());
    // It is the text that was given, so it is valid.
    std::str::from_utf8(place).unwrap_or_default()
}

/// Words of the data in order, each once.
pub(crate) fn in_order(words: impl Iterator<Item = String>) -> Box<[&'static str]> {
    let words: BTreeSet<String> = words.collect();
    words.iter().map(|word| kept(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_stays_as_it_was() {
        let long = "x".repeat(BLOCK + 1);
        let texts = ["", "küche", "go", long.as_str(), "to the kitchen"];
        let all: Vec<&str> = texts.iter().map(|text| kept(text)).collect();
        assert_eq!(all, texts);
    }
}
