//! Refusals of what cannot be measured, which say why, and what to do, with exit code 2; nothing is
//! left behind.

use std::path::Path;

use testkit::{Mount, Scratch, need_loops, need_tools, scratch::text, tool};

use super::disk::Disk;
use super::run::{Ran, bench, said};
use super::volume::Plan;

/// Small and short, unless the words say otherwise.
const SMALL: [&str; 4] = ["--scratch", "8M", "--pairs", "4"];

/// Returns what is said when `arguments` are refused.
#[track_caller]
fn refusal(arguments: &[&str]) -> String {
    refused(&bench(arguments))
}

#[track_caller]
fn refused(ran: &Ran) -> String {
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(said(ran).starts_with("error: "), "{ran:?}");
    assert!(ran.out.is_empty(), "errors are no data: {ran:?}");
    ran.errors.clone()
}

/// Returns what is said of these arguments on a small ext4, on which nothing is left.
#[track_caller]
fn on_ext4(arguments: &[&str]) -> String {
    let volume = Plan::EXT4.mounted();
    let before = volume.state();
    let said = refusal(&[&[volume.name()], &SMALL[..], arguments].concat());
    volume.is_clean_again(&before);
    said
}

#[test]
fn a_file_and_what_is_missing_are_refused() {
    let scratch = Scratch::new();
    let file = scratch.image("file", 1 << 20);
    let said = refusal(&[text(&file)]);
    assert!(said.contains("neither a directory nor a block device"), "{said}");
    assert!(
        said.contains(&format!(
            "hint: measure in its directory: straddle bench {}",
            text(scratch.path())
        )),
        "{said}"
    );
    assert!(refusal(&["/nonexistent/x"]).contains("hint: "));
    assert!(refusal(&["/dev/null"]).contains("neither"));
}

#[test]
fn memory_and_overlays_are_refused_by_name() {
    need_loops!();
    let scratch = Scratch::new();
    let memory = Mount::new("tmpfs", "", "none", &scratch.path().join("memory"));
    let at = |name: &str| {
        let path = memory.path().join(name);
        std::fs::create_dir(&path).expect("a directory can be made");
        path
    };
    let (lower, upper, work) = (at("lower"), at("upper"), at("work"));
    let said = refusal(&[text(memory.path())]);
    assert!(said.contains("tmpfs is in memory") && said.contains("hint: "), "{said}");
    let options =
        format!("lowerdir={},upperdir={},workdir={}", text(&lower), text(&upper), text(&work));
    let overlay = Mount::new("overlay", &options, "none", &scratch.path().join("overlay"));
    let said = refusal(&[text(overlay.path())]);
    assert!(said.contains("overlay") && said.contains("hint: "), "{said}");
}

#[test]
fn a_file_system_that_is_mounted_read_only_is_refused() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let volume = Plan::EXT4.mounted();
    tool::run("mount", &["-o", "remount,ro", volume.name()]);
    let said = refusal(&[&[volume.name()], &SMALL[..]].concat());
    assert!(said.contains("mounted read-only") && said.contains("hint: "), "{said}");
}

#[test]
fn a_file_system_without_room_is_refused_before_anything_is_written() {
    need_loops!();
    need_tools!("mkfs.ext4", "fallocate");
    let volume = Plan { length_bytes: 64 << 20, ..Plan::EXT4 }.mounted();
    tool::run("fallocate", &["-l", "40M", text(&volume.path().join("full"))]);
    let before = volume.state();
    let written = volume.written_sectors();
    let said = refusal(&[volume.name(), "--scratch", "32M"]);
    assert!(said.contains(" are free") && said.contains("--scratch "), "{said}");
    assert!(volume.written_sectors() - written < 1 << 12, "not even a part is written");
    volume.is_clean_again(&before);
}

