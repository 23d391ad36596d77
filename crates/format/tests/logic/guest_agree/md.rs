//! md superblocks against the kernel's own facts and mdadm's, and every mapping against the stamps.

use std::collections::{BTreeMap, BTreeSet};

use format::Parsed;
use format::member::md::{self, MdMember, MdVersion};
use units::stripe::{Rotation, Stripe};

use super::run::Run;

/// Lines `key SEPARATOR value`.
type Facts<'r> = BTreeMap<&'r str, &'r str>;

/// Returns whether there is a reader of md superblocks at all: goes away together with its stub.
pub(crate) fn is_read(run: &Run) -> bool {
    run.disks.values().any(|disk| md::read(disk).is_some())
}

pub(crate) fn check(run: &Run) {
    let arrays: BTreeSet<&str> = run
        .texts
        .keys()
        .filter_map(|path| path.strip_prefix("out/md/")?.strip_suffix("/members"))
        .collect();
    assert!(arrays.len() >= 13, "{arrays:?}");
    for array in arrays {
        check_array(run, array);
    }
}

fn check_array(run: &Run, array: &str) {
    let kernel = facts(run.text(&format!("out/md/{array}/sysfs.txt")), "=");
    let mut members = BTreeMap::new();
    for disk in run.text(&format!("out/md/{array}/members")).lines() {
        let Parsed { value, problems } = md::read(&run.disks[disk])
            .unwrap_or_else(|| panic!("{array}: no superblock on {disk}"));
        assert_eq!(problems, [], "{array}: {disk}");
        let text = |kind: &str| run.text(&format!("out/md/{array}/{disk}.{kind}"));
        let (examined, exported) = (facts(text("examine"), " : "), facts(text("export"), "="));
        let what = format!("{array}: {disk}");
        check_identity(&value, &examined, &exported, &what);
        check_geometry(&value, &kernel, disk, &what);
        if let Some(role) = value.role {
            members.insert(role, (disk.to_owned(), value));
        }
    }
    let first = members[&0].1.clone();
    assert_eq!(members.len(), usize::try_from(first.raid_disks).unwrap(), "{array}");
    run.check_stamps(array, |offset| {
        let (role, address) = place(&first, offset);
        let (disk, member) = &members[&u32::try_from(role).unwrap()];
        (disk.clone(), member.data_offset_bytes + address)
    });
}

fn facts<'r>(text: &'r str, separator: &str) -> Facts<'r> {
    let pairs = text.lines().filter_map(|line| line.split_once(separator));
    pairs.map(|(key, value)| (key.trim(), value.trim())).collect()
}

/// Compares what mdadm says of the superblock.
fn check_identity(member: &MdMember, examined: &Facts<'_>, exported: &Facts<'_>, what: &str) {
    assert_eq!(member.array_id, exported["MD_UUID"].replace(':', ""), "{what}");
    // mdadm counts the upper half of 0.90's events in its own way; these are small.
    assert_eq!(member.events.to_string(), exported["MD_EVENTS"], "{what}");
    let name = member.name.as_ref().map(ToString::to_string);
    assert_eq!(name.as_deref(), exported.get("MD_NAME").copied(), "{what}");
    assert_eq!(format!("raid{}", member.level), exported["MD_LEVEL"], "{what}");
    assert_eq!(member.raid_disks.to_string(), exported["MD_DEVICES"], "{what}");
    if let Some(offset) = examined.get("Super Offset") {
        let sectors: u64 = offset.split_whitespace().next().unwrap().parse().unwrap();
        assert_eq!(member.superblock_at_bytes, sectors * 512, "{what}");
    }
}

/// Compares what the kernel said of the running array.
fn check_geometry(member: &MdMember, kernel: &Facts<'_>, disk: &str, what: &str) {
    let version = match member.version {
        MdVersion::V090 => "0.90",
        MdVersion::V10 => "1.0",
        MdVersion::V11 => "1.1",
        MdVersion::V12 => "1.2",
        other => panic!("{what}: a superblock is never {other:?}"),
    };
    assert_eq!(version, kernel["metadata_version"], "{what}");
    assert_eq!(format!("raid{}", member.level), kernel["level"], "{what}");
    assert_eq!(member.raid_disks.to_string(), kernel["raid_disks"], "{what}");
    assert_eq!(member.chunk_bytes.to_string(), kernel["chunk_size"], "{what}");
    if matches!(member.level, 5 | 6 | 10) {
        assert_eq!(member.layout.to_string(), kernel["layout"], "{what}");
    }
    let role = member.role.map_or_else(|| "none".to_owned(), |role| role.to_string());
    assert_eq!(role, kernel[&*format!("{disk}.slot")], "{what}");
    let number = |key: &str| kernel[&*format!("{disk}.{key}")].parse::<u64>().unwrap();
    assert_eq!(member.data_offset_bytes, number("offset") * 512, "{what}");
    // RAID 0 uses whole chunks of what there is on each member; others the same of each.
    let used_bytes = if member.level == 0 {
        let size_bytes = number("size") * 1024;
        size_bytes - size_bytes.rem_euclid(member.chunk_bytes)
    } else {
        kernel["component_size"].parse::<u64>().unwrap() * 1024
    };
    assert_eq!(member.data_bytes, used_bytes, "{what}");
}

/// The role and its address for byte `offset` of the array; of several copies the first.
fn place(member: &MdMember, offset: u64) -> (u64, u64) {
    let disks = u64::from(member.raid_disks);
    let striped = |data| Stripe::new(member.chunk_bytes, data).unwrap().place(offset);
    let (rotation, parity) = match member.level {
        1 => return (0, offset),
        0 => {
            let place = striped(disks);
            return (place.position, place.member_bytes);
        }
        10 => {
            let (near, far) = (member.layout & 0xff, member.layout >> 8 & 0xff);
            let place = striped(disks.div_euclid(u64::from(near)));
            // Copies at an offset follow each stripe at once, so stripes are that many times as far
            // apart.
            let is_offset = member.layout >> 16 & 1 == 1;
            let apart = if is_offset { u64::from(far) } else { 1 };
            let within = place.member_bytes - place.stripe * member.chunk_bytes;
            let address = place.stripe * apart * member.chunk_bytes + within;
            return (place.position * u64::from(near), address);
        }
        4 => (Rotation::Last, 1),
        5 => (Rotation::of_raid5(member.layout).unwrap(), 1),
        6 => (Rotation::of_raid5(member.layout).unwrap(), 2),
        other => panic!("level {other}"),
    };
    let place = striped(disks - parity);
    let (_, role) = rotation.members(place.stripe, place.position, disks, parity);
    (role, place.member_bytes)
}
