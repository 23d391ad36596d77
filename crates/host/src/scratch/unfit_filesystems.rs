//! The file system of a directory, and reasons why a scratch file cannot be measured there.
//!
//! Source: statfs(2) and Linux `include/uapi/linux/magic.h`; proc(5) on `mountinfo`;
//! `FS_IOC_GETFLAGS` of `include/uapi/linux/fs.h`.

use std::os::fd::BorrowedFd;

use rustix::fs::{AtFlags, IFlags, StatxAttributes, StatxFlags};

use device::mountinfo::{self, MountLine};

use crate::extents::facts_of;

/// `FS_ENCRYPT_FL`.
const FS_ENCRYPT: IFlags = IFlags::from_bits_retain(0x800);

/// Why a kind of file system cannot be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    Memory,
    Network,
    Userspace,
    Stacked,
    /// Bytes that are written again go elsewhere.
    Moving,
}

/// A file system's type as the kernel names it, its `f_type`, and what is wrong with it.
type Row = (&'static str, u32, Option<Unfit>);

/// 0 stands where the number says nothing that the name does not.
const KINDS: &[Row] = &[
    ("ext4", 0xef53, None),
    ("xfs", 0x5846_5342, None),
    ("btrfs", 0x9123_683e, None),
    ("tmpfs", 0x0102_1994, Some(Unfit::Memory)),
    ("devtmpfs", 0, Some(Unfit::Memory)),
    ("ramfs", 0x8584_58f6, Some(Unfit::Memory)),
    ("rootfs", 0, Some(Unfit::Memory)),
    ("hugetlbfs", 0x9584_58f6, Some(Unfit::Memory)),
    ("nfs", 0x6969, Some(Unfit::Network)),
    ("nfs4", 0, Some(Unfit::Network)),
    ("cifs", 0xff53_4d42, Some(Unfit::Network)),
    ("smb3", 0xfe53_4d42, Some(Unfit::Network)),
    ("smbfs", 0x517b, Some(Unfit::Network)),
    ("9p", 0x0102_1997, Some(Unfit::Network)),
    ("ceph", 0x00c3_6400, Some(Unfit::Network)),
    ("afs", 0x5346_414f, Some(Unfit::Network)),
    ("coda", 0x7375_7245, Some(Unfit::Network)),
    ("lustre", 0x0bd0_0bd0, Some(Unfit::Network)),
    ("orangefs", 0x2003_0528, Some(Unfit::Network)),
    ("beegfs", 0, Some(Unfit::Network)),
    ("gpfs", 0x4750_4653, Some(Unfit::Network)),
    ("vboxsf", 0x786f_4256, Some(Unfit::Network)),
    ("virtiofs", 0, Some(Unfit::Network)),
    ("fuse", 0x6573_5546, Some(Unfit::Userspace)),
    ("fuseblk", 0, Some(Unfit::Userspace)),
    ("overlay", 0x794c_7630, Some(Unfit::Stacked)),
    ("aufs", 0x6175_6673, Some(Unfit::Stacked)),
    ("ecryptfs", 0xf15f, Some(Unfit::Stacked)),
    ("zfs", 0x2fc1_2fc1, Some(Unfit::Moving)),
    ("bcachefs", 0xca45_1a4e, Some(Unfit::Moving)),
    ("f2fs", 0xf2f5_2010, Some(Unfit::Moving)),
    ("nilfs2", 0x3434, Some(Unfit::Moving)),
];

/// File systems that one machine has mounted at a time.
const LOCAL: [&str; 13] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "bcachefs", "f2fs", "nilfs2", "jfs", "vfat",
    "exfat", "ntfs3",
];

/// Facts about the file system under a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filesystem {
    /// Its type: `ext4`, `fuse.sshfs`; `0x...` where the number is all that is known.
    pub(super) name: String,
    pub(super) unfit: Option<Unfit>,
    pub(super) read_only: bool,
    /// Why what is written in the directory would be encrypted, if so.
    pub(super) encrypted: bool,
    /// The flag or option that compresses new files in the directory, if there is one.
    pub(super) compressed: Option<String>,
    /// All of it, in bytes.
    pub(super) total_bytes: u64,
    /// Space that is free for the user, in bytes.
    pub(super) free_bytes: u64,
}

impl Filesystem {
    /// Returns whether no other machine has it mounted too, as far as its kind tells.
    pub(super) fn is_local(&self) -> bool {
        LOCAL.contains(&self.name.as_str())
    }
}