#[test]
fn a_quota_that_is_reached_is_named_and_nothing_is_left() {
    need_loops!();
    need_tools!("mkfs.btrfs", "btrfs");
    let volume = Plan::BTRFS.mounted();
    let inside = volume.path().join("limited");
    let inside = text(&inside);
    tool::run("btrfs", &["quota", "enable", volume.name()]);
    tool::run("btrfs", &["subvolume", "create", inside]);
    tool::run("btrfs", &["qgroup", "limit", "4M", inside]);
    let said = refusal(&[inside, "--suite", "--fs", "ext4"]);
    assert!(said.contains("disk quota") && said.contains("hint: "), "{said}");
    assert!(volume.loops().is_empty());
    let left = std::fs::read_dir(inside).expect("it can be listed").count();
    assert_eq!(left, 0);
}

#[test]
fn a_limit_on_the_length_of_files_is_an_error_and_no_sudden_death() {
    need_loops!();
    need_tools!("mkfs.ext4", "bash");
    let volume = Plan::EXT4.mounted();
    let before = volume.state();
    let binary = env!("CARGO_BIN_EXE_straddle");
    let script = format!("ulimit -f 1024; exec {binary} bench {} --scratch 8M", volume.name());
    let said = refused(&tool::output("bash", &["-c", &script]).into());
    assert!(said.contains("File too large"), "{said}");
    volume.is_clean_again(&before);
}

#[test]
fn btrfs_is_refused_for_shifts_inside_a_file_and_where_it_compresses() {
    need_loops!();
    need_tools!("mkfs.btrfs");
    let plain = Plan::BTRFS.mounted();
    let said = refusal(&[&[plain.name()], &SMALL[..]].concat());
    assert!(said.contains("btrfs silently turns direct I/O") && said.contains("hint: "), "{said}");
    // Refused before anything is announced, and by the dry run too.
    for more in [&[][..], &["--dry-run"], &["--", "touch", "{device}"]] {
        let ran = bench(&[&[plain.name()], &SMALL[..], more].concat());
        assert!(ran.errors.starts_with("error: cannot shift operations"), "{more:?} {ran:?}");
        assert_eq!(ran.status, Some(2), "{more:?} {ran:?}");
    }
    let squeezing = Plan { options: "compress-force=zstd", ..Plan::BTRFS }.mounted();
    let said = refusal(&[&[squeezing.name()], &SMALL[..]].concat());
    assert!(said.contains("is compressed") && said.contains("chattr +C"), "{said}");
}

#[test]
fn a_device_over_holes_is_refused_with_its_image_and_so_is_its_dry_run() {
    need_loops!();
    let blank = Disk::blank();
    let image = text(&blank.image);
    let said = refusal(&[blank.name()]);
    let hint = format!("cp --sparse=never {image} COPY");
    assert!(said.contains("the image has a hole") && said.contains(&hint), "{said}");
    assert_eq!(refusal(&[blank.name(), "--dry-run"]), said);
}

#[test]
fn a_loop_device_without_a_file_is_refused_with_its_own_name() {
    need_loops!();
    // Tests attach the lowest free ones.
    let unattached = |number: &u32| {
        Path::new(&format!("/dev/loop{number}")).exists()
            && !Path::new(&format!("/sys/block/loop{number}/loop")).exists()
    };
    // One that another test's straddle made goes with it.
    let went = |said: &str| {
        ["no device answers", "No such file or directory"].iter().any(|one| said.contains(one))
    };
    for _ in 0..1000 {
        let Some(number) = (0..256).rev().find(unattached) else {
            return testkit::skip("needs a loop device that is not attached");
        };
        let name = format!("/dev/loop{number}");
        let said = refusal(&[&name]);
        if !went(&said) {
            assert!(said.contains("0 bytes") && said.contains(&format!("check {name}")), "{said}");
            return;
        }
    }
    panic!("each loop device that was named was gone");
}

#[test]
fn what_ends_without_a_verdict_names_the_pairs_that_are_likely_to_settle_it() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let volume = Plan::EXT4.mounted();
    for pairs in ["3", "12"] {
        let ran = bench(&[volume.name(), "--scratch", "8M", "--pairs", pairs]);
        let flat = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_settled = !flat.contains("No verdict: ");
        assert!(is_settled || flat.contains("to settle what has no verdict: --"), "{ran:?}");
    }
}

