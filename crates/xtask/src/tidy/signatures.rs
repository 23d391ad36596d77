//! Rules about what is returned: a doc that begins with "Returns" stands on something that returns
//! a value, and a name that begins with `is_` or `has_` gives a bool.

use super::{ProjectFile, TidyFault, code_of};

/// Docs that begin with "Returns" on what returns nothing: a field, a type, a constant, a module, a
/// macro, a function without a value.
pub(super) fn returning_docs(source: &ProjectFile) -> Vec<TidyFault> {
    if !source.is_rust() {
        return Vec::new();
    }
    let lines: Vec<&str> = source.text.lines().collect();
    let mut found = Vec::new();
    let mut is_inside = false;
    for (number, line) in lines.iter().enumerate() {
        let line = line.trim_start();
        let is_inner = line.starts_with("//!");
        let doc = if is_inner { line.strip_prefix("//!") } else { line.strip_prefix("///") };
        let is_first = doc.is_some() && !is_inside;
        is_inside = doc.is_some();
        if !is_first || doc.and_then(|doc| doc.split_whitespace().next()) != Some("Returns") {
            continue;
        }
        let item = item_after(&lines[number..]);
        let value = value_of(&item).filter(|value| *value != "()" && !is_inner);
        if value.is_none() {
            let what = "a doc that begins with \"Returns\" stands on what returns nothing";
            found.push(TidyFault::new(number + 1, what));
        }
    }
    found
}

/// Functions and fields of the product whose names promise a bool, and that return or hold
/// something else. The bool may be wrapped where it can fail or be unknown: `Result<bool, Error>`.
/// Helpers of tests are left out, which assert: `volume.is_clean()`.
pub(super) fn bool_names(source: &ProjectFile) -> Vec<TidyFault> {
    if !source.is_product() {
        return Vec::new();
    }
    let lines: Vec<&str> = source.text.lines().collect();
    let mut found = Vec::new();
    let mut is_struct = false;
    for (number, line) in lines.iter().enumerate() {
        let code = code_of(line);
        let mut wrong = |name: &str| {
            let what = format!("{name} promises a bool: return one, or name it with a verb");
            found.push(TidyFault::new(number + 1, what));
        };
        if let Some((_, rest)) = code.split_once("fn ")
            && let Some(name) = promising(rest)
        {
            let item = item_after(&lines[number..]);
            if !value_of(&item).is_some_and(is_bool) {
                wrong(name);
            }
        }
        let first = code.trim();
        let is_head = first.trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
        let is_head = is_head.trim_start_matches("pub ").starts_with("struct ");
        is_struct = (is_struct || (is_head && first.ends_with('{'))) && !first.starts_with('}');
        let field = first.split(' ').find(|word| !word.starts_with("pub"));
        if is_struct
            && let Some(name) = field.and_then(|word| word.strip_suffix(':')).and_then(promising)
            && !first.to_ascii_lowercase().contains("bool")
        {
            wrong(name);
        }
    }
    found
}

/// The name with which `code` begins, where that promises a bool.
fn promising(code: &str) -> Option<&str> {
    let name = super::words(code).next()?;
    (name.starts_with("is_") || name.starts_with("has_")).then_some(name)
}

/// Returns whether a value of this type is a bool, or holds one that may be missing.
fn is_bool(value: &str) -> bool {
    let inner = value.split_once('<').map_or(value, |(_, inner)| inner);
    inner.split([',', '>']).next().is_some_and(|first| first.trim() == "bool")
}

/// The head of the item that follows docs and attributes, as one line.
fn item_after(lines: &[&str]) -> String {
    let is_attribute = |line: &str| line.starts_with("#[");
    let mut head = String::new();
    let mut attribute = false;
    for line in lines {
        let code = code_of(line);
        let code = code.trim();
        if head.is_empty() && (code.is_empty() || attribute || is_attribute(code)) {
            attribute = (attribute || is_attribute(code)) && !code.ends_with(']');
            continue;
        }
        head += code;
        head.push(' ');
        let is_whole = head.matches('(').count() <= head.matches(')').count();
        if code.contains('{') || (is_whole && code.ends_with([';', ','])) {
            break;
        }
    }
    head
}

