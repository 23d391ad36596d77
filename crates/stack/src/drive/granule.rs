//! Chooses a drive's granule out of all that say one.
//!
//! NVMe drives say two: writes should start at multiples of NPWA and be multiples of NPWG long.
//! Linux exposes neither as such: minimum_io_size is NPWG, and physical_block_size is the smaller
//! of NPWG and the atomic write size AWUPF, so that it must not win (`drivers/nvme/host/core.c`).
//! Drives that map 4 KiB may still prefer far longer writes, so that only what a drive can map is
//! taken for a granule.
//! SCSI and ATA drives say physical sectors and where the first of them starts. Bridges hide what
//! the drive behind them says, so the largest counts: what is aligned to it is aligned to all.

use format::identify::nvme;
use units::{Known, Source};

use super::KernelDrive;
use super::misreporting_drives::Lie;
use crate::unit::{UnitKind, Units};

/// The granule that is assumed where nothing confirms another: what drives have had since 2011.
pub const ASSUMED_GRANULE_BYTES: u64 = 4096;
const KIND: UnitKind = UnitKind::Granule;
/// Least length that a reported granule must exceed to be believed: many a drive of 4 KiB says 512.
const CONFIRMS_ABOVE_BYTES: u64 = 512;
/// The largest granule of a SCSI or ATA drive that is believed, in bytes: arrays have large ones.
const GRANULE_BYTES_MAX: u64 = 16 << 20;
/// The largest unit that an NVMe drive is known to map. What drives prefer beyond it is a hint for
/// long writes, and 4 KiB written to them costs no reading.
const MAPPED_BYTES_MAX: u64 = 64 << 10;

/// One source's word for the granule.
struct GranuleWord {
    bytes: u64,
    origin_bytes: u64,
    source: Source,
    note: &'static str,
}

/// Adds what every source says of the granule, and marks the one that is used.
pub(super) fn put(drive: &KernelDrive, units: &mut Units) {
    if let Some((bytes, note)) = drive.write_alignment() {
        put_preferred(drive, units, bytes, note);
    } else {
        put_hint(drive, units);
        put_reported(drive, units);
    }
    put_known(drive, units);
    if units.used(KIND).is_none() {
        put_assumed(units, "no source confirms a granule; set it with --on");
    }
}

/// Assumes a granule.
pub(super) fn put_assumed(units: &mut Units, note: &str) {
    units.put_used(KIND, ASSUMED_GRANULE_BYTES, Source::Assumed, note);
}

/// Adds what an NVMe drive prefers for starts of writes, and Linux's fold of it.
fn put_preferred(drive: &KernelDrive, units: &mut Units, bytes: u64, note: &str) {
    let fold = "physical_block_size, where Linux takes the smaller of NPWG and AWUPF";
    units.put_unused(KIND, drive.physical_bytes.clone(), fold);
    if drive.minimum_io_bytes != drive.physical_bytes {
        let note = "minimum_io_size, where Linux puts NPWG";
        units.put_unused(KIND, drive.minimum_io_bytes.clone(), note);
    }
    if let Some(length) = drive.preferred_bytes().filter(|&length| length != bytes) {
        let note = "NPWG: writes should be multiples of it, and start at multiples of NPWA";
        units.put_unused(KIND, Known::yes(length, Source::Identify), note);
    }
    if bytes > CONFIRMS_ABOVE_BYTES {
        units.put_used(KIND, bytes, Source::Identify, note);
    } else {
        let note = "NPWG; nothing confirms 512";
        units.put_unused(KIND, Known::yes(bytes, Source::Identify), note);
    }
}

/// NPWG where it is too large for a granule.
fn put_hint(drive: &KernelDrive, units: &mut Units) {
    if let Some(bytes) = drive.preferred_bytes() {
        let note = "NPWG: no drive is known to map units like that, so that it is a hint";
        units.put_unused(KIND, Known::yes(bytes, Source::Identify), note);
    }
}

/// Adds what the kernel reports, and what a SCSI or ATA drive says.
fn put_reported(drive: &KernelDrive, units: &mut Units) {
    let mut claims = Vec::new();
    if let Some(reason) = drive.unusable_physical() {
        units.put_unused(KIND, drive.physical_bytes.clone(), &reason);
    } else if let Known::Yes(physical) = &drive.physical_bytes {
        claims.push(GranuleWord {
            bytes: physical.value,
            origin_bytes: drive.origin_bytes(),
            source: physical.source,
            note: "physical_block_size",
        });
        claims.extend(folded(drive, physical.value));
    } else {
        units.put_unused(KIND, drive.physical_bytes.clone(), "physical_block_size");
    }
    claims.extend(said(drive));
    let largest = claims.iter().map(|claim| claim.bytes).max().unwrap_or(0);
    // A shift that one source knows of and another hides is there.
    let best = claims.iter().enumerate().filter(|(_, claim)| claim.bytes == largest);
    let best = best.min_by_key(|(_, claim)| claim.origin_bytes.checked_rem(claim.bytes) == Some(0));
    let best = best.map(|(number, _)| number).filter(|_| largest > CONFIRMS_ABOVE_BYTES);
    for (number, claim) in claims.iter().enumerate() {
        let origin = claim.origin_bytes;
        if best == Some(number) {
            units.put_used_from(KIND, claim.bytes, origin, claim.source, claim.note);
        } else {
            let note = match best {
                Some(_) => claim.note.to_owned(),
                None => format!("{}; nothing confirms 512", claim.note),
            };
            let bytes = Known::yes(claim.bytes, claim.source);
            units.put_unused_from(KIND, bytes, origin, &note);
        }
    }
}

