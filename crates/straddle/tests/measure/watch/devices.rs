//! Writes to devices without a file system, and counts against granules of every kind.

use std::process::Stdio;

use serde_json::Value;
use testkit::running_program::{Going, by_signals};
use testkit::{Scratch, need_loops, need_tools, scratch::text, skip, tool};

use super::volume::Device;
use super::watching::{Culprit, Watching, first_cause, off_granule, only};
use super::writer::{self, Writer};

#[test]
fn writes_to_a_bare_device_are_raw() {
    need_loops!();
    need_tools!("python3");
    let device = Device::new(64 << 20);
    let watching = Watching::start(device.node(), &[]);
    let _writer = Writer::direct("bare", device.node(), 512, 4096);
    let culprit = Culprit { process: "bare", layer: device.name(), region: "raw", file: None };
    let document = watching.shows(&culprit, 1.0);
    first_cause(&document, "small-writes");
}

#[test]
fn whole_pages_on_a_partition_one_sector_off_are_a_shift() {
    need_loops!();
    need_tools!("sfdisk", "partx", "python3");
    let device = Device::new(64 << 20);
    let partition = device.partition("dos", 2049);
    let watching = Watching::start(device.node(), &[]);
    let _writer = Writer::direct("whole-pages", text(&partition), 4096, 4096);
    let layer = format!("{}p1", device.name());
    let culprit = Culprit { process: "whole-pages", layer: &layer, region: "raw", file: None };
    let document = watching.shows(&culprit, 1.0);
    let cause = first_cause(&document, "shifted");
    assert_eq!((&cause["layer"], &cause["offset_bytes"]), (&layer.into(), &512.into()));
}

#[test]
fn a_served_drive_counts_the_writes_that_are_watched() {
    need_loops!();
    need_tools!("dd");
    let scratch = Scratch::new();
    let counts = scratch.path().join("counts");
    let mut serve = by_signals(env!("CARGO_BIN_EXE_straddle"));
    serve.args(["drive", "serve", "--profile", "hdd-7200-512e", "--as", "loop"]);
    serve.args(["--timing", "off", "--set", "capacity=4G", "--counts", text(&counts)]);
    let mut serve = Going::with(&mut serve);
    let counted = || -> Value {
        let text = std::fs::read_to_string(&counts).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    };
    let mut node = String::new();
    serve.until("it is attached", || {
        node = counted()["address"].as_str().unwrap_or_default().to_owned();
        !node.is_empty()
    });
    let mut watching = Watching::start(&node, &[]);
    let to = format!("of={node}");
    tool::run("dd", &["if=/dev/zero", &to, "bs=4k", "count=50", "seek=1", "oflag=direct"]);
    tool::run("dd", &["if=/dev/zero", &to, "bs=512", "count=70", "seek=1", "oflag=direct"]);
    watching.until("all writes are counted", |document| {
        document["devices"][0]["traffic"][0]["writes"] == 120
    });
    drop(watching);
    serve.signal("INT");
    assert_eq!(serve.ended().status, Some(0));
    assert_eq!(counted()["requests"]["writes"], 120);
    assert_eq!(counted()["requests"]["written_bytes"], 50 * 4096 + 70 * 512);
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
        let since = |key: &str| off[key].as_u64().zip(before[key].as_u64()).map(|(a, b)| a - b);
        let counted = format!("{} {}", since("writes").unwrap_or(0), since("reads").unwrap_or(0));
        assert_eq!(counted, printed.trim_end(), "{told}: {document:#}");
        assert_eq!(off["lost"], 0, "{told}: {document:#}");
        assert_eq!(off["unit_bytes"], length, "{told}: {document:#}");
        only(&document, &["once"]);
    }
}

