//! Disks that lost their partition table, or a file system that lost its first superblock: never
//! called empty, and what is printed gives the content back in a copy.

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::{Loop, Mount, Scratch, need_loops, need_tools, scratch, tool};

use super::recognized::{remedies, sh};
use super::run::{NO_VERDICT, check, straddle, text};

const MIB: u64 = 1 << 20;

/// A disk of 256 MiB that had a table: a FAT of 64 MiB at 1 MiB, and an ext4 of 128 MiB behind it.
fn disk_without_table(scratch: &Scratch) -> PathBuf {
    let image = scratch.image("lost.raw", 256 * MIB);
    let make = "truncate -s 64M fat; mkfs.vfat -F 32 fat; truncate -s 128M ext; mkfs.ext4 -q -F ext
        dd if=fat of=lost.raw bs=1M seek=1 conv=notrunc,sparse status=none
        dd if=ext of=lost.raw bs=1M seek=65 conv=notrunc,sparse status=none";
    sh(scratch.path(), make);
    image
}

#[test]
fn a_disk_that_lost_its_table_is_not_empty_and_a_copy_of_it_gets_one_that_lists_its_volumes() {
    need_tools!("mkfs.vfat", "mkfs.ext4", "sfdisk");
    let scratch = Scratch::new();
    let image = disk_without_table(&scratch);
    let checked = check(&[text(&image)]);
    assert!(checked.has("ST413", "warning"), "{:?}", checked.findings());
    assert_eq!(checked.target["verdict"], "unknown", "{:#}", checked.target);
    for command in [&["plan"][..], &["plan", "--new"], &["plan", "--new", "-o", "p.json"]] {
        let ran = straddle(&[command, &[text(&image)]].concat());
        let said = [ran.stdout, ran.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("vfat at 1 MiB, ext4 at"), "{command:?}: {said}");
        assert!(!said.contains("ERASES"), "{command:?}: {said}");
    }
    let remedies = remedies(&checked);
    let [remedy] = &remedies[..] else { panic!("{remedies:?}") };
    let (_, command) = remedy.split_once(": ").expect("a remark and a command");
    sh(scratch.path(), command);
    let copy = scratch.path().join("lost.new.raw");
    let listed = check(&[text(&copy)]);
    assert!(!listed.has("ST413", "warning"), "{:?}", listed.findings());
    // The file, two partitions and what is in them.
    let layers = listed.target["layers"].as_array().expect("layers are a list");
    assert_eq!(layers.len(), 5, "{:#}", listed.target);
}

#[test]
fn a_disk_with_an_empty_table_before_its_volumes_is_not_empty() {
    need_tools!("mkfs.vfat", "mkfs.ext4", "sfdisk");
    let scratch = Scratch::new();
    let image = disk_without_table(&scratch);
    tool::run_with_input("sfdisk", &["-q", "--wipe", "never", text(&image)], "label: gpt\n");
    let checked = check(&[text(&image)]);
    assert!(checked.has("ST413", "warning"), "{:?}", checked.findings());
    // Another table over the empty one is nothing that is printed.
    assert!(!remedies(&checked).iter().any(|line| line.contains("| sfdisk")));
    assert_eq!(checked.target["verdict"], "unknown", "{:#}", checked.target);
}

/// Asserts that no command offers to write a disk on which something was found.
fn assert_nothing_erases(image: &Path) {
    for command in [&["plan"][..], &["plan", "--new"], &["plan", "--new", "-o", "p.json"]] {
        let ran = straddle(&[command, &[text(image)]].concat());
        let said = [ran.stdout, ran.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains("ERASES") && !said.contains("apply"), "{command:?}: {said}");
    }
}

/// A file system on all of `name`, which `make` makes, with a file from `files` where `make` has
/// the option for one.
fn volume(scratch: &Scratch, name: &str, mebibytes: u64, make: &str) -> PathBuf {
    let volume = scratch.image(name, mebibytes * MIB);
    sh(scratch.path(), &format!("mkdir -p files; echo kept > files/kept; {make} {name} >&2"));
    volume
}

#[test]
fn volumes_at_any_whole_mebibyte_are_named_and_nothing_offers_to_erase_them() {
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let ext = volume(&scratch, "ext", 16, "mkfs.ext4 -q -F");
    for start in [3, 32, 129, 513, 1041] {
        let image = scratch.image("lost.raw", 1100 * MIB);
        scratch::place(&ext, &image, start * MIB);
        let checked = check(&[text(&image)]);
        assert!(checked.has("ST413", "warning"), "{start}: {:?}", checked.findings());
        assert_nothing_erases(&image);
        std::fs::remove_file(&image).expect("it was there");
    }
}

#[test]
fn a_disk_with_bytes_of_an_unknown_kind_is_not_called_blank() {
    let scratch = Scratch::new();
    for start in [3, 700] {
        let image = scratch.image("lost.raw", 1100 * MIB);
        scratch::place(&scratch.file("bytes", b"neither"), &image, start * MIB);
        let checked = check(&[text(&image)]);
        assert_eq!(checked.status, NO_VERDICT, "{:#}", checked.target);
        let reason = checked.target["layers"][0]["reason"].to_string();
        assert!(reason.contains(&format!("bytes from {start} MiB on are not zero")), "{reason}");
        assert_nothing_erases(&image);
        std::fs::remove_file(&image).expect("it was there");
    }
}

