//! A real physical volume cut short, with bytes changed, and with its text rearranged: there is
//! always an answer, few problems are told, and the group can be walked to its end.

use std::collections::BTreeMap;

use device::{Disk, MemoryDisk, Window, disk};
use format::Parsed;
use format::member::lvm::{self, PhysicalVolume, SegmentKind, VolumeGroup};
use units::{ByteRange, DiskText};

use super::run::Run;

const LABEL_AT: u64 = 512;
const AREA_AT: u64 = 4096;
/// Place where the area's header says where the text is, and how long.
const TEXT_AT: u64 = AREA_AT + 0x28;
/// Two areas can each tell so many, and the label a few.
const PROBLEMS_MAX: usize = 200;
const DEPTH_MAX: usize = 32;

/// The disk, where its text is, and the text.
fn sample() -> (MemoryDisk, u64, Vec<u8>) {
    let disk = Run::sample().disks.remove("pv0").unwrap();
    let [at, length] =
        [TEXT_AT, TEXT_AT + 8].map(|at| u64::from_le_bytes(disk.read_array(at).unwrap()));
    let text = disk::read_vec(&disk, AREA_AT + at, length).unwrap();
    (disk, AREA_AT + at, text)
}

fn read(disk: &dyn Disk) -> Option<Parsed<PhysicalVolume>> {
    let found = lvm::read(disk)?;
    assert!(found.problems.len() <= PROBLEMS_MAX);
    for problem in &found.problems {
        let shown = &problem.detail;
        assert!(!shown.contains(|character: char| character.is_control()), "{shown:?}");
    }
    if let Some(group) = &found.value.group {
        assert!(group.extent_bytes > 0);
        walk(group);
    }
    Some(found)
}

/// Follows every name down to physical volumes; fails when that takes more steps than there are
/// names.
fn walk(group: &VolumeGroup) {
    let volumes: BTreeMap<&DiskText, _> =
        group.logical.iter().map(|volume| (&volume.name, volume)).collect();
    for volume in &group.logical {
        let mut ahead = vec![(&volume.name, 1)];
        let mut steps = 0;
        while let Some((name, depth)) = ahead.pop() {
            steps += 1;
            assert!(depth <= DEPTH_MAX && steps <= 100_000, "{name} is {depth} deep");
            let Some(volume) = volumes.get(name) else { continue };
            for segment in &volume.segments {
                ahead.extend(below(&segment.kind).into_iter().map(|name| (name, depth + 1)));
            }
        }
        for segment in &volume.segments {
            for name in below(&segment.kind) {
                let known = group.physical.iter().any(|member| member.name == *name);
                assert!(known || volumes.contains_key(name), "{name} is not there");
            }
        }
    }
}

fn below(kind: &SegmentKind) -> Vec<&DiskText> {
    match kind {
        SegmentKind::Striped { areas, .. } | SegmentKind::Mirror { areas } => {
            areas.iter().map(|area| &area.on).collect()
        }
        SegmentKind::Raid { images, metadata, .. } => images.iter().chain(metadata).collect(),
        SegmentKind::Thin { pool } => vec![pool],
        SegmentKind::ThinPool { metadata, data, .. } => vec![metadata, data],
        SegmentKind::Other { .. } => Vec::new(),
    }
}

#[test]
fn a_volume_cut_at_any_length_is_answered() {
    let (disk, text_at, text) = sample();
    let text_end = text_at + u64::try_from(text.len()).unwrap();
    let ends = (0..6000).chain((6000..text_end + 2000).step_by(499)).chain([text_end]);
    for length_bytes in ends {
        let cut = Window::new(&disk, ByteRange::new(0, length_bytes).unwrap());
        let found = read(&cut);
        assert_eq!(found.is_some(), length_bytes >= LABEL_AT + 512, "cut at {length_bytes}");
        if let Some(found) = found {
            assert!(!found.problems.is_empty(), "cut at {length_bytes}");
            assert_eq!(found.value.group.is_some(), length_bytes >= text_end);
        }
    }
}

#[test]
fn any_changed_byte_of_label_and_area_header_is_told_or_harmless() {
    let (disk, ..) = sample();
    let before = read(&disk).unwrap();
    for at_bytes in (LABEL_AT..LABEL_AT + 512).chain(AREA_AT..AREA_AT + 512) {
        let [byte] = disk.read_array(at_bytes).unwrap();
        for value in [0, 0xff, byte ^ 1, byte ^ 0x80] {
            if value == byte {
                continue;
            }
            let mut changed = disk.clone();
            changed.put(at_bytes, &[value]);
            // A change of the label's type makes it no label at all.
            let is_type = (LABEL_AT + 0x18..LABEL_AT + 0x20).contains(&at_bytes);
            let found = read(&changed);
            assert_eq!(found.is_none(), is_type, "{value:#x} at {at_bytes}");
            let Some(found) = found else { continue };
            assert!(!found.problems.is_empty(), "{value:#x} at {at_bytes}");
            // What is given in spite of it is the truth.
            let group = found.value.group;
            assert!(group.is_none() || group == before.value.group, "{value:#x} at {at_bytes}");
        }
    }
}

#[test]
fn any_changed_byte_of_the_text_is_told() {
    let (disk, text_at, text) = sample();
    let mut random = testkit::random(0x7e87);
    for _ in 0..1500 {
        let at = random.below(u64::try_from(text.len()).unwrap());
        let byte = text[usize::try_from(at).unwrap()];
        let value = *random.choose(&[0, 0xff, byte ^ 1, byte ^ 0x80, b'"', b'{', b'}', b'9', b'#']);
        if value == byte {
            continue;
        }
        let mut changed = disk.clone();
        changed.put(text_at + at, &[value]);
        let found = read(&changed).unwrap();
        assert!(!found.problems.is_empty(), "{value:#x} at {at} of the text");
    }
}

#[test]
fn a_text_with_its_lines_rearranged_is_answered() {
    let (disk, text_at, text) = sample();
    let mut random = testkit::random(0x11e5);
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let count = u64::try_from(lines.len()).unwrap();
    let mut groups = 0;
    for _ in 0..600 {
        let mut lines = lines.clone();
        for _ in 0..=random.below(3) {
            let pick = |below: u64| usize::try_from(below).unwrap();
            let (one, two) = (pick(random.below(count)), pick(random.below(count)));
            match random.below(3) {
                0 => lines.swap(one, two),
                1 => lines[one] = lines[two],
                _ => lines[one] = b"\n",
            }
        }
        let mut changed = lines.concat();
        changed.resize(text.len(), 0);
        let mut disk = disk.clone();
        disk.put(text_at, &changed);
        groups += u64::from(read(&disk).unwrap().value.group.is_some());
    }
    // Some rearrangements are still a text; a test without those would say little.
    assert!(groups > 30, "{groups}");
}
