//! Files that are recognized by a mark and named, but not read: saying what a file is keeps its
//! bytes from being taken for a raw disk. LUKS is not among them: it is a layer, not an image.

use device::Disk;

use super::{Image, ImageKind, ImageLayout};
use crate::Parsed;
use crate::heads::Heads;
use crate::named::{self, Class};

/// The image, archive or compressed file that `file` is.
pub(super) fn read(file: &dyn Disk, _head: &[u8]) -> Option<Parsed<Image>> {
    let heads = Heads::new(file);
    let is_file = |class| matches!(class, Class::Packed(_) | Class::Image(_));
    let (entry, at_bytes) = named::find(&heads, is_file)?;
    let reason = match entry.class {
        Class::Packed(command) if command.contains("NEW") => {
            format!("{}: decompress it first", entry.what)
        }
        Class::Packed(_) => format!("{}: unpack it first", entry.what),
        _ => format!("{}: a format that is not read, convert it first", entry.what),
    };
    let image = Image {
        virtual_bytes: entry.size_bytes(&heads, at_bytes).unwrap_or(0),
        layout: ImageLayout::Unknown(reason),
        ..Image::unread(ImageKind::Other(entry), "")
    };
    Some(Parsed::sound(image))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(image: &Image) -> &'static str {
        match image.kind {
            ImageKind::Other(entry) => entry.what,
            _ => "",
        }
    }

    #[test]
    fn a_qed_image_is_named_with_its_size_and_its_bytes_stay_unknown() {
        let mut file = vec![0; 65536];
        file[..4].copy_from_slice(b"QED\0");
        file[48..56].copy_from_slice(&(5_u64 << 30).to_le_bytes());
        let image = super::super::read(&file).unwrap().value;
        assert_eq!((name(&image), image.virtual_bytes), ("QED", 5 << 30));
        assert!(image.locate(&file, 0).is_err());
    }

    #[test]
    fn a_dmg_is_known_by_its_trailer_and_luks_is_no_image() {
        let mut file = vec![0; 8192];
        file[7680..7692].copy_from_slice(b"koly\0\0\0\x04\0\0\x02\0");
        file[8192 - 20..8192 - 12].copy_from_slice(&8_u64.to_be_bytes());
        let image = super::super::read(&file).unwrap().value;
        assert_eq!((name(&image), image.virtual_bytes), ("DMG", 4096));
        let mut luks = vec![0; 8192];
        luks[..6].copy_from_slice(b"LUKS\xba\xbe");
        assert!(super::super::read(&luks).is_none());
    }
}
