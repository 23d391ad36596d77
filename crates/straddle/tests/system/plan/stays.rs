//! Disks on which something stays: what a move would make worse, what changed since, what has no
//! room.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::running_program::Ran;
use testkit::{Scratch, need_loops, need_tools, scratch, tool};

use super::{GPT, image, plan, scratch_in_memory, straddle, typed};

#[test]
fn a_partition_on_the_full_stripe_is_not_moved_off_it_for_a_neighbor() {
    need_loops!();
    need_tools!("sfdisk", "lvm", "cryptsetup", "mkfs.xfs");
    let scratch = Scratch::new();
    let disk = scratch.image("disk.raw", 2 << 30);
    let (name, size) = (scratch::text(&disk), 1_228_800_u64);
    let starts = [6144_u64, 1_234_944, 2_463_744];
    let table: String =
        starts.iter().map(|start| format!("start={start}, size={size}\n")).collect();
    tool::run_with_input("sfdisk", &["-q", name], &format!("label: gpt\n{table}"));
    let lvm = testkit::Lvm::on(&[size * 512]);
    lvm.run(&["pvcreate", lvm.device(0)]);
    lvm.run(&["vgcreate", "vgh", lvm.device(0)]);
    for volume in ["-na", "-nb"] {
        lvm.run(&["lvcreate", "-an", "-Zn", "-Wn", "-L100M", volume, "vgh"]);
    }
    let luks = scratch.image("luks", size * 512);
    let key = scratch.file("key", b"secret");
    tool::run(
        "cryptsetup",
        &[
            &["luksFormat", "-q", "--type", "luks2", "--pbkdf", "pbkdf2"][..],
            &["--pbkdf-force-iterations", "1000", "--key-file"],
            &[scratch::text(&key), scratch::text(&luks)],
        ]
        .concat(),
    );
    let xfs = scratch.image("xfs", size * 512);
    tool::run("mkfs.xfs", &["-q", "-d", "su=64k,sw=3", scratch::text(&xfs)]);
    for (part, start) in [&lvm.images()[0], &luks, &xfs].into_iter().zip(starts) {
        scratch::place(part, &disk, start * 512);
    }
    let on = ["--on", "512e,stripe=512Kx3+1"];
    let found = |disk: &Path| {
        let ran = straddle(&[&["check", "--json", scratch::text(disk)], &on[..]].concat());
        let document = ran.document();
        let findings = document["targets"][0]["findings"].as_array().expect("a list").clone();
        let about = |one: &Value| format!("{} {}", one["code"], one["layer"]);
        let warned = findings.iter().filter(|one| one["severity"] != "info");
        warned.map(about).collect::<std::collections::BTreeSet<_>>()
    };
    let before = found(&disk);
    let first = &plan(&disk, &on)["partitions"][0];
    let start = first["new_start_bytes"].as_u64().expect("a number");
    assert!(start.is_multiple_of(1536 << 10), "{first:#}");
    let ran = typed(&disk, &disk, &scratch, &on);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let after = found(&disk);
    assert!(after.is_subset(&before), "before {before:?}, after {after:?}");
}

#[test]
fn the_script_refuses_a_disk_on_which_a_file_system_was_made_since() {
    need_tools!("sfdisk", "mkfs.vfat", "mkfs.ntfs", "mkfs.ext4", "mkfs.btrfs");
    let scratch = scratch_in_memory();
    let made = [
        &["mkfs.vfat"][..],
        &["mkfs.ntfs", "-qQF", "-s", "512", "-p", "63"],
        &["mkfs.ext4", "-qF"],
        &["mkfs.btrfs", "-q"],
    ];
    // One is moved, of the other the end is cut.
    for (start, table) in [(63, "start=63, size=400000\n"), (2048, "start=2048, size=400001\n")] {
        let image = scratch.image("disk.raw", 256 << 20);
        tool::run_with_input(
            "sfdisk",
            &["-q", scratch::text(&image)],
            &format!("label: dos\n{table}"),
        );
        assert_eq!(plan(&image, &[])["changes"], true);
        for make in made {
            let disk = scratch.path().join("changed.raw");
            scratch::copy(&image, &disk);
            let fs = scratch.image("fs", 400_000 * 512);
            tool::run(make[0], &[&make[1..], &[scratch::text(&fs)]].concat());
            scratch::place(&fs, &disk, start * 512);
            let before = scratch::sparse_bytes(&disk);
            let ran = typed(&image, &disk, &scratch, &[]);
            assert_eq!(ran.status, Some(3), "{make:?}: {ran:?}");
            assert!(ran.errors.contains("content of"), "{ran:?}");
            assert!(before == scratch::sparse_bytes(&disk));
        }
    }
}

