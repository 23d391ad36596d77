//! Problems with the bytes that were read: evidence, not a refusal.

use device::ReadError;
use serde::{Deserialize, Serialize};

/// Kind of a problem. Rules and severities are decided elsewhere, by this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// A stored checksum differs from the computed one.
    Checksum,
    /// A field holds a value that the format does not allow.
    Field,
    /// Something lies outside of what holds it: a partition past the end, a table behind the
    /// disk.
    Outside,
    /// Two things claim the same bytes.
    Overlap,
    /// A chain comes back to where it was, or is longer than the bound.
    Chain,
    /// Two copies of the same thing differ, or one of them is missing.
    Copies,
    /// A log holds changes that are not at their places yet; they were read as if they were.
    Unreplayed,
    /// Bytes that are needed could not be read, or end too early.
    Unreadable,
    /// A capture of another machine does not hold what is needed.
    Uncaptured,
    /// A script of `straddle plan` is moving partitions, or was stopped while it did.
    HalfMoved,
    /// The format has a feature that this reader does not know, so something stays unknown.
    Unsupported,
}

units::words!(ProblemKind);

impl ProblemKind {
    /// Returns whether a partition table with such a problem must be repaired before it is changed.
    #[must_use]
    pub fn spoils_table(self) -> bool {
        use ProblemKind::{Chain, Checksum, Copies, Outside, Overlap};
        matches!(self, Chain | Checksum | Copies | Outside | Overlap)
    }
}

/// One thing that is wrong, where, and with which values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// The kind.
    pub kind: ProblemKind,
    /// The byte address of the evidence, from the start of the disk that the parser was given.
    pub at_bytes: u64,
    /// The value found and the value expected, in lower case, without a full stop; text from the
    /// disk stands in it escaped.
    pub detail: String,
}

impl Problem {
    /// A problem of `kind` at `at_bytes`.
    pub fn new(kind: ProblemKind, at_bytes: u64, detail: impl Into<String>) -> Problem {
        Problem { kind, at_bytes, detail: detail.into() }
    }

    /// Bytes that `what` needs could not be read.
    #[must_use]
    pub fn unreadable(what: &str, at_bytes: u64, error: &ReadError) -> Problem {
        Problem::new(ProblemKind::Unreadable, at_bytes, format!("{what}: {error}"))
    }
}

/// A value and what is wrong with its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed<T> {
    /// The value that was read.
    pub value: T,
    /// Its problems, in the order found; empty when there are none.
    pub problems: Vec<Problem>,
}

impl<T> Parsed<T> {
    /// A value with nothing wrong.
    pub fn sound(value: T) -> Parsed<T> {
        Parsed { value, problems: Vec::new() }
    }

    /// The same problems with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Parsed<U> {
        Parsed { value: change(self.value), problems: self.problems }
    }
}
