//! The bindings to ROS in public signatures of the component library: whoever writes a component would depend on their
//! version, and each of their updates would break every component.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::circles::{group, is_for_tests, is_sign, is_word, length_of_item};
use super::string_errors::is_test;
use super::{Finding, files_below, read};

/// The sources whose public items are looked at.
const SOURCES: &str = "crates/cortex-component/src";
/// The crate of the bindings.
const BINDINGS: &str = "r2r";

/// Looks for the bindings in what others can name.
pub(super) fn check(repository: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for file in files_below(&repository.join(SOURCES), &["rs"])? {
        let shown = file.strip_prefix(repository).unwrap_or(&file);
        if !is_test(shown) {
            let name = shown.display().to_string();
            let code = read(&file)?.parse().map_err(|problem| anyhow!("{name} is not Rust: {problem}"))?;
            findings.extend(judge(&name, code));
        }
    }
    Ok(findings)
}

fn judge(file: &str, code: TokenStream) -> Vec<Finding> {
    let mut names = BTreeSet::from([BINDINGS.to_owned()]);
    // An alias of an alias is known once the one before it is.
    while let Some(name) = unknown_alias(&code.clone().into_iter().collect::<Vec<_>>(), &names) {
        names.insert(name);
    }
    let mut lines = BTreeSet::new();
    look(code, &names, &mut lines);
    let finding = |line| {
        Finding::new(
            format!("{file}:{line} shows the bindings to ROS ({BINDINGS}) in a public item"),
            "make it private, or wrap it into a type of cortex-ros-client that does not show them",
        )
    };
    lines.into_iter().map(finding).collect()
}

/// A name by which an import or an alias of a type brings in something of the bindings.
fn unknown_alias(tokens: &[TokenTree], names: &BTreeSet<String>) -> Option<String> {
    for (at, token) in tokens.iter().enumerate() {
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let found = match token {
            TokenTree::Ident(word) if word == "use" => imported(until(rest, ';'), false, names),
            TokenTree::Ident(word) if word == "type" => match until(rest, ';').split_first() {
                Some((TokenTree::Ident(name), meaning)) if mentions(meaning, names) => vec![name.to_string()],
                _ => Vec::new(),
            },
            TokenTree::Group(inner) => {
                unknown_alias(&inner.stream().into_iter().collect::<Vec<_>>(), names).into_iter().collect()
            }
            _ => Vec::new(),
        };
        if let Some(name) = found.into_iter().find(|name| !names.contains(name)) {
            return Some(name);
        }
    }
    None
}

