//! Files that are no models, or no more.

use std::io::Write as _;

use super::*;

fn text(text: &str) -> Vec<u8> {
    let mut bytes = (text.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn string_entry(key: &str, value: &str) -> Vec<u8> {
    [text(key), 8_u32.to_le_bytes().to_vec(), text(value)].concat()
}

fn number_entry(key: &str, value: u32) -> Vec<u8> {
    [text(key), 4_u32.to_le_bytes().to_vec(), value.to_le_bytes().to_vec()].concat()
}

/// A file with these entries and one tensor of so many 32-bit numbers, whole.
fn model(architecture: &str, numbers: u64) -> Vec<u8> {
    let entries = [
        string_entry("general.architecture", architecture),
        string_entry("general.name", "Tiny"),
        number_entry(&format!("{architecture}.context_length"), 512),
        number_entry(&format!("{architecture}.block_count"), 2),
        number_entry(&format!("{architecture}.embedding_length"), 64),
        number_entry(&format!("{architecture}.attention.head_count"), 8),
        number_entry(&format!("{architecture}.attention.head_count_kv"), 4),
        // A list of texts, as the tokens are.
        [
            text("tokenizer.ggml.tokens"),
            9_u32.to_le_bytes().to_vec(),
            8_u32.to_le_bytes().to_vec(),
            2_u64.to_le_bytes().to_vec(),
            text("a"),
            text("b"),
        ]
        .concat(),
    ];
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3_u32.to_le_bytes());
    bytes.extend(1_u64.to_le_bytes());
    bytes.extend((entries.len() as u64).to_le_bytes());
    bytes.extend(entries.concat());
    bytes.extend(text("token_embd.weight"));
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend(numbers.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(0_u64.to_le_bytes());
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    bytes
}

fn with_weights(mut head: Vec<u8>, numbers: usize) -> Vec<u8> {
    head.resize(head.len() + numbers * 4, 1);
    head
}

fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn checked(bytes: &[u8]) -> Result<Facts, String> {
    check(file(bytes).path()).map_err(|error| error.to_string())
}

#[test]
fn a_whole_file_says_what_it_is() {
    let facts = checked(&with_weights(model("llama", 100), 100)).unwrap();
    let expected = Facts {
        architecture: "llama".to_owned(),
        name: "Tiny".to_owned(),
        weights: 400,
        // Key and value of four heads of eight numbers, in two layers, two bytes each.
        token: Some(2 * 4 * 8 * 2 * 2),
        trained_tokens: Some(512),
    };
    assert_eq!(facts, expected);
}

#[test]
fn a_file_that_ends_anywhere_is_called_cut() {
    let whole = with_weights(model("llama", 100), 100);
    for length in 4..whole.len() {
        let problem = checked(&whole[..length]).unwrap_err();
        assert!(problem.contains("is cut") && problem.contains("copy it again"), "{length}: {problem}");
    }
    for length in 0..4 {
        assert!(checked(&whole[..length]).unwrap_err().contains("is no model in the format GGUF"), "{length}");
    }
}

#[test]
fn what_is_no_language_model_is_told_with_what_to_do() {
    let whole = with_weights(model("llama", 4), 4);
    let versioned = |version: u32| [&b"GGUF"[..], &version.to_le_bytes(), &whole[8..]].concat();
    for (bytes, says) in [
        (b"PK\x03\x04 an archive".to_vec(), "is no model in the format GGUF"),
        (b"<html>404</html>".to_vec(), "is no model in the format GGUF"),
        (versioned(1), "has version 1"),
        (versioned(9), "has version 9"),
        (with_weights(model("bert", 4), 4), "turns texts into vectors (bert)"),
        (with_weights(model("", 4), 4), "which architecture"),
    ] {
        let problem = checked(&bytes).unwrap_err();
        assert!(problem.contains(says), "{problem}");
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(check(folder.path()).unwrap_err().to_string().contains("is no file"));
    let missing = check(&folder.path().join("nothing.gguf")).unwrap_err().to_string();
    assert!(missing.contains("can't be read") && missing.contains("check its path"), "{missing}");
}

/// Each byte of the head set to what it may not be: an error or another model, and no panic, no endless list, no memory.
#[test]
fn a_damaged_head_is_never_believed() {
    let whole = with_weights(model("llama", 16), 16);
    let mut refused = 0;
    for at in 0..whole.len() - 64 {
        for value in [0, 1, 9, 0x7f, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] = value;
            refused += usize::from(checked(&damaged).is_err());
        }
    }
    assert!(refused > 100, "{refused}");
}

#[test]
fn a_model_that_the_memory_does_not_hold_is_refused_before_it_is_loaded() {
    let facts = checked(&with_weights(model("llama", 100), 100)).unwrap();
    let here = Path::new("/models/tiny.gguf");
    let needed = 400 + 256 * 1_000;
    assert!(check_memory(here, &facts, 1_000, needed).is_ok());
    let problem = check_memory(here, &facts, 1_000, needed - 1).unwrap_err().to_string();
    assert!(problem.contains("/models/tiny.gguf does not fit into the memory: it needs 0.256 MB"), "{problem}");
    let meminfo = "MemTotal:       16000000 kB\nMemFree:          100000 kB\nMemAvailable:    8000000 kB\n";
    assert_eq!(free_memory(meminfo), Some(8_192_000_000));
    assert_eq!(free_memory("nothing"), None);
}
