//! VMware disks: sparse extents with a directory of grain tables, and text descriptors.
//!
//! A grain keeps the guest's bytes together, but may start at any sector of the file; compressed
//! ones have no alignment at all. Sources: VMware, "Virtual Disk Format 5.0"; QEMU `block/vmdk.c`.

use device::{Disk, disk};
use units::ByteRange;

use super::run::{GuestRun, Looked, starts_within};
use super::table_windows::{Level, Windows};
use super::{GuestPlace, Image, ImageKind, ImageLayout};
use crate::bytes::{self, Block};
use crate::{Parsed, Problem, ProblemKind};

pub mod descriptor;

pub use descriptor::{DescribedExtent, ExtentSource};

pub(super) use descriptor::run as described_run;

const SECTOR_BYTES: u64 = 512;
const MAGIC: &[u8; 4] = b"KDMV";
const HAS_REDUNDANT: u32 = 1 << 1;
const HAS_ZERO_GRAINS: u32 = 1 << 2;
const COMPRESSED: u32 = 1 << 16;
const HAS_MARKERS: u32 = 1 << 17;
/// A directory offset that means: the header that counts is at the end of the file.
const AT_END: u64 = u64::MAX;
/// Distance of that header from the end, in bytes: it is followed by the end marker.
const FOOTER_BYTES: u64 = 1024;
/// The largest grain, 1 GiB, and the most entries of a grain table, as QEMU allows.
const GRAIN_SECTORS_MAX: u64 = 0x20_0000;
const TABLE_ENTRIES_MAX: u32 = 512;

/// Place where the tables stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmdkTables {
    /// The grain directory in the image file: 4 bytes for each grain table.
    pub directory: ByteRange,
    /// A grain's length in bytes.
    pub grain_bytes: u64,
    /// Number of grains a grain table names: 1 to 512.
    pub table_entries: u64,
    /// True if entry 1 means a grain of zeros.
    pub zero_grains: bool,
    /// The compression of grains; `None` when there is none.
    pub compression: Option<Compression>,
}

/// The compression of grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Each grain starts with its sector number and its compressed length, 12 bytes.
    Marked,
    /// Each grain is a zlib stream alone.
    Bare,
}

type Header = Block<512>;

/// The VMDK whose first bytes are `head`; `None` when it is none.
pub(super) fn read(file: &dyn Disk, head: &[u8]) -> Option<Parsed<Image>> {
    if let Some(found) = descriptor::read(file, head) {
        return Some(found);
    }
    let header: Header = bytes::block(head)?;
    if header.array::<0, 4>() != *MAGIC {
        return None;
    }
    let mut problems = Vec::new();
    let (header, at) = the_header(file, header, &mut problems);
    let kind = match header.le32::<8>() & COMPRESSED {
        0 => ImageKind::VmdkSparse,
        _ => ImageKind::VmdkStream,
    };
    let mut image = Image::unread(kind, header.le32::<4>().to_string());
    embedded(file, &header, &mut image, &mut problems);
    let layout = facts(file, &header, at, &mut image, &mut problems);
    Some(image.laid_out_or(layout, problems))
}

/// The header that counts, and where it stands: at the end when the first one says so.
fn the_header(file: &dyn Disk, first: Header, problems: &mut Vec<Problem>) -> (Header, u64) {
    if first.le64::<56>() != AT_END {
        return (first, 0);
    }
    let at = file.length_bytes().saturating_sub(FOOTER_BYTES);
    match disk::read_array::<512>(file, at).map(Block) {
        Ok(footer) if footer.array::<0, 4>() == *MAGIC => (footer, at),
        Ok(_) => {
            let detail = "the header says that it is repeated at the end, where there is none";
            problems.push(Problem::new(ProblemKind::Copies, at, detail));
            (first, 0)
        }
        Err(error) => {
            problems.push(Problem::unreadable("the header at the end", at, &error));
            (first, 0)
        }
    }
}

/// Adds what the descriptor within the file says: the kind of disk, and the parent.
fn embedded(file: &dyn Disk, header: &Header, image: &mut Image, problems: &mut Vec<Problem>) {
    let at = header.le64::<28>().saturating_mul(SECTOR_BYTES);
    let length = header.le64::<36>().saturating_mul(SECTOR_BYTES);
    if at == 0 || length == 0 {
        image.details.push(("descriptor", "none: one extent of several".to_owned()));
        return;
    }
    let length = length.min(descriptor::TEXT_BYTES_MAX);
    match disk::read_vec(file, at, length) {
        Ok(text) => descriptor::Text::new(&text).describe(image),
        Err(error) => problems.push(Problem::unreadable("the descriptor", at, &error)),
    }
}

