//! Images that the field's own tools made are read as those tools read them.

use std::collections::BTreeMap;
use std::path::Path;

use format::filesystem::{self, FileSystem, FsStripe};
use testkit::{FileDisk, Loop, Scratch, need_loops, need_tools, scratch, tool};
use units::random::Random;

const MIB: u64 = 1 << 20;
const UUID: &str = "0b1c2d3e-4f50-4617-8899-aabbccddeeff";

/// The only file system on the image at `path`, on which nothing is wrong.
fn only(path: &Path) -> FileSystem {
    let mut found = filesystem::read(&FileDisk::open(path));
    assert_eq!(found.len(), 1, "{found:?}");
    let found = found.remove(0);
    assert_eq!(found.problems, [], "{:?}", found.value);
    found.value
}

/// Same as [`only`], and `blkid` says the same name, label, id and sector. It says less than it
/// reads on purpose: with a wrong checksum it says nothing, while here the damage is described.
fn as_blkid_says(path: &Path) -> FileSystem {
    let system = only(path);
    let text = tool::run("blkid", &["-p", "-o", "export", scratch::text(path)]);
    let said: BTreeMap<&str, &str> = text.lines().filter_map(|line| line.split_once('=')).collect();
    assert_eq!(said.get("TYPE"), Some(&system.kind), "{text}");
    let label = system.label.as_ref().map(ToString::to_string);
    // The other output escapes for a shell.
    let plain = tool::output("blkid", &["-p", "-o", "value", "-s", "LABEL", scratch::text(path)]);
    assert_eq!(String::from_utf8_lossy(&plain.stdout).trim_end(), label.unwrap_or_default());
    assert_eq!(said.get("UUID").copied(), system.id.as_deref(), "{text}");
    // What blkid calls a block is the sector of those that have one, and for swap it says nothing.
    if let Some(bytes) = said.get("BLOCK_SIZE") {
        assert_eq!(bytes.parse().ok(), system.sector_bytes, "{text}");
    }
    system
}

/// The value behind `name` and a colon, an equals sign or blanks.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix(name)?;
        let value = rest.trim_start_matches([':', '=', ' ', '\t']);
        (value.len() != rest.len()).then_some(value)
    })
}

/// Same as [`field`], of a number.
fn number(text: &str, name: &str) -> Option<u64> {
    let value = field(text, name)?;
    let digits = value.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

fn detail<'s>(system: &'s FileSystem, term: &str) -> Option<&'s str> {
    system.details.iter().find(|(name, _)| *name == term).map(|(_, value)| value.as_str())
}

fn chance(random: &mut Random) -> bool {
    random.below(2) == 0
}

#[test]
fn blocks_clusters_and_stripes_of_ext_are_those_of_dumpe2fs() {
    need_tools!("mkfs.ext4", "dumpe2fs", "blkid");
    let mut random = testkit::random(0xe4);
    let scratch = Scratch::new();
    for round in 0..40 {
        let image = scratch.image("ext", 64 * MIB);
        let path = scratch::text(&image);
        let block = *random.choose(&["1024", "2048", "4096"]);
        let kind = *random.choose(&["ext2", "ext3", "ext4", "ext4", "ext4"]);
        let mut arguments = vec!["-q", "-F", "-t", kind, "-b", block, "-U", UUID];
        if kind == "ext4" {
            let features: &[&str] = &[
                "bigalloc",
                "^metadata_csum",
                "64bit",
                "^64bit",
                "^has_journal",
                "^64bit,^metadata_csum,bigalloc",
            ];
            arguments.extend(["-O", *random.choose(features)]);
        }
        let stripes =
            ["stride=16,stripe_width=64", "stride=3", "stripe_width=12", "lazy_itable_init=1"];
        arguments.extend(["-E", *random.choose(&stripes)]);
        if chance(&mut random) {
            arguments.extend(["-L", "data"]);
        }
        arguments.push(path);
        tool::run("mke2fs", &arguments);
        println!("round {round}: {arguments:?}");
        let system = as_blkid_says(&image);
        compare_with_dumpe2fs(&system, path);
    }
}