/// Returns whether an NVMe drive may map units of so many bytes.
fn is_mapped(bytes: u64) -> bool {
    bytes.is_power_of_two() && bytes <= MAPPED_BYTES_MAX
}

/// Returns what Linux folds NPWG into, where the drive itself was not asked.
fn folded(drive: &KernelDrive, physical: u64) -> Option<GranuleWord> {
    let fact = match &drive.minimum_io_bytes {
        Known::Yes(fact) if drive.is_nvme() => fact,
        _ => return None,
    };
    (is_mapped(fact.value) && fact.value > physical).then(|| GranuleWord {
        bytes: fact.value,
        origin_bytes: drive.origin_bytes(),
        source: fact.source,
        note: "minimum_io_size above physical_block_size: NVMe's NPWG, a coarse indirection unit",
    })
}

/// Returns what a SCSI or ATA drive says of its physical sectors, where it can be right.
fn said(drive: &KernelDrive) -> Vec<GranuleWord> {
    let mut claims = Vec::new();
    let sector = drive.sector().bytes();
    let plausible = |bytes: u64| (sector..=GRANULE_BYTES_MAX).contains(&bytes);
    if let Some(said) = drive.said.capacity.value()
        && let Some(bytes) = said.physical_bytes.filter(|&bytes| plausible(bytes))
    {
        let (source, note) = (Source::Identify, "READ CAPACITY (16)");
        claims.push(GranuleWord { bytes, origin_bytes: said.lowest_aligned_bytes, source, note });
    }
    if let Some(said) = drive.said.ata.value()
        && let Some(bytes) = said.physical_bytes.filter(|&bytes| plausible(bytes))
    {
        let origin_bytes = match said.lowest_aligned_bytes {
            Some(origin) => origin,
            None => drive.origin_bytes().checked_rem(bytes).unwrap_or(0),
        };
        let (source, note) = (Source::Identify, "ATA IDENTIFY, words 106 and 209");
        claims.push(GranuleWord { bytes, origin_bytes, source, note });
    }
    claims
}

/// Adds what is known of the model, where that is more than the drive reports.
fn put_known(drive: &KernelDrive, units: &mut Units) {
    let used = units.used_bytes(KIND).unwrap_or(0);
    for liar in drive.lies() {
        match liar.lie {
            Lie::Granule(bytes) if bytes > used => {
                let note = format!("known of this model: {} ({})", liar.what, liar.url);
                units.put_used(KIND, bytes, Source::Derived, &note);
            }
            Lie::ShiftableGranule(bytes) if used == 0 => {
                let note = format!("known of this model: {} ({})", liar.what, liar.url);
                units.put_used(KIND, bytes, Source::Assumed, &note);
            }
            _ => {}
        }
    }
}

impl KernelDrive {
    /// Returns whether it is an NVMe namespace.
    #[must_use]
    pub fn is_nvme(&self) -> bool {
        self.name.starts_with("nvme")
    }

    /// NPWG in bytes, where the drive says it and it can be meant.
    #[must_use]
    pub fn preferred_bytes(&self) -> Option<u64> {
        let namespace = self.said.namespace.value()?;
        namespace.write_granularity_bytes.filter(|&bytes| nvme::is_plausible(bytes))
    }

    /// Returns where an NVMe drive prefers writes to start, and by which field; `None` when it does
    /// not say, or says more than any drive maps. An NPWA of one block beside a longer NPWG was
    /// left at 0: then NPWG counts.
    fn write_alignment(&self) -> Option<(u64, &'static str)> {
        let length = self.preferred_bytes()?;
        let namespace = self.said.namespace.value()?;
        let block = namespace.format?.data_bytes;
        let alignment = namespace.write_alignment_bytes;
        let (bytes, note) = match alignment.filter(|&bytes| nvme::is_plausible(bytes)) {
            Some(bytes) if bytes > block => (bytes, "NPWA: writes should start there"),
            _ => (length, "NPWG; NPWA says nothing else"),
        };
        is_mapped(bytes).then_some((bytes, note))
    }

    /// Why the reported physical sector is no granule; `None` when it may be one.
    fn unusable_physical(&self) -> Option<String> {
        if let Some(reason) = self.absurd_physical() {
            return Some(reason);
        }
        let physical = *self.physical_bytes.value()?;
        let known = self.lies().find(|liar| matches!(liar.lie, Lie::Atomic(_)));
        if let Some(liar) = known {
            return Some(liar.sentence());
        }
        let floor = ASSUMED_GRANULE_BYTES.max(self.sector().bytes());
        if !self.is_nvme() || physical <= floor {
            return None;
        }
        if self.said.atomic_power_fail_bytes() == Some(physical) {
            let why = "AWUPF, what is written whole or not at all, and no granule";
            return Some(format!("{physical} is {why}"));
        }
        (physical > MAPPED_BYTES_MAX)
            .then(|| format!("{physical} is more than any NVMe drive is known to map: a hint"))
    }

    /// The address of the first aligned block. A whole device's alignment_offset is just that.
    fn origin_bytes(&self) -> u64 {
        let offset = self.alignment_offset_bytes.value().copied().unwrap_or(0);
        u64::try_from(offset).unwrap_or(0)
    }
}
