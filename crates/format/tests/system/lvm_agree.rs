//! Our reading of physical volumes against lvm2's own, over many geometries.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use device::disk;
use format::Parsed;
use format::member::lvm::{self, PhysicalVolume, Segment, SegmentKind, VolumeGroup};
use serde_json::Value;
use testkit::{FileDisk, Lvm};
use units::random::Random;

/// The rows of a report.
fn report(lvm: &Lvm, command: &str, fields: &str) -> Vec<Value> {
    let arguments = [command, "-o", fields, "--reportformat", "json", "--units", "b", "--nosuffix"];
    let report: Value = serde_json::from_str(&lvm.run(&arguments)).unwrap();
    let rows = &report["report"][0][command.trim_end_matches('s')];
    rows.as_array().unwrap().clone()
}

fn read(lvm: &Lvm, number: usize) -> Parsed<PhysicalVolume> {
    lvm::read(&FileDisk::open(&lvm.images()[number])).expect("a label")
}

fn text<'v>(row: &'v Value, field: &str) -> &'v str {
    row[field].as_str().unwrap_or_else(|| panic!("{field} in {row}"))
}

fn number(row: &Value, field: &str) -> u64 {
    text(row, field).parse().unwrap_or_else(|_| panic!("{field} in {row}"))
}

fn undashed(id: &str) -> String {
    id.replace('-', "")
}

/// Compares every physical volume's header and text with the tool's reports.
fn check(lvm: &Lvm) {
    let fields = "pv_name,pv_uuid,pe_start,dev_size,pv_pe_count,vg_name,vg_uuid,vg_seqno,\
                  vg_extent_size,pv_mda_count";
    let rows = report(lvm, "pvs", fields);
    let segments = report(lvm, "lvs", "lv_name,lv_uuid,seg_all");
    assert_eq!(rows.len(), lvm.images().len());
    for number_of_disk in 0..lvm.images().len() {
        let Parsed { value, problems } = read(lvm, number_of_disk);
        assert_eq!(problems, [], "disk {number_of_disk}");
        let name = lvm.device(number_of_disk);
        let row = rows.iter().find(|row| text(row, "pv_name") == name).unwrap();
        assert_eq!(value.id, undashed(text(row, "pv_uuid")));
        assert_eq!(value.device_bytes, number(row, "dev_size"));
        assert_eq!(value.data_offset_bytes, Some(number(row, "pe_start")));
        assert_eq!(value.used, Some(!text(row, "vg_name").is_empty()));
        let has_text = value.used == Some(true) && number(row, "pv_mda_count") > 0;
        assert_eq!(value.group.is_some(), has_text);
        if let Some(group) = value.group {
            check_group(&group, row, &rows);
            check_segments(&group, &rows, &segments);
        }
    }
}

fn check_group(group: &VolumeGroup, row: &Value, rows: &[Value]) {
    assert_eq!(group.name.to_string(), text(row, "vg_name"));
    assert_eq!(group.id, undashed(text(row, "vg_uuid")));
    assert_eq!(group.sequence, number(row, "vg_seqno"));
    assert_eq!(group.extent_bytes, number(row, "vg_extent_size"));
    let ours: BTreeSet<_> = group
        .physical
        .iter()
        .map(|member| (member.id.clone(), member.data_offset_bytes, member.extents))
        .collect();
    let theirs: BTreeSet<_> = rows
        .iter()
        .filter(|other| text(other, "vg_name") == text(row, "vg_name"))
        .map(|row| (undashed(text(row, "pv_uuid")), number(row, "pe_start"), count(row)))
        .collect();
    assert_eq!(ours, theirs);
}

fn count(row: &Value) -> u64 {
    number(row, "pv_pe_count")
}

/// Compares the segments: start and length in extents, chunk, and the areas in their order.
fn check_segments(group: &VolumeGroup, rows: &[Value], segments: &[Value]) {
    let devices: BTreeMap<String, &str> =
        rows.iter().map(|row| (undashed(text(row, "pv_uuid")), text(row, "pv_name"))).collect();
    let name = |id: &str| devices[id];
    let named: BTreeMap<String, &str> =
        group.physical.iter().map(|member| (member.name.to_string(), name(&member.id))).collect();
    let mut ours = BTreeMap::new();
    for volume in &group.logical {
        for segment in &volume.segments {
            let key = (volume.name.to_string(), segment.start_extent);
            ours.insert(key, (volume.id.clone(), described(segment, &named)));
        }
    }
    let theirs: BTreeMap<_, _> = segments
        .iter()
        .map(|row| {
            let key = (text(row, "lv_name").to_owned(), number(row, "seg_start_pe"));
            let shape = [number(row, "seg_size_pe"), number(row, "stripe_size")];
            (key, (undashed(text(row, "lv_uuid")), (shape, text(row, "devices").to_owned())))
        })
        .collect();
    assert_eq!(ours, theirs);
}

/// Extents and chunk, and the areas as the tool writes them.
fn described(segment: &Segment, names: &BTreeMap<String, &str>) -> ([u64; 2], String) {
    let SegmentKind::Striped { stripe_bytes, areas } = &segment.kind else {
        panic!("{segment:?}");
    };
    let areas: Vec<String> = areas
        .iter()
        .map(|area| format!("{}({})", names[&area.on.to_string()], area.extent))
        .collect();
    ([segment.extents, *stripe_bytes], areas.join(","))
}

