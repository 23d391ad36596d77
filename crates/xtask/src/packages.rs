//! The tools that the tests run, and the packages that hold them.
//!
//! This is the only list of them: a test that needs another tool adds a row here.

use std::process::{Command, Stdio};

use testkit::tool;

/// Debian's package, and the tools of it that are run; of one without any, a file by its path.
pub(crate) const TOOLS: &[(&str, &[&str])] = &[
    ("android-sdk-libsparse-utils", &["img2simg", "simg2img"]),
    ("ansible-core", &["ansible-playbook"]),
    ("ansible-lint", &["ansible-lint"]),
    ("bash", &["bash"]),
    ("bcache-tools", &["make-bcache", "bcache-super-show"]),
    ("binutils", &["objcopy"]),
    ("blktrace", &["blkparse"]),
    ("bsdutils", &["script"]),
    ("btrfs-progs", &["btrfs", "btrfs-select-super", "mkfs.btrfs"]),
    ("busybox-static", &["busybox"]),
    ("bzip2", &["bzip2"]),
    ("chromium", &["chromium"]),
    (
        "coreutils",
        &[
            "chmod",
            "chown",
            "chroot",
            "cp",
            "dd",
            "env",
            "id",
            "mkfifo",
            "mknod",
            "sha256sum",
            "stat",
            "stdbuf",
            "sync",
            "timeout",
            "truncate",
        ],
    ),
    ("cpio", &["cpio"]),
    ("cryptsetup-bin", &["cryptsetup", "integritysetup"]),
    ("dash", &["sh"]),
    ("debootstrap", &["debootstrap"]),
    ("dosfstools", &["fsck.fat", "mkfs.vfat", "mkfs.fat"]),
    ("dpkg", &["dpkg"]),
    (
        "e2fsprogs",
        &[
            "chattr",
            "mkfs.ext2",
            "mkfs.ext3",
            "mkfs.ext4",
            "mke2fs",
            "dumpe2fs",
            "e2fsck",
            "tune2fs",
            "filefrag",
            "e2fsck",
        ],
    ),
    ("erofs-utils", &["dump.erofs", "mkfs.erofs"]),
    ("exfatprogs", &["dump.exfat", "fsck.exfat", "mkfs.exfat"]),
    ("f2fs-tools", &["dump.f2fs", "mkfs.f2fs"]),
    ("fdisk", &["sfdisk", "fdisk"]),
    ("findutils", &["find"]),
    ("fio", &["fio", "fio_jsonplus_clat2csv"]),
    ("fish", &["fish"]),
    ("fuse3", &["fusermount3"]),
    ("g++", &["c++"]),
    ("gcc", &["cc"]),
    ("gdisk", &["sgdisk"]),
    ("genisoimage", &["genisoimage", "isoinfo"]),
    ("grub-common", &["grub-mkstandalone"]),
    ("grub-efi-amd64-bin", &["x86_64-efi/moddep.lst"]),
    ("gzip", &["gzip"]),
    ("icinga2-bin", &["icinga2"]),
    ("jq", &["jq"]),
    ("jfsutils", &["jfs_tune", "mkfs.jfs"]),
    ("libnbd-bin", &["nbdcopy", "nbdinfo"]),
    ("lintian", &["lintian"]),
    ("lvm2", &["lvm", "pvcreate", "vgcreate", "vgcfgrestore", "pvs", "lvs", "vgs"]),
    ("lz4", &["lz4"]),
    ("lzop", &["lzop"]),
    ("kmod", &["depmod", "modprobe"]),
    ("mariadb-server", &["mariadb", "mariadb-install-db", "mariadbd"]),
    ("libxml2-utils", &["xmllint"]),
    ("libvirt-clients", &["virt-xml-validate"]),
    ("mdadm", &["mdadm"]),
    ("man-db", &["man"]),
    ("mandoc", &["mandoc"]),
    ("monitoring-plugins-basic", &["negate"]),
    ("mount", &["losetup", "mount", "swapoff", "swapon", "umount"]),
    ("mtools", &["mcopy", "mdel", "mdir", "mmd", "mtype"]),
    ("nbdkit", &["nbdkit"]),
    ("ovmf", &["OVMF_CODE.fd"]),
    ("nilfs-tools", &["mkfs.nilfs2", "nilfs-tune"]),
    ("nix-bin", &["nix-instantiate"]),
    ("ntfs-3g", &["mkfs.ntfs", "mkntfs", "ntfsfix", "ntfsinfo"]),
    ("p7zip-full", &["7z"]),
    ("parted", &["parted"]),
    ("perl-base", &["perl"]),
    ("postgresql", &["initdb", "pg_test_fsync", "postgres", "psql"]),
    ("procps", &["kill"]),
    ("python3", &["python3"]),
    ("python3-lmdb", &["/usr/lib/python3/dist-packages/lmdb/__init__.py"]),
    ("prometheus", &["promtool"]),
    ("qemu-system-x86", &["qemu-system-x86_64"]),
    ("qemu-user-static", &["qemu-aarch64-static"]),
    ("qemu-utils", &["qemu-img", "qemu-io"]),
    ("reiserfsprogs", &["debugreiserfs", "mkfs.reiserfs", "mkreiserfs"]),
    ("rpm", &["rpm"]),
    ("rpmlint", &["rpmlint"]),
    ("skopeo", &["skopeo"]),
    ("ruby", &["ruby"]),
    ("sqlite3", &["sqlite3"]),
    ("strace", &["strace"]),
    ("sudo", &["visudo"]),
    ("systemd", &["systemd-analyze"]),
    ("systemd-boot-efi", &["systemd-bootx64.efi"]),
    ("squashfs-tools", &["mksquashfs", "unsquashfs"]),
    ("tar", &["tar"]),
    ("time", &["time"]),
    ("udftools", &["mkfs.udf", "mkudffs", "udfinfo"]),
    ("umoci", &["umoci"]),
    ("unzip", &["unzip"]),
    (
        "util-linux",
        &[
            "blkdiscard",
            "blkid",
            "blockdev",
            "mkswap",
            "lsblk",
            "wipefs",
            "setpriv",
            "unshare",
            "taskset",
            "mkfs.minix",
            "mkfs.bfs",
            "mkfs.cramfs",
            "partx",
            "fallocate",
            "flock",
        ],
    ),
    ("xfsprogs", &["mkfs.xfs", "xfs_db", "xfs_bmap", "xfs_io", "xfs_repair"]),
    ("xorriso", &["xorriso"]),
    ("xz-utils", &["xz"]),
    ("zip", &["zip"]),
    ("zsh", &["zsh"]),
    ("zstd", &["zstd"]),
];

