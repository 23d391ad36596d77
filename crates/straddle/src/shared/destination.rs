//! The file that a page or a result goes to: replaced when it is one already, and by nothing but a
//! whole one. It is looked at before anything is measured, and written when all is done.
//!
//! `-` is standard output, in every command: what would go to the file is printed there, in the
//! place of the table. `./-` is the file of that name.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::ValueEnum as _;
use report::drawing::SVG_MARK;
use report::html::PAGE_MARK;
use report::probe::MEASURED_DRIVE_MARK;

use crate::arguments::{BenchFormat, Printed, is_standard_output};
use crate::shared::atomic_file::AtomicFile;
use crate::shared::printer::shown;

/// Content that goes to a file, and the files that it may replace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewContent {
    /// Its name.
    name: &'static str,
    /// First bytes of each such file.
    mark: &'static str,
    /// Command that writes such files.
    writer: &'static str,
}

impl NewContent {
    /// Returns the first bytes of each such file.
    pub(crate) fn mark(&self) -> &'static str {
        self.mark
    }
}

/// A page of `straddle report`.
pub(crate) const PAGE: NewContent =
    NewContent { name: "page", mark: PAGE_MARK, writer: "`straddle report`" };

/// A picture of `straddle draw`.
pub(crate) const PICTURE: NewContent =
    NewContent { name: "picture", mark: SVG_MARK, writer: "`straddle draw -o`" };

/// A result of a command, which begins with its schema.
macro_rules! result_of {
    ($command:literal) => {
        NewContent {
            name: concat!("result of ", $command),
            mark: concat!("{\n  \"schema\": \"straddle.", $command, "/"),
            writer: concat!("`straddle ", $command, " -o`"),
        }
    };
}

/// A result of `straddle bench`.
pub(crate) const BENCH: NewContent = result_of!("bench");
/// A result of `straddle fsync`.
pub(crate) const FSYNC: NewContent = result_of!("fsync");
/// A result of `straddle probe`.
pub(crate) const PROBE: NewContent = result_of!("probe");

/// A result of `straddle drive torture`.
pub(crate) const TORTURE: NewContent = NewContent {
    name: "result of drive torture",
    mark: "{\n  \"schema\": \"straddle.torture/",
    writer: "`straddle drive torture -o`",
};

/// A measured drive of `straddle probe`.
pub(crate) const MEASURED_DRIVE: NewContent = NewContent {
    name: "measured drive",
    mark: MEASURED_DRIVE_MARK,
    writer: "`straddle probe --contribute`",
};

/// A plan of `straddle plan`.
pub(crate) const PLAN: NewContent = NewContent {
    name: "plan",
    mark: "{\n  \"schema\": \"straddle.plan/",
    writer: "`straddle plan -o`",
};

/// A script of `straddle plan`.
pub(crate) const SCRIPT: NewContent = NewContent {
    name: "script",
    mark: "#!/bin/sh\n# Aligns the partitions of one disk, as straddle plan computed it.",
    writer: "`straddle plan --script`",
};

/// A file that something may be written to.
#[derive(Debug)]
pub(crate) struct Destination {
    content: NewContent,
    path: PathBuf,
}

impl Destination {
    /// The file at `path`, for `content`. Nothing is written yet.
    ///
    /// # Errors
    /// When something is there that is neither empty nor such content, or no file can be made in
    /// its directory.
    pub(crate) fn new(content: NewContent, path: &Path) -> anyhow::Result<Destination> {
        if path.file_name().is_none() {
            bail!(
                "cannot write the {} to {}: a directory\nhint: name a file: -o result.json",
                content.name,
                shown(path)
            );
        }
        content.may_replace(path)?;
        let destination = Destination { content, path: path.to_owned() };
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        host::may_make_files(parent.unwrap_or(Path::new(".")))
            .map_err(|error| destination.failed(&error))?;
        Ok(destination)
    }

    /// The destination that `path` names; `None` where it names none, or standard output.
    ///
    /// # Errors
    /// When [`Destination::new`] fails.
    pub(crate) fn of(
        content: NewContent,
        path: Option<&PathBuf>,
    ) -> anyhow::Result<Option<Destination>> {
        let file = path.filter(|path| !is_standard_output(path));
        file.map(|path| Destination::new(content, path)).transpose()
    }

    /// Returns where the whole result goes beside what is printed; `None` where that is all.
    ///
    /// # Errors
    /// When [`Destination::new`] fails, or two documents would go to standard output.
    pub(crate) fn of_result(
        content: NewContent,
        printed: &Printed,
    ) -> anyhow::Result<Option<Destination>> {
        let is_document = printed.format() == BenchFormat::Json;
        if printed.kept.is_printed() && !is_document {
            let format = printed.format().to_possible_value();
            bail!(
                "cannot print two documents: -o - and --format {} both use standard output\n\
                 hint: leave one of them out, or name a file for the result: -o result.json",
                format.as_ref().map_or("", clap::builder::PossibleValue::get_name)
            );
        }
        Destination::of(content, printed.kept.output.as_ref())
    }

    /// The path of the file, harmless to print.
    pub(crate) fn name(&self) -> String {
        shown(&self.path)
    }

    /// `text` in its place.
    ///
    /// # Errors
    /// When it cannot be written or put in place; what was there is then still there.
    pub(crate) fn write(self, text: &str) -> anyhow::Result<()> {
        let written = AtomicFile::create(&self.path, 0o666).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.finish()
        });
        written.map_err(|error| self.failed(&error))
    }

    /// That it cannot be written. The chain must not hold the I/O error itself, which would be
    /// taken for standard output's.
    fn failed(&self, error: &io::Error) -> anyhow::Error {
        anyhow!(
            "cannot write the {} to {}: {error}\n\
             hint: name a file in a directory that you may write",
            self.content.name,
            shown(&self.path)
        )
    }
}

impl NewContent {
    /// Returns whether it may be put at `path`: nothing is there, or nothing in it, or its like.
    fn may_replace(self, path: &Path) -> anyhow::Result<()> {
        let NewContent { name: what, mark, writer } = self;
        let name = shown(path);
        let hint = format!("hint: name a new file, or one that {writer} wrote");
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => bail!("cannot write the {what} to {name}: {error}\n{hint}"),
            Ok(data) if !data.is_file() => {
                bail!("cannot write the {what} to {name}: not a regular file\n{hint}")
            }
            Ok(_) => {}
        }
        let mut head = Vec::new();
        let length = u64::try_from(mark.len()).unwrap_or(u64::MAX);
        let read = File::open(path).and_then(|file| file.take(length).read_to_end(&mut head));
        read.map_err(|error| anyhow!("cannot replace {name}: {error}\n{hint}"))?;
        if !head.is_empty() && head != mark.as_bytes() {
            bail!("cannot replace {name}: not a {what}\n{hint}");
        }
        Ok(())
    }
}