/// Makes physical volumes of random alignment, a group of some or all, and volumes of random shape.
fn make(random: &mut Random) -> Lvm {
    let disks = 1 + random.below(4);
    let sizes: Vec<u64> = (0..disks).map(|_| (48 << 20) + random.below(64 << 11) * 512).collect();
    let lvm = Lvm::on(&sizes);
    for disk in 0..sizes.len() {
        let alignment = *random.choose(&["64k", "192k", "1m", "4m", "96k"]);
        let shift = *random.choose(&["0", "7s", "63s", "1s", "8s"]);
        let copies = if disk == 0 { "1" } else { *random.choose(&["0", "1", "2"]) };
        let room = *random.choose(&["64k", "1m", "200k"]);
        lvm.run(&[
            "pvcreate",
            "--dataalignment",
            alignment,
            "--dataalignmentoffset",
            shift,
            "--pvmetadatacopies",
            copies,
            "--metadatasize",
            room,
            lvm.device(disk),
        ]);
    }
    let used = sizes.len() - usize::try_from(random.below(2).min(disks - 1)).unwrap();
    let extent = *random.choose(&["64k", "128k", "384k", "1m", "4m"]);
    let devices: Vec<&str> = (0..used).map(|disk| lvm.device(disk)).collect();
    lvm.run(&[&["vgcreate", "-s", extent, "vg"], devices.as_slice()].concat());
    change(&lvm, random, used);
    lvm
}

/// Some volumes made, extended and removed; what does not fit is refused, and that is fine.
fn change(lvm: &Lvm, random: &mut Random, disks: usize) {
    for step in 0..8 {
        let size = (1 + random.below(24)).to_string();
        let stripes = (1 + random.below(u64::try_from(disks).unwrap())).to_string();
        let chunk = *random.choose(&["4k", "16k", "64k"]);
        let volume = format!("lv{}", random.below(4));
        let path = format!("vg/{volume}");
        let stripe = ["-i", &stripes, "-I", chunk];
        let stripe = if stripes == "1" { &[][..] } else { &stripe[..] };
        let _ = match random.below(5) {
            0 if step > 3 => lvm.attempt(&["lvremove", "-y", &path]),
            1 | 2 => {
                lvm.attempt(&[&["lvextend", "-l", &format!("+{size}"), &path], stripe].concat())
            }
            _ => {
                let made =
                    ["lvcreate", "-y", "-an", "-Zn", "-Wn", "-l", &size, "-n", &volume, "vg"];
                lvm.attempt(&[&made, stripe].concat())
            }
        };
    }
}

#[test]
fn headers_groups_and_segments_agree_with_lvm() {
    testkit::need_tools!("lvm", "losetup");
    testkit::need_loops!();
    let mut random = testkit::random(0x1f);
    let mut shapes = BTreeSet::new();
    for _ in 0..10 {
        let lvm = make(&mut random);
        check(&lvm);
        let group = read(&lvm, 0).value.group.unwrap();
        for volume in &group.logical {
            shapes.insert(format!("{} segments", volume.segments.len().min(3)));
            shapes.extend(volume.segments.iter().map(|segment| match &segment.kind {
                SegmentKind::Striped { areas, .. } => format!("{} areas", areas.len()),
                other => format!("{other:?}"),
            }));
        }
    }
    // The geometries are worth nothing when they are all alike.
    assert!(shapes.len() >= 4, "{shapes:?}");
}

#[test]
fn a_text_that_has_gone_round_its_ring_agrees_with_lvm() {
    testkit::need_tools!("lvm", "losetup");
    testkit::need_loops!();
    let lvm = Lvm::on(&[64 << 20]);
    lvm.run(&["pvcreate", "--dataalignment", "64k", "--metadatasize", "64k", lvm.device(0)]);
    lvm.run(&["vgcreate", "-s", "64k", "vg", lvm.device(0)]);
    let tags: Vec<String> = (0..40).map(|n| format!("{n}{}", "t".repeat(200))).collect();
    lvm.run(&["lvcreate", "-y", "-an", "-Zn", "-Wn", "-l", "3", "-n", "a", "vg"]);
    // Each change writes a text of some kilobytes behind the last.
    let mut wraps = 0;
    for tag in &tags {
        lvm.run(&["vgchange", "--addtag", tag, "vg"]);
        check(&lvm);
        wraps += u64::from(text_wraps(&lvm.images()[0]));
    }
    assert!(wraps > 0, "no text went over the ring's end");
}

/// Returns whether the text of the area at 4096 goes on behind the area's header.
fn text_wraps(image: &Path) -> bool {
    let header: [u8; 512] = disk::read_array(&FileDisk::open(image), 4096).unwrap();
    let word = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().unwrap());
    word(0x28) + word(0x30) > word(0x20)
}

#[test]
fn a_newly_made_physical_volume_is_an_orphan() {
    testkit::need_tools!("lvm", "losetup");
    testkit::need_loops!();
    let lvm = Lvm::on(&[32 << 20]);
    lvm.run(&["pvcreate", "--labelsector", "3", "--dataalignment", "1m", lvm.device(0)]);
    check(&lvm);
    assert_eq!(read(&lvm, 0).value.group, None);
}
