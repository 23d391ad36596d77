//! Result files of `straddle bench`, written for programs and people.

use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use super::{BENCH_SCHEMA, Bench};
use crate::result_text::{RESULT_BYTES_MAX, ResultFault, ResultText, within};

/// The most experiments that a result file may hold.
const EXPERIMENTS_MAX: usize = 4096;
/// The most arms, and the most comparisons, of one experiment.
const ARMS_MAX: usize = 256;
/// The lists that stand on one line each: they are long and hold nothing but numbers.
const ONE_LINE: &str = "histogram";

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
pub fn bench_parse(text: &str) -> Result<Bench, ResultFault> {
    let bench: Bench = ResultText::open(text, &[BENCH_SCHEMA], RESULT_BYTES_MAX)?.read()?;
    within(bench.experiments.len(), "experiments", EXPERIMENTS_MAX)?;
    for experiment in &bench.experiments {
        within(experiment.arms.len(), "arms in an experiment", ARMS_MAX)?;
        within(experiment.comparisons.len(), "comparisons in an experiment", ARMS_MAX)?;
    }
    Ok(bench)
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
