//! The file that a page or a result goes to: replaced when it is one already, and by nothing but a
//! whole one. It is looked at before anything is measured, and again when all is done: a file that
//! somebody made in between stays, and the result gets a name beside it. A file of another kind is
//! kept: [`KeptFile`].
//!
//! A pipe, a terminal and `/dev/null` hold nothing that could be lost, and are written to. A pipe
//! is opened before anything is measured: one without a reader is refused then.
//!
//! `-` is standard output, in every command: what would go to the file is printed there, in the
//! place of the table. `./-` is the file of that name.

use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};
use clap::ValueEnum as _;
use host::FifoWriter;
use report::drawing::SVG_MARK;
use report::html::PAGE_MARK;
use report::probe::MEASURED_DRIVE_MARK;

use units::text::shell_word;

use crate::arguments::{BenchFormat, Printed, is_standard_output};
use crate::shared::atomic_file::AtomicFile;
use crate::shared::printer::shown;

/// A file that is kept, since no such content is in it: a refusal for safety.
#[derive(Debug)]
pub(crate) struct KeptFile(pub(crate) String);

impl fmt::Display for KeptFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for KeptFile {}

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

/// The counts of a served drive.
pub(crate) const SERVED: NewContent = NewContent {
    name: "counts of a served drive",
    mark: "{\n  \"schema\": \"straddle.served/",
    writer: "`straddle drive serve --counts`",
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

/// State of a path before anything is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nothing.
    Free,
    /// A file that may be replaced.
    Replaced,
    /// A pipe, a terminal or `/dev/null`.
    Stream,
}

/// A file that something may be written to.
#[derive(Debug)]
pub(crate) struct Destination {
    content: NewContent,
    path: PathBuf,
    place: Place,
    /// The open pipe, where it is one.
    fifo: Option<FifoWriter>,
}

impl Destination {
    /// The file at `path`, for `content`. Nothing is written yet.
    ///
    /// # Errors
    /// When something is there that is neither empty nor such content, a pipe that nobody reads, or
    /// no file can be made in its directory.
    pub(crate) fn new(content: NewContent, path: &Path) -> anyhow::Result<Destination> {
        if path.file_name().is_none() {
            bail!(
                "cannot write the {} to {}: a directory\nhint: name a file: -o result.json",
                content.name,
                shown(path)
            );
        }
        let place = content.place(path)?;
        let mut destination = Destination { content, path: path.to_owned(), place, fifo: None };
        if place == Place::Stream {
            if std::fs::metadata(path).is_ok_and(|data| data.file_type().is_fifo()) {
                let opened = FifoWriter::open(path).map_err(|error| destination.failed(&error))?;
                destination.fifo = Some(opened.ok_or_else(|| destination.unread())?);
            }
            return Ok(destination);
        }
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
    /// When it cannot be written or put in place; what was there is then still there. When somebody
    /// made a file there meanwhile: the error names the file that has the result.
    pub(crate) fn write(mut self, text: &str) -> anyhow::Result<()> {
        let written = match self.place {
            Place::Stream if let Some(fifo) = &mut self.fifo => fifo.write_all(text.as_bytes()),
            Place::Stream => File::options()
                .write(true)
                .open(&self.path)
                .and_then(|mut file| file.write_all(text.as_bytes())),
            Place::Free => written_new(&self.path, text),
            Place::Replaced => {
                if let Err(error) = self.content.place(&self.path) {
                    return Err(self.displaced(text, &format!("{error:#}")));
                }
                AtomicFile::create(&self.path, 0o666).and_then(|mut file| {
                    file.write_all(text.as_bytes())?;
                    file.finish()
                })
            }
        };
        written.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                let made = "somebody made a file there in the meantime";
                self.displaced(text, &format!("cannot write to {}: {made}", self.name()))
            }
            ErrorKind::BrokenPipe => self.unread(),
            ErrorKind::Interrupted => {
                let name = self.name();
                anyhow!("cannot write the {} to {name}: a signal came first", self.content.name)
            }
            _ => self.failed(&error),
        })
    }

    /// That no program reads the pipe.
    fn unread(&self) -> anyhow::Error {
        let name = self.name();
        anyhow!(
            "cannot write the {} to {name}: no program reads this pipe\n\
             hint: start the reader first: cat {}",
            self.content.name,
            shell_word(&name)
        )
    }

    /// Puts `text` into a new file beside its place, which others took; says so, and why.
    fn displaced(&self, text: &str, why: &str) -> anyhow::Error {
        let why = why.lines().next().unwrap_or_default();
        let mut name = self.path.file_name().map(OsString::from).unwrap_or_default();
        name.push(format!(".{}", std::process::id()));
        let beside = self.path.with_file_name(name);
        match written_new(&beside, text) {
            Ok(()) => anyhow!("{why}\nhint: the {} is in {}", self.content.name, shown(&beside)),
            Err(error) => self.failed(&error),
        }
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
    /// Returns the place at `path`: nothing is there, or nothing in it, or its like.
    fn place(self, path: &Path) -> anyhow::Result<Place> {
        let NewContent { name: what, mark, writer } = self;
        let name = shown(path);
        let hint = format!("hint: name a new file, or one that {writer} wrote");
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Place::Free),
            Err(error) => bail!("cannot write the {what} to {name}: {error}\n{hint}"),
            Ok(data) if data.is_file() => {}
            Ok(_) if is_stream(path) => return Ok(Place::Stream),
            Ok(_) => bail!(KeptFile(format!(
                "cannot write the {what} to {name}: not a regular file\n{hint}"
            ))),
        }
        let mut head = Vec::new();
        let length = u64::try_from(mark.len()).unwrap_or(u64::MAX);
        let read = File::open(path).and_then(|file| file.take(length).read_to_end(&mut head));
        read.map_err(|error| anyhow!("cannot replace {name}: {error}\n{hint}"))?;
        if !head.is_empty() && head != mark.as_bytes() {
            bail!(KeptFile(format!("cannot replace {name}: not a {what}\n{hint}")));
        }
        Ok(Place::Replaced)
    }
}

