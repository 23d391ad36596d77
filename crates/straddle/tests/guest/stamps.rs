//! A file on ext4 on LVM on LUKS2 on RAID 5, with a stamp at every 64 KiB that says its offset: what
//! `straddle trace` says against where the stamps lie on the disks.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::answer::list;
use crate::result::Run;

const STEP_BYTES: usize = 65536;
const FILE_BYTES: usize = 2 << 20;
const DISKS: [&str; 4] = ["q0", "q1", "q2", "q3"];

#[test]
fn every_stamp_of_the_file_is_on_the_disks() {
    let Some(run) = Run::named() else { return };
    for offset in (0..FILE_BYTES).step_by(STEP_BYTES) {
        let places = places(&run, offset);
        // Parity of a stamp and zeros is the stamp once more.
        assert!((1..=2).contains(&places.len()), "{offset} is at {places:?}");
    }
}

#[test]
fn the_trace_of_the_file_leads_to_every_stamp() {
    let Some(run) = Run::named() else { return };
    assert_eq!(run.status("trace", "json"), "0");
    let document = run.document("trace");
    for offset in (0..FILE_BYTES).step_by(STEP_BYTES) {
        let (disk, at) = traced(&document, u64::try_from(offset).expect("a small number"));
        let serial = run.devices.get(disk).and_then(|device| device.serial.clone());
        let serial = serial.expect("the disk has a serial");
        let places = places(&run, offset);
        let found = places.iter().any(|&(name, place)| name == serial && place == at);
        assert!(found, "{offset}: {serial} at {at}, and the stamp is at {places:?}");
    }
}

/// The disk and the byte of it where `straddle trace` says that a byte of the file lies.
fn traced(document: &Value, offset: u64) -> (&str, u64) {
    let bytes = |value: &Value, key: &str| value[key].as_u64().expect("a number of bytes");
    let pieces = list(&document["extents"]).iter().flat_map(|extent| list(&extent["pieces"]));
    let mut holding = pieces.filter(|piece| {
        let start = bytes(piece, "offset_bytes");
        (start..start + bytes(piece, "length_bytes")).contains(&offset)
    });
    let piece = holding.next().expect("the byte lies in a piece");
    let path = list(&list(&piece["copies"])[0]["path"]);
    let leaf = path.last().expect("a path has an end");
    let layers = list(&document["layers"]);
    let layer = layers.iter().find(|layer| layer["id"] == leaf["layer"]).expect("its layer");
    let at = bytes(leaf, "at_bytes") + offset - bytes(piece, "offset_bytes");
    (layer["name"].as_str().expect("a name"), at)
}

/// The disks, and bytes on them, where the stamp for `offset` is.
fn places(run: &Run, offset: usize) -> BTreeSet<(&'static str, u64)> {
    let stamp = format!("straddle:file:{offset}\0");
    let mut places = BTreeSet::new();
    for name in DISKS {
        let packed = run.pack(name);
        let mut rest = &packed[8..];
        while let Some((number, after)) = rest.split_first_chunk() {
            let (count, after) = after.split_first_chunk().expect("a record has a count");
            let bytes = usize::from(u16::from_le_bytes(*count)) * 512;
            let (sectors, after) = after.split_at(bytes);
            let numbers = u64::from_le_bytes(*number)..;
            for (sector, number) in sectors.chunks(512).zip(numbers) {
                if sector.starts_with(stamp.as_bytes()) {
                    places.insert((name, number * 512));
                }
            }
            rest = after;
        }
    }
    places
}
