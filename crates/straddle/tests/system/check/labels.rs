//! Disk labels beside MBR and GPT: SGI and Sun are read, others are named and never aligned; and
//! what looks like one thing and is another.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use testkit::{Scratch, need_tools, tool};

use super::run::{Checked, NO_VERDICT, check, partitioned, text};

const MIB: u64 = 1 << 20;

/// Writes `bytes` at `offset` of a file.
fn put(file: &Path, offset: u64, bytes: &[u8]) {
    let opened = OpenOptions::new().write(true).open(file).expect("the file is there");
    opened.write_all_at(bytes, offset).expect("it can be written");
}

fn reasons(checked: &Checked) -> String {
    let layers = checked.target["layers"].as_array().expect("layers are a list");
    layers.iter().map(|layer| layer["reason"].to_string()).collect()
}

#[test]
fn partitions_of_sgi_and_sun_labels_are_judged_like_others() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = Scratch::new();
    // Both label whole cylinders of 16065 sectors; the second start is on 4 KiB.
    for label in ["sgi", "sun"] {
        let script = format!("label: {label}\nstart=16065,size=96390\nstart=128520,size=96390\n");
        let image = partitioned(&scratch, label, 256 * MIB, &script);
        tool::run("mkfs.ext4", &["-q", "-E", "offset=65802240", text(&image), "40M"]);
        let checked = check(&[text(&image), "--on", "512e"]);
        let first = checked.layer("partition", "#1");
        assert_eq!(first["misalignment"]["offset_bytes"], 512, "{label}: {first:#}");
        assert_eq!(checked.verdict("partition", "#2"), "aligned", "{label}");
        assert_eq!(checked.verdict("file-system", "ext4"), "aligned", "{label}");
        assert!(checked.has("ST101", "warning"), "{label}: {:?}", checked.findings());
        assert_eq!(checked.status, 1);
    }
}

#[test]
fn a_label_that_is_not_read_is_named_and_unknown() {
    need_tools!("parted");
    let scratch = Scratch::new();
    for (label, part, name) in [
        ("mac", &["x"][..], "Apple partition map"),
        ("amiga", &[], "Amiga disk label (RDB)"),
        ("atari", &["primary"], "Atari disk label (AHDI)"),
        ("pc98", &[], "PC-98 disk label"),
    ] {
        let image = scratch.image(label, 64 * MIB);
        tool::run("parted", &["-s", text(&image), "mklabel", label]);
        if !part.is_empty() {
            let part = [&["-s", "-a", "none", text(&image), "mkpart"], part, &["2049s", "40000s"]];
            tool::run("parted", &part.concat());
        }
        let checked = check(&[text(&image)]);
        assert_eq!(checked.target["verdict"], "unknown", "{label}: {:#}", checked.target);
        assert_eq!(checked.status, NO_VERDICT, "{label}");
        assert!(reasons(&checked).contains(name), "{label}: {}", reasons(&checked));
    }
}

#[test]
fn a_member_of_a_firmware_array_is_named_and_unknown_though_it_shows_a_table() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let at = |sectors: u64| 64 * MIB - sectors * 512;
    let ddf = [0xde, 0x11, 0xde, 0x11];
    let highpoint = [0xf3, 0x16, 0x78, 0x5a];
    let marks: [(u64, &[u8], &str); 6] = [
        (at(2), b"Intel Raid ISM Cfg Sig. 1.3.00", "Intel RAID member (IMSM)"),
        (at(1), &ddf, "DDF RAID member"),
        (at(2), b"NVIDIA  ", "NVIDIA RAID member"),
        (at(63), b"Promise Technology, Inc.", "Promise FastTrak RAID member"),
        (at(1), b"$XIDE$", "LSI MegaRAID member"),
        (at(11), &highpoint, "HighPoint RAID member"),
    ];
    for (number, (offset, mark, name)) in marks.into_iter().enumerate() {
        let script = "label: dos\nstart=63\n";
        let image = partitioned(&scratch, &format!("member{number}"), 64 * MIB, script);
        put(&image, offset, mark);
        let checked = check(&[text(&image)]);
        assert_eq!(checked.target["verdict"], "unknown", "{name}: {:#}", checked.target);
        assert!(reasons(&checked).contains(name), "{}", reasons(&checked));
    }
}

