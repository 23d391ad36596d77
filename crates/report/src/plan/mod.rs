//! Results of `straddle plan`: the contract behind its `--json`, and the table for people.
//!
//! Every number carries its unit in its key. Adding fields is compatible; anything else raises the
//! number in [`LAYOUT_SCHEMA`].

use serde::{Deserialize, Serialize};

use crate::check_document::Word;
use crate::envelope::Envelope;

mod table;
mod table_change;

pub use table::table;
pub use table_change::{
    KnownRun, TableChangeDocument, UNDO_SCHEMA, UndoRecord, UndoState, WriteDocument,
};

/// The schema's name and version.
pub const LAYOUT_SCHEMA: &str = "straddle.plan/1";

/// The cheapest sufficient change of a disk's partitions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Layout {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The disk as it was given; harmless to print.
    pub target: String,
    /// Content found instead of a partition table, in a sentence; empty where there is a table.
    pub instead: String,
    /// The disk's length in bytes; `null` where it is not known.
    pub disk_bytes: Option<u64>,
    /// The table's kind: gpt or dos; `null` without a table.
    pub table: Option<Word>,
    /// The sector in which the table counts now, in bytes; 0 without a table.
    pub old_sector_bytes: u64,
    /// The sector in which it will count, in bytes.
    pub sector_bytes: u64,
    /// Units that starts are aligned to.
    pub units: Vec<LayoutUnit>,
    /// True if anything changes.
    pub changes: bool,
    /// The bytes that are copied to another place.
    pub moved_bytes: u64,
    /// Every partition, containers left out.
    pub partitions: Vec<LayoutPartition>,
    /// Problems that no move of a partition mends, a sentence each.
    pub unmended: Vec<String>,
    /// True if a partition stays misaligned since there is no room for an aligned start.
    #[serde(default)]
    pub lacks_room: bool,
    /// Next steps when all is done, a sentence each.
    pub afterwards: Vec<String>,
    /// The writes that `straddle apply` does; `null` where nothing changes, or data moves.
    #[serde(default)]
    pub table_change: Option<TableChangeDocument>,
    /// Reason why `straddle apply` does not do it; empty where it does, or nothing changes.
    #[serde(default)]
    pub not_applied_because: String,
}

/// A unit that data must lie on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayoutUnit {
    /// granule, chunk or full stripe.
    pub unit: Word,
    /// Its length in bytes.
    pub unit_bytes: u64,
    /// True if nothing reports it.
    #[serde(default)]
    pub assumed: bool,
}

/// A partition before and after.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LayoutPartition {
    /// Its number, which stays.
    pub number: u32,
    /// The type's name, or its code.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its name in the table; `null` where it has none.
    pub name: Option<String>,
    /// Its recognized content; `null` where nothing was recognized.
    pub content: Option<String>,
    /// Place where it starts now, in bytes.
    pub old_start_bytes: u64,
    /// Its length now, in bytes.
    pub old_length_bytes: u64,
    /// Place where it will start, in bytes.
    pub new_start_bytes: u64,
    /// Its length then, in bytes.
    pub new_length_bytes: u64,
    /// Changes of the content because of its new place.
    pub fix_ups: Vec<String>,
    /// Why it changes, or stays although it is misaligned; empty otherwise.
    pub why: String,
    /// Cost of one write before and after; empty where that cannot be told.
    pub gain: String,
}

impl Layout {
    /// Why nothing changes, in a few words.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match self.unmended.is_empty() {
            true => "nothing to change",
            false if self.lacks_room => "no room to move what is misaligned",
            false => "no move would help",
        }
    }

    /// The plan that `text` is.
    ///
    /// # Errors
    /// When it is none, or of another version of its schema.
    pub fn parse(text: &str) -> Result<Layout, String> {
        table_change::document(text, LAYOUT_SCHEMA)
    }

    /// The plan as one JSON document, with its last line feed.
    ///
    /// # Panics
    /// Never: its keys are strings, and it is written to memory.
    #[must_use]
    pub fn json(&self) -> String {
        crate::json::pretty(self)
    }
}

impl LayoutPartition {
    /// Returns whether anything of it changes.
    #[must_use]
    pub fn changes(&self) -> bool {
        self.moves() || self.old_length_bytes != self.new_length_bytes
    }

    /// Returns whether its data moves.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.old_start_bytes != self.new_start_bytes
    }
}
