//! Counters of a block device, read again and again.
//!
//! Source: Linux `Documentation/block/stat.rst`, `Documentation/admin-guide/iostats.rst`.

use device::{Counters, CountersError, DiskCounts};
use rustix::fs::{Mode, OFlags};
use std::os::fd::OwnedFd;

/// The room for the text: 17 numbers of 20 digits at most, each with its blanks.
const TEXT_BYTES: usize = 512;

/// The counters of one block device. The file is kept open; reading it allocates nothing.
#[derive(Debug)]
pub struct DiskStats {
    file: OwnedFd,
    numbers: (u32, u32),
}

impl DiskStats {
    /// The counters of the block device with these numbers, major and minor: a disk's, or a
    /// partition's own.
    ///
    /// # Errors
    /// When there is no such device, or `/sys` is not there.
    pub fn open(numbers: (u32, u32)) -> Result<DiskStats, CountersError> {
        let path = format!("/sys/dev/block/{}:{}/stat", numbers.0, numbers.1);
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty());
        let file = file.map_err(|error| unreadable(numbers, &crate::errno::text_of(error)))?;
        Ok(DiskStats { file, numbers })
    }
}

impl Counters for DiskStats {
    fn counts(&mut self) -> Result<DiskCounts, CountersError> {
        let mut text = [0; TEXT_BYTES];
        // From the start each time: sysfs makes the text anew then, in one piece.
        let length = match rustix::io::pread(&self.file, &mut text, 0) {
            Ok(length) => length,
            Err(rustix::io::Errno::NODEV) => return Err(unreadable(self.numbers, "it is gone")),
            Err(error) => {
                return Err(unreadable(self.numbers, &crate::errno::text_of(error)));
            }
        };
        let words = std::str::from_utf8(&text[..length]).ok().and_then(DiskCounts::parse);
        words.ok_or_else(|| unreadable(self.numbers, "/sys answered what are no counters"))
    }
}

fn unreadable((major, minor): (u32, u32), reason: &str) -> CountersError {
    CountersError { device: format!("block device {major}:{minor}"), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_not_there_is_named() {
        let error = DiskStats::open((4095, 1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the counters of block device 4095:1 cannot be read: \
             No such file or directory (os error 2)"
        );
    }
}
