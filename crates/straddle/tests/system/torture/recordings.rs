//! Recordings: cut without a block device, kept, cut again, in parts, and as images.

use std::os::unix::fs::FileExt as _;

use testkit::running_program::Ran;
use testkit::scratch::text;
use testkit::{Scratch, need_full_tier, need_tools};

use super::{can_mount, count, drive, reasons, torture_file};

#[test]
fn an_honest_drive_keeps_what_is_acknowledged_and_a_liar_is_named() {
    need_tools!("python3", "fusermount3");
    if !can_mount() {
        return;
    }
    let words = ["--json", "--cuts", "5", "--profile"];
    for honest in ["m4-256", "dc-p3700", "hdd-7200-512e"] {
        let ran = torture_file(&[&words[..], &[honest]].concat(), &[]);
        assert_eq!(count(&ran, "cuts", 0), 5);
        assert_eq!(ran.document()["recorded_lines"], 40);
    }
    for (name, lie) in [("m4-256", "flush"), ("dc-p3700", "protection")] {
        let words = [&words[..], &[name, "--lie", lie, "--survivors", "none"]].concat();
        let ran = torture_file(&words, &[]);
        assert!(count(&ran, "drive_lost", 1) > 2, "{ran:?}");
        assert_eq!(count(&ran, "program_lost", 1), 0, "{ran:?}");
        assert!(reasons(&ran.document()).contains("is lost"));
    }
    let screen = torture_file(&["--profile", "m4-256", "--lie", "flush", "--cuts", "5"], &[]);
    assert_eq!(screen.status, Some(1), "{screen:?}");
    assert!(screen.out.starts_with("FAIL m4-256 broke its promise in "), "{screen:?}");
    assert!(screen.out.contains("--lie flush"), "{screen:?}");
}

#[test]
fn a_program_that_acknowledges_before_it_syncs_is_at_fault_and_the_drive_is_not() {
    need_tools!("python3", "fusermount3");
    if !can_mount() {
        return;
    }
    let words = ["--json", "--profile", "m4-256", "--cuts", "6", "--survivors", "none"];
    let ran = torture_file(&words, &["no-sync"]);
    assert!(count(&ran, "program_lost", 1) > 3, "{ran:?}");
    assert_eq!(count(&ran, "drive_lost", 1) + count(&ran, "drive_broke_unseen", 1), 0, "{ran:?}");
}

#[test]
fn a_kept_recording_gives_the_same_cuts_again_whole_in_parts_and_as_an_image() {
    need_tools!("python3", "fusermount3");
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let kept = scratch.path().join("kept");
    let words = ["--json", "--cuts", "6", "--lie", "flush"];
    let first =
        torture_file(&[&["--profile", "m4-256", "--save", text(&kept)], &words[..]].concat(), &[]);
    let failures = first.document()["failures"].clone();
    assert!(failures.as_array().is_some_and(|all| all.len() > 1), "{first:?}");

    let from = ["--json", "--cuts", "6", "--from", text(&kept)];
    let again = torture_file(&from, &[]);
    assert_eq!(again.document()["failures"], failures);

    let mut parts = Vec::new();
    let mut results = Vec::new();
    for part in 1..=3 {
        let result = scratch.path().join(format!("{part}.json"));
        let shard = format!("{part}/3");
        let shard = ["--shard", &shard, "-o", text(&result)];
        let ran = torture_file(&[&from[..], &shard].concat(), &[]);
        assert_eq!(count(&ran, "cuts", 1), 2);
        parts.extend(ran.document()["failures"].as_array().expect("a list").clone());
        results.push(result);
    }
    parts.sort_by_key(|failure| failure["cut"].as_u64());
    assert_eq!(serde_json::Value::from(parts), failures, "all parts together are the whole");
    let mut report = testkit::running_program::by_signals(env!("CARGO_BIN_EXE_straddle"));
    let page = Ran::of(report.arg("report").args(&results));
    assert_eq!(page.status, Some(0), "{page:?}");
    assert!(page.out.contains("Power cuts, all shards together"), "{}", page.out.len());
    assert!(page.out.contains("6 of 6"), "all cuts are there");

    let look_at = again.document()["look_at"].as_str().expect("it was kept").to_owned();
    let image = scratch.path().join("disk.img");
    let words: Vec<&str> = look_at.split(' ').collect();
    let made = Ran::of(drive(&words[2..words.len() - 1]).arg(&image));
    assert_eq!(made.status, Some(0), "{look_at}: {made:?}");
    assert!(made.out.contains("that it had promised to keep"), "{made:?}");
    let lost = failures[0]["check"].as_str().expect("it was seen");
    let block: u64 = lost.split(' ').nth(1).expect("a number").parse().expect("a number");
    let mut bytes = [7; 4096];
    let file = std::fs::File::open(&image).expect("it is there");
    file.read_exact_at(&mut bytes, block * 4096).expect("it is as long as the drive");
    assert_eq!(bytes, [0; 4096], "that block is lost in the image too");
}

#[test]
fn every_subset_of_open_writes_is_tried_and_the_drive_may_lose_any() {
    need_full_tier!();
    need_tools!("python3", "fusermount3");
    if !can_mount() {
        return;
    }
    let words = ["--json", "--profile", "m4-256", "--cuts", "64", "--survivors", "enumerate"];
    let ran = torture_file(&words, &[]);
    assert_eq!(count(&ran, "cuts", 0), 64);
}

#[test]
fn a_served_drive_that_kept_a_log_is_cut_at_its_end() {
    need_tools!("python3", "fusermount3");
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let [point, kept, counts] = ["point", "kept", "counts"].map(|name| scratch.path().join(name));
    std::fs::create_dir(&point).expect("a new directory");
    let base = ["serve", "--profile", "m4-256", "--as", "file", "--timing", "off"];
    let places = ["--mount", text(&point), "--log", text(&kept), "--counts", text(&counts)];
    let mut going = testkit::running_program::Going::with(drive(&base).args(places));
    going.until("it is mounted", || counts.exists());
    let open = std::fs::File::options().write(true).open(point.join("disk"));
    let disk = open.expect("it can be opened");
    disk.write_all_at(&[1; 4096], 0).expect("it takes bytes");
    disk.sync_all().expect("it syncs");
    disk.write_all_at(&[2; 4096], 8192).expect("it takes bytes");
    drop(disk);
    going.signal("INT");
    let ran = going.ended();
    assert_eq!(ran.status, Some(0), "{ran:?}");
    for (survivors, second) in [("none", 0), ("all", 2)] {
        let image = scratch.path().join(survivors);
        let words = ["cut", text(&kept), "--survivors", survivors, "-o", text(&image)];
        let ran = Ran::of(&mut drive(&words));
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.out.contains("the drive kept its promises"), "{ran:?}");
        let file = std::fs::File::open(&image).expect("it is there");
        for (at, byte) in [(0, 1), (4096, 0), (8192, second)] {
            let mut bytes = [7; 4096];
            file.read_exact_at(&mut bytes, at).expect("it is as long as the drive");
            assert_eq!(bytes, [byte; 4096], "{survivors} at {at}");
        }
    }
}
