//! A header of an rpm package: numbered values in one immutable region.
//!
//! Source: the section "Package Format V4" of rpm's manual, and `rpm/rpmtag.h`.

use std::collections::BTreeMap;

/// Bytes of an entry of the index, and of the trailer that closes the region.
const ENTRY_BYTES: usize = 16;

/// A value with its type.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// Numbers of 16 bits.
    Shorts(Vec<u16>),
    /// Numbers of 32 bits.
    Words(Vec<u32>),
    /// One text.
    Text(String),
    /// Texts.
    Texts(Vec<String>),
    /// One text, which other languages could have too.
    Translated(String),
}

impl Value {
    /// Type, number of items, alignment and bytes.
    fn encoded(&self) -> (u32, usize, usize, Vec<u8>) {
        let ended = |text: &String| [text.as_bytes(), b"\0"].concat();
        match self {
            Value::Shorts(all) => {
                (3, all.len(), 2, all.iter().flat_map(|one| one.to_be_bytes()).collect())
            }
            Value::Words(all) => {
                (4, all.len(), 4, all.iter().flat_map(|one| one.to_be_bytes()).collect())
            }
            Value::Text(text) => (6, 1, 1, ended(text)),
            Value::Texts(all) => (8, all.len(), 1, all.iter().flat_map(ended).collect()),
            Value::Translated(text) => (9, 1, 1, ended(text)),
        }
    }
}

/// Returns the bytes of the header of `values`, by their tags, in the region called `region`.
///
/// # Errors
/// When they need 4 GiB or more.
pub(super) fn bytes(region: u32, values: &BTreeMap<u32, Value>) -> anyhow::Result<Vec<u8>> {
    let (mut index, mut store) = (Vec::new(), Vec::new());
    for (tag, value) in values {
        let (kind, count, alignment, bytes) = value.encoded();
        store.resize(store.len().next_multiple_of(alignment), 0);
        index.extend(entry(*tag, kind, u32::try_from(store.len())?, count)?);
        store.extend(bytes);
    }
    let index_bytes = u32::try_from(index.len() + ENTRY_BYTES)?;
    let start = entry(region, 7, u32::try_from(store.len())?, ENTRY_BYTES)?;
    store.extend(entry(region, 7, index_bytes.wrapping_neg(), ENTRY_BYTES)?);
    let count = u32::try_from(values.len() + 1)?;
    let mut header = vec![0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0];
    header.extend(count.to_be_bytes());
    header.extend(u32::try_from(store.len())?.to_be_bytes());
    Ok([header, start, index, store].concat())
}

/// An entry of the index.
fn entry(tag: u32, kind: u32, offset: u32, count: usize) -> anyhow::Result<Vec<u8>> {
    let fields = [tag, kind, offset, u32::try_from(count)?];
    Ok(fields.iter().flat_map(|field| field.to_be_bytes()).collect())
}
