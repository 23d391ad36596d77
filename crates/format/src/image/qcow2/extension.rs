//! The header's extensions: a type, a length and that many bytes, each padded to eight.

use units::DiskText;

use crate::bytes;
use crate::{Problem, ProblemKind};

const END: u32 = 0;
const BACKING_FORMAT: u32 = 0xe279_2aca;
const DATA_FILE: u32 = 0x4441_5441;
const FEATURE_NAMES: u32 = 0x6803_f857;

/// Number of extensions looked at: the format defines six.
const COUNT_MAX: usize = 64;

/// Facts of the extensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extensions {
    /// The backing file's format.
    pub(super) backing_format: Option<DiskText>,
    /// The external data file's name.
    pub(super) data_file: Option<DiskText>,
    /// Names of features: kind (0 incompatible, 1 compatible, 2 autoclear), bit, name.
    pub(super) features: Vec<(u8, u8, DiskText)>,
}

/// The extensions from byte `start` of the header cluster `region` to `end`, where the backing
/// file's name starts, or to the end of the region.
pub(super) fn read(
    region: &[u8],
    start: u64,
    end: Option<u64>,
    problems: &mut Vec<Problem>,
) -> Extensions {
    let mut found = Extensions::default();
    let end = end.and_then(|end| usize::try_from(end).ok()).unwrap_or(region.len());
    let region = &region[..end.min(region.len())];
    let mut at = usize::try_from(start).unwrap_or(usize::MAX);
    for _ in 0..COUNT_MAX {
        let Some(header) = bytes::block_at::<8>(region, at) else { return found };
        let (kind, length) = (header.be32::<0>(), header.be32::<4>());
        if kind == END {
            return found;
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(data) = region.get(at + 8..).and_then(|rest| rest.get(..length)) else {
            let detail =
                format!("header extension {kind:#010x} of {length} bytes ends past the header");
            problems.push(Problem::new(ProblemKind::Outside, address(at), detail));
            return found;
        };
        match kind {
            BACKING_FORMAT => found.backing_format = Some(DiskText::from_bytes(data)),
            DATA_FILE => found.data_file = Some(DiskText::from_bytes(data)),
            FEATURE_NAMES => found.features = names(data),
            _ => {}
        }
        at += 8 + length.next_multiple_of(8);
    }
    let detail = format!("more than {COUNT_MAX} header extensions");
    problems.push(Problem::new(ProblemKind::Chain, address(at), detail));
    found
}

/// A table of 48-byte entries: kind, bit, name.
fn names(data: &[u8]) -> Vec<(u8, u8, DiskText)> {
    let (entries, _) = data.as_chunks::<48>();
    let entries = entries.iter().take(3 * 64);
    entries.map(|entry| (entry[0], entry[1], DiskText::from_padded(&entry[2..]))).collect()
}

fn address(at: usize) -> u64 {
    u64::try_from(at).unwrap_or(u64::MAX)
}