fn compare_with_dumpe2fs(system: &FileSystem, path: &str) {
    let text = tool::run("dumpe2fs", &["-h", path]);
    let value = |name| number(&text, name).expect("dumpe2fs prints it");
    let block_bytes = value("Block size");
    assert_eq!(system.sector_bytes, Some(block_bytes));
    assert_eq!(system.block_bytes, Some(block_bytes));
    assert_eq!(system.cluster_bytes, number(&text, "Cluster size"));
    let blocks = value("Block count");
    assert_eq!(system.size_bytes, Some(blocks * block_bytes));
    let in_bytes = |name| number(&text, name).unwrap_or(0) * block_bytes;
    let (unit_bytes, width_bytes) = (in_bytes("RAID stride"), in_bytes("RAID stripe width"));
    let stripe = FsStripe { unit_bytes, width_bytes };
    assert_eq!(system.stripe, (unit_bytes + width_bytes != 0).then_some(stripe));
    let inode = value("Inode size");
    assert_eq!(detail(system, "inode"), Some(format!("{inode} bytes").as_str()));
}

#[test]
fn an_external_journal_is_named_as_blkid_names_it() {
    need_tools!("mkfs.ext4", "dumpe2fs", "blkid");
    let scratch = Scratch::new();
    for block in ["1024", "4096"] {
        let image = scratch.image("journal", 64 * MIB);
        let path = scratch::text(&image);
        tool::run("mke2fs", &["-q", "-F", "-O", "journal_dev", "-b", block, "-L", "log", path]);
        let system = as_blkid_says(&image);
        assert_eq!(system.kind, "jbd");
        compare_with_dumpe2fs(&system, path);
    }
}

#[test]
fn sectors_blocks_and_stripes_of_xfs_are_those_of_xfs_db() {
    need_tools!("mkfs.xfs", "xfs_db", "blkid");
    let mut random = testkit::random(0x5f5);
    let scratch = Scratch::new();
    for round in 0..20 {
        let image = scratch.image("xfs", 2048 * MIB);
        let path = scratch::text(&image);
        let sector = *random.choose(&[512, 1024, 4096]);
        let block = *random.choose(&[1024_u64, 2048, 4096, 16384, 65536]).max(&sector);
        let stripe = match random.below(4) {
            0 => "su=64k,sw=4".to_owned(),
            1 => format!("su={},sw=1", block * 8),
            2 => format!("sunit={},swidth={}", block.div_euclid(512), block.div_euclid(512) * 3),
            _ => "noalign".to_owned(),
        };
        let crc = *random.choose(&["crc=1", "crc=1", "crc=0"]);
        let (block, sector) = (format!("size={block}"), format!("size={sector}"));
        let mut arguments = vec!["-q", "-f", "-b", &block, "-s", &sector, "-d", &stripe, "-m", crc];
        if chance(&mut random) {
            arguments.extend(["-L", "data"]);
        }
        arguments.push(path);
        println!("round {round}: {arguments:?}");
        tool::run("mkfs.xfs", &arguments);
        let system = as_blkid_says(&image);
        let text = tool::run("xfs_db", &["-r", "-f", "-c", "sb 0", "-c", "p", path]);
        let block_bytes = number(&text, "blocksize").unwrap();
        let value = |name: &str| number(&text, name).unwrap();
        assert_eq!(system.block_bytes, Some(block_bytes));
        assert_eq!(system.sector_bytes, Some(value("sectsize")));
        assert_eq!(system.size_bytes, Some(value("dblocks") * block_bytes));
        let version = if crc == "crc=1" { "5" } else { "4" };
        assert_eq!(system.variant.as_deref(), Some(version));
        let (unit, width) = (value("unit") * block_bytes, value("width") * block_bytes);
        let expected = FsStripe { unit_bytes: unit, width_bytes: width };
        assert_eq!(system.stripe, (unit + width != 0).then_some(expected));
        let group = format!("{} bytes", value("agblocks") * block_bytes);
        assert_eq!(detail(&system, "allocation group"), Some(group.as_str()));
        let log = value("logsunit");
        let log = (log > 1).then(|| format!("{log} bytes"));
        assert_eq!(detail(&system, "log stripe unit"), log.as_deref());
    }
}

