//! Media that are made whole and never written in place.

use std::path::{Path, PathBuf};

use testkit::{Scratch, need_tools, tool};

use super::run::{NO_VERDICT, check, partitioned, place, straddle, text};

const MIB: u64 = 1 << 20;

/// A directory with two files of some MiB.
fn content(scratch: &Scratch) -> PathBuf {
    let directory = scratch.path().join("content");
    std::fs::create_dir(&directory).expect("it can be made");
    for name in ["one", "two"] {
        std::fs::write(directory.join(name), vec![0x5a; 2 << 20]).expect("it is written");
    }
    directory
}

/// An ISO that a BIOS starts from a USB stick: its MBR has an entry for the image itself.
fn hybrid(scratch: &Scratch, content: &Path) -> PathBuf {
    let image = scratch.path().join("hybrid.iso");
    let mbr = scratch.file("mbr.bin", &[0; 432]);
    std::fs::write(content.join("boot.img"), [0x90; 4096]).expect("it is written");
    let boot = ["-c", "boot.cat", "-b", "boot.img", "-no-emul-boot", "-boot-load-size", "4"];
    let mut arguments = vec!["-as", "mkisofs", "-quiet", "-o", text(&image)];
    arguments.extend(["-isohybrid-mbr", text(&mbr)]);
    arguments.extend(boot);
    arguments.push(text(content));
    tool::run("xorriso", &arguments);
    image
}

/// Asserts that a plan says that the medium is read-only, and that its script does nothing.
fn assert_no_plan(image: &Path) {
    let planned = straddle(&["plan", text(image)]);
    let said = String::from_utf8(planned.stdout).expect("it is text");
    assert_eq!(planned.status.code(), Some(0), "{}", String::from_utf8_lossy(&planned.stderr));
    assert!(said.contains("nothing to change: read-only: "), "{said}");
    let script = straddle(&["plan", "--script", text(image)]);
    assert_eq!(script.status.code(), Some(0), "{said}");
    assert_eq!(String::from_utf8_lossy(&script.stdout).lines().count(), 2, "{script:?}");
}

/// Asserts that nothing costs anything, nothing is to be done, and all is well.
fn assert_quiet(image: &Path) {
    for on in ["512n", "512e"] {
        let checked = check(&[text(image), "--on", on]);
        assert_eq!(checked.status, 0, "{on}: {:#}", checked.target);
        for finding in checked.target["findings"].as_array().expect("a list") {
            assert_eq!(finding["severity"], "info", "{finding:#}");
            assert!(finding.get("cost").is_none_or(serde_json::Value::is_null), "{finding:#}");
            assert_eq!(finding["remedies"].as_array().map(Vec::len), Some(0), "{finding:#}");
        }
    }
}

#[test]
fn a_udf_bridge_and_a_bootable_iso_cost_nothing_and_have_nothing_to_mend() {
    need_tools!("genisoimage", "xorriso");
    let scratch = Scratch::new();
    let content = content(&scratch);
    let bridge = scratch.path().join("bridge.iso");
    tool::run("genisoimage", &["-quiet", "-udf", "-o", text(&bridge), text(&content)]);
    assert_quiet(&bridge);
    assert!(check(&[text(&bridge)]).has("ST104", "info"), "its UDF starts 2 KiB off");
    let hybrid = hybrid(&scratch, &content);
    assert_quiet(&hybrid);
    assert_no_plan(&bridge);
    assert_no_plan(&hybrid);
}

#[test]
fn squashfs_and_erofs_one_sector_off_cost_nothing() {
    need_tools!("mksquashfs", "mkfs.erofs", "sfdisk", "dd");
    let scratch = Scratch::new();
    let content = content(&scratch);
    let squash = scratch.path().join("squashfs");
    tool::run("mksquashfs", &[text(&content), text(&squash), "-quiet", "-no-progress"]);
    let erofs = scratch.path().join("erofs");
    tool::run("mkfs.erofs", &[text(&erofs), text(&content)]);
    let packed = scratch.path().join("packed");
    let arguments = [text(&content), text(&packed), "-quiet", "-no-progress", "-nopad"];
    tool::run("mksquashfs", &arguments);
    assert!(!std::fs::metadata(&packed).unwrap().len().is_multiple_of(512));
    assert_eq!(check(&[text(&packed)]).findings(), [], "it ends where it ends");
    for system in [squash, erofs] {
        assert_no_plan(&system);
        let disk = partitioned(&scratch, "disk.raw", 16 * MIB, "label: dos\nstart=1\n");
        place(&system, &disk, 512);
        assert_quiet(&disk);
        let checked = check(&[text(&disk), "--explain"]);
        assert!(checked.has("ST104", "info"), "{:#}", checked.target);
        let said = checked.target.to_string();
        assert!(said.contains("is never written in place"), "{said}");
    }
}

