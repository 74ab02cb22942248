//! Circles of imports between the modules of a library: none of them can be read, tested or moved without all the others.
//!
//! A module is a first name below `src/`, with all that is below it. A name that `lib.rs` re-exports counts as the module
//! that it comes from. `lib.rs` itself is no module, and tests may import anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::{Finding, files_below, read};
use crate::cargo::Package;

/// Most places that are shown for each module that another one imports.
const SITES_SHOWN: usize = 3;

/// The circles that are allowed for now: the crate and the modules. This list only shrinks.
const ALLOWED: [(&str, &[&str]); 9] = [
    ("cortex-component", &["component", "running"]),
    ("cortex-component", &["context", "dispatcher", "health", "lifecycle"]),
    ("cortex-interfaces", &["completion", "conventions", "form", "interfaces", "message", "native", "read", "write"]),
    (
        "cortex-language",
        &[
            "compounds",
            "condition",
            "grammar",
            "language",
            "languages",
            "numbers",
            "problem",
            "reading",
            "robot",
            "sentence",
            "slips",
            "talk",
        ],
    ),
    ("cortex-recipe", &["check", "location", "problem", "recipe", "topics", "wording"]),
    ("cortex-ros", &["calls", "stop", "tools"]),
    ("cortex-ros", &["catalog", "definitions", "shown_nodes"]),
    ("cortex-ros-client", &["parameters", "rcl"]),
    ("cortex-status", &["status", "watched_model"]),
];

/// Looks for circles in the sources of all libraries.
pub(super) fn check(repository: &Path, packages: &[Package]) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut allowed: BTreeMap<&str, Vec<BTreeSet<&str>>> = BTreeMap::new();
    for (crate_name, modules) in ALLOWED {
        allowed.entry(crate_name).or_default().push(modules.iter().copied().collect());
    }
    for package in packages {
        let sources = package.manifest.parent().map(|folder| folder.join("src")).unwrap_or_default();
        let mut files = Vec::new();
        if sources.join("lib.rs").is_file() {
            for file in files_below(&sources, &["rs"])? {
                let shown = file.strip_prefix(repository).unwrap_or(&file).display().to_string();
                let module = file.strip_prefix(&sources).ok().and_then(module_of);
                files.extend(module.map(|module| (module, shown, file)));
            }
        }
        let mut found = Found::default();
        for (module, shown, file) in files {
            let code = read(&file)?.parse().map_err(|problem| anyhow!("{shown} is not Rust: {problem}"))?;
            found.read(&module, code, &shown);
        }
        let allowed = allowed.remove(package.name.as_str()).unwrap_or_default();
        findings.extend(judge(&package.name, &found.arrows(), &allowed));
    }
    for (crate_name, allowed) in allowed {
        findings.extend(judge(crate_name, &Arrows::new(), &allowed));
    }
    Ok(findings)
}

/// The names that lead to the module in this file below `src/`; `lib.rs` is the root. None for tests and for binaries.
fn module_of(file: &Path) -> Option<Vec<String>> {
    let mut names: Vec<String> =
        file.with_extension("").iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if names == ["main"] || names.iter().any(|name| name == "tests") || names.first()? == "bin" {
        return None;
    }
    if names == ["lib"] || names.last()? == "mod" {
        names.pop();
    }
    Some(names)
}

/// Which module imports which other one, and where: files and lines.
type Arrows = BTreeMap<(String, String), Vec<String>>;

