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
    let Some(whole) = sections(root).next() else {
        notes.note(ProblemKind::Field, 0, "metadata text describes no group");
        return None;
    };
    let mut group = frame(&whole, notes)?;
    let listed = |key| whole.section.section(key).into_iter().flat_map(sections);
    for found in listed(b"physical_volumes") {
        group.physical.extend(member(&found, notes));
    }
    let mut places = Vec::new();
    for found in listed(b"logical_volumes") {
        places.push(found.at);
        group.logical.push(logical(&found, notes));
    }
    graph::settle(&mut group, &places, notes);
    Some(group)
}

/// A section with its place, and the name that problems with it are told under.
struct NamedSection<'s, 't> {
    name: DiskText,
    at: Position,
    section: &'s Section<'t>,
}

fn sections<'s, 't>(section: &'s Section<'t>) -> impl Iterator<Item = NamedSection<'s, 't>> {
    section.sections().map(|(entry, section)| NamedSection {
        name: DiskText::from_bytes(entry.key),
        at: entry.at,
        section,
    })
}

/// The group without its volumes.
fn frame(whole: &NamedSection<'_, '_>, notes: &mut Notes<'_>) -> Option<VolumeGroup> {
    let extent_sectors = whole.number("extent_size", notes);
    let sequence = whole.number("seqno", notes);
    let id = whole.id(notes);
    let extent_bytes = extent_sectors?.checked_mul(SECTOR_BYTES).filter(|&bytes| bytes > 0);
    let name = whole.name.clone();
    if extent_bytes.is_none() {
        let detail = format!("group {name} has an impossible extent size");
        notes.note(ProblemKind::Field, whole.at, detail);
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
fn member(found: &NamedSection<'_, '_>, notes: &mut Notes<'_>) -> Option<GroupMember> {
    let start_sectors = found.number("pe_start", notes);
    let extents = found.count("pe_count", notes);
    let id = found.id(notes).unwrap_or_default();
    let data_offset_bytes = start_sectors?.checked_mul(SECTOR_BYTES);
    let name = found.name.clone();
    if data_offset_bytes.is_none() {
        notes.note(ProblemKind::Field, found.at, format!("{name} has an impossible pe_start"));
    }
    Some(GroupMember {
        id,
        device: found.section.text(b"device").map(DiskText::from_bytes),
        data_offset_bytes: data_offset_bytes?,
        extents: extents?,
        missing: found.has_flag(b"MISSING"),
        name,
    })
}

fn logical(found: &NamedSection<'_, '_>, notes: &mut Notes<'_>) -> LogicalVolume {
    let name = found.name.clone();
    let id = found.id(notes).unwrap_or_default();
    let mut count = 0_u64;
    let mut segments: Vec<(Segment, Position)> = Vec::new();
    for part in sections(found.section) {
        count += 1;
        let part = NamedSection { name: name.clone(), ..part };
        segments.extend(segment(&part, notes).map(|segment| (segment, part.at)));
    }
    let told = found.number("segment_count", notes);
    if told.is_some_and(|told| told != count) {
        let told = told.unwrap_or_default();
        let detail = format!("{name} has {count} segments, segment_count says {told}");
        notes.note(ProblemKind::Field, found.at, detail);
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
    let visible = found.has_flag(b"VISIBLE");
    let segments = segments.into_iter().map(|(segment, _)| segment).collect();
    LogicalVolume { name, id, visible, segments }
}

/// A segment of the logical volume that `part` is named after; `None` when it has no start or no
/// length.
fn segment(part: &NamedSection<'_, '_>, notes: &mut Notes<'_>) -> Option<Segment> {
    let start_extent = part.count("start_extent", notes);
    let extents = part.count("extent_count", notes);
    let (start_extent, extents) = (start_extent?, extents?);
    let kind = segment::kind(part.section, extents, &part.name, part.at, notes);
    Some(Segment { start_extent, extents, kind })
}

impl NamedSection<'_, '_> {
    /// The number called `key`, whose absence is noted.
    fn number(&self, key: &str, notes: &mut Notes<'_>) -> Option<u64> {
        let number = self.section.number(key.as_bytes());
        if number.is_none() {
            let detail = format!("{} has no readable {key}", self.name);
            notes.note(ProblemKind::Field, self.at, detail);
        }
        number
    }

    /// The number of extents called `key`; LVM keeps those in 32 bits.
    fn count(&self, key: &str, notes: &mut Notes<'_>) -> Option<u64> {
        let number = self.number(key, notes)?;
        let fits = u32::try_from(number).is_ok();
        if !fits {
            let detail = format!("{} has {key} = {number}", self.name);
            notes.note(ProblemKind::Field, self.at, detail);
        }
        fits.then_some(number)
    }

    /// The UUID, without dashes. One that is none is kept, escaped, and noted; `None` when there is
    /// none.
    fn id(&self, notes: &mut Notes<'_>) -> Option<String> {
        let Some(written) = self.section.text(b"id") else {
            notes.note(ProblemKind::Field, self.at, format!("{} has no UUID", self.name));
            return None;
        };
        let plain: Vec<u8> = written.iter().copied().filter(|&byte| byte != b'-').collect();
        if !is_id(&plain) {
            let detail = format!("{} has the UUID \"{}\"", self.name, text::escape(written));
            notes.note(ProblemKind::Field, self.at, detail);
        }
        Some(text::escape(&plain))
    }

    /// True if `flag` is among the flags, which LVM keeps in two lists.
    fn has_flag(&self, flag: &[u8]) -> bool {
        let lists = [self.section.list(b"status"), self.section.list(b"flags")];
        lists.into_iter().flatten().flatten().filter_map(Value::as_text).any(|found| found == flag)
    }
}