#[test]
fn nodes_sectors_and_devices_of_btrfs_are_those_of_dump_super() {
    need_tools!("mkfs.btrfs", "btrfs", "blkid");
    let mut random = testkit::random(0xb7);
    let scratch = Scratch::new();
    for round in 0..12 {
        let images = [scratch.image("one", 256 * MIB), scratch.image("two", 300 * MIB)];
        let two = chance(&mut random);
        let (sector, node) = *random.choose(&[
            ("4096", "4096"),
            ("4096", "16384"),
            ("4096", "65536"),
            ("16384", "32768"),
            ("65536", "65536"),
        ]);
        let mut arguments = vec!["-q", "-f", "-s", sector, "-n", node, "-U", UUID];
        if chance(&mut random) {
            arguments.extend(["-L", "data"]);
        }
        let used = if two { &images[..] } else { &images[..1] };
        arguments.extend(used.iter().map(|path| scratch::text(path)));
        println!("round {round}: {arguments:?}");
        // The same UUID on all images, so each is made, read and replaced.
        tool::run("mkfs.btrfs", &arguments);
        for image in used {
            let system = as_blkid_says(image);
            let path = scratch::text(image);
            let text = tool::run("btrfs", &["inspect-internal", "dump-super", path]);
            let value = |name: &str| number(&text, name).unwrap();
            assert_eq!(system.sector_bytes, Some(value("sectorsize")));
            let node = format!("{} bytes", value("nodesize"));
            assert_eq!(detail(&system, "node"), Some(node.as_str()));
            assert_eq!(system.size_bytes, Some(value("dev_item.total_bytes")));
            let devices = detail(&system, "devices").and_then(|text| text.parse().ok());
            assert_eq!(devices, Some(value("num_devices")));
            let number = detail(&system, "device number").and_then(|text| text.parse().ok());
            assert_eq!(number, Some(value("dev_item.devid")));
        }
    }
}

#[test]
fn segments_and_areas_of_f2fs_are_those_of_dump_f2fs() {
    need_tools!("mkfs.f2fs", "dump.f2fs", "blkid");
    let mut random = testkit::random(0xf2);
    let scratch = Scratch::new();
    for round in 0..12 {
        let image = scratch.image("f2fs", 512 * MIB);
        let path = scratch::text(&image);
        let (section, zone) = (1 + random.below(4), 1 + random.below(3));
        let sector = *random.choose(&["512", "4096"]);
        let (s, z) = (section.to_string(), zone.to_string());
        let mut arguments = vec!["-q", "-f", "-w", sector, "-s", &s, "-z", &z];
        if chance(&mut random) {
            arguments.extend(["-l", "data"]);
        }
        if chance(&mut random) {
            arguments.extend(["-O", "extra_attr,sb_checksum"]);
        }
        arguments.push(path);
        println!("round {round}: {arguments:?}");
        tool::run("mkfs.f2fs", &arguments);
        let system = as_blkid_says(&image);
        assert_eq!(system.block_bytes, Some(4096));
        let bytes = |value: u64| Some(format!("{value} bytes"));
        let said = |term| detail(&system, term).map(str::to_owned);
        assert_eq!(said("segment"), bytes(2 * MIB));
        assert_eq!(said("section"), bytes(2 * MIB * section));
        assert_eq!(said("zone"), bytes(2 * MIB * section * zone));
        let text = tool::run("dump.f2fs", &["-d", "1", path]);
        let value = |name: &str| in_brackets(&text, name).unwrap();
        assert_eq!(system.size_bytes, Some(value("block_count") * 4096));
        assert_eq!(said("first segment at"), bytes(value("segment0_blkaddr") * 4096));
        assert_eq!(said("main area at"), bytes(value("main_blkaddr") * 4096));
    }
}

