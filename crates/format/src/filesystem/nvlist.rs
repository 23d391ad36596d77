//! Name-value lists as ZFS stores them: XDR, big-endian, every pair with its length.
//!
//! One idea: a pair's length bounds all that is in it, so a list is walked pair by pair without
//! recursion, and a list within a list is walked by asking again. Source: RFC 4506 (XDR);
//! `OpenZFS`,
//! `module/nvpair/nvpair.c`, the comments on the XDR encoding.

/// A 64-bit number.
const UINT64: u32 = 8;

/// A string.
const STRING: u32 = 9;

/// A list within the list.
const NVLIST: u32 = 19;

/// More pairs than any vdev label has: the walk stops there.
const PAIRS_MAX: usize = 1024;

/// The pairs of one list.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameValues<'a> {
    pairs: &'a [u8],
}

/// One pair.
#[derive(Clone, Copy, Debug)]
struct NvPair<'a> {
    name: &'a [u8],
    kind: u32,
    count: u32,
    value: &'a [u8],
}

impl<'a> NameValues<'a> {
    /// The list that `bytes` start with, its four bytes of encoding first; `None` when they say
    /// another encoding than XDR, or another version than 0 with unique names.
    pub(super) fn packed(bytes: &'a [u8]) -> Option<NameValues<'a>> {
        let (encoding, rest) = bytes.split_first_chunk::<4>()?;
        matches!(encoding, [1, 0 | 1, 0, 0]).then_some(())?;
        NameValues::embedded(rest)
    }

    fn embedded(bytes: &'a [u8]) -> Option<NameValues<'a>> {
        let pairs = bytes.strip_prefix(&[0, 0, 0, 0, 0, 0, 0, 1])?;
        Some(NameValues { pairs })
    }

    /// The number called `name`.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        let pair = self.find(name, UINT64)?;
        pair.value.first_chunk::<8>().map(|value| u64::from_be_bytes(*value))
    }

    /// The text called `name`, as stored.
    pub(super) fn text(&self, name: &str) -> Option<&'a [u8]> {
        take_text(self.find(name, STRING)?.value).map(|(text, _)| text)
    }

    /// The list called `name`.
    pub(super) fn list(&self, name: &str) -> Option<NameValues<'a>> {
        NameValues::embedded(self.find(name, NVLIST)?.value)
    }

    /// Returns how many elements the array called `name` says it has.
    pub(super) fn count(&self, name: &str) -> Option<u32> {
        self.pairs().find(|pair| pair.name == name.as_bytes()).map(|pair| pair.count)
    }

    fn find(&self, name: &str, kind: u32) -> Option<NvPair<'a>> {
        self.pairs().find(|pair| pair.name == name.as_bytes() && pair.kind == kind)
    }

    fn pairs(&self) -> impl Iterator<Item = NvPair<'a>> + use<'a> {
        let mut rest = self.pairs;
        std::iter::from_fn(move || {
            let (length, _) = take_number(rest)?;
            let length = usize::try_from(length).ok()?;
            let pair = pair(rest.get(..length)?)?;
            rest = &rest[length..];
            Some(pair)
        })
        .take(PAIRS_MAX)
    }
}

/// The pair that fills `bytes`: length, length in memory, name, type, element count, value. A
/// list's end is a pair of length 0, so it is none.
fn pair(bytes: &[u8]) -> Option<NvPair<'_>> {
    let (name, rest) = take_text(bytes.get(8..)?)?;
    let (kind, rest) = take_number(rest)?;
    let (count, value) = take_number(rest)?;
    Some(NvPair { name, kind, count, value })
}

fn take_number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*number), rest))
}

/// A length, that many bytes, and zeros up to a multiple of four.
fn take_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = take_number(bytes)?;
    let length = usize::try_from(length).ok()?;
    let text = rest.get(..length)?;
    Some((text, rest.get(length.checked_next_multiple_of(4)?..)?))
}

/// An encoder, for tests only: labels are made here because no tool that makes pools is at hand.
#[cfg(test)]
pub(super) mod encode {
    /// The list of `pairs`, as it stands within another.
    pub(in super::super) fn list(pairs: &[Vec<u8>]) -> Vec<u8> {
        [&[0, 0, 0, 0, 0, 0, 0, 1], &pairs.concat()[..], &[0; 8]].concat()
    }

    /// The list of `pairs` with its encoding in front, as it stands on a disk.
    pub(in super::super) fn packed(pairs: &[Vec<u8>]) -> Vec<u8> {
        [&[1, 1, 0, 0], &list(pairs)[..]].concat()
    }

    /// A number.
    pub(in super::super) fn number(name: &str, value: u64) -> Vec<u8> {
        pair(name, super::UINT64, 1, &value.to_be_bytes())
    }

    /// A text.
    pub(in super::super) fn text(name: &str, value: &str) -> Vec<u8> {
        pair(name, super::STRING, 1, &padded(value))
    }

    /// A list within a list.
    pub(in super::super) fn nested(name: &str, pairs: &[Vec<u8>]) -> Vec<u8> {
        pair(name, super::NVLIST, 1, &list(pairs))
    }

    fn pair(name: &str, kind: u32, count: u32, value: &[u8]) -> Vec<u8> {
        let body = [&padded(name), &kind.to_be_bytes()[..], &count.to_be_bytes(), value].concat();
        let length = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
        [&length[..], &length, &body].concat()
    }

    fn padded(text: &str) -> Vec<u8> {
        let length = u32::try_from(text.len()).unwrap().to_be_bytes();
        let mut bytes = [&length[..], text.as_bytes()].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_texts_and_nested_lists_are_found_by_name_and_type() {
        let tree = encode::nested("vdev_tree", &[encode::number("ashift", 12)]);
        let bytes = encode::packed(&[encode::text("name", "tank"), tree, encode::number("txg", 4)]);
        let list = NameValues::packed(&bytes).unwrap();
        assert_eq!(list.text("name"), Some(&b"tank"[..]));
        assert_eq!(list.number("txg"), Some(4));
        assert_eq!(list.list("vdev_tree").unwrap().number("ashift"), Some(12));
        assert_eq!(list.number("name"), None);
        assert_eq!(list.number("ashift"), None);
        assert_eq!(list.count("name"), Some(1));
    }

    #[test]
    fn a_length_of_zero_or_behind_the_end_stops_the_walk() {
        let mut bytes = encode::packed(&[encode::number("a", 1), encode::number("b", 2)]);
        for length in [0_u32, 1, 7, u32::MAX, 1 << 31] {
            bytes[12..16].copy_from_slice(&length.to_be_bytes());
            assert_eq!(NameValues::packed(&bytes).unwrap().number("b"), None);
        }
        bytes[0] = 0;
        assert!(NameValues::packed(&bytes).is_none());
    }
}
