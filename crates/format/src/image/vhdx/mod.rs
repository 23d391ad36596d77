//! Hyper-V disks, version 2: blocks of 1 to 256 MiB at multiples of 1 MiB.
//!
//! Blocks start on whole MiB, so the guest's alignment holds up to 1 MiB. The header that counts is
//! the one with the higher sequence number. A log that was not replayed is replayed in memory, so
//! that the tables are those that a writer would use.
//! Source: Microsoft, [MS-VHDX] "Virtual Hard Disk v2 (VHDX) File Format".

use std::sync::Arc;

use device::Disk;
use units::ByteRange;

use super::run::{GuestRun, Looked, starts_within};
use super::table_windows::{BitOrder, Level, Windows};
use super::{GuestPlace, Image, ImageKind, ImageLayout};
use crate::{Parsed, Problem, ProblemKind};

mod header;
mod log;
mod metadata;
mod parent;
mod replay;

use replay::{Replay, Replayed};

const IDENTIFIER: &[u8; 8] = b"vhdxfile";
const MIB: u64 = 1 << 20;
/// Number of sectors a bitmap block of 1 MiB describes.
const BITMAP_SECTORS: u64 = 1 << 23;

/// Place where the tables stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VhdxTables {
    /// The block allocation table in the image file: 8 bytes for each entry.
    pub table: ByteRange,
    /// A block's length in bytes: a power of two from 1 MiB to 256 MiB.
    pub block_bytes: u64,
    /// Number of blocks of data there are for each block of sector bitmaps, whose entry follows
    /// theirs.
    pub chunk_ratio: u64,
    /// The logical sector in bytes, which the sector bitmaps count.
    pub sector_bytes: u64,
    /// True if there is a parent.
    pub differencing: bool,
    /// Changes of the file that are in its log alone.
    pub replay: Option<Arc<Replay>>,
}

/// The header of a VHDX image whose first bytes are `head`; `None` when its identifier is absent.
pub(super) fn read(file: &dyn Disk, head: &[u8]) -> Option<Parsed<Image>> {
    if !head.starts_with(IDENTIFIER) {
        return None;
    }
    let mut image = Image::unread(ImageKind::Vhdx, "1");
    let mut problems = Vec::new();
    let layout = facts(file, &mut image, &mut problems);
    Some(image.laid_out_or(layout, problems))
}

fn facts(
    file: &dyn Disk,
    image: &mut Image,
    problems: &mut Vec<Problem>,
) -> Result<ImageLayout, Problem> {
    let unread = |reason: String| Problem::new(ProblemKind::Unsupported, 0, reason);
    let header = header::read(file, image, problems).map_err(unread)?;
    let replay = log::read(file, &header).map_err(unread)?.map(Arc::new);
    if replay.is_some() {
        image.details.push(("log", "replayed in memory".to_owned()));
        let detail = "the log holds changes that the file lacks; this result is after its replay";
        problems.push(Problem::new(ProblemKind::Unreplayed, 0, detail));
    }
    let file: &dyn Disk = &Replayed { file, replay: replay.as_deref() };
    let regions = header::regions(file, problems)?;
    for (what, region) in [("metadata", regions.metadata), ("block table", regions.table)] {
        let (end, length) = (region.end_bytes(), file.length_bytes());
        if end > length {
            let detail = format!("the {what} ends at {end}, past the end of the file at {length}");
            problems.push(Problem::new(ProblemKind::Outside, region.start_bytes(), detail));
        }
    }
    let metadata_at = regions.metadata.start_bytes();
    let items = metadata::read(file, regions.metadata, problems)
        .map_err(|reason| Problem::new(ProblemKind::Field, metadata_at, reason))?;
    image.virtual_bytes = items.virtual_bytes;
    image.block_bytes = Some(items.block_bytes);
    image.logical_sector_bytes = Some(items.logical_sector_bytes);
    image.physical_sector_bytes = items.physical_sector_bytes;
    image.details.push(("type", items.kind().to_owned()));
    if items.has_parent {
        parent::read(file, items.parent, image, problems);
    }
    if let Some(reason) = items.unknown {
        return Err(unread(reason));
    }

    let chunk_bytes = BITMAP_SECTORS * items.logical_sector_bytes;
    // Both are powers of two, and a chunk (4 or 32 GiB) is larger than a block.
    let chunk_ratio = chunk_bytes.div_euclid(items.block_bytes);
    let blocks = items.virtual_bytes.div_ceil(items.block_bytes);
    let needed = blocks + blocks.saturating_sub(1).div_euclid(chunk_ratio);
    if needed * 8 > regions.table.length_bytes() {
        let length = regions.table.length_bytes();
        let detail =
            format!("the block table has {length} bytes; the guest's size needs {needed} entries");
        problems.push(Problem::new(ProblemKind::Field, regions.table.start_bytes(), detail));
    }
    Ok(ImageLayout::Vhdx(VhdxTables {
        table: regions.table,
        block_bytes: items.block_bytes,
        chunk_ratio,
        sector_bytes: items.logical_sector_bytes,
        differencing: items.has_parent,
        replay,
    }))
}

