//! The volumes that a segment lies on, by its type.
//!
//! A segment whose fields contradict each other is of an unknown kind, never half known: LVM would
//! refuse the whole group.
//!
//! Source: the `text_import` functions of lvm2 `lib/striped/striped.c`, `lib/mirror/mirrored.c`,
//! `lib/raid/raid.c`, `lib/thin/thin.c`; `lib/format_text/flags.c` for the flags behind a type's
//! `+`.

use units::DiskText;

use super::SECTOR_BYTES;
use super::notes::{Notes, Position};
use super::text::{NAME_BYTES_MAX, Section, Value};
use super::{Area, SegmentKind};
use crate::ProblemKind;

/// Flags that leave open where the data of a RAID type is until the reshape is over.
const RESHAPING: [&[u8]; 5] = [
    b"RESHAPE",
    b"RESHAPE_DATA_OFFSET",
    b"RESHAPE_DELTA_DISKS_MINUS",
    b"RESHAPE_DELTA_DISKS_PLUS",
    b"REMOVE_AFTER_RESHAPE",
];
/// Flags that say nothing of where data is.
const HARMLESS: [&[u8]; 3] = [b"CACHE_USES_CACHEVOL", b"CROP_METADATA", b"METADATA_FORMAT"];

/// The kind of the segment of `extents` extents that `section` describes, in logical volume
/// `volume`.
pub(super) fn kind(
    section: &Section<'_>,
    extents: u64,
    volume: &DiskText,
    at: Position,
    notes: &mut Notes<'_>,
) -> SegmentKind {
    let written = section.text(b"type").unwrap_or(b"striped");
    let mut parts = written.split(|&byte| byte == b'+');
    let type_name = parts.next().unwrap_or_default();
    let is_long = type_name.len() > NAME_BYTES_MAX;
    let type_name = &type_name[..type_name.len().min(NAME_BYTES_MAX)];
    let other = || SegmentKind::Other { type_name: DiskText::from_bytes(type_name) };
    let mut unknown = |kind, reason: &str| {
        let type_name = DiskText::from_bytes(type_name);
        notes.note(kind, at, format!("{type_name} segment of {volume}: {reason}"));
        other()
    };
    if is_long {
        return unknown(ProblemKind::Field, "its type has a longer name than LVM allows");
    }
    let raid = type_name.starts_with(b"raid");
    for flag in parts {
        let reshaping = RESHAPING.contains(&flag);
        if reshaping && raid {
            return unknown(ProblemKind::Unsupported, "a reshape is under way");
        }
        if !reshaping && !HARMLESS.contains(&flag) {
            let flag = DiskText::from_bytes(flag);
            return unknown(ProblemKind::Unsupported, &format!("unknown flag {flag}"));
        }
    }
    if raid && (section.has(b"reshape_count") || section.has(b"data_offset")) {
        return unknown(ProblemKind::Unsupported, "it has room for a reshape, before or behind");
    }
    let read = match type_name {
        b"striped" | b"linear" => striped(section, extents),
        b"mirror" => mirror(section),
        b"thin" => thin(section),
        b"thin-pool" => thin_pool(section),
        _ if raid => raid_kind(section, type_name),
        _ => Ok(other()),
    };
    read.unwrap_or_else(|reason| unknown(ProblemKind::Field, reason))
}

