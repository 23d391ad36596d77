//! `straddle plan --new`: small disks, and what is no disk.

use testkit::{Scratch, need_loops, need_tools, scratch, tool};

use super::{scratch_in_memory, straddle};

#[test]
fn a_new_guest_disk_is_laid_out_by_its_own_length_and_not_by_its_file() {
    need_tools!("qemu-img");
    let scratch = scratch_in_memory();
    for (format, name) in [("qcow2", "new.qcow2"), ("vpc", "new.vhd"), ("vmdk", "new.vmdk")] {
        let image = scratch.path().join(name);
        tool::run("qemu-img", &["create", "-q", "-f", format, scratch::text(&image), "64G"]);
        let ran = straddle(&["plan", "--new", scratch::text(&image)]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.out.contains("sector 2048 (1 MiB)"), "{ran:?}");
        let way = if format == "qcow2" { "-o plan.json" } else { "raw image" };
        assert!(ran.out.contains(way) && !ran.out.contains("ERASES"), "{ran:?}");
    }
}

#[test]
fn the_table_of_a_new_image_of_large_sectors_is_made_as_typed() {
    need_tools!("sfdisk", "losetup");
    need_loops!();
    let scratch = Scratch::new();
    let image = scratch.image("new.raw", 64 << 20);
    let on = ["plan", "--new", "--on", "4Kn", scratch::text(&image)];
    let ran = straddle(&on);
    let mut wide = ran.out.lines().filter(|line| line.len() > 100);
    let is_command = |line: &str| line.contains(" printf ") || line.contains(" straddle ");
    assert!(wide.all(is_command), "{ran:?}");
    let line = ran.out.lines().find(|line| line.contains("sfdisk")).expect("a table is offered");
    assert!(!line.contains('#') || line.len() <= 100, "{line}");
    let command = line.trim().strip_prefix("one partition").expect("it says what it makes");
    tool::run("sh", &["-ec", command]);
    let check = straddle(&["check", "--on", "4Kn", scratch::text(&image)]);
    assert_eq!(check.status, Some(0), "{check:?}");
    assert!(check.out.contains("partition"), "{check:?}");
}

#[test]
fn the_table_of_a_small_new_disk_is_made_as_typed() {
    need_tools!("sfdisk", "losetup");
    need_loops!();
    let scratch = Scratch::new();
    for size in [1, 2, 3, 4, 8, 10, 16, 32, 63, 64] {
        for on in ["512e", "4Kn", "512e,origin=3584"] {
            let image = scratch.image("new.raw", size << 20);
            let ran = straddle(&["plan", "--new", "--on", on, scratch::text(&image)]);
            assert_eq!(ran.status, Some(0), "{size} MiB, {on}: {ran:?}");
            let line = ran.out.lines().find(|line| line.contains("sfdisk"));
            let command = line.and_then(|line| line.trim().strip_prefix("one partition"));
            let command = command.unwrap_or_else(|| panic!("{size} MiB, {on}: {ran:?}"));
            tool::run("sh", &["-ec", command]);
            let check = straddle(&["check", "--on", on, scratch::text(&image)]);
            assert_eq!(check.status, Some(0), "{size} MiB, {on}: {check:?}");
            assert!(check.out.contains("1 partition"), "{check:?}");
            std::fs::remove_file(&image).expect("it is removed");
        }
    }
}

#[test]
fn a_disk_without_room_for_a_partition_is_told_so() {
    let scratch = scratch_in_memory();
    for (bytes, reason) in
        [(0, "it has no bytes"), (64 << 10, "64 KiB are too small for a partition")]
    {
        let image = scratch.image("small.raw", bytes);
        let ran = straddle(&["plan", "--new", scratch::text(&image)]);
        assert_eq!(ran.status, Some(5), "{ran:?}");
        assert!(ran.errors.contains(reason) && ran.out.is_empty(), "{ran:?}");
        std::fs::remove_file(&image).expect("it is removed");
    }
}

#[test]
fn a_new_disk_that_is_compressed_is_to_be_decompressed_first() {
    need_tools!("gzip");
    let scratch = scratch_in_memory();
    let raw = scratch.image("a.raw", 1 << 20);
    tool::run("gzip", &[scratch::text(&raw)]);
    let packed = scratch.path().join("a.raw.gz");
    let ran = straddle(&["plan", "--new", scratch::text(&packed)]);
    assert_eq!(ran.status, Some(5), "{ran:?}");
    assert!(ran.errors.contains("decompress it first") && ran.out.is_empty(), "{ran:?}");
}

#[test]
fn a_layout_says_what_was_read_and_the_printed_command_reads_all_of_the_disk() {
    let scratch = scratch_in_memory();
    let image = scratch.image("new.raw", 3 << 30);
    let ran = straddle(&["plan", "--new", scratch::text(&image)]);
    assert!(ran.out.contains("ERASES") && ran.out.contains("other bytes were not read"), "{ran:?}");
    let lines = ran.out.lines().map(str::trim).filter(|line| line.starts_with("straddle "));
    let command = &lines.collect::<Vec<_>>().join(" && ");
    let typed = |command: &str| {
        let command = command.replace("straddle ", &format!("{} ", env!("CARGO_BIN_EXE_straddle")));
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", &command]).current_dir(scratch.path());
        let ran = shell.output().expect("sh runs");
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    assert_eq!(typed(command), (Some(0), String::new()));
    // Between the places that are read.
    scratch::place(&scratch.file("bytes", b"data"), &image, (700 << 20) + 300_000);
    assert!(straddle(&["plan", "--new", scratch::text(&image)]).out.contains("ERASES"));
    let (status, errors) = typed(command);
    assert_eq!(status, Some(3), "{errors}");
    assert!(errors.contains("it holds data"), "{errors}");
}
