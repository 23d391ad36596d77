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
    let mut answers = answers(granule.number, device.origin_bytes);
    let own = tools(&answers, &host(device));
    made(&mut text, &own);
    if let Some((chunk, stripe)) = chunk.zip(device.bytes(Quantity::FullStripe)) {
        answers.chunk = found(FoundBytes { bytes: chunk.number });
        let members = stripe.number.div_euclid(chunk.number.max(1));
        answers.members = found(FoundCount { count: members });
        text += "# or, for the stripe of the array:\n";
        text += &comment("full stripe", Some(stripe));
        let mut stripes = tools(&answers, &host(device));
        stripes.retain(|tool| !own.contains(tool));
        // A probe counts members of parity too; the table of the array does not.
        let is_probed = device.probed.as_ref().is_some_and(|(own, _)| own.chunk.value.is_some());
        stripes.iter_mut().filter(|_| !is_probed).for_each(|tool| tool.note = None);
        made(&mut text, &stripes);
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

/// Writes the lines of tools that make something.
fn made(text: &mut String, tools: &[Tool]) {
    for Tool { tool, value, note } in tools {
        if MAKERS.contains(&tool.as_str()) {
            let note = note.as_ref().map(|note| format!("# {note}\n")).unwrap_or_default();
            let _ = writeln!(text, "{note}{tool} {value}");
        }
    }
}

/// Answers of a probe that found this granule.
fn answers(granule: u64, origin_bytes: u64) -> Answers {
    let mut answers = Answers::not_tried("no given result tells it");
    answers.alignment = found(FoundAlignment { bytes: granule, origin_bytes });
    answers.size = found(FoundBytes { bytes: granule });
    answers
}

fn found<T>(value: T) -> ProbeAnswer<T> {
    ProbeAnswer { value: Some(value), ..ProbeAnswer::not_tried("") }
}