/// Returns whether `path` leads to a pipe, a terminal or `/dev/null`. Bytes that are written to
/// other character devices may be commands, such as to `/dev/sg0`.
fn is_stream(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|data| {
        let kind = data.file_type();
        kind.is_fifo() || (kind.is_char_device() && host::is_terminal_or_null(data.rdev()))
    })
}

/// Writes `text` to a new file at `path`.
///
/// # Errors
/// When it cannot be written; of kind `AlreadyExists` if a file is there.
fn written_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = AtomicFile::create(path, 0o666)?;
    file.write_all(text.as_bytes())?;
    file.finish_new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_made_in_the_meantime_stays_and_the_result_is_beside_it() {
        let result = "{\n  \"schema\": \"straddle.bench/1\"\n}\n";
        for was_there in [false, true] {
            let scratch = testkit::Scratch::new();
            let path = scratch.path().join("out.json");
            if was_there {
                std::fs::write(&path, result).unwrap();
            }
            let destination = Destination::new(BENCH, &path).unwrap();
            std::fs::write(&path, "precious").unwrap();
            let error = destination.write(result).unwrap_err().to_string();
            assert_eq!(std::fs::read(&path).unwrap(), b"precious");
            let (_, beside) =
                error.rsplit_once("hint: the result of bench is in ").expect("a name");
            assert_eq!(std::fs::read_to_string(beside).unwrap(), result, "{error}");
            assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 2);
        }
    }

    #[test]
    fn what_keeps_nothing_is_written_to_and_what_is_no_file_is_refused() {
        let scratch = testkit::Scratch::new();
        Destination::new(PAGE, Path::new("/dev/null")).unwrap().write("a page").unwrap();
        for path in [scratch.path(), Path::new("/dev/zero")] {
            let error = Destination::new(PAGE, path).unwrap_err().to_string();
            assert!(error.contains("not a regular file"), "{error}");
        }
    }
}
