//! The file in which the old table is saved: written and synced before the disk is, and after.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use host::InputError;
use layout::TableChange;
use report::Refusal;
use report::plan::{TableChangeDocument, UNDO_SCHEMA, UndoRecord, UndoState};

use super::unsafe_now;
use crate::shared::atomic_file::{self, AtomicFile};
use crate::shared::printer::shown;
use crate::shared::table_document::{bytes, hex};

/// The most bytes of a plan or a record.
pub(super) const FILE_BYTES_MAX: u64 = 256 << 20;

/// A record, and its file.
pub(super) struct UndoFile {
    pub(super) path: PathBuf,
    /// `None` where no such file is there yet.
    pub(super) record: Option<UndoRecord>,
}

impl UndoFile {
    /// The record at `path`, if one is there.
    ///
    /// # Errors
    /// When something else is there.
    pub(super) fn at(path: &Path) -> Result<UndoFile, Refusal> {
        let name = shown(path);
        let wrong = |reason: String| {
            let hint = "keep that file, and name another one: --undo-file FILE".to_owned();
            unsafe_now(format!("cannot save the old table in {name}: {reason}"), Some(hint))
        };
        let text = match host::read_input(path, FILE_BYTES_MAX) {
            Ok(text) => text,
            Err(InputError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(UndoFile { path: path.to_owned(), record: None });
            }
            Err(error) => return Err(wrong(error.to_string())),
        };
        let text = String::from_utf8(text).map_err(|_| wrong("it exists".to_owned()))?;
        let record = UndoRecord::parse(&text)
            .map_err(|reason| wrong(format!("it exists, and is no record: {reason}")))?;
        Ok(UndoFile { path: path.to_owned(), record: Some(record) })
    }

    /// Its state; `None` where it is new.
    pub(super) fn state(&self) -> Option<UndoState> {
        self.record.as_ref().map(|record| record.state)
    }

    /// The old bytes of the write with this number.
    pub(super) fn old(&self, index: usize, length: u64) -> Result<Vec<u8>, String> {
        let text = self.record.as_ref().and_then(|record| record.old_hex.get(index));
        let old = text.and_then(|text| bytes(text, length));
        old.ok_or_else(|| "its old bytes are damaged".to_owned())
    }

    /// Puts the record into its place, in this state; it survives a power cut from then on.
    ///
    /// # Errors
    /// When it cannot be written or synced.
    pub(super) fn save(
        &mut self,
        change: &TableChange,
        document: &TableChangeDocument,
        state: UndoState,
    ) -> std::io::Result<()> {
        self.put(change, document, state)?;
        atomic_file::sync_directory_of(&self.path)
    }

    /// Puts the record into its place, in this state. After a power cut, the one before it may be
    /// there again.
    ///
    /// # Errors
    /// When it cannot be written; the one before it is then still there.
    pub(super) fn put(
        &mut self,
        change: &TableChange,
        document: &TableChangeDocument,
        state: UndoState,
    ) -> std::io::Result<()> {
        let record = UndoRecord {
            schema: UNDO_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            state,
            table_change: document.clone(),
            old_hex: change.writes.iter().map(|write| hex(&write.old)).collect(),
        };
        let mut file = AtomicFile::create(&self.path, 0o600)?;
        file.write_all(record.json().as_bytes())?;
        file.finish()?;
        self.record = Some(record);
        Ok(())
    }
}
