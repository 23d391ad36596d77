//! Job files and request files: run on shifted devices, with a verdict; what they name is not
//! opened.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use testkit::{Scratch, need_loops, need_tools, scratch::text, tool, void_by_chance::assert_sound};

use super::run::{Ran, bench, measured};
use super::volume::Plan;

/// A log on a bare partition, flushed after each write.
const LOG: &str = "\
[global]
filename=/dev/straddle-nobody-has-this
ioengine=psync
rw=write
bs=4k
size=1g
runtime=60
time_based

[log]
fsync=1
";
/// The same through the page cache of a file system.
const BUFFERED: &str = "\
[buffered]
directory=/straddle/nobody-has-this
ioengine=psync
rw=write
bs=4k
size=2m
fsync=1
end_fsync=1
";
/// Eight at once, by four workers.
const DEEP: &str = "\
[deep]
filename=/dev/straddle-nobody-has-this
ioengine=libaio
direct=1
rw=randwrite
bs=4k
iodepth=8
numjobs=4
group_reporting
";
const SMALL: [&str; 6] = ["--scratch", "32M", "--pairs", "16", "--bytes-max", "1G"];

fn file(scratch: &Scratch, job: &str) -> PathBuf {
    scratch.file("job.fio", job.as_bytes())
}

/// Returns what became of a job on a small ext4, on which nothing stays.
fn ran(job: &str, arguments: &[&str]) -> Value {
    let scratch = Scratch::new();
    let volume = Plan::EXT4.mounted();
    let before = volume.state();
    let job = file(&scratch, job);
    let words = [volume.name(), "--job", text(&job)];
    let (document, _) = measured(&[&words, &SMALL[..], arguments].concat());
    assert!(document["refusal"].is_null(), "{document:#}");
    volume.is_clean_again(&before);
    document
}

/// The one experiment of a document, which is not void.
#[track_caller]
fn sound(document: &Value) -> &Value {
    let experiments = document["experiments"].as_array().expect("a list");
    let [experiment] = &experiments[..] else { panic!("{document:#}") };
    assert_sound(experiment);
    experiment
}

fn notes(document: &Value) -> String {
    document["notes"].to_string()
}

#[test]
fn a_log_on_a_bare_device_runs_and_what_is_bounded_is_said() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let document = ran(LOG, &[]);
    let experiment = sound(&document);
    assert_eq!(
        experiment["title"].as_str().map(|title| title.ends_with(", no file system")),
        Some(true)
    );
    assert_eq!(
        (&experiment["workload"]["sync"], &experiment["workload"]["direct"]),
        (&"fsync".into(), &false.into())
    );
    let notes = notes(&document);
    assert!(notes.contains("runtime is scaled down from 60 s to 10 s"), "{notes}");
    assert!(notes.contains("/dev/straddle-nobody-has-this is not opened"), "{notes}");
}

#[test]
fn a_buffered_job_runs_on_ext4_and_on_xfs() {
    need_loops!();
    need_tools!("mkfs.ext4", "mkfs.xfs");
    let document = ran(BUFFERED, &[]);
    assert!(sound(&document)["title"].as_str().is_some_and(|title| title.ends_with("on ext4")));
    let scratch = Scratch::new();
    let volume = Plan { length_bytes: 3 << 30, ..Plan::EXT4 }.mounted();
    let job = file(&scratch, BUFFERED);
    let arguments = [volume.name(), "--job", text(&job), "--fs", "xfs", "--pairs", "8"];
    let (document, _) = measured(&arguments);
    assert!(sound(&document)["title"].as_str().is_some_and(|title| title.ends_with("on xfs")));
}

#[test]
fn a_deep_job_runs_at_the_depth_of_all_its_workers() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let document = ran(DEEP, &[]);
    let experiment = sound(&document);
    assert_eq!(experiment["workload"]["depth"], 32, "{experiment:#}");
    assert_eq!(experiment["unit"], "block");
}

#[test]
fn reads_and_writes_are_mixed_as_the_job_says() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let document = ran("[x]\nrw=randrw\nrwmixread=70\nbs=4k\ndirect=1\niodepth=4\n", &[]);
    assert_eq!(sound(&document)["workload"]["action"], "mixed");
}

#[test]
fn a_mixed_job_beside_one_that_syncs_is_measured_and_one_that_cannot_be_says_what_can() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let log = "[log]\nrw=write\nbs=4k\nfdatasync=1\n";
    let document = ran(&format!("[global]\ndirect=1\n{log}[data]\nrw=randrw\nbs=16k\n"), &[]);
    assert_eq!(document["experiments"].as_array().map(Vec::len), Some(2), "{document:#}");
    let scratch = Scratch::new();
    let volume = Plan::EXT4.mounted();
    for (options, why, hint) in [
        ("", "through the page cache", "--set direct=1"),
        ("direct=1\nfsync=8\n", "and syncs", "--set rw=randwrite"),
        ("direct=1\ndirectory=/x\n", "on a file system", "--set rw=randwrite"),
    ] {
        let job = file(&scratch, &format!("{log}[data]\nrw=randrw\nbs=16k\n{options}"));
        let seen = bench(&[&[volume.name(), "--job", text(&job)], &SMALL[..]].concat());
        assert_eq!(seen.status, Some(2), "{seen:?}");
        assert!(seen.errors.contains(why) && seen.errors.contains(hint), "{seen:?}");
        // What cannot be run is said before anything is measured.
        assert!(seen.out.is_empty(), "{seen:?}");
        let options: Vec<&str> = hint.split(' ').collect();
        let arguments = [&[volume.name(), "--job", text(&job)], &options[..], &SMALL[..]].concat();
        let seen = bench(&arguments);
        assert!(matches!(seen.status, Some(0 | 1 | 5)), "{hint}: {seen:?}");
    }
}

