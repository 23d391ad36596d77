//! The mark of a disk whose partitions are half moved by a script of `straddle plan`.
//!
//! It stands in the first sector, in the 440 bytes of boot code, until the move has ended: 8 bytes
//! of code that let a BIOS try the next disk, then three lines and zeros. The lines are [`MARK`],
//! 32 hexadecimal digits that no other move has, and the directory without which the move cannot
//! go on.
//!
//! Source: `layout/src/script.sh`, which writes it.

use device::{Disk, disk};
use units::text::{escape, shell_word};

use crate::{Problem, ProblemKind};

/// The first line.
pub const MARK: &str = "straddle plan under way";

const TEXT_AT: usize = 8;

/// The script that finishes the move on `disk`, as it is typed: in `DIR` where the mark names no
/// directory that can be typed.
#[must_use]
pub fn resume_script(disk: &dyn Disk) -> String {
    let named = directory(disk).flatten().and_then(|path| String::from_utf8(path).ok());
    let typed = named.filter(|path| !path.chars().any(char::is_control));
    shell_word(&format!("{}/resume.sh", typed.as_deref().unwrap_or("DIR")))
}

/// The directory that the mark on `disk` names, if any; `None` where there is no mark.
fn directory(disk: &dyn Disk) -> Option<Option<Vec<u8>>> {
    let code: [u8; 440] = disk::read_array(disk, 0).ok()?;
    let mut lines = code[TEXT_AT..].split(|&byte| byte == b'\n' || byte == 0);
    (lines.next()? == MARK.as_bytes())
        .then(|| lines.nth(1).filter(|path| path.starts_with(b"/")).map(<[u8]>::to_vec))
}

/// The problem that the mark on `disk` is; `None` where there is no mark.
pub(super) fn read(disk: &dyn Disk) -> Option<Problem> {
    let named = directory(disk)?.map(|path| escape(&path));
    let directory = named.unwrap_or_else(|| "a directory that is not named".to_owned());
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
        let typed = |text: &[u8]| {
            let head =
                [b"\xcd\x18\xf4\xeb\xfd\0\0\0straddle plan under way\n00ff\n", text].concat();
            resume_script(&MemoryDisk::with_head(4096, &head))
        };
        assert_eq!(typed(b"/mnt/my usb\n"), "'/mnt/my usb/resume.sh'");
        assert_eq!(typed(b"/a\x1b[2Jb\n"), "DIR/resume.sh");
        let hostile = said(b"straddle plan under way\n00ff\n/a\x1b[2Jb\n").expect("it is a mark");
        assert!(!hostile.contains('\x1b'), "{hostile}");
        assert_eq!(said(b"straddle plan under ways\n00ff\n/mnt/usb\n"), None);
        assert_eq!(said(b""), None);
    }
}
