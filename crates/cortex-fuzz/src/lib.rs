//! For tests: hands a reader of foreign text every file of a corpus, and then mutants of them, for a bounded time.
//!
//! Runs on stable Rust, as a test beside the reader. There is no instrumentation that says which branches a mutant took.
//! Instead the target says in words what came of its input, an error message for instance: an input with a result that
//! was not seen before joins the pool that mutants are made of.
//!
//! A run makes the same mutants in the same order each time, as many as the time allows. The environment changes that:
//! `CORTEX_FUZZ_SECONDS` is the time for each target, `CORTEX_FUZZ_SEED` a number that other mutants follow from. With
//! `CORTEX_FUZZ_TRACE` a file's path, each input is written there before it is tried, so that one which ends the whole
//! process is found, too.
//!
//! What a run finds becomes a file of the corpus, which all later runs begin with.

mod mutation;
mod random;

use std::collections::HashSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mutation::Mutator;
use random::Random;

/// The time for each target, in seconds.
const SECONDS: u64 = 6;
/// No input may take longer: the longest are 128 KiB, and readers take milliseconds for those.
const SLOWEST: Duration = Duration::from_secs(30);
/// Most inputs with a result of their own that the pool keeps beside the corpus.
const POOL: usize = 2_000;
/// Longer inputs are tried, and not mutated further: each of their mutants takes as long as many short ones.
const LONGEST: usize = 16 * 1024;
/// Most mutations that are made of an input at a time.
const MUTATIONS: usize = 6;

/// Hands every file of `corpus` (a file, or a folder that is read through) to `target`, and then mutants of them until
/// the time is over. The target says what came of an input.
///
/// # Panics
/// When the target panics, or takes half a minute for one input: the input is left in the folder of temporary files, and
/// its path is printed. And when there is no corpus.
#[expect(clippy::panic, reason = "for tests only")]
pub fn fuzz(corpus: &[&str], target: impl Fn(&[u8]) -> String) {
    let mut pool = read_all(corpus);
    assert!(!pool.is_empty(), "no file in {corpus:?}");
    let time = Duration::from_secs(setting("CORTEX_FUZZ_SECONDS").unwrap_or(SECONDS));
    let mut random = Random::new(setting("CORTEX_FUZZ_SEED").unwrap_or_default());
    let trace = std::env::var_os("CORTEX_FUZZ_TRACE").map(PathBuf::from);
    let try_out = |input: &[u8]| {
        if let Some(path) = &trace {
            let written = fs::write(path, input);
            written.unwrap_or_else(|problem| panic!("{} can't be written: {problem}", path.display()));
        }
        let began = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| target(input)));
        let result = result.unwrap_or_else(|panic| {
            eprintln!("{}", left(input));
            resume_unwind(panic)
        });
        let took = began.elapsed();
        assert!(took < SLOWEST, "{took:?} for one input of {} bytes; {}", input.len(), left(input));
        (result, took)
    };
    let (mut seen, mut longest, mut count) = (HashSet::new(), Duration::ZERO, 0_u64);
    for input in &pool {
        seen.insert(shape(&try_out(input).0));
    }
    let mutator = Mutator::new(&pool);
    let of_corpus = pool.len();
    let began = Instant::now();
    while began.elapsed() < time {
        let mut input = random.one_of(&pool).cloned().unwrap_or_default();
        for _ in 0..=random.below(MUTATIONS) {
            mutator.mutate(&mut input, &pool, &mut random);
        }
        let (result, took) = try_out(&input);
        if took > longest {
            longest = took;
        }
        if seen.insert(shape(&result)) && pool.len() < of_corpus + POOL && input.len() <= LONGEST {
            pool.push(input);
        }
        count += 1;
    }
    println!(
        "{of_corpus} files and {count} mutants of them, {} kinds of results; the longest took {longest:?}",
        seen.len()
    );
}

/// What is kept of a result to tell whether it is new: letters, and no more than the beginning. Names and numbers that
/// the input itself gave would make each result a new one.
fn shape(result: &str) -> String {
    /// Enough to tell messages apart.
    const LENGTH: usize = 160;
    let mut in_quotes = false;
    let kept = result.chars().filter(|character| {
        in_quotes ^= ['\'', '"', '`'].contains(character);
        !in_quotes && !character.is_ascii_digit()
    });
    kept.take(LENGTH).collect()
}

/// Leaves an input for people, and says where.
fn left(input: &[u8]) -> String {
    let path = std::env::temp_dir().join(format!("cortex-fuzz-{:016x}", random::digest(input)));
    match fs::write(&path, input) {
        Ok(()) => format!("this input fails: {} (fix it, and add it to the corpus)", path.display()),
        Err(problem) => format!("this input fails: {input:?} ({} can't be written: {problem})", path.display()),
    }
}

fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// The contents of the files at and below these paths, in the order of their names.
#[expect(clippy::panic, reason = "for tests only")]
fn read_all(paths: &[&str]) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    let mut open: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
            open.extend(entries.flatten().map(|entry| entry.path()));
        } else {
            files.push(path);
        }
    }
    files.sort();
    let read = |path: &PathBuf| fs::read(path).unwrap_or_else(|problem| panic!("{}: {problem}", shown(path)));
    files.iter().map(read).collect()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn folder(files: &[&str]) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        for (number, text) in files.iter().enumerate() {
            fs::write(folder.path().join(number.to_string()), text).unwrap();
        }
        let path = folder.path().to_str().unwrap().to_owned();
        (folder, path)
    }

    #[test]
    fn the_corpus_comes_first_and_mutants_reach_what_lies_behind_several_steps() {
        let (_folder, corpus) = folder(&["speed = 1", "name = 'base'"]);
        let first = RefCell::new(Vec::new());
        let found = catch_unwind(AssertUnwindSafe(|| {
            fuzz(&[&corpus], |input| {
                let text = String::from_utf8_lossy(input).into_owned();
                if first.borrow().len() < 2 {
                    first.borrow_mut().push(text.clone());
                }
                assert!(!(text.contains("speed = -") && text.contains("name = name")), "found");
                format!("{} {}", text.contains("speed = -"), text.contains("name = name"))
            });
        }));
        assert!(found.is_err(), "no mutant got there");
        assert_eq!(*first.borrow(), ["speed = 1", "name = 'base'"]);
    }

    #[test]
    #[should_panic(expected = "no file in")]
    fn without_a_corpus_nothing_is_tested() {
        let (_folder, corpus) = folder(&[]);
        fuzz(&[&corpus], |_| String::new());
    }

    #[test]
    fn results_that_differ_in_what_the_input_gave_are_one() {
        assert_eq!(shape("line 3: no key 'a'"), shape("line 14: no key 'b c'"));
        assert_ne!(shape("line 3: no key 'a'"), shape("line 3: no value 'a'"));
    }
}
