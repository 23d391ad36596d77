//! A look at the disk before its table is written: once before anything is claimed, and again
//! through what was claimed.

use std::rc::Rc;

use device::{Disk, Window, disk};
use host::{FileDisk, TableDisk};
use layout::{Emptied, Qcow2Disk, Side, Standing, TableChange};
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

    /// Returns whether it knows its holes: a device does not, and takes long to read.
    fn knows_holes(&self) -> bool;
}

impl TargetDisk for FileDisk {
    fn next_data(&self, at: u64) -> u64 {
        host::Sparse::next_data(self, at)
    }

    fn knows_holes(&self) -> bool {
        !self.is_block_device()
    }
}

impl TargetDisk for TableDisk {
    fn next_data(&self, at: u64) -> u64 {
        TargetDisk::next_data(self.disk(), at)
    }

    fn knows_holes(&self) -> bool {
        self.disk().knows_holes()
    }
}

impl<F: Disk> TargetDisk for Qcow2Disk<F> {
    fn next_data(&self, at: u64) -> u64 {
        Qcow2Disk::next_data(self, at)
    }

    fn knows_holes(&self) -> bool {
        true
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
    layout::check(&change, disk, to, &|range, why| match extent {
        Extent::Table => Ok(true),
        Extent::Whole => is_blank(disk, range, why),
    })?;
    if extent == Extent::Whole {
        let bytes = Rc::clone(shared) as Rc<dyn Disk>;
        layout::content_fits(&change, &bytes, to)?;
    }
    if starts && document.was_blank && extent == Extent::Whole {
        unused(disk, length)?;
    }
    Ok(change)
}

/// Rejects a disk that was planned as a blank one and holds something.
fn unused(disk: &impl TargetDisk, length: u64) -> Result<(), String> {
    let holds = |what: &str| format!("the plan is for a blank disk, and it holds {what}");
    let found = existing_data::signatures(disk);
    if let Some(found) = found.first() {
        return Err(holds(found));
    }
    let all = ByteRange::new(0, length).ok_or("the disk is too long")?;
    match existing_data::data(disk, length) {
        Some(data) => Err(holds(&data)),
        None if disk.knows_holes() && !is_zero(disk, all)? => Err(holds("data")),
        None => Ok(()),
    }
}

/// Reads a partition that moves to its last byte. One that is removed stays where it is, so that on
/// a device samples of it do.
fn is_blank(disk: &impl TargetDisk, range: ByteRange, why: Emptied) -> Result<bool, String> {
    if why == Emptied::Removed && !disk.knows_holes() {
        let window = Window::new(disk, range);
        return Ok(existing_data::data(&window, range.length_bytes()).is_none());
    }
    is_zero(disk, range)
}

/// Returns whether every byte of `range` is zero; holes are not read.
fn is_zero(disk: &impl TargetDisk, range: ByteRange) -> Result<bool, String> {
    let mut at = range.start_bytes();
    loop {
        at = disk.next_data(at);
        if at >= range.end_bytes() {
            return Ok(true);
        }
        let length = CHUNK_BYTES.min(range.end_bytes() - at);
        let bytes = disk::read_vec(disk, at, length).map_err(|error| error.to_string())?;
        if bytes.iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        at += length;
    }
}
