//! Why a trace is refused.

use std::fmt;

use thiserror::Error;
use units::DiskText;
use units::text::escape;

use super::entry::END_BYTES_MAX;
use super::files::{FILES_MAX, NAME_BYTES_MAX};
use super::line::LINE_BYTES_MAX;
use super::notes::DEVICES_MAX;

/// How much of what was found an error shows, in bytes of plain text.
const FOUND_BYTES_MAX: usize = 60;
/// Number of characters it shows where some of them are escapes, which are hard to read.
const ESCAPED_MAX: usize = 32;

/// A trace that cannot be read, with the place that is the reason.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("cannot read the trace: {place}{problem}")]
pub struct TraceError {
    /// Place where.
    pub place: Place,
    /// What.
    pub problem: Problem,
}

/// Place where in a trace something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    File,
    /// On this line, from 1.
    Line(u64),
    /// In the record that begins at this byte, from 0.
    Byte(u64),
}

impl fmt::Display for Place {
    /// With what divides it from the problem; nothing for the whole file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File => Ok(()),
            Place::Line(number) => write!(f, "line {number}: "),
            Place::Byte(at) => write!(f, "byte {at}: "),
        }
    }
}

/// What is wrong with a trace.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "the fields are named by the messages")]
pub enum Problem {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// It is compressed.
    #[error("it is compressed with {kind}")]
    Compressed { kind: &'static str, unpack: &'static str },
    /// It begins like no trace that is known.
    #[error("it begins with `{found}`: no iolog, no text of blkparse, no records of blktrace")]
    Unknown { found: DiskText },
    /// An iolog of a version that is not read.
    #[error("it begins with `{found}`: of fio's iologs, versions 2 and 3 are read")]
    IologVersion { found: DiskText },
    /// Records of a version that is not read.
    #[error("it holds blktrace's records of version {version}: version 7 is read")]
    BlktraceVersion { version: u8 },
    /// A second trace stands behind the first.
    #[error("a second trace begins")]
    SecondTrace,
    /// A line longer than any that fio or blkparse writes.
    #[error("it is longer than {LINE_BYTES_MAX} bytes")]
    LineTooLong,
    /// A line has too few words.
    #[error("`{found}` has no {missing}")]
    Missing { missing: &'static str, found: DiskText },
    /// A word is not what stands at its place.
    #[error("{what} is `{found}`, not {expects}")]
    Unreadable { what: &'static str, found: DiskText, expects: &'static str },
    /// An action that fio does not write.
    #[error("`{found}` is no action of an iolog")]
    Action { found: DiskText },
    /// A `wait` of version 2 that no clock reaches.
    #[error("a wait until {until_ms} ms is above 2^64 nanoseconds")]
    Wait { until_ms: u64 },
    /// A file is used that no `add` named.
    #[error("file `{name}` was not added before")]
    NotAdded { name: DiskText },
    /// A file's name is longer than fio reads.
    #[error("a file's name is longer than {NAME_BYTES_MAX} bytes")]
    NameTooLong,
    /// More files than are kept.
    #[error("it names more than {FILES_MAX} files")]
    Files,
    /// More devices than are kept.
    #[error("it names more than {DEVICES_MAX} devices")]
    Devices,
    /// An operation that ends behind the last offset that a system call takes.
    #[error("{length_bytes} bytes at {offset_bytes} end past byte {END_BYTES_MAX}")]
    End { offset_bytes: u64, length_bytes: u32 },
    /// A sector whose byte has no number.
    #[error("sector {sector} lies past byte {END_BYTES_MAX}")]
    Sector { sector: u64 },
    /// Neither an event nor a part of the summary.
    #[error("`{found}` is no event in blkparse's default format")]
    NotAnEvent { found: DiskText },
    /// A record does not begin with the magic number.
    #[error("a record begins with {found:#010x}, not with {expected:#010x}")]
    Magic { found: u32, expected: u32 },
    /// The last record is not whole.
    #[error("it ends {missing_bytes} bytes before its last record does")]
    Truncated { missing_bytes: u64 },
}

impl Problem {
    /// With the line it is on.
    pub(super) fn on_line(self, number: u64) -> TraceError {
        TraceError { place: Place::Line(number), problem: self }
    }

    /// With the record it is in.
    pub(super) fn at_byte(self, at: u64) -> TraceError {
        TraceError { place: Place::Byte(at), problem: self }
    }

    /// Of the file as a whole.
    pub(super) fn of_file(self) -> TraceError {
        TraceError { place: Place::File, problem: self }
    }
}

impl TraceError {
    /// Returns what to do about it, in one line.
    #[must_use]
    pub fn hint(&self) -> String {
        match &self.problem {
            Problem::Empty => "record again: blktrace needs debugfs and root".to_owned(),
            Problem::Compressed { unpack, .. } => format!("unpack it first: {unpack}"),
            Problem::Unknown { .. } => {
                "give what fio --write_iolog, blkparse or blktrace wrote".to_owned()
            }
            Problem::IologVersion { .. } => {
                "record again with a fio that writes version 2 or 3".to_owned()
            }
            Problem::BlktraceVersion { .. } => {
                "print it with the blkparse that belongs to it, and give that text".to_owned()
            }
            Problem::SecondTrace => {
                "split the file there; fio appends to an iolog that exists".to_owned()
            }
            Problem::NotAnEvent { .. } => "give what blkparse prints without -f and -F".to_owned(),
            Problem::Files | Problem::Devices => "record fewer of them in one trace".to_owned(),
            Problem::Truncated { .. } => {
                "copy the file again; what stands before its end was read".to_owned()
            }
            _ => "is the file whole, and as fio or blktrace wrote it".to_owned(),
        }
    }
}

/// The beginning of `found`, for an error: short enough to be read, whatever stands there.
pub(super) fn shown(found: &[u8]) -> DiskText {
    let head = &found[..found.len().min(FOUND_BYTES_MAX)];
    if escape(head).as_bytes() == head {
        return DiskText::from_bytes(head);
    }
    let fits = |&length: &usize| escape(&head[..length]).chars().count() <= ESCAPED_MAX;
    let length = (0..=head.len()).rev().find(fits).unwrap_or(0);
    DiskText::from_bytes(&head[..length])
}