/// The type that a function returns; `None` where `head` is of no function, or of one without a
/// value.
fn value_of(head: &str) -> Option<&str> {
    let (before, function) = head.split_once("fn ")?;
    if before.contains([':', '=', '(']) && !before.contains("pub(") {
        // A field or a type that holds a function.
        return None;
    }
    let name = function.find(['<', '('])?;
    let rest = behind_brackets(&function[name..], '<', '>');
    let rest = behind_brackets(rest, '(', ')').trim_start();
    let value = rest.strip_prefix("->")?;
    let end = value.find(['{', ';']).unwrap_or(value.len());
    let value = value[..end].split(" where ").next().unwrap_or_default();
    Some(value.trim())
}

/// `text` behind the bracket that closes the one at its start, if it starts with one.
fn behind_brackets(text: &str, open: char, close: char) -> &str {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, character) in text.char_indices() {
        if character == open {
            depth += 1;
        } else if character == close && before != '-' {
            depth = depth.saturating_sub(1);
        }
        before = character;
        if depth == 0 {
            return if at == 0 { text } else { &text[at + close.len_utf8()..] };
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rule: super::super::Rule, text: &str) -> Vec<usize> {
        let path = "crates/a/src/a.rs".to_owned();
        rule(&ProjectFile { path, text: text.to_owned() }).iter().map(|one| one.line).collect()
    }

    #[test]
    fn a_doc_that_returns_is_found_on_what_returns_nothing() {
        for item in [
            "fn a() {}",
            "pub(crate) fn a(&self, of: impl Fn(u8) -> bool) {",
            "fn a<F: Fn(u8) -> bool>(of: F) {",
            "fn a(\n    one: u8,\n    other: u8,\n) {",
            "fn a() -> () {",
            "#[must_use]\nstruct A {",
            "a: &'a dyn Fn(f64) -> String,",
            "a: fn(f64) -> String,",
            "const A: u8 = 1;",
            "type A = fn() -> u8;",
            "macro_rules! a {",
            "mod a;",
        ] {
            assert_eq!(lines(returning_docs, &format!("//! A.\n\n/// Returns it.\n{item}")), [3]);
        }
        assert_eq!(lines(returning_docs, "//! Returns it.\nfn a() -> u8 {}"), [1]);
    }

    #[test]
    fn a_doc_that_returns_stands_on_what_returns_something() {
        for item in [
            "fn a() -> u8 {",
            "/// More.\n#[must_use]\n#[expect(\n    x,\n    y\n)]\npub const fn a() -> Option<()>;",
            "pub(crate) fn a<F: Fn(u8) -> bool>(\n    of: F,\n) -> impl Iterator<Item = u8>\nwhere",
        ] {
            let found = lines(returning_docs, &format!("/// Returns it.\n{item}"));
            assert!(found.is_empty(), "{item}");
        }
        assert!(lines(returning_docs, "/// Adds.\n/// Returns nothing.\nfn a() {}").is_empty());
        assert!(lines(returning_docs, "// Returns.\nfn a() {}").is_empty());
    }

    #[test]
    fn a_name_that_promises_a_bool_and_gives_none_is_found() {
        for text in [
            "fn is_a() {}",
            "pub(super) fn has_a(&self) -> Result<(), String> {",
            "fn is_a(\n    of: impl Fn() -> bool,\n) -> u8 {",
            "pub struct A {\n    pub(crate) is_a: u8,",
            "struct A {\n    has_b: bool,\n    has_a: Option<u8>,\n}",
        ] {
            assert_eq!(lines(bool_names, text).len(), 1, "{text}");
        }
    }

    #[test]
    fn a_name_that_gives_a_bool_passes() {
        for text in [
            "fn is_a() -> bool {",
            "pub const fn has_a(\n    &self,\n) -> io::Result<bool> {",
            "fn is_a() -> Option<bool>;",
            "fn is_a<T>(of: T) -> Result<bool, String>\nwhere",
            "fn island() {}",
            "struct A {\n    is_a: AtomicBool,\n    pub has_b: Vec<bool>,\n}",
            "struct A {\n    a: u8,\n}\nlet b = B {\n    is_a: c(),",
            "let a = A {\n    is_a: flags & 1 != 0,\n};",
        ] {
            assert!(lines(bool_names, text).is_empty(), "{text}");
        }
        let path = "crates/a/tests/a.rs".to_owned();
        assert!(bool_names(&ProjectFile { path, text: "fn is_a() {}".to_owned() }).is_empty());
    }
}