fn facts(
    file: &dyn Disk,
    header: &Header,
    at: u64,
    image: &mut Image,
    problems: &mut Vec<Problem>,
) -> Result<ImageLayout, Problem> {
    let unread = |reason: String| Problem::new(ProblemKind::Unsupported, at, reason);
    let wrong = |field: u64, reason| Problem::new(ProblemKind::Field, at + field, reason);
    let (version, flags) = (header.le32::<4>(), header.le32::<8>());
    let (capacity, grain) = (header.le64::<12>(), header.le64::<20>());
    if !(1..=3).contains(&version) {
        return Err(unread(format!("version {version} of sparse extents is not known")));
    }
    image.virtual_bytes = capacity
        .checked_mul(SECTOR_BYTES)
        .ok_or_else(|| wrong(12, format!("a capacity of {capacity} sectors exceeds 64 bits")))?;
    if capacity == 0 {
        return Err(wrong(12, "a capacity of 0 sectors".to_owned()));
    }
    if !(1..=GRAIN_SECTORS_MAX).contains(&grain) {
        let reason = format!("grains of {grain} sectors; 1 to {GRAIN_SECTORS_MAX} are read");
        return Err(wrong(20, reason));
    }
    if !grain.is_power_of_two() || grain < 8 {
        let detail = format!("grains of {grain} sectors; a power of two from 8 is expected");
        problems.push(Problem::new(ProblemKind::Field, at + 20, detail));
    }
    let entries = header.le32::<44>();
    if !(1..=TABLE_ENTRIES_MAX).contains(&entries) {
        let reason =
            format!("grain tables of {entries} entries; 1 to {TABLE_ENTRIES_MAX} are read");
        return Err(wrong(44, reason));
    }
    newlines(header, at, problems);
    let grain_bytes = grain * SECTOR_BYTES;
    image.block_bytes = Some(grain_bytes);
    image.details.push(("data offset", header.le64::<64>().saturating_mul(512).to_string()));
    let needed = image.virtual_bytes.div_ceil(grain_bytes * u64::from(entries));
    Ok(ImageLayout::Vmdk(VmdkTables {
        directory: directory(file, header, needed, problems).map_err(unread)?,
        grain_bytes,
        table_entries: u64::from(entries),
        zero_grains: flags & HAS_ZERO_GRAINS != 0,
        compression: compression(header).map_err(unread)?,
    }))
}

/// Four bytes that a transfer as text would have changed.
fn newlines(header: &Header, at: u64, problems: &mut Vec<Problem>) {
    if header.le32::<8>() & 1 != 0 && header.array::<73, 4>() != *b"\n \r\n" {
        let detail =
            "the newline characters of the header were changed, as a transfer as text does";
        problems.push(Problem::new(ProblemKind::Field, at + 73, detail));
    }
}

fn compression(header: &Header) -> Result<Option<Compression>, String> {
    let flags = header.le32::<8>();
    match (flags & COMPRESSED != 0, header.le16::<77>(), flags & HAS_MARKERS != 0) {
        (false, ..) => Ok(None),
        (true, 1, true) => Ok(Some(Compression::Marked)),
        (true, 1, false) => Ok(Some(Compression::Bare)),
        (true, other, _) => Err(format!("compression method {other} is not known")),
    }
}

/// The grain directory of `needed` entries: the first, or the redundant one where that lies
/// outside.
fn directory(
    file: &dyn Disk,
    header: &Header,
    needed: u64,
    problems: &mut Vec<Problem>,
) -> Result<ByteRange, String> {
    let range = |sector: u64| {
        let start = sector.checked_mul(SECTOR_BYTES).filter(|_| sector != 0)?;
        ByteRange::new(start, needed.checked_mul(4)?)
    };
    let inside = |range: &ByteRange| range.end_bytes() <= file.length_bytes();
    let first = range(header.le64::<56>());
    if let Some(first) = first.filter(inside) {
        return Ok(first);
    }
    let at = header.le64::<56>();
    let detail = format!("the grain directory at sector {at} lies outside of the file");
    problems.push(Problem::new(ProblemKind::Outside, 56, detail));
    let redundant = range(header.le64::<48>()).filter(|_| header.le32::<8>() & HAS_REDUNDANT != 0);
    redundant
        .filter(inside)
        .or(first)
        .ok_or_else(|| format!("the grain directory at sector {at} is nowhere"))
}

impl VmdkTables {
    /// The run from `guest_bytes` on.
    pub(super) fn run(&self, file: &dyn Disk, windows: &mut Windows, guest_bytes: u64) -> Looked {
        // At most 1 GiB times 512.
        let span = self.grain_bytes * self.table_entries;
        let rest = span - guest_bytes % span;
        let index = guest_bytes.div_euclid(span);
        let entry = windows
            .entry(file, Level::Directory, self.directory, index)
            .map_err(|error| GuestRun::unread(file, self.directory, (index, 4), rest, error))?;
        let table = u64::from(u32::from_le_bytes(entry)) * SECTOR_BYTES;
        if table == 0 {
            let more = windows.repeats::<4>(Level::Directory, self.directory, index);
            return Ok(GuestRun::new(
                rest.saturating_add(more.saturating_mul(span)),
                GuestPlace::Backing,
            ));
        }
        let table = ByteRange::new(table, self.table_entries * 4).ok_or_else(|| {
            GuestRun::failed(rest, guest_bytes, "the grain table ends beyond 64 bits")
        })?;
        self.grain(file, windows, table, guest_bytes)
    }

    /// The run from `guest_bytes` on by its grain table.
    fn grain(
        &self,
        file: &dyn Disk,
        windows: &mut Windows,
        table: ByteRange,
        guest_bytes: u64,
    ) -> Looked {
        let within = guest_bytes % self.grain_bytes;
        let rest = self.grain_bytes - within;
        let index = guest_bytes.div_euclid(self.grain_bytes) % self.table_entries;
        let broken = |error| GuestRun::broken(rest, error);
        let entry = windows.entry(file, Level::Table, table, index).map_err(broken)?;
        let entry = u32::from_le_bytes(entry);
        if entry == 0 || (entry == 1 && self.zero_grains) {
            let more = windows.repeats::<4>(Level::Table, table, index);
            let place = if entry == 0 { GuestPlace::Backing } else { GuestPlace::Zero };
            // The window ends with the table, so this stays within the table's span.
            return Ok(GuestRun::new(rest + more * self.grain_bytes, place));
        }
        let offset = u64::from(entry) * SECTOR_BYTES;
        starts_within(file.length_bytes(), offset, self.grain_bytes).map_err(broken)?;
        let place = match self.compression {
            Some(_) => GuestPlace::Compressed(offset),
            None => GuestPlace::Here(offset + within),
        };
        Ok(GuestRun::new(rest, place))
    }
}

#[cfg(test)]
mod tests;
