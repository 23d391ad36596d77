//! The check that a file's bytes are where they seem to be, and still are.

use device::{Extent, ExtentFlags, ExtentList};
use thiserror::Error;

/// Flags that make an extent useless for placing writes: its place is not that of the file's bytes,
/// or not for long.
const USELESS: [ExtentFlags; 9] = [
    ExtentFlags::UNKNOWN,
    ExtentFlags::DELAYED,
    ExtentFlags::ENCODED,
    ExtentFlags::ENCRYPTED,
    ExtentFlags::INLINE,
    ExtentFlags::TAIL,
    ExtentFlags::UNWRITTEN,
    ExtentFlags::SHARED,
    ExtentFlags::NOT_ALIGNED,
];

/// Why a part of a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unusable {
    /// The file system says so of an extent.
    #[error("the file system calls the extent at {at_bytes} {word}")]
    Flagged {
        /// The extent's first byte in the file.
        at_bytes: u64,
        /// The word of `filefrag -v` for the flag.
        word: &'static str,
    },
    /// Nothing lies there.
    #[error("nothing is at {at_bytes}, where the file was written")]
    Hole {
        /// The first byte of the hole.
        at_bytes: u64,
    },
    /// There are more extents than are looked at.
    #[error("the file is in too many pieces; those behind {at_bytes} are not known")]
    Cut {
        /// The first byte of which nothing is known.
        at_bytes: u64,
    },
}

/// The extents of a file on which writes can be placed, and why others cannot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usable {
    /// Those that can be used, in order.
    pub extents: Vec<Extent>,
    /// The first reason why a part of the file is not among them; `None` when all of it is.
    pub unusable: Option<Unusable>,
}

/// Returns the part of `list`, the extents of a file of `length_bytes` that was written in full,
/// that can be used.
#[must_use]
pub fn usable(list: &ExtentList, length_bytes: u64) -> Usable {
    let mut found = Usable::default();
    let mut end_bytes = 0;
    for extent in &list.extents {
        let at_bytes = extent.logical.start_bytes();
        if at_bytes > end_bytes {
            found.unusable.get_or_insert(Unusable::Hole { at_bytes: end_bytes });
        }
        end_bytes = extent.logical.end_bytes();
        match USELESS.into_iter().find(|&flag| extent.flags.has(flag)) {
            Some(flag) => {
                let word = flag.words().next().unwrap_or("useless");
                found.unusable.get_or_insert(Unusable::Flagged { at_bytes, word });
            }
            None => found.extents.push(*extent),
        }
    }
    if let Some(at_bytes) = list.cut_at_bytes {
        found.unusable.get_or_insert(Unusable::Cut { at_bytes });
    } else if end_bytes < length_bytes {
        found.unusable.get_or_insert(Unusable::Hole { at_bytes: end_bytes });
    }
    found
}

/// Returns whether the bytes of a file lie in the same places in both lists. Where a run is only
/// told in other pieces, nothing moved.
#[must_use]
pub fn same_places(before: &ExtentList, behind: &ExtentList) -> bool {
    before.cut_at_bytes == behind.cut_at_bytes && runs(before) == runs(behind)
}

/// First byte, place and length of each run, neighbors joined.
fn runs(list: &ExtentList) -> Vec<(u64, u64, u64)> {
    let mut runs: Vec<(u64, u64, u64)> = Vec::new();
    for extent in &list.extents {
        let (at, length) = (extent.logical.start_bytes(), extent.logical.length_bytes());
        match runs.last_mut() {
            Some((first, place, long))
                if *first + *long == at && *place + *long == extent.physical_bytes =>
            {
                *long += length;
            }
            _ => runs.push((at, extent.physical_bytes, length)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::Extents as _;
    use device::extents::MemoryExtents;
    use units::ByteRange;

    fn list(extents: &[(u64, u64, u64, ExtentFlags)]) -> ExtentList {
        let extents = extents.iter().map(|&(at, physical_bytes, length, flags)| {
            let logical = ByteRange::new(at, length).unwrap();
            Extent { logical, physical_bytes, flags }
        });
        let file = MemoryExtents::new(extents.collect());
        file.extents(ByteRange::new(0, u64::MAX).unwrap(), false).unwrap()
    }

    const NONE: ExtentFlags = ExtentFlags(0);

    #[test]
    fn an_extent_whose_place_says_nothing_is_not_used() {
        let fine = list(&[(0, 8192, 4096, NONE), (4096, 65536, 4096, ExtentFlags::LAST)]);
        assert_eq!(usable(&fine, 8192).unusable, None);
        assert_eq!(usable(&fine, 8192).extents, fine.extents);
        for flag in USELESS {
            let bad = list(&[(0, 8192, 4096, NONE), (4096, 65536, 4096, flag)]);
            let found = usable(&bad, 8192);
            assert_eq!(found.extents, fine.extents[..1]);
            assert!(
                matches!(found.unusable, Some(Unusable::Flagged { at_bytes: 4096, .. })),
                "{flag:?}"
            );
        }
        let merged = list(&[(0, 8192, 4096, ExtentFlags::MERGED)]);
        assert_eq!(usable(&merged, 4096).unusable, None);
    }

    #[test]
    fn a_hole_and_a_cut_are_said() {
        let holes = list(&[(0, 8192, 4096, NONE), (8192, 65536, 4096, NONE)]);
        assert_eq!(usable(&holes, 12288).unusable, Some(Unusable::Hole { at_bytes: 4096 }));
        let short = list(&[(0, 8192, 4096, NONE)]);
        assert_eq!(usable(&short, 8192).unusable, Some(Unusable::Hole { at_bytes: 4096 }));
        assert_eq!(usable(&list(&[]), 8192).unusable, Some(Unusable::Hole { at_bytes: 0 }));
        let cut = ExtentList { cut_at_bytes: Some(4096), ..short };
        assert_eq!(usable(&cut, 8192).unusable, Some(Unusable::Cut { at_bytes: 4096 }));
    }

    #[test]
    fn what_is_told_in_other_pieces_has_not_moved_and_what_lies_elsewhere_has() {
        let one = list(&[(0, 8192, 8192, NONE)]);
        let pieces = list(&[(0, 8192, 4096, NONE), (4096, 12288, 4096, ExtentFlags::LAST)]);
        assert!(same_places(&one, &pieces));
        assert!(!same_places(&one, &list(&[(0, 8192, 4096, NONE), (4096, 65536, 4096, NONE)])));
        assert!(!same_places(&one, &list(&[(0, 4096, 8192, NONE)])));
        assert!(!same_places(&one, &list(&[])));
    }
}
