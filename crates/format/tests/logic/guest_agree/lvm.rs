//! Physical volumes against lvm2's reports, and every mapping against the stamps.

use std::collections::{BTreeMap, BTreeSet};

use format::Parsed;
use format::member::lvm::{self, Area, LogicalVolume, Segment, SegmentKind, VolumeGroup};
use serde_json::Value;
use units::stripe::{Rotation, Stripe};

use super::run::Run;

/// Volumes whose mapping stands in the group's text alone.
const STAMPED: [&str; 10] = [
    "linear",
    "striped",
    "raid0",
    "raid0meta",
    "raid1",
    "raid5",
    "raid5ra",
    "raid6",
    "raid10",
    "mirror",
];

pub(crate) fn check(run: &Run) {
    let names = run.text("out/lvm/disks.txt").lines().map(|line| line.split_once('=').unwrap());
    let nodes: BTreeMap<&str, &str> = names.clone().collect();
    assert_eq!(nodes.len(), 6);
    let mut groups = Vec::new();
    for (disk, node) in &nodes {
        let Parsed { value, problems } = lvm::read(&run.disks[*disk]).expect("a label");
        assert_eq!(problems, [], "{disk}");
        let rows = run.report("pvs");
        let row = rows.iter().find(|row| text(row, "pv_name") == *node).unwrap();
        assert_eq!(value.id, text(row, "pv_uuid").replace('-', ""));
        assert_eq!(value.device_bytes, number(row, "dev_size"));
        assert_eq!(value.data_offset_bytes, Some(number(row, "pe_start")));
        assert_eq!(value.used, Some(true));
        groups.push(value.group.expect("a group"));
    }
    let group = &groups[0];
    assert!(groups.iter().all(|other| other == group), "the disks tell of different groups");
    let row = &run.report("vgs")[0];
    assert_eq!(group.name.to_string(), text(row, "vg_name"));
    assert_eq!(group.id, text(row, "vg_uuid").replace('-', ""));
    assert_eq!(group.extent_bytes, number(row, "vg_extent_size"));
    // Reports were made while the volumes were active; what came after changed no text.
    assert_eq!(group.sequence, number(row, "vg_seqno"));
    check_segments(run, group);
    let disks: BTreeMap<String, String> = group
        .physical
        .iter()
        .map(|member| {
            let node = member.device.as_ref().unwrap().to_string();
            let found = names.clone().find(|(_, known)| *known == node);
            (member.name.to_string(), found.unwrap().0.to_owned())
        })
        .collect();
    let stack = Stack { group, disks };
    for name in STAMPED {
        run.check_stamps(name, |offset| stack.place(name, offset));
    }
    check_thin(run, &stack);
}

fn text<'v>(row: &'v Value, field: &str) -> &'v str {
    row[field].as_str().unwrap_or_else(|| panic!("{field} in {row}"))
}

fn number(row: &Value, field: &str) -> u64 {
    text(row, field).parse().unwrap_or_else(|_| panic!("{field} in {row}"))
}

/// Compares every segment with the report's: type, extents, chunk, and what it lies on.
fn check_segments(run: &Run, group: &VolumeGroup) {
    let mut theirs: BTreeMap<(String, u64), &Value> = BTreeMap::new();
    let rows = run.report("lvs");
    for row in &rows {
        let name = text(row, "lv_name").trim_matches(['[', ']']).to_owned();
        theirs.insert((name, number(row, "seg_start_pe")), row);
    }
    let mut types = BTreeSet::new();
    for volume in &group.logical {
        for segment in &volume.segments {
            let key = (volume.name.to_string(), segment.start_extent);
            let is_snapshot = matches!(&segment.kind,
                SegmentKind::Other { type_name } if type_name.raw() == b"snapshot");
            // The report shows a snapshot as the volume that holds what has changed.
            let Some(row) = theirs.remove(&key) else {
                assert!(is_snapshot, "{key:?} is in no report");
                continue;
            };
            types.insert(text(row, "segtype").to_owned());
            check_segment(group, volume, segment, row);
        }
    }
    assert!(theirs.is_empty(), "not found: {:?}", theirs.keys());
    assert!(types.len() >= 14, "{types:?}");
}

