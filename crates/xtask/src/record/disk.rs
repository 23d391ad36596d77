//! The disk: a file in memory, FUSE over it, a loop device over that.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use host::{LoopDevice, LoopPlan};
use rustix::fs::MemfdFlags;
use tempfile::TempDir;
use testkit::fuse::{Fuse, FuseBehavior};

/// A disk like the article's, as far as Linux is told: sectors of 512 bytes, it turns, and it knows
/// no discard unless it is to take them.
#[derive(Debug)]
pub(super) struct ArticleDisk {
    /// Settings of the loop device's queue before, which outlive what is attached.
    before: Vec<(PathBuf, String)>,
    // In this order: who uses goes before what is used.
    device: LoopDevice,
    _fuse: Fuse,
    _point: TempDir,
}

const SECTOR_BYTES: u32 = 512;
/// Settings of the disk. A request that is longer than FUSE's would come in pieces.
const LIMITS: [(&str, &str); 3] =
    [("rotational", "1"), ("scheduler", "mq-deadline"), ("max_sectors_kb", "1024")];

impl ArticleDisk {
    /// One of `length_bytes` zeros, which `watched` is told of, and the file behind it.
    ///
    /// # Errors
    /// When this machine has no FUSE or no loop devices with direct I/O.
    pub(super) fn new(
        length_bytes: u64,
        watched: FuseBehavior,
    ) -> anyhow::Result<(ArticleDisk, File)> {
        let back = rustix::fs::memfd_create("straddle-record", MemfdFlags::CLOEXEC);
        let back = File::from(back.context("cannot make a file in memory")?);
        back.set_len(length_bytes).context("cannot make a sparse file in memory")?;
        let point = tempfile::Builder::new().prefix("straddle-record-").tempdir();
        let point = point.context("cannot make a directory to mount on")?;
        let bytes = back.try_clone().context("cannot share a file in memory")?;
        let fuse = Fuse::watched(back, point.path(), watched);
        let fuse =
            fuse.context("cannot mount FUSE: it needs root and /dev/fuse (modprobe fuse)")?;
        let file = File::options().read(true).write(true).open(fuse.file());
        let file = file.context("cannot open the file behind FUSE")?;
        let device = LoopDevice::attach(LoopPlan {
            file: file.as_fd(),
            offset_bytes: 0,
            length_bytes: 0,
            sector_bytes: Some(SECTOR_BYTES),
            direct: true,
            read_only: false,
            partitions: false,
        })?;
        let mut disk = ArticleDisk { before: Vec::new(), device, _fuse: fuse, _point: point };
        for (name, value) in LIMITS {
            disk.tell(&format!("queue/{name}"), value);
        }
        anyhow::ensure!(
            disk.number("queue/max_sectors_kb")? <= 1024,
            "{} takes requests that FUSE would cut",
            disk.node().display()
        );
        Ok((disk, bytes))
    }

    /// The loop device's node.
    pub(super) fn node(&self) -> &Path {
        self.device.node()
    }

    /// A file of the device in sysfs.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        Path::new("/sys/block").join(format!("loop{}", self.device.number())).join(name)
    }

    /// Writes `value` into a file of the device, and keeps what it held. Not every kernel has every
    /// file; what matters is looked at.
    fn tell(&mut self, name: &str, value: &str) {
        let path = self.file(name);
        let Ok(text) = std::fs::read_to_string(&path) else { return };
        // Of several words, the one in brackets is the one that holds.
        let held = text.split(['[', ']']).nth(1).unwrap_or(text.trim());
        if std::fs::write(&path, value).is_ok() {
            self.before.push((path, held.to_owned()));
        }
    }

    fn number(&self, name: &str) -> anyhow::Result<u64> {
        let path = self.file(name);
        let text = std::fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        text.trim().parse().with_context(|| format!("{} does not hold a number", path.display()))
    }
}

/// Writes out what the kernel caches of the device `node` itself, and forgets it, as the last who
/// closes a disk does.
///
/// # Errors
/// When blockdev fails.
pub(super) fn settle(node: &Path) -> anyhow::Result<()> {
    let output = testkit::tool::command("blockdev").arg("--flushbufs").arg(node).output();
    let output = output.context("cannot start blockdev")?;
    anyhow::ensure!(output.status.success(), "blockdev --flushbufs failed: {}", output.status);
    Ok(())
}

impl Drop for ArticleDisk {
    fn drop(&mut self) {
        for (path, held) in &self.before {
            let _ = std::fs::write(path, held);
        }
    }
}
