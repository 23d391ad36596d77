//! Files that a package puts in place.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use flate2::{Compression, GzBuilder};

use crate::cargo;

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackagedFile {
    /// Its path from the root, without the first slash.
    pub(super) path: String,
    /// True if it is run.
    pub(super) is_program: bool,
    /// Its content.
    pub(super) bytes: Vec<u8>,
}

impl PackagedFile {
    fn data(path: impl Into<String>, bytes: Vec<u8>) -> PackagedFile {
        PackagedFile { path: path.into(), is_program: false, bytes }
    }
}

/// Returns all files of a package around `program`, by their paths; `changes` is the changelog as
/// Debian wants it.
///
/// # Errors
/// When the program cannot be read or run, or a file of the project cannot be read.
pub(super) fn all(program: &Path, changes: &str) -> anyhow::Result<Vec<PackagedFile>> {
    let bytes = std::fs::read(program);
    let bytes = bytes.with_context(|| format!("cannot read {}", program.display()))?;
    let mut files =
        vec![PackagedFile { path: "usr/bin/straddle".to_owned(), is_program: true, bytes }];
    for (shell, path) in [
        ("bash", "usr/share/bash-completion/completions/straddle"),
        ("zsh", "usr/share/zsh/vendor-completions/_straddle"),
        ("fish", "usr/share/fish/vendor_completions.d/straddle.fish"),
    ] {
        let text = answer(program, &["generate", "completions", shell])?;
        files.push(PackagedFile::data(path, text));
    }
    let pages = tempfile::tempdir()?;
    let directory = pages.path().to_str().context("a path of UTF-8")?;
    answer(program, &["generate", "man", "--to", directory])?;
    for entry in std::fs::read_dir(pages.path())? {
        let entry = entry?;
        let name = entry.file_name().into_string().ok().context("a name of UTF-8")?;
        let page = compressed(&std::fs::read(entry.path())?)?;
        files.push(PackagedFile::data(format!("usr/share/man/man1/{name}.gz"), page));
    }
    let packaging = cargo::root().join("crates/xtask/packaging");
    for unit in ["straddle-check.service", "straddle-check.timer"] {
        let text = std::fs::read(packaging.join(unit))?;
        files.push(PackagedFile::data(format!("usr/lib/systemd/system/{unit}"), text));
    }
    let overrides = std::fs::read(packaging.join("lintian-overrides"))?;
    files.push(PackagedFile::data("usr/share/lintian/overrides/straddle", overrides));
    let documentation = [
        ("copyright", std::fs::read(packaging.join("copyright"))?),
        ("changelog.gz", compressed(changes.as_bytes())?),
        ("CHANGELOG.md.gz", compressed(&std::fs::read(cargo::root().join("CHANGELOG.md"))?)?),
    ];
    files.extend(
        documentation.map(|(name, bytes)| {
            PackagedFile::data(format!("usr/share/doc/straddle/{name}"), bytes)
        }),
    );
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Compresses `bytes` without a time or a name (gzip, RFC 1952).
pub(super) fn compressed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut writer = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    writer.write_all(bytes)?;
    writer.finish()
}

fn answer(program: &Path, words: &[&str]) -> anyhow::Result<Vec<u8>> {
    let output = Command::new(program).args(words).output();
    let output = output.with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(output.status.success(), "straddle {} failed", words.join(" "));
    Ok(output.stdout)
}
