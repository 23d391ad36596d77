//! The document for machines: as one JSON value, or as one line for each target.
//!
//! `--json` gives a [`Document`](crate::Document), written as it grows. `--format jsonl` gives a
//! stream: a line with the schema `straddle.check.target/1` for each target as soon as it is done,
//! and last a line with the schema `straddle.check.summary/1`, by whose absence a reader knows that
//! the run was cut short.

use std::io;

use serde::Serialize;

use crate::document::{SCHEMA, Summary, Target};
use crate::run::Run;

/// The schema's name and version of a line that holds one target.
pub const TARGET_SCHEMA: &str = "straddle.check.target/1";
/// The schema's name and version of the last line.
pub const SUMMARY_SCHEMA: &str = "straddle.check.summary/1";

/// Room for the line of a small image.
const LINE_BYTES: usize = 8192;

/// The line of one target, with its line feed.
#[must_use]
pub fn target_line(target: &Target) -> String {
    let mut line = Vec::with_capacity(LINE_BYTES);
    line.extend_from_slice(b"{\"schema\":\"");
    line.extend_from_slice(TARGET_SCHEMA.as_bytes());
    line.extend_from_slice(b"\",");
    // The target's own opening brace is where the line has its first field already.
    let brace = line.len();
    serde_json::to_writer(&mut line, target).expect("only string keys, written to memory");
    line.remove(brace);
    line.push(b'\n');
    String::from_utf8(line).expect("JSON is text")
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

/// The beginning of a document that is written as it grows: [`element`] for each target and
/// [`tail`] follow.
#[must_use]
pub fn head(version: &str, run: Option<&Run>) -> String {
    #[derive(Serialize)]
    struct Head<'a> {
        schema: &'static str,
        version: &'a str,
        #[serde(flatten)]
        run: Option<&'a Run>,
    }
    let text = ended(serde_json::to_string_pretty(&Head { schema: SCHEMA, version, run }));
    // Its own closing brace is where the targets follow.
    let fields = text.trim_end().trim_end_matches('}').trim_end();
    format!("{fields},\n  \"targets\": [")
}

/// One target of a growing document. A line feed goes before the first one, a comma and a line feed
/// before each other.
#[must_use]
pub fn element(target: &Target) -> String {
    indented_json(target, "    ")
}

/// The end of a growing document; `empty` says that no target was written.
#[must_use]
pub fn tail(summary: &Summary, empty: bool) -> String {
    let close = if empty { "]" } else { "\n  ]" };
    format!("{close},\n  \"summary\": {}\n}}\n", indented_json(summary, "  ").trim_start())
}

/// `value` on several lines, each behind `indent`.
pub(crate) fn indented_json(value: &impl Serialize, indent: &str) -> String {
    let mut text = String::new();
    push_json(&mut text, value, indent);
    text
}

/// Adds `value` to `text`, on several lines, each behind `indent`.
pub(crate) fn push_json(text: &mut String, value: &impl Serialize, indent: &str) {
    text.push_str(indent);
    let lines = Lines { text, indent };
    serde_json::to_writer_pretty(lines, value).expect("only string keys, written to memory");
}

/// JSON on its way into a text: no line feed stands in it but between its lines.
struct Lines<'a> {
    text: &'a mut String,
    indent: &'a str,
}

impl io::Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let piece = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        for (number, line) in piece.split('\n').enumerate() {
            if number > 0 {
                self.text.push('\n');
                self.text.push_str(self.indent);
            }
            self.text.push_str(line);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
