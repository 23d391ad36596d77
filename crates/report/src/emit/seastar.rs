//! Seastar's `io_properties.yaml`. Source: `doc/io-properties-file.md` of Seastar: an entry needs a
//! place and all four rates, so a file with `physical_block_size` alone is refused.

use std::fmt::Write as _;

use super::{comment, granule, heading, origin};
use crate::device_facts::{DeviceFacts, Rate};

const RATES: [(Rate, &str); 4] = [
    (Rate::ReadIops, "read_iops"),
    (Rate::ReadBandwidth, "read_bandwidth"),
    (Rate::WriteIops, "write_iops"),
    (Rate::WriteBandwidth, "write_bandwidth"),
];

/// A file, where every device has a place and all rates; else a line for each entry of a file that
/// iotune wrote.
pub(super) fn lines(devices: &[DeviceFacts]) -> String {
    let is_whole = |device: &DeviceFacts| {
        device.place.is_some() && RATES.iter().all(|(rate, _)| device.rates.contains_key(rate))
    };
    if !devices.is_empty() && devices.iter().all(is_whole) {
        return format!("disks:\n{}", devices.iter().map(entry).collect::<String>());
    }
    devices.iter().map(patch).collect()
}

fn entry(device: &DeviceFacts) -> String {
    let mut text = heading(device);
    let place = device.place.as_deref().unwrap_or_default();
    // A string of JSON is one of YAML.
    let _ = writeln!(text, "  - mountpoint: {}", serde_json::json!(place));
    for (rate, name) in RATES {
        if let Some(known) = device.rates.get(&rate) {
            let _ = writeln!(text, "{}    {name}: {}", comment(name, Some(known)), known.number);
        }
    }
    text + &block_size(device)
}

fn patch(device: &DeviceFacts) -> String {
    let missing = RATES.iter().filter(|(rate, _)| !device.rates.contains_key(rate));
    let missing: Vec<&str> = missing.map(|(_, name)| *name).collect();
    let mut text = heading(device);
    if !missing.is_empty() {
        let _ = writeln!(text, "# {}: unknown: not measured by straddle bench", missing.join(", "));
    }
    text += "# not a whole file: add the line to the entry of this disk that iotune wrote\n";
    text + &block_size(device)
}

fn block_size(device: &DeviceFacts) -> String {
    match granule(device) {
        Ok(granule) => format!(
            "{}{}    physical_block_size: {}\n",
            comment("physical_block_size", Some(granule)),
            origin(device),
            granule.number
        ),
        Err(unknown) => unknown,
    }
}
