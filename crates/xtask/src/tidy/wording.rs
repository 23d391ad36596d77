//! Rules about words: how doc comments begin, how wide prose is, which names say too little.

use super::{COLUMNS_MAX, ProjectFile, TidyFault};

/// Words that no doc comment begins with: a verb ("Returns") or a noun is plainer.
const STARTS: &[&str] = &["What", "Whether", "How", "Where", "Who", "Which", "As", "Lets"];

/// Names of types with too many meanings to stand alone.
const VAGUE: &[&str] = &["Case", "Found", "Kind", "Place", "Run", "Seen"];

/// Number of `pub` types that have such a name. It may only shrink.
const VAGUE_MAX: usize = 1;

/// Pages that tests make from tables, with one paragraph on a line.
const MADE: &[&str] =
    &["docs/engines.md", "docs/exit-codes.md", "docs/explain.md", "docs/rules.md"];

pub(super) fn doc_starts(source: &ProjectFile) -> Vec<TidyFault> {
    if source.is_rust() { wrong_starts(source) } else { Vec::new() }
}

fn wrong_starts(source: &ProjectFile) -> Vec<TidyFault> {
    let mut found = Vec::new();
    let mut is_inside = false;
    for (number, line) in source.text.lines().enumerate() {
        let doc = ["///", "//!"].iter().find_map(|mark| line.trim_start().strip_prefix(mark));
        let first = doc.and_then(|doc| doc.split_whitespace().next());
        if let Some(word) = first.filter(|word| !is_inside && STARTS.contains(word)) {
            let what = format!("a doc comment begins with a verb or a noun, not with {word}");
            found.push(TidyFault::new(number + 1, what));
        }
        is_inside = doc.is_some();
    }
    found
}

/// Lines of prose that are too wide. Tables, headings and code stay as they are; the targets of
/// links are not counted.
pub(super) fn prose(source: &ProjectFile) -> Vec<TidyFault> {
    if !source.is_markdown() || MADE.contains(&&*source.path) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut is_fenced = false;
    for (number, line) in source.text.lines().enumerate() {
        is_fenced ^= line.trim_start().starts_with("```");
        let is_free = is_fenced || line.starts_with(['|', '#']) || line.starts_with("    ");
        if !is_free && without_targets(line).chars().count() > COLUMNS_MAX {
            found.push(TidyFault::new(number + 1, format!("over {COLUMNS_MAX} columns")));
        }
    }
    found
}

/// `line` without the targets of its links: `[text](target)` and `<https://...>`.
fn without_targets(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(at) = ["](", "<http"].iter().filter_map(|start| rest.find(start)).min() {
        text.push_str(&rest[..at]);
        let end = rest[at..].find([')', '>']).map_or(rest.len(), |length| at + length + 1);
        rest = &rest[end..];
    }
    text + rest
}

/// Returns what is wrong with the number of types with vague names, over all files.
pub(super) fn vague_names(sources: &[ProjectFile]) -> Vec<String> {
    let all: Vec<String> = sources.iter().flat_map(vague_in).collect();
    match all.len() {
        VAGUE_MAX => Vec::new(),
        fewer @ ..VAGUE_MAX => vec![format!("VAGUE_MAX in xtask's tidy can shrink to {fewer}")],
        more => {
            let what = format!("{more} public types have a vague name, over {VAGUE_MAX}:");
            std::iter::once(what).chain(all).collect()
        }
    }
}

/// Each `pub` type of `source` that has a vague name, with its place.
fn vague_in(source: &ProjectFile) -> Vec<String> {
    let types = ["struct ", "enum ", "type ", "trait ", "union "];
    let name = |code: &str| -> Option<&'static str> {
        let declared = code.trim_start().strip_prefix("pub ")?;
        let rest = types.iter().find_map(|word| declared.strip_prefix(word))?;
        let name = super::words(rest).next()?;
        VAGUE.iter().copied().find(|vague| *vague == name)
    };
    let lines = source.code().filter(|_| source.is_product());
    let named = lines.filter_map(|(line, code)| Some((line, name(&code)?)));
    named.map(|(line, name)| format!("{}:{line}: {name}", source.path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> ProjectFile {
        ProjectFile { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_doc_comment_that_begins_with_a_question_word_is_found_on_its_first_line_only() {
        let lines = |text: &str| -> Vec<usize> {
            wrong_starts(&source("crates/a/src/a.rs", text)).iter().map(|one| one.line).collect()
        };
        assert_eq!(lines("//! What it is.\n\n/// Whether it is so.\nfn a() {}"), [1, 3]);
        assert_eq!(lines("    /// As [`a`].\n    fn b() {}"), [1]);
        assert!(
            lines("/// Returns\n/// What follows.\n///\n/// How it ends.\nfn a() {}").is_empty()
        );
        assert!(
            lines("/// Asks.\n// Which is no doc comment.\n/// However.\nfn a() {}").is_empty()
        );
    }

    #[test]
    fn wide_prose_is_found_but_not_in_tables_code_and_targets_of_links() {
        let is_wide = |line: &str| !prose(&source("docs/a.md", line)).is_empty();
        let long = "word ".repeat(25);
        assert!(is_wide(&long));
        assert!(is_wide(&format!("- [a](b.md) {long}")));
        for line in ["| {}|", "    {}", "# {}", "```\n{}\n```", "[text](https://a.b/{})"] {
            assert!(!is_wide(&line.replace("{}", &long)), "{line}");
        }
        assert_eq!(without_targets("a [b](c) d <https://e> f](g"), "a [b d  f");
    }

    #[test]
    fn public_types_with_vague_names_are_counted() {
        let count = |text: &str| vague_in(&source("crates/units/src/a.rs", text)).len();
        assert_eq!(count("pub struct Place {\n    pub enum Kind {\npub type Run = u8;"), 3);
        assert_eq!(count("pub(crate) struct Place;\nstruct Run;\npub struct PlaceOnDisk;"), 0);
        assert!(vague_in(&source("crates/units/tests/a.rs", "pub struct Run;")).is_empty());
    }
}