#[test]
fn options_on_the_command_line_stand_over_those_of_the_file() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let document = ran(DEEP, &["--set", "rw=randread", "--set", "iodepth=1", "--set", "numjobs=2"]);
    let workload = &sound(&document)["workload"];
    assert_eq!((&workload["action"], &workload["depth"]), (&"read".into(), &2.into()));
}

#[test]
fn an_option_that_is_not_honored_is_named_with_its_line() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let notes = notes(&ran("[x]\nrw=write\nbs=4k\nfsync=1\nrate_iops=5\n", &[]));
    assert!(notes.contains("x: rate, rate_iops and thinktime are not kept"), "{notes}");
    let notes = super::jobs::notes(&ran("[x]\nrw=write\nbs=4k\nfsync=1\nrate_iops_min=5\n", &[]));
    assert!(notes.contains("rate_iops_min") && notes.contains('5'), "{notes}");
}

#[test]
fn what_a_job_names_is_never_opened() {
    need_loops!();
    need_tools!("mkfs.ext4", "strace");
    let scratch = Scratch::new();
    let volume = Plan::EXT4.mounted();
    let precious = scratch.file("precious", b"what must stay");
    let job = format!("[x]\nrw=write\nbs=4k\nsize=1m\nfsync=1\nfilename={}\n", text(&precious));
    let job = file(&scratch, &job);
    let calls = scratch.path().join("calls");
    let binary = env!("CARGO_BIN_EXE_straddle");
    let head = ["-f", "-e", "trace=file", "-o", text(&calls), binary, "bench", volume.name()];
    let words = ["--job", text(&job), "--scratch", "8M", "--pairs", "2", "--share", "100"];
    let ran: Ran = tool::output("strace", &[&head[..], &words].concat()).into();
    assert!(ran.out.contains("2 pairs"), "{ran:?}");
    let calls = fs::read_to_string(&calls).expect("strace wrote it");
    assert!(calls.contains("job.fio"), "{calls}");
    assert_eq!(calls.lines().find(|line| line.contains("precious")), None);
    assert_eq!(fs::read(&precious).expect("it is there"), b"what must stay");
}

#[test]
fn a_job_that_is_wrong_is_refused_with_its_line_before_anything_is_written() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let volume = Plan::EXT4.mounted();
    let written = volume.written_sectors();
    for (job, word) in
        [("[x]\nrw=write\nbs=4q\n", "line 3"), ("[x]\nrw=trim\n", "trim"), ("rw=write\n", "line 1")]
    {
        let job = file(&scratch, job);
        let ran = bench(&[volume.name(), "--job", text(&job)]);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.errors.contains(word) && ran.errors.contains("hint: "), "{ran:?}");
    }
    assert!(volume.written_sectors() - written < 1 << 12);
}

#[test]
fn a_file_of_requests_is_made_and_run_one_and_64_at_a_time() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let volume = Plan::EXT4.mounted();
    let before = volume.state();
    let requests = scratch.path().join("requests");
    let make = ["generate", "raidtest", "--media", "16M", "--count", "500", text(&requests)];
    let made: Ran = std::process::Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(make)
        .output()
        .expect("the binary runs")
        .into();
    assert_eq!(made.status, Some(0), "{made:?}");
    let words = [volume.name(), "--raidtest", text(&requests), "--scratch", "32M", "--pairs", "6"];
    let (document, _) = measured(&words);
    let experiments = document["experiments"].as_array().expect("a list");
    let depths: Vec<&Value> = experiments.iter().map(|one| &one["workload"]["depth"]).collect();
    assert_eq!(depths, [1, 64], "{document:#}");
    for experiment in experiments {
        assert_sound(experiment);
    }
    volume.is_clean_again(&before);
}

#[test]
fn the_suite_makes_uses_and_leaves_no_file_system() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let volume = Plan::EXT4.mounted();
    let before = volume.state();
    let (document, _) = measured(&[volume.name(), "--suite", "--fs", "ext4", "--pairs", "2"]);
    let experiments = document["experiments"].as_array().expect("a list");
    let titles: Vec<&str> = experiments.iter().filter_map(|one| one["title"].as_str()).collect();
    let steps =
        ["make the file system", "unpack a tree", "copy a large file", "read both", "delete both"];
    assert_eq!(titles, steps.map(|step| format!("ext4: {step}")));
    for experiment in experiments {
        assert_sound(experiment);
        assert_eq!(experiment["arms"][1]["shift_bytes"], 1024);
    }
    volume.is_clean_again(&before);
}
