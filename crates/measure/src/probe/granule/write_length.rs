//! The length that a write must have: whole lengths against parts of them.

use device::Queue;

use super::super::answer::{Estimate, PanelKind, Unidentified};
use super::super::panel::{Pairing, PanelResult, RatioQuestion};
use super::super::pattern::{self, ShiftPattern};
use super::super::slower_threshold::Reading;
use super::{Alignment, HOME_BYTES, Search, WHOLE_BYTES, WriteArm};
use crate::Fault;
use units::number::count;

impl<Q: Queue> Search<'_, '_, '_, Q> {
    /// The size, and the alignment once its halves were seen to cost.
    pub(super) fn size(
        &mut self,
        alignment: Alignment,
        alpha: f64,
        said_by: &str,
    ) -> Result<(Estimate<Alignment>, Estimate<u64>), Fault> {
        let start = Lengths::shift_bytes(alignment);
        let lengths = Lengths::of(alignment.bytes, self.probed.ask.sector_bytes);
        let arms: Vec<WriteArm> = lengths
            .arms
            .iter()
            .map(|length| WriteArm { shift_bytes: start, length_bytes: *length })
            .collect();
        let seen = self.panel(PanelKind::Size, &arms, lengths.pairings.clone(), 100)?;
        if let Some(reason) = &seen.void {
            let not = |reason: &String| Unidentified::Contradiction.because(reason);
            return Ok((not(reason), Unidentified::Contradiction.because(reason)));
        }
        let readings = seen.readings();
        let alpha = alpha + self.probed.ask.share() * count(readings.len());
        match readings[lengths.half] {
            Reading::Slower => {}
            Reading::Open => {
                let reason = format!(
                    "undecided when {}: does writing half of the found unit cost anything",
                    seen.ended.said()
                );
                return Ok((
                    Unidentified::Noise.because(&reason),
                    Unidentified::Noise.because(&reason),
                ));
            }
            _ => {
                let reason = format!(
                    "starts must be multiples of {} bytes, but half of that is written at no cost: \
                     a boundary of something else, such as a stripe unit",
                    alignment.bytes
                );
                return Ok((
                    Estimate::not(Unidentified::Contradiction, reason.clone()),
                    Estimate::not(Unidentified::Contradiction, reason),
                ));
            }
        }
        let size = sized(alignment, &lengths, &seen, alpha);
        let said_by = format!("{said_by}; and 64 KiB less half of that is slower than 64 KiB");
        Ok((Estimate::Found { value: alignment, alpha, said_by }, size))
    }
}

/// Returns what the lengths say.
fn sized(alignment: Alignment, lengths: &Lengths, seen: &PanelResult, alpha: f64) -> Estimate<u64> {
    match measured_size(alignment, lengths, &seen.readings()) {
        Ok((value, said_by)) => Estimate::Found { value, alpha, said_by },
        Err(ShiftPattern::Open) => Estimate::not(
            Unidentified::Noise,
            format!("some lengths were undecided when {}", seen.ended.said()),
        ),
        Err(ShiftPattern::Flat) => Estimate::not(
            Unidentified::NoSignal,
            "no part of any length up to 64 KiB is slower than the whole",
        ),
        Err(_) => Estimate::not(
            Unidentified::Contradiction,
            "the pattern of the slower lengths fits no power of two",
        ),
    }
}

/// The size in bytes that the readings of `lengths` say, with the comparisons that do.
pub(super) fn measured_size(
    alignment: Alignment,
    lengths: &Lengths,
    readings: &[Reading],
) -> Result<(u64, String), ShiftPattern> {
    let at = |places: &[usize]| places.iter().map(|at| readings[*at]).collect::<Vec<_>>();
    let sectors = pattern::of_lengths(&at(&lengths.sector_less));
    let units = pattern::of_lengths(&at(&lengths.unit_less));
    let whole = alignment.bytes;
    match (sectors, units) {
        (ShiftPattern::Step(0), ShiftPattern::Flat) => {
            let said_by = format!(
                "from {whole} bytes to 64 KiB one sector less is slower, and {whole} bytes \
                 less is not"
            );
            Ok((whole, said_by))
        }
        // From the size on a part of it costs, whichever part.
        (ShiftPattern::Step(sector), ShiftPattern::Step(unit)) if sector <= unit + 1 => {
            let value = whole << (unit + 1);
            let said_by = format!(
                "{whole} bytes less are slower from a length of {value} bytes on, and not below it"
            );
            Ok((value, said_by))
        }
        (ShiftPattern::Open, _) | (_, ShiftPattern::Open) => Err(ShiftPattern::Open),
        (ShiftPattern::Flat, ShiftPattern::Flat) => Err(ShiftPattern::Flat),
        _ => Err(ShiftPattern::Odd),
    }
}

impl Unidentified {
    fn because<T>(self, reason: &str) -> Estimate<T> {
        Estimate::not(self, reason)
    }
}

/// The lengths that are tried, and which is held against which.
pub(super) struct Lengths {
    pub(super) arms: Vec<u64>,
    pub(super) pairings: Vec<Pairing>,
    /// The pairings of a sector less, the lengths growing.
    sector_less: Vec<usize>,
    /// The pairings of an alignment less.
    unit_less: Vec<usize>,
    /// The pairing of half an alignment less.
    pub(super) half: usize,
}

impl Lengths {
    /// Distance from [`HOME_BYTES`] at which all of them start, in bytes.
    pub(super) fn shift_bytes(alignment: Alignment) -> u64 {
        (alignment.origin_bytes + WHOLE_BYTES - HOME_BYTES) % WHOLE_BYTES
    }

    pub(super) fn of(unit: u64, sector: u64) -> Lengths {
        // The first two are the control.
        let mut lengths = Lengths {
            arms: vec![WHOLE_BYTES, WHOLE_BYTES],
            pairings: vec![Pairing { arm: 1, against: 0, wanted: RatioQuestion::Control }],
            sector_less: Vec::new(),
            unit_less: Vec::new(),
            half: 0,
        };
        let mut whole = unit;
        while whole <= WHOLE_BYTES {
            let pairing = lengths.pair(whole - sector, whole);
            lengths.sector_less.push(pairing);
            if whole > unit {
                let pairing = lengths.pair(whole - unit, whole);
                lengths.unit_less.push(pairing);
            }
            whole <<= 1;
        }
        lengths.half = lengths.pair(WHOLE_BYTES - (unit >> 1), WHOLE_BYTES);
        lengths
    }

    /// The place of the pairing of these two.
    fn pair(&mut self, part: u64, whole: u64) -> usize {
        let (arm, against) = (self.arm(part), self.arm(whole));
        self.pairings.push(Pairing { arm, against, wanted: RatioQuestion::Slower });
        self.pairings.len() - 1
    }

    fn arm(&mut self, length: u64) -> usize {
        match self.arms.iter().position(|arm| *arm == length) {
            Some(place) => place,
            None => {
                self.arms.push(length);
                self.arms.len() - 1
            }
        }
    }
}
