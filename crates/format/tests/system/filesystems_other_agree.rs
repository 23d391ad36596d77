//! Rarer file systems, made by their own tools: what they are, their labels, UUIDs and block sizes
//! must be what blkid and each tool's own dump say; and hostile changes of the real superblocks
//! must be answered.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use device::{Disk, ReadError, disk};
use format::filesystem::{self, FileSystem};
use testkit::scratch::text;
use testkit::{FileDisk, Loop, Scratch, need_loops, need_tools, tool};

const MIB: u64 = 1 << 20;

/// The only file system that is found, which must be without problems.
fn found(path: &Path) -> FileSystem {
    let mut all = filesystem::read(&FileDisk::open(path));
    assert_eq!(all.len(), 1, "{all:?}");
    let parsed = all.remove(0);
    assert_eq!(parsed.problems, []);
    parsed.value
}

/// Returns what blkid's low-level probing says.
fn blkid(path: &Path) -> HashMap<String, String> {
    let output = tool::run("blkid", &["-p", "-o", "export", text(path)]);
    let pairs = output.lines().filter_map(|line| line.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Type, label, UUID and, where blkid says it, block size are blkid's.
fn agrees_with_blkid(path: &Path) -> FileSystem {
    let system = found(path);
    let expected = blkid(path);
    let expect = |name: &str| expected.get(name).cloned();
    assert_eq!(Some(system.kind.to_owned()), expect("TYPE"));
    assert_eq!(system.label.as_ref().map(ToString::to_string), expect("LABEL"));
    assert_eq!(system.id, expect("UUID"));
    if let Some(block) = expect("BLOCK_SIZE") {
        assert_eq!(system.block_bytes.map(|bytes| bytes.to_string()), Some(block));
    }
    system
}

/// The word after `term` and any colons or blanks in a tool's dump.
fn said(dump: &str, term: &str) -> String {
    let line = dump.lines().find_map(|line| line.split_once(term));
    let (_, rest) = line.unwrap_or_else(|| panic!("{term} is in:\n{dump}"));
    let rest = rest.trim_start_matches([':', '=', ' ', '\t']);
    rest.split_whitespace().next().unwrap_or_default().to_owned()
}

fn shown(bytes: Option<u64>) -> String {
    bytes.unwrap_or_default().to_string()
}

/// The value of a detail that the file system has.
fn detail(system: &FileSystem, term: &str) -> String {
    let detail = system.details.iter().find(|(name, _)| *name == term);
    detail.unwrap_or_else(|| panic!("{term} is in {system:?}")).1.clone()
}

/// A directory with one small file, for tools that pack one.
fn tree(scratch: &Scratch) -> PathBuf {
    let directory = scratch.path().join("tree");
    std::fs::create_dir(&directory).expect("a directory can be made");
    std::fs::write(directory.join("file"), vec![b'x'; 10_000]).expect("a file can be written");
    directory
}

/// A disk with one byte changed, or cut short.
struct Changed<'a> {
    whole: &'a FileDisk,
    byte: Option<(u64, u8)>,
    length_bytes: u64,
}

impl Disk for Changed<'_> {
    fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        disk::check_bounds(self.length_bytes, offset_bytes, disk::length_of(buffer))?;
        self.whole.read_at(offset_bytes, buffer)?;
        if let Some((at, value)) = self.byte
            && let Some(index) = at.checked_sub(offset_bytes)
            && let Some(byte) = buffer.get_mut(usize::try_from(index).expect("a small index"))
        {
            *byte = value;
        }
        Ok(())
    }
}

/// Every byte of `region` set to four values, and the disk cut at each: an answer, no panic, and
/// never another type than the one that is there.
fn answers_changes(path: &Path, region: Range<u64>) {
    let whole = FileDisk::open(path);
    let kinds: Vec<_> = kinds(&whole);
    let length_bytes = whole.length_bytes();
    for at in region {
        for value in [0, 1, 0x7f, 0xff] {
            let changed = Changed { whole: &whole, byte: Some((at, value)), length_bytes };
            assert!(self::kinds(&changed).iter().all(|kind| kinds.contains(kind)), "{at} {value}");
        }
        let cut = Changed { whole: &whole, byte: None, length_bytes: at };
        assert!(self::kinds(&cut).iter().all(|kind| kinds.contains(kind)), "cut at {at}");
    }
}

fn kinds(disk: &dyn Disk) -> Vec<&'static str> {
    filesystem::read(disk).into_iter().map(|parsed| parsed.value.kind).collect()
}

#[test]
fn a_jfs_is_what_blkid_and_jfs_tune_say() {
    need_tools!("mkfs.jfs", "jfs_tune", "blkid");
    let scratch = Scratch::new();
    let image = scratch.image("jfs", 20 * MIB);
    tool::run("mkfs.jfs", &["-q", "-L", "music", text(&image)]);
    let system = agrees_with_blkid(&image);
    let dump = tool::run("jfs_tune", &["-l", text(&image)]);
    assert_eq!(shown(system.block_bytes), said(&dump, "Aggregate block size"));
    assert_eq!(detail(&system, "physical block"), said(&dump, "Physical block size"));
    // jfs_tune's aggregate size leaves out the log and the work area behind it; the size here has
    // them, so that it is the whole image.
    assert_eq!(system.size_bytes, Some(20 * MIB));
    answers_changes(&image, 32768..32768 + 184);
}

