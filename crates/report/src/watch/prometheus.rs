//! Metrics in Prometheus's text format, for node_exporter's textfile collector.
//!
//! Source: Prometheus "Exposition formats", version 0.0.4.

use std::fmt::Write as _;

use super::{OffCount, Watch, WatchedDevice};
use crate::text::prometheus_label as label;

/// A metric: its name, its help, and its values by device and unit.
struct Metric {
    name: &'static str,
    help: &'static str,
    samples: Vec<(String, u64)>,
}

/// The counts since the watch began, with their last line feed. Counters start at 0 with each run,
/// which Prometheus takes for a restart.
#[must_use]
pub fn textfile(watch: &Watch) -> String {
    let mut text = String::new();
    for metric in metrics(watch) {
        if metric.samples.is_empty() {
            continue;
        }
        let Metric { name, help, samples } = metric;
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{{{labels}}} {value}");
        }
    }
    text
}

fn metrics(watch: &Watch) -> Vec<Metric> {
    let (devices, watched_ns) = (&watch.devices, watch.watched_ns);
    let off = |value: &dyn Fn(&OffCount) -> u64| {
        let each = |device: &WatchedDevice| -> Vec<(String, u64)> {
            let name = label(&device.name);
            let work = device.counted.word();
            let labels = |off: &OffCount| {
                format!(
                    "device=\"{name}\",unit_bytes=\"{}\",granule=\"{}\",counted=\"{work}\"",
                    off.unit_bytes, off.is_granule
                )
            };
            device.off.iter().map(|off| (labels(off), value(off))).collect()
        };
        devices.iter().flat_map(each).collect()
    };
    let layer = |value: fn(&super::LayerTraffic) -> Option<u64>| {
        let mut samples: Vec<(String, u64)> = Vec::new();
        for traffic in devices.iter().flat_map(|device| &device.traffic) {
            let labels = format!("device=\"{}\"", label(&traffic.name));
            if let Some(value) =
                value(traffic).filter(|_| samples.iter().all(|one| one.0 != labels))
            {
                samples.push((labels, value));
            }
        }
        samples
    };
    let whole = |value: fn(&WatchedDevice) -> Option<u64>| {
        let each = |device: &WatchedDevice| {
            Some((format!("device=\"{}\"", label(&device.name)), value(device)?))
        };
        devices.iter().filter_map(each).collect()
    };
    vec![
        Metric {
            name: "straddle_off_unit_writes_total",
            help: "Writes that start or end off multiples of unit_bytes.",
            samples: off(&|off: &OffCount| off.writes),
        },
        Metric {
            name: "straddle_off_unit_reads_total",
            help: "Reads that start or end off multiples of unit_bytes.",
            samples: off(&|off: &OffCount| off.reads),
        },
        Metric {
            name: "straddle_off_unit_counted_milliseconds_total",
            help: "Time for which multiples of unit_bytes were counted.",
            samples: off(&|off: &OffCount| off.taken_ns.unwrap_or(watched_ns) / 1_000_000),
        },
        Metric {
            name: "straddle_written_bytes_total",
            help: "Bytes written to the block device.",
            samples: layer(|traffic| Some(traffic.written_bytes)),
        },
        Metric {
            name: "straddle_writes_total",
            help: "Writes that the block device completed.",
            samples: layer(|traffic| Some(traffic.writes)),
        },
        Metric {
            name: "straddle_flushes_total",
            help: "Flushes that the block device completed.",
            samples: layer(|traffic| traffic.flushes),
        },
        Metric {
            name: "straddle_extra_reads_total",
            help: "Granules that the drive had to read first, estimated from a sample.",
            samples: whole(|device| device.extra_reads),
        },
    ]
}
