//! Facts of an image by qemu-img.

use format::image::{GuestExtent, GuestPlace};
use serde_json::Value;
use testkit::{Scratch, tool};

/// A header by `qemu-img info`.
pub(crate) struct Info {
    pub(crate) virtual_bytes: u64,
    pub(crate) cluster_bytes: Option<u64>,
}

pub(crate) fn info(path: &str, format: &str) -> Info {
    let json = tool::run("qemu-img", &["info", "--output=json", "-f", format, path]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["format"], format);
    Info {
        virtual_bytes: json["virtual-size"].as_u64().unwrap(),
        cluster_bytes: json["cluster-size"].as_u64(),
    }
}

/// All guest bytes by `qemu-img convert`.
pub(crate) fn raw_bytes(path: &str, format: &str, scratch: &Scratch) -> Vec<u8> {
    let out = scratch.path().join("expected");
    let arguments = ["convert", "-f", format, "-O", "raw", path, out.to_str().unwrap()];
    tool::run("qemu-img", &arguments);
    std::fs::read(out).unwrap()
}

/// A run by `qemu-img map`.
#[derive(Debug)]
pub(crate) struct Mapped {
    start: u64,
    end: u64,
    depth: u64,
    zero: bool,
    offset: Option<u64>,
}

pub(crate) fn map(path: &str, format: &str) -> Vec<Mapped> {
    let json = tool::run("qemu-img", &["map", "--output=json", "-f", format, path]);
    let json: Value = serde_json::from_str(&json).unwrap();
    let entries = json.as_array().unwrap().iter();
    entries
        .map(|entry| {
            let start = entry["start"].as_u64().unwrap();
            Mapped {
                start,
                end: start + entry["length"].as_u64().unwrap(),
                depth: entry["depth"].as_u64().unwrap(),
                zero: entry["zero"].as_bool().unwrap(),
                offset: entry["offset"].as_u64(),
            }
        })
        .collect()
}

/// Holds our extents against QEMU's, wherever either changes.
pub(crate) fn compare_map(ours: &[GuestExtent], theirs: &[Mapped], format: &str) {
    let (mut mine, mut other, mut at) = (0, 0, 0);
    while let (Some(extent), Some(mapped)) = (ours.get(mine), theirs.get(other)) {
        let agree = agree(extent, mapped, at, format);
        assert!(agree, "at {at}: ours {extent:?}, QEMU's {mapped:?}");
        at = extent.guest.end_bytes().min(mapped.end);
        mine += usize::from(at == extent.guest.end_bytes());
        other += usize::from(at == mapped.end);
    }
    assert!(mine == ours.len(), "QEMU's map ends at {at}, ours does not");
}

/// Returns whether both tell the same of guest byte `at`.
fn agree(extent: &GuestExtent, mapped: &Mapped, at: u64, format: &str) -> bool {
    let theirs = mapped.offset.map(|offset| offset + (at - mapped.start));
    let within = at - extent.guest.start_bytes();
    match extent.place {
        // QEMU gives no offsets for VHDX.
        GuestPlace::Here(_) if format == "vhdx" => theirs.is_none(),
        GuestPlace::Here(offset) | GuestPlace::In(_, offset) => {
            mapped.depth == 0 && theirs == Some(offset + within)
        }
        GuestPlace::Compressed(_) => mapped.depth == 0 && theirs.is_none() && !mapped.zero,
        // A cluster that reads as zeros may still own a place, which QEMU tells and which no byte
        // is read from. Of VHDX it tells nothing.
        GuestPlace::Zero => mapped.zero || format == "vhdx",
        GuestPlace::Backing => mapped.depth > 0 || mapped.zero || format == "vhdx",
    }
}