/// The decimal number that `dump.f2fs` prints for a field: `name [0x 200 : 512]`.
fn in_brackets(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(name))?;
    line.rsplit_once(':')?.1.trim().trim_end_matches(']').trim().parse().ok()
}

#[test]
fn the_data_area_of_fat_is_where_fsck_finds_it() {
    need_tools!("mkfs.vfat", "fsck.fat", "blkid");
    let mut random = testkit::random(0xfa7);
    let scratch = Scratch::new();
    for round in 0..60 {
        let kind = *random.choose(&["12", "16", "32"]);
        let sector = *random.choose(&["512", "1024", "2048", "4096"]);
        let sector_bytes: u64 = sector.parse().unwrap();
        // Between the least and the most clusters of each, in sectors.
        let (cluster, sectors) = match kind {
            "12" => (4, 2000 + random.below(14_000)),
            "16" => (2, 10_000 + random.below(100_000)),
            _ => (1, 70_000 + random.below(100_000)),
        };
        let image = scratch.image("fat", (sectors * sector_bytes).next_multiple_of(1024));
        let path = scratch::text(&image);
        let cluster = cluster.to_string();
        let hidden = *random.choose(&["0", "63", "2048"]);
        let mut arguments = vec!["-F", kind, "-S", sector, "-s", &cluster, "-h", hidden];
        if chance(&mut random) {
            arguments.push("-a");
        }
        if chance(&mut random) {
            arguments.extend(["-n", "DATA"]);
        }
        if chance(&mut random) {
            arguments.extend(["-f", *random.choose(&["1", "2"]), "-R", "37"]);
        }
        arguments.push(path);
        println!("round {round}: {arguments:?}");
        tool::run("mkfs.vfat", &arguments);
        let system = as_blkid_says(&image);
        compare_with_fsck(&system, path, kind);
        let offset = hidden.parse::<u64>().unwrap() * sector_bytes;
        assert_eq!(system.partition_offset_bytes, Some(offset).filter(|&bytes| bytes != 0));
    }
}

fn compare_with_fsck(system: &FileSystem, path: &str, kind: &str) {
    let text = tool::run("fsck.fat", &["-v", "-n", path]);
    let before = |name: &str| {
        let line = text.lines().find(|line| line.contains(name));
        let first = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        first.expect("fsck prints it behind a number")
    };
    assert_eq!(system.variant, Some(format!("FAT{kind}")));
    assert_eq!(system.sector_bytes, Some(before("bytes per logical sector")));
    assert_eq!(system.block_bytes, Some(before("bytes per cluster")));
    let sectors = before("sectors total");
    assert_eq!(system.size_bytes, system.sector_bytes.map(|bytes| bytes * sectors));
    let data = number(&text, "Data area starts at byte");
    assert_eq!(Some(system.data_offset_bytes), data);
    let clusters = before("data clusters").to_string();
    assert_eq!(detail(system, "clusters"), Some(clusters.as_str()));
}

#[test]
fn the_cluster_heap_of_exfat_is_where_dump_exfat_finds_it() {
    need_tools!("mkfs.exfat", "dump.exfat", "blkid");
    let mut random = testkit::random(0xefa);
    let scratch = Scratch::new();
    for round in 0..20 {
        let image = scratch.image("exfat", (64 + random.below(200)) * MIB);
        let path = scratch::text(&image);
        let cluster = *random.choose(&["512", "4K", "32K", "128K", "1M"]);
        let boundary = *random.choose(&["4K", "64K", "1M", "4M"]);
        let mut arguments = vec!["-c", cluster, "-b", boundary];
        if chance(&mut random) {
            arguments.extend(["-L", "two words"]);
        }
        arguments.push(path);
        println!("round {round}: {arguments:?}");
        tool::run("mkfs.exfat", &arguments);
        let system = as_blkid_says(&image);
        let text = tool::run("dump.exfat", &[path]);
        let value = |name: &str| number(&text, name).unwrap();
        let sector_bytes = 1 << value("Sector Size Bits");
        assert_eq!(system.sector_bytes, Some(sector_bytes));
        assert_eq!(system.block_bytes, Some(value("Cluster size")));
        let heap = value("Cluster Heap Offset (sector offset)") * sector_bytes;
        assert_eq!(system.data_offset_bytes, heap);
        assert_eq!(system.size_bytes, Some(value("Volume Length(sectors)") * sector_bytes));
        assert_eq!(system.partition_offset_bytes, None);
    }
}

