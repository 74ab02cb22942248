//! `cargo xtask wordnet`: compiles WordNet's dict files to the table of words that `cortex-language` carries.
//!
//! The table in the tree was built from WordNet 3.0, from the files `index.*`, `data.*`, `*.exc` and `cntlist.rev` as
//! Debian's package `wordnet-base` 1:3.0-37 has them. The SHA-256 of `data.noun` is
//! `fea17d2f9656611334eac790e5d69e47645fa180c4aa481fb4cd9b3520754ca2`, that of `data.verb`
//! `adcf43e35b581e8036d8b5a52d63d9cd3d3b4870b2720d3c03c799df44777bc2`. The same files make the same bytes.

mod dictionary;
mod selection;
mod table;
mod word_list;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use sha2::{Digest as _, Sha256};

use dictionary::Dictionary;
use selection::Selection;
use table::Counts;

/// The table in the tree.
const TABLE: &str = "crates/cortex-language/data/wordnet.bin";

/// The table is part of the program, so that it must stay small. In bytes.
const LARGEST: usize = 1_000_000;

/// Compiles the dict files of a folder, and writes the table or, with `check`, compares it with the one in the tree.
pub(crate) fn run(repository: &Path, folder: &Path, check: bool) -> Result<()> {
    let path = repository.join(TABLE);
    for name in ["data.noun", "data.verb"] {
        let file = folder.join(name);
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        println!("{name}: SHA-256 {}", hexadecimal(&Sha256::digest(bytes)));
    }
    let dictionary = Dictionary::read(folder)?;
    let selection = Selection::new(&dictionary);
    let table = table::build(&dictionary, &selection)?;
    println!("{}", summary(&selection, &table.counts, table.bytes.len()));
    ensure!(table.bytes.len() < LARGEST, "the table has {} bytes, {LARGEST} or more", table.bytes.len());
    if check {
        let old = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if old != table.bytes {
            bail!("{TABLE} differs from what these files make: run `cargo xtask wordnet` without `--check`");
        }
        println!("{TABLE} is what these files make");
    } else {
        fs::write(&path, &table.bytes).with_context(|| format!("cannot write {}", path.display()))?;
        println!("wrote {TABLE}");
    }
    Ok(())
}

fn summary(selection: &Selection, counts: &Counts, bytes: usize) -> String {
    let with_senses = selection.words.values().filter(|(_, senses)| !senses.is_empty()).count();
    let [people, locations, artifacts, food, times, other, verbs, adjectives] = counts.synsets;
    let nouns = people + locations + artifacts + food + times + other;
    format!(
        "{bytes} bytes: {} words, {with_senses} of them with senses; {nouns} synsets of nouns ({people} people, \
         {locations} locations, {artifacts} artifacts, {food} food, {times} times), {verbs} of verbs, {adjectives} of \
         adjectives; {} further hypernyms; {} irregular forms; {} antonyms, {} opposite synsets, in both directions",
        counts.words, counts.further_hypernyms, counts.irregular, counts.antonyms, counts.opposites
    )
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