fn check_segment(group: &VolumeGroup, volume: &LogicalVolume, segment: &Segment, row: &Value) {
    let name = text(row, "lv_name");
    assert_eq!(volume.id, text(row, "lv_uuid").replace('-', ""), "{name}");
    assert_eq!(segment.extents, number(row, "seg_size_pe"), "{name}");
    // A snapshot goes by the name of the hidden volume that stores its changes.
    let shown = !name.starts_with('[') && name != "older";
    assert_eq!(volume.visible, shown, "{name}");
    let shown = |area: &Area| {
        let member = group.physical.iter().find(|member| member.name == area.on);
        let on = member.map_or(&area.on, |member| member.device.as_ref().unwrap());
        format!("{on}({})", area.extent)
    };
    let areas = |areas: &[Area]| areas.iter().map(shown).collect::<Vec<_>>().join(",");
    let whole = |names: &[units::DiskText]| {
        names.iter().map(|name| format!("{name}(0)")).collect::<Vec<_>>().join(",")
    };
    let (segment_type, chunk, on) = match &segment.kind {
        SegmentKind::Striped { stripe_bytes, areas: list } => {
            let name = if list.len() == 1 { "linear" } else { "striped" };
            (name.to_owned(), Some(*stripe_bytes), areas(list))
        }
        SegmentKind::Mirror { areas: list } => ("mirror".to_owned(), Some(0), areas(list)),
        SegmentKind::Raid { type_name, stripe_bytes, images, metadata } => {
            assert_eq!(whole(metadata), text(row, "metadata_devices"), "{name}");
            (type_name.to_string(), Some(*stripe_bytes), whole(images))
        }
        SegmentKind::Thin { pool } => {
            assert_eq!(pool.to_string(), text(row, "pool_lv"));
            ("thin".to_owned(), None, String::new())
        }
        SegmentKind::ThinPool { metadata, data, chunk_bytes } => {
            assert_eq!(*chunk_bytes, number(row, "chunk_size"));
            assert_eq!(metadata.to_string(), format!("{name}_tmeta"));
            ("thin-pool".to_owned(), None, whole(std::slice::from_ref(data)))
        }
        SegmentKind::Other { type_name } => {
            (type_name.to_string(), None, text(row, "devices").to_owned())
        }
    };
    assert_eq!(segment_type, text(row, "segtype"), "{name}");
    assert_eq!(on, text(row, "devices"), "{name}");
    if let Some(chunk) = chunk {
        assert_eq!(chunk, number(row, "stripe_size"), "{name}");
    }
}

/// The group, and the disks of its physical volumes.
struct Stack<'g> {
    group: &'g VolumeGroup,
    disks: BTreeMap<String, String>,
}

impl Stack<'_> {
    /// The disk and the address where byte `offset` of volume `name` lies; of several copies the
    /// first.
    fn place(&self, name: &str, mut offset: u64) -> (String, u64) {
        let extent_bytes = self.group.extent_bytes;
        let mut name = name.to_owned();
        loop {
            if let Some(member) =
                self.group.physical.iter().find(|member| member.name.to_string() == name)
            {
                return (self.disks[&name].clone(), member.data_offset_bytes + offset);
            }
            let named = |volume: &&LogicalVolume| volume.name.to_string() == name;
            let volume = self.group.logical.iter().find(named).unwrap();
            let extent = offset.div_euclid(extent_bytes);
            let holds = |segment: &&Segment| {
                (segment.start_extent..segment.start_extent + segment.extents).contains(&extent)
            };
            let segment = volume.segments.iter().find(holds).unwrap();
            let within = offset - segment.start_extent * extent_bytes;
            (name, offset) = below(&segment.kind, within, extent_bytes);
        }
    }
}

