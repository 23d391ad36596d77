//! Entries as an iolog that fio reads.

use std::fmt::Write as _;

use thiserror::Error;
use units::DiskText;

use super::entry::{TraceAction, TraceEntry, TraceTarget};
use super::files::{FILES_MAX, NAME_BYTES_MAX};
use super::format::{TraceFormat, iolog_head};

/// Entry that an iolog cannot hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are named by the messages")]
pub enum Unwritable {
    /// Nothing in an iolog is a flush or a write with FUA.
    #[error("an iolog has no word for {action:?}")]
    Action { action: TraceAction },
    /// The entry's target is none of the files.
    #[error("{target:?} is not one of the {files} files of the iolog")]
    Target { target: TraceTarget, files: usize },
    /// A name that fio would not read back.
    #[error("an iolog cannot name a file `{name}`: blanks, or not 1 to {NAME_BYTES_MAX} bytes")]
    Name { name: DiskText },
    /// No files, or too many.
    #[error("an iolog of {count} files cannot be written: 1 to {FILES_MAX} are possible")]
    Count { count: usize },
    /// Version 3 wants a time for each entry.
    #[error("an iolog of version 3 needs a time for each entry, and one has none")]
    NoTime,
}

/// Writes an iolog: [`IologWriter::begin`], [`IologWriter::line`] for each entry,
/// [`IologWriter::end`]. In version 3, times are cut to microseconds; in version 2 there are none.
#[derive(Debug)]
pub struct IologWriter {
    has_times: bool,
    names: Vec<String>,
    last_us: u64,
}

impl IologWriter {
    /// A writer of a log about files of these `names`, [`TraceTarget::File`] numbers which of them,
    /// and the log's first lines. Version 2 for [`TraceFormat::Iolog2`], else version 3.
    ///
    /// # Errors
    /// When there are none or more than [`FILES_MAX`], or fio would not read a name back: one with
    /// a blank, or that is no text of 1 to [`NAME_BYTES_MAX`] bytes.
    pub fn begin(
        format: TraceFormat,
        names: &[DiskText],
    ) -> Result<(IologWriter, String), Unwritable> {
        if names.is_empty() || names.len() > FILES_MAX {
            return Err(Unwritable::Count { count: names.len() });
        }
        let names = names.iter().map(readable).collect::<Result<_, _>>()?;
        let writer = IologWriter { has_times: format != TraceFormat::Iolog2, names, last_us: 0 };
        let head = format!("{}\n", iolog_head(format));
        let text = head + &writer.of_files("add") + &writer.of_files("open");
        Ok((writer, text))
    }

    /// Adds the line of `entry` to `text`.
    ///
    /// # Errors
    /// When an iolog has no word for its action, its target is none of the files, or a time is
    /// needed and missing. Nothing is added then.
    pub fn line(&mut self, entry: &TraceEntry, text: &mut String) -> Result<(), Unwritable> {
        let action = match entry.action {
            TraceAction::Read => "read",
            TraceAction::Write { fua: false } => "write",
            TraceAction::Discard => "trim",
            TraceAction::Fsync => "sync",
            TraceAction::Fdatasync => "datasync",
            action => return Err(Unwritable::Action { action }),
        };
        let (target, files) = (entry.target, self.names.len());
        let name = match target {
            TraceTarget::File(number) => self.names.get(usize::from(number)),
            TraceTarget::Device(_) => None,
        };
        let name = name.ok_or(Unwritable::Target { target, files })?;
        let TraceEntry { at_ns, offset_bytes, length_bytes, .. } = *entry;
        if self.has_times {
            self.last_us = at_ns.ok_or(Unwritable::NoTime)?.div_euclid(1000);
            let _infallible = write!(text, "{} ", self.last_us);
        }
        let _infallible = writeln!(text, "{name} {action} {offset_bytes} {length_bytes}");
        Ok(())
    }

    /// The log's last lines.
    #[must_use]
    pub fn end(self) -> String {
        self.of_files("close")
    }

    /// A line for each file that says `action`.
    fn of_files(&self, action: &str) -> String {
        let time = if self.has_times { format!("{} ", self.last_us) } else { String::new() };
        self.names.iter().map(|name| format!("{time}{name} {action}\n")).collect()
    }
}

/// `name` as text that fio reads as one word.
fn readable(name: &DiskText) -> Result<String, Unwritable> {
    let refused = || Unwritable::Name { name: name.clone() };
    let bytes = name.raw();
    let is_word = (1..=NAME_BYTES_MAX).contains(&bytes.len())
        && !bytes.iter().any(|byte| byte.is_ascii_whitespace() || *byte == 0x0b || *byte == 0);
    let text = std::str::from_utf8(bytes).map_err(|_| refused())?;
    if is_word { Ok(text.to_owned()) } else { Err(refused()) }
}
