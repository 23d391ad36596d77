//! Result files: written for programs, read as what they are, bytes that may hold anything.

use std::fmt;

use serde::Deserialize;

use super::{FSYNC_SCHEMA, Fsync};
use crate::bench::BENCH_BYTES_MAX;
use crate::bench::json::pretty;
use crate::digest::clip;
use crate::text::one_line;

/// The most rows, and the most comparisons, that a result file may hold.
const ROWS_MAX: usize = 4096;
/// The most points of a sustained run.
const POINTS_MAX: usize = 1 << 20;
/// The bytes of a message about a file's words.
const REASON_BYTES: usize = 200;

/// Why a text is no result of `straddle fsync`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FsyncFault {
    /// It is longer than [`BENCH_BYTES_MAX`]: its length in bytes.
    TooLong(usize),
    /// No JSON object that names its schema; what the parser said.
    NotOurs(String),
    /// Another document, or another version of this one: the name of its schema.
    OtherSchema(String),
    /// Its schema is ours, its content is not; what the parser said.
    Broken(String),
    /// More of something than a run ever has: what, and how many at most.
    TooMany(&'static str, usize),
}

impl fmt::Display for FsyncFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FsyncFault::TooLong(bytes) => {
                write!(f, "it has {bytes} bytes, more than the {BENCH_BYTES_MAX} that are read")
            }
            FsyncFault::NotOurs(reason) => write!(f, "not a straddle result file: {reason}"),
            FsyncFault::OtherSchema(schema) => {
                write!(f, "its schema is `{schema}`, not `{FSYNC_SCHEMA}`")
            }
            FsyncFault::Broken(reason) => write!(f, "it is damaged: {reason}"),
            FsyncFault::TooMany(what, most) => write!(f, "it has more than {most} {what}"),
        }
    }
}

impl std::error::Error for FsyncFault {}

impl FsyncFault {
    /// Returns what to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            FsyncFault::Broken(_) => "it was cut short or edited; measure again",
            _ => "name a file that `straddle fsync --json` of this version wrote",
        }
    }
}

/// The document as JSON with its line feed: indented, each histogram on one line.
#[must_use]
pub fn fsync_json(fsync: &Fsync) -> String {
    pretty(fsync)
}

/// The result that `text` holds. Numbers that are not known (`null`) are read as such.
///
/// # Errors
/// When it is no such document, whole, of this schema, and no larger than a run can be.
pub fn fsync_parse(text: &str) -> Result<Fsync, FsyncFault> {
    /// Fields that a file must have before the rest is read.
    #[derive(Deserialize)]
    struct FsyncHead {
        schema: String,
    }
    if text.len() > BENCH_BYTES_MAX {
        return Err(FsyncFault::TooLong(text.len()));
    }
    // The parser gives up below 128 levels, so depth is bounded; every list is paid for in bytes.
    let head: FsyncHead =
        serde_json::from_str(text).map_err(|error| FsyncFault::NotOurs(said(&error)))?;
    if head.schema != FSYNC_SCHEMA {
        return Err(FsyncFault::OtherSchema(clip(&one_line(&head.schema), REASON_BYTES)));
    }
    let fsync: Fsync =
        serde_json::from_str(text).map_err(|error| FsyncFault::Broken(said(&error)))?;
    let points = fsync.sustained.as_ref().map_or(0, |run| run.points.len());
    for (count, what, most) in [
        (fsync.rows.len(), "rows", ROWS_MAX),
        (fsync.comparisons.len(), "comparisons", ROWS_MAX),
        (points, "points", POINTS_MAX),
    ] {
        if count > most {
            return Err(FsyncFault::TooMany(what, most));
        }
    }
    Ok(fsync)
}

fn said(error: &serde_json::Error) -> String {
    clip(&one_line(&error.to_string()), REASON_BYTES)
}
