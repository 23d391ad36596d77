//! LVM2 physical volumes: the label, the header, and the text metadata of the volume group.
//!
//! A label in one of the first four sectors leads to a header, the header to metadata areas, and
//! each of those, through a ring of bytes, to a text that describes the whole group. What comes out
//! is safe to walk: no logical volume lies on itself, however far down, and none lies under two
//! others. Bringing the physical volumes of one group together, and noticing that their texts
//! differ in age, is not done here.
//!
//! Source: lvm2 `lib/label/label.h`, `lib/format_text/layout.h`, `lib/format_text/import_vsn1.c`.

mod area;
mod graph;
mod group;
mod label;
mod notes;
#[cfg(test)]
mod sample;
mod segment;
#[cfg(test)]
mod tests;
mod text;

use device::Disk;
use units::DiskText;

use crate::{Parsed, Problem, ProblemKind};

/// LVM counts sizes in sectors of 512 bytes, whatever the drive's sector is.
const SECTOR_BYTES: u64 = 512;

/// Facts of a physical volume's label and metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhysicalVolume {
    /// Its UUID: 32 characters without the dashes that lvm prints.
    pub id: String,
    /// Its size in bytes as the header says.
    pub device_bytes: u64,
    /// Place where the data area starts, in bytes from its start: `pe_start`; `None` when the
    /// header lists no data area.
    pub data_offset_bytes: Option<u64>,
    /// True if the header says that a group uses it; `None` where it does not say (before lvm2
    /// 2.02.154). With `Some(true)` and no group, the text is on the group's other volumes.
    pub used: Option<bool>,
    /// The volume group as its newest readable text metadata describes it; `None` for an orphan,
    /// for a volume that carries no copy of the text, and where the text cannot be read, which is
    /// then among the problems.
    pub group: Option<VolumeGroup>,
}

/// A volume group as the text metadata describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeGroup {
    /// Its name.
    pub name: DiskText,
    /// Its UUID, without dashes.
    pub id: String,
    /// The metadata's sequence number: the higher, the newer.
    pub sequence: u64,
    /// The extent in bytes; never 0.
    pub extent_bytes: u64,
    /// Its physical volumes, in the text's order.
    pub physical: Vec<GroupMember>,
    /// All its logical volumes, hidden ones included, in the text's order. Following names from one
    /// to the next ends: what would lead back, or down more than 32 volumes, is
    /// [`SegmentKind::Other`].
    pub logical: Vec<LogicalVolume>,
}

/// A physical volume as its group lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupMember {
    /// The name by which segments call it: `pv0`.
    pub name: DiskText,
    /// Its UUID, without dashes.
    pub id: String,
    /// The device that it was last seen on: a hint.
    pub device: Option<DiskText>,
    /// Place where its extents start, in bytes from its start.
    pub data_offset_bytes: u64,
    /// The number of its extents.
    pub extents: u64,
    /// True if it is flagged missing.
    pub missing: bool,
}

/// A logical volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogicalVolume {
    /// Its name.
    pub name: DiskText,
    /// Its UUID, without dashes.
    pub id: String,
    /// True if users see it; sub-volumes such as `_rimage_0` are hidden. So is the volume that
    /// stores a snapshot's changes, although the snapshot goes by its name.
    pub visible: bool,
    /// Its segments in order of first extent.
    pub segments: Vec<Segment>,
}

/// A run of a logical volume's extents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First extent within the volume; below 2^32.
    pub start_extent: u64,
    /// Number of extents; below 2^32.
    pub extents: u64,
    /// Their layout on the volumes below.
    pub kind: SegmentKind,
}

/// One piece of what a segment lies on: a physical volume or another logical volume, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    /// The name of the physical volume, or of the logical volume.
    pub on: DiskText,
    /// First extent on it.
    pub extent: u64,
}

