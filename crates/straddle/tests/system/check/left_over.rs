//! Left-over signatures: none hides a newer partition table, and no command writes over one.

use std::path::{Path, PathBuf};

use testkit::{Loop, Scratch, need_loops, need_tools, tool};

use super::run::{Checked, NO_VERDICT, check, straddle, text};

const MIB: u64 = 1 << 20;
const AT_63: &str = "label: dos\nstart=63, type=83\n";
const AT_1_MIB: &str = "label: dos\nstart=2048, type=83\n";
const SHORT_GPT: &str = "label: gpt\ntable-length: 8\nstart=2048\n";
const EXT4_AT_63: [&str; 5] = ["-q", "-F", "-b", "4096", "-E"];

/// Writes a table and leaves all other signatures where they are.
fn partition(image: &Path, script: &str) {
    tool::run_with_input("sfdisk", &["-q", "--wipe", "never", text(image)], script);
}

fn put(image: &Path, at_bytes: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt as _;
    let file = std::fs::OpenOptions::new().write(true).open(image).expect("the image opens");
    file.write_all_at(bytes, at_bytes).expect("the image is writable");
}

/// An image whose LUKS2 has lost its first header, as a partitioner leaves it.
fn with_second_header(scratch: &Scratch) -> PathBuf {
    let image = scratch.image("disk.raw", 64 * MIB);
    let fast = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"];
    let format = ["luksFormat", "-q", "--type", "luks2", text(&image), "-"];
    tool::run_with_input("cryptsetup", &[&format[..], &fast].concat(), "password");
    put(&image, 0, &[0; 4096]);
    image
}

/// A superblock 1.1 or 1.2 of a RAID 1 of two members, to be at `at_bytes`, with the sector at which
/// its data starts.
fn md_superblock(at_bytes: u64, data_sectors: u32) -> Vec<u8> {
    let mut bytes = vec![0; 260];
    let mut word = |at: usize, value: u32| {
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    };
    let place = u32::try_from(at_bytes / 512).expect("it is near the start");
    for (at, value) in [
        (0, 0xa92b_4efc),
        (4, 1),
        (16, 0xabab_abab),
        (72, 1),
        (80, 100_000),
        (92, 2),
        (128, data_sectors),
        (136, 100_000),
        (144, place),
        (168, 0xcdcd_cdcd),
        (200, 7),
        (220, 2),
        (256, 0x1_0000),
    ] {
        word(at, value);
    }
    let words = bytes.chunks(4).map(|word| {
        let word: [u8; 4] = word.try_into().expect("a whole word");
        u64::from(u32::from_le_bytes(word))
    });
    let sum: u64 = words.sum();
    let folded = (sum & 0xffff_ffff) + (sum >> 32);
    bytes[216..220].copy_from_slice(&u32::try_from(folded).expect("few words").to_le_bytes());
    bytes
}

fn kinds(checked: &Checked) -> Vec<&str> {
    let layers = checked.target["layers"].as_array().expect("layers are a list");
    layers.iter().map(|layer| layer["kind"].as_str().expect("a word")).collect()
}

/// Asserts that both are named, and that nothing plans or converts the disk.
fn assert_undecided(image: &Path, member: &str) {
    let checked = check(&[text(image)]);
    let is_named = checked.has("ST404", "warning") || checked.has("ST404", "info");
    assert!(is_named, "{:#}", checked.target);
    let said = checked.target.to_string();
    assert!(said.contains(member) && said.contains("partition table"), "{said}");
    assert!(!said.contains("sfdisk") && !said.contains("straddle plan"), "{said}");
    for words in [&["plan"][..], &["convert", "--dry-run", "--sector", "4096"]] {
        let ran = straddle(&[words, &[text(image)]].concat());
        let code = if words.len() == 1 { NO_VERDICT } else { 3 };
        assert_eq!(ran.status.code(), Some(code), "{ran:?}");
    }
}

#[test]
fn a_second_luks2_header_never_hides_a_partition() {
    need_tools!("cryptsetup", "sfdisk");
    let scratch = Scratch::new();
    let image = with_second_header(&scratch);
    assert_eq!(kinds(&check(&[text(&image)])), ["image-file", "luks"], "it is all that is there");
    partition(&image, AT_63);
    let checked = check(&[text(&image)]);
    assert_eq!(kinds(&checked), ["image-file", "partition"]);
    assert_eq!(checked.verdict("partition", "#1"), "misaligned");
    assert!(checked.has("ST410", "info"), "{:#}", checked.target);
}

#[test]
fn a_plan_moves_nothing_down_over_what_is_left_before_the_first_partition() {
    need_tools!("cryptsetup", "sfdisk", "mkfs.ext4");
    let scratch = Scratch::new();
    let image = with_second_header(&scratch);
    partition(&image, AT_63);
    let options = [&EXT4_AT_63[..], &["offset=32256", text(&image), "60000k"]].concat();
    tool::run("mkfs.ext4", &options);
    let ran = straddle(&["plan", "--json", text(&image)]);
    let plan: serde_json::Value = serde_json::from_slice(&ran.stdout).expect("a plan is JSON");
    let said = plan.to_string();
    assert!(said.contains("32768") && !said.contains("28672"), "{plan:#}");
}

