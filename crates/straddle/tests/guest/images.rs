//! The disks as images, each judged for the disk that it was.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use testkit::Scratch;

use crate::answer::Answer;
use crate::result::{Device, Run, argument, straddle_json};

const SECTOR_BYTES: u64 = 512;

/// Returns what `straddle check` says of the run's disks as images.
pub(crate) fn answer(run: &Run) -> Answer {
    let scratch = Scratch::new();
    let mut groups: BTreeMap<Option<String>, Vec<PathBuf>> = BTreeMap::new();
    for device in run.devices.values() {
        let Some(serial) = device.serial.as_deref().filter(|&serial| serial != "shifted-copy")
        else {
            continue;
        };
        let image = scratch.path().join(serial);
        unpack(&run.pack(serial), &image);
        groups.entry(told(device)).or_default().push(image);
    }
    let mut answer = Answer::default();
    for (on, images) in &groups {
        let mut arguments = vec!["check", "--json"];
        if let Some(on) = on {
            arguments.extend(["--on", on]);
        }
        arguments.extend(images.iter().map(|image| argument(image)));
        answer.join(Answer::of(&straddle_json(&arguments), str::to_owned));
    }
    answer
}

/// The `--on` for a disk; none where the disk itself says nothing that counts.
fn told(device: &Device) -> Option<String> {
    let logical = device.logical_bytes.expect("a disk has a logical sector");
    let granule = device.physical_bytes.expect("a disk has a physical sector");
    if granule == SECTOR_BYTES {
        return None;
    }
    let origin = device.alignment_offset.filter(|&bytes| bytes > 0).unwrap_or(0);
    let name = if logical == 4096 { "4Kn" } else { "512e" };
    Some(format!("{name},granule={granule},origin={origin}"))
}

/// Writes a packed disk as a sparse file: its length, then records of a sector's number, how many
/// sectors follow, and those.
fn unpack(packed: &[u8], path: &Path) {
    let file = File::create(path).expect("an image can be made");
    let (length, mut rest) = packed.split_first_chunk().expect("a pack begins with a length");
    file.set_len(u64::from_le_bytes(*length)).expect("an image can be given a length");
    while let Some((number, after)) = rest.split_first_chunk() {
        let (count, after) = after.split_first_chunk().expect("a record has a count");
        let bytes = usize::from(u16::from_le_bytes(*count)) * 512;
        let (sectors, after) = after.split_at(bytes);
        let at = u64::from_le_bytes(*number) * SECTOR_BYTES;
        file.write_all_at(sectors, at).expect("an image can be written");
        rest = after;
    }
}
