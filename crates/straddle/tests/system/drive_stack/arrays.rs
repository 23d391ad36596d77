//! Layers on several drives: each leaf is a drive, and parity is read before it is written.

use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use testkit::scratch::text;
use testkit::{Scratch, need_tools, tool};

use super::{MIB, SECTOR, capture, refused, simulated};

/// An array of images: what md's superblock 1.2 says of it.
#[derive(Clone, Copy)]
pub(crate) struct Md {
    level: i32,
    layout: u32,
    pub(crate) members: u32,
    chunk_sectors: u32,
    /// Place where the data begin on each member.
    data_sector: u64,
}

pub(crate) const RAID5: Md =
    Md { level: 5, layout: 2, members: 4, chunk_sectors: 128, data_sector: 2048 };

/// The image of member `number`.
pub(crate) fn member(scratch: &Scratch, md: Md, number: u32) -> PathBuf {
    let path = scratch.image(&format!("member{number}.raw"), 64 * MIB);
    let mut block = vec![0_u8; 256 + 2 * 16];
    let sectors = 64 * MIB / SECTOR - md.data_sector;
    let size = sectors / 2048 * 2048;
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &0xa92b_4efc_u32.to_le_bytes());
    put(4, &1_u32.to_le_bytes());
    put(16, &[7; 16]);
    put(32, b"host:0");
    put(72, &md.level.to_le_bytes());
    put(76, &md.layout.to_le_bytes());
    put(80, &size.to_le_bytes());
    put(88, &md.chunk_sectors.to_le_bytes());
    put(92, &md.members.to_le_bytes());
    put(128, &md.data_sector.to_le_bytes());
    put(136, &sectors.to_le_bytes());
    put(144, &8_u64.to_le_bytes());
    put(160, &number.to_le_bytes());
    put(168, &[u8::try_from(number).expect("few"); 16]);
    put(200, &1_u64.to_le_bytes());
    put(208, &u64::MAX.to_le_bytes());
    put(220, &16_u32.to_le_bytes());
    for role in 0..16_u16 {
        let role_of = if u32::from(role) < md.members { role } else { 0xffff };
        put(256 + 2 * usize::from(role), &role_of.to_le_bytes());
    }
    let words = block
        .chunks(4)
        .map(|word| u64::from(u32::from_le_bytes([word[0], word[1], word[2], word[3]])));
    let sum: u64 = words.sum();
    let folded = (sum & 0xffff_ffff) + (sum >> 32);
    let folded = u32::try_from(folded & 0xffff_ffff).expect("32 bits");
    block[216..220].copy_from_slice(&folded.to_le_bytes());
    let file = std::fs::File::options().write(true).open(&path).expect("it is ours");
    file.write_all_at(&block, 4096).expect("it can be written");
    path
}

/// Returns what a workload costs on all members of an array.
fn on_array(md: Md, arguments: &[&str]) -> Value {
    let scratch = Scratch::new();
    let members: Vec<PathBuf> =
        (0..md.members).map(|number| member(&scratch, md, number)).collect();
    let (first, rest) = members.split_first().expect("there are some");
    let rest: Vec<&str> = rest.iter().map(|path| text(path)).collect();
    simulated(text(first), &[&rest[..], arguments].concat())
}

/// Bytes read and written by all drives of an arm, for each operation.
fn each(arm: &Value) -> (f64, f64) {
    let leaves = arm["leaves"].as_array().expect("a list");
    let sum = |key: &str| -> f64 {
        let all = leaves.iter().map(|leaf| leaf[key].as_f64().expect("a number"));
        all.sum::<f64>() / arm["operations"].as_f64().expect("a number")
    };
    (sum("read_bytes"), sum("written_bytes"))
}

#[test]
fn an_array_of_images_reads_and_writes_on_its_drives_what_its_level_needs() {
    let chunk = u64::from(RAID5.chunk_sectors) * SECTOR;
    assert_eq!(chunk, 65536);
    for (level, layout, reads, writes) in [
        (0, 0, 0.0, 1.0),
        (1, 0, 0.0, 4.0),
        (5, 2, 2.0, 2.0),
        // Of two data members the other one is read.
        (6, 2, 1.0, 3.0),
        (10, 0x102, 0.0, 2.0),
    ] {
        let document = on_array(Md { level, layout, ..RAID5 }, &["--random"]);
        let arm = &document["arms"][1];
        assert_eq!(arm["leaves"].as_array().map(Vec::len), Some(4), "level {level}: {arm}");
        assert_eq!(arm["failed"], 0, "level {level}");
        assert_eq!(each(arm), (reads * 4096.0, writes * 4096.0), "level {level}");
        let ratio = arm["ratio"].as_f64().expect("a number");
        assert!((ratio - 1.0).abs() < 0.05, "level {level} costs {ratio}");
    }
}