/// A segment's layout on the volumes below.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// `striped`: one area is linear, more are RAID 0 with `stripe_bytes` each (0 for one area).
    Striped {
        /// The chunk in bytes.
        stripe_bytes: u64,
        /// The areas, in stripe order.
        areas: Vec<Area>,
    },
    /// `mirror`: old-style mirror; each area holds all.
    Mirror {
        /// The areas.
        areas: Vec<Area>,
    },
    /// `raid0`, `raid1`, `raid4`, `raid5_ls`, `raid6_zr`, `raid10` and so on. `raid5` is
    /// `raid5_ls`,
    /// `raid6` is `raid6_zr` (all lies as in md's right asymmetric layout), `raid10`
    /// has two copies beside each other.
    Raid {
        /// The type as written.
        type_name: DiskText,
        /// The chunk in bytes; 0 for RAID 1.
        stripe_bytes: u64,
        /// Each member's data volume (`_rimage_N`).
        images: Vec<DiskText>,
        /// Each member's metadata volume (`_rmeta_N`); empty for RAID 0 without metadata.
        metadata: Vec<DiskText>,
    },
    /// `thin`: a volume in a thin pool; where its chunks are stands in the pool's own metadata.
    Thin {
        /// The pool's name.
        pool: DiskText,
    },
    /// `thin-pool`.
    ThinPool {
        /// The volume with the mapping.
        metadata: DiskText,
        /// The volume with the data.
        data: DiskText,
        /// The pool's chunk in bytes.
        chunk_bytes: u64,
    },
    /// Any other type (`cache`, `snapshot`, `vdo`, `writecache`, `integrity` …), by name; also a
    /// segment of a known type whose fields contradict each other, or that is being reshaped, which
    /// is then among the problems.
    Other {
        /// The type as written.
        type_name: DiskText,
    },
}

/// Reads label, header and text metadata; `None` when there is no label.
pub fn read(disk: &dyn Disk) -> Option<Parsed<PhysicalVolume>> {
    let Parsed { value: label, mut problems } = label::read(disk)?;
    let group = area::newest_group(disk, &label.metadata, &mut problems);
    let data = label.data.first().copied();
    let volume = PhysicalVolume {
        id: label.id,
        device_bytes: label.device_bytes,
        data_offset_bytes: data.map(|location| location.offset_bytes),
        used: label.used,
        group,
    };
    compare(&volume, label.at_bytes, disk.length_bytes(), &mut problems);
    Some(Parsed { value: volume, problems })
}

/// Notes where the header, the group's text and the device say different things.
fn compare(volume: &PhysicalVolume, at_bytes: u64, disk_bytes: u64, problems: &mut Vec<Problem>) {
    let device_bytes = volume.device_bytes;
    if device_bytes > disk_bytes {
        let detail = format!("the header says {device_bytes} bytes, the device has {disk_bytes}");
        problems.push(Problem::new(ProblemKind::Outside, at_bytes, detail));
    }
    let Some(group) = &volume.group else { return };
    let Some(member) = group.physical.iter().find(|member| member.id == volume.id) else {
        let detail = format!("group {} does not list this physical volume", group.name);
        return problems.push(Problem::new(ProblemKind::Copies, at_bytes, detail));
    };
    let (text, header) = (member.data_offset_bytes, volume.data_offset_bytes);
    if header.is_some_and(|header| header != text) {
        let header = header.unwrap_or_default();
        let detail = format!("data starts at {header} by the header, at {text} by the text");
        problems.push(Problem::new(ProblemKind::Copies, at_bytes, detail));
    }
    let end_bytes = member
        .extents
        .checked_mul(group.extent_bytes)
        .and_then(|length_bytes| length_bytes.checked_add(text));
    if end_bytes.is_none_or(|end_bytes| end_bytes > disk_bytes) {
        let extents = member.extents;
        let detail = format!("{extents} extents from {text} end past the device's end");
        problems.push(Problem::new(ProblemKind::Outside, at_bytes, detail));
    }
}
