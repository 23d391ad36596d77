//! Result files of `straddle bench`, written for programs and people.

use super::{BENCH_SCHEMA, Bench};
use crate::json::pretty;
use crate::result_reader::{RESULT_BYTES_MAX, ResultFault, ResultText, within};

/// The most experiments that a result file may hold.
const EXPERIMENTS_MAX: usize = 4096;
/// The most arms, and the most comparisons, of one experiment.
const ARMS_MAX: usize = 256;

/// The document as JSON with its line feed, indented.
#[must_use]
pub fn bench_json(bench: &Bench) -> String {
    pretty(bench)
}

/// The result that `text` holds. Numbers that are not known (`null`) are read as such.
///
/// # Errors
/// When it is no such document, whole, of this schema, and no larger than a run can be.
pub fn bench_parse(text: &str) -> Result<Bench, ResultFault> {
    let bench: Bench = ResultText::open(text, &[BENCH_SCHEMA], RESULT_BYTES_MAX)?.read()?;
    within(bench.experiments.len(), "experiments", EXPERIMENTS_MAX)?;
    for experiment in &bench.experiments {
        within(experiment.arms.len(), "arms in an experiment", ARMS_MAX)?;
        within(experiment.comparisons.len(), "comparisons in an experiment", ARMS_MAX)?;
    }
    Ok(bench)
}
