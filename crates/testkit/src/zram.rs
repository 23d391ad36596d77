//! Zram devices that vanish: block devices in compressed memory.
//!
//! Source: Linux `Documentation/admin-guide/blockdev/zram.rst` (`hot_add`, `hot_remove`).

use std::path::{Path, PathBuf};

const CONTROL: &str = "/sys/class/zram-control";

/// A zram device of this process, removed when dropped.
#[derive(Debug)]
pub struct Zram {
    number: u32,
    node: PathBuf,
}

impl Zram {
    /// A new one of `length_bytes`; `None` where this machine has none, or lets no one make them.
    #[must_use]
    pub fn new(length_bytes: u64) -> Option<Zram> {
        let number = std::fs::read_to_string(format!("{CONTROL}/hot_add")).ok()?;
        let number: u32 = number.trim().parse().ok()?;
        let zram = Zram { number, node: PathBuf::from(format!("/dev/zram{number}")) };
        let size = format!("/sys/block/zram{number}/disksize");
        std::fs::write(size, length_bytes.to_string()).ok()?;
        zram.node.exists().then_some(zram)
    }

    /// Path of its device: `/dev/zram3`.
    #[must_use]
    pub fn node(&self) -> &Path {
        &self.node
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // What had it open may be done in a moment only.
        for _ in 0..500 {
            if std::fs::write(format!("{CONTROL}/hot_remove"), self.number.to_string()).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