fn judge(crate_name: &str, arrows: &Arrows, allowed: &[BTreeSet<&str>]) -> Vec<Finding> {
    let circles = circles(arrows);
    let within = |allowed: &BTreeSet<&str>| circles.iter().filter(|circle| circle.is_subset(allowed)).collect();
    let mut findings = Vec::new();
    for circle in circles.iter().filter(|circle| !allowed.iter().any(|allowed| circle.is_subset(allowed))) {
        let inside = |(from, to): &(String, String)| circle.contains(from.as_str()) && circle.contains(to.as_str());
        let mut what = format!("{crate_name} has a circle of modules: {}", listed(circle));
        for ((from, to), sites) in arrows.iter().filter(|(ends, _)| inside(ends)) {
            let shown = sites.iter().take(SITES_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = sites.len().saturating_sub(SITES_SHOWN);
            let more = if more == 0 { String::new() } else { format!(", and {more} more") };
            what.push_str(&format!("\n    {from} imports {to}: {shown}{more}"));
        }
        let fix = "move what both sides need to a module that imports neither of them, or pass it in";
        findings.push(Finding::new(what, fix));
    }
    for allowed in allowed {
        let left: Vec<&BTreeSet<&str>> = within(allowed);
        if left.contains(&allowed) {
            continue;
        }
        let what = format!("{crate_name} no longer has the circle of modules {}", listed(allowed));
        let left: Vec<String> = left.into_iter().map(listed).collect();
        let fix = match left.as_slice() {
            [] => "take it out of ALLOWED in crates/xtask/src/check/circles.rs".to_owned(),
            _ => format!(
                "write what is left of it into ALLOWED in crates/xtask/src/check/circles.rs: {}",
                left.join("; ")
            ),
        };
        findings.push(Finding::new(what, fix));
    }
    findings
}

fn listed(modules: &BTreeSet<&str>) -> String {
    modules.iter().copied().collect::<Vec<_>>().join(", ")
}

/// The largest sets of several modules that all lead to each other.
fn circles(arrows: &Arrows) -> BTreeSet<BTreeSet<&str>> {
    let modules: BTreeSet<&str> = arrows.keys().map(|(from, _)| from.as_str()).collect();
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        modules.iter().map(|module| (*module, reached_from(module, arrows))).collect();
    let leads = |from: &str, to: &str| reached.get(from).is_some_and(|reached| reached.contains(to));
    let circle_of = |module: &&str| -> BTreeSet<&str> {
        modules.iter().copied().filter(|other| leads(module, other) && leads(other, module)).collect()
    };
    modules.iter().map(circle_of).filter(|circle| circle.len() > 1).collect()
}

fn reached_from<'a>(module: &str, arrows: &'a Arrows) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut open = vec![module];
    while let Some(module) = open.pop() {
        for (_, to) in arrows.keys().filter(|(from, _)| from == module) {
            if reached.insert(to.as_str()) {
                open.push(to);
            }
        }
    }
    reached
}

/// The modules and imports of a library. Modules and paths are lists of names, from the root of the crate.
#[derive(Default)]
struct Found {
    modules: BTreeSet<String>,
    imports: Vec<Import>,
    /// The names that `lib.rs` imports, most of them to re-export them.
    in_root: Vec<Leaf>,
    /// Modules that are compiled for tests alone, in files of their own.
    tests: Vec<Vec<String>>,
}

/// A path that begins at `crate` or at `super`.
struct Import {
    /// The module that it is in.
    from: Vec<String>,
    path: Vec<String>,
    /// The file and the line.
    site: String,
}

/// One of the paths of an import.
struct Leaf {
    /// The name by which it is known where it is imported.
    name: String,
    path: Vec<String>,
}

impl Found {
    /// Reads the code of a module.
    fn read(&mut self, module: &[String], code: TokenStream, file: &str) {
        self.modules.extend(module.first().cloned());
        let tokens: Vec<TokenTree> = code.into_iter().collect();
        let mut rest = tokens.as_slice();
        while let Some((token, after)) = rest.split_first() {
            let mut taken = 1;
            match token {
                // The path of a visibility is no import.
                TokenTree::Ident(word) if word == "pub" && group(after.first(), Delimiter::Parenthesis).is_some() => {
                    taken = 2;
                }
                TokenTree::Ident(word) if word == "mod" => {
                    if let [TokenTree::Ident(name), TokenTree::Group(body), ..] = after {
                        self.read(&below(module, name), body.stream(), file);
                        taken = 3;
                    }
                }
                TokenTree::Ident(word) if word == "use" && module.is_empty() => {
                    self.in_root.extend(read_path(after, module).0);
                }
                TokenTree::Ident(word) if (word == "crate" || word == "super") && is_separator(after) => {
                    let site = format!("{file}:{}", word.span().start().line);
                    let (leaves, length) = read_path(rest, module);
                    let import = |leaf: Leaf| Import { from: module.to_vec(), path: leaf.path, site: site.clone() };
                    self.imports.extend(leaves.into_iter().map(import));
                    taken = length;
                }
                TokenTree::Punct(sign) if sign.as_char() == '#' && is_for_tests(after) => {
                    let item = after.get(1..).unwrap_or_default();
                    let item = item.get(..length_of_item(item)).unwrap_or_default();
                    let declared = item.iter().position(|token| is_word(token, "mod")).and_then(|at| item.get(at..));
                    if let Some([_, TokenTree::Ident(name), TokenTree::Punct(_)]) = declared {
                        self.tests.push(below(module, name));
                    }
                    taken = 2 + item.len();
                }
                TokenTree::Group(inner) => self.read(module, inner.stream(), file),
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            rest = rest.get(taken..).unwrap_or_default();
        }
    }

    fn arrows(&self) -> Arrows {
        let module_named = |name: &String| self.modules.get(name);
        let from_root = |name: &String| {
            let leaf = self.in_root.iter().find(|leaf| leaf.name == *name)?;
            leaf.path.first().and_then(module_named)
        };
        let is_test = |module: &[String]| self.tests.iter().any(|tests| module.starts_with(tests));
        let mut arrows = Arrows::new();
        for Import { from, path, site } in self.imports.iter().filter(|import| !is_test(&import.from)) {
            let to = path.first().and_then(|name| module_named(name).or_else(|| from_root(name)));
            let (Some(from), Some(to)) = (from.first(), to) else { continue };
            if from != to {
                arrows.entry((from.clone(), to.clone())).or_default().push(site.clone());
            }
        }
        for sites in arrows.values_mut() {
            sites.dedup();
        }
        arrows
    }
}

fn below(module: &[String], name: &impl ToString) -> Vec<String> {
    module.iter().cloned().chain([name.to_string()]).collect()
}

/// Reads a path, or all paths of an import with braces, which begin at the module or, after `crate`, at the root. Returns
/// the number of tokens that it has read, too.
fn read_path(tokens: &[TokenTree], module: &[String]) -> (Vec<Leaf>, usize) {
    let mut path = module.to_vec();
    let mut at = 0;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(word)) if word == "crate" => path.clear(),
            Some(TokenTree::Ident(word)) if word == "super" => drop(path.pop()),
            Some(TokenTree::Ident(word)) if word == "self" => {}
            Some(TokenTree::Ident(word)) => path.push(word.to_string()),
            Some(TokenTree::Group(inner)) if inner.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = inner.stream().into_iter().collect();
                let parts = inner.split(|token| is_sign(token, ','));
                return (parts.flat_map(|part| read_path(part, &path).0).collect(), at + 1);
            }
            // All of a module, or the generic arguments of a type.
            _ => break,
        }
        at += 1;
        if !is_separator(tokens.get(at..).unwrap_or_default()) {
            break;
        }
        at += 2;
    }
    let renamed = tokens.get(at).filter(|token| is_word(token, "as")).and_then(|_| tokens.get(at + 1));
    let name = renamed.map(ToString::to_string).or_else(|| path.last().cloned());
    (name.map(|name| Leaf { name, path }).into_iter().collect(), at)
}

