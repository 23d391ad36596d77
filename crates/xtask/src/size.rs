//! Size of the product: a row for each crate, without comments, blank lines and tests.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;

const HEADS: [&str; 5] = ["crate", "files", "lines", "types", "names"];
const DECLARES: [&str; 4] = ["struct ", "enum ", "union ", "trait "];

/// Counts of one crate's product code.
#[derive(Default)]
struct Size {
    files: usize,
    lines: usize,
    types: usize,
    names: BTreeSet<String>,
}

/// Prints the table of crates and the number of test executables; always true.
///
/// # Errors
/// When a source file cannot be read, or cargo does not describe the workspace.
pub(crate) fn run() -> anyhow::Result<bool> {
    let crates = crate::root().join("crates");
    let mut names: Vec<PathBuf> = entries(&crates)?;
    names.sort();
    let mut all = Size::default();
    print(HEADS.map(str::to_owned));
    for path in names {
        let size = Size::of(&path.join("src"))?;
        print(size.row(&path.file_name().unwrap_or_default().to_string_lossy()));
        all.add(size);
    }
    print(all.row("all"));
    println!("{} test executables", test_executables()?);
    Ok(true)
}

fn print([name, files, lines, types, names]: [String; 5]) {
    println!("{name:<10} {files:>6} {lines:>7} {types:>6} {names:>6}");
}

impl Size {
    fn of(directory: &Path) -> anyhow::Result<Size> {
        let mut size = Size::default();
        for path in entries(directory)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name == "tests" || name == "tests.rs" {
                continue;
            } else if path.is_dir() {
                size.add(Size::of(&path)?);
            } else if name.ends_with(".rs") {
                size.files += 1;
                let text = std::fs::read_to_string(&path)
                    .with_context(|| format!("cannot read {}", path.display()))?;
                size.read(&text);
            }
        }
        Ok(size)
    }

    /// Counts the lines of a formatted file: an item under `#[cfg(test)]` ends at the next closing
    /// brace, or semicolon on its first line, with its indentation.
    fn read(&mut self, text: &str) {
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let code = line.trim_start();
            let indent = &line[..line.len() - code.len()];
            if code == "#[cfg(test)]" {
                let first = lines.by_ref().find(|line| !line.trim_start().starts_with("#["));
                if first.is_some_and(|line| line.ends_with('{')) {
                    let _ = lines.by_ref().find(|line| line.strip_prefix(indent) == Some("}"));
                }
            } else if !code.is_empty() && !code.starts_with("//") {
                self.lines += 1;
                self.declare(code);
            }
        }
    }

    fn declare(&mut self, code: &str) {
        let code = match code.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => {
                rest.split_once(") ").map_or("", |(_, rest)| rest)
            }
            Some(rest) => rest.trim_start(),
            None => code,
        };
        if let Some(rest) = DECLARES.iter().find_map(|word| code.strip_prefix(word)) {
            let name = rest.split(|letter: char| !letter.is_alphanumeric()).next();
            self.types += 1;
            self.names.insert(name.unwrap_or_default().to_owned());
        }
    }

    fn add(&mut self, other: Size) {
        self.files += other.files;
        self.lines += other.lines;
        self.types += other.types;
        self.names.extend(other.names);
    }

    fn row(&self, name: &str) -> [String; 5] {
        let counts = [self.files, self.lines, self.types, self.names.len()].map(|n| n.to_string());
        let [files, lines, types, names] = counts;
        [name.to_owned(), files, lines, types, names]
    }
}

fn entries(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let found = std::fs::read_dir(directory)
        .with_context(|| format!("cannot list {}", directory.display()))?;
    Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().map(|entry| entry.path()).collect())
}

/// Returns how many programs `cargo test` builds, doc tests left out.
fn test_executables() -> anyhow::Result<usize> {
    let arguments = ["metadata", "--no-deps", "--format-version", "1"];
    let output = crate::cargo::cargo(&arguments).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
    let targets = packages.iter().flat_map(|one| one["targets"].as_array().into_iter().flatten());
    Ok(targets.filter(|target| target["test"] == true).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_code_and_leaves_out_comments_and_tests() {
        let mut size = Size::default();
        size.read(
            "//! Doc.\n\npub(crate) struct A;\nenum B {\n    // why\n    C,\n}\n\n\
             #[cfg(test)]\nmod tests {\n    fn it() {\n    }\n}\n\
             #[cfg(test)]\nuse x;\nconst D: u8 = 1;\n",
        );
        assert_eq!((size.lines, size.types), (5, 2));
        assert_eq!(size.names, ["A", "B"].map(str::to_owned).into());
    }
}
