//! Lines that a sheet may have.

use crate::profile::{DriveKind, Quantity, YES_NO};

/// A line that a sheet may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct SheetKey {
    /// Its name.
    pub(super) name: &'static str,
    /// Form in which it is written.
    pub(super) quantity: Quantity,
}

const fn key(name: &'static str, quantity: Quantity) -> SheetKey {
    SheetKey { name, quantity }
}

/// The ways to attach a flash drive.
const LINKS: Quantity = Quantity::Word(&["sata", "nvme"]);

const HARD_DISK: &[SheetKey] = &[
    key("capacity", Quantity::Bytes),
    key("physical_sector", Quantity::Bytes),
    key("rpm", Quantity::Count),
    key("outer_rate", Quantity::Rate),
    key("inner_rate", Quantity::Rate),
    key("average_seek", Quantity::Time),
    key("track_seek", Quantity::Time),
    key("track_seek_write", Quantity::Time),
    key("full_stroke", Quantity::Time),
    key("heads", Quantity::Count),
    key("cache", Quantity::Bytes),
    key("link", Quantity::Rate),
    key("read_latency", Quantity::Time),
    key("read_iops_16", Quantity::Count),
];

const FLASH: &[SheetKey] = &[
    key("capacity", Quantity::Bytes),
    key("interface", LINKS),
    key("plp", YES_NO),
    key("unit", Quantity::Bytes),
    key("read_latency", Quantity::Time),
    key("write_latency", Quantity::Time),
    key("read_iops_1", Quantity::Count),
    key("write_iops_1", Quantity::Count),
    key("read_iops", Quantity::Count),
    key("write_iops", Quantity::Count),
    key("write_size", Quantity::Bytes),
    key("read_rate", Quantity::Rate),
    key("write_rate", Quantity::Rate),
    key("burst_rate", Quantity::Rate),
    key("burst_iops", Quantity::Count),
    key("burst", Quantity::Bytes),
];

const CLOUD: &[SheetKey] = &[
    key("capacity", Quantity::Bytes),
    key("read_latency", Quantity::Time),
    key("iops", Quantity::Count),
    key("burst_iops", Quantity::Count),
    key("credits", Quantity::Count),
    key("counted", Quantity::Bytes),
    key("rate", Quantity::Rate),
];

/// All lines that the sheet of a drive of `kind` may have; none of a kind that no sheet describes.
pub(super) fn keys(kind: DriveKind) -> &'static [SheetKey] {
    match kind {
        DriveKind::HardDisk => HARD_DISK,
        DriveKind::Flash => FLASH,
        DriveKind::Cloud => CLOUD,
        DriveKind::Memory | DriveKind::Array | DriveKind::Controller => &[],
    }
}
