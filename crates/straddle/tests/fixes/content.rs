//! Content of a disk that no fix may lose.

use std::collections::BTreeMap;
use std::fs::File;

use device::disk;
use serde_json::Value;
use testkit::{scratch, tool};

use crate::work_directory::Bench;

/// Bytes of a boot sector from its fourth on, and the ranges, from and up to a byte, in which the
/// file system keeps where it is on its disk, with checksums of that.
type Placed = (&'static [u8], &'static [(u64, u64)]);

const PLACED: [Placed; 3] = [
    (b"NTFS    ", &[(0x1c, 0x20)]),
    (b"EXFAT   ", &[(0x40, 0x48), (5632, 6144), (0x1840, 0x1848), (11_776, 12_288)]),
    (b"mkfs.fat", &[(0x1c, 0x20), (0xc1c, 0xc20)]),
];

/// One partition, as sfdisk lists it, with its bytes.
#[derive(Debug)]
struct Part {
    /// Words that name it: type, name, UUID, attributes, boot flag.
    words: BTreeMap<String, String>,
    bytes: Vec<u8>,
}

/// Content of a disk that no fix may lose.
#[derive(Debug)]
pub(crate) struct Content {
    label: Option<String>,
    /// True if the entry of a protective MBR is active, without which some BIOSes do not boot.
    is_active: bool,
    parts: BTreeMap<String, Part>,
    /// Of a disk without partitions, all of it.
    whole: Vec<u8>,
}

impl Content {
    /// Returns what is on a raw disk in a file.
    pub(crate) fn of(bench: &Bench, name: &str) -> Content {
        let path = bench.path(name);
        let file = File::open(&path).expect("the disk opens");
        let read = |at: u64, length: u64| scratch::sparse_range(&path, at..at + length);
        let listed =
            [512, 4096].into_iter().find_map(|sector| Some((sector, list(bench, name, sector)?)));
        let Some((sector, table)) = listed else {
            let length = file.metadata().expect("the disk has a length").len();
            return Content {
                label: None,
                is_active: false,
                parts: BTreeMap::new(),
                whole: read(0, length),
            };
        };
        let mut parts = BTreeMap::new();
        for entry in table["partitions"].as_array().into_iter().flatten() {
            let word = |key: &str| match &entry[key] {
                Value::String(text) => Some(text.to_lowercase()),
                Value::Bool(flag) => Some(flag.to_string()),
                _ => None,
            };
            let keys = ["type", "name", "uuid", "attrs", "bootable"];
            let words = keys.iter().filter_map(|key| Some(((*key).to_owned(), word(key)?)));
            let number = word("node").expect("a partition has a name");
            let number = number.rsplit(|letter: char| !letter.is_ascii_digit()).next();
            let place = |key: &str| entry[key].as_u64().expect("a partition has a place") * sector;
            // A container holds only what is listed itself.
            let is_container = matches!(word("type").as_deref(), Some("5" | "f" | "85"));
            let length = if is_container { 0 } else { place("size") };
            let end = file.metadata().expect("the disk has a length").len();
            let length = length.min(end.saturating_sub(place("start")));
            let part = Part { words: words.collect(), bytes: read(place("start"), length) };
            parts.insert(number.expect("it ends with its number").to_owned(), part);
        }
        let label = table["id"].as_str().map(str::to_lowercase);
        let entry = read(446, 16);
        let is_active = entry[4] == 0xee && entry[0] == 0x80;
        Content { label, is_active, parts, whole: Vec::new() }
    }

    /// Returns what is not there any more, a line each.
    pub(crate) fn lost(&self, after: &Content) -> Vec<String> {
        let mut lost = Vec::new();
        if self.label != after.label {
            lost.push(format!("the disk's id {:?} became {:?}", self.label, after.label));
        }
        if self.is_active && !after.is_active {
            lost.push("the protective MBR is not active any more".to_owned());
        }
        let length = self.whole.len().min(after.whole.len());
        if self.parts.is_empty() && self.whole[..length] != after.whole[..length] {
            lost.push("bytes of the disk changed".to_owned());
        }
        for (number, part) in &self.parts {
            let Some(now) = after.parts.get(number) else {
                lost.push(format!("partition {number} is gone"));
                continue;
            };
            if part.words != now.words {
                lost.push(format!("partition {number}: {:?} became {:?}", part.words, now.words));
            }
            lost.extend(
                changed(&part.bytes, &now.bytes)
                    .map(|at| format!("partition {number}: its bytes differ from byte {at} on")),
            );
        }
        lost.extend(
            after
                .parts
                .keys()
                .filter(|number| !self.parts.contains_key(*number))
                .map(|number| format!("partition {number} is new")),
        );
        lost
    }
}

/// The first byte that changed and is no place on the disk.
fn changed(before: &[u8], after: &[u8]) -> Option<u64> {
    let length = before.len().min(after.len());
    if before[..length] == after[..length] {
        // What was cut off must have been empty.
        let rest = &before[length..];
        if disk::is_filled_with(rest, 0) {
            return None;
        }
        let rest = rest.iter().position(|&byte| byte != 0)?;
        return u64::try_from(length + rest).ok();
    }
    let placed = PLACED.iter().find(|(magic, _)| before[3..].starts_with(magic));
    let is_ntfs = placed.is_some_and(|(magic, _)| magic.starts_with(b"NTFS"));
    let last = u64::try_from(before.len()).unwrap_or(0).saturating_sub(512);
    let is_place = |at: u64| {
        let own = placed
            .is_some_and(|(_, ranges)| ranges.iter().any(|&(from, to)| (from..to).contains(&at)));
        own || (is_ntfs && (0x1c..0x20).contains(&at.wrapping_sub(last)))
    };
    let blocks = before.chunks(4096).zip(after.chunks(4096)).zip((0_u64..).step_by(4096));
    let mut differing = blocks.filter(|((one, two), _)| one != two).flat_map(|((one, two), at)| {
        let pairs = one.iter().zip(two).zip(at..);
        pairs.filter(|((one, two), _)| one != two).map(|(_, at)| at)
    });
    differing.find(|&at| !is_place(at))
}

/// The table as sfdisk lists it, for sectors of so many bytes.
fn list(bench: &Bench, name: &str, sector_bytes: u64) -> Option<Value> {
    let disk = bench.attach(name, sector_bytes);
    let output = tool::output("sfdisk", &["--json", scratch::text(disk.path())]);
    let document: Value = serde_json::from_slice(&output.stdout).ok()?;
    let table = document["partitiontable"].clone();
    // For other sectors than its own a GPT shows its protective entry alone.
    let is_protective = table["partitions"][0]["type"] == "ee";
    (table.is_object() && !is_protective).then_some(table)
}
