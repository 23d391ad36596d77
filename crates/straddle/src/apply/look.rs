//! A look at the disk before its table is written: once before anything is claimed, and again
//! through what was claimed.

use std::rc::Rc;

use device::{Disk, disk};
use host::{FileDisk, TableDisk};
use layout::{Qcow2Disk, Side, Standing, TableChange};
use report::plan::{TableChangeDocument, UndoState};
use units::ByteRange;

use super::undo_file::UndoFile;
use crate::shared::existing_data;
use crate::shared::table_document;

/// Bytes that are read at once.
const CHUNK_BYTES: u64 = 1 << 20;

/// Extent of a look: partitions that must be blank take long to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// The table alone.
    Table,
    /// The table, all that must be blank, and the contents of partitions whose lengths change.
    Whole,
}

/// A disk whose table is to be written.
pub(super) trait TargetDisk: Disk {
    /// The first byte at or after `at` that may not be zero.
    fn next_data(&self, at: u64) -> u64;
}

impl TargetDisk for FileDisk {
    fn next_data(&self, at: u64) -> u64 {
        host::Sparse::next_data(self, at)
    }
}

impl TargetDisk for TableDisk {
    fn next_data(&self, at: u64) -> u64 {
        TargetDisk::next_data(self.disk(), at)
    }
}

impl<F: Disk> TargetDisk for Qcow2Disk<F> {
    fn next_data(&self, at: u64) -> u64 {
        Qcow2Disk::next_data(self, at)
    }
}

/// Returns the change of `document` on `disk`, where the disk is still the one it is of, and the
/// change towards `to` loses nothing. No clone of `disk` is left.
///
/// # Errors
/// The reason not to write.
pub(super) fn look(
    document: &TableChangeDocument,
    undo: &UndoFile,
    to: Side,
    shared: &Rc<impl TargetDisk + 'static>,
    extent: Extent,
) -> Result<TableChange, String> {
    let disk = shared.as_ref();
    let length = disk.length_bytes();
    if length != document.disk_bytes {
        let planned = document.disk_bytes;
        return Err(format!("the plan is for {planned} bytes, and the disk has {length}"));
    }
    let starts = to == Side::New && !matches!(undo.state(), Some(UndoState::Writing));
    let change = table_document::change(document, |index, at, length| match starts {
        true => disk::read_vec(disk, at, length).map_err(|error| error.to_string()),
        false => undo.old(index, length),
    })?;
    let hash = change.old_hash(disk).map_err(|error| error.to_string())?;
    if hash != document.known_sha256 {
        let what = match &document.rebuilt[..] {
            [] => "its partition table is not the one that was planned",
            _ => "its partition table, or a file of its FAT, is not the one that was planned",
        };
        return Err(what.to_owned());
    }
    match (change.standing(disk), undo.state()) {
        (Standing::Foreign(at), _) => {
            return Err(format!("something else was written at byte {at}"));
        }
        (Standing::Whole(Side::New), _) => {}
        (_, Some(UndoState::Written)) => {
            return Err("its partition table changed after the plan was applied".to_owned());
        }
        _ => {}
    }
    if document.was_blank != change.is_first(disk) {
        let word = if document.was_blank { "a blank disk" } else { "a disk with a table" };
        return Err(format!("the plan is for {word}, and this is none"));
    }
    if starts && document.was_blank && extent == Extent::Whole {
        unused(disk)?;
    }
    layout::check(&change, disk, to, &|range| match extent {
        Extent::Table => Ok(true),
        Extent::Whole => is_zero(disk, range),
    })?;
    if extent == Extent::Whole {
        let bytes = Rc::clone(shared) as Rc<dyn Disk>;
        layout::content_fits(&change, &bytes, to)?;
    }
    Ok(change)
}

/// Rejects a disk that was planned as a blank one and holds something that is recognized.
fn unused(disk: &impl TargetDisk) -> Result<(), String> {
    let found = existing_data::signatures(disk);
    let words = |found: &String| format!("the plan is for a blank disk, and it holds {found}");
    found.first().map(words).map_or(Ok(()), Err)
}

/// Returns whether every byte of `range` is zero; holes are not read.
fn is_zero(disk: &impl TargetDisk, range: ByteRange) -> Result<bool, String> {
    let zeros = vec![0; usize::try_from(CHUNK_BYTES).unwrap_or(0)];
    let mut at = range.start_bytes();
    loop {
        at = disk.next_data(at);
        if at >= range.end_bytes() {
            return Ok(true);
        }
        let length = CHUNK_BYTES.min(range.end_bytes() - at);
        let bytes = disk::read_vec(disk, at, length).map_err(|error| error.to_string())?;
        if !zeros.starts_with(&bytes) {
            return Ok(false);
        }
        at += length;
    }
}
