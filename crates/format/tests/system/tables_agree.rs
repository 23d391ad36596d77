//! Agreement with sfdisk, parted and sgdisk on tables that they make, over many geometries.
//!
//! All of them say these, which are compared: label, id, sector size, numbers, starts, lengths,
//! types, ids, names and boot flags. Where this crate says more or differs on purpose, the place
//! says why.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use device::MemoryDisk;
use format::Parsed;
use format::probe::{self, Hint, ProbedContent};
use format::table::bsd::Counting;
use format::table::{self, PartitionTable, TableKind, gpt, mbr};
use testkit::scratch::text;
use testkit::{FileDisk, Loop, Scratch, need_loops, need_tools, tool};
use units::SectorSize;
use units::random::Random;

const MIB: u64 = 1 << 20;

/// Partitions by number: first sector and number of sectors.
type Places = BTreeMap<u64, (u64, u64)>;

/// A random geometry: a disk, its sectors, and places on it in ascending order.
struct Geometry {
    sector: u64,
    sectors: u64,
    places: Vec<(u64, u64)>,
}

impl Geometry {
    /// A disk with at most `most` partitions. Starts are as often odd as round; the first is often
    /// the lowest possible. Between two are `gap` sectors or more.
    fn random(random: &mut Random, sector: u64, most: u64, gap: u64) -> Geometry {
        let bytes = (64 + random.below(4000)) * MIB + random.below(4) * sector;
        let sectors = bytes.div_euclid(sector);
        let mut at = *random.choose(&[34, 63, 64, 2048]);
        let mut places = Vec::new();
        for _ in 0..=random.below(most) {
            let start = at + gap + random.below(2) * random.below(5000);
            let length = 1 + random.below(sectors.div_euclid(most * 2));
            at = start + length;
            if at + 34 < sectors {
                places.push((start, length));
            }
        }
        Geometry { sector, sectors, places }
    }

    fn image(&self, scratch: &Scratch) -> PathBuf {
        scratch.image("disk.img", self.sectors * self.sector)
    }

    fn sector_size(&self) -> SectorSize {
        SectorSize::new(self.sector).expect("512 or 4096")
    }
}

fn places(table: &PartitionTable) -> Places {
    let sector = table.sector.bytes();
    let place = |partition: &table::Partition| {
        let range = partition.range;
        let start = range.start_bytes().div_euclid(sector);
        (u64::from(partition.number), (start, range.length_bytes().div_euclid(sector)))
    };
    table.partitions.iter().map(place).collect()
}

/// The table of the image, which must be of `kind` and without a problem.
fn sound(image: &Path, kind: TableKind, sector: SectorSize) -> PartitionTable {
    let disk = FileDisk::open(image);
    let found = table::read(&disk, sector, 0).expect("there is a table");
    assert_eq!(found.problems, []);
    assert_eq!((found.value.kind, found.value.sector), (kind, sector));
    // The sector size of a GPT is found whatever is expected.
    if kind == TableKind::Gpt {
        for expected in [512, 1024, 2048, 4096] {
            let expected = SectorSize::new(expected).expect("a size");
            assert_eq!(gpt::read(&disk, expected), Some(Parsed::sound(found.value.clone())));
        }
    }
    found.value
}

/// Compares with `sfdisk --json` of `device`: everything that it says.
fn agree_with_sfdisk(table: &PartitionTable, device: &Path) {
    let json = tool::run("sfdisk", &["--json", text(device)]);
    let json: serde_json::Value = serde_json::from_str(&json).expect("sfdisk prints JSON");
    let json = &json["partitiontable"];
    let lower = |value: &serde_json::Value| value.as_str().map(str::to_lowercase);
    assert_eq!(json["label"], table.kind.word());
    assert_eq!(lower(&json["id"]), table.id);
    assert_eq!(json["sectorsize"], table.sector.bytes());
    if let Some(usable) = table.usable {
        let sector = table.sector.bytes();
        assert_eq!(json["firstlba"], usable.start_bytes().div_euclid(sector));
        assert_eq!(json["lastlba"], usable.end_bytes().div_euclid(sector) - 1);
    }
    let rows = json["partitions"].as_array().cloned().unwrap_or_default();
    assert_eq!(rows.len(), table.partitions.len());
    let ours = places(table);
    for row in &rows {
        let node = row["node"].as_str().expect("a node");
        let number = node.strip_prefix(text(device)).expect("named after the device");
        let number: u64 = number.trim_start_matches('p').parse().expect("a number");
        let (start, length) = ours[&number];
        assert_eq!((&row["start"], &row["size"]), (&start.into(), &length.into()), "{node}");
        let found = table.partitions.iter().find(|found| u64::from(found.number) == number);
        let found = found.expect("listed");
        // sfdisk prints MBR types without `0x` and leading zero.
        let kind = lower(&row["type"]).expect("a type");
        let kind = if table.kind == TableKind::Mbr { format!("{:#04x}", hex(&kind)) } else { kind };
        assert_eq!(kind, found.type_code);
        assert_eq!(lower(&row["uuid"]), found.id);
        let name = found.name.as_ref().map(ToString::to_string).unwrap_or_default();
        assert_eq!(row["name"].as_str().unwrap_or_default(), name);
        let is_legacy = row["attrs"].as_str().is_some_and(|text| text.contains("LegacyBIOS"));
        assert_eq!(row["bootable"].as_bool().unwrap_or(is_legacy), found.bootable);
    }
}

