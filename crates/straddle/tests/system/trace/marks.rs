//! Bytes that are written through a file are found at the addresses that are traced.
//!
//! The bytes are looked for in the image files behind the loop devices, which hold what the
//! kernel's block layer got.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use testkit::{Loop, need_loops, need_tools, scratch::text, tool};

use super::run::{list, number, straddle, trace};
use super::volume::{Plan, Volume, directory, writable};

/// Number of ranges marked.
const RANGES: u64 = 1000;
const FILE_BYTES: u64 = 16 << 20;

/// A range of a file, and what was written there.
struct Mark {
    at: u64,
    bytes: Vec<u8>,
}

/// Marks ranges of a file; a range that a later one overlaps is left out.
fn marked(file: &Path) -> Vec<Mark> {
    let mut random = testkit::random(31);
    let handle = writable(file);
    let mut marks: Vec<Mark> = Vec::new();
    while marks.len() < usize::try_from(RANGES).expect("as the test made it") {
        let length = 1 + random.below(6000);
        let at = random.below(FILE_BYTES - length);
        let overlaps = |mark: &Mark| {
            let end = mark.at + u64::try_from(mark.bytes.len()).expect("as the test made it");
            mark.at < at + length && at < end
        };
        if marks.iter().any(overlaps) {
            continue;
        }
        let bytes: Vec<u8> = (0..length).map(|_| random.next_u64().to_le_bytes()[0]).collect();
        handle.write_all_at(&bytes, at).expect("as the test made it");
        marks.push(Mark { at, bytes });
    }
    handle.sync_all().expect("as the test made it");
    tool::run("sync", &["--file-system", text(file)]);
    marks
}

/// Finds every mark at every traced address on an image file; returns how many copies of each byte
/// there are on average.
fn found(document: &Value, marks: &[Mark]) -> u64 {
    let layers = list(&document["layers"]);
    let images: Vec<(u64, File)> = layers
        .iter()
        .filter(|layer| layer["id"] != last(layers)["id"])
        .filter_map(|layer| {
            let name = layer["name"].as_str().expect("as the test made it");
            let path = match layer["kind"].as_str() {
                Some("file") => name.to_owned(),
                Some("drive") if name.starts_with("zram") => format!("/dev/{name}"),
                _ => return None,
            };
            Some((number(&layer["id"]), File::open(path).expect("as the test made it")))
        })
        .collect();
    assert!(!images.is_empty(), "{layers:#?}");
    let pieces: Vec<&Value> =
        list(&document["extents"]).iter().flat_map(|extent| list(&extent["pieces"])).collect();
    let mut seen = 0;
    for mark in marks {
        let end = mark.at + u64::try_from(mark.bytes.len()).expect("as the test made it");
        let mut covered = 0;
        for piece in &pieces {
            let (start, length) = (number(&piece["offset_bytes"]), number(&piece["length_bytes"]));
            let (from, to) = (mark.at.max(start), end.min(start + length));
            if from >= to {
                continue;
            }
            covered += to - from;
            let wanted = &mark.bytes
                [usize::try_from(from - mark.at).expect("as the test made it")..]
                [..usize::try_from(to - from).expect("as the test made it")];
            for copy in list(&piece["copies"]) {
                for step in list(&copy["path"]) {
                    let Some((_, image)) =
                        images.iter().find(|(id, _)| *id == number(&step["layer"]))
                    else {
                        continue;
                    };
                    let mut bytes = vec![0; wanted.len()];
                    let at = number(&step["at_bytes"]) + from - start;
                    image.read_exact_at(&mut bytes, at).expect("as the test made it");
                    assert!(bytes == wanted, "{} bytes at {from}, by {copy:#}", wanted.len());
                    seen += to - from;
                }
            }
        }
        assert_eq!(covered, end - mark.at, "the mark at {} is traced whole", mark.at);
    }
    let total: u64 = marks
        .iter()
        .map(|mark| u64::try_from(mark.bytes.len()).expect("as the test made it"))
        .sum();
    assert_eq!(seen % total, 0);
    seen / total
}

fn last(layers: &[Value]) -> &Value {
    &layers[layers.len() - 1]
}

/// Marks a fresh file of a volume, and finds the marks: how many copies.
fn copies(volume: &Volume) -> u64 {
    let file = volume.file("marked", FILE_BYTES);
    let marks = marked(&file);
    let document = trace(&file, &[]);
    let copies = found(&document, &marks);
    // The same by parts of the file.
    for mark in marks.iter().step_by(100) {
        let (at, length) = (mark.at.to_string(), mark.bytes.len().to_string());
        let part = trace(&file, &["--offset", &at, "--length", &length]);
        let one = [Mark { at: mark.at, bytes: mark.bytes.clone() }];
        assert_eq!(found(&part, &one), copies);
        assert_eq!(part["length_bytes"], mark.bytes.len());
    }
    copies
}

#[test]
fn marks_in_a_file_on_ext4_are_where_it_is_traced_to() {
    need_loops!();
    need_tools!("mkfs.ext4");
    for sector_bytes in [512, 4096] {
        let directory = directory();
        let volume = Plan { sector_bytes, ..Plan::EXT4 }.mounted(directory.path());
        assert_eq!(copies(&volume), 1, "sectors of {sector_bytes}");
    }
}

