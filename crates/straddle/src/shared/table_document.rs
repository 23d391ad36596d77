//! A change of a partition table on its way into a document, and out of it again.

use std::path::Path;

use device::{Disk, disk};
use host::{FileDisk, Pinned};
use layout::{PlannedPartition, TableChange, TableWrite};
use report::plan::{KnownRun, LayoutPartition, TableChangeDocument, WriteDocument};
use units::ByteRange;

/// The most bytes of one write, and of all known runs together: those of the largest table.
pub(crate) const BYTES_MAX: u64 = 64 << 20;
/// The most writes, and the most known runs.
pub(crate) const RUNS_MAX: usize = 4096;

/// The line of a plan for `row`, without changes of its content and without a gain.
pub(crate) fn partition(row: &PlannedPartition) -> LayoutPartition {
    LayoutPartition {
        number: row.number,
        kind: row.kind.clone(),
        name: row.name.clone(),
        content: row.content.clone(),
        old_start_bytes: row.old.start_bytes(),
        old_length_bytes: row.old.length_bytes(),
        new_start_bytes: row.new.start_bytes(),
        new_length_bytes: row.new.length_bytes(),
        fix_ups: Vec::new(),
        why: row.why.clone(),
        gain: String::new(),
    }
}

/// The document of `change`, of the disk at `path` whose bytes are `bytes`; in an image of
/// `image_format`, where that is not empty.
///
/// # Errors
/// Why the disk cannot be named or read.
pub(crate) fn document(
    change: &TableChange,
    bytes: &dyn Disk,
    path: &Path,
    image_format: &str,
    was_blank: bool,
) -> Result<TableChangeDocument, String> {
    let text = path.to_str().ok_or("its path is not text")?;
    let node = Pinned::at(path).map_err(|error| error.to_string())?;
    let (identity, logical_sector_bytes) = asked(&node)?;
    let mut found = TableChangeDocument {
        path: text.to_owned(),
        identity,
        image_format: image_format.to_owned(),
        disk_bytes: change.disk_bytes,
        logical_sector_bytes,
        old_sector_bytes: change.old_sector_bytes,
        new_sector_bytes: change.new_sector_bytes,
        was_blank,
        rebuilt: change.rebuilt.clone(),
        known: (change.known.iter())
            .map(|run| KnownRun { at_bytes: run.start_bytes(), length_bytes: run.length_bytes() })
            .collect(),
        known_sha256: change.hash(bytes).map_err(|error| error.to_string())?,
        writes: (change.writes.iter())
            .map(|write| WriteDocument {
                what: write.what.clone(),
                at_bytes: write.at_bytes,
                length_bytes: disk::length_of(&write.new),
                new_hex: hex(&write.new),
            })
            .collect(),
        seal_sha256: String::new(),
    };
    found.seal_sha256 = found.seal();
    Ok(found)
}

/// The serial number or world-wide name of a device, and its logical sector in bytes; neither of an
/// image.
///
/// # Errors
/// When a device does not answer.
pub(crate) fn asked(node: &Pinned) -> Result<(Option<String>, Option<u64>), String> {
    use host::claim::IdentityWords;
    let disk = FileDisk::of(node).map_err(|error| error.to_string())?;
    let Some(answers) = disk.inquiry() else { return Ok((None, None)) };
    let words = host::claim::identity_words(node).map_err(|error| error.to_string())?;
    let identity = match words {
        IdentityWords::PathAndBytes(_) => None,
        IdentityWords::Serial(text) | IdentityWords::Wwn(text) => Some(text),
    };
    Ok((identity, answers.logical_sector_bytes.value().copied()))
}

/// The change of a document. `old` gives the old bytes of the write with this number, at this byte
/// and of this length.
///
/// # Errors
/// When it is none that straddle wrote, or the old bytes are missing.
pub(crate) fn change(
    document: &TableChangeDocument,
    old: impl Fn(usize, u64, u64) -> Result<Vec<u8>, String>,
) -> Result<TableChange, String> {
    let odd = || "its writes are damaged".to_owned();
    let length: Option<u64> =
        document.known.iter().try_fold(0_u64, |sum, run| sum.checked_add(run.length_bytes));
    let is_long = length.is_none_or(|length| length > BYTES_MAX)
        || document.known.len() > RUNS_MAX
        || document.writes.len() > RUNS_MAX;
    if is_long {
        return Err(odd());
    }
    let run = |one: &KnownRun| ByteRange::new(one.at_bytes, one.length_bytes);
    let known: Option<Vec<ByteRange>> = document.known.iter().map(run).collect();
    let mut writes = Vec::new();
    for (index, one) in document.writes.iter().enumerate() {
        let new = bytes(&one.new_hex, one.length_bytes).ok_or_else(odd)?;
        let old = old(index, one.at_bytes, one.length_bytes)?;
        writes.push(TableWrite { what: one.what.clone(), at_bytes: one.at_bytes, old, new });
    }
    Ok(TableChange {
        disk_bytes: document.disk_bytes,
        old_sector_bytes: document.old_sector_bytes,
        new_sector_bytes: document.new_sector_bytes,
        known: known.ok_or_else(odd)?,
        writes,
        rebuilt: document.rebuilt.clone(),
    })
}

/// Bytes in hexadecimal, zeros at the end left out.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let length = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    bytes[..length].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `length` bytes of which `text` is the begin in hexadecimal; `None` where it is not.
pub(crate) fn bytes(text: &str, length: u64) -> Option<Vec<u8>> {
    let length = usize::try_from(length.min(BYTES_MAX + 1)).ok()?;
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let fits = text.len().is_multiple_of(2) && text.len() / 2 <= length;
    if !is_hex || !fits || u64::try_from(length).ok()? > BYTES_MAX {
        return None;
    }
    let digit = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    let mut found: Vec<u8> = (0..text.len()).step_by(2).map(digit).collect::<Option<_>>()?;
    found.resize(length, 0);
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_hexadecimal_are_read_back_and_what_is_none_is_refused() {
        for sample in [&[][..], &[0; 4], &[1, 0, 0xff, 0, 0], &[0, 7]] {
            assert_eq!(bytes(&hex(sample), disk::length_of(sample)).as_deref(), Some(sample));
        }
        for (text, length) in [("0", 4), ("zz", 4), ("0102", 1), ("+1", 4), ("", u64::MAX)] {
            assert_eq!(bytes(text, length), None, "{text}");
        }
    }
}