#[test]
fn writes_are_counted_by_their_lengths() {
    need_loops!();
    need_tools!("python3");
    let device = Device::new(64 << 20);
    // On a fast machine one writer alone is so busy that it is counted for a part of the time.
    let mut watching = Watching::start(device.node(), &["--exact"]);
    let writer = Writer::direct("lengths", device.node(), 8192, 16384);
    let counted = |document: &Value, place: usize| {
        let count = &document["devices"][0]["write_lengths"][place];
        ["up_to_bytes", "writes", "all_writes"].map(|key| count[key].as_u64().expect("a number"))
    };
    watching.until("some writes are counted", |document| counted(document, 1)[1] > 100);
    // Counters are read one after the other: nothing may be written meanwhile.
    drop(writer);
    let document = watching.end();
    let (short, long) = (counted(&document, 0), counted(&document, 1));
    assert_eq!(short[..2], [4096, 0], "{document:#}");
    assert_eq!(long[0], 16384, "{document:#}");
    assert!(long[2] - long[1] <= at_edges(&document), "{document:#}");
}

/// Writes a sector, and flushes, 100 times.
const FLUSHED: &str = "
file = direct(sys.argv[2])
for number in range(100):
    os.pwrite(file, memory(512), 512 * number)
    os.fsync(file)
";

#[test]
fn flushes_are_not_counted_as_writes_of_no_length() {
    need_loops!();
    need_tools!("python3");
    let device = Device::new(64 << 20);
    for more in [&["--exact"][..], &[]] {
        let mut watching = Watching::start(device.node(), more);
        writer::run(FLUSHED, &[device.node()]);
        watching.two_seconds();
        let document = watching.end();
        let [device, ..] = &document["devices"].as_array().expect("a list")[..] else {
            panic!("{document:#}");
        };
        assert_eq!(device["traffic"][0]["flushes"], 100, "{document:#}");
        let counted = |count: &Value| [count["writes"].clone(), count["all_writes"].clone()];
        assert_eq!(counted(off_granule(&document)), [100, 100], "{document:#}");
        assert_eq!(counted(&device["write_lengths"][0]), [100, 100], "{document:#}");
    }
}

/// Writes of one writer that may be over, and not counted by their lengths, because the counters
/// were switched meanwhile: on and off once a second, with one write under way each time.
fn at_edges(document: &Value) -> u64 {
    match &document["devices"][0]["write_lengths"][1]["taken_ns"] {
        Value::Null => 0,
        _ => 2 * document["watched_ns"].as_u64().expect("a number").div_ceil(1_000_000_000),
    }
}

#[test]
fn a_busy_device_is_counted_for_a_part_of_the_time_unless_all_is_asked_for() {
    need_loops!();
    need_tools!("fio");
    let device = Device::fast(64 << 20);
    let mut in_part = Watching::start(device.node(), &[]);
    let mut exact = Watching::start(device.node(), &["--exact"]);
    let mut fio = tool::command("fio");
    fio.args([
        "--name=busy",
        "--thread",
        "--rw=randwrite",
        "--bs=4k",
        "--ioengine=io_uring",
        "--iodepth=32",
    ]);
    fio.args(["--direct=1", "--time_based", "--runtime=600", "--filename", device.node()]);
    let _writer = Writer::program(fio.stdout(Stdio::null()));
    in_part.two_seconds();
    let before = written(in_part.last());
    in_part.two_seconds();
    exact.two_seconds();
    let (in_part, exact) = (in_part.end(), exact.end());
    let seconds = in_part["watched_ns"].as_u64().expect("a number") / 1_000_000_000;
    if written(&in_part) - before < 3 * 60_000 {
        return skip("the loop device takes too few writes a second");
    }
    let counted = off_granule(&in_part);
    assert!(
        counted["taken_ns"].as_u64().is_some_and(|taken_ns| taken_ns < seconds * 1_000_000_000),
        "{in_part:#}"
    );
    assert!(counted["all_writes"].as_u64() < Some(written(&in_part)), "{in_part:#}");
    assert_eq!(off_granule(&exact)["taken_ns"], Value::Null, "{exact:#}");
    // The two are not read at the same instant.
    let all = off_granule(&exact)["all_writes"].as_u64().expect("a number");
    assert!(all.abs_diff(written(&exact)) < written(&exact).div_ceil(100), "{exact:#}");
}

fn written(document: &Value) -> u64 {
    document["devices"][0]["traffic"][0]["writes"].as_u64().expect("a number")
}
