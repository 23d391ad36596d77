//! The rules of the house that no compiler checks.
//!
//! Each rule is a function from one file to what is wrong in it, so each is tested on a line of
//! text. The same run is a test, so that `cargo test` checks the project itself.

mod banned_methods;
mod signatures;
mod wording;

use std::path::Path;

use anyhow::Context as _;

use crate::{packages, wrap};

/// The rooms, and the rooms that each may use.
const ROOMS: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("device", &["units"]),
    ("format", &["units", "device"]),
    ("workload", &["units"]),
    ("stack", &["units", "device", "format"]),
    ("durability", &["units", "device", "format", "stack"]),
    ("layout", &["units", "device", "format", "stack"]),
    ("drive", &["units", "device", "workload"]),
    ("measure", &["units", "device", "workload"]),
    ("report", &["units", "format", "workload", "stack", "drive", "durability", "measure"]),
    ("host", &["units", "device"]),
    ("serve", &["units", "drive", "workload"]),
    // And every pure room.
    ("straddle", &["host", "serve"]),
    ("testkit", &["units", "device"]),
    ("xtask", &["units", "device", "drive", "host", "measure", "workload", "report", "testkit"]),
    (
        "fuzz",
        &["device", "drive", "durability", "format", "report", "stack", "workload", "testkit"],
    ),
];

/// Rooms that see no file, clock or environment.
const PURE: &[&str] = &[
    "units",
    "device",
    "drive",
    "format",
    "stack",
    "durability",
    "layout",
    "report",
    "measure",
    "workload",
];
/// Modules that they may not name, as the parts of a path behind `std`.
const WORLD: &[&str] = &["fs", "env", "time", "process", "net", "os"];
/// Files outside `host` that may hold unsafe code: a test's allocator.
const UNSAFE: &[&str] = &["crates/testkit/src/memory.rs"];

/// Pages whose width is checked, besides those in `docs`.
const PAGES: [&str; 3] = ["README.md", "CONTRIBUTING.md", "SECURITY.md"];

const LINES_MAX: usize = 600;
const COLUMNS_MAX: usize = 100;

type Rule = fn(&ProjectFile) -> Vec<TidyFault>;

const RULES: &[Rule] = &[
    head,
    length,
    columns,
    unfinished,
    unsafe_code,
    world,
    dependencies,
    lints,
    banned_methods::banned_methods,
    tools,
    signatures::bool_names,
    signatures::returning_docs,
    wording::doc_starts,
    wording::prose,
];

/// A file of the project.
struct ProjectFile {
    /// Its path from the root.
    path: String,
    text: String,
}

/// A fault, and the line that it is on (from 1).
#[derive(Debug, PartialEq, Eq)]
struct TidyFault {
    line: usize,
    what: String,
}

impl TidyFault {
    fn new(line: usize, what: impl Into<String>) -> TidyFault {
        TidyFault { line, what: what.into() }
    }
}

/// Prints what is wrong; whether nothing is.
pub(crate) fn run() -> anyhow::Result<bool> {
    let wrong = findings(&crate::root())?;
    for line in &wrong {
        println!("{line}");
    }
    println!("tidy: {} findings", wrong.len());
    Ok(wrong.is_empty())
}

/// Breaks the comment lines that are too long.
pub(crate) fn wrap() -> anyhow::Result<()> {
    let root = crate::root();
    for source in sources(&root)?.iter().filter(|source| !columns(source).is_empty()) {
        std::fs::write(root.join(&source.path), wrap::wrapped(&source.text, COLUMNS_MAX))?;
    }
    Ok(())
}

fn findings(root: &Path) -> anyhow::Result<Vec<String>> {
    let sources = sources(root)?;
    let mut wrong = wording::vague_names(&sources);
    for source in &sources {
        for found in RULES.iter().flat_map(|rule| rule(source)) {
            wrong.push(format!("{}:{}: {}", source.path, found.line, found.what));
        }
    }
    Ok(wrong)
}