#[test]
fn bounds_that_leave_no_room_are_refused_with_what_would() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let said = on_ext4(&["--bytes-max", "4M"]);
    assert!(said.contains("cannot write the scratch file: it needs 8 MiB"), "{said}");
    assert!(said.contains("hint: allow more bytes: --bytes-max"), "{said}");
    // What is offered is enough.
    let volume = Plan::EXT4.mounted();
    let offered = said.split("--bytes-max ").nth(1).and_then(|rest| rest.lines().next());
    let offered = offered.expect("it offers a number");
    let ran = bench(&[&[volume.name(), "--bytes-max", offered], &SMALL[..]].concat());
    assert!(!ran.errors.contains("--bytes-max"), "{ran:?}");
}

#[test]
fn shifts_that_are_none_or_cannot_be_are_refused() {
    need_loops!();
    need_tools!("mkfs.ext4");
    assert!(on_ext4(&["--shift", "4096"]).contains("cannot shift by 4096 bytes"));
    assert!(on_ext4(&["--shift", "100"]).contains("multiples of 512"));
    let odd = bench(&["/", "--shift", "x"]);
    assert_eq!(odd.status, Some(2), "{odd:?}");
}

#[test]
fn a_command_without_a_place_and_one_that_does_not_start_or_fails_are_refused() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let said = on_ext4(&["--", "true"]);
    assert!(said.contains("neither {device} nor {mount}"), "{said}");
    let said = on_ext4(&["--", "/nonexistent/database", "{device}"]);
    assert!(said.contains("cannot start /nonexistent/database"), "{said}");
    let said = on_ext4(&["--", "sh", "-c", "echo the table is missing >&2; exit 4", "{device}"]);
    assert!(said.contains("exit status 4: the table is missing"), "{said}");
    let said = on_ext4(&["--", "sh", "-c", "kill -SEGV $$", "{mount}"]);
    assert!(said.contains("signal 11"), "{said}");
    let said = on_ext4(&["--seconds", "1", "--", "sh", "-c", "sleep 86399", "{mount}"]);
    assert!(said.contains("its budget") && said.contains("hint: "), "{said}");
}

#[test]
fn a_raw_device_runs_no_command_and_a_missing_job_file_is_named() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let disk = Disk::blank();
    let said = refusal(&[disk.name(), "--", "true", "{device}"]);
    assert!(said.contains("need a scratch file"), "{said}");
    assert!(on_ext4(&["--job", "/nonexistent/job"]).contains("cannot read the job file"));
    assert!(on_ext4(&["--raidtest", "/nonexistent/x"]).contains("cannot read the requests"));
}

#[test]
fn an_ordinary_user_is_told_what_needs_root_and_may_do_the_rest() {
    need_loops!();
    need_tools!("setpriv", "chown", "chmod");
    // Nobody else can look behind a loop device, so this is on the machine's own drive.
    let scratch = Scratch::new();
    let owned = scratch.path().join("owned");
    std::fs::create_dir(&owned).expect("a directory can be made");
    let binary = scratch.path().join("straddle");
    std::fs::copy(env!("CARGO_BIN_EXE_straddle"), &binary).expect("it can be copied");
    let job = scratch.file("job", b"[x]\nrw=write\nbs=4k\nsize=1m\n");
    let direct = scratch.file("direct", b"[x]\nrw=randwrite\nbs=4k\nsize=1m\ndirect=1\n");
    tool::run("chmod", &["-R", "a+rX", text(scratch.path())]);
    tool::run("chown", &["65534:65534", text(&owned)]);
    let as_nobody = |arguments: &[&str]| -> Ran {
        let user = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
        let words = [text(&binary), "bench", text(&owned), "--share", "100"];
        let all = [&user[..], &words, &SMALL, arguments].concat();
        tool::output("setpriv", &all).into()
    };
    for arguments in
        [&["--job", text(&job)][..], &["--suite"], &["--", "true", "{device}"], &["--", "true"]]
    {
        let said = refused(&as_nobody(arguments));
        assert!(said.contains("only root may"), "{said}");
        assert!(said.contains("inside the scratch file, which needs no root"), "{said}");
    }
    for arguments in [&[][..], &["--job", text(&direct)]] {
        let ran = as_nobody(arguments);
        if ran.errors.contains("cannot measure") || ran.errors.contains(" is on ") {
            testkit::skip("the directory of temporary files lies on nothing that can be measured");
            return;
        }
        assert!(ran.out.contains("4 pairs"), "{ran:?}");
    }
    let left = std::fs::read_dir(&owned).expect("it can be listed").count();
    assert_eq!(left, 0);
}

