//! Writes to devices without a file system, and counts against granules of every kind.

use testkit::{need_loops, need_tools, scratch::text};

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
    first_cause(&document, "small-pages");
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
        let mut watching = Watching::start(device.node(), &["--on", told]);
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
