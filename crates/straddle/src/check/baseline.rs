//! Baselines: an earlier look in a file, read for `--watch` and written for `--save`.

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::Parser as _;
use report::{Baseline, Blocks, Envelope, ResultFault, Summary};
use units::text;

use crate::arguments::{Arguments, Check, Command, is_standard_output};
use crate::shared::atomic_file::AtomicFile;
use crate::shared::destination::KeptFile;
use crate::shared::printer::{self, shown};

/// The longest baseline that is read: ten thousand images take a tenth of it, and what is read
/// takes a few times its length in memory.
pub(super) const BASELINE_BYTES: u64 = 256 << 20;

/// The baseline in the file at `path`.
///
/// # Errors
/// When it cannot be read, is no regular file, is too long, or holds no baseline; the message says
/// what to do.
pub(crate) fn read(path: &Path) -> anyhow::Result<Baseline> {
    let bytes = bytes(path)?;
    Baseline::read(&bytes).map_err(|fault| {
        let with = match fault {
            ResultFault::OtherVersion(_) | ResultFault::OtherRelease(..) => " with this version",
            _ => "",
        };
        anyhow!(
            "cannot compare with {}: {fault}\n\
             hint: write a new one{with}: straddle check --save FILE [TARGET]...",
            shown(path)
        )
    })
}

fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let name = shown(path);
    host::read_input(path, BASELINE_BYTES).map_err(|error| {
        anyhow!(
            "cannot read the baseline {name}: {error}\n\
             hint: write one first: straddle check --save FILE [TARGET]..."
        )
    })
}

/// `check` on what `baseline` was made of: the targets, the disk and the capture that the command
/// named that wrote it. `None` where it does not tell, or there is nothing to take from it.
pub(crate) fn again(check: &Check, baseline: &Baseline) -> Option<Check> {
    let words = baseline.command().iter().map(|word| OsString::from_vec(text::unescape(word)));
    let arguments = Arguments::try_parse_from(words).ok()?;
    let Command::Check(before) = arguments.command else { return None };
    let mut again = check.clone();
    again.subject.targets = before.subject.targets;
    again.subject.on = again.subject.on.or(before.subject.on);
    again.subject.sysroot.tree = again.subject.sysroot.tree.or(before.subject.sysroot.tree);
    Some(again)
}

/// The words of a command that checks what `check` does, escaped.
pub(crate) fn command(check: &Check) -> Vec<String> {
    let mut words = vec!["straddle".to_owned(), "check".to_owned()];
    words.extend(check.subject.on.iter().map(|on| format!("--on={on}")));
    words
        .extend(check.subject.sysroot.tree.iter().map(|path| format!("--sysroot={}", shown(path))));
    words.push("--".to_owned());
    words.extend(check.subject.targets.iter().map(|path| shown(path)));
    words
}

/// A baseline on its way into a file: written beside it, and put in its place when it is whole.
pub(crate) struct Save {
    path: PathBuf,
    file: AtomicFile,
    is_empty: bool,
}

impl Save {
    /// A baseline for `path`, begun, in this `envelope`, which may be used by whom `mode` and the
    /// umask allow.
    ///
    /// # Errors
    /// When something is there that is no baseline, or nothing can be written beside it.
    pub(crate) fn begin(path: &Path, envelope: &Envelope, mode: u32) -> anyhow::Result<Save> {
        if is_standard_output(path) {
            bail!(
                "cannot save the baseline to standard output: the findings are printed there\n\
                 hint: name a file: --save base.json; --watch also reads what --json prints"
            );
        }
        let name = shown(path);
        replaceable(path)?;
        if path.file_name().is_none() {
            bail!(
                "cannot write the baseline {name}: a directory\nhint: name a file: --save base.json"
            );
        }
        let file = AtomicFile::create(path, mode).map_err(|error| {
            anyhow!(
                "cannot write the baseline {name}: {error}\n\
                 hint: name a file in a directory that you may write"
            )
        })?;
        let mut save = Save { path: path.to_owned(), file, is_empty: true };
        save.write(report::head(envelope).as_bytes())?;
        Ok(save)
    }

    /// One target more, as [`report::element`] writes it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(crate) fn take(&mut self, element: &Blocks) -> anyhow::Result<()> {
        self.write(if self.is_empty { b"\n" } else { b",\n" })?;
        self.is_empty = false;
        element.iter().try_for_each(|block| self.write(block))
    }

    /// The whole baseline in its place.
    ///
    /// # Errors
    /// When it cannot be written or put in place; what was there is then still there.
    pub(crate) fn end(mut self, envelope: &Envelope, summary: &Summary) -> anyhow::Result<()> {
        self.write(report::tail(envelope, summary, self.is_empty).as_bytes())?;
        let path = self.path;
        self.file.finish().map_err(|error| failed(&path, &error))
    }

    /// Leaves what is in the place of the baseline as it is, and says why: no target could be
    /// opened, which is a typing mistake more often than a state to compare with.
    pub(crate) fn leave(self) {
        let name = shown(&self.path);
        printer::error(&format!("cannot save the baseline {name}: no target could be opened"));
    }

    fn write(&mut self, text: &[u8]) -> anyhow::Result<()> {
        let written = self.file.write_all(text);
        written.map_err(|error| failed(&self.path, &error))
    }
}

fn failed(path: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow!(
        "cannot write the baseline {}: {error}\nhint: df -h shows the space that is left",
        shown(path)
    )
}

/// Returns whether a baseline may be put at `path`: nothing is there, or in it, or a baseline.
fn replaceable(path: &Path) -> anyhow::Result<()> {
    let name = shown(path);
    let hint = "hint: name a new file, or one that --save wrote";
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => bail!("cannot write the baseline {name}: {error}"),
        Ok(data) if !data.is_file() => {
            let why = "not a regular file";
            bail!(KeptFile(format!("cannot write the baseline {name}: {why}\n{hint}")))
        }
        Ok(data) if data.len() == 0 => Ok(()),
        Ok(_) => {
            let kept =
                |reason: String| KeptFile(format!("cannot replace {name}: {reason}\n{hint}"));
            let bytes = host::read_input(path, BASELINE_BYTES);
            let bytes = bytes.map_err(|error| kept(error.to_string()))?;
            Ok(Baseline::recognize(&bytes).map_err(|fault| kept(fault.to_string()))?)
        }
    }
}