#[test]
fn a_result_that_cannot_be_kept_is_an_error_and_is_shown() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let volume = Plan::EXT4.mounted();
    // Root may write there, as far as can be asked, and yet no file can be made.
    let place = Path::new("/sys/kernel/result.json");
    let ran = bench(&[&[volume.name(), "--output", text(place)], &SMALL[..]].concat());
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(
        ran.errors.contains("cannot write the result of bench to /sys/kernel/result.json"),
        "{ran:?}"
    );
    assert!(ran.out.contains("pair by pair   ratio"), "{ran:?}");
}

#[test]
fn blocks_that_the_bound_does_not_allow_are_refused_before_one_is_written() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let volume = Plan::EXT4.mounted();
    let before = volume.written_sectors();
    let arguments = ["--scratch", "8M", "--bytes-max", "16M", "--depth", "64", "--size", "64K"];
    let ran = bench(&[&[volume.name()], &arguments[..]].concat());
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.contains("at depth 64: they need"), "{ran:?}");
    assert!(ran.errors.contains("hint: allow more bytes: --bytes-max"), "{ran:?}");
    assert!(volume.written_sectors() - before < (12 << 20) / 512, "only the scratch file");
}

#[test]
fn an_operation_that_cannot_cross_a_granule_is_refused_and_does_not_panic() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let volume = Plan::EXT4.mounted();
    for size in ["512", "1", "1000", "4097"] {
        let ran = bench(&[volume.name(), "--scratch", "8M", "--size", size]);
        assert_eq!(ran.status, Some(2), "{size}: {ran:?}");
        assert!(said(&ran).starts_with("error: "), "{size}: {ran:?}");
    }
}

#[test]
fn what_no_drive_can_address_is_refused_before_anything_is_announced() {
    let scratch = Scratch::new();
    for (option, hint) in [("--shift", "--shift 512"), ("--size", "--size 512")] {
        let ran = bench(&[text(scratch.path()), option, "3"]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.errors.starts_with("error: ") && ran.errors.contains(hint), "{ran:?}");
    }
}

#[test]
fn the_bytes_that_a_hint_names_are_enough() {
    let scratch = Scratch::new();
    let dry = |most: &str| bench(&[text(scratch.path()), "--dry-run", "--bytes-max", most]);
    let refused = dry("1M");
    let (_, rest) = refused.errors.split_once("--bytes-max ").expect("it names an amount");
    let most = rest.split([',', ' ', '\n']).next().expect("a word");
    assert_eq!(dry(most).status, Some(0), "{most}: {refused:?}");
    let bytes = most.strip_suffix('M').and_then(|number| number.parse::<u64>().ok());
    assert!(bytes.is_some_and(|bytes| bytes > 64), "the scratch file leaves some: {most}");
}

#[test]
fn a_directory_is_not_written_to_as_a_device() {
    let scratch = Scratch::new();
    for more in [&[][..], &["--dry-run"], &["--confirm", "x"]] {
        let said = refusal(&[&[text(scratch.path()), "--write-device"], more].concat());
        for word in ["a directory, and", "in a scratch file: straddle bench /"] {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert!(!said.contains("writes at most"), "it began: {said}");
    }
}