/// Lists the missing packages, then installs them, with apt as root; elsewhere only names them,
/// since tests that need a missing tool say so and are counted.
pub(crate) fn install() {
    let missing = missing();
    if missing.is_empty() || !(host::is_root() && tool::find("apt-get").is_some()) {
        return name_missing();
    }
    println!("Debian packages that will be installed (--no-install skips this):");
    for package in &missing {
        println!("  {package}");
    }
    apt(&["update"]);
    let options = ["install", "--yes", "--no-install-recommends"];
    if !apt(&[&options[..], &missing].concat()) {
        // One name that this release does not have spoils the whole call: try them one by one.
        for package in &missing {
            apt(&[&options[..], &[package]].concat());
        }
    }
    let still = self::missing();
    if !still.is_empty() {
        println!("could not be installed, so tests will be skipped: {}", still.join(" "));
    }
}

/// Prints the missing packages, and the command that installs them.
pub(crate) fn name_missing() {
    let missing = missing();
    if !missing.is_empty() {
        let names = missing.join(" ");
        println!("tests will be skipped because these Debian packages are missing: {names}");
        println!("hint: sudo apt-get install {names}");
    }
}

/// The packages of which a tool is missing.
fn missing() -> Vec<&'static str> {
    let lacks = |tools: &[&str]| tools.iter().any(|name| tool::find(name).is_none());
    TOOLS.iter().filter(|(_, tools)| lacks(tools)).map(|(package, _)| *package).collect()
}

/// Runs apt, quietly and without questions; whether it succeeded.
fn apt(arguments: &[&str]) -> bool {
    let status = Command::new("apt-get")
        .args(["--quiet", "--quiet", "-o", "Acquire::Retries=2", "-o", "Dpkg::Use-Pty=0"])
        .args(["-o", "DPkg::Lock::Timeout=120"])
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