#[test]
fn a_protective_entry_without_a_gpt_is_damage_and_no_partition() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(
        &scratch,
        "lost.raw",
        64 * MIB,
        "label: gpt\nfirst-lba: 34\nstart=63,size=20000\n",
    );
    put(&image, 512, &[0; 33 * 512]);
    put(&image, 64 * MIB - 33 * 512, &[0; 33 * 512]);
    let checked = check(&[text(&image)]);
    assert_eq!(checked.target["layers"].as_array().map(Vec::len), Some(1), "{:#}", checked.target);
    assert_eq!(checked.target["verdict"], "unknown");
    assert!(reasons(&checked).contains("the GPT is missing"), "{}", reasons(&checked));
    assert_eq!(checked.findings(), [("ST406".to_owned(), "warning".to_owned())]);
}

#[test]
fn a_missing_primary_gpt_is_named_by_its_place_and_the_backup_by_its_own() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "lost.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    put(&image, 512, &[0; 512]);
    let found = check(&[text(&image), "--on", "512e"]).target["findings"].to_string();
    let said = "no primary GPT header at sector 1 (byte 512); the backup at the end of the disk is \
                read instead";
    assert!(found.contains(said), "{found}");
    assert!(!found.contains("instead (sector 1)"), "{found}");
}

#[test]
fn a_bitlocker_to_go_volume_is_no_fat() {
    need_tools!("sfdisk", "mkfs.vfat");
    let scratch = Scratch::new();
    let image = scratch.image("stick.raw", 64 * MIB);
    tool::run("mkfs.vfat", &["-F", "32", "-s", "1", text(&image)]);
    assert_eq!(check(&[text(&image)]).layer("file-system", "vfat")["kind"], "file-system");
    let guid = [
        0x3b, 0xd6, 0x67, 0x49, 0x29, 0x2e, 0xd8, 0x4a, 0x83, 0x99, 0xf6, 0xa3, 0x39, 0xe3, 0xd0,
        0x01,
    ];
    put(&image, 3, b"MSWIN4.1");
    put(&image, 424, &guid);
    let checked = check(&[text(&image)]);
    let layers = checked.target["layers"].as_array().expect("layers are a list");
    assert_eq!(layers.len(), 2, "{:#}", checked.target);
    assert_eq!(checked.verdict("file-system", "BitLocker"), "aligned");
    assert_eq!(checked.findings(), []);
}

#[test]
fn a_swap_area_with_a_hibernated_system_says_so() {
    need_tools!("mkswap");
    let scratch = Scratch::new();
    let image = scratch.image("swap.raw", 64 * MIB);
    tool::run("mkswap", &["-q", text(&image)]);
    put(&image, 4086, b"S1SUSPEND\0");
    let checked = check(&[text(&image)]);
    let title = checked.layer("swap", "swsuspend")["title"].to_string();
    assert!(title.contains("hibernated system, resume it before any change"), "{title}");
}

#[test]
fn a_luks_header_without_its_data_is_called_a_backup_and_a_detached_one_is_not() {
    need_tools!("cryptsetup");
    let scratch = Scratch::new();
    let key = scratch.file("key", b"0123456789abcdef");
    for kind in ["luks1", "luks2"] {
        let image = scratch.image(&format!("{kind}.raw"), 64 * MIB);
        let header = scratch.path().join(format!("{kind}.header"));
        let cheap = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "-q"];
        let format = [&["luksFormat", "--type", kind][..], &cheap, &[text(&image), text(&key)]];
        tool::run("cryptsetup", &format.concat());
        let backup = ["luksHeaderBackup", "--header-backup-file", text(&header), text(&image)];
        tool::run("cryptsetup", &backup);
        let checked = check(&[text(&header)]);
        assert_eq!(checked.target["verdict"], "unknown", "{:#}", checked.target);
        let reasons = reasons(&checked);
        assert!(reasons.contains("a header without its data: a backup"), "{kind}: {reasons}");
        let at = if kind == "luks1" { "2 MiB" } else { "16 MiB" };
        assert!(reasons.contains(at), "{kind}: {reasons}");
    }
    let (image, header) = (scratch.image("data.raw", 64 * MIB), scratch.path().join("detached"));
    let cheap = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "-q"];
    let format = ["luksFormat", "--type", "luks2", "--header", text(&header)];
    let format = [&format[..], &cheap, &[text(&image), text(&key)]].concat();
    tool::run("cryptsetup", &format);
    let reasons = reasons(&check(&[text(&header)]));
    assert!(reasons.contains("the header is detached"), "{reasons}");
}
