//! Result files: written for programs and people, read as what they are, bytes that may hold
//! anything.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use super::{BENCH_SCHEMA, Bench};
use crate::digest::clip;
use crate::text::one_line;

/// The longest result file that is read, in bytes. A matrix of 64 experiments with full histograms
/// is a tenth of it.
pub const BENCH_BYTES_MAX: usize = 64 << 20;
/// The most experiments that a result file may hold.
const EXPERIMENTS_MAX: usize = 4096;
/// The most arms, and the most comparisons, of one experiment.
const ARMS_MAX: usize = 256;
/// The bytes of a message about a file's words.
const REASON_BYTES: usize = 200;
/// The lists that stand on one line each: they are long and hold nothing but numbers.
const ONE_LINE: &str = "histogram";

/// Why a text is no result of `straddle bench`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BenchFault {
    /// It is longer than [`BENCH_BYTES_MAX`]: its length in bytes.
    TooLong(usize),
    /// No JSON object that names its schema; what the parser said.
    NotOurs(String),
    /// Another document: the name of its schema.
    OtherSchema(String),
    /// A result of another version of the format: the name of its schema.
    OtherVersion(String),
    /// Its schema is ours, its content is not; what the parser said, missing fields by their name.
    Broken(String),
    /// More of something than a run ever has: what, and how many at most.
    TooMany(&'static str, usize),
}

impl fmt::Display for BenchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BenchFault::TooLong(bytes) => {
                write!(f, "it has {bytes} bytes, more than the {BENCH_BYTES_MAX} that are read")
            }
            BenchFault::NotOurs(reason) => write!(f, "not a straddle result file: {reason}"),
            BenchFault::OtherSchema(schema) | BenchFault::OtherVersion(schema) => {
                write!(f, "its schema is `{schema}`, not `{BENCH_SCHEMA}`")
            }
            BenchFault::Broken(reason) => write!(f, "it is damaged: {reason}"),
            BenchFault::TooMany(what, most) => write!(f, "it has more than {most} {what}"),
        }
    }
}

impl std::error::Error for BenchFault {}

impl BenchFault {
    /// Returns what to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            BenchFault::OtherVersion(_) => {
                "read it with the version of straddle that wrote it, or measure again with this one"
            }
            BenchFault::Broken(_) => "it was cut short or edited; measure again",
            _ => "name a file that `straddle bench --json` wrote",
        }
    }
}

/// The document as JSON with its line feed: indented, each histogram on one line.
#[must_use]
pub fn bench_json(bench: &Bench) -> String {
    pretty(bench)
}

/// A document as JSON with its line feed: indented, each histogram on one line.
pub(crate) fn pretty(document: &impl Serialize) -> String {
    let mut text = Vec::new();
    let written =
        document.serialize(&mut Serializer::with_formatter(&mut text, IndentedJson::default()));
    written.expect("the document has only string keys and writes to memory");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is text")
}

/// The result that `text` holds. Numbers that are not known (`null`) are read as such.
///
/// # Errors
/// When it is no such document, whole, of this schema, and no larger than a run can be.
pub fn bench_parse(text: &str) -> Result<Bench, BenchFault> {
    /// Fields that a file must have before the rest is read.
    #[derive(Deserialize)]
    struct BenchHead {
        schema: String,
    }
    if text.len() > BENCH_BYTES_MAX {
        return Err(BenchFault::TooLong(text.len()));
    }
    // The parser gives up below 128 levels, so depth is bounded; every list is paid for in bytes.
    let head: BenchHead =
        serde_json::from_str(text).map_err(|error| BenchFault::NotOurs(said(&error)))?;
    if head.schema != BENCH_SCHEMA {
        let (family, _) = BENCH_SCHEMA.split_once('/').expect("the name has a version");
        let ours = head.schema.split_once('/').is_some_and(|(name, _)| name == family);
        let schema = shown(&head.schema);
        return Err(match ours {
            true => BenchFault::OtherVersion(schema),
            false => BenchFault::OtherSchema(schema),
        });
    }
    let bench: Bench =
        serde_json::from_str(text).map_err(|error| BenchFault::Broken(said(&error)))?;
    bounded(&bench)?;
    Ok(bench)
}

fn bounded(bench: &Bench) -> Result<(), BenchFault> {
    let within = |count: usize, what, most| match count > most {
        true => Err(BenchFault::TooMany(what, most)),
        false => Ok(()),
    };
    within(bench.experiments.len(), "experiments", EXPERIMENTS_MAX)?;
    for experiment in &bench.experiments {
        within(experiment.arms.len(), "arms in an experiment", ARMS_MAX)?;
        within(experiment.comparisons.len(), "comparisons in an experiment", ARMS_MAX)?;
    }
    Ok(())
}

fn said(error: &serde_json::Error) -> String {
    shown(&error.to_string())
}

fn shown(text: &str) -> String {
    clip(&one_line(text), REASON_BYTES)
}

/// Indents everything but the lists named [`ONE_LINE`].
#[derive(Default)]
struct IndentedJson {
    pretty: PrettyFormatter<'static>,
    compact: CompactFormatter,
    /// True if a key is being written.
    in_key: bool,
    /// True if the last key was [`ONE_LINE`].
    wanted: bool,
    /// Lists open on one line.
    depth: usize,
}

impl Formatter for IndentedJson {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.wanted {
            self.depth += 1;
            return self.compact.begin_array(writer);
        }
        self.pretty.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.depth == 0 {
            return self.pretty.end_array(writer);
        }
        self.depth -= 1;
        self.compact.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        match (self.depth, first) {
            (0, _) => self.pretty.begin_array_value(writer, first),
            (_, true) => Ok(()),
            (_, false) => writer.write_all(b", "),
        }
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.depth == 0 { self.pretty.end_array_value(writer) } else { Ok(()) }
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        (self.in_key, self.wanted) = (true, false);
        self.pretty.begin_object_key(writer, first)
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.in_key = false;
        self.pretty.end_object_key(writer)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_object_value(writer)
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if self.in_key {
            self.wanted = fragment == ONE_LINE;
        }
        writer.write_all(fragment.as_bytes())
    }
}
