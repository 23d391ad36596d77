//! Options of tools that make file systems, arrays and containers. A line has no device, so that
//! none can be run as it is.

use std::fmt::Write as _;

use super::{comment, granule, heading, origin};
use crate::device_facts::{DeviceFacts, Quantity};
use crate::probe::{Answers, FoundAlignment, FoundBytes, FoundCount, ProbeAnswer, Tool, tools};

/// The largest sector of btrfs on every machine with pages of 4 KiB (mkfs.btrfs(8)).
const BTRFS_SECTOR: u64 = 4096;
/// The default node of btrfs, and the largest (mkfs.btrfs(8)).
const BTRFS_NODE: [u64; 2] = [16 << 10, 64 << 10];
/// The default chunk of mdadm, in bytes (mdadm(8)).
const MD_CHUNK: u64 = 512 << 10;
/// The largest sector of LUKS (cryptsetup(8)).
const LUKS_SECTOR: u64 = 4096;
/// Tools of [`tools`] that make something.
const MAKERS: [&str; 3] = ["zpool create", "mkfs.ext4", "mkfs.xfs"];

pub(super) fn lines(device: &DeviceFacts) -> String {
    let head = heading(device);
    let granule = match granule(device) {
        Ok(granule) => granule,
        Err(unknown) => return head + &unknown,
    };
    let chunk = device.bytes(Quantity::Chunk);
    let mut text = head + &comment("granule", Some(granule)) + &origin(device);
    text += "# options alone: the device is yours to add, and is erased by each of these\n";
    text += &comment("chunk", chunk);
    for Tool { tool, value, note } in tools(&answers(device, granule.number), &host(device)) {
        if MAKERS.contains(&tool.as_str()) {
            let note = note.map(|note| format!("# {note}\n")).unwrap_or_default();
            let _ = writeln!(text, "{note}{tool} {value}");
        }
    }
    let bytes = granule.number;
    let node = bytes.clamp(BTRFS_NODE[0], BTRFS_NODE[1]);
    let _ = writeln!(text, "mkfs.btrfs --sectorsize {BTRFS_SECTOR} --nodesize {node}");
    let stripe = chunk.map_or(MD_CHUNK.max(bytes), |chunk| chunk.number);
    if chunk.is_none() {
        text += "# mdadm's default chunk, or the granule if that is larger\n";
    }
    let _ = writeln!(text, "mdadm --create --chunk={}", stripe.div_euclid(1024));
    let sector = bytes.clamp(512, LUKS_SECTOR);
    let _ = writeln!(text, "cryptsetup luksFormat --type luks2 --sector-size {sector}");
    text
}

/// The machine that was probed, if one was.
fn host(device: &DeviceFacts) -> crate::probe::ToolHost {
    device.probed.as_ref().map(|(_, host)| *host).unwrap_or_default()
}

/// Answers of a probe that found what the results tell.
fn answers(device: &DeviceFacts, granule: u64) -> Answers {
    fn found<T>(value: T) -> ProbeAnswer<T> {
        ProbeAnswer { value: Some(value), ..ProbeAnswer::not_tried("") }
    }
    let mut answers = Answers::not_tried("no given result tells it");
    answers.alignment = found(FoundAlignment { bytes: granule, origin_bytes: device.origin_bytes });
    answers.size = found(FoundBytes { bytes: granule });
    let chunk = device.bytes(Quantity::Chunk).map(|chunk| chunk.number);
    let stripe = device.bytes(Quantity::FullStripe).map(|stripe| stripe.number);
    if let Some((chunk, stripe)) = chunk.zip(stripe) {
        answers.chunk = found(FoundBytes { bytes: chunk });
        answers.members = found(FoundCount { count: stripe.div_euclid(chunk.max(1)) });
    }
    answers
}
