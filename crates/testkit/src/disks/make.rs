//! Making the disks: a layout from the seed, a table, contents.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{MadePartition, Trial, Tried, content, ran};
use crate::{Loop, scratch, tool};

/// Contents, and the least MiB of each.
const KINDS: [(&str, u64); 13] = [
    ("ext4", 3),
    ("ext4-1k", 3),
    ("xfs", 20),
    ("btrfs", 18),
    ("vfat", 3),
    ("fat32", 34),
    ("exfat", 5),
    ("ntfs", 4),
    ("swap", 1),
    ("lvm", 6),
    ("luks1", 4),
    ("luks2", 18),
    ("md", 3),
];
impl Trial<'_> {
    pub(super) fn make(&mut self) -> Tried<PathBuf> {
        let disk_sectors = self.lay_out();
        let image = self.scratch.image("disk.raw", disk_sectors * self.sector);
        let device = (self.sector == 4096).then(|| Loop::attach(&image, 4096));
        let target = device.as_ref().map_or(&*image, Loop::path);
        let script = self.table_text();
        tool::run_with_input("sfdisk", &["-q", scratch::text(target)], &script);
        if self.table == "hybrid" {
            ran("sgdisk", &["-h", "1", scratch::text(&image)])?;
        }
        drop(device);
        for index in 0..self.parts.len() {
            let part = &self.parts[index];
            if part.kind != "extended" {
                self.fill(&image, index)?;
            }
        }
        Ok(image)
    }

    /// Decides what is where; returns the disk's sectors.
    fn lay_out(&mut self) -> u64 {
        let random = &mut self.random;
        let mib = (1 << 20) / self.sector;
        let first = if self.table == "dos" {
            8
        } else if self.sector == 512 {
            34
        } else {
            6
        };
        let grain = *random.choose(&[1, 1, 1, 1, 63, 63, 2, 8]);
        let mut at = (first + random.below(70)).next_multiple_of(grain);
        let count = 1 + random.below(4);
        let logical = if self.table == "dos" { random.below(3) } else { 0 };
        let tight = random.below(3) == 0;
        for number in 0..count.min(3) + logical {
            if number == count.min(3) {
                self.parts.push(MadePartition { kind: "extended", start: at, sectors: 0 });
            }
            if number >= count.min(3) {
                at += *random.choose(&[1, 63, 2, 2048]);
            }
            let (kind, least) = loop {
                let (kind, least) = *random.choose(&KINDS);
                let big = matches!(kind, "fat32" | "xfs" | "btrfs" | "luks2");
                let small = matches!(kind, "ext4" | "swap" | "luks2" | "btrfs");
                if (!big || random.below(2) == 0) && (self.sector == 512 || small) {
                    break (kind, least);
                }
            };
            let length = least * mib + random.below(mib);
            let length = if random.below(2) == 0 { length } else { length.next_multiple_of(grain) };
            self.parts.push(MadePartition { kind, start: at, sectors: length });
            let gap = if tight { 0 } else { random.below(5000) };
            at = (at + length + gap).next_multiple_of(grain);
        }
        let last = self.parts.last().map_or(0, |part| part.start + part.sectors);
        if let Some(index) = self.parts.iter().position(|part| part.kind == "extended") {
            self.parts[index].sectors = last - self.parts[index].start;
        }
        let tail = if tight { 34 + random.below(10) } else { 34 + random.below(8 * mib) };
        let sectors = at.max(last) + tail;
        // A disk that could be one of 4096-byte sectors.
        sectors.next_multiple_of(8)
    }

    /// The table as sfdisk's script.
    fn table_text(&mut self) -> String {
        let gpt = self.table != "dos";
        let mut text = format!("label: {}\n", if gpt { "gpt" } else { "dos" });
        if gpt {
            let _ = writeln!(text, "first-lba: {}", if self.sector == 512 { 34 } else { 6 });
        }
        for (index, part) in self.parts.iter().enumerate() {
            let _ = write!(text, "start={}, size={}", part.start, part.sectors);
            let kind = match (part.kind, gpt) {
                ("extended", _) => "5",
                ("swap", _) => "S",
                ("lvm", true) => "E6D6D379-F507-44C2-A23C-238F2A3DF928",
                ("lvm", false) => "8e",
                ("ntfs" | "exfat", false) => "7",
                ("ntfs" | "exfat", true) => "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7",
                ("vfat" | "fat32", false) => "c",
                ("md", false) => "fd",
                _ => "L",
            };
            let _ = write!(text, ", type={kind}");
            if gpt {
                let attributes = *self.random.choose(&["", ", attrs=\"GUID:60\"", ", bootable"]);
                let _ = write!(text, ", name=\"part {index} of\"{attributes}");
            } else if index == 0 && self.random.below(2) == 0 {
                text.push_str(", bootable");
            }
            text.push('\n');
        }
        text
    }

    /// Makes what partition `index` holds, and copies it into the disk.
    fn fill(&mut self, image: &Path, index: usize) -> Tried<()> {
        let MadePartition { kind, start, sectors } = self.parts[index];
        let length = sectors * self.sector;
        let file = content::made(kind, start, length, &self.scratch, &mut self.random)?;
        content::copy_into(image, start * self.sector, &file)
    }
}