fn hex(text: &str) -> u8 {
    u8::from_str_radix(text, 16).expect("a hexadecimal number")
}

/// Compares label, sector size, numbers, starts and lengths with parted.
fn agree_with_parted(table: &PartitionTable, image: &Path) {
    let output = parted(table.sector.bytes(), image, &["unit", "s", "print"]);
    let mut lines = output.lines().skip(1);
    let disk: Vec<&str> = lines.next().expect("a line for the disk").split(':').collect();
    let label = if table.kind == TableKind::Gpt { "gpt" } else { "msdos" };
    assert_eq!(disk[3..6], [&table.sector.bytes().to_string(), disk[4], label]);
    let number = |text: &str| text.trim_end_matches('s').parse::<u64>().expect("sectors");
    let rows = lines.map(|line| line.split(':').collect::<Vec<_>>());
    let theirs: Places =
        rows.map(|row| (number(row[0]), (number(row[1]), number(row[3])))).collect();
    assert_eq!(theirs, places(table));
}

/// Returns what parted prints, counting in sectors of `sector_bytes` on an image.
fn parted(sector_bytes: u64, image: &Path, arguments: &[&str]) -> String {
    let mut command = tool::command("parted");
    command.env("PARTED_SECTOR_SIZE", sector_bytes.to_string());
    let output = command.args(["-s", "-m", "-a", "none", text(image)]).args(arguments).output();
    let output = output.expect("parted starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?} {printed}");
    printed
}

/// Compares numbers, starts and ends with `sgdisk -p` of `device`.
fn agree_with_sgdisk(table: &PartitionTable, device: &Path) {
    let output = tool::run("sgdisk", &["-p", text(device)]);
    let rows = output.lines().skip_while(|line| !line.starts_with("Number")).skip(1);
    let theirs: Places = rows
        .map(|row| {
            let words = row.split_whitespace().take(3);
            let numbers: Vec<u64> = words.map(|word| word.parse().expect("a number")).collect();
            (numbers[0], (numbers[1], numbers[2] + 1 - numbers[1]))
        })
        .collect();
    assert_eq!(theirs, places(table));
    let id = table.id.as_ref().expect("a GPT has an id").to_uppercase();
    assert!(output.contains(&format!("Disk identifier (GUID): {id}")), "{output}");
}

const KINDS: [&str; 6] = [
    "0FC63DAF-8483-4772-8E79-3D69D8477DE4",
    "21686148-6449-6E6F-744E-656564454649",
    "C12A7328-F81F-11D2-BA4B-00A0C93EC93B",
    "E3C9E316-0B5C-4DB8-817D-F92DF00215AE",
    "516E7CB4-6ECF-11D6-8FF8-00022D09712B",
    "12345678-90AB-CDEF-1234-567890ABCDEF",
];

/// A script for a GPT: numbers with holes, any types, names, flags.
fn gpt_script(random: &mut Random, geometry: &Geometry) -> String {
    let mut script = "label: gpt\nfirst-lba: 34\nunit: sectors\n".to_owned();
    for (place, (start, length)) in geometry.places.iter().enumerate() {
        let number = place * 2 + 1;
        let kind = random.choose(&KINDS);
        let name = random.choose(&[
            "",
            "data",
            "EFI System",
            "größe",
            "a-long-name-of-36-characters-0123456",
        ]);
        let attributes = random.choose(&["", ",attrs=\"LegacyBIOSBootable\""]);
        script += &format!(
            "{number}: start={start},size={length},type={kind},name=\"{name}\"{attributes}\n"
        );
    }
    script
}

