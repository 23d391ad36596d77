//! From the text's tree to the volume group.
//!
//! Without extent size, UUID or sequence number there is no group; without an extent count or a
//! start there is no physical volume and no segment: such a thing is left out and noted, since
//! numbers that are not there must not become zeros.
//!
//! Source: lvm2 `lib/format_text/import_vsn1.c`, `lib/format_text/flags.c`.

use units::{DiskText, text};

use super::label::is_id;
use super::notes::{Notes, Position};
use super::text::{Section, Value};
use super::{GroupMember, LogicalVolume, SECTOR_BYTES, Segment, VolumeGroup, graph, segment};
use crate::ProblemKind;

/// The group that `root`, a whole text, describes.
pub(super) fn group(root: &Section<'_>, notes: &mut Notes<'_>) -> Option<VolumeGroup> {
    if root.text(b"contents") != Some(b"Text Format Volume Group") {
        notes.note(ProblemKind::Field, 0, "metadata text does not say that it is one");
        return None;
    }
    if root.number(b"version") != Some(1) {
        notes.note(ProblemKind::Unsupported, 0, "metadata text is not of version 1");
        return None;
    }
    let Some((entry, section)) = root.sections().next() else {
        notes.note(ProblemKind::Field, 0, "metadata text describes no group");
        return None;
    };
    let mut group = frame(DiskText::from_bytes(entry.key), entry.at, section, notes)?;
    for (entry, section) in section.section(b"physical_volumes").into_iter().flat_map(sections) {
        group.physical.extend(member(entry, section, notes));
    }
    let mut places = Vec::new();
    for (entry, section) in section.section(b"logical_volumes").into_iter().flat_map(sections) {
        places.push(entry.1);
        group.logical.push(logical(entry, section, notes));
    }
    graph::settle(&mut group, &places, notes);
    Some(group)
}

/// A section's name and place.
type Head<'t> = (&'t [u8], Position);

fn sections<'s, 't>(section: &'s Section<'t>) -> impl Iterator<Item = (Head<'s>, &'s Section<'t>)> {
    section.sections().map(|(entry, section)| ((entry.key, entry.at), section))
}

/// The group without its volumes.
fn frame(
    name: DiskText,
    at: Position,
    section: &Section<'_>,
    notes: &mut Notes<'_>,
) -> Option<VolumeGroup> {
    let extent_sectors = number(section, "extent_size", &name, at, notes);
    let sequence = number(section, "seqno", &name, at, notes);
    let id = id(section, &name, at, notes);
    let extent_bytes = extent_sectors?.checked_mul(SECTOR_BYTES).filter(|&bytes| bytes > 0);
    if extent_bytes.is_none() {
        notes.note(ProblemKind::Field, at, format!("group {name} has an impossible extent size"));
    }
    Some(VolumeGroup {
        id: id?,
        sequence: sequence?,
        extent_bytes: extent_bytes?,
        name,
        physical: Vec::new(),
        logical: Vec::new(),
    })
}

/// A physical volume of the group; `None` when its extents have no start or no count.
fn member(
    (name, at): Head<'_>,
    section: &Section<'_>,
    notes: &mut Notes<'_>,
) -> Option<GroupMember> {
    let name = DiskText::from_bytes(name);
    let start_sectors = number(section, "pe_start", &name, at, notes);
    let extents = count(section, "pe_count", &name, at, notes);
    let id = id(section, &name, at, notes).unwrap_or_default();
    let data_offset_bytes = start_sectors?.checked_mul(SECTOR_BYTES);
    if data_offset_bytes.is_none() {
        notes.note(ProblemKind::Field, at, format!("{name} has an impossible pe_start"));
    }
    Some(GroupMember {
        id,
        device: section.text(b"device").map(DiskText::from_bytes),
        data_offset_bytes: data_offset_bytes?,
        extents: extents?,
        missing: flagged(section, b"MISSING"),
        name,
    })
}