#[test]
fn a_table_without_partitions_over_a_second_luks2_header_is_not_empty() {
    need_tools!("cryptsetup", "sfdisk");
    let scratch = Scratch::new();
    let image = with_second_header(&scratch);
    partition(&image, "label: dos\n");
    let checked = check(&[text(&image)]);
    assert_eq!(checked.target["verdict"], "unknown", "{:#}", checked.target);
}

#[test]
fn an_md_superblock_at_the_start_and_a_table_have_a_verdict_where_both_have_the_same() {
    need_tools!("sfdisk");
    for (at_bytes, member) in [(0, "md 1.1"), (4096, "md 1.2")] {
        for (script, data_sectors, verdict) in [
            (AT_63, 2048, "unknown"),
            (AT_63, 2049, "misaligned"),
            (AT_1_MIB, 2048, "aligned"),
            (SHORT_GPT, 2048, "aligned"),
            (AT_1_MIB, 2049, "unknown"),
        ] {
            let scratch = Scratch::new();
            let image = scratch.image("disk.raw", 64 * MIB);
            partition(&image, script);
            put(&image, at_bytes, &md_superblock(at_bytes, data_sectors));
            assert_undecided(&image, member);
            let checked = check(&[text(&image)]);
            let severity = if verdict == "unknown" { "warning" } else { "info" };
            assert!(checked.has("ST404", severity), "{verdict}: {:#}", checked.target);
            assert_eq!(checked.target["verdict"], verdict, "{member}: {:#}", checked.target);
            assert_eq!(checked.verdict("partition", "#1"), verdict, "{member}, {script}");
        }
    }
}

#[test]
fn nothing_on_an_undecided_disk_is_recreated_before_it_is_decided() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = Scratch::new();
    let image = scratch.image("disk.raw", 64 * MIB);
    partition(&image, AT_1_MIB);
    let words = ["-q", "-F", "-b", "1024", "-E", "offset=1048576", text(&image), "60M"];
    tool::run("mkfs.ext4", &words);
    assert!(check(&[text(&image)]).target.to_string().contains("ERASES"));
    put(&image, 4096, &md_superblock(4096, 2048));
    assert_undecided(&image, "md 1.2");
    let said = check(&[text(&image)]).target.to_string();
    assert!(said.contains("first do the fix of ST404") && !said.contains("ERASES"), "{said}");
    let ran = straddle(&["plan", text(&image)]);
    let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(errors.contains("find out first which of them is in use"), "{errors}");
}

#[test]
fn an_md_superblock_under_a_table_in_a_guests_disk_is_unknown_too() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = Scratch::new();
    let raw = scratch.image("disk.raw", 64 * MIB);
    partition(&raw, AT_1_MIB);
    put(&raw, 4096, &md_superblock(4096, 2049));
    let image = scratch.path().join("disk.qcow2");
    tool::run("qemu-img", &["convert", "-O", "qcow2", text(&raw), text(&image)]);
    assert_eq!(check(&[text(&image)]).target["verdict"], "unknown");
}

#[test]
fn a_loop_device_shows_the_partition_that_the_kernel_has_over_what_is_left() {
    need_tools!("cryptsetup", "sfdisk", "partx");
    need_loops!();
    let scratch = Scratch::new();
    let image = with_second_header(&scratch);
    partition(&image, AT_63);
    let disk = Loop::attach(&image, 512);
    let part = disk.partition(1);
    let name = part.file_name().and_then(|name| name.to_str()).expect("a device's name");
    let checked = check(&[text(disk.path())]);
    assert_eq!(checked.verdict("partition", name), "misaligned");
    assert!(!kinds(&checked).contains(&"luks"), "{:#}", checked.target);
}

