//! Swap areas and hibernation images in them: the signature ends the first page, so where it stands
//! tells the size of a page.
//!
//! Source: `include/linux/swap.h` of the kernel, `union swap_header`; the signatures of hibernation
//! from `libblkid/src/superblocks/swap.c` of util-linux.

use super::field::{bytes_text, label, uuid};
use super::found::Found;
use crate::bytes::Block;
use crate::heads::Heads;

/// Place where the header stands, behind room for a boot sector.
const HEADER_AT: u64 = 1024;
const SIGNATURE_BYTES: u64 = 10;
/// The sizes of a page on the machines that Linux runs on.
const PAGES: [u64; 5] = [4096, 8192, 16384, 32768, 65536];

/// A signature: the bytes, the name by `blkid`, the version of the swap area.
const SIGNATURES: [(&[u8], &str, Option<&str>); 7] = [
    (b"SWAPSPACE2", "swap", Some("1")),
    (b"SWAP-SPACE", "swap", Some("0")),
    (b"S1SUSPEND\0", "swsuspend", None),
    (b"S2SUSPEND\0", "swsuspend", None),
    (b"ULSUSPEND\0", "swsuspend", None),
    (b"LINHIB0001", "swsuspend", None),
    (b"\xed\xc3\x02\xe9\x98\x56\xe5\x0c", "swsuspend", None),
];

/// The swap area, with its pages in any size and its header in either byte order.
pub(super) fn read(heads: &Heads<'_>) -> Option<Found> {
    PAGES.into_iter().find_map(|page_bytes| {
        let end = heads.block::<10>(page_bytes - SIGNATURE_BYTES)?;
        let (_, kind, version) = SIGNATURES.iter().find(|(text, ..)| end.0.starts_with(text))?;
        let header = heads.block::<44>(HEADER_AT)?;
        Some(swap(heads, page_bytes, kind, *version, &header))
    })
}

/// The swap area whose signature was found.
fn swap(
    heads: &Heads<'_>,
    page_bytes: u64,
    kind: &'static str,
    version: Option<&str>,
    header: &Block<44>,
) -> Found {
    let mut found = Found::of(kind);
    found.value.variant = version.map(str::to_owned);
    found.value.block_bytes = Some(page_bytes);
    found.value.sector_bytes = Some(page_bytes);
    // Before version 1 there was only a bitmap of good pages in the first page.
    if version == Some("0") {
        return found;
    }
    let (big, last_page) = match (header.le32::<0>(), header.be32::<0>()) {
        (1, _) => (false, header.le32::<4>()),
        (_, 1) => (true, header.be32::<4>()),
        (number, _) => {
            found.wrong_field(HEADER_AT, format!("version {number:#x} of the swap header"));
            return found;
        }
    };
    if last_page == 0 {
        found.wrong_field(HEADER_AT + 4, "swap area without pages");
    } else {
        found.set_size(heads, HEADER_AT + 4, u64::from(last_page) + 1, page_bytes);
    }
    found.value.id = uuid(header.array::<12, 16>());
    found.value.label = label(&header.array::<28, 16>());
    found.note("page", bytes_text(page_bytes));
    if big {
        found.note("byte order", "big-endian".to_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProblemKind;
    use device::MemoryDisk;

    fn parse(page_bytes: u64, signature: &[u8], version: [u8; 4], last_page: [u8; 4]) -> Found {
        let mut disk = MemoryDisk::new(1 << 20);
        disk.put(HEADER_AT, &version);
        disk.put(HEADER_AT + 4, &last_page);
        disk.put(HEADER_AT + 28, b"scratch");
        disk.put(page_bytes - SIGNATURE_BYTES, signature);
        read(&Heads::new(&disk)).unwrap()
    }

    #[test]
    fn the_place_of_the_signature_is_the_page_size() {
        for page_bytes in PAGES {
            let found = parse(page_bytes, b"SWAPSPACE2", [1, 0, 0, 0], [15, 0, 0, 0]);
            assert_eq!((found.value.kind, found.value.block_bytes), ("swap", Some(page_bytes)));
            assert_eq!(found.value.size_bytes, Some(16 * page_bytes));
        }
    }

    #[test]
    fn a_swap_area_of_a_big_endian_machine_is_read_in_its_order() {
        let found = parse(65536, b"SWAPSPACE2", [0, 0, 0, 1], [0, 0, 0, 15]);
        assert_eq!(found.problems, []);
        assert_eq!(found.value.size_bytes, Some(1 << 20));
    }

    #[test]
    fn a_hibernated_machine_leaves_another_name() {
        let found = parse(4096, b"S1SUSPEND\0", [1, 0, 0, 0], [15, 0, 0, 0]);
        assert_eq!(found.value.kind, "swsuspend");
    }

    #[test]
    fn a_size_beyond_the_volume_or_an_unknown_version_is_a_problem() {
        let found = parse(4096, b"SWAPSPACE2", [1, 0, 0, 0], [0, 1, 0, 0]);
        assert_eq!(found.problems[0].kind, ProblemKind::Outside);
        let found = parse(4096, b"SWAPSPACE2", [9, 9, 0, 0], [0, 1, 0, 0]);
        assert_eq!(found.problems[0].kind, ProblemKind::Field);
    }
}
