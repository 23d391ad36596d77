//! The one reader of result files, which may hold anything: a text is opened by its schema, then
//! read as the document of that schema.

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Error, Value};

use crate::text::say_in;

/// The longest result file that is read, in bytes. A matrix of 64 experiments with full histograms
/// is a tenth of it.
pub const RESULT_BYTES_MAX: usize = 64 << 20;
/// The bytes of a message about a file's words.
const REASON_BYTES: usize = 200;
/// This straddle, as its documents name it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Why a text is no result that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultFault {
    /// It is longer than is read: its length and the most bytes that are.
    TooLong(usize, usize),
    /// No JSON object that names its schema; what was expected and found.
    NotOurs(String),
    /// Another document: the name of its schema, and that of the one document that is read.
    OtherSchema(String, Option<&'static str>),
    /// A result of another version of the format: the name of its schema.
    OtherVersion(String),
    /// Its schema is known, its content is not what that says; what the parser said.
    Broken(String),
    /// The same, and another release of straddle wrote it: which one, and what the parser said.
    OtherRelease(String, String),
    /// More of something than a run ever has: what, and how many at most.
    TooMany(&'static str, usize),
}

impl fmt::Display for ResultFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ResultFault::TooLong(bytes, most) => {
                write!(f, "{bytes} bytes long, at most {most} are read")
            }
            ResultFault::NotOurs(reason) => write!(f, "not a straddle result file: {reason}"),
            ResultFault::OtherSchema(found, Some(expected)) => {
                write!(f, "expected {}, found {}", written_by(expected), written_by(found))
            }
            ResultFault::OtherSchema(found, None) => {
                write!(f, "expected a result of a check or a measurement, found schema `{found}`")
            }
            ResultFault::OtherVersion(schema) => {
                write!(f, "this version of straddle does not know the schema `{schema}`")
            }
            ResultFault::Broken(reason) => write!(f, "damaged: {reason}"),
            ResultFault::OtherRelease(version, reason) => {
                write!(f, "written by straddle {version}, unreadable by {VERSION}: {reason}")
            }
            ResultFault::TooMany(what, most) => write!(f, "more than {most} {what}"),
        }
    }
}

impl std::error::Error for ResultFault {}

impl ResultFault {
    /// Returns what to do next.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            ResultFault::OtherVersion(_) | ResultFault::OtherRelease(..) => {
                "read it with the version of straddle that wrote it, or measure again with this one"
            }
            ResultFault::Broken(_) => "the file was cut short or edited; make it again",
            ResultFault::TooLong(..) | ResultFault::TooMany(..) => {
                "make several results of fewer targets or experiments each"
            }
            ResultFault::NotOurs(_) | ResultFault::OtherSchema(..) => {
                "name a file that --json or -o of straddle wrote"
            }
        }
    }
}

/// The text of a result, of which the schema is known.
pub(crate) struct ResultText<'a> {
    text: &'a str,
    /// One of those that were asked for.
    pub(crate) schema: &'static str,
    version: Option<Value>,
}

/// Fields that a file must have before the rest is read.
#[derive(Deserialize)]
struct ResultHead {
    schema: Option<Value>,
    version: Option<Value>,
}

impl<'a> ResultText<'a> {
    /// Opens `text`, which is to be a document of one of these `schemas` and at most `bytes_max`
    /// long.
    ///
    /// # Errors
    /// When it is longer, or no whole JSON object that names one of them.
    pub(crate) fn open(
        text: &'a str,
        schemas: &[&'static str],
        bytes_max: usize,
    ) -> Result<ResultText<'a>, ResultFault> {
        if text.len() > bytes_max {
            return Err(ResultFault::TooLong(text.len(), bytes_max));
        }
        // The parser gives up below 128 levels, so depth is bounded; every list is paid for in
        // bytes.
        let head: ResultHead = serde_json::from_str(text).map_err(|error| {
            // A file that was cut short names its schema all the same.
            match error.is_eof() && names_one(text, schemas) {
                true => ResultFault::Broken(plain(&error)),
                false => ResultFault::NotOurs(no_document(text, &error)),
            }
        })?;
        let Some(Value::String(found)) = head.schema else {
            return Err(ResultFault::NotOurs("expected a `schema` field, found none".to_owned()));
        };
        match schemas.iter().find(|schema| **schema == found) {
            Some(schema) => Ok(ResultText { text, schema, version: head.version }),
            None => Err(unknown(&found, schemas)),
        }
    }

