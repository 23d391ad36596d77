//! The writes of a partition table in a document: in a plan, and in the record by which they are
//! undone.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use units::text::escape;

/// Name and version of the record's schema.
pub const UNDO_SCHEMA: &str = "straddle.undo/1";

/// A change of a partition table that moves no data, and the disk that it is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableChangeDocument {
    /// Absolute path of the disk or image.
    pub path: String,
    /// Serial number or world-wide name of a device; `null` of an image, or where it has none.
    pub identity: Option<String>,
    /// The format of an image whose guest's disk it is, such as `qcow2`; empty of all others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub image_format: String,
    /// The disk's length in bytes.
    pub disk_bytes: u64,
    /// The logical sector of a device, in bytes; `null` of an image.
    pub logical_sector_bytes: Option<u64>,
    /// The sector in which the old table counts, in bytes.
    pub old_sector_bytes: u64,
    /// The sector in which the new one counts, in bytes.
    pub new_sector_bytes: u64,
    /// True if the disk had no partition table.
    pub was_blank: bool,
    /// Numbers of partitions whose FAT is rebuilt for the new sectors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rebuilt: Vec<u32>,
    /// Runs of the disk that hold the old table.
    pub known: Vec<KnownRun>,
    /// SHA-256 of what they hold, in hexadecimal.
    pub known_sha256: String,
    /// The writes, in order.
    pub writes: Vec<WriteDocument>,
    /// SHA-256 of all fields above, in hexadecimal: a plan that was edited is not applied.
    pub seal_sha256: String,
}

/// A run of the disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownRun {
    /// Its first byte.
    pub at_bytes: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
}

/// A write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WriteDocument {
    /// Its content, in words.
    pub what: String,
    /// Its first byte on the disk.
    pub at_bytes: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// The new bytes in hexadecimal, zeros at the end left out.
    pub new_hex: String,
}

/// The record by which `straddle apply --undo` undoes a change, and by which `straddle apply` goes
/// on after an interruption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoRecord {
    /// [`UNDO_SCHEMA`].
    pub schema: String,
    /// The version of straddle that wrote it.
    pub version: String,
    /// State of the disk when the record was last written.
    pub state: UndoState,
    /// The change.
    pub table_change: TableChangeDocument,
    /// The old bytes of each write in hexadecimal, zeros at the end left out.
    pub old_hex: Vec<String>,
}

/// State of the disk of an undo record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UndoState {
    /// The new table is being written.
    Writing,
    /// The new table is in place.
    Written,
    /// The old table is being written.
    Undoing,
    /// The old table is in place.
    Undone,
}

impl TableChangeDocument {
    /// Returns the SHA-256 of all fields but the seal, in hexadecimal.
    ///
    /// # Panics
    /// Never: its keys are strings, and it is written to memory.
    #[must_use]
    pub fn seal(&self) -> String {
        let bare = TableChangeDocument { seal_sha256: String::new(), ..self.clone() };
        let digest = Sha256::digest(crate::json::pretty(&bare));
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl UndoRecord {
    /// The record as one JSON document, with its last line feed.
    ///
    /// # Panics
    /// Never: its keys are strings, and it is written to memory.
    #[must_use]
    pub fn json(&self) -> String {
        crate::json::pretty(self)
    }

    /// The record that `text` is.
    ///
    /// # Errors
    /// When it is none, or of another version of its schema.
    pub fn parse(text: &str) -> Result<UndoRecord, String> {
        let record: UndoRecord = document(text, UNDO_SCHEMA)?;
        match record.old_hex.len() == record.table_change.writes.len() {
            true => Ok(record),
            false => Err("it does not hold the old bytes of each write".to_owned()),
        }
    }
}

/// The document that `text` is, of `schema`. Errors are harmless to print, whoever wrote it.
pub(super) fn document<T: DeserializeOwned>(text: &str, schema: &str) -> Result<T, String> {
    #[derive(Deserialize)]
    struct Head {
        schema: String,
    }
    let kind = |schema: &str| schema.split('/').next().unwrap_or_default().to_owned();
    let wrong = |why: &str, error: &serde_json::Error| {
        format!("{why}: {}", escape(error.to_string().as_bytes()))
    };
    let head: Head =
        serde_json::from_str(text).map_err(|error| wrong("not a result of straddle", &error))?;
    let named = escape(head.schema.as_bytes());
    if kind(&head.schema) != kind(schema) {
        return Err(format!("a document of {named}, not of {schema}"));
    }
    if head.schema != schema {
        return Err(format!("{named} is of another version of straddle, which has {schema}"));
    }
    serde_json::from_str(text).map_err(|error| wrong("damaged", &error))
}