#[test]
fn volumes_are_readable_through_the_table_that_is_printed() {
    need_tools!("mkfs.vfat", "fsck.fat", "mkfs.ext4", "mkfs.btrfs", "sfdisk", "cryptsetup");
    need_loops!();
    let scratch = Scratch::new();
    let luks = "printf key > key; cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 \
        --pbkdf-force-iterations 1000 --key-file key";
    let image = scratch.image("lost.raw", 400 * MIB);
    for (name, start, length, make) in [
        ("fat", 3, 40, "mkfs.vfat"),
        ("ext", 43, 32, "mkfs.ext4 -q -F -d files"),
        ("btrfs", 80, 130, "mkfs.btrfs -q -r files"),
        ("luks", 250, 20, luks),
    ] {
        scratch::place(&volume(&scratch, name, length, make), &image, start * MIB);
    }
    let checked = check(&[text(&image)]);
    let [remedy] = &remedies(&checked)[..] else { panic!("{:#}", checked.target) };
    let before = scratch::sparse_bytes(&image);
    sh(scratch.path(), remedy.split_once(": ").expect("a remark and a command").1);
    assert!(before == scratch::sparse_bytes(&image), "the disk itself changed");
    let copy = Loop::attach(&scratch.path().join("lost.new.raw"), 512);
    tool::run("fsck.fat", &["-n", text(&copy.partition(1))]);
    for (number, kind) in [(2, "ext4"), (3, "btrfs")] {
        let point = scratch.path().join(format!("mounted-{kind}"));
        let mount = Mount::new(kind, "ro", text(&copy.partition(number)), &point);
        let kept = std::fs::read_to_string(mount.path().join("kept"));
        assert_eq!(kept.expect("the file is there"), "kept\n", "{kind}");
    }
    let dumped = tool::run("cryptsetup", &["luksDump", text(&copy.partition(4))]);
    assert!(dumped.contains("LUKS header"), "{dumped}");
}

/// Restores the first superblock of the file system that `make` makes on all of a disk, and that
/// `lose` takes, as it is printed; returns the copy.
fn restored(scratch: &Scratch, mebibytes: u64, make: &str, lose: &str) -> PathBuf {
    let image = volume(scratch, "disk.raw", mebibytes, make);
    sh(scratch.path(), &format!("dd if=/dev/zero of=disk.raw conv=notrunc status=none {lose}"));
    let checked = check(&[text(&image)]);
    assert!(checked.has("ST414", "warning"), "{make}: {:#}", checked.target);
    assert_nothing_erases(&image);
    let before = scratch::sparse_bytes(&image);
    let [remedy] = &remedies(&checked)[..] else { panic!("{:#}", checked.target) };
    let (_, command) = remedy.split_once(": ").expect("a remark and a command");
    let typed = Command::new("sh").args(["-c", command]).current_dir(scratch.path()).output();
    let typed = typed.expect("sh runs");
    // e2fsck ends with 1 where it corrected all errors.
    assert!(matches!(typed.status.code(), Some(0 | 1)), "{command}: {typed:?}");
    assert!(before == scratch::sparse_bytes(&image), "{command} changed the disk itself");
    std::fs::remove_file(image).expect("it was there");
    let copy = scratch.path().join("disk.new.raw");
    let now = check(&[text(&copy)]);
    assert!(now.target["verdict"] != "unknown" && !now.has("ST414", "warning"), "{make}");
    copy
}

#[test]
fn a_file_system_on_a_whole_disk_gets_its_first_superblock_back_in_a_copy() {
    need_tools!("mkfs.ext4", "e2fsck", "mkfs.btrfs", "btrfs-select-super");
    need_loops!();
    for (kind, mebibytes, make, lose) in [
        ("ext4", 32, "mkfs.ext4 -q -F -b 1024 -d files", "bs=4k count=1"),
        ("ext4", 160, "mkfs.ext4 -q -F -b 4096 -d files", "bs=4k count=1"),
        ("btrfs", 130, "mkfs.btrfs -q -r files", "bs=4k count=18"),
    ] {
        let scratch = Scratch::new();
        let copy = restored(&scratch, mebibytes, make, lose);
        let point = scratch.path().join("mounted");
        let mount = Mount::new(kind, "loop,ro", text(&copy), &point);
        let kept = std::fs::read_to_string(mount.path().join("kept"));
        assert_eq!(kept.expect("the file is there"), "kept\n", "{make}");
    }
}

#[test]
fn each_other_kind_of_file_system_gets_its_boot_sector_back_in_a_copy() {
    need_tools!("mkfs.xfs", "xfs_repair", "mkfs.vfat", "fsck.fat", "mkfs.ntfs", "ntfsfix");
    need_tools!("mkfs.exfat", "fsck.exfat");
    let sector = "bs=512 count=1";
    for (mebibytes, make, lose, look) in [
        (320, "mkfs.xfs -q", "bs=4k count=1", "xfs_repair -n"),
        (64, "mkfs.vfat -F 32", sector, "fsck.fat -n"),
        (32, "mkfs.ntfs -q -F", sector, "ntfsfix -n"),
        (32, "mkfs.exfat", sector, "fsck.exfat -n"),
    ] {
        let scratch = Scratch::new();
        let _copy = restored(&scratch, mebibytes, make, lose);
        sh(scratch.path(), &format!("{look} disk.new.raw >&2"));
    }
}
