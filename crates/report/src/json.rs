//! The document for machines: as one JSON value, or as one line for each target.
//!
//! `--json` gives a [`Document`](crate::Document), written as it grows. `--format jsonl` gives a
//! stream: a line with the schema `straddle.check.target/1` for each target as soon as it is done,
//! and last a line with the schema `straddle.check.summary/1`, by whose absence a reader knows that
//! the run was cut short.

use std::io::{self, Write as _};

use serde::{Serialize, Serializer};

use crate::check_document::{Summary, Target};
use crate::envelope::Envelope;
use crate::refusal::Refusal;
use crate::run::Run;
use crate::text_blocks::Blocks;

/// Why writing does not fail.
const WRITTEN: &str = "only string keys, written to memory";

/// The schema's name and version of a line that holds one target.
pub const TARGET_SCHEMA: &str = "straddle.check.target/1";
/// The schema's name and version of the last line.
pub const SUMMARY_SCHEMA: &str = "straddle.check.summary/1";

/// The line of one target, with its line feed.
#[must_use]
pub fn target_line(target: &Target) -> Blocks {
    #[derive(Serialize)]
    struct Line<'a> {
        schema: &'static str,
        #[serde(flatten)]
        target: &'a Target,
    }
    let mut line = Blocks::default();
    serde_json::to_writer(&mut line, &Line { schema: TARGET_SCHEMA, target }).expect(WRITTEN);
    line.write_all(b"\n").expect(WRITTEN);
    line
}

/// The last line, with its line feed.
#[must_use]
pub fn summary_line(version: &str, summary: &Summary) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        schema: &'static str,
        version: &'a str,
        #[serde(flatten)]
        summary: &'a Summary,
    }
    ended(serde_json::to_string(&Line { schema: SUMMARY_SCHEMA, version, summary }))
}

pub(crate) fn ended(text: serde_json::Result<String>) -> String {
    let mut text = text.expect("the document has only string keys and writes to memory");
    text.push('\n');
    text
}

/// A document as JSON with its line feed, indented.
pub(crate) fn pretty(document: &impl Serialize) -> String {
    ended(serde_json::to_string_pretty(document))
}

/// A document as JSON on one line, with its line feed.
pub(crate) fn line(document: &impl Serialize) -> String {
    ended(serde_json::to_string(document))
}

/// Writes a long list of numbers on one line of an indented document.
pub(crate) fn on_one_line<T: Serialize, S: Serializer>(
    list: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let line = serde_json::value::to_raw_value(list).map_err(serde::ser::Error::custom)?;
    line.serialize(serializer)
}

/// The beginning of a document that is written as it grows: [`element`] for each target and
/// [`tail`] follow.
#[must_use]
pub fn head(Envelope { schema, version, run, .. }: &Envelope) -> String {
    #[derive(Serialize)]
    struct CheckHead<'a> {
        schema: &'a str,
        version: &'a str,
        #[serde(flatten)]
        run: &'a Run,
    }
    let text = ended(serde_json::to_string_pretty(&CheckHead { schema, version, run }));
    // Its own closing brace is where the targets follow.
    let fields = text.trim_end().trim_end_matches('}').trim_end();
    format!("{fields},\n  \"targets\": [")
}

/// One target of a growing document. A line feed goes before the first one, a comma and a line feed
/// before each other.
#[must_use]
pub fn element(target: &Target) -> Blocks {
    let mut text = Blocks::default();
    push_json(&mut text, target, "    ");
    text
}

/// The end of a growing document, with what became known since its [`head`]; `empty` says that no
/// target was written.
#[must_use]
pub fn tail(Envelope { notes, refusal, .. }: &Envelope, summary: &Summary, empty: bool) -> String {
    #[derive(Serialize)]
    struct CheckTail<'a> {
        summary: &'a Summary,
        notes: &'a [String],
        refusal: &'a Option<Refusal>,
    }
    let close = if empty { "]" } else { "\n  ]" };
    let text = ended(serde_json::to_string_pretty(&CheckTail { summary, notes, refusal }));
    format!("{close},{}", text.trim_start_matches('{'))
}

/// `value` on several lines, each behind `indent`.
pub(crate) fn indented_json(value: &impl Serialize, indent: &str) -> String {
    let mut text = Blocks::default();
    push_json(&mut text, value, indent);
    text.to_string()
}

/// Adds `value` to `text`, on several lines, each behind `indent`.
pub(crate) fn push_json(text: &mut Blocks, value: &impl Serialize, indent: &str) {
    text.write_all(indent.as_bytes()).expect(WRITTEN);
    let lines = OneLineJson { text, indent };
    serde_json::to_writer_pretty(lines, value).expect(WRITTEN);
}

/// JSON on its way into a text: no line feed stands in it but between its lines.
struct OneLineJson<'a> {
    text: &'a mut Blocks,
    indent: &'a str,
}

impl io::Write for OneLineJson<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if number > 0 {
                self.text.write_all(b"\n")?;
                self.text.write_all(self.indent.as_bytes())?;
            }
            self.text.write_all(line)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