#[test]
fn a_partition_for_data_after_an_iso_is_judged() {
    need_tools!("xorriso", "sfdisk", "mkfs.ext4", "dd");
    let scratch = Scratch::new();
    let stick = hybrid(&scratch, &content(&scratch));
    let end = std::fs::metadata(&stick).unwrap().len();
    let start = end.next_multiple_of(MIB) + 512;
    std::fs::OpenOptions::new().write(true).open(&stick).unwrap().set_len(64 * MIB).unwrap();
    let script = format!("start={}, size=40960\n", start / 512);
    tool::run_with_input("sfdisk", &["-q", "--append", text(&stick)], &script);
    let system = scratch.image("ext4", 20 * MIB);
    tool::run("mkfs.ext4", &["-q", "-F", text(&system)]);
    place(&system, &stick, start);
    let checked = check(&[text(&stick), "--on", "512e"]);
    assert_eq!(checked.status, 1, "{:#}", checked.target);
    assert!(checked.has("ST101", "warning"), "{:?}", checked.findings());
    assert_eq!(checked.layer("partition", "#2")["first_bad"], true);
    let plan = straddle(&["plan", text(&stick)]);
    assert_eq!(plan.status.code(), Some(NO_VERDICT));
    let said = String::from_utf8_lossy(&plan.stderr);
    assert!(said.contains("bootable ISO") && !said.contains("repair the table"), "{said}");
    let fix = checked.target["findings"][0]["remedies"].to_string();
    assert!(fix.contains("back up, recreate it at sector"), "no tool writes such a table: {fix}");
}

#[test]
fn a_fat_that_took_the_place_of_an_iso_is_judged() {
    need_tools!("xorriso", "sfdisk", "mkfs.vfat", "dd");
    let scratch = Scratch::new();
    let stick = hybrid(&scratch, &content(&scratch));
    // As sfdisk does without a terminal: the descriptors of the ISO stay.
    let script = "label: dos\nstart=4097, size=2048, type=c\n";
    tool::run_with_input("sfdisk", &["-q", "--wipe", "never", text(&stick)], script);
    let system = scratch.image("fat", MIB);
    tool::run("mkfs.vfat", &["-a", text(&system)]);
    place(&system, &stick, 4097 * 512);
    let checked = check(&[text(&stick), "--on", "512e"]);
    assert!(checked.has("ST101", "warning"), "{:#}", checked.target);
    assert_eq!(checked.status, 1);
}

/// An ISO image with an EFI partition of `bytes` after it, which xorriso appends.
fn with_efi(scratch: &Scratch, content: &Path, bytes: u64, arguments: &[&str]) -> PathBuf {
    let efi = scratch.image("efi", bytes);
    tool::run("mkfs.vfat", &[text(&efi)]);
    let image = scratch.path().join(format!("{bytes}.iso"));
    let mut all = vec!["-as", "mkisofs", "-quiet", "-o", text(&image)];
    all.extend(["-append_partition", "2", "0xef", text(&efi), "-no-emul-boot"]);
    all.extend(arguments);
    all.push(text(content));
    tool::run("xorriso", &all);
    image
}

#[test]
fn an_iso_whose_first_entry_covers_the_mbr_has_nothing_to_mend() {
    need_tools!("xorriso", "mkfs.vfat");
    let scratch = Scratch::new();
    let image = with_efi(&scratch, &content(&scratch), 4 * MIB, &[]);
    let table = std::fs::read(&image).unwrap();
    assert_eq!(table[446 + 8..446 + 12], [0; 4], "the first entry starts at sector 0");
    assert_quiet(&image);
    assert_no_plan(&image);
}

#[test]
fn the_space_that_xorriso_lists_as_a_partition_after_an_iso_costs_nothing() {
    need_tools!("xorriso", "mkfs.vfat");
    let scratch = Scratch::new();
    let content = content(&scratch);
    let gpt = ["-appended_part_as_gpt", "-partition_cyl_align", "off"];
    // Of two sizes, one ends off the granule, and what is after it starts there.
    let starts = [4 * MIB, 4 * MIB + 2048].map(|bytes| {
        let image = with_efi(&scratch, &content, bytes, &gpt);
        assert_quiet(&image);
        let checked = check(&[text(&image)]);
        checked.layer("partition", "#3")["start_bytes"].as_u64().unwrap() % 4096
    });
    assert!(starts.contains(&2048), "{starts:?}");
}

#[test]
fn an_iso_on_large_sectors_is_no_error_and_is_not_to_be_made_again() {
    need_tools!("xorriso");
    let scratch = Scratch::new();
    let content = content(&scratch);
    let plain = scratch.path().join("plain.iso");
    tool::run("xorriso", &["-as", "mkisofs", "-quiet", "-o", text(&plain), text(&content)]);
    let checked = check(&[text(&plain), "--on", "4Kn"]);
    assert!(checked.has("ST302", "info"), "{:#}", checked.target);
    assert_eq!(checked.status, 0, "{:#}", checked.target);
    let said = checked.target["findings"].to_string();
    assert!(said.contains("attach it as an optical drive"), "{said}");
    assert!(!said.contains("ERASES"), "{said}");
    // The table of a hybrid one is for 512-byte sectors: there is no plan, and a reason.
    let hybrid = check(&[text(&hybrid(&scratch, &content)), "--on", "4Kn"]);
    let said = hybrid.target["findings"].to_string();
    assert!(!said.contains("straddle plan") && !said.contains("ERASES"), "{said}");
    if hybrid.has("ST301", "error") {
        assert!(said.contains("no plan: "), "{said}");
    }
}
