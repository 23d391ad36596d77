//! Exact drives that are probed: on their own and in arrays, throttled and polled.

use measure::probe::Alignment;
use units::stripe::Rotation;

use super::cases::{DriveCase, DrivePlan, NEARLY_ALL};
use super::exact::{Exact, SoakedShape, flash};
use super::truth::Truth;

const KIB: u64 = 1 << 10;

/// Flash of 512 bytes, of which nothing is found.
const FINE: Exact = flash(512, 0, 512);
/// Flash of 4 KiB.
const USUAL: Exact = flash(4 * KIB, 0, 4 * KIB);

const fn raid0(exact: Exact, chunk_bytes: u64, members: u64) -> Exact {
    Exact { shape: SoakedShape::Raid0 { members, chunk_bytes }, ..exact }
}

const fn raid5(exact: Exact, chunk_bytes: u64, members: u64, rotation: Rotation) -> Exact {
    Exact { shape: SoakedShape::Raid5 { members, chunk_bytes, rotation }, ..exact }
}

const fn throttled(exact: Exact, per_second: u64, tokens: u64) -> Exact {
    Exact { shape: SoakedShape::Throttled { per_second, tokens }, ..exact }
}

/// Findings on an exact drive.
#[derive(Clone, Copy)]
enum Finds {
    /// Its granule and its stripe must be.
    All,
    /// They may be: it is hard to tell.
    Hard,
    /// The stripe alone must be.
    Stripe,
    /// The stripe alone may be.
    HardStripe,
    /// Nothing must be.
    Nothing,
}

use Finds::{All, Hard, HardStripe, Nothing, Stripe};
use Rotation::{LeftAsymmetric, LeftSymmetric};

/// Flash that looks for operations every 4 ms.
const TICKING: Exact = Exact { tick_ns: 4_000_000, ..FINE };

#[rustfmt::skip]
const EXACT: &[(&str, Finds, Exact)] = &[
    ("512e flash", All, USUAL),
    ("16K size, 4K alignment", All, flash(4 * KIB, 0, 16 * KIB)),
    ("16K size and alignment", All, flash(16 * KIB, 0, 16 * KIB)),
    // A row of an array with parity looks the same.
    ("64K size and alignment", Nothing, flash(64 * KIB, 0, 64 * KIB)),
    ("512e, origin 3584", All, flash(4 * KIB, 3584, 4 * KIB)),
    ("RAID0 64K x 3", Stripe, raid0(FINE, 64 * KIB, 3)),
    ("RAID0 128K x 4", Stripe, raid0(FINE, 128 * KIB, 4)),
    ("RAID0 64K x 14", Stripe, raid0(FINE, 64 * KIB, 14)),
    ("RAID0 64K x 3 of 512e", Hard, raid0(USUAL, 64 * KIB, 3)),
    ("RAID0 16K x 5 of 512e", Hard, raid0(USUAL, 16 * KIB, 5)),
    ("512e flash, barely slower", Hard, Exact { part: 0.12, ..USUAL }),
    ("16K, origin 8K", Hard, flash(16 * KIB, 8 * KIB, 16 * KIB)),
    ("16K, origin 512", Hard, flash(16 * KIB, 512, 16 * KIB)),
    ("1K size and alignment", Hard, flash(KIB, 0, KIB)),
    ("64K size, 4K alignment", Hard, flash(4 * KIB, 0, 64 * KIB)),
    ("RAID5 64K x 4+1", HardStripe, raid5(FINE, 64 * KIB, 5, LeftSymmetric)),
    ("RAID5 64K x 4+1, asymm.", HardStripe, raid5(FINE, 64 * KIB, 5, LeftAsymmetric)),
    ("RAID5 64K x 4+1 of 512e", Hard, raid5(USUAL, 64 * KIB, 5, LeftSymmetric)),
    // A whole row is 48 KiB, which is no power of two.
    ("RAID5 16K x 3+1", HardStripe, raid5(FINE, 16 * KIB, 4, LeftSymmetric)),
    // A whole row is 64 KiB: less of it costs a read-modify-write, as with a granule, which it is
    // not.
    ("RAID5 16K x 4+1", HardStripe, raid5(FINE, 16 * KIB, 5, LeftSymmetric)),
    ("dm-crypt on 512e", All, Exact { crypt_ns: (30_000, 400), ..USUAL }),
    ("cloud, 3000 a second", Nothing, throttled(FINE, 3000, 1000)),
    ("cloud, 500 a second, ticks", Nothing, throttled(TICKING, 500, 100)),
    ("cloud, 100 a second", Nothing, throttled(FINE, 100, 1)),
    ("cloud, 300 a second, ticks", Nothing, throttled(TICKING, 300, 1)),
    ("polled every 4 ms", Nothing, TICKING),
    ("cloud on a granule of 16K", Hard, throttled(flash(16 * KIB, 0, 16 * KIB), 3000, 1000)),
    ("granule of 128K", Nothing, flash(128 * KIB, 0, 128 * KIB)),
    ("granule of 12K", Nothing, flash(12 * KIB, 0, 12 * KIB)),
    ("granule of 512", Nothing, FINE),
];

/// Drives of which it is known exactly what a write costs, on their own and in arrays, throttled
/// and polled.
pub(super) fn all() -> Vec<DriveCase> {
    EXACT.iter().map(|(name, finds, exact)| case(name, *finds, *exact)).collect()
}

/// Returns the case of an exact drive.
fn case(name: &str, finds: Finds, exact: Exact) -> DriveCase {
    let Exact { alignment_bytes, origin_bytes, size_bytes, shape, .. } = exact;
    let has_granule = matches!(finds, All | Hard);
    let is_hard = matches!(finds, Hard | HardStripe);
    let stripe = match shape {
        SoakedShape::Raid0 { members, chunk_bytes }
        | SoakedShape::Raid5 { members, chunk_bytes, .. } => Some((chunk_bytes, members)),
        SoakedShape::Alone | SoakedShape::Throttled { .. } => None,
    };
    let alignment = Alignment { bytes: alignment_bytes, origin_bytes };
    let truth = Truth {
        alignment: has_granule.then_some(alignment),
        size_bytes: has_granule.then_some(size_bytes),
        stripe,
        ..Truth::default()
    };
    let right_percent = if is_hard { 0 } else { NEARLY_ALL };
    DriveCase { name: name.to_owned(), made: DrivePlan::Exact(exact), truth, right_percent }
}
