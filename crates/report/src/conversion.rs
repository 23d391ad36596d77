//! Results of `straddle convert`: the contract behind its `--json`.
//!
//! Every number carries its unit in its key. Adding fields is compatible; anything else raises the
//! number in [`CONVERT_SCHEMA`].

use serde::Serialize;

use crate::check_document::Word;
use crate::envelope::Envelope;

/// The schema's name and version.
pub const CONVERT_SCHEMA: &str = "straddle.convert/1";

/// A disk, and the same for sectors of another size.
#[derive(Clone, Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConvertedDisk {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The disk as it was given; harmless to print.
    pub target: String,
    /// planned, converted, or unchanged where nothing is to be done; `null` where it was refused.
    pub state: Option<Word>,
    /// The table's kind: gpt or dos; `null` where unchanged or refused.
    pub table: Option<Word>,
    /// The sector in which the table counts before, in bytes; 0 where nothing is to be done or it
    /// was refused.
    pub old_sector_bytes: u64,
    /// The sector in which it counts afterwards, in bytes.
    pub sector_bytes: u64,
    /// The disk's length before, in bytes; 0 where unchanged or refused.
    pub old_disk_bytes: u64,
    /// Its length afterwards, in bytes; 0 where unchanged or refused.
    pub disk_bytes: u64,
    /// Every partition, in order of number.
    pub partitions: Vec<ConvertedPartition>,
    /// Limits of the converted disk.
    pub limits: Vec<ConversionLimit>,
    /// The new file, harmless to print; `null` where none was written.
    pub output: Option<String>,
    /// Bytes of it that are no holes.
    pub written_bytes: u64,
}

/// A partition before and after; its start stays at the same byte.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConvertedPartition {
    /// Its number, which stays.
    pub number: u32,
    /// Its content in words.
    pub content: String,
    /// Its start before, in old sectors.
    pub old_start_sectors: u64,
    /// Its length before, in old sectors.
    pub old_length_sectors: u64,
    /// Its start afterwards, in new sectors.
    pub start_sectors: u64,
    /// Its length afterwards, in new sectors.
    pub length_sectors: u64,
    /// The FAT that is rebuilt in it; `null` where its bytes stay.
    pub rebuilt: Option<RebuiltFatFacts>,
}

/// A FAT that is rebuilt.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RebuiltFatFacts {
    /// Number of its files.
    pub files: u64,
    /// Their length together, in bytes.
    pub content_bytes: u64,
    /// Old and new kind and cluster size, in words.
    pub summary: String,
}

/// A limit of the converted disk that a user should know.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConversionLimit {
    /// The rule's code; `null` where no rule says it.
    pub code: Option<Word>,
    /// The limit in words.
    pub text: String,
}

impl ConvertedDisk {
    /// The result as one JSON document, with its last line feed.
    ///
    /// # Panics
    /// Never: its keys are strings, and it is written to memory.
    #[must_use]
    pub fn json(&self) -> String {
        crate::json::pretty(self)
    }
}
