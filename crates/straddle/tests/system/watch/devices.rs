//! Writes to devices without a file system, and counts against granules of every kind.

use serde_json::Value;
use testkit::running_program::{Going, by_signals};
use testkit::{Scratch, need_loops, need_tools, scratch::text, tool};

use super::volume::Device;
use super::watching::{Culprit, Watching, off_granule};
use super::writer::{self, Writer};

#[test]
fn writes_to_a_bare_device_are_raw() {
    need_loops!();
    need_tools!("python3");
    let device = Device::new(64 << 20);
    let watching = Watching::start(device.node(), &[]);
    let _writer = Writer::direct("bare", device.node(), 512, 4096);
    let culprit = Culprit { process: "bare", layer: device.name(), region: "raw", file: None };
    watching.shows_cause(&culprit, 1.0, "small-writes");
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
    let cause = watching.shows_cause(&culprit, 1.0, "shifted");
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
    assert_eq!(long[1], long[2], "{document:#}");
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