impl VhdxTables {
    /// Length of `file` after the replay.
    pub(super) fn file_bytes(&self, file: &dyn Disk) -> u64 {
        Replayed { file, replay: self.replay.as_deref() }.length_bytes()
    }

    /// The run from `guest_bytes` on.
    pub(super) fn run(&self, file: &dyn Disk, windows: &mut Windows, guest_bytes: u64) -> Looked {
        let file: &dyn Disk = &Replayed { file, replay: self.replay.as_deref() };
        let (block, within) =
            (guest_bytes.div_euclid(self.block_bytes), guest_bytes % self.block_bytes);
        let rest = self.block_bytes - within;
        let index = block + block.div_euclid(self.chunk_ratio);
        let entry = windows
            .entry(file, Level::Directory, self.table, index)
            .map_err(|error| GuestRun::unread(file, self.table, (index, 8), rest, error))?;
        let entry = u64::from_le_bytes(entry);
        let place = match entry & 7 {
            // Without a parent such a block may hold anything; it reads as zeros everywhere.
            0 => GuestPlace::Backing,
            1..=3 => GuestPlace::Zero,
            state @ (6 | 7) => {
                let data = entry & !(MIB - 1);
                present(file, data, self.block_bytes)
                    .map_err(|error| GuestRun::broken(rest, error))?;
                let end = data.saturating_add(self.block_bytes);
                if self.replay.as_ref().is_some_and(|replay| replay.changes(data, end)) {
                    let reason = "the log changes this block, which only tables may be";
                    return Err(GuestRun::failed(rest, guest_bytes, reason));
                }
                if state == 7 {
                    return self.partly(file, windows, block, data, within);
                }
                return Ok(GuestRun::new(rest, GuestPlace::Here(data + within)));
            }
            state => {
                let reason = format!("block state {state} is reserved");
                return Err(GuestRun::failed(rest, guest_bytes, reason));
            }
        };
        // The entry behind the chunk's last one is that of its bitmap.
        let more = windows.repeats::<8>(Level::Directory, self.table, index);
        let more = more.min(self.chunk_ratio - 1 - block % self.chunk_ratio);
        Ok(GuestRun::new(rest + more * self.block_bytes, place))
    }

    /// The run from byte `within` of a block at `data` that is only partly here.
    fn partly(
        &self,
        file: &dyn Disk,
        windows: &mut Windows,
        block: u64,
        data: u64,
        within: u64,
    ) -> Looked {
        let rest = self.block_bytes - within;
        if !self.differencing {
            let reason = "a block is partly present, but there is no parent";
            return Err(GuestRun::failed(rest, within, reason));
        }
        let chunk = block.div_euclid(self.chunk_ratio);
        let index = (chunk + 1) * self.chunk_ratio + chunk;
        // Of a level of its own, since it may stand far from the blocks' entries.
        let entry = windows
            .entry(file, Level::Table, self.table, index)
            .map_err(|error| GuestRun::broken(rest, error))?;
        let entry = u64::from_le_bytes(entry);
        if entry & 7 != 6 {
            let reason = "a block is partly present, but its bitmap is not";
            return Err(GuestRun::failed(rest, within, reason));
        }
        let bitmap = ByteRange::new(entry & !(MIB - 1), MIB).ok_or_else(|| {
            GuestRun::failed(rest, within, "the sector bitmap ends beyond 64 bits")
        })?;
        let sectors = self.block_bytes.div_euclid(self.sector_bytes);
        let (sector, inside) = (within.div_euclid(self.sector_bytes), within % self.sector_bytes);
        let first = block % self.chunk_ratio * sectors + sector;
        let (here, count) = windows
            .bits(file, bitmap, first, sectors - sector, BitOrder::LowFirst)
            .map_err(|error| GuestRun::broken(self.sector_bytes - inside, error))?;
        let place = if here { GuestPlace::Here(data + within) } else { GuestPlace::Backing };
        Ok(GuestRun::new(count * self.sector_bytes - inside, place))
    }
}

/// Returns whether a block of data at `offset_bytes` lies within the file and behind its headers,
/// so that adding to the offset cannot overflow.
fn present(file: &dyn Disk, offset_bytes: u64, length: u64) -> Result<(), device::ReadError> {
    if offset_bytes < MIB {
        let reason = "the block lies on the headers".to_owned();
        return Err(device::ReadError::Failed { offset_bytes, length_bytes: length, reason });
    }
    starts_within(file.length_bytes(), offset_bytes, length)
}

#[cfg(test)]
mod tests;
