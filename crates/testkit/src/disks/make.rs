//! Making the disks: a layout from the seed, a table, contents.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::{MadePartition, Trial, Tried, number, open, ran, read};
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
        let file = self.scratch.image("part.img", length);
        let path = scratch::text(&file);
        let files = self.files()?;
        let from = scratch::text(&files);
        let hidden = start.to_string();
        match kind {
            "ext4" => ran("mkfs.ext4", &["-q", "-F", "-b", "4096", "-d", from, path]).map(drop)?,
            "ext4-1k" => {
                ran("mkfs.ext4", &["-q", "-F", "-b", "1024", "-d", from, path]).map(drop)?
            }
            "xfs" => {
                let list = format!("/\n0 0\nd--755 0 0\nf ---644 0 0 {from}/random\n$\n");
                let list = self.scratch.file("proto", list.as_bytes());
                let list = scratch::text(&list);
                ran("mkfs.xfs", &["--unsupported", "-q", "-f", "-p", list, path]).map(drop)?;
            }
            "btrfs" => {
                ran("mkfs.btrfs", &["-q", "-f", "--mixed", "-r", from, path]).map(drop)?;
            }
            "vfat" => ran("mkfs.fat", &["-F", "16", "-s", "1", "-h", &hidden, path]).map(drop)?,
            "fat32" => ran("mkfs.fat", &["-F", "32", "-s", "1", "-h", &hidden, path]).map(drop)?,
            "exfat" => {
                ran("mkfs.exfat", &[path])?;
                exfat_at(&file, start)?;
            }
            "ntfs" => {
                let (heads, track) = (["-H", "255"], ["-S", "63"]);
                let geometry =
                    [&["-q", "-F", "-Q", "-s", "512", "-p", &hidden][..], &heads, &track];
                ran("mkfs.ntfs", &[&geometry.concat()[..], &[path]].concat())?;
                ran("ntfscp", &["-q", path, &format!("{from}/random"), "random"])?;
            }
            "swap" => ran("mkswap", &["-q", path]).map(drop)?,
            "lvm" => {
                let device = Loop::attach(&file, 512);
                let config = format!(
                    "devices {{ filter=[\"a|^{0}$|\",\"r|.*|\"] \
                     global_filter=[\"a|^{0}$|\",\"r|.*|\"] use_devicesfile=0 hints=\"none\" \
                     obtain_device_list_from_udev=0 external_device_info_source=\"none\" }} \
                     global {{ locking_dir=\"{1}\" }} backup {{ backup=0 archive=0 }} \
                     activation {{ udev_sync=0 udev_rules=0 monitoring=0 }}",
                    scratch::text(device.path()),
                    scratch::text(self.scratch.path()),
                );
                let lvm = |words: &[&str]| {
                    ran("lvm", &[words, &["--driverloaded", "n", "--config", &config]].concat())
                };
                let node = scratch::text(device.path());
                lvm(&["pvcreate", "-ffy", node])?;
                lvm(&["vgcreate", "-s", "1m", "vg", node])?;
                let made = ["lvcreate", "-an", "-Zn", "-Wn", "-l", "2", "-n", "data", "vg"];
                lvm(&made)?;
            }
            "luks1" | "luks2" => {
                let key = self.scratch.file("key", b"key");
                let (key, version) = (scratch::text(&key), kind);
                let quick: &[&str] = match version {
                    "luks1" => &["--pbkdf-force-iterations", "1000"],
                    _ => &["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"],
                };
                let words = [&["-q", "luksFormat", "--type", version][..], quick, &[path, key]];
                ran("cryptsetup", &words.concat())?;
            }
            "md" => md_at_end(&file, length)?,
            other => return Err(format!("nothing makes {other}")),
        }
        copy_into(image, start * self.sector, &file)
    }

    /// A directory with files.
    fn files(&mut self) -> Tried<PathBuf> {
        let directory = self.scratch.path().join("files");
        std::fs::create_dir_all(directory.join("more")).map_err(|error| error.to_string())?;
        let bytes: Vec<u8> =
            (0..30_000).flat_map(|_| self.random.next_u64().to_le_bytes()).collect();
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(directory.join(name), bytes).map_err(|error| error.to_string())
        };
        write("random", &bytes)?;
        write("more/text", "some text\n".repeat(500).as_bytes())?;
        Ok(directory)
    }
}

fn copy_into(image: &Path, at: u64, from: &Path) -> Tried<()> {
    let disk = OpenOptions::new().write(true).open(image).map_err(|error| error.to_string())?;
    let source = open(from)?;
    let length = source.metadata().map_err(|error| error.to_string())?.len();
    let mut done = 0;
    while done < length {
        let run = (length - done).min(1 << 18);
        let bytes = read(&source, done, run)?;
        if bytes.iter().any(|&byte| byte != 0) {
            disk.write_all_at(&bytes, at + done).map_err(|error| error.to_string())?;
        }
        done += run;
    }
    Ok(())
}

/// Writes `start` as the partition's offset into both boot regions, as formatting a partition does.
fn exfat_at(file: &Path, start: u64) -> Tried<()> {
    let volume = OpenOptions::new().read(true).write(true).open(file);
    let volume = volume.map_err(|error| error.to_string())?;
    for region in [0, 12 * 512] {
        let mut bytes = read(&volume, region, 11 * 512)?;
        bytes[64..72].copy_from_slice(&start.to_le_bytes());
        let summed = bytes.iter().enumerate().filter(|(at, _)| !matches!(at, 106 | 107 | 112));
        let sum =
            summed.fold(0_u32, |sum, (_, &byte)| sum.rotate_right(1).wrapping_add(u32::from(byte)));
        bytes.extend(sum.to_le_bytes().repeat(128));
        volume.write_all_at(&bytes, region).map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// A member of a RAID 1 of one disk, with its superblock at the end (1.0), as no kernel is needed
/// to make it. Source: `struct mdp_superblock_1` in Linux `include/uapi/linux/raid/md_p.h`.
fn md_at_end(file: &Path, length: u64) -> Tried<()> {
    let sectors = length.div_euclid(512);
    let at = (sectors - 16) & !7;
    let mut block = vec![0; 4096];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &0xa92b_4efc_u32.to_le_bytes());
    put(4, &1_u32.to_le_bytes());
    put(16, b"straddle's array");
    put(72, &1_u32.to_le_bytes());
    put(80, &(at & !7).to_le_bytes());
    put(92, &1_u32.to_le_bytes());
    put(136, &at.to_le_bytes());
    put(144, &at.to_le_bytes());
    put(168, b"straddle member!");
    put(200, &1_u64.to_le_bytes());
    put(208, &u64::MAX.to_le_bytes());
    put(220, &1_u32.to_le_bytes());
    let words = block[..258].chunks(4).map(number);
    let sum: u64 = words.sum();
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = u32::try_from(sum & 0xffff_ffff).map_err(|error| error.to_string())?;
    block[216..220].copy_from_slice(&sum.to_le_bytes());
    let volume = OpenOptions::new().write(true).open(file).map_err(|error| error.to_string())?;
    volume.write_all_at(&block, at * 512).map_err(|error| error.to_string())?;
    let data: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    volume.write_all_at(&data, 0).map_err(|error| error.to_string())
}