/// The file system under the open `directory`.
///
/// # Errors
/// When the kernel does not say what it is.
pub(super) fn of(directory: BorrowedFd<'_>) -> std::io::Result<Filesystem> {
    let facts = facts_of(directory)?;
    let mounts = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let number = facts.mount.value();
    let mount = mountinfo::lines(&mounts).find(|mount| Some(&mount.id) == number);
    let room = rustix::fs::fstatvfs(directory)?;
    let magic = rustix::fs::fstatfs(directory)?.f_type;
    // The kernel's numbers have 32 bits; some architectures sign them.
    let magic = u32::try_from(i128::from(magic) & 0xffff_ffff).unwrap_or(0);
    let (name, unfit) = kind(mount.as_ref().map(|mount| mount.kind.as_str()), magic);
    let flags = rustix::fs::ioctl_getflags(directory).unwrap_or(IFlags::empty());
    let attributes =
        rustix::fs::statx(directory, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?
            .stx_attributes;
    let compressed = match () {
        () if flags.contains(IFlags::COMPRESSED)
            || attributes.contains(StatxAttributes::COMPRESSED) =>
        {
            Some("the directory's flag c (chattr +c)".to_owned())
        }
        // Without copy-on-write btrfs compresses nothing, and files take that from the directory.
        () if flags.contains(IFlags::NOCOW) => None,
        () => mount.as_ref().and_then(compression),
    };
    Ok(Filesystem {
        name,
        unfit,
        read_only: room.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
        encrypted: flags.contains(FS_ENCRYPT) || attributes.contains(StatxAttributes::ENCRYPTED),
        compressed,
        total_bytes: room.f_blocks.saturating_mul(room.f_frsize),
        free_bytes: room.f_bavail.saturating_mul(room.f_frsize),
    })
}

/// The name and the fault of a file system, by its type where that is known and its number.
fn kind(name: Option<&str>, magic: u32) -> (String, Option<Unfit>) {
    let numbered = KINDS.iter().find(|(_, number, _)| *number == magic && magic != 0);
    let Some(name) = name else {
        return match numbered {
            Some((name, _, unfit)) => ((*name).to_owned(), *unfit),
            None => (format!("{magic:#x}"), None),
        };
    };
    // `fuse.sshfs` and `fuseblk.ntfs` are kinds of fuse.
    let family = name.split('.').next().unwrap_or(name);
    let named = KINDS.iter().find(|(known, ..)| *known == family);
    let unfit = named.or(numbered).and_then(|(_, _, unfit)| *unfit);
    (name.to_owned(), unfit)
}

/// Returns whether a file system of `kind` writes bytes that are written again to new places,
/// unless told otherwise of a file.
pub(super) fn relocates(kind: &str) -> bool {
    kind == "btrfs" || self::kind(Some(kind), 0).1 == Some(Unfit::Moving)
}

/// The option of a mount that compresses every new file.
fn compression(mount: &MountLine) -> Option<String> {
    let compresses = |option: &&String| match mount.kind.as_str() {
        // `compress=no` and `compress=none` are never shown.
        "btrfs" => option.starts_with("compress"),
        "f2fs" => *option == "compress_extension=*",
        _ => false,
    };
    let option = mount.options.iter().find(compresses)?;
    Some(format!("the mount option {option}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_file_system_is_told_by_its_name_or_its_number() {
        for (name, magic, expected) in [
            (Some("ext4"), 0xef53, None),
            (None, 0x0102_1994, Some(Unfit::Memory)),
            (Some("ramfs"), 0, Some(Unfit::Memory)),
            (Some("nfs4"), 0x6969, Some(Unfit::Network)),
            (Some("cifs"), 0xff53_4d42, Some(Unfit::Network)),
            (Some("9p"), 0x0102_1997, Some(Unfit::Network)),
            (Some("fuse.sshfs"), 0x6573_5546, Some(Unfit::Userspace)),
            (Some("something"), 0x6573_5546, Some(Unfit::Userspace)),
            (Some("overlay"), 0x794c_7630, Some(Unfit::Stacked)),
            (Some("zfs"), 0x2fc1_2fc1, Some(Unfit::Moving)),
            (Some("f2fs"), 0xf2f5_2010, Some(Unfit::Moving)),
            (Some("btrfs"), 0x9123_683e, None),
            (None, 0x1234, None),
        ] {
            assert_eq!(kind(name, magic).1, expected, "{name:?} {magic:#x}");
        }
        assert_eq!(kind(None, 0x1234).0, "0x1234");
        assert_eq!(kind(None, 0xef53).0, "ext4");
    }

    #[test]
    fn a_mount_says_what_compresses() {
        let mounts = b"\
            21 1 8:2 / / rw,noatime shared:1 - ext4 /dev/sda2 rw,errors=remount-ro\n\
            213 21 0:40 /@ /data rw - btrfs /dev/sdb rw,ssd,compress-force=zstd:3,subvol=/@\n\
            22 21 0:41 / /flash rw shared:2 master:1 - f2fs /dev/sdc rw,compress_extension=*\n";
        let found: Vec<_> = mountinfo::lines(mounts).map(|mount| compression(&mount)).collect();
        assert_eq!(found[0], None);
        assert_eq!(found[1].as_deref(), Some("the mount option compress-force=zstd:3"));
        assert!(found[2].is_some());
    }
}
