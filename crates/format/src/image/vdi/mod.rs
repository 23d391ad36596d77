//! VirtualBox disk images: a map of 32-bit block numbers, and blocks behind it.
//!
//! The guest's bytes are shifted by where the first block starts; within a block they keep their
//! place. Sources: QEMU `block/vdi.c`; VirtualBox `src/VBox/Storage/VDICore.h` and `VDI.cpp` (block
//! extra data, discarded blocks, differencing images).

use device::Disk;
use units::{ByteRange, DiskText};
use uuid::Uuid;

use super::run::{GuestRun, Looked, starts_within};
use super::table_windows::{Level, Windows};
use super::{GuestPlace, Image, ImageKind, ImageLayout, Reference, ReferenceRole};
use crate::bytes::{self, Block};
use crate::{Parsed, Problem, ProblemKind};

const SIGNATURE: u32 = 0xbeda_107f;
const VERSION: u32 = 0x0001_0001;
/// Map entries that name no block.
const FREE: u32 = 0xffff_ffff;
const DISCARDED: u32 = 0xffff_fffe;

/// Place where the tables stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VdiTables {
    /// The block map in the image file: 4 bytes for each block.
    pub map: ByteRange,
    /// Place where block 0 of the file starts, in bytes.
    pub data_bytes: u64,
    /// A block's length in bytes: a power of two, at least 512.
    pub block_bytes: u64,
    /// Bytes before each block's data that are not the guest's.
    pub extra_bytes: u64,
}

type Header = Block<456>;

/// The header of a VDI image whose first bytes are `head`; `None` when the signature is absent or
/// the version is none that ever was.
pub(super) fn read(file: &dyn Disk, head: &[u8]) -> Option<Parsed<Image>> {
    let start = bytes::block::<72>(head)?;
    let version = start.le32::<0x44>();
    let (major, minor) = (version >> 16, version & 0xffff);
    if start.le32::<0x40>() != SIGNATURE || major > 1 {
        return None;
    }
    let mut image = Image::unread(ImageKind::Vdi, format!("{major}.{minor}"));
    let mut problems = Vec::new();
    let layout = match bytes::block::<456>(head) {
        Some(header) if version == VERSION => facts(file, &header, &mut image, &mut problems),
        Some(_) => {
            let reason = format!("version {major}.{minor} of VDI is not read, 1.1 is");
            Err(Problem::new(ProblemKind::Unsupported, 0x44, reason))
        }
        None => Err(Problem::new(ProblemKind::Field, 0x44, "the file ends within the header")),
    };
    Some(image.laid_out_or(layout, problems))
}

fn facts(
    file: &dyn Disk,
    header: &Header,
    image: &mut Image,
    problems: &mut Vec<Problem>,
) -> Result<ImageLayout, Problem> {
    let mut problem = |kind, at, detail| problems.push(Problem::new(kind, at, detail));
    image.virtual_bytes = header.le64::<0x170>();
    let kind = header.le32::<0x4c>();
    let kind_name = match kind {
        1 => "dynamic".to_owned(),
        2 => "fixed".to_owned(),
        3 => "undo".to_owned(),
        4 => "differencing".to_owned(),
        other => {
            let detail = format!("image type {other} is not known");
            problem(ProblemKind::Field, 0x4c, detail);
            format!("type {other}")
        }
    };
    image.details.push(("type", kind_name));
    let sector_bytes = header.le32::<0x168>();
    if sector_bytes != 512 {
        let detail = format!("sectors of {sector_bytes} bytes; 512 are expected");
        problem(ProblemKind::Field, 0x168, detail);
    }
    parent(header, kind, image);

    let block_bytes = u64::from(header.le32::<0x178>());
    if !block_bytes.is_power_of_two() || block_bytes < 512 {
        let reason = format!("blocks of {block_bytes} bytes; a power of two from 512 is expected");
        return Err(Problem::new(ProblemKind::Field, 0x178, reason));
    }
    image.block_bytes = Some(block_bytes);
    let (blocks, map_bytes) =
        (u64::from(header.le32::<0x180>()), u64::from(header.le32::<0x154>()));
    let needed = image.virtual_bytes.div_ceil(block_bytes);
    if blocks < needed {
        let detail = format!("the map has {blocks} entries; the guest's size needs {needed}");
        problem(ProblemKind::Field, 0x180, detail);
    }
    let map = ByteRange::new(map_bytes, blocks * 4)
        .ok_or_else(|| Problem::new(ProblemKind::Outside, 0x154, "the map ends beyond 64 bits"))?;
    let used = map_bytes + blocks.min(needed) * 4;
    if used > file.length_bytes() {
        let end = file.length_bytes();
        let detail = format!("the map ends at {used}, past the end of the file at {end}");
        problem(ProblemKind::Outside, 0x154, detail);
    }
    let data_bytes = u64::from(header.le32::<0x158>());
    if data_bytes < used {
        let detail = format!("blocks start at {data_bytes}, within the map that ends at {used}");
        problem(ProblemKind::Overlap, 0x158, detail);
    }
    image.details.push(("data offset", data_bytes.to_string()));
    let extra_bytes = u64::from(header.le32::<0x17c>());
    Ok(ImageLayout::Vdi(VdiTables { map, data_bytes, block_bytes, extra_bytes }))
}

/// The parent, which is named by identifier only.
fn parent(header: &Header, kind: u32, image: &mut Image) {
    let identifier = Uuid::from_bytes_le(header.array::<0x1a8, 16>());
    if identifier.is_nil() && kind != 4 {
        return;
    }
    image.details.push(("parent UUID", identifier.to_string()));
    image.references.push(Reference {
        role: ReferenceRole::Backing,
        path: DiskText::default(),
        format: None,
    });
}

impl VdiTables {
    /// The run from `guest_bytes` on.
    pub(super) fn run(&self, file: &dyn Disk, windows: &mut Windows, guest_bytes: u64) -> Looked {
        let (index, within) =
            (guest_bytes.div_euclid(self.block_bytes), guest_bytes % self.block_bytes);
        let rest = self.block_bytes - within;
        let entry = windows
            .entry(file, Level::Directory, self.map, index)
            .map_err(|error| GuestRun::unread(file, self.map, (index, 4), rest, error))?;
        let entry = u32::from_le_bytes(entry);
        if matches!(entry, FREE | DISCARDED) {
            let more = windows.repeats::<4>(Level::Directory, self.map, index);
            let place = if entry == FREE { GuestPlace::Backing } else { GuestPlace::Zero };
            return Ok(GuestRun::new(
                rest.saturating_add(more.saturating_mul(self.block_bytes)),
                place,
            ));
        }
        // At most 2^32 blocks of 2^31 bytes and their extra bytes: below 2^65, hence checked.
        let start = u64::from(entry)
            .checked_mul(self.block_bytes + self.extra_bytes)
            .and_then(|start| start.checked_add(self.data_bytes + self.extra_bytes))
            .ok_or_else(|| {
                GuestRun::failed(rest, guest_bytes, format!("block {entry} lies beyond 64 bits"))
            })?;
        starts_within(file.length_bytes(), start, self.block_bytes)
            .map_err(|error| GuestRun::broken(rest, error))?;
        Ok(GuestRun::new(rest, GuestPlace::Here(start.saturating_add(within))))
    }
}

#[cfg(test)]
mod tests;
