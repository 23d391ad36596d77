//! Files that lie beside disk images in a directory, and are none.
//!
//! A file in which nothing is recognized may still be a disk: encrypted, damaged, of a format that
//! is not known here. It is passed over only where that is ruled out: its name is not that of an
//! image, and it is empty, holds text, or does not end with a whole sector.

use std::path::Path;

use device::{Disk as _, disk};
use host::FileDisk;

/// Endings of the names of disk images.
const ENDINGS: [&str; 30] = [
    "aff", "bin", "cow", "dd", "disk", "dmg", "e01", "ext4", "hdd", "hds", "ima", "image", "img",
    "iso", "ova", "qcow", "qcow2", "qed", "raw", "sdcard", "simg", "squashfs", "usb", "vdi", "vhd",
    "vhdx", "vma", "vmdk", "wic", "xva",
];

/// Bytes of a file that are looked at to tell whether it is text.
const HEAD_BYTES: u64 = 4096;

/// The most names that are listed.
const NAMES_MAX: usize = 8;

/// Returns whether the file, in which nothing was recognized, is plainly no disk image.
pub(crate) fn is_none(path: &Path) -> bool {
    if is_named_as_image(path) {
        return false;
    }
    let Ok(file) = FileDisk::open(path) else { return false };
    let length = file.length_bytes();
    let Ok(head) = disk::read_vec(&file, 0, length.min(HEAD_BYTES)) else { return false };
    !length.is_multiple_of(512) || is_text(&head)
}

/// Returns whether the name at `path` is that of a disk image.
pub(crate) fn is_named_as_image(path: &Path) -> bool {
    path.extension()
        .and_then(|ending| ending.to_str())
        .is_some_and(|ending| ENDINGS.contains(&ending.to_ascii_lowercase().as_str()))
}

/// Returns whether nothing but letters, blanks and line ends is in `bytes`; true of none.
fn is_text(bytes: &[u8]) -> bool {
    // Where it was cut, a letter may be.
    let is_text =
        std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true);
    let is_plain = |&byte: &u8| !byte.is_ascii_control() || b"\t\n\r\x0c\x1b".contains(&byte);
    is_text && bytes.iter().all(is_plain)
}

/// Returns what is said of files that were passed over: their names, a bounded number of them;
/// `None` where there are none.
pub(crate) fn note<'a>(mut names: impl Iterator<Item = &'a str>) -> Option<String> {
    let shown: Vec<&str> = names.by_ref().take(NAMES_MAX).collect();
    let more = match names.count() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| format!("not disk images, left out: {}{more}", shown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_ends_with_a_count() {
        let names: Vec<String> = (0..20).map(|number| format!("README.{number}")).collect();
        let note = note(names.iter().map(String::as_str)).unwrap();
        assert!(note.ends_with("README.6, README.7 and 12 more"), "{note}");
        assert_eq!(super::note(std::iter::empty()), None);
    }

    #[test]
    fn text_has_no_control_characters() {
        assert!(is_text(b"") && is_text("Pr\u{fc}fsummen:\r\n\tabc".as_bytes()));
        assert!(is_text(&"\u{fc}".as_bytes()[..1]), "cut within a letter");
        assert!(!is_text(b"GIF89a\0") && !is_text(&[0xa5; 16]));
    }
}
