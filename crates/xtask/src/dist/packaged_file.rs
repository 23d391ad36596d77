//! Files that a package puts in place.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use flate2::{Compression, GzBuilder};

use crate::cargo;

/// Examples for monitors.
const EXAMPLES: [&str; 4] = ["icinga2.conf", "nagios.cfg", "node-problem-detector.json", "sudoers"];

/// One file or directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PackagedFile {
    /// Its path from the root, without the first slash; a directory ends with one.
    pub(super) path: String,
    /// Its permissions.
    pub(super) mode: u16,
    /// Its content.
    pub(super) bytes: Vec<u8>,
}

impl PackagedFile {
    /// A file that everybody may read.
    pub(super) fn data(path: impl Into<String>, bytes: Vec<u8>) -> PackagedFile {
        PackagedFile { path: path.into(), mode: 0o644, bytes }
    }

    /// A file that everybody may run.
    pub(super) fn program(path: impl Into<String>, bytes: Vec<u8>) -> PackagedFile {
        PackagedFile { path: path.into(), mode: 0o755, bytes }
    }

    /// An empty directory; `path` ends with a slash.
    pub(super) fn directory(path: impl Into<String>, mode: u16) -> PackagedFile {
        PackagedFile { path: path.into(), mode, bytes: Vec::new() }
    }

    /// True for a directory.
    pub(super) fn is_directory(&self) -> bool {
        self.path.ends_with('/')
    }

    /// Returns the permissions with the type of the file, as in `st_mode`.
    pub(super) fn full_mode(&self) -> u16 {
        let kind = if self.is_directory() { 0o040_000 } else { 0o100_000 };
        kind | self.mode
    }
}

/// Returns the files of every package around `program`, by their paths. `speaker` is straddle as
/// this machine can run it: it prints its completions and manual pages.
///
/// # Errors
/// When the program cannot be read or run, or a file of the project cannot be read.
pub(super) fn all(program: &Path, speaker: &Path) -> anyhow::Result<Vec<PackagedFile>> {
    let bytes = std::fs::read(program);
    let bytes = bytes.with_context(|| format!("cannot read {}", program.display()))?;
    let mut files = vec![PackagedFile::program("usr/bin/straddle", bytes)];
    for (shell, path) in [
        ("bash", "usr/share/bash-completion/completions/straddle"),
        ("zsh", "usr/share/zsh/site-functions/_straddle"),
        ("fish", "usr/share/fish/vendor_completions.d/straddle.fish"),
    ] {
        let text = answer(speaker, &["generate", "completions", shell])?;
        files.push(PackagedFile::data(path, text));
    }
    let pages = tempfile::tempdir()?;
    let directory = pages.path().to_str().context("a path of UTF-8")?;
    answer(speaker, &["generate", "man", "--to", directory])?;
    for entry in std::fs::read_dir(pages.path())? {
        let entry = entry?;
        let name = entry.file_name().into_string().ok().context("a name of UTF-8")?;
        let page = compressed(&std::fs::read(entry.path())?)?;
        files.push(PackagedFile::data(format!("usr/share/man/man1/{name}.gz"), page));
    }
    for unit in ["straddle-check.service", "straddle-check.timer"] {
        files.push(PackagedFile::data(format!("usr/lib/systemd/system/{unit}"), own(unit)?));
    }
    for name in EXAMPLES {
        let text = own(&format!("monitors/{name}"))?;
        files.push(PackagedFile::data(format!("usr/share/doc/straddle/examples/{name}"), text));
    }
    let root = cargo::root();
    let changes = compressed(&std::fs::read(root.join("CHANGELOG.md"))?)?;
    files.push(PackagedFile::data("usr/share/doc/straddle/CHANGELOG.md.gz", changes));
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        let text = std::fs::read(root.join(license))?;
        files.push(PackagedFile::data(format!("usr/share/licenses/straddle/{license}"), text));
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Reads a file of the project's about packages.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn own(name: &str) -> anyhow::Result<Vec<u8>> {
    let path = cargo::root().join("crates/xtask/packaging").join(name);
    std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
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
