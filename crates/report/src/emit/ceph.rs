//! Ceph's BlueStore. Source: Ceph, "BlueStore Configuration Reference" and "Configuring Ceph",
//! section "Sections and masks".

use super::{comment, granule, heading, origin};
use crate::device_facts::DeviceFacts;

/// The least that BlueStore allocates, in bytes.
const LEAST: u64 = 4096;

pub(super) fn lines(device: &DeviceFacts) -> String {
    let head = heading(device);
    let granule = match granule(device) {
        Ok(granule) => granule,
        Err(unknown) => return head + &unknown,
    };
    let bytes = granule.number.max(LEAST);
    let line = |class: &str, kind: &str| {
        format!("ceph config set osd/class:{class} bluestore_min_alloc_size_{kind} {bytes}\n")
    };
    let lines = match device.rotates {
        Some(true) => line("hdd", "hdd"),
        Some(false) => line("ssd", "ssd"),
        None => format!(
            "# class: unknown: no given result tells whether it rotates; one of these\n# {}# {}",
            line("ssd", "ssd"),
            line("hdd", "hdd")
        ),
    };
    let source = comment("granule", Some(granule));
    let once = "# read when an OSD is made: set it before, for all OSDs of the class\n";
    format!("{head}{source}{}{once}{lines}", origin(device))
}
