//! Verdicts depend on where the data finally lies.

use std::path::PathBuf;

use testkit::{Loop, Scratch, need_loops, need_tools, tool};

use super::run::{check, partitioned, place, text};

const MIB: u64 = 1 << 20;

#[test]
fn a_partition_at_63_with_exfat_made_in_place_is_aligned_at_the_leaf() {
    need_tools!("sfdisk", "mkfs.exfat", "partx");
    need_loops!();
    let scratch = Scratch::new();
    let script = "label: dos\nstart=63, type=7\n";
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, script);
    let disk = Loop::attach(&image, 512);
    // Without the kernel knowing the partition, mkfs.exfat cannot count its start in.
    tool::run("mkfs.exfat", &[text(&disk.partition(1))]);
    drop(disk);
    let checked = check(&[text(&image), "--on", "512e"]);
    assert_eq!(checked.verdict("partition", "#1"), "misaligned");
    assert_eq!(checked.verdict("file-system", "exfat"), "aligned", "{:#}", checked.target);
    assert!(checked.has("ST103", "info"), "{:?}", checked.findings());
    assert_eq!(checked.status, 0);
}

/// A disk with LUKS2 in a partition at sector 63, whose data begins at `sectors` of the partition.
fn luks_at_63(scratch: &Scratch, sectors: u64) -> PathBuf {
    let image = partitioned(scratch, "disk.raw", 64 * MIB, "label: dos\nstart=63\n");
    let container = scratch.image("container.raw", 32 * MIB);
    let key = scratch.file("key", b"a passphrase for a test");
    let align = sectors.to_string();
    tool::run(
        "cryptsetup",
        &[
            "luksFormat",
            "-q",
            "--type",
            "luks2",
            "--pbkdf",
            "pbkdf2",
            "--pbkdf-force-iterations",
            "1000",
            "--align-payload",
            &align,
            "--key-file",
            text(&key),
            text(&container),
        ],
    );
    place(&container, &image, 63 * 512);
    image
}

#[test]
fn luks2_at_63_with_data_at_16777728_is_aligned_and_with_16777216_it_is_not() {
    need_tools!("sfdisk", "cryptsetup");
    let scratch = Scratch::new();
    let good = check(&[text(&luks_at_63(&scratch, 32769)), "--on", "512e"]);
    assert_eq!(good.layer("luks", "")["start_bytes"].as_u64(), Some(16_777_728));
    assert_eq!(good.verdict("luks", ""), "aligned", "{:#}", good.target);
    assert!(good.has("ST103", "info"));
    assert_eq!(good.status, 0);

    let bad = check(&[text(&luks_at_63(&scratch, 32768)), "--on", "512e"]);
    assert_eq!(bad.layer("luks", "")["start_bytes"].as_u64(), Some(16_777_216));
    assert_eq!(bad.verdict("luks", ""), "misaligned");
    assert!(bad.has("ST101", "warning"), "{:?}", bad.findings());
    assert_eq!(bad.status, 1);
}

#[test]
fn parted_blames_the_start_of_a_luks_whose_data_is_aligned() {
    need_tools!("sfdisk", "cryptsetup", "parted");
    let scratch = Scratch::new();
    let image = luks_at_63(&scratch, 32769);
    let parted = tool::output("parted", &["-s", text(&image), "align-check", "optimal", "1"]);
    assert!(!parted.status.success(), "{parted:?}");
    assert_eq!(check(&[text(&image), "--on", "512e"]).status, 0);
}

#[test]
fn a_guest_whose_data_is_aligned_after_an_odd_start_is_not_blamed_within_its_image() {
    need_tools!("sfdisk", "cryptsetup", "qemu-img");
    let scratch = Scratch::new();
    for (sectors, is_blamed) in [(32769, false), (32768, true)] {
        let raw = luks_at_63(&scratch, sectors);
        let image = scratch.path().join("disk.vhd");
        tool::run("qemu-img", &["convert", "-f", "raw", "-O", "vpc", text(&raw), text(&image)]);
        let checked = check(&[text(&image), "--on", "512e"]);
        let is_off = |code: &str| checked.findings().iter().any(|found| found.0 == code);
        assert!(is_off("ST501"), "{:?}", checked.findings());
        assert_eq!(is_off("ST101"), is_blamed, "{:?}", checked.findings());
    }
}