/// Every source file and manifest below `crates` and `fuzz`, and every page, in order.
fn sources(root: &Path) -> anyhow::Result<Vec<ProjectFile>> {
    let mut found = Vec::new();
    let mut ahead = ["crates", "fuzz", "docs"].map(|name| root.join(name)).to_vec();
    for page in PAGES {
        found.push(ProjectFile { path: page.to_owned(), text: text_of(&root.join(page))? });
    }
    while let Some(directory) = ahead.pop() {
        let entries = std::fs::read_dir(&directory)
            .with_context(|| format!("cannot read {}", directory.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !["target", "corpus", "artifacts", "heads"].contains(&&*name) {
                ahead.push(path);
            } else {
                let path = path.strip_prefix(root)?.to_string_lossy().into_owned();
                let is_page = path.starts_with("docs/") && name.ends_with(".md");
                if is_page || name == "Cargo.toml" || name.ends_with(".rs") {
                    found.push(ProjectFile { text: text_of(&root.join(&path))?, path });
                }
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

fn text_of(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

impl ProjectFile {
    fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    fn is_markdown(&self) -> bool {
        self.path.ends_with(".md")
    }

    fn is_manifest(&self) -> bool {
        self.path.ends_with("Cargo.toml")
    }

    /// The room that the file is in.
    fn room(&self) -> &str {
        let path = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        path.split('/').next().unwrap_or_default()
    }

    /// Returns whether the file is part of what users run, rather than a test or a benchmark.
    fn is_product(&self) -> bool {
        let tests = self.path.ends_with("/tests.rs") || self.path.contains("/tests/");
        self.is_rust() && self.path.contains("/src/") && !tests
    }

    /// The numbered lines of code: comments and what stands in quotes are taken out, each line
    /// by itself.
    fn code(&self) -> impl Iterator<Item = (usize, String)> {
        self.text.lines().enumerate().map(|(number, line)| (number + 1, code_of(line)))
    }
}

/// `line` without its comment and without the text of its string literals.
fn code_of(line: &str) -> String {
    let mut code = String::new();
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if quoted => drop(characters.next()),
            '"' => {
                quoted = !quoted;
                code.push('"');
            }
            '/' if !quoted && characters.peek() == Some(&'/') => break,
            _ if quoted => {}
            other => code.push(other),
        }
    }
    code
}

/// The words of `code`: what could be a name.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|character: char| !character.is_alphanumeric() && character != '_')
}

fn head(source: &ProjectFile) -> Vec<TidyFault> {
    let missing = source.is_rust() && !source.text.starts_with("//! ");
    missing
        .then(|| TidyFault::new(1, "the file does not begin with a //! line that says what it is"))
        .into_iter()
        .collect()
}

fn length(source: &ProjectFile) -> Vec<TidyFault> {
    let lines = source.text.lines().count();
    let long = source.is_rust() && lines > LINES_MAX;
    let what = format!("{lines} lines, over {LINES_MAX}: is there a second noun inside?");
    long.then(|| TidyFault::new(lines, what)).into_iter().collect()
}

/// Tests are left out: they hold what is printed, as it is printed.
fn columns(source: &ProjectFile) -> Vec<TidyFault> {
    if source.path.contains("/tests/") {
        return Vec::new();
    }
    let lines = source.text.lines().enumerate();
    let long = lines.filter(|(_, line)| source.is_rust() && line.chars().count() > COLUMNS_MAX);
    long.map(|(number, _)| TidyFault::new(number + 1, format!("over {COLUMNS_MAX} columns")))
        .collect()
}

fn unfinished(source: &ProjectFile) -> Vec<TidyFault> {
    let marks = [concat!("FIX", "ME"), concat!("TO", "DO"), concat!("XX", "X")];
    let calls = [concat!("to", "do!"), concat!("unimpl", "emented!")];
    let lines = source.text.lines().enumerate();
    let unfinished = lines.filter(|(_, line)| {
        words(line).any(|word| marks.contains(&word))
            || calls.iter().any(|call| line.contains(&format!("{call}(")))
    });
    unfinished
        .map(|(number, _)| TidyFault::new(number + 1, "unfinished work does not land"))
        .collect()
}

fn unsafe_code(source: &ProjectFile) -> Vec<TidyFault> {
    if !source.is_rust() || source.room() == "host" || UNSAFE.contains(&&*source.path) {
        return Vec::new();
    }
    let word = concat!("un", "safe");
    let lines = source.code().filter(|(_, code)| words(code).any(|found| found == word));
    lines.map(|(line, _)| TidyFault::new(line, "unsafe code lives in host only")).collect()
}

/// Pure rooms name neither files nor clocks nor the environment, but in their tests, which stand
/// last in a file.
fn world(source: &ProjectFile) -> Vec<TidyFault> {
    if !source.is_product() || !PURE.contains(&source.room()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (line, code) in source.code().take_while(|(_, code)| code != "#[cfg(test)]") {
        let path = |part: &str| code.contains(&format!("std::{part}"));
        let listed = |part: &str| code.contains("std::{") && words(&code).any(|word| word == part);
        let named = WORLD.iter().find(|part| path(part) || listed(part));
        let clock = words(&code).any(|word| word == "Instant" || word == "SystemTime");
        if let Some(part) = named {
            found.push(TidyFault::new(
                line,
                format!("std::{part} lives in host and the binary only"),
            ));
        } else if clock {
            found.push(TidyFault::new(line, "clocks live in host and the binary only"));
        }
    }
    found
}

/// Arrows between rooms point down only.
fn dependencies(source: &ProjectFile) -> Vec<TidyFault> {
    if !source.is_manifest() {
        return Vec::new();
    }
    let Some((_, may_use)) = ROOMS.iter().find(|(room, _)| *room == source.room()) else {
        return vec![TidyFault::new(
            1,
            "this crate is no room; add it to the rooms in xtask's tidy",
        )];
    };
    let mut found = Vec::new();
    let mut section = "";
    for (number, line) in source.text.lines().enumerate() {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
            continue;
        }
        let name = line.split(['.', '=', ' ']).next().unwrap_or_default();
        let room = ROOMS.iter().any(|(room, _)| *room == name);
        let is_test = section == "dev-dependencies" && ["drive", "testkit"].contains(&name);
        let is_pure = source.room() == "straddle" && PURE.contains(&name);
        let allowed = may_use.contains(&name) || is_pure || is_test;
        if section.ends_with("dependencies") && room && !allowed {
            let what = format!("{} may not use {name}", source.room());
            found.push(TidyFault::new(number + 1, what));
        }
    }
    found
}

fn lints(source: &ProjectFile) -> Vec<TidyFault> {
    let bound = !source.is_manifest()
        || source.room() == "fuzz"
        || source.text.contains("[lints]\nworkspace = true");
    (!bound)
        .then(|| TidyFault::new(1, "the workspace's lints are not asked for"))
        .into_iter()
        .collect()
}

/// Every tool that a test needs stands in the list of what is installed.
fn tools(source: &ProjectFile) -> Vec<TidyFault> {
    let call = concat!("need_", "tools!(");
    let mut found = Vec::new();
    if !source.is_rust() {
        return found;
    }
    let mut rest = source.text.as_str();
    while let Some(at) = rest.find(call) {
        let (before, behind) = rest.split_at(at + call.len());
        let line = source.text[..source.text.len() - rest.len() + before.len()].lines().count();
        rest = behind;
        let names = behind.split(')').next().unwrap_or_default();
        for name in names.split('"').skip(1).step_by(2) {
            let listed = packages::TOOLS.iter().any(|(_, tools)| tools.contains(&name));
            if !listed {
                let what = format!("{name} is not in the list of tools in xtask's packages");
                found.push(TidyFault::new(line, what));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_tidy() {
        let wrong = findings(&crate::root()).unwrap();
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    /// Checks that `rule` finds something in a file exactly when `expected`.
    fn check(rule: Rule, path: &str, text: &str, expected: bool) {
        let source = ProjectFile { path: path.to_owned(), text: text.to_owned() };
        assert_eq!(!rule(&source).is_empty(), expected, "{path}: {text}");
    }

    #[test]
    fn a_file_says_what_it_is_and_stays_short() {
        check(head, "crates/units/src/a.rs", "fn a() {}", true);
        check(head, "crates/units/src/a.rs", "//! A.\nfn a() {}", false);
        check(length, "crates/units/src/a.rs", &"\n".repeat(601), true);
        check(columns, "crates/units/src/a.rs", &"ä".repeat(101), true);
        check(columns, "crates/units/src/a.rs", &"ä".repeat(100), false);
    }

    #[test]
    fn unfinished_work_is_found() {
        check(unfinished, "crates/units/src/a.rs", concat!("// FIX", "ME: later"), true);
        check(unfinished, "crates/units/src/a.rs", concat!("to", "do!()"), true);
        check(unfinished, "crates/units/src/a.rs", "the method does it", false);
    }

    #[test]
    fn unsafe_code_is_found_outside_host_but_not_in_words() {
        let code = concat!("un", "safe { x() }");
        check(unsafe_code, "crates/format/src/a.rs", code, true);
        check(unsafe_code, "crates/host/src/a.rs", code, false);
        check(unsafe_code, "crates/format/src/a.rs", &format!("// {code}"), false);
        check(unsafe_code, "crates/format/src/a.rs", &format!("let a = \"{code}\";"), false);
        check(unsafe_code, "crates/format/src/a.rs", concat!("#[expect(un", "safe_code)]"), false);
    }

    #[test]
    fn files_and_clocks_are_found_in_pure_rooms_but_not_in_their_tests() {
        for code in ["use std::fs;", "use std::{fmt, env};", "let a = Instant::now();"] {
            check(world, "crates/format/src/a.rs", code, true);
            check(world, "crates/host/src/a.rs", code, false);
            check(world, "crates/format/tests/a.rs", code, false);
            check(world, "crates/format/src/a.rs", &format!("#[cfg(test)]\nmod a {{{code}"), false);
        }
        check(world, "crates/format/src/a.rs", "use std::{fmt, slice};", false);
    }

    #[test]
    fn an_arrow_that_points_up_is_found() {
        let lints = "[lints]\nworkspace = true\n";
        let up = format!("[dependencies]\nstack.workspace = true\n{lints}");
        check(dependencies, "crates/format/Cargo.toml", &up, true);
        check(dependencies, "crates/straddle/Cargo.toml", &up, false);
        let kit = "[dev-dependencies]\ntestkit = { path = \"x\" }\n";
        check(dependencies, "crates/format/Cargo.toml", kit, false);
        check(dependencies, "crates/format/Cargo.toml", &kit.replace("dev-", ""), true);
        check(super::lints, "crates/format/Cargo.toml", kit, true);
        check(super::lints, "crates/format/Cargo.toml", lints, false);
    }

    #[test]
    fn a_tool_that_nobody_installs_is_found() {
        let call = |name: &str| format!("{}\"mkswap\",\n\"{name}\")", concat!("need_", "tools!("));
        check(tools, "crates/format/tests/a.rs", &call("frobnicate"), true);
        check(tools, "crates/format/tests/a.rs", &call("sgdisk"), false);
    }
}