/// The number of tokens of an item, a statement, a field or a variant.
pub(super) fn length_of_item(tokens: &[TokenTree]) -> usize {
    let mut words = tokens.iter().filter(|token| matches!(token, TokenTree::Ident(_)) && !is_word(token, "pub"));
    let is_import = words.next().is_some_and(|word| is_word(word, "use"));
    let (mut generics, mut is_arrow) = (0_usize, false);
    let is_end = |token: &TokenTree| {
        if is_sign(token, '<') {
            generics += 1;
        } else if is_sign(token, '>') && !is_arrow {
            generics = generics.saturating_sub(1);
        }
        is_arrow = is_sign(token, '-');
        is_sign(token, ';')
            || (is_sign(token, ',') && generics == 0)
            || (!is_import && group(Some(token), Delimiter::Brace).is_some())
    };
    tokens.iter().position(is_end).map_or(tokens.len(), |at| at + 1)
}

/// Whether the attribute, whose sign stands before, is that of tests.
pub(super) fn is_for_tests(after: &[TokenTree]) -> bool {
    group(after.first(), Delimiter::Bracket)
        .is_some_and(|attribute| attribute.stream().to_string().replace(' ', "") == "cfg(test)")
}

fn is_separator(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [one, other, ..] if is_sign(one, ':') && is_sign(other, ':'))
}

pub(super) fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

pub(super) fn is_word(token: &TokenTree, word: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == word)
}