#[test]
fn a_partition_of_odd_length_is_named_when_it_pushes_the_next_one_off() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let script = "label: gpt\nstart=2048, size=2049\nstart=4097, size=20480\n";
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, script);
    let checked = check(&[text(&image), "--on", "512e"]);
    assert_eq!(checked.verdict("partition", "#2"), "misaligned");
    assert!(checked.has("ST108", "info"), "{:?}", checked.findings());
}

#[test]
fn boot_helpers_off_a_boundary_are_no_warning() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let bios = "21686148-6449-6E6F-744E-656564454649";
    let script = format!(
        "label: gpt\nfirst-lba: 34\nstart=34, size=2014, type={bios}\nstart=2048, size=20480\n"
    );
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, &script);
    let checked = check(&[text(&image), "--on", "512e"]);
    assert_eq!(checked.status, 0, "{:?}", checked.findings());
    assert!(checked.has("ST104", "info"));
}

#[test]
fn blocks_below_the_granule_are_a_warning_where_it_is_told() {
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let image = scratch.image("fs.raw", 64 * MIB);
    tool::run("mkfs.ext4", &["-q", "-F", "-b", "1024", text(&image)]);
    assert!(check(&[text(&image), "--on", "512e"]).has("ST303", "warning"));
    let assumed = check(&[text(&image)]);
    assert!(assumed.has("ST303", "info"));
    let fix = assumed.target["findings"][0]["remedies"][0].as_str().unwrap();
    assert!(fix.starts_with("optional: "), "nothing is wrong: {fix}");
}

#[test]
fn blocks_of_a_kind_that_has_no_multiple_of_the_granule_are_an_info() {
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let image = scratch.image("fs.raw", 64 * MIB);
    tool::run("mkfs.ext4", &["-q", "-F", "-b", "4096", text(&image)]);
    assert!(check(&[text(&image), "--on", "512n,granule=3K"]).has("ST303", "info"));
    assert!(!check(&[text(&image), "--on", "512n,granule=2K"]).has("ST303", "warning"));
    let large = check(&[text(&image), "--on", "512e,granule=64K"]);
    let fix = large.target["findings"][0]["remedies"][0].as_str().unwrap();
    assert!(fix.contains("few kernels mount ext4 with 64 KiB blocks; XFS needs 300 MiB"), "{fix}");
}

#[test]
fn what_works_in_512_byte_sectors_cannot_be_used_on_4kn() {
    need_tools!("mkfs.vfat", "mkfs.xfs");
    let scratch = Scratch::new();
    let fat = scratch.image("fat.raw", 64 * MIB);
    tool::run("mkfs.vfat", &["-F", "32", text(&fat)]);
    assert!(check(&[text(&fat), "--on", "4Kn"]).has("ST302", "error"));
    let xfs = scratch.image("xfs.raw", 512 * MIB);
    tool::run("mkfs.xfs", &["-q", "-s", "size=4096", text(&xfs)]);
    assert!(!check(&[text(&xfs), "--on", "4Kn"]).has("ST302", "error"));
}

#[test]
fn a_512_byte_gpt_and_an_esp_on_4kn_are_said_to_be_so() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=2048, type=U\n");
    let checked = check(&[text(&image), "--on", "4Kn"]);
    assert!(checked.has("ST301", "error"), "{:?}", checked.findings());
    assert!(checked.has("ST307", "warning"), "{:?}", checked.findings());
    assert_eq!(checked.status, 1);
}

