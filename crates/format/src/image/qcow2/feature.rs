//! Feature bits of version 3: which the reader must know, and what they change.

use super::extension::Extensions;
use super::{Compression, Header};
use crate::image::Image;
use crate::{Problem, ProblemKind};

const DIRTY: u64 = 1 << 0;
const CORRUPT: u64 = 1 << 1;
const EXTERNAL_DATA: u64 = 1 << 2;
const COMPRESSION_TYPE: u64 = 1 << 3;
const EXTENDED_L2: u64 = 1 << 4;
const KNOWN: u64 = DIRTY | CORRUPT | EXTERNAL_DATA | COMPRESSION_TYPE | EXTENDED_L2;
/// Autoclear bit 1: the external data file is a raw image of the guest.
const DATA_IS_RAW: u64 = 1 << 1;
/// Compatible bit 0: refcounts are written late.
const LAZY_REFCOUNTS: u64 = 1 << 0;

/// Facts that follow from the feature bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Features {
    pub(super) external_data: bool,
    pub(super) extended: bool,
    pub(super) compression: Compression,
    /// Why the image cannot be read, when it has a feature that is not known.
    pub(super) unknown: Option<String>,
}

/// The features that `header` names; version 2 has none.
pub(super) fn read(
    header: &Header,
    extensions: &Extensions,
    image: &mut Image,
    problems: &mut Vec<Problem>,
) -> Features {
    let (bits, compatible, autoclear) = if header.be32::<4>() == 2 {
        (0, 0, 0)
    } else {
        (header.be64::<72>(), header.be64::<80>(), header.be64::<88>())
    };
    let mut problem = |kind, detail: &str| problems.push(Problem::new(kind, 72, detail));
    if bits & DIRTY != 0 {
        problem(ProblemKind::Field, "the image is marked dirty: its refcounts may be wrong");
    }
    if bits & CORRUPT != 0 {
        problem(ProblemKind::Field, "the image is marked corrupt: its tables may be wrong");
    }
    for (set, name) in [
        (bits & EXTERNAL_DATA != 0 && autoclear & DATA_IS_RAW != 0, "data file is raw"),
        (compatible & LAZY_REFCOUNTS != 0, "lazy refcounts"),
        (bits & EXTENDED_L2 != 0, "extended L2"),
    ] {
        if set {
            image.details.push(("feature", name.to_owned()));
        }
    }
    let compression =
        if bits & COMPRESSION_TYPE == 0 { Ok(Compression::Deflate) } else { kind(header) };
    let unknown = unknown(bits & !KNOWN, extensions).or_else(|| compression.clone().err());
    let compression = compression.unwrap_or(Compression::Deflate);
    if compression == Compression::Zstd {
        image.details.push(("compression", "zstd".to_owned()));
    }
    Features {
        external_data: bits & EXTERNAL_DATA != 0,
        extended: bits & EXTENDED_L2 != 0,
        compression,
        unknown,
    }
}

/// The compression type, a byte behind the first 104.
fn kind(header: &Header) -> Result<Compression, String> {
    match (header.be32::<100>(), header.byte::<104>()) {
        (0..=104, _) | (_, 0) => Ok(Compression::Deflate),
        (_, 1) => Ok(Compression::Zstd),
        (_, other) => Err(format!("compression type {other} is not known")),
    }
}

fn unknown(bits: u64, extensions: &Extensions) -> Option<String> {
    let names: Vec<String> = (0..64_u8)
        .filter(|bit| bits >> bit & 1 == 1)
        .map(|bit| {
            let name =
                extensions.features.iter().find(|(kind, number, _)| (*kind, *number) == (0, bit));
            name.map_or_else(|| format!("bit {bit}"), |(.., name)| format!("bit {bit} ({name})"))
        })
        .collect();
    (!names.is_empty())
        .then(|| format!("incompatible features that are not known: {}", names.join(", ")))
}
