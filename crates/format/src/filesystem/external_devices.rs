//! Other devices that a superblock names: those of a log, or of more of the file system.
//!
//! One idea: a superblock names them as the kernel finds them when it mounts, by a path or by a
//! number, so that is all that is given here. Sources: `struct f2fs_super_block` of f2fs-tools'
//! `include/f2fs_fs.h`, Linux `fs/jfs/jfs_superblock.h`, `fs/reiserfs/reiserfs.h`, and
//! `new_decode_dev` in `include/linux/kdev_t.h`.

use device::Disk;
use units::DiskText;

use super::{f2fs, jfs, reiserfs};
use crate::heads::Heads;

/// A superblock's name for another device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Companion {
    /// By a path, as it was typed when the file system was made.
    Path(DiskText),
    /// By the number that it had then.
    Number {
        /// The driver.
        major: u32,
        /// The device within it.
        minor: u32,
    },
    /// Not at all, though there is one.
    Unnamed,
}

/// The other devices of the file system of `kind`, as the kernel calls it, that lies on `disk`:
/// those that hold more of it for f2fs, that of the log for JFS and `ReiserFS`. `None` where no
/// superblock of that kind can be read, and for all other kinds.
#[must_use]
pub fn companions(disk: &dyn Disk, kind: &str) -> Option<Vec<Companion>> {
    let heads = Heads::new(disk);
    match kind {
        "f2fs" => {
            let paths = f2fs::devices(&heads)?;
            Some(paths.into_iter().map(Companion::Path).collect())
        }
        "jfs" => Some(jfs::log_device(&heads)?.map(numbered).into_iter().collect()),
        "reiserfs" => Some(reiserfs::log_device(&heads)?.map(numbered).into_iter().collect()),
        _ => None,
    }
}

/// The device with this number: 12 bits of the driver between 8 and 12 bits of the device.
fn numbered(number: u32) -> Companion {
    match number {
        0 => Companion::Unnamed,
        _ => Companion::Number {
            major: (number & 0xf_ff00) >> 8,
            minor: (number & 0xff) | ((number >> 12) & 0xf_ff00),
        },
    }
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    #[test]
    fn a_number_has_its_driver_between_two_parts_of_its_device() {
        assert_eq!(numbered(0x0701), Companion::Number { major: 7, minor: 1 });
        assert_eq!(numbered(0x1230_3fab), Companion::Number { major: 0x03f, minor: 0x123ab });
        assert_eq!(numbered(0), Companion::Unnamed);
    }

    #[test]
    fn what_is_no_superblock_of_its_kind_names_nothing() {
        let empty = MemoryDisk::new(1 << 20);
        for kind in ["f2fs", "jfs", "reiserfs", "ext4"] {
            assert_eq!(companions(&empty, kind), None, "{kind}");
        }
    }

    #[test]
    fn a_log_of_jfs_lies_in_itself_or_on_the_device_with_a_number() {
        let mut disk = MemoryDisk::new(1 << 20);
        disk.put(32 << 10, b"JFS1\x01");
        disk.put((32 << 10) + 36, &0x1020_0900_u32.to_le_bytes());
        assert_eq!(companions(&disk, "jfs"), Some(Vec::new()));
        disk.put((32 << 10) + 36, &0x1020_0100_u32.to_le_bytes());
        assert_eq!(companions(&disk, "jfs"), Some(vec![Companion::Unnamed]));
        disk.put((32 << 10) + 64, &0x0811_u32.to_le_bytes());
        let number = Companion::Number { major: 8, minor: 17 };
        assert_eq!(companions(&disk, "jfs"), Some(vec![number]));
    }

    #[test]
    fn a_log_of_reiserfs_lies_in_itself_or_on_the_device_with_a_number() {
        let mut disk = MemoryDisk::new(1 << 20);
        disk.put(64 << 10, &[0, 0x40]);
        disk.put((64 << 10) + 12, &18_u32.to_le_bytes());
        disk.put((64 << 10) + 44, &4096_u16.to_le_bytes());
        disk.put((64 << 10) + 52, b"ReIsEr2Fs");
        assert_eq!(companions(&disk, "reiserfs"), Some(Vec::new()));
        disk.put((64 << 10) + 16, &0x0811_u32.to_le_bytes());
        let number = Companion::Number { major: 8, minor: 17 };
        assert_eq!(companions(&disk, "reiserfs"), Some(vec![number]));
    }

    #[test]
    fn an_f2fs_of_several_devices_names_them_by_path_its_own_left_out() {
        let mut disk = MemoryDisk::new(1 << 20);
        disk.put(1024, &0xf2f5_2010_u32.to_le_bytes());
        for (at, value) in [(8, 9_u32), (12, 3), (16, 12), (20, 9)] {
            disk.put(1024 + at, &value.to_le_bytes());
        }
        assert_eq!(companions(&disk, "f2fs"), Some(Vec::new()));
        disk.put(1024 + 2201, b"/dev/sda1");
        assert_eq!(companions(&disk, "f2fs"), Some(Vec::new()));
        disk.put(1024 + 2201 + 68, b"/dev/sdb");
        disk.put(1024 + 2201 + 7 * 68, b"/dev/sdh");
        let path = |path: &str| Companion::Path(path.into());
        assert_eq!(companions(&disk, "f2fs"), Some(vec![path("/dev/sdb"), path("/dev/sdh")]));
    }
}
