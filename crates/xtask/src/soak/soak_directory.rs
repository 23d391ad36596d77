//! The program that a soak runs, and the directory that it works in.

use std::path::PathBuf;

use anyhow::{Context as _, ensure};

use crate::cargo;
use crate::options::{DIRECTORY, Options};

/// A program that runs, and a directory for scratch files.
pub(super) struct SoakSite {
    pub(super) program: PathBuf,
    pub(super) directory: PathBuf,
}

impl SoakSite {
    /// The program that was named, or straddle as it is now; the directory that was named, or that
    /// of the program.
    ///
    /// # Errors
    /// When it cannot be built, or the directory is none.
    pub(super) fn of(options: &Options<'_>) -> anyhow::Result<SoakSite> {
        let program = cargo::program(options)?;
        let beside = || program.parent().unwrap_or(&program).to_owned();
        let directory = options.path(DIRECTORY)?.unwrap_or_else(beside);
        let kind = std::fs::metadata(&directory);
        let kind = kind.with_context(|| format!("cannot read {}", directory.display()))?;
        ensure!(kind.is_dir(), "{} is not a directory", directory.display());
        Ok(SoakSite { program, directory })
    }
}
