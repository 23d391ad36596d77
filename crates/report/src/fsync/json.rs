//! Result files of `straddle fsync`, written for programs.

use super::{FSYNC_SCHEMA, Fsync};
use crate::json::pretty;
use crate::result_reader::{RESULT_BYTES_MAX, ResultFault, ResultText, within};

/// The most rows, and the most comparisons, that a result file may hold.
const ROWS_MAX: usize = 4096;
/// The most points of a sustained run.
const POINTS_MAX: usize = 1 << 20;

/// The document as JSON with its line feed: indented, each histogram on one line.
#[must_use]
pub fn fsync_json(fsync: &Fsync) -> String {
    pretty(fsync)
}

/// The result that `text` holds. Numbers that are not known (`null`) are read as such.
///
/// # Errors
/// When it is no such document, whole, of this schema, and no larger than a run can be.
pub fn fsync_parse(text: &str) -> Result<Fsync, ResultFault> {
    let fsync: Fsync = ResultText::open(text, &[FSYNC_SCHEMA], RESULT_BYTES_MAX)?.read()?;
    within(fsync.rows.len(), "rows", ROWS_MAX)?;
    within(fsync.comparisons.len(), "comparisons", ROWS_MAX)?;
    let points = fsync.sustained.as_ref().map_or(0, |run| run.points.len());
    within(points, "points", POINTS_MAX)?;
    Ok(fsync)
}
