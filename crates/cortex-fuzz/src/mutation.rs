//! What is done to an input to make another one of it: to bytes, to the words of the corpus, and to numbers.

use std::collections::BTreeSet;

use crate::random::Random;

/// Longer inputs are cut: what is slow on them is slow for its length, which readers bound by themselves.
const MOST_BYTES: usize = 128 * 1024;
/// Most times that a piece is repeated: deeper than any reader may follow by calling itself.
const MOST_REPEATS: usize = 20_000;
/// The longest piece that is moved, repeated or taken from another input.
const PIECE: usize = 64;

/// What readers have been known to stumble over, in any of the formats.
const WORDS: [&[u8]; 36] = [
    b"",
    b"\0",
    b"\n",
    b"\r",
    b"\t",
    b" ",
    b"\"",
    b"'",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"[[",
    b"#",
    b"---",
    b"=",
    b":",
    b",",
    b".",
    b"<",
    b"<=",
    b"null",
    b"true",
    b"\xff",
    b"\xc3\x28",
    b"\xed\xa0\x80",
    b"\\u0000",
    b"\\ud800",
    b"\xe2\x80\x8b",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\xf0\x9f\xa4\x96",
    b"```",
    b"/*",
    b"a\xcc\x81",
];
const NUMBERS: [&[u8]; 20] = [
    b"0",
    b"-0",
    b"-1",
    b"1",
    b"255",
    b"256",
    b"-129",
    b"65536",
    b"2147483648",
    b"-2147483649",
    b"4294967296",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551616",
    b"0.1",
    b"1e308",
    b"1e999",
    b"-1e-999",
    b"nan",
    b"inf",
];

/// Makes mutants, with the words of a corpus.
pub(crate) struct Mutator {
    words: Vec<Vec<u8>>,
}

impl Mutator {
    pub(crate) fn new(corpus: &[Vec<u8>]) -> Self {
        let is_of_a_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let words: BTreeSet<&[u8]> = corpus
            .iter()
            .flat_map(|input| input.split(|byte| !is_of_a_word(byte)))
            .filter(|word| !word.is_empty())
            .collect();
        Self { words: words.into_iter().map(<[u8]>::to_vec).collect() }
    }

    /// Changes one thing of an input.
    pub(crate) fn mutate(&self, input: &mut Vec<u8>, pool: &[Vec<u8>], random: &mut Random) {
        match random.below(10) {
            0 => flip(input, random),
            1 => drop(cut(input, random)),
            2 => repeat(input, random),
            3 => {
                let piece = cut(input, random);
                insert(input, &piece, random);
            }
            4 => {
                let piece = random.one_of(pool).map(|other| piece_of(other, random).to_vec());
                insert(input, &piece.unwrap_or_default(), random);
            }
            5 => insert(input, random.one_of(&WORDS).copied().unwrap_or_default(), random),
            6 => insert(input, self.word(random), random),
            7 => replace_word(input, self.word(random), random),
            8 => replace_number(input, random),
            _ => replace_line(input, pool, random),
        }
        input.truncate(MOST_BYTES);
    }

    fn word(&self, random: &mut Random) -> &[u8] {
        random.one_of(&self.words).map_or(&[], Vec::as_slice)
    }
}

fn flip(input: &mut [u8], random: &mut Random) {
    let (position, bit) = (random.below(input.len()), random.below(8));
    if let Some(byte) = input.get_mut(position) {
        *byte ^= 1 << bit;
    }
}

/// A place in an input, and a length from there.
fn place(input: &[u8], random: &mut Random) -> (usize, usize) {
    let start = random.below(input.len() + 1);
    (start, (start + random.below(PIECE)).min(input.len()))
}

fn piece_of<'a>(input: &'a [u8], random: &mut Random) -> &'a [u8] {
    let (start, end) = place(input, random);
    input.get(start..end).unwrap_or_default()
}

fn cut(input: &mut Vec<u8>, random: &mut Random) -> Vec<u8> {
    let (start, end) = place(input, random);
    input.drain(start..end).collect()
}

fn insert(input: &mut Vec<u8>, piece: &[u8], random: &mut Random) {
    let position = random.below(input.len() + 1);
    input.splice(position..position, piece.iter().copied());
}

/// Repeats a piece where it stands: twice mostly, now and then as deep as no reader may follow by calling itself.
fn repeat(input: &mut Vec<u8>, random: &mut Random) {
    let (start, end) = place(input, random);
    // Short ones are brackets and the like.
    let end = if random.below(2) == 0 { (start + 1).min(end) } else { end };
    let piece = input.get(start..end).unwrap_or_default();
    let most = if random.below(50) == 0 { MOST_REPEATS } else { 4 };
    let times = 1 + random.below(most).min(MOST_BYTES / piece.len().max(1));
    let repeated = piece.repeat(times);
    input.splice(start..start, repeated);
}

/// The runs of bytes of one kind.
fn runs(input: &[u8], is_in: impl Fn(u8) -> bool) -> Vec<(usize, usize)> {
    let (mut found, mut start) = (Vec::new(), None);
    for (position, byte) in input.iter().enumerate() {
        match (is_in(*byte), start) {
            (true, None) => start = Some(position),
            (false, Some(from)) => {
                found.push((from, position));
                start = None;
            }
            _ => {}
        }
    }
    found.extend(start.map(|from| (from, input.len())));
    found
}

fn replace(input: &mut Vec<u8>, runs: &[(usize, usize)], by: &[u8], random: &mut Random) {
    if let Some((start, end)) = random.one_of(runs) {
        input.splice(*start..*end, by.iter().copied());
    }
}

fn replace_word(input: &mut Vec<u8>, by: &[u8], random: &mut Random) {
    let words = runs(input, |byte| byte.is_ascii_alphanumeric() || byte == b'_');
    replace(input, &words, by, random);
}

fn replace_number(input: &mut Vec<u8>, random: &mut Random) {
    let numbers = runs(input, |byte| byte.is_ascii_digit() || byte == b'.');
    replace(input, &numbers, random.one_of(&NUMBERS).copied().unwrap_or_default(), random);
}

/// Puts a line of another input in the place of one of its lines.
fn replace_line(input: &mut Vec<u8>, pool: &[Vec<u8>], random: &mut Random) {
    let is_of_a_line = |byte: u8| byte != b'\n';
    let Some(other) = random.one_of(pool) else { return };
    let Some((start, end)) = random.one_of(&runs(other, is_of_a_line)).copied() else { return };
    let lines = runs(input, is_of_a_line);
    replace(input, &lines, other.get(start..end).unwrap_or_default(), random);
}
