//! Claims about whole physical volumes, made by hand.

use device::MemoryDisk;

use super::sample::{DISK_BYTES, ID, SampleOptions, text, volume};
use super::{LogicalVolume, PhysicalVolume, SegmentKind, read};
use crate::{Parsed, Problem, ProblemKind};

const LINEAR: &str = "type = \"striped\" stripe_count = 1 stripes = [\"pv0\", 0]";

/// Returns what is read from the sample with `volumes`.
fn parsed(volumes: &str) -> Parsed<PhysicalVolume> {
    read(&SampleOptions::of(&text(7, volumes)).disk()).expect("it has a label")
}

/// The only segment of the only volume, which is sound.
fn sound(inner: &str) -> SegmentKind {
    let others = ["a_rmeta_0", "a_rimage_0", "a_rmeta_1", "a_rimage_1"];
    let others: String = others.iter().map(|name| volume(name, 1, &["type = \"error\""])).collect();
    let found = parsed(&(volume("lv", 4, &[inner]) + &others));
    assert_eq!(found.problems, [], "{inner}");
    found.value.group.unwrap().logical.swap_remove(0).segments.swap_remove(0).kind
}

/// The problems of a sample with `volumes`, and its volumes.
fn broken(volumes: &str) -> (Vec<ProblemKind>, Vec<LogicalVolume>) {
    let found = parsed(volumes);
    (kinds(&found.problems), found.value.group.expect("a group").logical)
}

fn kinds(problems: &[Problem]) -> Vec<ProblemKind> {
    problems.iter().map(|problem| problem.kind).collect()
}

#[test]
fn label_header_and_group_are_read() {
    let found = parsed(&volume("lv", 4, &[LINEAR]));
    assert_eq!(found.problems, []);
    let volume = found.value;
    assert_eq!((volume.id.as_str(), volume.device_bytes), (ID, DISK_BYTES));
    assert_eq!((volume.data_offset_bytes, volume.used), (Some(1 << 20), Some(true)));
    let group = volume.group.unwrap();
    assert_eq!((group.sequence, group.extent_bytes), (7, 4 << 20));
    assert_eq!(group.name.to_string(), "vg");
    let member = &group.physical[1];
    assert_eq!((member.data_offset_bytes, member.extents, member.missing), (1 << 20, 15, false));
    assert!(group.logical[0].visible);
}