#[test]
fn a_reiserfs_is_what_blkid_and_debugreiserfs_say() {
    need_tools!("mkreiserfs", "debugreiserfs", "blkid");
    let scratch = Scratch::new();
    for (version, block) in [("3.6", "4096"), ("3.5", "4096"), ("3.6", "1024")] {
        let image = scratch.image("reiserfs", 40 * MIB);
        let options = ["-f", "-f", "-q", "--format", version, "-b", block];
        let label = if version == "3.6" { &["-l", "mail"][..] } else { &[] };
        tool::run("mkreiserfs", &[&options, label, &[text(&image)]].concat());
        let system = agrees_with_blkid(&image);
        let dump = tool::run("debugreiserfs", &[text(&image)]);
        assert_eq!(shown(system.block_bytes), said(&dump, "Blocksize"));
        assert_eq!(system.variant.as_deref(), Some(version));
        let blocks: u64 = said(&dump, "Count of blocks on the device").parse().unwrap();
        assert_eq!(system.size_bytes, system.block_bytes.map(|bytes| bytes * blocks));
    }
    answers_changes(&scratch.path().join("reiserfs"), 65536..65536 + 116);
}

#[test]
fn a_squashfs_is_what_blkid_and_unsquashfs_say() {
    need_tools!("mksquashfs", "unsquashfs", "blkid");
    let scratch = Scratch::new();
    let tree = tree(&scratch);
    let image = scratch.path().join("squashfs");
    for block in ["4096", "131072", "1048576"] {
        let options = ["-b", block, "-noappend", "-quiet", "-no-progress"];
        tool::run("mksquashfs", &[&[text(&tree), text(&image)], &options[..]].concat());
        let system = agrees_with_blkid(&image);
        let dump = tool::run("unsquashfs", &["-s", text(&image)]);
        // Data is packed to the byte: what squashfs calls a block is nothing that could be aligned.
        assert_eq!(system.block_bytes, None);
        assert_eq!(detail(&system, "block size before compression"), said(&dump, "Block size"));
        assert_eq!(shown(system.size_bytes), said(&dump, "Filesystem size"));
    }
    answers_changes(&image, 0..96);
}

#[test]
fn an_erofs_is_what_blkid_and_its_dump_say() {
    need_tools!("mkfs.erofs", "dump.erofs", "blkid");
    let scratch = Scratch::new();
    let tree = tree(&scratch);
    let image = scratch.path().join("erofs");
    tool::run("mkfs.erofs", &[text(&image), text(&tree)]);
    let system = agrees_with_blkid(&image);
    let dump = tool::run("dump.erofs", &["-s", text(&image)]);
    assert_eq!(system.id, Some(said(&dump, "Filesystem UUID")));
    let blocks: u64 = said(&dump, "Filesystem blocks").parse().unwrap();
    assert_eq!(system.size_bytes, Some(blocks * 4096));
    answers_changes(&image, 1024..1024 + 128);
}

#[test]
fn an_iso_9660_is_what_blkid_and_isoinfo_say() {
    need_tools!("genisoimage", "isoinfo", "blkid");
    let scratch = Scratch::new();
    let tree = tree(&scratch);
    let image = scratch.path().join("iso");
    // With Joliet, a label that it cuts, and one that it keeps.
    let long = "A_LABEL_THAT_JOLIET_CUTS_SHORT";
    for options in [&["-V", "RESCUE"][..], &["-J", "-V", long], &["-J", "-V", "Rescue"]] {
        let paths = ["-o", text(&image), text(&tree)];
        tool::run("genisoimage", &[&["-quiet"], options, &paths].concat());
        let system = agrees_with_blkid(&image);
        let dump = tool::run("isoinfo", &["-d", "-i", text(&image)]);
        assert_eq!(shown(system.block_bytes), said(&dump, "Logical block size is"));
        let blocks: u64 = said(&dump, "Volume size is").parse().unwrap();
        assert_eq!(system.size_bytes, Some(blocks * 2048));
    }
    answers_changes(&image, 32768..32768 + 900);
}

