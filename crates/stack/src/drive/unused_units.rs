//! Units of a drive that are shown and not used: atomic writes, discards, optimal lengths.

use units::{Known, Source, Unit};

use super::KernelDrive;
use crate::unit::{UnitKind, Units};

/// The largest discard unit that is believed, in bytes: larger ones are limits.
const DISCARD_BYTES_MAX: u64 = 1 << 30;

impl KernelDrive {
    pub(super) fn put_hints(&self, units: &mut Units) {
        let known = |known: &Known<u64>| known.value() != Some(&0);
        let mut put = |kind, bytes: &Known<u64>, origin: u64, note: &str| {
            if known(bytes) {
                units.put_unused_from(kind, bytes.clone(), origin, note);
            }
        };
        put(UnitKind::Atomic, &self.atomic_bytes, 0, "atomic_write_unit_max");
        let origin = self.discard_unit().map_or(0, Unit::origin_bytes);
        put(UnitKind::Discard, &self.discard_bytes, origin, "discard_granularity");
        let absurd = self.absurd_optimal();
        let note = absurd.as_deref().unwrap_or("optimal_io_size, a hint");
        if absurd.is_some() || self.optimal_io_bytes.value().is_some() {
            put(UnitKind::FullStripe, &self.optimal_io_bytes, 0, note);
        }
        for (kind, bytes, origin, note) in self.said_hints() {
            put(kind, &Known::yes(bytes, Source::Identify), origin, note);
        }
        if let Some(card) = &self.card {
            let note = "preferred_erase_size of the card, a hint";
            put(UnitKind::Discard, &card.preferred_erase_bytes, 0, note);
        }
    }

    /// The unit in which the kernel discards, or in which an NVMe drive says that it frees blocks
    /// where that is larger, with its origin; `None` when there is none, when it is no power of two
    /// up to 1 GiB, or when its origin cannot be told.
    #[must_use]
    pub fn discard_unit(&self) -> Option<Unit> {
        let bytes = *self.discard_bytes.value()?;
        if let Some(own) = self.own_discard_unit().filter(|own| *own > bytes && bytes > 0) {
            return Unit::new(own);
        }
        if !bytes.is_power_of_two() || bytes > DISCARD_BYTES_MAX {
            return None;
        }
        let offset = self.alignment_offset_bytes.value().copied().unwrap_or(0);
        let said = self.discard_alignment_bytes.value().copied().unwrap_or(0);
        let origin = match self.said.limits.value() {
            Some(limits) => limits.unmap_alignment_bytes.unwrap_or(0),
            // A number that is the other file's may be that, and nothing else.
            None if said != 0 && u64::try_from(offset) == Ok(said) => return None,
            None => said,
        };
        Unit::with_origin(bytes, origin.checked_rem(bytes)?)
    }

    /// Returns the unit in which an NVMe drive frees blocks by its own word, in bytes: the larger
    /// of NPDG and NPDA, or of NPDGL and NPDAL where it has those. Linux takes it for
    /// discard_granularity since 2026, and a logical block before (`drivers/nvme/host/core.c`).
    /// `None` where the drive says none, or one that is no power of two up to 1 GiB.
    fn own_discard_unit(&self) -> Option<u64> {
        let said = self.said.namespace.value()?;
        let large = self.said.hints.value();
        let length = large.and_then(|large| large.discard_granularity_bytes);
        let start = large.and_then(|large| large.discard_alignment_bytes);
        let length = length.or(said.discard_granularity_bytes);
        let start = start.or(said.discard_alignment_bytes);
        let bytes = length.into_iter().chain(start).max()?;
        (bytes.is_power_of_two() && bytes <= DISCARD_BYTES_MAX).then_some(bytes)
    }

    /// Returns what the drive itself says of other units than its granule: kind, bytes, origin,
    /// field.
    fn said_hints(&self) -> Vec<(UnitKind, u64, u64, &'static str)> {
        let mut hints = Vec::new();
        let mut put = |kind, bytes: Option<u64>, origin, note| {
            hints.extend(bytes.map(|bytes| (kind, bytes, origin, note)));
        };
        let atomic = self.said.atomic_power_fail_bytes();
        put(UnitKind::Atomic, atomic, 0, "AWUPF: also when power fails");
        if let Some(said) = self.said.namespace.value() {
            put(UnitKind::Discard, said.discard_granularity_bytes, 0, "NPDG");
            if said.discard_alignment_bytes != said.discard_granularity_bytes {
                put(UnitKind::Discard, said.discard_alignment_bytes, 0, "NPDA: starts of discards");
            }
            if let Some(large) = self.said.hints.value() {
                put(UnitKind::Discard, large.discard_granularity_bytes, 0, "NPDGL");
                if large.discard_alignment_bytes != large.discard_granularity_bytes {
                    let note = "NPDAL: starts of discards";
                    put(UnitKind::Discard, large.discard_alignment_bytes, 0, note);
                }
            }
            put(UnitKind::FullStripe, said.optimal_write_bytes, 0, "NOWS, a hint");
        }
        if let Some(said) = self.said.limits.value() {
            let origin = said.unmap_alignment_bytes.unwrap_or(0);
            let note = "optimal unmap granularity";
            put(UnitKind::Discard, said.unmap_granularity_bytes, origin, note);
            put(UnitKind::Atomic, said.atomic.length_bytes, 0, "maximum atomic transfer length");
            let note = "optimal transfer length, a hint";
            put(UnitKind::FullStripe, said.optimal_bytes, 0, note);
        }
        hints
    }
}
