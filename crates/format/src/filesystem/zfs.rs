//! ZFS: the four labels of a pool's member.
//!
//! One idea: label 0 and 1 stand at the start, 2 and 3 at the end rounded down to a label's length,
//! and all say the same; what they say apart is evidence. The ashift in them is of the top-level
//! vdev that the member belongs to, and decides the smallest write. Source: "ZFS On-Disk
//! Specification" (2006), chapter 1; `OpenZFS`, `include/sys/vdev_impl.h` and
//! `module/zfs/vdev_label.c`.
//!
//! Not here: the uberblocks and the SHA-256 over the name-value list.

use device::disk;
use units::DiskText;

use super::facts::FileSystem;
use super::field;
use super::found::Found;
use super::nvlist::NameValues;
use crate::heads::Heads;
use crate::{Parsed, Problem, ProblemKind};

/// A label's length, and what the end is rounded down to.
const LABEL_BYTES: u64 = 256 << 10;

/// Place where a label's name-value list starts, after the blank area and the boot header.
const LIST_OFFSET_BYTES: u64 = 16 << 10;

/// The name-value list's room, its checksum included.
const LIST_BYTES: u64 = 112 << 10;

/// Place where the space that is allocated starts: two labels and the boot area.
const DATA_OFFSET_BYTES: u64 = 4 << 20;

/// The smallest member: `SPA_MINDEVSIZE`.
const MEMBER_MIN_BYTES: u64 = 64 << 20;

/// Facts of one label.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ZfsLabel {
    guid: u64,
    pool_guid: Option<u64>,
    name: Option<DiskText>,
    ashift: Option<u64>,
    details: Vec<(&'static str, String)>,
}

/// The ZFS member on the volume: `zfs_member`, with the pool's name as label and its GUID as id.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    let length = heads.length_bytes();
    if length < MEMBER_MIN_BYTES {
        return None;
    }
    let end = length - length % LABEL_BYTES;
    let places = [0, LABEL_BYTES, end - 2 * LABEL_BYTES, end - LABEL_BYTES];
    let labels = places.map(|at_bytes| (at_bytes, label(heads, at_bytes)));
    // The labels at the end may be those of a partition that reaches the end of this disk.
    let at_start = labels[..2].iter().any(|(_, label)| label.is_some());
    if !at_start && heads.has(510, &[0x55, 0xaa]) {
        return None;
    }
    let first = labels.iter().find_map(|(_, label)| label.clone())?;
    let problems = differences(&first, &labels);
    let mut parsed = system(first);
    parsed.problems.extend(problems);
    Some(parsed)
}

/// The label at `at_bytes`; `None` when there is none: no list, or one without the version and the
/// GUID that every label has, those of spares and caches too.
fn label(heads: &Heads<'_>, at_bytes: u64) -> Option<ZfsLabel> {
    let list_at = at_bytes + LIST_OFFSET_BYTES;
    let head = heads.block::<12>(list_at)?;
    NameValues::packed(&head.0)?;
    let bytes = disk::read_vec(heads.disk(), list_at, LIST_BYTES).ok()?;
    let list = NameValues::packed(&bytes)?;
    let version = list.number("version").filter(|version| matches!(version, 1..=28 | 5000))?;
    let guid = list.number("guid")?;
    let tree = list.list("vdev_tree");
    let mut details = vec![("version", version.to_string()), ("vdev guid", guid.to_string())];
    if let Some(kind) = tree.and_then(|tree| tree.text("type")) {
        details.push(("vdev type", DiskText::from_padded(kind).to_string()));
    }
    if let Some(children) = tree.and_then(|tree| tree.count("children")) {
        details.push(("vdev children", children.to_string()));
    }
    if let Some(parity) = tree.and_then(|tree| tree.number("nparity")) {
        details.push(("parity disks", parity.to_string()));
    }
    if let Some(state) = list.number("state") {
        details.push(("pool state", state_name(state)));
    }
    Some(ZfsLabel {
        guid,
        pool_guid: list.number("pool_guid"),
        name: list.text("name").map(DiskText::from_padded),
        ashift: tree.and_then(|tree| tree.number("ashift")),
        details,
    })
}

/// The term for a pool's state in a label. Source: `pool_state_t` in `include/sys/fs/zfs.h`.
fn state_name(state: u64) -> String {
    let names = ["active", "exported", "destroyed", "spare", "cache"];
    let name = usize::try_from(state).ok().and_then(|state| names.get(state));
    name.map_or_else(|| state.to_string(), |name| (*name).to_owned())
}