/// Returns what byte `within` of a segment lies on, and where on it.
fn below(kind: &SegmentKind, within: u64, extent_bytes: u64) -> (String, u64) {
    match kind {
        SegmentKind::Striped { stripe_bytes: 0, areas } | SegmentKind::Mirror { areas } => {
            (areas[0].on.to_string(), areas[0].extent * extent_bytes + within)
        }
        SegmentKind::Striped { stripe_bytes, areas } => {
            let members = u64::try_from(areas.len()).unwrap();
            let place = Stripe::new(*stripe_bytes, members).unwrap().place(within);
            let area = &areas[usize::try_from(place.position).unwrap()];
            (area.on.to_string(), area.extent * extent_bytes + place.member_bytes)
        }
        SegmentKind::Raid { type_name, stripe_bytes, images, .. } => {
            let members = u64::try_from(images.len()).unwrap();
            let (member, at) = raid(&type_name.to_string(), *stripe_bytes, members, within);
            (images[usize::try_from(member).unwrap()].to_string(), at)
        }
        other => panic!("{other:?}"),
    }
}

/// The member and its address for byte `within` of a RAID of LVM's type `name`.
fn raid(name: &str, chunk_bytes: u64, members: u64, within: u64) -> (u64, u64) {
    let (rotation, parity) = match name {
        "raid1" => return (0, within),
        "raid0" | "raid0_meta" => {
            let place = Stripe::new(chunk_bytes, members).unwrap().place(within);
            return (place.position, place.member_bytes);
        }
        // Two copies beside each other.
        "raid10" => {
            let place = Stripe::new(chunk_bytes, members.div_euclid(2)).unwrap().place(within);
            return (2 * place.position, place.member_bytes);
        }
        "raid5" | "raid5_ls" => (Rotation::LeftSymmetric, 1),
        "raid5_ra" => (Rotation::RightAsymmetric, 1),
        // "Zero restart": data, P and Q lie as in the right asymmetric layout; Q is computed
        // otherwise.
        "raid6" | "raid6_zr" => (Rotation::RightAsymmetric, 2),
        other => panic!("{other}"),
    };
    let place = Stripe::new(chunk_bytes, members - parity).unwrap().place(within);
    let (_, member) = rotation.members(place.stripe, place.position, members, parity);
    (member, place.member_bytes)
}

/// The thin volume's stamps, by the mapping that `thin_dump` gives.
fn check_thin(run: &Run, stack: &Stack<'_>) {
    let attribute = |line: &str, key: &str| -> u64 {
        let rest = line.split_once(&format!(" {key}=\"")).unwrap().1;
        rest.split_once('"').unwrap().0.parse().unwrap()
    };
    let ranges: Vec<(u64, u64, u64)> = run
        .text("out/lvm/thin.xml")
        .lines()
        .filter(|line| line.contains("<range_mapping"))
        .map(|line| {
            let value = |key| attribute(line, key);
            (value("origin_begin"), value("data_begin"), value("length"))
        })
        .collect();
    let pool = stack.group.logical.iter().find_map(|volume| match &volume.segments[0].kind {
        SegmentKind::ThinPool { data, chunk_bytes, .. } => Some((data.to_string(), *chunk_bytes)),
        _ => None,
    });
    let (data, chunk_bytes) = pool.unwrap();
    run.check_stamps("thin", |offset| {
        let (chunk, within) = (offset.div_euclid(chunk_bytes), offset.rem_euclid(chunk_bytes));
        let holds = |(from, _, length): &&(u64, u64, u64)| (*from..from + length).contains(&chunk);
        let (from, to, _) = ranges.iter().find(holds).unwrap();
        stack.place(&data, (to + chunk - from) * chunk_bytes + within)
    });
}
