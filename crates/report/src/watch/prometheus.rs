//! Metrics of a watch, for node_exporter's textfile collector.

use super::{Watch, WatchedDevice};
use crate::nagios::exact_seconds;
use crate::prometheus::Family;

/// The counts since the watch began, with their last line feed. Counters start at 0 with each run,
/// which Prometheus takes for a restart.
#[must_use]
pub fn textfile(watch: &Watch) -> String {
    let off = off_granule(watch);
    let layers = layers(&watch.devices);
    let mut extra = Family::counter(
        "straddle_extra_reads_total",
        "Granules that the drive had to read first, estimated from a sample.",
    );
    for device in &watch.devices {
        if let Some(reads) = device.extra_reads {
            extra.put(&[("device", &device.name)], &reads);
        }
    }
    off.iter().chain(&layers).chain([&extra]).map(Family::text).collect()
}

fn off_granule(watch: &Watch) -> [Family; 3] {
    let mut writes = Family::counter(
        "straddle_off_unit_writes_total",
        "Writes that start or end off multiples of unit_bytes.",
    );
    let mut reads = Family::counter(
        "straddle_off_unit_reads_total",
        "Reads that start or end off multiples of unit_bytes.",
    );
    let mut counted = Family::counter(
        "straddle_off_unit_counted_seconds_total",
        "Time for which multiples of unit_bytes were counted.",
    );
    for device in &watch.devices {
        for off in &device.off {
            let labels = [
                ("device", device.name.as_str()),
                ("unit_bytes", &off.unit_bytes.to_string()),
                ("granule", if off.is_granule { "true" } else { "false" }),
                ("counted", device.counted.word()),
            ];
            writes.put(&labels, &off.writes);
            reads.put(&labels, &off.reads);
            counted.put(&labels, &exact_seconds(off.taken_ns.unwrap_or(watch.watched_ns)));
        }
    }
    [writes, reads, counted]
}

fn layers(devices: &[WatchedDevice]) -> [Family; 3] {
    let mut bytes =
        Family::counter("straddle_written_bytes_total", "Bytes written to the block device.");
    let mut writes =
        Family::counter("straddle_writes_total", "Writes that the block device completed.");
    let mut flushes =
        Family::counter("straddle_flushes_total", "Flushes that the block device completed.");
    for layer in devices.iter().flat_map(|device| &device.traffic) {
        let labels = [("device", layer.name.as_str())];
        bytes.put(&labels, &layer.written_bytes);
        writes.put(&labels, &layer.writes);
        if let Some(count) = layer.flushes {
            flushes.put(&labels, &count);
        }
    }
    [bytes, writes, flushes]
}