/// Returns what `label` says as a file system, with an ashift that ZFS does not allow as a problem.
fn system(label: ZfsLabel) -> Found {
    let mut problems = Vec::new();
    let block_bytes = label.ashift.and_then(|ashift| field::power(ashift, 512..=65536));
    if let (Some(ashift), None) = (label.ashift, block_bytes) {
        let detail = format!("ashift is {ashift}, not between 9 and 16");
        problems.push(Problem::new(ProblemKind::Field, LIST_OFFSET_BYTES, detail));
    }
    let mut details = label.details;
    if let Some(ashift) = label.ashift {
        details.insert(0, ("ashift", ashift.to_string()));
    }
    let value = FileSystem {
        label: label.name,
        id: label.pool_guid.map(|guid| guid.to_string()),
        block_bytes,
        sector_bytes: block_bytes,
        data_offset_bytes: DATA_OFFSET_BYTES,
        details,
        ..FileSystem::named("zfs_member")
    };
    Parsed { value, problems }
}

/// Every label that is missing or that names another pool, vdev or ashift than `first`.
fn differences(first: &ZfsLabel, labels: &[(u64, Option<ZfsLabel>)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, (at_bytes, label)) in labels.iter().enumerate() {
        let list_at = at_bytes + LIST_OFFSET_BYTES;
        let Some(label) = label else {
            let detail = format!("label {number} of 4 is missing");
            problems.push(Problem::new(ProblemKind::Copies, list_at, detail));
            continue;
        };
        let fields = [
            ("pool_guid", first.pool_guid, label.pool_guid),
            ("guid", Some(first.guid), Some(label.guid)),
            ("ashift", first.ashift, label.ashift),
        ];
        for (name, expected, found) in fields {
            if found != expected {
                let [found, expected] = [found, expected].map(shown);
                let detail = format!("label {number} has {name} {found}, another has {expected}");
                problems.push(Problem::new(ProblemKind::Copies, list_at, detail));
            }
        }
    }
    problems
}

fn shown(value: Option<u64>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::super::nvlist::encode::{nested, number, packed, text};
    use super::*;

    const LENGTH: u64 = (100 << 20) + 512;

    fn label_bytes(ashift: u64) -> Vec<u8> {
        packed(&[
            number("version", 5000),
            text("name", "tank"),
            number("state", 0),
            number("txg", 4),
            number("pool_guid", 77),
            number("guid", 78),
            nested("vdev_tree", &[text("type", "mirror"), number("ashift", ashift)]),
        ])
    }

    fn member(ashifts: [Option<u64>; 4]) -> MemoryDisk {
        let mut disk = MemoryDisk::new(LENGTH);
        for (at, ashift) in [0, 256 << 10, (100 << 20) - (512 << 10), (100 << 20) - (256 << 10)]
            .into_iter()
            .zip(ashifts)
        {
            if let Some(ashift) = ashift {
                disk.put(at + (16 << 10), &label_bytes(ashift));
            }
        }
        disk
    }

    fn found(disk: &MemoryDisk) -> Option<Found> {
        read(&Heads::new(disk))
    }

    // No tool that makes pools is at hand, so these labels are encoded by the tests.
    #[test]
    fn four_equal_labels_give_the_pool_its_ashift_and_no_problem() {
        let parsed = found(&member([Some(12); 4])).unwrap();
        assert_eq!(parsed.problems, []);
        let system = parsed.value;
        assert_eq!((system.kind, system.block_bytes), ("zfs_member", Some(4096)));
        assert_eq!(system.sector_bytes, Some(4096));
        assert_eq!(system.data_offset_bytes, 4 << 20);
        assert_eq!(system.label, Some("tank".into()));
        assert_eq!(system.id.as_deref(), Some("77"));
        assert!(system.details.contains(&("vdev type", "mirror".to_owned())));
    }

    #[test]
    fn a_missing_label_and_another_ashift_are_problems() {
        let parsed = found(&member([None, Some(12), Some(12), Some(9)])).unwrap();
        let details: Vec<_> = parsed.problems.iter().map(|problem| &problem.detail[..]).collect();
        assert_eq!(details, ["label 0 of 4 is missing", "label 3 has ashift 9, another has 12"]);
    }

    #[test]
    fn labels_at_the_end_behind_a_partition_table_are_the_partitions() {
        let mut disk = member([None, None, Some(12), Some(12)]);
        assert_eq!(found(&disk).unwrap().problems.len(), 2);
        disk.put(510, &[0x55, 0xaa]);
        assert!(found(&disk).is_none());
    }

    #[test]
    fn an_ashift_out_of_range_leaves_the_block_size_unknown() {
        for ashift in [0, 8, 17, 64, u64::MAX] {
            let parsed = found(&member([Some(ashift); 4])).unwrap();
            assert_eq!(parsed.value.block_bytes, None);
            assert_eq!(parsed.problems[0].kind, ProblemKind::Field);
        }
    }

    #[test]
    fn every_changed_or_cut_byte_of_a_label_is_answered() {
        let good = label_bytes(12);
        for at in 0..good.len() {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = good.clone();
                bytes[at] = value;
                let mut disk = MemoryDisk::new(LENGTH);
                disk.put(16 << 10, &bytes);
                let _ = found(&disk);
            }
            let mut disk = MemoryDisk::new(LENGTH);
            disk.put(16 << 10, &good[..at]);
            let _ = found(&disk);
        }
        assert!(found(&MemoryDisk::new(100)).is_none());
    }
}
