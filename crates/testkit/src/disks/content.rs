//! Contents of partitions, made by the field's own tools, and each kind's own checker.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use units::random::Random;

use super::{Tried, number, open, ran, read};
use crate::{Loop, Scratch, scratch};

/// Makes a file of `length` bytes that holds what a partition at sector `start` does.
pub(crate) fn made(
    kind: &str,
    start: u64,
    length: u64,
    directory: &Scratch,
    random: &mut Random,
) -> Tried<PathBuf> {
    let file = directory.image("part.img", length);
    let path = scratch::text(&file);
    let files = files(directory, random)?;
    let from = scratch::text(&files);
    let hidden = start.to_string();
    match kind {
        "ext4" => ran("mkfs.ext4", &["-q", "-F", "-b", "4096", "-d", from, path]).map(drop)?,
        "ext4-1k" => ran("mkfs.ext4", &["-q", "-F", "-b", "1024", "-d", from, path]).map(drop)?,
        "xfs" => {
            let list = format!("/\n0 0\nd--755 0 0\nf ---644 0 0 {from}/random\n$\n");
            let list = directory.file("proto", list.as_bytes());
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
            let geometry = [&["-q", "-F", "-Q", "-s", "512", "-p", &hidden][..], &heads, &track];
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
                scratch::text(directory.path()),
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
            let key = directory.file("key", b"key");
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
    Ok(file)
}

/// A directory with files.
fn files(scratch: &Scratch, random: &mut Random) -> Tried<PathBuf> {
    let directory = scratch.path().join("files");
    std::fs::create_dir_all(directory.join("more")).map_err(|error| error.to_string())?;
    let bytes: Vec<u8> = (0..30_000).flat_map(|_| random.next_u64().to_le_bytes()).collect();
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(directory.join(name), bytes).map_err(|error| error.to_string())
    };
    write("random", &bytes)?;
    write("more/text", "some text\n".repeat(500).as_bytes())?;
    Ok(directory)
}

pub(crate) fn copy_into(image: &Path, at: u64, from: &Path) -> Tried<()> {
    let disk = OpenOptions::new().write(true).open(image).map_err(|error| error.to_string())?;
    let source = open(from)?;
    let length = source.metadata().map_err(|error| error.to_string())?.len();
    let mut done = 0;
    while done < length {
        let run = (length - done).min(1 << 18);
        let bytes = read(&source, done, run)?;
        if !device::disk::is_filled_with(&bytes, 0) {
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

/// Places in a content of so many sectors that hold its start on the disk: from byte, to byte.
pub(crate) fn masked(kind: &str, sectors: u64) -> Vec<(u64, u64)> {
    match kind {
        "vfat" => vec![(0x1c, 0x20)],
        "fat32" => vec![(0x1c, 0x20), (0xc1c, 0xc20)],
        "ntfs" => {
            let last = sectors * 512 - 512;
            vec![(0x1c, 0x20), (last + 0x1c, last + 0x20)]
        }
        "exfat" => {
            vec![
                (64, 72),
                (11 * 512, 12 * 512),
                (12 * 512 + 64, 12 * 512 + 72),
                (23 * 512, 24 * 512),
            ]
        }
        _ => Vec::new(),
    }
}

/// Runs the own checker of a content, copied out of a disk.
///
/// # Errors
/// When it finds anything.
pub(crate) fn checked(
    directory: &Scratch,
    kind: &str,
    disk: &File,
    at: u64,
    length: u64,
) -> Tried<()> {
    let file = directory.image("checked.img", length);
    let target = OpenOptions::new().write(true).open(&file).map_err(|error| error.to_string())?;
    let mut done = 0;
    while done < length {
        let run = (length - done).min(1 << 20);
        let bytes = read(disk, at + done, run)?;
        if !device::disk::is_filled_with(&bytes, 0) {
            target.write_all_at(&bytes, done).map_err(|error| error.to_string())?;
        }
        done += run;
    }
    let path = scratch::text(&file);
    match kind {
        "ext4" | "ext4-1k" => ran("e2fsck", &["-fn", path]),
        "xfs" => ran("xfs_repair", &["-n", "-o", "force_geometry", path]),
        "btrfs" => ran("btrfs", &["check", path]),
        "vfat" | "fat32" => ran("fsck.fat", &["-n", path]),
        "exfat" => ran("fsck.exfat", &["-n", path]),
        "ntfs" => ran("ntfsfix", &["-n", path]),
        "luks1" | "luks2" => ran("cryptsetup", &["isLuks", path]),
        "md" => ran("mdadm", &["--examine", path]),
        _ => Ok(String::new()),
    }
    .map(drop)
}
