//! Results of `straddle atomic`: the contract behind its `--json`, and the text for people.
//!
//! Every number carries its unit in its key. Adding fields is compatible; anything else raises the
//! number in [`ATOMIC_SCHEMA`].

use durability::untorn::UntornVerdict;
use serde::Serialize;

use crate::envelope::Envelope;

mod table;

pub use table::table;

/// The schema's name and version.
pub const ATOMIC_SCHEMA: &str = "straddle.atomic/1";

/// Answer to "may torn-page protection be switched off?".
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AtomicWrites {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The target as it was given; harmless to print.
    pub target: String,
    /// Number of data files that were judged.
    pub data_files: u64,
    /// The verdict; `null` where the command refused.
    pub verdict: Option<UntornVerdict>,
}

impl AtomicWrites {
    /// The result as one JSON document, with its last line feed.
    ///
    /// # Panics
    /// Never: its keys are strings, and it is written to memory.
    #[must_use]
    pub fn json(&self) -> String {
        crate::json::pretty(self)
    }
}