/// A script for an MBR: up to three primary partitions, and the rest logical.
fn mbr_script(random: &mut Random, geometry: &Geometry) -> String {
    let mut script =
        format!("label: dos\nlabel-id: {:#010x}\nunit: sectors\n", random.below(1 << 32));
    let (primary, logical) = geometry.places.split_at(geometry.places.len().min(3));
    for (number, (start, length)) in (1..).zip(primary) {
        let kind = random.choose(&["83", "7", "c", "82", "fd", "ef", "0b", "77"]);
        let flag = if number == 2 { ",bootable" } else { "" };
        script += &format!("{number}: start={start},size={length},type={kind}{flag}\n");
    }
    if let (Some(first), Some(last)) = (logical.first(), logical.last()) {
        let kind = random.choose(&["5", "f", "85"]);
        let start = first.0 - 10;
        script += &format!("4: start={start},size={},type={kind}\n", last.0 + last.1 - start);
        for (number, (start, length)) in (5..).zip(logical) {
            script += &format!("{number}: start={start},size={length},type=83\n");
        }
    }
    script
}

fn sfdisk(device: &Path, script: &str) {
    let arguments =
        ["--quiet", "--no-reread", "--no-tell-kernel", "--wipe", "always", text(device)];
    tool::run_with_input("sfdisk", &arguments, script);
}

#[test]
fn gpt_of_sfdisk_in_512_byte_sectors() {
    need_tools!("sfdisk", "parted", "sgdisk");
    let mut random = testkit::random(1);
    for _ in 0..24 {
        let scratch = Scratch::new();
        let geometry = Geometry::random(&mut random, 512, 20, 0);
        let image = geometry.image(&scratch);
        sfdisk(&image, &gpt_script(&mut random, &geometry));
        let table = sound(&image, TableKind::Gpt, SectorSize::B512);
        assert_eq!(table.partitions.len(), geometry.places.len());
        agree_with_sfdisk(&table, &image);
        agree_with_parted(&table, &image);
        agree_with_sgdisk(&table, &image);
    }
}

/// sgdisk sleeps for a second after each write, so many of them sleep side by side.
#[test]
fn gpt_of_sgdisk_in_512_byte_sectors() {
    need_tools!("sfdisk", "parted", "sgdisk");
    let mut random = testkit::random(2);
    std::thread::scope(|scope| {
        for _ in 0..24 {
            let geometry = Geometry::random(&mut random, 512, 12, 0);
            let kinds = geometry.places.iter().map(|_| *random.choose(&["8300", "ef00", "ef02"]));
            let kinds: Vec<&str> = kinds.collect();
            scope.spawn(move || check_sgdisk(&geometry, &kinds));
        }
    });
}