    /// Reads the whole of it. Numbers that are not known (`null`) are read as such.
    ///
    /// # Errors
    /// When its content is not what its schema says.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, ResultFault> {
        serde_json::from_str(self.text).map_err(|error| match &self.version {
            Some(Value::String(version)) if version != VERSION => {
                ResultFault::OtherRelease(shown(version), plain(&error))
            }
            _ => ResultFault::Broken(plain(&error)),
        })
    }
}

/// Rejects a list longer than a run ever has.
pub(crate) fn within(count: usize, what: &'static str, most: usize) -> Result<(), ResultFault> {
    if count > most { Err(ResultFault::TooMany(what, most)) } else { Ok(()) }
}

/// Why `text` is no JSON object that could name its schema.
fn no_document(text: &str, error: &Error) -> String {
    let first = text.trim_start().chars().next();
    let found = match (error.classify(), first) {
        (_, None) => "an empty file".to_owned(),
        (Category::Data, Some('[')) => "a JSON list".to_owned(),
        (Category::Data, Some(first)) if first != '{' => "another JSON value".to_owned(),
        (Category::Syntax, Some('{')) if error.to_string().starts_with("trailing characters") => {
            format!("more text after the first one (line {})", error.line())
        }
        (Category::Eof, Some('{')) => "one that is cut short".to_owned(),
        _ => format!("invalid JSON ({})", plain(error)),
    };
    format!("expected one JSON object, found {found}")
}

/// Names of our types in messages of the parser, and the words for people.
const EXPECTED: [(&str, &str); 9] = [
    (", expected struct ", "an object"),
    (", expected tuple struct ", "a list"),
    (", expected enum ", "one of a few words"),
    (", expected u8", "a whole number"),
    (", expected u16", "a whole number"),
    (", expected u32", "a whole number"),
    (", expected u64", "a whole number"),
    (", expected usize", "a whole number"),
    (", expected f64", "a number"),
];

/// Returns what the parser says, without the names of our types.
fn plain(error: &Error) -> String {
    let text = error.to_string();
    let ours = EXPECTED.iter().find_map(|(begin, word)| Some((text.find(begin)?, word)));
    let Some((cut, word)) = ours else { return shown(&text) };
    let (line, column) = (error.line(), error.column());
    shown(&format!("{}, expected {word} at line {line} column {column}", &text[..cut]))
}

/// A text of a file: one harmless line of a bounded length.
pub(crate) fn shown(text: &str) -> String {
    say_in(text, REASON_BYTES)
}

/// Returns whether `text` is the beginning of a document of one of these schemas.
fn names_one(text: &str, schemas: &[&str]) -> bool {
    let head: String = text.chars().take(200).filter(|letter| !letter.is_whitespace()).collect();
    schemas.iter().any(|schema| head.contains(&format!("\"{schema}\"")))
}

/// The command that writes documents of a schema: "a result of `straddle check`"; the schema where
/// none is known.
fn written_by(schema: &str) -> String {
    let family = schema.split_once('/').map_or(schema, |(family, _)| family);
    let command = match family.strip_prefix("straddle.") {
        Some(command @ ("bench" | "check" | "compare" | "fsync" | "plan" | "probe" | "trace")) => {
            command
        }
        Some("bench.plan") => "bench --dry-run",
        Some("fsync.plan") => "fsync --dry-run",
        Some("check.changes") => "check --watch",
        Some("drives" | "simulation" | "published") => "drives",
        Some("torture") => "drive torture",
        _ => return format!("schema `{schema}`"),
    };
    format!("a result of `straddle {command}`")
}

fn unknown(found: &str, schemas: &[&'static str]) -> ResultFault {
    let family = |name: &str| name.split_once('/').map(|(family, _)| family.to_owned());
    let ours = family(found);
    if ours.is_some() && schemas.iter().any(|schema| family(schema) == ours) {
        return ResultFault::OtherVersion(shown(found));
    }
    let one = if let [one] = schemas { Some(*one) } else { None };
    ResultFault::OtherSchema(shown(found), one)
}