#[test]
fn members_whose_data_begin_a_sector_off_cost_reads_on_every_drive() {
    let document = on_array(Md { data_sector: 2049, ..RAID5 }, &[]);
    let [aligned, own] = [0, 1].map(|at| &document["arms"][at]);
    assert_eq!(aligned["did"]["rmw_reads"], 0, "{aligned}");
    assert_eq!(own["did"]["rmw_reads"], 4 * 500, "two parts for the data, two for the parity");
    let ratio = own["ratio"].as_f64().expect("a number");
    assert!((2.7..3.3).contains(&ratio), "{ratio}: two turns more for each half");
}

#[test]
fn an_array_of_images_costs_what_the_array_of_the_house_does() {
    let own = on_array(RAID5, &[]);
    let house = Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(["drive", "simulate", "--json", "--operations", "500"])
        .args(["--profile", "raid5-5x64k", "--set", "members=4"])
        .args(["--set", "parity_write=fewer"])
        .output()
        .expect("the binary runs");
    let house: Value = serde_json::from_slice(&house.stdout).expect("it is JSON");
    let (own, house) = (&own["arms"][1], &house["arms"][0]);
    assert_eq!(own["did"]["parity_rmws"], house["did"]["parity_rmws"]);
    let rate = |arm: &Value| arm["operations_per_second"].as_f64().expect("a number");
    let ratio = rate(own) / rate(house);
    assert!((ratio - 1.0).abs() < 0.05, "{ratio}: {own} {house}");
}

#[test]
fn a_member_alone_is_refused_with_what_to_give() {
    let scratch = Scratch::new();
    let one = member(&scratch, RAID5, 0);
    let said = refused(text(&one), &[]);
    assert!(said.contains("lies on 4 drives, of which 3 are missing"), "{said}");
    assert!(said.contains("--stack A B C") && said.contains("hint: "), "{said}");
    let said = refused(text(&one), &["/dev/null"]);
    assert!(said.contains("it is a character device"), "{said}");
}

#[test]
fn captured_arrays_and_what_lies_on_them_are_followed_to_every_drive() {
    for (name, stack, layer, drives, cost) in [
        ("md-raid5-512e.k6.12.sysroot", "md0", "md0", 4, 1.0),
        ("md-raid5-p63.k6.12.sysroot", "md0", "md0", 4, 3.0),
        (
            "nested-md5-lvm-luks-ext4.k6.12.sysroot",
            "/dev/mapper/crypt0",
            "md0 vg0/lv0 crypt0 ext4",
            4,
            1.0,
        ),
        ("dm-striped.k6.12.sysroot", "sdi", "striped64k", 2, 1.0),
    ] {
        let document = simulated(stack, &["--sysroot", &capture(name)]);
        let arm = &document["arms"][1];
        assert_eq!(arm["layer"], layer, "{name}");
        assert_eq!(arm["leaves"].as_array().map(Vec::len), Some(drives), "{name}");
        let ratio = arm["ratio"].as_f64().expect("a number");
        assert!((ratio - cost).abs() < 0.05, "{name} costs {ratio}");
    }
}

#[test]
fn a_btrfs_on_three_images_writes_where_its_data_chunks_lie() {
    need_tools!("mkfs.btrfs");
    for (profile, reads, writes) in
        [("raid0", 0.0, 1.0), ("raid1", 0.0, 2.0), ("raid5", 1.0, 2.0), ("single", 0.0, 1.0)]
    {
        let scratch = Scratch::new();
        let images = ["a", "b", "c"].map(|name| scratch.image(name, 300 * MIB));
        let [a, b, c] = images.each_ref().map(|path| text(path));
        tool::run("mkfs.btrfs", &["-q", "-f", "-d", profile, "-m", "raid1", a, b, c]);
        let document = simulated(a, &[b, c]);
        assert_eq!(
            document["arms"].as_array().map(Vec::len),
            Some(2),
            "{profile}: one row, one base"
        );
        let arm = &document["arms"][1];
        assert!(arm["layer"].as_str().is_some_and(|name| name.ends_with("btrfs data")), "{arm}");
        assert_eq!(arm["did"]["parity_rmws"].as_u64(), Some(if reads > 0.0 { 500 } else { 0 }));
        if arm["leaves"].as_array().is_some_and(|leaves| !leaves.is_empty()) {
            assert_eq!(each(arm), (reads * 4096.0, writes * 4096.0), "{profile}");
        }
        let notes = simulated(a, &[])["notes"].to_string();
        assert!(notes.contains("of its devices are missing"), "{profile}: {notes}");
    }
}
