//! Kept results as configuration lines of other programs: values with their sources as comments,
//! never a command that names a device.
//!
//! | file | consumer |
//! |---|---|
//! | `seastar` | `io_properties.yaml` of Seastar, ScyllaDB, Redpanda |
//! | `ceph` | `ceph config set` |
//! | `guest` | libvirt's `<blockio>` and QEMU's `-device` |
//! | `nfd` | features of Kubernetes' node-feature-discovery |
//! | `mkfs` | options of mkfs, zpool, mdadm and cryptsetup |

mod ceph;
mod guest;
mod mkfs;
mod nfd;
mod seastar;

use crate::device_facts::{DeviceFacts, Quantity, SourcedNumber};
use crate::html::ResultFile;

/// Program that lines are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// Seastar's `io_properties.yaml`.
    Seastar,
    /// Ceph's configuration database.
    Ceph,
    /// libvirt's domain XML.
    Libvirt,
    /// QEMU's command line.
    Qemu,
    /// Feature files of node-feature-discovery.
    Nfd,
    /// Tools that make file systems, arrays and containers.
    Mkfs,
}

/// Returns the lines for `consumer`, with their last line feed; empty where no result names a
/// device.
#[must_use]
pub fn emitted(consumer: Consumer, results: &[ResultFile]) -> String {
    let devices = DeviceFacts::of(results);
    match consumer {
        Consumer::Seastar => seastar::lines(&devices),
        Consumer::Ceph => devices.iter().map(ceph::lines).collect(),
        Consumer::Libvirt => devices.iter().map(guest::libvirt).collect(),
        Consumer::Qemu => devices.iter().map(guest::qemu).collect(),
        Consumer::Nfd => devices.iter().map(nfd::lines).collect(),
        Consumer::Mkfs => devices.iter().map(mkfs::lines).collect(),
    }
}

/// Why a value is not given.
const UNTOLD: &str = "no given result tells it";

/// A comment of a shell or of YAML: the device and its model.
fn heading(device: &DeviceFacts) -> String {
    let model = device.identity.get("model").map(|model| format!(", {model}"));
    format!("# {}{}\n", device.name, model.unwrap_or_default())
}

/// A comment that says what `value` is and where it comes from, or that it is unknown.
fn comment(name: &str, value: Option<&SourcedNumber>) -> String {
    match value {
        Some(SourcedNumber { number, source }) => format!("# {name}: {number}, {source}\n"),
        None => format!("# {name}: unknown: {UNTOLD}\n"),
    }
}

/// The granule of a device, where it is one that tools take: a power of two from 512 bytes on.
///
/// # Errors
/// With a comment that says why there is none.
fn granule(device: &DeviceFacts) -> Result<&SourcedNumber, String> {
    let granule = device.granule().ok_or_else(|| comment("granule", None))?;
    match granule.number.is_power_of_two() && granule.number >= 512 {
        true => Ok(granule),
        false => Err(format!(
            "# granule: unknown: {} bytes ({}) are no power of two from 512 on\n",
            granule.number, granule.source
        )),
    }
}

/// That the first granule starts elsewhere than at byte 0, which no option says.
fn origin(device: &DeviceFacts) -> String {
    match device.origin_bytes {
        0 => String::new(),
        bytes => format!("# warning: the first granule starts at byte {bytes}: align to that\n"),
    }
}

/// The physical sector of a device: its granule, which is what programs take it for.
fn sectors(device: &DeviceFacts) -> (Option<&SourcedNumber>, Result<&SourcedNumber, String>) {
    (device.bytes(Quantity::LogicalSector), granule(device))
}
