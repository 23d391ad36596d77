//! Disks in memory, so that nothing but the kernel and the watch takes time.

use std::os::fd::AsFd as _;
use std::path::Path;

use anyhow::Context as _;
use host::{LoopDevice, LoopPlan};
use testkit::Zram;

use super::load::DISK_BYTES;

/// Place where a tmpfs is mounted on every Linux with a C library (shm_open(3)).
const TMPFS: &str = "/dev/shm";

/// A disk of this benchmark's own, gone when dropped.
pub(super) enum MemoryDisk {
    /// Bios alone; they are done by the thread that hands them in.
    Zram(Zram),
    /// Requests, done by threads of the kernel.
    Loop(LoopDevice),
}

impl MemoryDisk {
    /// The disks that this machine can make, those with the highest rate first.
    ///
    /// # Errors
    /// When the loop device cannot be made.
    pub(super) fn all() -> anyhow::Result<Vec<MemoryDisk>> {
        let zram = Zram::new(DISK_BYTES).map(MemoryDisk::Zram);
        if zram.is_none() {
            println!("zram: not measured: this kernel has none, or lets no one make them");
        }
        Ok(zram.into_iter().chain([MemoryDisk::over_tmpfs()?]).collect())
    }

    fn over_tmpfs() -> anyhow::Result<MemoryDisk> {
        let file = tempfile::tempfile_in(TMPFS);
        let file = file.with_context(|| format!("cannot make a file in {TMPFS}"))?;
        file.set_len(DISK_BYTES)?;
        let device = LoopDevice::attach(LoopPlan {
            file: file.as_fd(),
            offset_bytes: 0,
            length_bytes: DISK_BYTES,
            sector_bytes: None,
            direct: false,
            read_only: false,
            partitions: false,
        })?;
        Ok(MemoryDisk::Loop(device))
    }

    /// Path of its device.
    pub(super) fn node(&self) -> &Path {
        match self {
            MemoryDisk::Zram(zram) => zram.node(),
            MemoryDisk::Loop(device) => device.node(),
        }
    }

    /// Kind of disk, in a few words.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            MemoryDisk::Zram(_) => "zram (bios)",
            MemoryDisk::Loop(..) => "loop device over tmpfs (requests)",
        }
    }
}
