//! Result files, read as what they are: bytes that may hold anything.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Error, Value};

use super::elements::say;
use super::fault::{SOURCE_BYTES_MAX, SourceFault};
use crate::bench::{BENCH_SCHEMA, Bench};
use crate::compare::{COMPARE_SCHEMA, Comparing};
use crate::document::{Document, SCHEMA};
use crate::drive::{PUBLISHED_SCHEMA, Published, SIMULATION_SCHEMA, Simulation};
use crate::fsync::{FSYNC_SCHEMA, Fsync};
use crate::probe::{PROBE_SCHEMA, Probe};
use crate::trace::{TRACE_SCHEMA, Trace};

/// This straddle, as its documents name it.
const VERSION: &str = env!("CARGO_PKG_VERSION");

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

/// A kind of document: its schema, and how it is read.
pub(super) struct DocumentKind {
    pub(super) schema: &'static str,
    read: fn(&str) -> serde_json::Result<FileContent>,
}

/// Every kind of which a page is made.
pub(super) const KINDS: [DocumentKind; 8] = [
    DocumentKind { schema: SCHEMA, read: |text| held(text).map(FileContent::Check) },
    DocumentKind { schema: BENCH_SCHEMA, read: |text| held(text).map(FileContent::Bench) },
    DocumentKind { schema: FSYNC_SCHEMA, read: |text| held(text).map(FileContent::Fsync) },
    DocumentKind { schema: PROBE_SCHEMA, read: |text| held(text).map(FileContent::Probe) },
    DocumentKind { schema: COMPARE_SCHEMA, read: |text| held(text).map(FileContent::Compare) },
    DocumentKind { schema: TRACE_SCHEMA, read: |text| held(text).map(FileContent::Trace) },
    DocumentKind {
        schema: SIMULATION_SCHEMA,
        read: |text| held(text).map(FileContent::Simulation),
    },
    DocumentKind { schema: PUBLISHED_SCHEMA, read: |text| held(text).map(FileContent::Published) },
];

fn held<T: DeserializeOwned>(text: &str) -> serde_json::Result<Box<T>> {
    serde_json::from_str(text).map(Box::new)
}

/// Fields that a file must have before the rest is read.
#[derive(Deserialize)]
struct ResultHead {
    schema: Option<Value>,
    version: Option<Value>,
}

/// Returns what `text`, the content of the file `name`, holds.
///
/// # Errors
/// When it is no whole document of a schema and version of which a page is made, or is longer than
/// [`SOURCE_BYTES_MAX`].
pub fn read(name: &str, text: &str) -> Result<ResultFile, SourceFault> {
    if text.len() > SOURCE_BYTES_MAX {
        return Err(SourceFault::TooLong(text.len()));
    }
    // The parser gives up below 128 levels, so depth is bounded; every list is paid for in bytes.
    let head: ResultHead = serde_json::from_str(text).map_err(|error| {
        // A file that was cut short names its schema all the same.
        match cut_short(text, &error) {
            true => SourceFault::Broken(plain(&error)),
            false => SourceFault::NotOurs(no_document(text, &error)),
        }
    })?;
    let Some(Value::String(schema)) = head.schema else {
        return Err(SourceFault::NotOurs("it names no schema".to_owned()));
    };
    let Some(kind) = KINDS.iter().find(|kind| kind.schema == schema) else {
        return Err(unknown(&schema));
    };
    let content = (kind.read)(text).map_err(|error| match head.version {
        Some(Value::String(version)) if version != VERSION => {
            SourceFault::OtherRelease(say(&version), plain(&error))
        }
        _ => SourceFault::Broken(plain(&error)),
    })?;
    Ok(ResultFile { name: name.to_owned(), content })
}

/// Why `text` is no JSON object that could name its schema.
fn no_document(text: &str, error: &Error) -> String {
    let first = text.trim_start().chars().next();
    match (error.classify(), first) {
        (_, None) => "it is empty".to_owned(),
        (Category::Data, Some('[')) => "it is a JSON list, not one JSON object".to_owned(),
        (Category::Data, Some(first)) if first != '{' => {
            "it is a JSON value, not a JSON object".to_owned()
        }
        (Category::Syntax, Some('{')) if error.to_string().starts_with("trailing characters") => {
            format!("something stands behind its first JSON object (line {})", error.line())
        }
        (Category::Eof, Some('{')) => "it ends in the middle of its JSON object".to_owned(),
        (Category::Syntax | Category::Eof, _) => format!("it is no JSON: {}", plain(error)),
        (Category::Data | Category::Io, _) => plain(error),
    }
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
    let Some((cut, word)) = ours else { return say(&text) };
    let (line, column) = (error.line(), error.column());
    say(&format!("{}, expected {word} at line {line} column {column}", &text[..cut]))
}

/// Returns whether `text` is the beginning of one of our documents.
fn cut_short(text: &str, error: &Error) -> bool {
    let head: String = text.chars().take(200).filter(|letter| !letter.is_whitespace()).collect();
    error.is_eof() && KINDS.iter().any(|kind| head.contains(&format!("\"{}\"", kind.schema)))
}

fn unknown(schema: &str) -> SourceFault {
    let family = |name: &str| name.split_once('/').map(|(family, _)| family.to_owned());
    let ours = family(schema);
    let known = |kind: &DocumentKind| ours.is_some() && family(kind.schema) == ours;
    match KINDS.iter().any(known) {
        true => SourceFault::OtherVersion(say(schema)),
        false => SourceFault::OtherSchema(say(schema)),
    }
}