fn logical((name, at): Head<'_>, section: &Section<'_>, notes: &mut Notes<'_>) -> LogicalVolume {
    let name = DiskText::from_bytes(name);
    let id = id(section, &name, at, notes).unwrap_or_default();
    let mut found = 0_u64;
    let mut segments: Vec<(Segment, Position)> = Vec::new();
    for ((_, at), section) in sections(section) {
        found += 1;
        segments.extend(segment(section, &name, at, notes).map(|segment| (segment, at)));
    }
    let told = number(section, "segment_count", &name, at, notes);
    if told.is_some_and(|told| told != found) {
        let told = told.unwrap_or_default();
        let detail = format!("{name} has {found} segments, segment_count says {told}");
        notes.note(ProblemKind::Field, at, detail);
    }
    segments.sort_by_key(|(segment, _)| segment.start_extent);
    let mut end = 0_u64;
    for (segment, at) in &segments {
        let start = segment.start_extent;
        if start != end {
            let kind = if start < end { ProblemKind::Overlap } else { ProblemKind::Field };
            let detail = format!("a segment of {name} starts at extent {start}, expected {end}");
            notes.note(kind, *at, detail);
        }
        // Both are below 2^32.
        end = end.max(start + segment.extents);
    }
    let visible = flagged(section, b"VISIBLE");
    let segments = segments.into_iter().map(|(segment, _)| segment).collect();
    LogicalVolume { name, id, visible, segments }
}

/// A segment; `None` when it has no start or no length.
fn segment(
    section: &Section<'_>,
    volume: &DiskText,
    at: Position,
    notes: &mut Notes<'_>,
) -> Option<Segment> {
    let start_extent = count(section, "start_extent", volume, at, notes);
    let extents = count(section, "extent_count", volume, at, notes);
    let (start_extent, extents) = (start_extent?, extents?);
    let kind = segment::kind(section, extents, volume, at, notes);
    Some(Segment { start_extent, extents, kind })
}

/// The number called `key`, whose absence is noted.
fn number(
    section: &Section<'_>,
    key: &str,
    name: &DiskText,
    at: Position,
    notes: &mut Notes<'_>,
) -> Option<u64> {
    let number = section.number(key.as_bytes());
    if number.is_none() {
        notes.note(ProblemKind::Field, at, format!("{name} has no readable {key}"));
    }
    number
}

/// The number of extents called `key`; LVM keeps those in 32 bits.
fn count(
    section: &Section<'_>,
    key: &str,
    name: &DiskText,
    at: Position,
    notes: &mut Notes<'_>,
) -> Option<u64> {
    let number = number(section, key, name, at, notes)?;
    let fits = u32::try_from(number).is_ok();
    if !fits {
        notes.note(ProblemKind::Field, at, format!("{name} has {key} = {number}"));
    }
    fits.then_some(number)
}

/// The UUID, without dashes. One that is none is kept, escaped, and noted; `None` when there is
/// none.
fn id(
    section: &Section<'_>,
    name: &DiskText,
    at: Position,
    notes: &mut Notes<'_>,
) -> Option<String> {
    let Some(written) = section.text(b"id") else {
        notes.note(ProblemKind::Field, at, format!("{name} has no UUID"));
        return None;
    };
    let plain: Vec<u8> = written.iter().copied().filter(|&byte| byte != b'-').collect();
    if !is_id(&plain) {
        let written = text::escape(written);
        notes.note(ProblemKind::Field, at, format!("{name} has the UUID \"{written}\""));
    }
    Some(text::escape(&plain))
}

/// Returns whether `flag` is among the flags, which LVM keeps in two lists.
fn flagged(section: &Section<'_>, flag: &[u8]) -> bool {
    let lists = [section.list(b"status"), section.list(b"flags")];
    lists.into_iter().flatten().flatten().filter_map(Value::as_text).any(|found| found == flag)
}
