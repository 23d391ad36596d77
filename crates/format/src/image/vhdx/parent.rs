//! The parent locator: keys and values in UTF-16.

use device::{Disk, disk};
use units::{ByteRange, DiskText};

use crate::bytes::{self, Block};
use crate::image::{Image, Reference, ReferenceRole};
use crate::{Problem, ProblemKind};

/// Bytes of a locator that are read; the format allows 1 MiB.
const LOCATOR_BYTES_MAX: u64 = 1 << 20;
/// Number of pairs looked at; the format defines five.
const PAIRS_MAX: u16 = 64;
/// Keys that name the parent's file, the most useful first.
const PATHS: [&str; 3] = ["relative_path", "absolute_win32_path", "volume_path"];

/// Adds the parent to `image`.
pub(super) fn read(
    file: &dyn Disk,
    locator: Option<ByteRange>,
    image: &mut Image,
    problems: &mut Vec<Problem>,
) {
    let pairs = locator.map_or(Ok(Vec::new()), |range| {
        let length = range.length_bytes().min(LOCATOR_BYTES_MAX);
        disk::read_vec(file, range.start_bytes(), length).map(|bytes| pairs(&bytes))
    });
    let pairs = pairs.unwrap_or_else(|error| {
        let at = locator.map_or(0, ByteRange::start_bytes);
        problems.push(Problem::unreadable("the parent locator", at, &error));
        Vec::new()
    });
    let value = |key: &str| {
        pairs.iter().find(|(name, _)| name.raw() == key.as_bytes()).map(|(_, value)| value.clone())
    };
    if let Some(linkage) = value("parent_linkage") {
        image.details.push(("parent UUID", linkage.to_string()));
    }
    // Windows writes `.\parent.vhdx`.
    let relative = value(PATHS[0]).map(|path| path.with_slashes());
    let path = relative.or_else(|| PATHS.iter().find_map(|key| value(key)));
    if path.is_none() {
        let at = locator.map_or(0, ByteRange::start_bytes);
        problems.push(Problem::new(ProblemKind::Field, at, "the parent is not named"));
    }
    // Kept even without a name: what is not in this image is not zero.
    image.references.push(Reference {
        role: ReferenceRole::Backing,
        path: path.unwrap_or_default(),
        format: Some(DiskText::from("vhdx")),
    });
}

fn pairs(bytes: &[u8]) -> Vec<(DiskText, DiskText)> {
    let count = bytes::block_at::<2>(bytes, 18).map_or(0, |field| field.le16::<0>());
    let (entries, _) = bytes.get(20..).unwrap_or_default().as_chunks::<12>();
    let entries = entries.iter().take(usize::from(count.min(PAIRS_MAX)));
    let text = |offset: u32, length: u16| {
        let start = usize::try_from(offset).ok()?;
        let text = bytes.get(start..)?.get(..usize::from(length))?;
        Some(DiskText::from_utf16le(text))
    };
    entries
        .filter_map(|entry| {
            let entry = Block(*entry);
            let key = text(entry.le32::<0>(), entry.le16::<8>())?;
            Some((key, text(entry.le32::<4>(), entry.le16::<10>())?))
        })
        .collect()
}
