//! Ends of partitions: where something is, or may be, found from an end, the length is kept.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::running_program::Ran;
use testkit::{Scratch, need_tools, scratch, tool};

use super::{plan, scratch_in_memory, straddle, typed};

const SECTOR: u64 = 512;

/// A partition: its first sector, their number, 4 KiB blocks of an ext4 in it, and what else is put
/// into it, each so many bytes from its start.
struct Part<'a> {
    start: u64,
    sectors: u64,
    blocks: u64,
    more: &'a [(u64, &'a [u8])],
}

impl Part<'_> {
    /// A GPT of 160 MiB with this one partition.
    fn disk(&self, scratch: &Scratch) -> PathBuf {
        let disk = scratch.image("disk.raw", 160 << 20);
        let (name, start) = (scratch::text(&disk), self.start);
        let table = format!("label: gpt\nfirst-lba: 34\nstart={start}, size={}\n", self.sectors);
        tool::run_with_input("sfdisk", &["-q", name], &table);
        if self.blocks > 0 {
            let offset = format!("offset={}", start * SECTOR);
            let blocks = self.blocks.to_string();
            tool::run("mkfs.ext4", &["-qF", "-b", "4096", "-E", &offset, name, &blocks]);
        }
        for (at, bytes) in self.more {
            put(&disk, start * SECTOR + at, bytes);
        }
        disk
    }

    /// Bytes from its start to `back` bytes before its end.
    const fn end(sectors: u64, back: u64) -> u64 {
        sectors * SECTOR - back
    }
}

fn put(path: &Path, at: u64, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().write(true).open(path).expect("it opens");
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at)).expect("it seeks");
    std::io::Write::write_all(&mut file, bytes).expect("it is written");
}

/// The start and the length of the one partition, in sectors.
fn place(disk: &Path) -> (u64, u64) {
    let found = plan(disk, &[]);
    let field = |name: &str| found["partitions"][0][name].as_u64().expect("a number") / SECTOR;
    (field("new_start_bytes"), field("new_length_bytes"))
}

/// The bytes of `sectors` from sector `start` on.
fn content(disk: &Path, (start, sectors): (u64, u64)) -> Vec<u8> {
    let bytes = std::fs::read(disk).expect("it is read");
    let [from, to] = [start, start + sectors].map(|at| usize::try_from(at * SECTOR).expect("few"));
    bytes[from..to].to_vec()
}

/// The volume header of an HFS+ of 4 KiB blocks that fills `sectors`.
fn hfs_plus(sectors: u64) -> Vec<u8> {
    let mut header = vec![0; 512];
    header[..4].copy_from_slice(b"H+\0\x04");
    header[40..44].copy_from_slice(&4096_u32.to_be_bytes());
    let blocks = u32::try_from(sectors / 8).expect("few");
    header[44..48].copy_from_slice(&blocks.to_be_bytes());
    header
}

const DRBD: &[u8] = &[0x83, 0x74, 0x02, 0x6d];

/// The place of DRBD's signature: 60 bytes into the last whole 4 KiB.
const fn drbd_at(sectors: u64) -> u64 {
    (sectors * SECTOR).div_euclid(4096) * 4096 - 4096 + 60
}