fn striped(section: &Section<'_>, extents: u64) -> Result<SegmentKind, &'static str> {
    let count = section.number(b"stripe_count").ok_or("it has no stripe_count")?;
    let areas = areas(section, b"stripes", count)?;
    if count == 1 {
        return Ok(SegmentKind::Striped { stripe_bytes: 0, areas });
    }
    if extents.checked_rem(count) != Some(0) {
        return Err("its extents do not divide by its stripes");
    }
    Ok(SegmentKind::Striped { stripe_bytes: stripe_bytes(section)?, areas })
}

fn mirror(section: &Section<'_>) -> Result<SegmentKind, &'static str> {
    let count = section.number(b"mirror_count").ok_or("it has no mirror_count")?;
    Ok(SegmentKind::Mirror { areas: areas(section, b"mirrors", count)? })
}

fn raid_kind(section: &Section<'_>, type_name: &[u8]) -> Result<SegmentKind, &'static str> {
    let counts = (section.number(b"device_count"), section.number(b"stripe_count"));
    let ((Some(count), None) | (None, Some(count))) = counts else {
        return Err("it has not one of device_count and stripe_count");
    };
    let list: &[u8] = if type_name == b"raid0" { b"raid0_lvs" } else { b"raids" };
    let names = section.list(list).ok_or("it lists no volumes")?;
    let (mut images, mut metadata) = (Vec::new(), Vec::new());
    for name in names {
        let name = name.as_text().ok_or("a volume's name is no string")?;
        let is_metadata = name.windows(7).any(|part| part == b"_rmeta_");
        if is_metadata { &mut metadata } else { &mut images }.push(DiskText::from_bytes(name));
    }
    let listed = u64::try_from(images.len()).unwrap_or(u64::MAX);
    if listed != count || listed == 0 {
        return Err("its count and its list of volumes differ");
    }
    if !metadata.is_empty() && metadata.len() != images.len() {
        return Err("not every volume has one for metadata");
    }
    // LVM makes no RAID 10 of more copies, nor any but beside each other, so how it would lay them
    // is not known.
    if type_name.starts_with(b"raid10") && section.number(b"data_copies").unwrap_or(2) != 2 {
        return Err("it has not two copies");
    }
    let stripe_bytes = if type_name == b"raid1" { 0 } else { stripe_bytes(section)? };
    let type_name = DiskText::from_bytes(type_name);
    Ok(SegmentKind::Raid { type_name, stripe_bytes, images, metadata })
}

fn thin(section: &Section<'_>) -> Result<SegmentKind, &'static str> {
    let pool = section.text(b"thin_pool").ok_or("it names no pool")?;
    Ok(SegmentKind::Thin { pool: DiskText::from_bytes(pool) })
}

/// A pool; its chunk is 64 KiB to 1 GiB and a multiple of 64 KiB (`dm-thin.c`,
/// `DATA_DEV_BLOCK_SIZE`).
fn thin_pool(section: &Section<'_>) -> Result<SegmentKind, &'static str> {
    let metadata = section.text(b"metadata").ok_or("it names no metadata")?;
    let data = section.text(b"pool").ok_or("it names no data")?;
    let chunk_sectors = section.number(b"chunk_size").ok_or("it has no chunk")?;
    if !(128..=2_097_152).contains(&chunk_sectors) || !chunk_sectors.is_multiple_of(128) {
        return Err("it has an impossible chunk");
    }
    Ok(SegmentKind::ThinPool {
        metadata: DiskText::from_bytes(metadata),
        data: DiskText::from_bytes(data),
        chunk_bytes: chunk_sectors * SECTOR_BYTES,
    })
}

/// The list called `key`: names and extents in turn, `count` of each.
fn areas(section: &Section<'_>, key: &[u8], count: u64) -> Result<Vec<Area>, &'static str> {
    let list = section.list(key).ok_or("it lists no areas")?;
    let (pairs, rest) = list.as_chunks::<2>();
    let listed = u64::try_from(pairs.len()).unwrap_or(u64::MAX);
    if listed != count || listed == 0 || !rest.is_empty() {
        return Err("its count and its list of areas differ");
    }
    pairs.iter().map(area).collect()
}

fn area(pair: &[Value<'_>; 2]) -> Result<Area, &'static str> {
    let [Value::Text(name), Value::Number(extent)] = pair else {
        return Err("an area is no name with an extent");
    };
    if u32::try_from(*extent).is_err() {
        return Err("an area starts past every volume's end");
    }
    Ok(Area { on: DiskText::from_bytes(name), extent: *extent })
}

fn stripe_bytes(section: &Section<'_>) -> Result<u64, &'static str> {
    let sectors = section.number(b"stripe_size").ok_or("it has no stripe_size")?;
    let bytes = sectors.checked_mul(SECTOR_BYTES).filter(|&bytes| bytes > 0);
    bytes.ok_or("it has an impossible stripe_size")
}
