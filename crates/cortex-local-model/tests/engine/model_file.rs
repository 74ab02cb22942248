//! A tiny model of random weights: one layer, and a vocabulary of single bytes.

use std::io::Write as _;

use tempfile::NamedTempFile;

const WIDTH: u64 = 32;
const HIDDEN: u64 = 64;
const HEADS: u32 = 2;
const CONTEXT: u32 = 1_024;
/// Unknown, begin, end, and a token for each byte.
const VOCABULARY: u64 = 3 + 256;

/// Kinds of values, as the format numbers them.
const U32: u32 = 4;
const I32: u32 = 5;
const F32: u32 = 6;
const TEXT: u32 = 8;
const LIST: u32 = 9;

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

fn entry(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&text(key)[..], &kind.to_le_bytes(), value].concat()
}

fn list(key: &str, kind: u32, items: &[Vec<u8>]) -> Vec<u8> {
    let head = [&kind.to_le_bytes()[..], &(items.len() as u64).to_le_bytes()].concat();
    entry(key, LIST, &[head, items.concat()].concat())
}

/// What the file says of a model of this architecture.
fn entries(architecture: &str) -> Vec<Vec<u8>> {
    let number = |key: &str, value: u32| entry(&format!("{architecture}.{key}"), U32, &value.to_le_bytes());
    let mut tokens = vec![text("<unk>"), text("<s>"), text("</s>")];
    tokens.extend((0..=255_u8).map(|byte| text(&format!("<0x{byte:02X}>"))));
    // Unknown, control, control, and bytes.
    let kinds: Vec<Vec<u8>> =
        [2, 3, 3].into_iter().chain(std::iter::repeat_n(6, 256)).map(|kind: i32| kind.to_le_bytes().to_vec()).collect();
    let scores = vec![0.0_f32.to_le_bytes().to_vec(); tokens.len()];
    vec![
        entry("general.architecture", TEXT, &text(architecture)),
        entry("general.name", TEXT, &text("Random")),
        number("context_length", CONTEXT),
        number("embedding_length", u32::try_from(WIDTH).unwrap()),
        number("block_count", 1),
        number("feed_forward_length", u32::try_from(HIDDEN).unwrap()),
        number("attention.head_count", HEADS),
        entry(&format!("{architecture}.attention.layer_norm_rms_epsilon"), F32, &1e-5_f32.to_le_bytes()),
        entry("tokenizer.ggml.model", TEXT, &text("llama")),
        list("tokenizer.ggml.tokens", TEXT, &tokens),
        list("tokenizer.ggml.scores", F32, &scores),
        list("tokenizer.ggml.token_type", I32, &kinds),
        entry("tokenizer.ggml.unknown_token_id", U32, &0_u32.to_le_bytes()),
        entry("tokenizer.ggml.bos_token_id", U32, &1_u32.to_le_bytes()),
        entry("tokenizer.ggml.eos_token_id", U32, &2_u32.to_le_bytes()),
    ]
}

/// The tensors with their dimensions.
fn tensors() -> Vec<(String, Vec<u64>)> {
    let layer = |name: &str, dimensions: &[u64]| (format!("blk.0.{name}.weight"), dimensions.to_vec());
    vec![
        ("token_embd.weight".to_owned(), vec![WIDTH, VOCABULARY]),
        layer("attn_norm", &[WIDTH]),
        layer("attn_q", &[WIDTH, WIDTH]),
        layer("attn_k", &[WIDTH, WIDTH]),
        layer("attn_v", &[WIDTH, WIDTH]),
        layer("attn_output", &[WIDTH, WIDTH]),
        layer("ffn_norm", &[WIDTH]),
        layer("ffn_gate", &[WIDTH, HIDDEN]),
        layer("ffn_up", &[WIDTH, HIDDEN]),
        layer("ffn_down", &[HIDDEN, WIDTH]),
        ("output_norm.weight".to_owned(), vec![WIDTH]),
        ("output.weight".to_owned(), vec![WIDTH, VOCABULARY]),
    ]
}

/// A whole file.
pub(crate) fn bytes(architecture: &str) -> Vec<u8> {
    let (entries, tensors) = (entries(architecture), tensors());
    let mut bytes = b"GGUF".to_vec();
    bytes.extend(3_u32.to_le_bytes());
    bytes.extend((tensors.len() as u64).to_le_bytes());
    bytes.extend((entries.len() as u64).to_le_bytes());
    bytes.extend(entries.concat());
    let mut offset = 0_u64;
    for (name, dimensions) in &tensors {
        bytes.extend(text(name));
        bytes.extend(u32::try_from(dimensions.len()).unwrap().to_le_bytes());
        for dimension in dimensions {
            bytes.extend(dimension.to_le_bytes());
        }
        bytes.extend(0_u32.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        offset += (dimensions.iter().product::<u64>() * 4).next_multiple_of(32);
    }
    bytes.resize(bytes.len().next_multiple_of(32), 0);
    // Numbers of a simple generator, between -1 and 1.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let numbers = usize::try_from(offset / 4).unwrap();
    for _ in 0..numbers {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = f32::from(u16::try_from(state >> 48).unwrap()) / 32_768.0 - 1.0;
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

pub(crate) fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::with_suffix(".gguf").unwrap();
    file.write_all(bytes).unwrap();
    file
}