/// Plans the disk of `part`, types the script, and looks for each byte of the partition. Returns
/// the place that it has then.
fn kept(part: &Part<'_>, why: &str) -> (u64, u64) {
    let scratch = scratch_in_memory();
    let disk = part.disk(&scratch);
    let before = content(&disk, (part.start, part.sectors));
    let (start, sectors) = place(&disk);
    assert_eq!(sectors, part.sectors, "{why}");
    let ran = straddle(&["plan", scratch::text(&disk)]);
    let out = ran.out.replace("\n           ", " ");
    assert!(out.contains(&format!("{why}, so its length is kept")), "{why}: {out}");
    if start != part.start {
        let ran = typed(&disk, &disk, &scratch, &[]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
    assert!(before == content(&disk, (start, sectors)), "{why}: the content changed");
    (start, sectors)
}

#[test]
fn drbd_metadata_at_the_end_is_neither_cut_nor_left_behind() {
    need_tools!("sfdisk", "mkfs.ext4");
    let more = [(drbd_at(50_001), DRBD)];
    let found_from_end = "a superblock is found from its end";
    for (start, after) in [(2048, 2048), (34, 40)] {
        let alone = Part { start, sectors: 50_001, blocks: 0, more: &more };
        assert_eq!(kept(&alone, found_from_end).0, after);
        let beside = Part { blocks: 6000, ..alone };
        assert_eq!(kept(&beside, "more than one content is recognized in it").0, after);
    }
}

#[test]
fn the_second_volume_header_of_an_hfs_plus_stays_at_its_end() {
    need_tools!("sfdisk");
    let header = hfs_plus(50_001);
    let more = [(1024, &header[..]), (Part::end(50_001, 1024), &header[..])];
    for (start, after) in [(2048, 2048), (34, 40)] {
        let part = Part { start, sectors: 50_001, blocks: 0, more: &more };
        assert_eq!(kept(&part, "a superblock is found from its end").0, after);
    }
}

#[test]
fn what_follows_a_file_system_in_its_partition_stays_at_its_end() {
    need_tools!("sfdisk", "mkfs.ext4");
    // Five sectors before the end, too: more than are cut.
    for (back, bytes) in [(512, &b"GEOM::MIRROR\0\0\0\0"[..]), (512, &[0xa5; 512]), (2560, &[7])] {
        let more = [(Part::end(60_001, back), bytes)];
        for (start, after) in [(2048, 2048), (34, 40)] {
            let part = Part { start, sectors: 60_001, blocks: 7000, more: &more };
            assert_eq!(kept(&part, "bytes after its content are not zero").0, after);
        }
    }
}

#[test]
fn a_partition_of_unknown_content_keeps_its_length() {
    need_tools!("sfdisk");
    // GELI's metadata are in the last sector.
    let geli = [(Part::end(250_001, 512), &b"GEOM::ELI\0\0\0\0\0\0\0\x07\0\0\0"[..])];
    let random = [(0, &[0x5a; 4096][..])];
    for (start, after) in [(2048, 2048), (34, 40)] {
        for more in [&geli, &random] {
            let part = Part { start, sectors: 250_001, blocks: 0, more };
            assert_eq!(kept(&part, "its content is not recognized").0, after);
        }
    }
}

#[test]
fn ends_move_where_the_partition_is_blank_or_nothing_follows_its_file_system() {
    need_tools!("sfdisk", "mkfs.ext4");
    for (blocks, length) in [(0, 50_008), (6000, 50_000), (6250, 50_000)] {
        for (start, after) in [(2048, 2048), (34, 40)] {
            let scratch = scratch_in_memory();
            let part = Part { start, sectors: 50_001, blocks, more: &[] };
            assert_eq!(place(&part.disk(&scratch)), (after, length), "{blocks} blocks");
        }
    }
}

#[test]
fn a_conversion_cuts_no_end_that_holds_something() {
    need_tools!("sfdisk", "mkfs.ext4");
    let header = hfs_plus(50_001);
    let geom = [(Part::end(50_001, 512), &b"GEOM::MIRROR"[..])];
    let drbd = [(drbd_at(50_001), DRBD)];
    let hfs = [(1024, &header[..]), (Part::end(50_001, 1024), &header[..])];
    let cases = [
        (6000, &geom[..], "bytes after its content are not zero"),
        (6000, &drbd, "more than one content"),
        (0, &hfs, "a superblock is found from its end"),
    ];
    for (blocks, more, why) in cases {
        let scratch = scratch_in_memory();
        let disk = Part { start: 2048, sectors: 50_001, blocks, more }.disk(&scratch);
        let name = scratch::text(&disk);
        let before = std::fs::read(&disk).expect("it is read");
        let new = scratch.path().join("new.raw");
        let ran = straddle(&["convert", name, "--sector", "4096", "-o", scratch::text(&new)]);
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.errors.contains(why) && !new.exists(), "{ran:?}");
        assert!(before == std::fs::read(&disk).expect("it is read"));
    }
}

#[test]
fn neither_apply_nor_the_script_cuts_an_end_that_was_written_since_the_plan() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = scratch_in_memory();
    let disk = Part { start: 2048, sectors: 50_001, blocks: 6000, more: &[] }.disk(&scratch);
    let name = scratch::text(&disk);
    let [made, script] = ["plan.json", "plan.sh"].map(|name| scratch.path().join(name));
    let made = scratch::text(&made);
    assert_eq!(straddle(&["plan", name, "-o", made]).status, Some(0));
    assert_eq!(super::written(&disk, &script).status, Some(0));
    put(&disk, (2048 + 50_000) * SECTOR, b"GEOM::MIRROR");
    let before = std::fs::read(&disk).expect("it is read");
    let applied = straddle(&["apply", made, "--confirm", "disk.raw"]);
    assert_eq!(applied.status, Some(3), "{applied:?}");
    assert!(applied.errors.contains("partition 1 would end earlier"), "{applied:?}");
    let ran = Ran::of(Command::new("sh").arg(&script).arg(&disk));
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(before == std::fs::read(&disk).expect("it is read"));
}
