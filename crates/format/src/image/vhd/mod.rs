//! Virtual PC disks: a footer; dynamic ones also have a table of blocks, each behind its own
//! bitmap.
//!
//! A dynamic disk's blocks are appended back to back, and the bitmap before each takes 512 bytes
//! (for 2 MiB blocks): so the guest's bytes drift by a sector with every block, whatever the
//! guest's own partitions are aligned to. Sources: Microsoft, "Virtual Hard Disk Image Format
//! Specification" 1.0; QEMU `block/vpc.c` (the size that a geometry stands for, the 511-byte footer
//! of old versions).

use device::{Disk, disk};
use units::ByteRange;

use super::run::{GuestRun, Looked, starts_within};
use super::table_windows::{BitOrder, Level, Windows};
use super::{GuestPlace, Image, ImageKind, ImageLayout};
use crate::{Parsed, Problem, ProblemKind};

mod dynamic;
mod footer;

use footer::Footer;

/// A table entry that names no block.
const UNUSED: u32 = 0xffff_ffff;
const SECTOR_BYTES: u64 = 512;

/// Place where the tables stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VhdTables {
    /// The block allocation table in the image file: 4 bytes for each block.
    pub table: ByteRange,
    /// A block's length in bytes without its bitmap: a power of two, at least 512.
    pub block_bytes: u64,
    /// The bitmap's length in bytes before each block: a multiple of 512.
    pub bitmap_bytes: u64,
    /// True if a clear bit of the bitmap means that the parent has the sector.
    pub differencing: bool,
    /// True if its writer puts each block's data at a multiple of 4096 bytes: Hyper-V since Windows
    /// Server 2012. All others append a bitmap and a block, wherever the last one ended.
    pub keeps_4k: bool,
}

/// The image whose footer has a copy in `head`, the first bytes of the file: a dynamic or
/// differencing one.
pub(super) fn read_head(file: &dyn Disk, head: &[u8]) -> Option<Parsed<Image>> {
    let copy = Footer::read(head, 0, 0)?;
    let mut problems = Vec::new();
    let length = file.length_bytes();
    let last = length.checked_sub(SECTOR_BYTES).filter(|&at| at >= SECTOR_BYTES).and_then(|at| {
        let tail = disk::read_vec(file, at, SECTOR_BYTES).ok()?;
        find_footer(&tail, at)
    });
    match &last {
        None => {
            let detail = "the footer at the end is missing; its copy at the start is used";
            problems.push(Problem::new(ProblemKind::Copies, length, detail));
        }
        Some(last) if last.block.0[..511] != copy.block.0[..511] => {
            let detail = "the footer at the end differs from its copy at the start";
            problems.push(Problem::new(ProblemKind::Copies, last.at_bytes, detail));
        }
        Some(_) => {}
    }
    let footer = match last {
        Some(last) if last.sound() || !copy.sound() => last,
        _ => copy,
    };
    Some(image(file, &footer, problems))
}

/// The image whose footer is in `tail`, the last 512 bytes of the file: a fixed one, or another one
/// whose copy at the start is lost.
pub(super) fn read_tail(file: &dyn Disk, tail: &[u8]) -> Option<Parsed<Image>> {
    let at_bytes = file.length_bytes().checked_sub(SECTOR_BYTES)?;
    let footer = find_footer(tail, at_bytes)?;
    let mut problems = Vec::new();
    if footer.disk_type() != footer::FIXED {
        let detail = "the footer's copy at the start of the file is missing";
        problems.push(Problem::new(ProblemKind::Copies, 0, detail));
    }
    Some(image(file, &footer, problems))
}

/// The footer in the last 512 bytes: it has 512, or 511 as versions before 2004 wrote it.
fn find_footer(tail: &[u8], at_bytes: u64) -> Option<Footer> {
    Footer::read(tail, 0, at_bytes).or_else(|| Footer::read(tail, 1, at_bytes + 1))
}