#[test]
fn a_partition_without_room_for_the_stripe_is_moved_onto_the_granule() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = scratch_in_memory();
    let disk = scratch.image("full.raw", 16 << 20);
    let name = scratch::text(&disk);
    tool::run_with_input("sfdisk", &["-q", name], "label: dos\nstart=63, size=32704\n");
    tool::run("mkfs.ext4", &["-q", "-F", "-b", "1024", "-E", "offset=32256", name, "16352k"]);
    let on = ["--on", "512e,stripe=512Kx3+1"];
    let found = plan(&disk, &on);
    let start = &found["partitions"][0]["new_start_bytes"];
    assert_eq!(start, 64 * 512, "{found:#}");
    let left = found["unmended"][0].as_str().unwrap_or_default();
    assert!(
        left.contains("stays off the chunk: it cannot be aligned without making it"),
        "{found:#}"
    );
    let ran = typed(&disk, &disk, &scratch, &on);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(plan(&disk, &on)["changes"], false);
    let check = straddle(&[&["check", "--json", name][..], &on].concat());
    assert!(!check.out.contains("ST101"), "{check:?}");
}

#[test]
fn a_plan_between_sector_sizes_counts_in_bytes_and_every_plan_fits_the_terminal() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    // Its content is not recognized, so lengths that 4Kn cannot have would be refused.
    let table = GPT.replace("size=10001", "size=10000").replace("size=9999", "size=9992");
    let image = image(&scratch, &table);
    for (on, start) in [("512e", "34 -> "), ("4Kn", "17 KiB -> ")] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
        command.args(["plan", "--on", on]).arg(&image);
        let ran = Ran::of(command.env("LC_ALL", "C.UTF-8").env("COLUMNS", "80"));
        let words = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(start), "{ran:?}");
        assert_eq!(ran.out.contains("start sector"), on == "512e", "{ran:?}");
        assert!(ran.out.contains("\n  cost ") && ran.out.contains("\n  then "), "{ran:?}");
        let (said, steps) = ran.out.split_once("\n  next ").expect("a text");
        let then = steps.lines().skip_while(|line| !line.starts_with("  then "));
        let is_short = |line: &str| line.chars().count() <= 80;
        assert!(said.lines().chain(then).all(is_short), "{ran:?}");
    }
}

#[test]
fn a_partition_of_a_windows_dynamic_disk_is_recreated_by_windows() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let [database, data] =
        ["5808C8AA-7E8F-42E0-85D2-E1E90434CFB3", "AF9B60A0-1431-4F62-BC68-3311714A69AD"];
    let disk = scratch.image("disk.raw", 64 << 20);
    let table = format!(
        "label: gpt\nfirst-lba: 34\nstart=34,size=2014,type={database}\n\
         start=2049,size=81920,type={data}\n"
    );
    tool::run_with_input("sfdisk", &["-q", scratch::text(&disk)], &table);
    for words in [&["plan"][..], &["check"]] {
        let ran = straddle(&[words, &[scratch::text(&disk)]].concat());
        let said: Vec<&str> = ran.out.split_whitespace().collect();
        let said = said.join(" ");
        assert!(said.contains("convert the disk in Windows (diskpart: convert basic"), "{ran:?}");
        assert!(!said.contains("at sector 2056"), "{ran:?}");
    }
}

#[test]
fn a_disk_that_boots_by_bios_is_told_how_to_get_room_for_its_loader() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = Scratch::new();
    let disk = scratch.image("disk.raw", 64 << 20);
    let name = scratch::text(&disk);
    tool::run_with_input("sfdisk", &["-q", name], "label: dos\nstart=63, type=83\n");
    tool::run("mkfs.ext4", &["-q", "-F", "-E", "offset=32256", name, "60000k"]);
    let room = "to start it at 1 MiB, plan with --on granule=1M";
    let flat = |words: &[&str]| {
        let ran = straddle(&[&["plan", name], words].concat());
        ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(!flat(&[]).contains(room), "it does not boot: {}", flat(&[]));
    let code = scratch.file("code", &[0xeb, 0x63, 0x90]);
    scratch::place(&code, &disk, 0);
    assert!(flat(&[]).contains(room), "{}", flat(&[]));
    let roomy = flat(&["--on", "granule=1M"]);
    assert!(roomy.contains("63 -> 2048") && !roomy.contains(room), "{roomy}");
}
