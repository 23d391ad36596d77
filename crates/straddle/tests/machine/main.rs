//! Quantities of this machine that no model has: how long its drive and its kernel take, and how
//! many events of a live load the kernel hands on. What others do at the same time can make each
//! miss its tolerance. Verdicts, exit codes and words are proven on models and in the system lane.
#![expect(clippy::disallowed_methods, reason = "these tests run programs")]

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::Value;
use testkit::running_program::Ran;
use testkit::{
    Loop, Scratch, assert_tolerance, need_full_tier, need_loops, need_tools, scratch::text, skip,
    tool,
};

#[expect(dead_code, reason = "tests of the system use the rest")]
#[path = "../system/watch/volume.rs"]
mod volume;
#[expect(dead_code, reason = "tests of the system use the rest")]
#[path = "../system/watch/watching.rs"]
mod watching;
#[expect(dead_code, reason = "tests of the system use the rest")]
#[path = "../system/watch/writer.rs"]
mod writer;

use volume::{Device, Volume};
use watching::{Watching, off_granule, share_of};
use writer::Writer;

/// Most looks at a drive, until one meets it in a quiet moment.
const LOOKS_MAX: usize = 15;

/// The exit code and the document of a run with these words.
fn ran(words: &[&str]) -> (Option<i32>, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    let ran = Ran::of(command.args(words).args(["--json", "--seed", "1"]).stdin(Stdio::null()));
    (ran.status, ran.document())
}

/// The one experiment of a run of a command that does nothing, on shifted devices. Where `delay`
/// says so, it sleeps on the shifted ones, which it knows by their offset in the scratch file: the
/// files of the tests are on whole pages.
fn delayed(delay: &str) -> Value {
    let volume = Volume::ext4(4096);
    let offset = "$(cat /sys/block/$(basename {device})/loop/offset)";
    let script = format!("[ $(({offset} % 4096)) = 0 ] || {delay}");
    let bounds = ["--share", "100", "--scratch", "8M", "--pairs", "30", "--shift", "512"];
    let command = ["--", "sh", "-c", &script];
    let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
    straddle.args(["bench", text(volume.path()), "--json", "--seed", "1"]).args(bounds);
    let document = Ran::of(straddle.args(command).stdin(Stdio::null())).document();
    let experiment = document["experiments"][0].clone();
    assert!(experiment["verdict"].is_string(), "{document:#}");
    experiment
}

/// Measures how long a real command takes on a shifted device and on another. A model has no
/// commands.
#[test]
fn a_delay_on_the_shifted_device_alone_is_found_as_a_penalty() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let experiment = delayed("sleep 0.06");
    let (verdict, judged) = (&experiment["verdict"], &experiment["comparisons"][0]);
    let is_found = verdict == "penalty" && judged["low"].as_f64() > Some(1.1);
    assert_tolerance!(is_found, "{verdict} with {judged}");
}

/// Measures the same command where it takes the same time on both: the devices, their loops and
/// their order may give no arm an advantage.
#[test]
fn the_same_command_without_the_delay_is_no_penalty() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let experiment = delayed("true");
    let judged = &experiment["comparisons"][0];
    assert_tolerance!(experiment["verdict"] != "penalty", "a penalty with {judged}");
}

/// Measures how long a durable write takes on the drive of this machine, as this test does, too. A
/// model has no kernel of its own between the program and the drive.
#[test]
fn a_durable_write_takes_as_long_as_the_same_write_of_another_program() {
    need_full_tier!();
    let scratch = Scratch::new();
    let own_ns = overwrite_ns(&scratch);
    let document = ran(&["fsync", text(scratch.path()), "--rows", "wal"]).1;
    let rows = document["rows"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["id"] == "wal.overwrite").expect("it is measured");
    let median_ns = row["median_ns"].as_u64().unwrap_or(0);
    // Others may use the drive while one of both runs.
    let is_alike = (own_ns / 10..own_ns.saturating_mul(10)).contains(&median_ns);
    assert_tolerance!(is_alike, "a median of {median_ns} ns, and of {own_ns} ns by this test");
}