#[test]
fn a_udf_is_what_blkid_and_udfinfo_say() {
    need_tools!("mkudffs", "udfinfo", "blkid");
    let scratch = Scratch::new();
    for block in ["512", "1024", "2048", "4096"] {
        let image = scratch.image("udf", 16 * MIB);
        tool::run("mkudffs", &["-b", block, "-l", "films", text(&image)]);
        let system = agrees_with_blkid(&image);
        let dump = tool::run("udfinfo", &[text(&image)]);
        assert_eq!(shown(system.block_bytes), said(&dump, "blocksize="));
        assert_eq!(system.variant, Some(said(&dump, "udfrev=")));
        // The partition's first block: file blocks count from there.
        let space = dump.lines().find(|line| line.ends_with("type=PSPACE")).unwrap();
        let (start, _) = space.trim_start_matches("start=").split_once(',').unwrap();
        let start: u64 = start.parse().unwrap();
        assert_eq!(system.data_offset_bytes, start * system.block_bytes.unwrap());
        if block == "4096" {
            answers_changes(&image, 32768..32776);
            answers_changes(&image, 256 * 4096..256 * 4096 + 32);
        }
    }
}

#[test]
fn a_udf_beside_an_iso_9660_is_found_twice() {
    need_tools!("genisoimage", "blkid");
    let scratch = Scratch::new();
    let tree = tree(&scratch);
    let image = scratch.path().join("bridge");
    tool::run("genisoimage", &["-quiet", "-udf", "-V", "BRIDGE", "-o", text(&image), text(&tree)]);
    // blkid names one of them; both are meant, so both are said here.
    let all = filesystem::read(&FileDisk::open(&image));
    let kinds: Vec<_> = all.iter().map(|parsed| parsed.value.kind).collect();
    assert_eq!(kinds, ["udf", "iso9660"]);
    assert!(all.iter().all(|parsed| parsed.value.block_bytes == Some(2048)));
    assert!(kinds.contains(&blkid(&image)["TYPE"].as_str()));
}

#[test]
fn a_nilfs2_is_what_blkid_says() {
    need_tools!("mkfs.nilfs2", "blkid");
    let scratch = Scratch::new();
    for block in ["1024", "4096"] {
        let image = scratch.image("nilfs2", 140 * MIB);
        tool::run("mkfs.nilfs2", &["-q", "-b", block, "-L", "log", text(&image)]);
        let system = agrees_with_blkid(&image);
        assert_eq!(shown(system.block_bytes), block);
        assert_eq!(system.size_bytes, Some(140 * MIB));
    }
    answers_changes(&scratch.path().join("nilfs2"), 1024..1024 + 280);
}

#[test]
fn a_nilfs2_is_what_its_own_dump_says() {
    need_tools!("mkfs.nilfs2", "nilfs-tune");
    need_loops!();
    let scratch = Scratch::new();
    let image = scratch.image("nilfs2", 140 * MIB);
    tool::run("mkfs.nilfs2", &["-q", "-L", "log", text(&image)]);
    let system = found(&image);
    // It reads devices only.
    let device = Loop::attach(&image, 512);
    let dump = tool::run("nilfs-tune", &["-l", text(device.path())]);
    assert_eq!(system.id, Some(said(&dump, "Filesystem UUID")));
    assert_eq!(shown(system.block_bytes), said(&dump, "Block size"));
    assert_eq!(system.label.unwrap().to_string(), said(&dump, "Filesystem volume name"));
}

#[test]
fn a_minix_of_every_version_and_size_is_what_blkid_says() {
    need_tools!("mkfs.minix", "blkid");
    let scratch = Scratch::new();
    for version in ["-1", "-2", "-3"] {
        for kib in [512, 4096, 60_000] {
            let image = scratch.image("minix", kib << 10);
            tool::run("mkfs.minix", &[version, text(&image)]);
            let system = agrees_with_blkid(&image);
            assert_eq!(system.variant, blkid(&image).get("VERSION").cloned());
            assert_eq!(system.size_bytes, Some(kib << 10), "{version} {kib}");
        }
    }
    answers_changes(&scratch.path().join("minix"), 1024..1024 + 64);
}

#[test]
fn a_cramfs_of_either_byte_order_is_what_blkid_says() {
    need_tools!("mkfs.cramfs", "blkid");
    let scratch = Scratch::new();
    let tree = tree(&scratch);
    let image = scratch.path().join("cramfs");
    for order in ["little", "big"] {
        tool::run("mkfs.cramfs", &["-N", order, "-n", "boot", text(&tree), text(&image)]);
        let system = agrees_with_blkid(&image);
        assert_eq!(system.variant, Some(format!("{order}-endian")));
        // Data is packed to four bytes: there is no block that could be aligned.
        assert_eq!(system.block_bytes, None);
    }
    answers_changes(&image, 0..64);
}

#[test]
fn a_bfs_is_known_by_name() {
    need_tools!("mkfs.bfs", "blkid");
    let scratch = Scratch::new();
    let image = scratch.image("bfs", MIB);
    tool::run("mkfs.bfs", &[text(&image)]);
    agrees_with_blkid(&image);
    answers_changes(&image, 0..64);
}

#[test]
fn random_bytes_and_zeros_are_no_file_system() {
    let mut random = testkit::random(29);
    for _ in 0..4 {
        let bytes: Vec<u8> = (0..MIB / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect();
        assert_eq!(kinds(&bytes), [""; 0]);
    }
    assert_eq!(kinds(&vec![0_u8; 1 << 20]), [""; 0]);
}
