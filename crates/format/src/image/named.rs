//! Formats that are recognised by a magic and named, but not read: saying what a file is keeps its
//! bytes from being taken for a raw disk.
//!
//! Sources: QEMU's `docs/interop/qed_spec.rst`, `docs/interop/parallels.txt`, `block/bochs.c`,
//! `block/vmdk.c`; libewf's format documentation; Apple's UDIF trailer as in `block/dmg.c`.
//! LUKS is not here: it is a layer, not an image.

use device::Disk;

use super::{Image, ImageKind, Layout};
use crate::{Parsed, Problem, ProblemKind};

/// A magic at a fixed place, and the format that it stands for.
struct Named {
    magic: &'static [u8],
    at: usize,
    name: &'static str,
    /// Where the guest's size stands, and in which unit.
    size: Option<SizeField>,
}

/// A field that holds the guest's size.
#[derive(Clone, Copy)]
struct SizeField {
    at: usize,
    width: usize,
    big_endian: bool,
    unit_bytes: u64,
}

const fn little(at: usize, width: usize, unit_bytes: u64) -> Option<SizeField> {
    Some(SizeField { at, width, big_endian: false, unit_bytes })
}

const fn big(at: usize, width: usize, unit_bytes: u64) -> Option<SizeField> {
    Some(SizeField { at, width, big_endian: true, unit_bytes })
}

const HEADS: [Named; 8] = [
    Named { magic: b"QFI\xfb\0\0\0\x01", at: 0, name: "qcow version 1", size: big(24, 8, 1) },
    Named { magic: b"QED\0", at: 0, name: "QED", size: little(48, 8, 1) },
    Named { magic: b"WithoutFreeSpace", at: 0, name: "Parallels", size: little(36, 4, 512) },
    Named { magic: b"WithouFreSpacExt", at: 0, name: "Parallels", size: little(36, 8, 512) },
    Named { magic: b"Bochs Virtual HD Image", at: 0, name: "Bochs", size: None },
    Named { magic: b"COWD\x01\0\0\0", at: 0, name: "VMDK COWD", size: little(12, 4, 512) },
    Named {
        magic: b"\xbe\xba\xfe\xca\0\0\0\0\x01\0\0\0\x02\0\0\0",
        at: 0,
        name: "VMDK seSparse",
        size: little(16, 8, 512),
    },
    Named { magic: b"EVF\t\r\n\xff\0", at: 0, name: "EWF (EnCase)", size: None },
];

/// The trailer's own length, 512, follows its magic and version.
const TAILS: [Named; 1] =
    [Named { magic: b"koly\0\0\0\x04\0\0\x02\0", at: 0, name: "DMG", size: big(492, 8, 512) }];

/// The image whose magic stands in `head`, the first bytes of the file.
pub(super) fn read_head(_file: &dyn Disk, head: &[u8]) -> Option<Parsed<Image>> {
    find(&HEADS, head, 0)
}

/// The image whose magic stands in `tail`, the last 512 bytes of the file, from `at_bytes` on.
pub(super) fn read_tail(tail: &[u8], at_bytes: u64) -> Option<Parsed<Image>> {
    find(&TAILS, tail, at_bytes)
}

fn find(table: &[Named], bytes: &[u8], at_bytes: u64) -> Option<Parsed<Image>> {
    let named = table
        .iter()
        .find(|named| bytes.get(named.at..).is_some_and(|rest| rest.starts_with(named.magic)))?;
    let reason = format!("{} images are recognised, but not read", named.name);
    let image = Image {
        virtual_bytes: named.size.and_then(|field| size(bytes, field)).unwrap_or(0),
        layout: Layout::Unknown(reason.clone()),
        ..Image::unread(ImageKind::Other(named.name), "")
    };
    let problem = Problem::new(ProblemKind::Unsupported, at_bytes, reason);
    Some(Parsed { value: image, problems: vec![problem] })
}

fn size(bytes: &[u8], field: SizeField) -> Option<u64> {
    let field_bytes = bytes.get(field.at..)?.get(..field.width)?;
    let value = field_bytes.iter().enumerate().fold(0, |value, (number, &byte)| {
        let place = if field.big_endian { field.width - 1 - number } else { number };
        value | u64::from(byte) << (8 * place)
    });
    value.checked_mul(field.unit_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qed_image_is_named_with_its_size_and_its_bytes_stay_unknown() {
        let mut file = vec![0; 65536];
        file[..4].copy_from_slice(b"QED\0");
        file[48..56].copy_from_slice(&(5_u64 << 30).to_le_bytes());
        let image = super::super::read(&file).unwrap().value;
        assert_eq!((image.kind, image.virtual_bytes), (ImageKind::Other("QED"), 5 << 30));
        assert!(image.locate(&file, 0).is_err());
    }

    #[test]
    fn a_dmg_is_known_by_its_trailer_and_luks_is_no_image() {
        let mut file = vec![0; 8192];
        file[7680..7692].copy_from_slice(b"koly\0\0\0\x04\0\0\x02\0");
        file[8192 - 20..8192 - 12].copy_from_slice(&8_u64.to_be_bytes());
        let image = super::super::read(&file).unwrap().value;
        assert_eq!((image.kind, image.virtual_bytes), (ImageKind::Other("DMG"), 4096));
        let mut luks = vec![0; 8192];
        luks[..6].copy_from_slice(b"LUKS\xba\xbe");
        assert!(super::super::read(&luks).is_none());
    }
}