fn check_sgdisk(geometry: &Geometry, kinds: &[&str]) {
    let scratch = Scratch::new();
    let image = geometry.image(&scratch);
    let mut arguments = vec!["--set-alignment=1".to_owned()];
    for (number, ((start, length), kind)) in (1..).zip(geometry.places.iter().zip(kinds)) {
        arguments.push(format!("--new={number}:{start}:{}", start + length - 1));
        arguments.push(format!("--typecode={number}:{kind}"));
    }
    arguments.push(text(&image).to_owned());
    let _ = tool::run("sgdisk", &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let table = sound(&image, TableKind::Gpt, SectorSize::B512);
    assert_eq!(table.partitions.len(), geometry.places.len());
    agree_with_sfdisk(&table, &image);
    agree_with_parted(&table, &image);
    agree_with_sgdisk(&table, &image);
}

#[test]
fn mbr_with_logical_partitions_of_sfdisk_in_512_byte_sectors() {
    need_tools!("sfdisk", "parted");
    let mut random = testkit::random(3);
    let mut logical = 0;
    for _ in 0..28 {
        let scratch = Scratch::new();
        let geometry = Geometry::random(&mut random, 512, 20, 40);
        let image = geometry.image(&scratch);
        sfdisk(&image, &mbr_script(&mut random, &geometry));
        let table = sound(&image, TableKind::Mbr, SectorSize::B512);
        agree_with_sfdisk(&table, &image);
        agree_with_parted(&table, &image);
        logical += table.partitions.iter().filter(|found| found.number > 4).count();
    }
    assert!(logical > 50, "{logical}");
}

/// parted's own tables at both sector sizes; it takes the sector size of an image from its
/// environment.
#[test]
fn tables_of_parted_in_512_and_4096_byte_sectors() {
    need_tools!("parted");
    let mut random = testkit::random(4);
    for round in 0..24 {
        let scratch = Scratch::new();
        let sector = if round % 2 == 0 { 512 } else { 4096 };
        let geometry = Geometry::random(&mut random, sector, 10, 40);
        let image = geometry.image(&scratch);
        let label = *random.choose(&["gpt", "msdos"]);
        let mut words = vec!["mklabel".to_owned(), label.to_owned()];
        let first = geometry.places.get(3).map_or(0, |place| place.0);
        for (place, (start, length)) in geometry.places.iter().enumerate() {
            let range = |start: u64, end: u64| [format!("{start}s"), format!("{end}s")];
            if label == "msdos" && place == 3 {
                words.extend(["mkpart", "extended"].map(str::to_owned));
                words.extend(range(first - 10, geometry.sectors - 1));
            }
            let kind = match label {
                "gpt" => "data",
                _ if place < 3 => "primary",
                _ => "logical",
            };
            words.extend(["mkpart", kind].map(str::to_owned));
            words.extend(range(*start, start + length - 1));
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let _ = parted(sector, &image, &words);
        let kind = if label == "gpt" { TableKind::Gpt } else { TableKind::Mbr };
        agree_with_parted(&sound(&image, kind, geometry.sector_size()), &image);
    }
}

/// Tables at 4096 bytes by sfdisk and sgdisk, which take the size from a device.
#[test]
fn tables_of_sfdisk_and_sgdisk_in_4096_byte_sectors() {
    need_tools!("sfdisk", "parted", "sgdisk");
    need_loops!();
    let mut random = testkit::random(5);
    for round in 0..16 {
        let scratch = Scratch::new();
        let geometry = Geometry::random(&mut random, 4096, 12, 40);
        let image = geometry.image(&scratch);
        let device = Loop::attach(&image, 4096);
        let (kind, script) = match round % 2 {
            0 => (TableKind::Gpt, gpt_script(&mut random, &geometry)),
            _ => (TableKind::Mbr, mbr_script(&mut random, &geometry)),
        };
        sfdisk(device.path(), &script);
        let table = sound(&image, kind, SectorSize::B4096);
        agree_with_sfdisk(&table, device.path());
        agree_with_parted(&table, &image);
        if kind == TableKind::Gpt {
            agree_with_sgdisk(&table, device.path());
        }
    }
    let scratch = Scratch::new();
    let device = Loop::attach(&scratch.image("sgdisk.img", 64 * MIB), 4096);
    let new = ["--new=1:256:511", "--new=3:512:600", text(device.path())];
    let _ = tool::run("sgdisk", &new);
    let image = scratch.path().join("sgdisk.img");
    agree_with_sgdisk(&sound(&image, TableKind::Gpt, SectorSize::B4096), device.path());
}

#[test]
fn hybrid_mbr_of_sgdisk_is_listed_beside_its_gpt() {
    need_tools!("sgdisk");
    let scratch = Scratch::new();
    let image = scratch.image("disk.img", 64 * MIB);
    let arguments = ["-n", "1:2048:4095", "-n", "2:4096:9999", "-h", "1:2", text(&image)];
    let _ = tool::run("sgdisk", &arguments);
    let table = sound(&image, TableKind::Gpt, SectorSize::B512);
    let hybrid: Vec<_> = table.hybrid.iter().map(|entry| entry.range).collect();
    let listed: Vec<_> = table.partitions.iter().map(|entry| entry.range).collect();
    assert_eq!(hybrid, listed);
}

#[test]
fn a_gpt_disk_that_grew_shrank_or_lost_a_copy_is_described_as_it_was() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = scratch.image("disk.img", 64 * MIB);
    sfdisk(&image, "label: gpt\nstart=2048,size=100\nstart=4096,size=5000\n");
    let before = sound(&image, TableKind::Gpt, SectorSize::B512);
    let file = std::fs::OpenOptions::new().write(true).open(&image).unwrap();
    for (length, word) in [(100 * MIB, "has grown"), (20 * MIB, "cut short")] {
        file.set_len(length).unwrap();
        let found = table::read(&FileDisk::open(&image), SectorSize::B512, 0).unwrap();
        assert_eq!(found.value.partitions, before.partitions);
        assert!(found.problems[0].detail.contains(word), "{:?}", found.problems);
    }
}

#[test]
fn boot_sectors_of_file_systems_are_no_tables() {
    need_tools!("mkfs.vfat", "mkfs.ntfs", "mkfs.exfat", "blkid");
    let made: [(&str, &[&str]); 6] = [
        ("mkfs.vfat", &["-F", "12"]),
        ("mkfs.vfat", &["-F", "16"]),
        ("mkfs.vfat", &["-F", "32"]),
        // Its one entry, from sector 0 on, is there to please Windows; blkid too says FAT alone.
        ("mkfs.vfat", &["-F", "32", "--mbr=yes"]),
        ("mkfs.ntfs", &["-F", "-Q", "-q"]),
        ("mkfs.exfat", &[]),
    ];
    for (name, options) in made {
        let scratch = Scratch::new();
        let image =
            scratch.image("fs.img", if options.contains(&"12") { 4 * MIB } else { 64 * MIB });
        let arguments: Vec<&str> = options.iter().copied().chain([text(&image)]).collect();
        let _ = tool::run(name, &arguments);
        let disk = FileDisk::open(&image);
        assert_eq!(mbr::read(&disk, SectorSize::B512), None, "{name} {options:?}");
        assert_eq!(table::read(&disk, SectorSize::B512, 0), None, "{name} {options:?}");
        let theirs = tool::run("blkid", &["-p", "-o", "export", text(&image)]);
        // libblkid 2.38 takes exFAT's boot sector for an empty table; later versions do not.
        assert!(!theirs.contains("PTTYPE") || name == "mkfs.exfat", "{theirs}");
    }
}

/// sfdisk keeps the first 440 bytes, so FAT's parameters stay before the new table. libblkid then
/// says FAT, the kernel makes the partition; both are told here.
#[test]
fn a_fat_stick_that_was_partitioned_later_is_a_table_with_a_problem() {
    need_tools!("sfdisk", "mkfs.vfat");
    let scratch = Scratch::new();
    let image = scratch.image("stick.img", 64 * MIB);
    let _ = tool::run("mkfs.vfat", &["-F", "16", text(&image)]);
    let arguments = ["--quiet", "--wipe", "never", text(&image)];
    tool::run_with_input("sfdisk", &arguments, "label: dos\nstart=2048,size=1000,type=c\n");
    let found = mbr::read(&FileDisk::open(&image), SectorSize::B512).expect("a table");
    assert_eq!(places(&found.value), Places::from([(1, (2048, 1000))]));
    assert!(found.problems[0].detail.contains("FAT"));
}

#[test]
fn an_empty_table_counts_where_there_is_nothing_else() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = scratch.image("disk.img", 64 * MIB);
    sfdisk(&image, "label: dos\n");
    let hint = Hint {
        sector: SectorSize::B512,
        start_bytes: 0,
        counting: Counting::Unknown,
        tables: true,
    };
    let found = probe::read(&FileDisk::open(&image), hint);
    assert!(
        matches!(&found.found[..], [Parsed { value: ProbedContent::Table(table), .. }] if table.kind == TableKind::Mbr)
    );
    assert!(probe::read(&MemoryDisk::new(MIB), hint).is_empty());
}

#[test]
fn the_types_that_sfdisk_lists_are_the_same_ones() {
    need_tools!("sfdisk");
    let listed = |label: &str| {
        let text = tool::run("sfdisk", &["--list-types", "--label", label]);
        let rows = text.lines().skip(2);
        let codes = rows.filter_map(|line| line.split_whitespace().next());
        codes.map(str::to_lowercase).collect::<BTreeSet<String>>()
    };
    let (guids, codes) = table::known_types();
    let listed_guids = listed("gpt");
    // Newer than some versions of util-linux.
    let newer = ["ca7d7ccb-63ed-4c53-861c-1742536059cc"];
    for guid in guids {
        assert!(listed_guids.contains(guid) || newer.contains(&guid), "{guid}");
    }
    let listed_codes = listed("dos");
    for code in codes {
        assert!(listed_codes.contains(&format!("{code:x}")), "{code:#x}");
    }
}