#[test]
fn a_remedy_names_blocks_that_are_as_large_as_the_granule() {
    need_tools!("mkfs.ext4", "mkfs.vfat");
    let scratch = Scratch::new();
    // mkfs.xfs refuses what is smaller than 300 MiB.
    for (bytes, is_offered) in [(299 * MIB, false), (300 * MIB, true)] {
        let image = scratch.image("fs.raw", bytes);
        tool::run("mkfs.ext4", &["-q", "-F", "-b", "4096", text(&image)]);
        let checked = check(&[text(&image), "--on", "granule=16K"]);
        let remedies = checked.target["findings"][0]["remedies"].to_string();
        assert!(!remedies.contains("-b 4096"), "{remedies}");
        assert!(remedies.contains("few kernels mount ext4 with 16 KiB blocks"), "{remedies}");
        assert_eq!(remedies.contains("mkfs.xfs -b size=16384"), is_offered, "{remedies}");
    }

    let fat = scratch.image("fat.raw", 64 * MIB);
    tool::run("mkfs.vfat", &[text(&fat)]);
    let checked = check(&[text(&fat), "--on", "granule=16K"]);
    assert_eq!(checked.verdict("file-system", "vfat"), "misaligned");
    let again = scratch.image("again.raw", 64 * MIB);
    tool::run("mkfs.vfat", &["-s", "32", text(&again)]);
    let checked = check(&[text(&again), "--on", "granule=16K"]);
    assert_eq!(checked.verdict("file-system", "vfat"), "aligned", "{:#}", checked.target);
}

#[test]
fn luks_and_ntfs_of_512_byte_sectors_are_no_error_on_4kn_since_linux_opens_them() {
    need_tools!("cryptsetup", "mkntfs");
    let scratch = Scratch::new();
    let key = scratch.file("key", b"a passphrase for a test");
    let luks = scratch.image("luks.raw", 32 * MIB);
    let quick = ["luksFormat", "-q", "--type", "luks1", "--pbkdf-force-iterations", "1000"];
    let files = ["--key-file", text(&key), text(&luks)];
    tool::run("cryptsetup", &[&quick[..], &files[..]].concat());
    let ntfs = scratch.image("ntfs.raw", 32 * MIB);
    tool::run("mkntfs", &["-q", "-Q", "-F", text(&ntfs)]);
    for image in [luks, ntfs] {
        let checked = check(&[text(&image), "--on", "4Kn"]);
        assert!(!checked.has("ST302", "error"), "{:?}", checked.findings());
    }
}

#[test]
fn looks_at_the_host_once_however_many_images_are_named() {
    need_tools!("strace");
    // On a disk, so that there is something beneath.
    let room = Scratch::within(env!("CARGO_TARGET_TMPDIR").as_ref());
    let images: Vec<_> = (0..64).map(|number| room.file(&number.to_string(), &[1; 4096])).collect();
    let calls = room.path().join("calls");
    let count = |images: &[PathBuf]| {
        let straddle = env!("CARGO_BIN_EXE_straddle");
        let mut arguments = vec!["-f", "-e", "trace=open,openat", "-o", text(&calls), straddle];
        arguments.push("check");
        arguments.extend(images.iter().map(|image| text(image)));
        let _ = tool::output("strace", &arguments);
        let calls = std::fs::read_to_string(&calls).unwrap();
        calls.lines().filter(|call| call.contains("\"/sys/block/")).count()
    };
    let workers = std::thread::available_parallelism().unwrap().get();
    // Other tests make and remove devices meanwhile.
    let counts = [(); 5].map(|()| (count(&images[..1]), count(&images)));
    let is_once = counts.iter().any(|&(one, all)| one > 0 && all <= one * workers);
    assert!(is_once, "{counts:?} on {workers} processors");
}

#[test]
fn a_byte_after_the_last_sector_is_a_warning_and_an_error_where_the_disk_is_told() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let table = "label: gpt\nstart=2048, size=20480\n";
    let odd = partitioned(&scratch, "odd.raw", (64 * MIB) + 1, table);
    let checked = check(&[text(&odd)]);
    assert!(checked.has("ST107", "warning"), "{:?}", checked.findings());
    assert_eq!(checked.status, 1);
    assert!(check(&[text(&odd), "--on", "512e"]).has("ST107", "error"));
    let whole = partitioned(&scratch, "whole.raw", (64 * MIB) + 512, table);
    assert_eq!(check(&[text(&whole)]).findings(), []);
    // Nobody says that this is a disk.
    let text_file = scratch.file("notes.txt", b"no disk");
    assert_eq!(check(&[text(&text_file)]).findings(), []);
}