/// The names that a path of an import, which may end in braces, brings in from the bindings.
fn imported(path: &[TokenTree], is_below: bool, names: &BTreeSet<String>) -> Vec<String> {
    let mut is_below = is_below;
    let mut last = None;
    for token in path {
        match token {
            TokenTree::Ident(word) => {
                let word = word.to_string();
                is_below |= names.contains(&word);
                last = (word != "self").then_some(word).or(last);
            }
            TokenTree::Group(inner) => {
                let inner: Vec<TokenTree> = inner.stream().into_iter().collect();
                let parts = inner.split(|token| is_sign(token, ','));
                return parts.flat_map(|part| imported(part, is_below, names)).collect();
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    last.filter(|name| is_below && name != "_").into_iter().collect()
}

/// Notes the lines of public items that name the bindings, at every depth.
fn look(code: TokenStream, names: &BTreeSet<String>, lines: &mut BTreeSet<usize>) {
    let tokens: Vec<TokenTree> = code.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut begins_item = true;
    while let Some((token, after)) = rest.split_first() {
        let is_public = is_word(token, "pub") && group(after.first(), Delimiter::Parenthesis).is_none();
        // What a type implements is as public as the type.
        let is_implementation = begins_item && is_word(token, "impl");
        // Elsewhere the word stands for a type that is not named. An attribute or `unsafe` may come before an item.
        begins_item = is_sign(token, ';') || is_word(token, "unsafe") || matches!(token, TokenTree::Group(_));
        if (is_public && mentions(&signature(after), names)) || (is_implementation && mentions(header(after), names)) {
            lines.insert(token.span().start().line);
        }
        let mut taken = 1;
        match token {
            TokenTree::Punct(sign) if sign.as_char() == '#' && is_for_tests(after) => {
                let item = after.get(1..).unwrap_or_default();
                taken = 2 + length_of_item(item);
            }
            TokenTree::Group(inner) => look(inner.stream(), names, lines),
            _ => {}
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
}

/// What others see of the public item whose tokens after `pub` these are.
fn signature(item: &[TokenTree]) -> Vec<TokenTree> {
    let before_names = header(item);
    let is = |word: &str| before_names.iter().take(4).any(|token| is_word(token, word));
    let first = |word: &str| item.first().is_some_and(|token| is_word(token, word));
    if first("use") || first("type") {
        until(item, ';').to_vec()
    } else if first("enum") || first("trait") || first("union") {
        // Variants and methods are as public as what they are of.
        item.get(..=before_names.len()).unwrap_or(item).to_vec()
    } else if first("struct") {
        // Its fields say themselves whether they are public.
        before_names.iter().filter(|token| !matches!(token, TokenTree::Group(_))).cloned().collect()
    } else if is("fn") {
        before_names.to_vec()
    } else if first("const") || first("static") {
        until(until(item, ';'), '=').to_vec()
    } else if first("mod") {
        Vec::new()
    } else {
        item.get(..length_of_item(item)).unwrap_or(item).to_vec()
    }
}

/// The tokens before the body of an item, or before its end where it has none.
fn header(item: &[TokenTree]) -> &[TokenTree] {
    let is_end = |token: &TokenTree| is_sign(token, ';') || group(Some(token), Delimiter::Brace).is_some();
    let end = item.iter().position(is_end).unwrap_or(item.len());
    item.get(..end).unwrap_or(item)
}

fn until(tokens: &[TokenTree], sign: char) -> &[TokenTree] {
    let end = tokens.iter().position(|token| is_sign(token, sign)).unwrap_or(tokens.len());
    tokens.get(..end).unwrap_or(tokens)
}

fn mentions(tokens: &[TokenTree], names: &BTreeSet<String>) -> bool {
    tokens.iter().any(|token| match token {
        TokenTree::Ident(word) => names.contains(&word.to_string()),
        TokenTree::Group(inner) => mentions(&inner.stream().into_iter().collect::<Vec<_>>(), names),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(code: &str) -> Vec<String> {
        judge("a.rs", code.parse().unwrap()).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn public_items_that_name_the_bindings_are_found() {
        for code in [
            "pub use r2r::Node;",
            "pub use other::{A, r2r};",
            "pub fn a(node: &mut r2r::Node) {}",
            "pub async fn a<T>() -> Result<(), r2r::Error> where T: A, {}",
            "pub fn a<T>(t: T) where T: A, T: r2r::WrappedTypesupport {}",
            "impl A { pub fn a(&self) -> r2r::Node { b() } }",
            "pub struct A { pub node: Option<r2r::Node>, other: u8 }",
            "pub struct A(pub r2r::Node);",
            "pub struct A<T: r2r::WrappedTypesupport> { t: T }",
            "pub enum A { B(r2r::Error) }",
            "pub trait A { fn a(&self) -> r2r::Node; }",
            "pub type A = r2r::Node;",
            "pub const A: r2r::QosProfile = b();",
            "pub mod a { pub fn b() -> r2r::Node { c() } }",
            "impl From<r2r::Error> for A { }",
            "use client::r2r::Node; pub fn a(node: &Node) {}",
            "use client::r2r::{self as ros, Node as Inner}; pub fn a(node: &Inner) {}",
            "use client::r2r::{self as ros, Node as Inner}; pub fn a(node: &ros::Node) {}",
            "type A = B<r2r::Node>; type C = Vec<A>; pub fn c() -> C { d() }",
        ] {
            assert_eq!(found(code), ["a.rs:1 shows the bindings to ROS (r2r) in a public item"], "{code}");
        }
        assert!(found("fn a() {}\n\npub fn b() -> r2r::Node { c() }")[0].starts_with("a.rs:3 "));
    }

    #[test]
    fn private_code_may_name_the_bindings() {
        for code in [
            "use r2r::Node; fn a(node: &Node) {}",
            "pub(crate) fn a(node: &r2r::Node) {}",
            "pub(crate) use r2r::Node;",
            "pub fn a() { let node: r2r::Node = b(); }",
            "pub const A: u8 = r2r::B;",
            "pub struct A { node: r2r::Node, pub other: u8 }",
            "pub struct A(r2r::Node, pub u8);",
            "mod r2r_free { } pub mod a;",
            "fn a(with: impl FnOnce(&r2r::Node)) -> impl Future<Output = r2r::Node> {}",
            "/// Not `r2r::Node`.\npub fn a() {}",
            "#[cfg(test)]\nmod tests { pub fn a(node: &r2r::Node) {} }",
            "use client::Node; pub fn a(node: &Node) {}",
        ] {
            assert_eq!(found(code), Vec::<String>::new(), "{code}");
        }
    }
}
