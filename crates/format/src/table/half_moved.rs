//! The mark of a disk whose partitions are half moved by a script of `straddle plan`.
//!
//! It stands in the first sector, in the 440 bytes of boot code, until the move has ended: 8 bytes
//! of code that let a BIOS try the next disk, then three lines and zeros. The lines are [`MARK`],
//! 32 hexadecimal digits that no other move has, and the directory without which the move cannot
//! go on.
//!
//! Source: `layout/src/script.sh`, which writes it.

use device::{Disk, disk};
use units::text::escape;

use crate::{Problem, ProblemKind};

/// The first line.
pub const MARK: &str = "straddle plan under way";

const TEXT_AT: usize = 8;

/// The problem that the mark on `disk` is; `None` where there is no mark.
pub(super) fn read(disk: &dyn Disk) -> Option<Problem> {
    let code: [u8; 440] = disk::read_array(disk, 0).ok()?;
    let mut lines = code[TEXT_AT..].split(|&byte| byte == b'\n' || byte == 0);
    if lines.next()? != MARK.as_bytes() {
        return None;
    }
    let directory = lines.nth(1).filter(|path| path.starts_with(b"/"));
    let directory = directory.map_or_else(|| "a directory that is not named".to_owned(), escape);
    let detail = format!(
        "a script of straddle plan is moving partitions, and was perhaps stopped; it keeps a part \
         of them in {directory}"
    );
    Some(Problem::new(ProblemKind::HalfMoved, 0, detail))
}

#[cfg(test)]
mod tests {
    use device::MemoryDisk;

    use super::*;

    fn said(text: &[u8]) -> Option<String> {
        let disk = MemoryDisk::with_head(4096, &[b"\xcd\x18\xf4\xeb\xfd\0\0\0", text].concat());
        read(&disk).map(|problem| problem.detail)
    }

    #[test]
    fn a_mark_names_its_directory_and_nothing_else_is_a_mark() {
        let named = said(b"straddle plan under way\n00ff\n/mnt/usb\n").expect("it is a mark");
        assert!(named.ends_with("a part of them in /mnt/usb"), "{named}");
        let none = said(b"straddle plan under way\n00ff\n\n").expect("it is a mark");
        assert!(none.ends_with("a directory that is not named"), "{none}");
        let hostile = said(b"straddle plan under way\n00ff\n/a\x1b[2Jb\n").expect("it is a mark");
        assert!(!hostile.contains('\x1b'), "{hostile}");
        assert_eq!(said(b"straddle plan under ways\n00ff\n/mnt/usb\n"), None);
        assert_eq!(said(b""), None);
    }
}