/// The median of the time, in nanoseconds, that an overwrite of 8 KiB and its fdatasync take.
fn overwrite_ns(scratch: &Scratch) -> u64 {
    let path = scratch.file("own", &[1; 1 << 20]);
    let file = File::options().write(true).open(path).expect("it is there");
    file.sync_all().expect("it can be synced");
    let mut times_ns: Vec<u128> = (0..128)
        .map(|number| {
            let begun = Instant::now();
            file.write_all_at(&[2; 8192], 8192 * number).expect("it can be written");
            file.sync_data().expect("it can be synced");
            begun.elapsed().as_nanos()
        })
        .collect();
    times_ns.sort_unstable();
    times_ns[64].try_into().expect("less than 500 years")
}

/// Returns what a look at the syncs of `directory` found.
fn looked(directory: &Path) -> Value {
    let found = ran(&["fsync", text(directory), "--rows", "none"]).1["honesty"].clone();
    assert!(found["grade"].is_string(), "{found:#}");
    found
}

/// Returns whether evidence of a look has `value` for `key`.
fn has_evidence(found: &Value, key: &str, value: &str) -> bool {
    found["evidence"].as_array().expect("a list").iter().any(|one| one[key] == value)
}

/// The sentences of the evidence of a look.
fn sentences(found: &Value) -> String {
    let evidence = found["evidence"].as_array().expect("a list");
    let sentences = evidence.iter().filter_map(|one| one["sentence"].as_str());
    sentences.collect::<Vec<&str>>().join("; ")
}

/// Counts the flushes that this machine's own drive completes for syncs. A model has the drive's
/// side alone, and no kernel between.
#[test]
fn a_sync_on_the_disk_of_this_machine_is_counted_as_a_flush_of_it() {
    need_full_tier!();
    let scratch = Scratch::new();
    let mut found = looked(scratch.path());
    let layers = found["layers"].as_array().expect("a list");
    if layers.iter().all(|layer| layer["kind"] != "drive") {
        return skip("needs a temporary directory on a drive");
    }
    for _ in 1..LOOKS_MAX {
        let seen = sentences(&found);
        assert_tolerance!(!has_evidence(&found, "direction", "against"), "{seen}");
        if found["grade"] == "consistent" {
            return;
        }
        let is_disturbed = has_evidence(&found, "code", "others-flush");
        assert_tolerance!(is_disturbed && found["grade"] == "unproven", "{seen}");
        found = looked(scratch.path());
    }
    skip("needs a drive that others leave alone");
}

/// Counts the flushes of a loop device for each sync of btrfs, with something to write and without:
/// an empty sync is skipped. Whoever syncs all file systems flushes the device as well.
#[test]
fn an_empty_sync_of_btrfs_flushes_less_than_once() {
    need_loops!();
    need_tools!("mkfs.btrfs");
    let volume = Volume::made(256 << 20, &["mkfs.btrfs", "-q", "-f"]);
    let found = looked(volume.path());
    let layers = found["layers"].as_array().expect("a list");
    let layer = layers.iter().find(|layer| layer["kind"] == "loop, direct").expect("a loop");
    let [full, empty] = ["flushes_per_sync", "empty_flushes_per_sync"].map(|key| &layer[key]);
    assert_tolerance!(full.as_f64() >= Some(1.0), "{full} flushes a sync");
    assert_tolerance!(empty.as_f64() < Some(1.0), "{empty} flushes an empty sync");
}

/// Measures the shares of two live writers in a sample, of which a busy machine may lose a part.
#[test]
fn two_writers_have_the_shares_of_their_writes() {
    need_loops!();
    need_tools!("python3");
    let device = Device::new(64 << 20);
    // The parent lets the child write once for each three of its own.
    let body = "
down, up = os.pipe(), os.pipe()
file, pages = direct(sys.argv[2]), memory(1024)
if os.fork() == 0:
    named('one-of-four')
    os.close(down[1])
    while os.read(down[0], 1):
        os.pwrite(file, pages, 0)
        os.write(up[1], b'.')
    os._exit(0)
while goes_on():
    for number in range(1, 4):
        os.pwrite(file, pages, 8192 * number)
    os.write(down[1], b'.')
    os.read(up[0], 1)
";
    let mut watching = Watching::start(device.node(), &[]);
    let _writer = Writer::named("three-of-four", body, &[device.node()]);
    watching.until("a sample of some size", |seen| {
        seen["devices"][0]["sample"]["writes"].as_u64() >= Some(200)
    });
    let document = watching.end();
    for (name, share) in [("three-of-four", 0.75), ("one-of-four", 0.25)] {
        let seen = share_of(&document, name);
        assert_tolerance!((seen - share).abs() < 0.05, "{name}: {seen} instead of {share}");
    }
}