#[test]
fn sectors_of_a_4096_byte_device_are_those_of_its_file_system() {
    need_loops!();
    need_tools!("mkfs.exfat", "mkfs.vfat", "mkfs.xfs", "blkid");
    let scratch = Scratch::new();
    let makers: [(&str, &[&str], u64); 3] = [
        ("mkfs.exfat", &[], 64),
        ("mkfs.vfat", &["-F", "16"], 64),
        ("mkfs.xfs", &["-q", "-f"], 300),
    ];
    for (name, arguments, mebibytes) in makers {
        let image = scratch.image("image", mebibytes * MIB);
        let device = Loop::attach(&image, 4096);
        tool::run(name, &[arguments, &[scratch::text(device.path())]].concat());
        drop(device);
        assert_eq!(as_blkid_says(&image).sector_bytes, Some(4096), "{name}");
    }
}

#[test]
fn clusters_and_records_of_ntfs_are_those_of_ntfsinfo() {
    need_tools!("mkntfs", "ntfsinfo", "blkid");
    let mut random = testkit::random(0x2f5);
    let scratch = Scratch::new();
    for round in 0..16 {
        let image = scratch.image("ntfs", 64 * MIB);
        let path = scratch::text(&image);
        let sector = *random.choose(&[512_u64, 1024, 2048, 4096]);
        let cluster = sector << random.below(8);
        let start = *random.choose(&[0_u64, 63, 2048]);
        let (s, c, p) = (sector.to_string(), cluster.to_string(), start.to_string());
        let mut arguments =
            vec!["-F", "-Q", "-q", "-s", &s, "-c", &c, "-p", &p, "-H", "16", "-S", "63"];
        if chance(&mut random) {
            arguments.extend(["-L", "Daten äöü"]);
        }
        arguments.push(path);
        println!("round {round}: {arguments:?}");
        tool::run("mkntfs", &arguments);
        let system = as_blkid_says(&image);
        let text = tool::run("ntfsinfo", &["-m", "-f", path]);
        let value = |name: &str| number(&text, name).unwrap();
        assert_eq!(system.sector_bytes, Some(value("Sector Size")));
        assert_eq!(system.block_bytes, Some(value("Cluster Size")));
        let record = format!("{} bytes", value("MFT Record Size"));
        assert_eq!(detail(&system, "file record"), Some(record.as_str()));
        let table = value("LCN of Data Attribute for FILE_MFT") * cluster;
        assert_eq!(detail(&system, "file table at"), Some(format!("{table} bytes").as_str()));
        let clusters = system.size_bytes.map(|bytes| bytes.div_euclid(cluster));
        assert_eq!(clusters, Some(value("Volume Size in Clusters")));
        let offset = start * sector;
        assert_eq!(system.partition_offset_bytes, Some(offset).filter(|&bytes| bytes != 0));
    }
}

#[test]
fn the_page_of_a_swap_area_is_that_of_mkswap() {
    need_tools!("mkswap", "blkid");
    let scratch = Scratch::new();
    for page in [4096_u64, 8192, 16384, 32768, 65536] {
        let image = scratch.image("swap", 8 * MIB + 4096);
        let text = page.to_string();
        let path = scratch::text(&image);
        tool::run("mkswap", &["-q", "-p", &text, "-L", "scratch", "-U", UUID, path]);
        let system = as_blkid_says(&image);
        assert_eq!(system.block_bytes, Some(page));
        let pages = (8 * MIB + 4096).div_euclid(page);
        assert_eq!(system.size_bytes, Some(pages * page));
    }
}