/// A FAT whose data begin at an odd sector, and a btrfs over it.
#[test]
fn two_file_systems_have_a_verdict_where_both_have_the_same_and_no_fix_that_erases_one() {
    need_tools!("mkfs.fat", "mkfs.ext4", "mkfs.btrfs");
    let scratch = Scratch::new();
    let btrfs = scratch.image("btrfs.raw", 128 * MIB);
    tool::run("mkfs.btrfs", &["-q", "-f", "-M", text(&btrfs)]);
    let head = std::fs::read(&btrfs).expect("it is there")[65_536..69_632].to_vec();
    for (words, verdict) in [
        (&["mkfs.fat", "-F", "32", "-s", "1", "-R", "33"][..], "unknown"),
        (&["mkfs.ext4", "-q", "-F", "-b", "1024"], "aligned"),
    ] {
        let image = scratch.image("disk.raw", 128 * MIB);
        tool::run(words[0], &[&words[1..], &[text(&image)]].concat());
        let alone = check(&[text(&image)]);
        assert!(alone.target.to_string().contains("ERASES"), "{:#}", alone.target);
        put(&image, 65_536, &head);
        let checked = check(&[text(&image)]);
        assert_eq!(checked.target["verdict"], verdict, "{words:?}: {:#}", checked.target);
        let severity = if verdict == "unknown" { "warning" } else { "info" };
        assert!(checked.has("ST404", severity), "{:#}", checked.target);
        let said = checked.target.to_string();
        assert!(said.contains("btrfs") && !said.contains("ERASES"), "{said}");
        for (words, code) in
            [(&["plan"][..], NO_VERDICT), (&["convert", "--dry-run", "--sector", "4096"], 3)]
        {
            let ran = straddle(&[words, &[text(&image)]].concat());
            let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
            // Whichever it is, nothing needs to move.
            let is_settled = verdict == "aligned" && words[0] == "plan";
            assert_eq!(ran.status.code(), Some(if is_settled { 0 } else { code }), "{errors}");
            assert!(is_settled || errors.contains("tools disagree"), "{errors}");
        }
    }
}

#[test]
fn a_partition_with_two_file_systems_is_neither_planned_nor_converted() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.btrfs");
    let scratch = Scratch::new();
    let btrfs = scratch.image("btrfs.raw", 128 * MIB);
    tool::run("mkfs.btrfs", &["-q", "-f", "-M", text(&btrfs)]);
    let head = std::fs::read(&btrfs).expect("it is there")[65_536..69_632].to_vec();
    let image = scratch.image("disk.raw", 64 * MIB);
    partition(&image, "label: gpt\nstart=2048, size=40960, type=uefi\n");
    tool::run("mkfs.fat", &["-F", "16", "--offset", "2048", text(&image), "20480"]);
    put(&image, MIB + 65_536, &head);
    let before = std::fs::read(&image).expect("it is there");
    for words in [
        &["plan", "--on", "granule=16M"][..],
        &["convert", "--dry-run", "--sector", "4096"],
        &["convert", "--sector", "4096", "--plan", "-"],
    ] {
        let ran = straddle(&[words, &[text(&image)]].concat());
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        let is_refused = matches!(ran.status.code(), Some(3 | NO_VERDICT));
        assert!(is_refused && errors.contains("#1: vfat and btrfs"), "{words:?}: {ran:?}");
    }
    assert!(std::fs::read(&image).expect("it is there") == before);
}

/// mkfs.ext4 with blocks of 1 KiB puts a copy of its superblock at 8193 KiB, 1 KiB after the place
/// where a partition at sector 2048 would start in sectors of 4096 bytes.
#[test]
fn a_copy_of_an_old_superblock_is_no_evidence_for_the_sectors_of_a_table() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = Scratch::new();
    let image = scratch.image("disk.raw", 400 * MIB);
    tool::run("mkfs.ext4", &["-q", "-F", "-b", "1024", text(&image)]);
    partition(&image, "label: dos\nstart=2048, size=81920, type=83\n");
    put(&image, 1024, &[0; 1024]);
    put(&image, MIB, &[0; 4096]);
    let checked = check(&[text(&image)]);
    let start = checked.layer("partition", "#1")["start_bytes"].as_u64();
    assert_eq!(start, Some(MIB), "{:#}", checked.target);
    assert!(!checked.has("ST301", "info") && !checked.has("ST301", "error"));
}

#[test]
fn a_hybrid_mbr_is_removed_only_beside_a_gpt_without_damage() {
    need_tools!("sgdisk");
    let scratch = Scratch::new();
    let image = scratch.image("disk.raw", 64 * MIB);
    tool::run("sgdisk", &["-n", "1:2048:+10M", "-n", "2:0:+10M", text(&image)]);
    tool::run("sgdisk", &["-h", "1:EE", text(&image)]);
    assert!(check(&[text(&image)]).target.to_string().contains("| gdisk "));
    put(&image, 512 + 16, &[0xff]);
    let said = check(&[text(&image)]).target.to_string();
    assert!(said.contains("ST409") && !said.contains("| gdisk "), "{said}");
}

#[test]
fn a_disk_that_was_cut_short_is_not_extended_over_what_is_at_its_end() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = scratch.image("disk.raw", 24 * MIB);
    partition(&image, "label: gpt\nstart=2048, size=20480\n");
    let file = std::fs::OpenOptions::new().write(true).open(&image).expect("it opens");
    file.set_len(24 * MIB - 8192).expect("it is cut");
    let said = check(&[text(&image)]).target.to_string();
    assert!(said.contains("truncate -s 25165824"), "{said}");
    put(&image, 24 * MIB - 12_288, b"FOREIGN-LABEL");
    let said = check(&[text(&image)]).target.to_string();
    assert!(!said.contains("truncate") && !said.contains("--relocate"), "{said}");
}
