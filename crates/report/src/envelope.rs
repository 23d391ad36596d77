//! Fields that every document has.

use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
use crate::run::Run;

/// Fields that every document has: its format, its run, and what the reader should know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Envelope {
    /// Name and version of this format: the title of its schema.
    pub schema: String,
    /// The version of straddle that wrote it.
    pub version: String,
    /// Run that wrote it.
    #[serde(flatten)]
    pub run: Run,
    /// Notes for the reader: what was left out or cut short, what this machine could not do.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Why the command did not do what was asked, or not all of it; `null` where it did.
    pub refusal: Option<Refusal>,
}

impl Envelope {
    /// Returns that of a document of `schema` which this version of straddle writes in `run`.
    #[must_use]
    pub fn new(schema: &str, run: Run) -> Envelope {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Envelope { schema: schema.to_owned(), version, run, ..Envelope::default() }
    }
}
