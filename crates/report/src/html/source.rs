//! Result files of which a page is made.

use crate::bench::{BENCH_SCHEMA, Bench};
use crate::check_document::{Document, SCHEMA};
use crate::compare::{COMPARE_SCHEMA, Comparing};
use crate::drive::{
    PUBLISHED_SCHEMA, Published, SIMULATION_SCHEMA, Simulation, TORTURE_SCHEMA, Torture,
};
use crate::fsync::{FSYNC_SCHEMA, Fsync};
use crate::probe::{PROBE_SCHEMA, Probe};
use crate::result_reader::{RESULT_BYTES_MAX, ResultFault, ResultText};
use crate::trace::{TRACE_SCHEMA, Trace};

/// Content of one file.
#[derive(Clone, Debug)]
pub enum FileContent {
    /// Result of `straddle check`.
    Check(Box<Document>),
    /// Result of `straddle bench`.
    Bench(Box<Bench>),
    /// Result of `straddle fsync`.
    Fsync(Box<Fsync>),
    /// Result of `straddle probe`.
    Probe(Box<Probe>),
    /// Two results of one command side by side.
    Compare(Box<Comparing>),
    /// Place where a file's bytes lie.
    Trace(Box<Trace>),
    /// Simulated cost of a workload on drives.
    Simulation(Box<Simulation>),
    /// Published numbers beside the models'.
    Published(Box<Published>),
    /// Power cuts under a program.
    Torture(Box<Torture>),
}

/// One result and where it came from.
#[derive(Clone, Debug)]
pub struct ResultFile {
    /// The file as it was given.
    pub name: String,
    /// Content.
    pub content: FileContent,
}

/// A file that is not shown, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The file as it was given.
    pub name: String,
    /// Why it is not shown.
    pub reason: String,
    /// Next step.
    pub hint: String,
}

/// Every kind of document of which a page is made.
const SHOWN: [&str; 9] = [
    SCHEMA,
    BENCH_SCHEMA,
    FSYNC_SCHEMA,
    PROBE_SCHEMA,
    COMPARE_SCHEMA,
    TRACE_SCHEMA,
    SIMULATION_SCHEMA,
    PUBLISHED_SCHEMA,
    TORTURE_SCHEMA,
];

/// Returns what `text`, the content of the file `name`, holds.
///
/// # Errors
/// When it is no whole document of a schema and version of which a page is made, or is longer than
/// [`RESULT_BYTES_MAX`].
pub fn read(name: &str, text: &str) -> Result<ResultFile, ResultFault> {
    let opened = ResultText::open(text, &SHOWN, RESULT_BYTES_MAX)?;
    let content = match opened.schema {
        SCHEMA => FileContent::Check(opened.read()?),
        BENCH_SCHEMA => FileContent::Bench(opened.read()?),
        FSYNC_SCHEMA => FileContent::Fsync(opened.read()?),
        PROBE_SCHEMA => FileContent::Probe(opened.read()?),
        COMPARE_SCHEMA => FileContent::Compare(opened.read()?),
        TRACE_SCHEMA => FileContent::Trace(opened.read()?),
        SIMULATION_SCHEMA => FileContent::Simulation(opened.read()?),
        PUBLISHED_SCHEMA => FileContent::Published(opened.read()?),
        _ => FileContent::Torture(opened.read()?),
    };
    Ok(ResultFile { name: name.to_owned(), content })
}