#[test]
fn marks_in_a_reflinked_file_on_xfs_are_where_it_is_traced_to() {
    need_loops!();
    need_tools!("mkfs.xfs", "cp");
    let directory = directory();
    let volume = Plan::XFS.mounted(directory.path());
    let (file, copy) = (volume.file("first", FILE_BYTES), volume.path("copy"));
    tool::run("cp", &["--reflink=always", text(&file), text(&copy)]);
    let marks = marked(&copy);
    assert_eq!(found(&trace(&copy, &[]), &marks), 1);
    let kept = std::fs::read(&file).expect("as the test made it");
    let untouched: Vec<Mark> = (0..1000)
        .map(|block: u64| {
            let at = usize::try_from(block * 16384).expect("as the test made it");
            Mark { at: block * 16384, bytes: kept[at..at + 16384].to_vec() }
        })
        .collect();
    assert_eq!(found(&trace(&file, &[]), &untouched), 1);
}

#[test]
fn marks_in_a_file_on_btrfs_are_on_every_device_that_it_is_traced_to() {
    need_loops!();
    need_tools!("mkfs.btrfs");
    for (profile, devices, wanted) in [
        ("single", 1, 1),
        ("dup", 1, 2),
        ("raid0", 2, 1),
        ("raid1", 2, 2),
        ("raid1c3", 3, 3),
        ("raid10", 4, 2),
        ("raid5", 3, 1),
        ("raid6", 4, 1),
    ] {
        let directory = directory();
        let make = ["-q", "-f", "-d", profile, "-m", profile];
        let volume = Plan { make: &make, devices, ..Plan::BTRFS }.mounted(directory.path());
        assert_eq!(copies(&volume), wanted, "{profile}");
    }
}

#[test]
fn marks_in_a_file_in_a_partition_at_63_are_where_it_is_traced_to_and_off_the_granule() {
    need_loops!();
    need_tools!("mkfs.ext4", "sfdisk", "partx");
    let directory = directory();
    let image = directory.image("disk", 512 << 20);
    tool::run_with_input("sfdisk", &["-q", text(&image)], "label: dos\n63,,83\n");
    let device = Loop::attach(&image, 512);
    let node = device.partition(1);
    let make = ["-q", "-F", "-b", "4096"];
    let volume = Plan { make: &make, ..Plan::EXT4 }.on(&[node], vec![device], directory.path());
    assert_eq!(copies(&volume), 1);
    let document = trace(&volume.path("marked"), &["--io", "16K"]);
    let kinds: Vec<&str> = list(&document["layers"])
        .iter()
        .map(|layer| layer["kind"].as_str().expect("as the test made it"))
        .collect();
    assert!(kinds.contains(&"partition"), "{kinds:?}");
    let share = &document["total"]["alignment"][0];
    assert_eq!((&share["unit"], &share["aligned_bytes"]), (&"granule".into(), &0.into()));
    assert_eq!(share["offsets_bytes"], serde_json::json!([3584]));
    assert_eq!(document["cost"]["writes_with_rmw"], document["cost"]["ios"]);
}

#[test]
fn marks_in_a_file_on_a_loop_in_a_file_on_a_loop_are_at_both_depths() {
    need_loops!();
    need_tools!("mkfs.ext4", "mkfs.xfs");
    let outer_directory = directory();
    let outer = Plan::EXT4.mounted(outer_directory.path());
    let inner_directory: PathBuf = outer.path("inner");
    std::fs::create_dir(&inner_directory).expect("as the test made it");
    let inner = Plan { sector_bytes: 4096, ..Plan::XFS }.mounted(&inner_directory);
    assert_eq!(copies(&inner), 2, "once in each image");
}

/// A compressed disk in memory, which is taken away again when the test ends.
struct Zram;

impl Zram {
    const NODE: &str = "/dev/zram0";
    const SIZE: &str = "/sys/block/zram0/disksize";

    /// The machine's first one, unless it is in use.
    fn new() -> Option<Zram> {
        let unused = std::fs::read_to_string(Zram::SIZE).is_ok_and(|size| size.trim() == "0");
        let made = unused && std::fs::write(Zram::SIZE, (512 << 20).to_string()).is_ok();
        made.then_some(Zram).filter(|_| File::open(Zram::NODE).is_ok())
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // Nothing can be done where the kernel refuses.
        let _ = std::fs::write("/sys/block/zram0/reset", "1");
    }
}

#[test]
fn marks_in_a_file_on_zram_are_where_it_is_traced_to() {
    need_tools!("mkfs.ext4");
    let Some(zram) = Zram::new() else {
        testkit::skip("there is no unused /dev/zram0, or no leave to give it a size");
        return;
    };
    let directory = directory();
    let volume = Plan::EXT4.on(&[PathBuf::from(Zram::NODE)], Vec::new(), directory.path());
    assert_eq!(copies(&volume), 1);
    drop(volume);
    drop(zram);
}

#[test]
fn an_image_on_a_host_that_is_off_the_granule_is_told_so_by_check() {
    need_loops!();
    need_tools!("mkfs.ext4", "sfdisk", "partx");
    for (start, code) in [(63, 1), (2048, 0)] {
        let directory = directory();
        let image = directory.image("disk", 128 << 20);
        tool::run_with_input(
            "sfdisk",
            &["-q", text(&image)],
            &format!("label: dos\n{start},,83\n"),
        );
        let device = Loop::attach(&image, 512);
        let node = device.partition(1);
        let make = ["-q", "-F", "-b", "4096"];
        let plan = Plan { make: &make, ..Plan::EXT4 };
        let volume = plan.on(&[node], vec![device], directory.path());
        let guest = volume.path("guest.raw");
        let file = File::create(&guest).expect("as the test made it");
        file.set_len(64 << 20).expect("as the test made it");
        tool::run_with_input("sfdisk", &["-q", text(&guest)], "label: dos\n2048,,83\n");
        let output = straddle(&["check", "--explain", text(&guest)]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert_eq!(said.contains("ST505"), code == 1, "{said}");
        assert!(said.contains("ext4 on "), "{said}");
    }
}
