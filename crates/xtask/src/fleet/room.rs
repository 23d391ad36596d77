//! The directory of a run: images, results, straddle itself.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use testkit::running_program::Ran;
use testkit::schema;

use crate::bench::tools;

/// Longest wait for a condition, and the pause between looks.
const PATIENCE: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(50);

/// First sectors of a partition that is aligned, and of one that is not.
pub(super) const ALIGNED: u32 = 2048;
pub(super) const MISALIGNED: u32 = 63;

/// The directory.
pub(super) struct Room {
    directory: PathBuf,
    /// straddle.
    pub(super) program: PathBuf,
    /// Hosts of the largest scene.
    pub(super) hosts: u64,
}

impl Room {
    pub(super) fn new(directory: &Path, program: &Path, hosts: u64) -> Room {
        Room { directory: directory.to_owned(), program: program.to_owned(), hosts }
    }

    /// Returns the directory.
    pub(super) fn path(&self) -> &Path {
        &self.directory
    }

    /// Makes a directory for the scene called `name`. Fails when it cannot be made.
    pub(super) fn place(&self, name: &str) -> anyhow::Result<PathBuf> {
        let place = self.directory.join(name);
        std::fs::create_dir_all(&place)?;
        Ok(place)
    }

    /// Returns a command of straddle, which keeps results in `state`.
    pub(super) fn straddle(&self, state: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).env("STATE_DIRECTORY", state);
        command
    }

    /// Returns the page of `straddle report` of these files, and how that ended. Fails when
    /// straddle cannot be started.
    pub(super) fn report(&self, files: &[PathBuf]) -> anyhow::Result<Ran> {
        let mut command = self.straddle(&self.directory, &["report", "-o", "-"]);
        Ok(tools::output(command.args(files))?.into())
    }

    /// Returns the schema of what the command called `name` prints. Fails when straddle prints
    /// none.
    pub(super) fn schema(&self, name: &str) -> anyhow::Result<Value> {
        let mut command = self.straddle(&self.directory, &["generate", "schema", name]);
        Ok(serde_json::from_str(&tools::answer(&mut command)?)?)
    }
}

/// Writes an image of 4 MiB with one partition of 2 MiB that starts at `sector`. Fails when it
/// cannot be written.
pub(super) fn image(path: &Path, sector: u32) -> anyhow::Result<()> {
    let mut bytes = [0; 512];
    bytes[446 + 4] = 0x83;
    bytes[446 + 8..446 + 12].copy_from_slice(&sector.to_le_bytes());
    bytes[446 + 12..446 + 16].copy_from_slice(&4096_u32.to_le_bytes());
    bytes[510..].copy_from_slice(&[0x55, 0xaa]);
    std::fs::write(path, bytes)?;
    std::fs::File::options().write(true).open(path)?.set_len(4 << 20)?;
    Ok(())
}

/// Returns the files of a directory, in order. Fails when it cannot be listed.
pub(super) fn files(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(directory)?;
    let mut files =
        entries.map(|entry| Ok(entry?.path())).collect::<anyhow::Result<Vec<PathBuf>>>()?;
    files.sort_unstable();
    Ok(files)
}

/// Returns the document in `path`. Fails when it cannot be read, or is not JSON.
pub(super) fn document(path: &Path) -> anyhow::Result<Value> {
    let text = std::fs::read_to_string(path)?;
    serde_json::from_str(&text).with_context(|| format!("no JSON in {}", path.display()))
}

/// Returns the document in `path`. Fails when it does not follow `rules`, which are a schema.
pub(super) fn sound(path: &Path, rules: &Value) -> anyhow::Result<Value> {
    let document = document(path)?;
    let faults = schema::faults(rules, &document);
    ensure!(faults.is_empty(), "{}: {}", path.display(), faults.join("; "));
    Ok(document)
}

/// Waits until `look` gives something back, and returns that. Fails when that takes more than two
/// minutes; `what` says what was waited for.
pub(super) fn awaited<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> anyhow::Result<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        ensure!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(PAUSE);
    }
}