fn image(file: &dyn Disk, footer: &Footer, mut problems: Vec<Problem>) -> Parsed<Image> {
    footer.check(&mut problems);
    let kind = match footer.disk_type() {
        footer::FIXED => ImageKind::VhdFixed,
        _ => ImageKind::VhdDynamic,
    };
    let mut image = Image::unread(kind, footer.version());
    image.virtual_bytes = footer.current_bytes();
    footer.describe(&mut image);
    let layout = match footer.disk_type() {
        footer::FIXED => Ok(fixed(footer, &mut problems)),
        footer::DYNAMIC | footer::DIFFERENCING => {
            dynamic::read(file, footer, &mut image, &mut problems).map(ImageLayout::Vhd)
        }
        other => Err(format!("disk type {other} is not known")),
    };
    image.laid_out(layout, footer.at_bytes, problems)
}

fn fixed(footer: &Footer, problems: &mut Vec<Problem>) -> ImageLayout {
    let size = footer.current_bytes();
    if size > footer.at_bytes {
        let detail = format!("the disk of {size} bytes does not fit before the footer");
        problems.push(Problem::new(ProblemKind::Outside, footer.at_bytes, detail));
    }
    ImageLayout::Flat { offset_bytes: 0 }
}

impl VhdTables {
    /// The run from `guest_bytes` on.
    pub(super) fn run(&self, file: &dyn Disk, windows: &mut Windows, guest_bytes: u64) -> Looked {
        let (index, within) =
            (guest_bytes.div_euclid(self.block_bytes), guest_bytes % self.block_bytes);
        let rest = self.block_bytes - within;
        let entry = windows
            .entry(file, Level::Directory, self.table, index)
            .map_err(|error| GuestRun::unread(file, self.table, (index, 4), rest, error))?;
        let entry = u32::from_be_bytes(entry);
        if entry == UNUSED {
            let more = windows.repeats::<4>(Level::Directory, self.table, index);
            let length = rest.saturating_add(more.saturating_mul(self.block_bytes));
            return Ok(GuestRun::new(length, GuestPlace::Backing));
        }
        // Sector 0 holds the footer's copy.
        if entry == 0 {
            return Err(GuestRun::failed(rest, guest_bytes, "the block lies on the footer's copy"));
        }
        // At most 2^32 sectors and 2^31 bytes.
        let bitmap = u64::from(entry) * SECTOR_BYTES;
        let data = bitmap + self.bitmap_bytes;
        starts_within(file.length_bytes(), data, self.block_bytes)
            .map_err(|error| GuestRun::broken(rest, error))?;
        if self.differencing {
            return self.by_sector(file, windows, bitmap, within);
        }
        Ok(GuestRun::new(rest, GuestPlace::Here(data + within)))
    }

    /// The run from byte `within` of the block whose bitmap is at `bitmap`: single sectors are here
    /// or in the parent.
    fn by_sector(
        &self,
        file: &dyn Disk,
        windows: &mut Windows,
        bitmap: u64,
        within: u64,
    ) -> Looked {
        let rest = self.block_bytes - within;
        let table = ByteRange::new(bitmap, self.bitmap_bytes)
            .ok_or_else(|| GuestRun::failed(rest, within, "the bitmap ends beyond 64 bits"))?;
        let (sector, inside) = (within.div_euclid(SECTOR_BYTES), within % SECTOR_BYTES);
        let most = self.block_bytes.div_euclid(SECTOR_BYTES) - sector;
        let (here, count) = windows
            .bits(file, table, sector, most, BitOrder::HighFirst)
            .map_err(|error| GuestRun::broken(SECTOR_BYTES - inside, error))?;
        let data = bitmap + self.bitmap_bytes + within;
        let place = if here { GuestPlace::Here(data) } else { GuestPlace::Backing };
        Ok(GuestRun::new(count * SECTOR_BYTES - inside, place))
    }
}

#[cfg(test)]
mod tests;
