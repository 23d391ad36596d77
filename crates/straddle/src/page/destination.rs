//! The file that the page goes to: replaced when it is a page, and by nothing but a whole one.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use report::html::PAGE_MARK;

use super::shown;

/// A file that a page may be written to.
pub(super) struct Destination {
    path: PathBuf,
    beside: PathBuf,
}

impl Destination {
    /// The file at `path`.
    ///
    /// # Errors
    /// When something is there that is no page of ours.
    pub(super) fn new(path: &Path) -> anyhow::Result<Destination> {
        replaceable(path)?;
        let name = path.file_name().with_context(|| format!("{} names no file", shown(path)))?;
        let mut beside = OsString::from(".");
        beside.push(name);
        beside.push(format!(".{}.new", std::process::id()));
        Ok(Destination { path: path.to_owned(), beside: path.with_file_name(beside) })
    }

    /// `page` in its place.
    ///
    /// # Errors
    /// When it cannot be written or put in place; what was there is then still there.
    pub(super) fn write(self, page: &str) -> anyhow::Result<()> {
        let mut made = false;
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().write(true).create_new(true).open(&self.beside)?;
            made = true;
            file.write_all(page.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&self.beside, &self.path)
        };
        let written = { write }();
        // The chain must not hold the I/O error itself, which would be taken for standard output's.
        written.map_err(|error| {
            if made {
                // What is half written is of no use to anyone.
                let _ = std::fs::remove_file(&self.beside);
            }
            anyhow!(
                "cannot write the page to {}: {error}\n\
                 hint: name a file in a directory that you may write",
                shown(&self.path)
            )
        })
    }
}

/// Whether a page may be put at `path`: nothing is there, or a page.
fn replaceable(path: &Path) -> anyhow::Result<()> {
    let name = shown(path);
    let hint = "hint: name a new file, or one that `straddle report` wrote";
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => bail!("cannot write the page to {name}: {error}"),
        Ok(data) if !data.is_file() => {
            bail!("will not write the page to {name}: it is no regular file\n{hint}")
        }
        Ok(_) => {}
    }
    let mut head = Vec::new();
    let length = u64::try_from(PAGE_MARK.len()).unwrap_or(u64::MAX);
    let read = File::open(path).and_then(|file| file.take(length).read_to_end(&mut head));
    read.map_err(|error| anyhow!("will not write over {name}: {error}\n{hint}"))?;
    if head != PAGE_MARK.as_bytes() {
        bail!("will not write over {name}: it is no page of straddle\n{hint}");
    }
    Ok(())
}
