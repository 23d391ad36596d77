//! Writes a table so that a power cut at any instant leaves the old one or the new one.
//!
//! A GPT has two copies, each of them a header and entries under checksums. One is written and
//! flushed while the other is whole: first the backup, then the primary, and then the first sector,
//! by which other tools know that there is a GPT. Undone, the order is the reverse. A write of what
//! is there already is left out, so that who goes on after a power cut begins with the copy that
//! the cut damaged, and the whole one is left alone until that is whole too.
//!
//! An MBR is one sector, and so is each record of a logical partition: `table_check` refuses a
//! chain in which the order of the writes would hide a partition meanwhile.
//!
//! Source of the order: util-linux `libfdisk/src/gpt.c`, `gpt_write_disklabel`.

use device::{WritableDisk, disk};

use crate::table_change::{SECTOR, Side, TableChange, TableWrite};

/// Why a table was not written, or not all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteFault {
    /// The writes that were done and flushed, those left out included.
    pub done: usize,
    /// The write that failed, in words; empty where all were done.
    pub what: String,
    /// The reason.
    pub reason: String,
}

/// Writes table `side` of `change` on `disk`, in order, with a flush after each write, and reads it
/// again. Sectors that hold it already are not written. Returns the bytes that were written.
///
/// # Errors
/// [`WriteFault`]; the disk then has a whole copy of one of the tables, and the same may be tried
/// again.
pub fn write_table(
    change: &TableChange,
    disk: &mut impl WritableDisk,
    side: Side,
) -> Result<u64, WriteFault> {
    let fault = |done, what: &str, reason| WriteFault { done, what: what.to_owned(), reason };
    // What was read, and is left out, may be in a cache only.
    disk.flush().map_err(|reason| fault(0, "", reason))?;
    let mut order: Vec<&TableWrite> = change.writes.iter().collect();
    if side == Side::Old {
        order.reverse();
    }
    let mut written = 0;
    for (done, write) in order.iter().enumerate() {
        let failed = |reason| fault(done, &write.what, reason);
        let Some((at_bytes, bytes)) = changed(write, disk, side) else { continue };
        disk.write_at(at_bytes, bytes).map_err(failed)?;
        disk.flush().map_err(failed)?;
        written += disk::length_of(bytes);
    }
    for write in &order {
        let reason = match changed(write, disk, side) {
            None => continue,
            Some((at, _)) => format!("something else is read again at byte {at}"),
        };
        return Err(fault(order.len(), &write.what, reason));
    }
    Ok(written)
}

/// From the first to the last sector that is not yet that of `side`: the byte of the disk, and what
/// belongs there.
fn changed<'a>(
    write: &'a TableWrite,
    disk: &impl WritableDisk,
    side: Side,
) -> Option<(u64, &'a [u8])> {
    let wanted = write.bytes(side);
    let Ok(now) = disk::read_vec(disk, write.at_bytes, disk::length_of(wanted)) else {
        return Some((write.at_bytes, wanted));
    };
    let differs = |index: &usize| {
        let start = index * SECTOR;
        now[start..start + SECTOR] != wanted[start..start + SECTOR]
    };
    let mut sectors = 0..wanted.len() / SECTOR;
    let first = sectors.clone().find(differs)?;
    let last = sectors.rfind(differs)?;
    let at = disk::length_of(&wanted[..first * SECTOR]);
    Some((write.at_bytes + at, &wanted[first * SECTOR..(last + 1) * SECTOR]))
}
