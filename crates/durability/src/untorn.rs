//! The largest write that is never torn: all of it or nothing, also when power fails.
//!
//! Unknown means no: what does not say that it keeps a write whole does not. The kernel's number
//! for a device counts, since the kernel splits and merges on the way down; and every layer in
//! between must keep the write in one piece and on the boundaries that the drive wants.
//!
//! Source: Linux `Documentation/ABI/stable/sysfs-block` (`atomic_write_unit_max_bytes`: a power of
//! two, writes must be naturally aligned), `block/blk-settings.c`
//! (`blk_stack_atomic_writes_limits`).

use units::{ByteRange, Known, Source};

use stack::{LayerId, LayerKind, Mapping, Stack, UnitKind, placement};

pub use crate::torn_page_guards::{GuardSetting, TornPageGuard, guards};

/// The largest untorn write to layer `id` in bytes, at multiples of its own length: a power of two,
/// or 0 where there is none; unknown, with the reason, where any layer does not tell.
#[must_use]
pub fn largest(stack: &Stack, id: LayerId) -> Known<u64> {
    let mut least: Option<u64> = None;
    for under in stack.under(id) {
        match own(stack, under) {
            Own::Silent => {}
            Own::Most(bytes) => least = Some(least.map_or(bytes, |least| least.min(bytes))),
            Own::Unknown(reason) => return Known::no(reason),
        }
    }
    let Some(least) = least else { return Known::no("no layer reports untorn writes") };
    let mut bytes = least;
    // The kernel wants natural alignment on the device; a layer that begins off it has less.
    while bytes > 0 && !keeps_whole(stack, id, bytes) {
        bytes /= 2;
    }
    let smallest = smallest(stack, id);
    Known::yes(if bytes < smallest { 0 } else { bytes }, Source::Derived)
}

/// Answer of one layer.
enum Own {
    /// It passes on what lies below.
    Silent,
    /// No more than this.
    Most(u64),
    /// It does not tell.
    Unknown(String),
}

fn own(stack: &Stack, id: LayerId) -> Own {
    let layer = stack.layer(id);
    if let Mapping::Unknown { reason, .. } | Mapping::Opaque { reason, .. } = &layer.mapping {
        return Own::Unknown(format!("{}: {reason}", layer.name));
    }
    if let Some(limits) = &layer.limits {
        return match &limits.atomic_bytes {
            Known::Yes(fact) => Own::Most(fact.value),
            Known::No(reason) => Own::Unknown(format!("{}: {reason}", layer.name)),
        };
    }
    match &layer.kind {
        LayerKind::Drive(_) | LayerKind::ImageFile => {
            Own::Unknown(format!("{} does not report untorn writes", layer.name))
        }
        LayerKind::ImageFormat(_) => {
            Own::Unknown(format!("{}: an image format keeps no write whole", layer.name))
        }
        _ => Own::Silent,
    }
}

/// Returns whether every write of `bytes` at a multiple of that lies in one piece on each leaf, at
/// a multiple of its length.
fn keeps_whole(stack: &Stack, id: LayerId, bytes: u64) -> bool {
    let length = stack.layer(id).length().unwrap_or(bytes).max(1);
    let Some(range) = ByteRange::new(0, length) else { return false };
    stack.leaves(id).all(|(leaf, _)| {
        let shifts = placement::shifts(stack, id, range, leaf, bytes);
        shifts.obstacles.is_empty() && shifts.bytes.keys().all(|&shift| shift == 0)
    })
}

/// The largest logical sector under `id`: less cannot be written at all.
fn smallest(stack: &Stack, id: LayerId) -> u64 {
    let sectors = stack
        .under(id)
        .into_iter()
        .filter_map(|under| stack.layer(under).units.used_bytes(UnitKind::LogicalSector));
    sectors.max().unwrap_or(512)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_too_small_mean_that_the_guard_stays() {
        let may_go = |known: Known<u64>| -> Vec<bool> {
            guards(&known).into_iter().map(|guard| guard.is_allowed_off).collect()
        };
        let known = |bytes| Known::yes(bytes, Source::Derived);
        assert_eq!(may_go(known(16384)), [true, false], "PostgreSQL never asks");
        assert_eq!(may_go(known(8192)), [false, false]);
        assert_eq!(may_go(known(0)), [false, false]);
        assert_eq!(may_go(Known::no("nobody said")), [false, false]);
    }
}