pub(super) fn group(token: Option<&TokenTree>, delimiter: Delimiter) -> Option<&Group> {
    match token {
        Some(TokenTree::Group(group)) if group.delimiter() == delimiter => Some(group),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arrows between files, which are given by their paths below `src/`.
    fn arrows(files: &[(&str, &str)]) -> Arrows {
        let mut found = Found::default();
        for (path, code) in files {
            if let Some(module) = module_of(Path::new(path)) {
                found.read(&module, code.parse().unwrap(), path);
            }
        }
        found.arrows()
    }

    fn shown(files: &[(&str, &str)]) -> Vec<String> {
        arrows(files).iter().map(|((from, to), sites)| format!("{from} {to} {}", sites.join(" "))).collect()
    }

    const EMPTY: [(&str, &str); 2] = [("b.rs", ""), ("c/mod.rs", "")];

    #[test]
    fn imports_are_found_however_they_are_written() {
        for (path, code, expected) in [
            ("a.rs", "use crate::b::B;", "a b a.rs:1"),
            ("a.rs", "\n\nfn f() -> Vec<crate::b::B> {}", "a b a.rs:3"),
            ("a.rs", "use super::b;", "a b a.rs:1"),
            ("a.rs", "pub use crate::{\n  a::A, b::{self, B as Other}};", "a b a.rs:1"),
            ("a/d.rs", "use super::super::b::*;", "a b a/d.rs:1"),
            ("a/mod.rs", "mod d { fn f() { super::super::b::f::<u8>() } }", "a b a/mod.rs:1"),
            ("a.rs", "#[error(\"no {}\", crate::b::f())] struct A;", "a b a.rs:1"),
            ("a.rs", "macro_rules! m { () => { $crate::b::f() } }", "a b a.rs:1"),
            ("lib.rs", "mod a { use super::b::B; }", "a b lib.rs:1"),
            ("a.rs", "#[cfg(test)]\nfn f<A, B>(a: A) {}\nuse crate::b::B;", "a b a.rs:3"),
            ("a.rs", "struct A { #[cfg(test)] c: crate::c::C<u8, u8>, b: crate::b::B }", "a b a.rs:1"),
        ] {
            assert_eq!(shown(&[EMPTY.as_slice(), &[(path, code)]].concat()), [expected], "{code}");
        }
    }

    #[test]
    fn what_is_no_import_of_another_module_is_left_alone() {
        for (path, code) in [
            ("a.rs", "use crate::a::A; use self::d::D; use std::b::B; use b::B;"),
            ("a/d.rs", "use super::A; use super::super::a::A; use super::b::B;"),
            ("a.rs", "use crate::Defined; use super::*;"),
            ("a.rs", "/// See [`b`](crate::b).\n// use crate::b;\nconst A: &str = r#\"crate::b\"#;"),
            ("a.rs", "pub(in crate::b) fn f<'b>(b: char) -> bool { b == '\"' }"),
            ("a.rs", "#[cfg(test)]\nmod tests { use crate::b::B; }"),
            ("a.rs", "#[cfg(test)]\nuse crate::{b::B, c::C};"),
            ("a.rs", "#[cfg(test)]\n#[expect(dead_code)]\npub(crate) fn f() -> crate::b::B { crate::c::c() }"),
            ("a/tests.rs", "use crate::b::B;"),
            ("a/tests/d.rs", "use crate::b::B;"),
            ("main.rs", "mod a { use crate::b::B; }"),
            ("lib.rs", "use b::B; use crate::c::C; fn f() { crate::b::f() }"),
        ] {
            assert_eq!(shown(&[EMPTY.as_slice(), &[(path, code)]].concat()), Vec::<String>::new(), "{code}");
        }
        let tests_in_file = [("a.rs", "#[cfg(test)]\nmod d;"), ("a/d.rs", "use crate::b::B;")];
        assert_eq!(shown(&[EMPTY.as_slice(), &tests_in_file].concat()), Vec::<String>::new());
    }

    #[test]
    fn what_the_root_re_exports_is_of_the_module_that_it_comes_from() {
        let root =
            ("lib.rs", "mod a; mod b;\npub use b::{B, Inner as Outer};\nuse crate::c::d::D;\npub use std::Other;");
        let importing = |code| shown(&[EMPTY.as_slice(), &[root, ("a.rs", code)]].concat());
        assert_eq!(importing("use crate::B;"), ["a b a.rs:1"]);
        assert_eq!(importing("use super::Outer;"), ["a b a.rs:1"]);
        assert_eq!(importing("use crate::{D, B};"), ["a b a.rs:1", "a c a.rs:1"]);
        assert_eq!(importing("use crate::{Inner, Other, Unknown};"), Vec::<String>::new());
    }

    #[test]
    fn circles_are_told_with_what_closes_them() {
        let arrows = arrows(&[
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "\nuse crate::c::C;"),
            ("c.rs", "use crate::a::A;\nuse crate::a::B;\nuse crate::d::D;"),
            ("d.rs", "use crate::e::E;"),
            ("e.rs", ""),
        ]);
        let found = judge("one", &arrows, &[]);
        let expected = "one has a circle of modules: a, b, c\n    a imports b: a.rs:1\n    b imports c: b.rs:2\n    \
                        c imports a: c.rs:1, c.rs:2";
        assert_eq!(found.iter().map(|finding| finding.what.as_str()).collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn allowed_circles_only_shrink() {
        let files = [("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;"), ("c.rs", "use crate::b::B;")];
        let arrows = arrows(&files);
        assert_eq!(judge("one", &arrows, &[["a", "b"].into()]), []);
        let larger = judge("one", &arrows, &[["a", "b", "c"].into()]);
        assert_eq!(larger.len(), 1, "{larger:?}");
        assert!(larger[0].what.contains("no longer has") && larger[0].fix.ends_with(": a, b"), "{larger:?}");
        let gone = judge("one", &Arrows::new(), &[["a", "b"].into()]);
        assert_eq!(gone.len(), 1, "{gone:?}");
        assert!(gone[0].what.contains("a, b") && gone[0].fix.starts_with("take it out"), "{gone:?}");
        assert_eq!(judge("one", &arrows, &[["a", "c"].into()]).len(), 2, "another circle, and one that is not there");
    }
}