#[test]
fn each_kind_of_segment_says_what_it_lies_on() {
    let SegmentKind::Striped { stripe_bytes: 0, areas } = sound(LINEAR) else { panic!() };
    assert_eq!((areas[0].on.to_string().as_str(), areas[0].extent), ("pv0", 0));
    let two = "type = \"striped\" stripe_count = 2 stripe_size = 128
        stripes = [\"pv0\", 3, \"pv1\", 5]";
    let SegmentKind::Striped { stripe_bytes: 65536, areas } = sound(two) else { panic!() };
    assert_eq!((areas.len(), areas[1].extent), (2, 5));
    let mirror = "type = \"mirror\" mirror_count = 2 mirrors = [\"pv0\", 0, \"pv1\", 0]";
    assert!(matches!(sound(mirror), SegmentKind::Mirror { areas } if areas.len() == 2));
    let raid = "type = \"raid5_ls\" device_count = 2 stripe_size = 128
        raids = [\"a_rmeta_0\", \"a_rimage_0\", \"a_rmeta_1\", \"a_rimage_1\"]";
    let SegmentKind::Raid { type_name, stripe_bytes: 65536, images, metadata } = sound(raid) else {
        panic!()
    };
    assert_eq!(type_name.to_string(), "raid5_ls");
    assert_eq!((images.len(), metadata.len()), (2, 2));
    let raid0 = "type = \"raid0\" stripe_count = 2 stripe_size = 8
        raid0_lvs = [\"a_rimage_0\", \"a_rimage_1\"]";
    assert!(matches!(sound(raid0),
        SegmentKind::Raid { stripe_bytes: 4096, metadata, .. } if metadata.is_empty()));
    let thin = "type = \"thin\" thin_pool = \"a_rimage_0\" device_id = 1";
    assert!(matches!(sound(thin), SegmentKind::Thin { .. }));
    let pool = "type = \"thin-pool+CROP_METADATA\" metadata = \"a_rimage_0\" pool = \"a_rimage_1\"
        chunk_size = 128 message1 { create = \"x\" }";
    assert!(matches!(sound(pool), SegmentKind::ThinPool { chunk_bytes: 65536, .. }));
    assert!(matches!(sound("type = \"cache\" origin = \"x\""), SegmentKind::Other { .. }));
}

#[test]
fn a_segment_that_contradicts_itself_is_of_unknown_kind() {
    let pairs = "stripes = [\"pv0\", 0, \"pv1\", 0]";
    let images = "raids = [\"a_rimage_0\", \"a_rimage_1\"]";
    for inner in [
        format!("type = \"striped\" stripe_count = 3 stripe_size = 8 {pairs}"),
        format!("type = \"striped\" stripe_count = 2 {pairs}"),
        format!("type = \"striped\" stripe_count = 2 stripe_size = 0 {pairs}"),
        "type = \"striped\" stripe_count = 0 stripes = []".to_owned(),
        "type = \"striped\" stripe_count = 1 stripes = [0, \"pv0\"]".to_owned(),
        "type = \"striped\" stripe_count = 1 stripes = [\"pv0\"]".to_owned(),
        "type = \"striped\" stripe_count = 1 stripes = [\"pv9\", 0]".to_owned(),
        "type = \"striped\" stripe_count = 1 stripes = [\"pv0\", 13]".to_owned(),
        "type = \"striped\" stripe_count = 1 stripes = [\"pv0\", 4294967296]".to_owned(),
        format!("type = \"raid5\" device_count = 3 stripe_size = 8 {images}"),
        format!("type = \"raid1\" device_count = 2 stripe_count = 2 {images}"),
        format!("type = \"raid10\" device_count = 2 stripe_size = 8 data_copies = 3 {images}"),
        format!("type = \"raid1+RESHAPE\" device_count = 2 {images}"),
        format!("type = \"raid1\" reshape_count = 1 device_count = 2 {images}"),
        "type = \"striped+NEWS\" stripe_count = 1 stripes = [\"pv0\", 0]".to_owned(),
        "type = \"thin-pool\" metadata = \"x\" pool = \"y\" chunk_size = 100".to_owned(),
        "type = \"thin\" thin_pool = \"pv0\"".to_owned(),
    ] {
        let (problems, volumes) = broken(&volume("lv", 4, &[&inner]));
        assert_eq!(problems.len(), 1, "{inner}: {problems:?}");
        let kind = &volumes[0].segments[0].kind;
        assert!(matches!(kind, SegmentKind::Other { .. }), "{inner}: {kind:?}");
    }
}

#[test]
fn gaps_overlaps_and_double_claims_are_told() {
    let far = "type = \"striped\" stripe_count = 1 stripes = [\"pv0\", 9]";
    let segments = volume("lv", 4, &[LINEAR, far]);
    assert_eq!(
        broken(&segments.replace("start_extent = 4", "start_extent = 6")).0,
        [ProblemKind::Field]
    );
    assert_eq!(
        broken(&segments.replace("start_extent = 4", "start_extent = 2")).0,
        [ProblemKind::Overlap]
    );
    assert_eq!(broken(&volume("lv", 4, &[LINEAR, LINEAR])).0, [ProblemKind::Overlap]);
    assert_eq!(
        broken(&segments.replace("segment_count = 2", "segment_count = 3")).0,
        [ProblemKind::Field]
    );
}

/// A linear segment on logical volume `name`.
fn on(name: &str) -> String {
    format!("type = \"striped\" stripe_count = 1 stripes = [\"{name}\", 0]")
}

#[test]
fn a_volume_that_lies_on_itself_ends() {
    let (problems, volumes) = broken(&volume("lv", 4, &[&on("lv")]));
    assert_eq!(problems, [ProblemKind::Chain]);
    assert!(matches!(volumes[0].segments[0].kind, SegmentKind::Other { .. }));
    let ring = ["a", "b", "c"].into_iter().zip(["b", "c", "a"]);
    let ring: String = ring.map(|(name, below)| volume(name, 4, &[&on(below)])).collect();
    let (problems, volumes) = broken(&ring);
    assert_eq!(problems, [ProblemKind::Chain]);
    let cut =
        |volume: &&LogicalVolume| matches!(volume.segments[0].kind, SegmentKind::Other { .. });
    assert_eq!(volumes.iter().filter(cut).count(), 1);
}

#[test]
fn a_tower_and_a_doubling_are_cut() {
    let tower: String = (0..1000)
        .map(|n| volume(&format!("lv{n}"), 4, &[&on(&format!("lv{}", n + 1))]))
        .chain([volume("lv1000", 4, &[LINEAR])])
        .collect();
    let (problems, _) = broken(&tower);
    assert_eq!(problems, [ProblemKind::Chain; 31]);
    // Each volume twice on the next: 2^20 ways down.
    let doubling: String = (0..20)
        .map(|n| volume(&format!("lv{n}"), 4, &[on(&format!("lv{}", n + 1)).as_str(); 2]))
        .chain([volume("lv20", 4, &[LINEAR])])
        .collect();
    let (problems, volumes) = broken(&doubling);
    assert_eq!(problems, [ProblemKind::Overlap; 20]);
    let cut = |volume: &LogicalVolume| matches!(volume.segments[1].kind, SegmentKind::Other { .. });
    assert!(volumes[..20].iter().all(cut));
}

#[test]
fn a_text_that_wraps_around_is_read_and_its_problems_have_addresses() {
    let text = text(3, &volume("lv", 4, &[&on("nowhere")]));
    let mut sample = SampleOptions::of(&text);
    sample.areas[0].1 = 4096;
    sample.areas[0].2 = 4096 - 100;
    let found = read(&sample.disk()).unwrap();
    assert_eq!(found.value.group.unwrap().sequence, 3);
    let place = text.find("lv {").unwrap();
    let at_bytes = 4096 + 512 + u64::try_from(place).unwrap() - 100;
    assert_eq!(kinds(&found.problems), [ProblemKind::Field]);
    assert_eq!(found.problems[0].at_bytes, at_bytes);
}

#[test]
fn the_newest_of_two_areas_counts() {
    for (one, two, newest) in [(3, 9, 9), (9, 3, 9)] {
        let mut sample = SampleOptions::of(&text(one, ""));
        sample.areas.push((60 << 20, 65536, 1024, text(two, "")));
        let found = read(&sample.disk()).unwrap();
        assert_eq!(kinds(&found.problems), [ProblemKind::Copies]);
        assert_eq!(found.value.group.unwrap().sequence, newest);
    }
}

#[test]
fn a_text_with_a_wrong_checksum_counts_only_where_there_is_no_other() {
    let mut sample = SampleOptions::of(&text(9, ""));
    let mut disk = sample.disk();
    disk.put(4096 + 512 + 10, b"x");
    let found = read(&disk).unwrap();
    assert_eq!(found.problems[0].kind, ProblemKind::Checksum);
    sample.areas.push((60 << 20, 65536, 1024, text(8, "")));
    let mut disk = sample.disk();
    let place = text(9, "").find("seqno").unwrap();
    disk.put(4096 + 512 + u64::try_from(place).unwrap(), b"seqno = 8");
    let found = read(&disk).unwrap();
    assert_eq!(found.value.group.unwrap().sequence, 8);
}

#[test]
fn a_damaged_label_is_described_but_a_sound_one_is_preferred() {
    let label = SampleOptions { sector: 3, areas: Vec::new() }.label();
    let mut disk = MemoryDisk::new(DISK_BYTES);
    disk.put(512, &label);
    let found = read(&disk).unwrap();
    assert_eq!(kinds(&found.problems), [ProblemKind::Field]);
    disk.put(1536, &label);
    let found = read(&disk).unwrap();
    assert_eq!((found.value.id.as_str(), found.problems), (ID, vec![]));
    disk.put(1536 + 100, b"x");
    assert_eq!(kinds(&read(&disk).unwrap().problems), [ProblemKind::Field]);
    let mut disk = MemoryDisk::new(DISK_BYTES);
    disk.put(1536, &[0; 8]);
    disk.put(1536 + 8, &label[8..]);
    assert_eq!(kinds(&read(&disk).unwrap().problems), [ProblemKind::Field]);
    disk.put(1536 + 100, b"x");
    assert!(read(&disk).is_none());
}

#[test]
fn an_orphan_and_a_volume_without_areas_have_no_group_and_no_problem() {
    let none = SampleOptions { sector: 1, areas: Vec::new() };
    let found = read(&none.disk()).unwrap();
    assert_eq!((found.value.group, found.problems), (None, vec![]));
    let mut sample = SampleOptions::of("");
    sample.areas[0].2 = 0;
    let found = read(&sample.disk()).unwrap();
    assert_eq!((found.value.group, found.problems), (None, vec![]));
}

#[test]
fn control_characters_in_strings_reach_no_terminal() {
    let evil = text(1, &volume("lv", 4, &[LINEAR]))
        .replace("/dev/x", "/dev/\u{1b}[31m\u{202e}")
        .replace("type = \"striped\"", "type = \"striped+\u{1b}]0;x\u{7}\"")
        .replacen("id = \"abc", "id = \"\u{9b}", 1);
    let found = read(&SampleOptions::of(&evil).disk()).unwrap();
    assert_eq!(kinds(&found.problems), [ProblemKind::Field, ProblemKind::Unsupported]);
    let group = found.value.group.unwrap();
    let shown = format!("{:?} {} {:?}", found.problems, group.id, group.physical);
    assert!(!shown.contains(|character: char| character.is_control()), "{shown}");
    assert!(!shown.contains('\u{202e}'), "{shown}");
}

#[test]
fn a_device_cut_short_is_told() {
    let disk = SampleOptions::of(&text(1, "")).disk();
    let window = device::Window::new(disk, units::ByteRange::new(0, 32 << 20).unwrap());
    let problems = read(&window).unwrap().problems;
    assert_eq!(kinds(&problems), [ProblemKind::Outside, ProblemKind::Outside]);
}