/// Writes and reads of one to four sectors at known places; prints the off ones of each.
const KNOWN: &str = "
path, length, origin = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
file, counts = direct(path), [0, 0]
for number in range(600):
    start, size = 512 * (number * 7 % 997), 512 * (1 + number % 4)
    is_read = number % 3 == 0
    pages = memory(size)
    if is_read:
        os.preadv(file, [pages], start)
    else:
        os.pwrite(file, pages, start)
    counts[is_read] += any((at - origin) % length for at in (start, start + size))
print(*counts)
";

/// Counts the writes and reads of a live load against granules of every kind. Whoever looks at all
/// disks of the machine reads this one, too.
#[test]
fn counts_against_a_shifted_granule_and_one_of_3_kib_are_those_of_the_load() {
    need_loops!();
    need_tools!("python3");
    for (told, length, origin) in [
        ("512e", 4096, 0),
        ("512e,origin=3584", 4096, 3584),
        ("granule=3K", 3072, 0),
        ("granule=16K", 16384, 0),
    ] {
        let device = Device::new(64 << 20);
        let mut watching = Watching::start(device.node(), &["--exact", "--on", told]);
        let words = [device.node(), &length.to_string(), &origin.to_string()];
        let before = off_granule(watching.last()).clone();
        let printed = writer::run(KNOWN, &words);
        watching.two_seconds();
        let document = watching.end();
        let off = off_granule(&document);
        assert_eq!(off["unit_bytes"], length, "{told}: {document:#}");
        let since = |key: &str| off[key].as_u64().zip(before[key].as_u64()).map(|(a, b)| a - b);
        let counted = format!("{} {}", since("writes").unwrap_or(0), since("reads").unwrap_or(0));
        let printed = printed.trim_end();
        assert_tolerance!(counted == printed, "{told}: {counted} instead of {printed}");
        assert_tolerance!(off["lost"] == 0, "{told}: {} are lost", off["lost"]);
    }
}

/// Counts as many writes as this machine can do, for which watch takes a part of the time, or all
/// of it. A model has no tracepoints that cost anything.
#[test]
fn a_busy_device_is_counted_for_a_part_of_the_time_unless_all_is_asked_for() {
    need_loops!();
    need_tools!("fio");
    // The fastest that there is here: in memory, if that is a place for files.
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    let device = Device { device: Loop::attach(&scratch.image("image", 64 << 20), 512), scratch };
    let mut in_part = Watching::start(device.node(), &[]);
    let mut exact = Watching::start(device.node(), &["--exact"]);
    let mut fio = tool::command("fio");
    fio.args(["--name=busy", "--thread", "--rw=randwrite", "--bs=4k", "--ioengine=io_uring"]);
    fio.args(["--iodepth=32", "--direct=1", "--time_based", "--runtime=600"]);
    let _writer = Writer::program(fio.args(["--filename", device.node()]).stdout(Stdio::null()));
    in_part.two_seconds();
    let before = written(in_part.last());
    in_part.two_seconds();
    exact.two_seconds();
    let (in_part, exact) = (in_part.end(), exact.end());
    if written(&in_part) - before < 3 * 60_000 {
        return skip("the loop device takes too few writes a second");
    }
    let counted = off_granule(&in_part);
    let [taken, all, watched] =
        [&counted["taken_ns"], &counted["all_writes"], &in_part["watched_ns"]];
    assert_tolerance!(
        taken.as_u64() < watched.as_u64() && !taken.is_null(),
        "counted for {taken} of {watched} ns"
    );
    let done = written(&in_part);
    assert_tolerance!(all.as_u64() < Some(done), "counted {all} of {done} writes");
    assert_eq!(off_granule(&exact)["taken_ns"], Value::Null, "{exact:#}");
    // The two are not read at the same instant.
    let all = off_granule(&exact)["all_writes"].as_u64().expect("a number");
    let done = written(&exact);
    assert_tolerance!(all.abs_diff(done) < done.div_ceil(100), "counted {all} of {done} writes");
}

fn written(document: &Value) -> u64 {
    document["devices"][0]["traffic"][0]["writes"].as_u64().expect("a number")
}
