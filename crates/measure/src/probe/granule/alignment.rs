//! The alignment: shifts of a long write, and places where the first granule may start.

use device::Queue;

use super::super::answer::{Estimate, PanelKind, Unidentified};
use super::super::budget::EndReason;
use super::super::panel::{Pairing, PanelResult, RatioQuestion};
use super::super::pattern::{self, ShiftPattern};
use super::super::slower_threshold::Reading;
use super::{Alignment, HOME_BYTES, Search, WHOLE_BYTES, WriteArm};
use crate::Fault;
use units::number::count;

/// A shift that no alignment up to [`WHOLE_BYTES`] minds.
const FAR_BYTES: u64 = WHOLE_BYTES << 1;
/// Share of what is left that a question may use before others that do not need its answer:
/// the turns of a write.
const MOST: u64 = 95;
/// The first origins that are tried beside 0 are below it.
const NEAR_BYTES: u64 = 4096;

impl<Q: Queue> Search<'_, '_, '_, Q> {
    /// The alignment, before its size confirms it.
    pub(super) fn alignment(&mut self) -> Result<Estimate<Alignment>, Fault> {
        let shifts = shifts(self.probed.ask.sector_bytes);
        let first = self.shift_panel(PanelKind::Alignment, 0, &shifts, MOST)?;
        match self.judged(&first, &shifts, 0) {
            Ok(found) => return Ok(found),
            Err(ShiftPattern::Flat | ShiftPattern::Elsewhere | ShiftPattern::Odd)
                if first.void.is_none() => {}
            Err(pattern) => return Ok(refused(pattern, &first)),
        }
        let residues = self.residues();
        let screen = self.shift_panel(PanelKind::Origin, 0, &residues, 75)?;
        let Some(origin) = best(&screen, &residues) else {
            let pattern = match screen.ended {
                EndReason::Settled => {
                    self.judged(&first, &shifts, 0).err().unwrap_or(ShiftPattern::Odd)
                }
                _ => ShiftPattern::Open,
            };
            return Ok(refused(pattern, &screen));
        };
        let again = self.shift_panel(PanelKind::Alignment, origin, &shifts, MOST)?;
        Ok(match self.judged(&again, &shifts, origin) {
            Ok(found) => found,
            Err(pattern) => refused(pattern, &again),
        })
    }

    /// Returns what a panel of shifts says.
    fn judged(
        &self,
        panel: &PanelResult,
        shifts: &[u64],
        origin: u64,
    ) -> Result<Estimate<Alignment>, ShiftPattern> {
        if panel.void.is_some() {
            return Err(ShiftPattern::Odd);
        }
        let readings = &panel.readings()[1..];
        let (value, said_by) = aligned(readings, shifts, origin)?;
        Ok(Estimate::Found {
            value,
            alpha: self.probed.ask.share() * count(readings.len() + 1),
            said_by,
        })
    }

    /// Returns where the first granule may start.
    fn residues(&self) -> Vec<u64> {
        let sector = self.probed.ask.sector_bytes;
        let near = (1..).map(|number| number * sector).take_while(|residue| *residue < NEAR_BYTES);
        let far = [NEAR_BYTES, 2 * NEAR_BYTES, 3 * NEAR_BYTES, 4 * NEAR_BYTES, HOME_BYTES];
        near.chain(far).collect()
    }

    /// Shifts against none, after `origin`; the first pairing is the control.
    fn shift_panel(
        &mut self,
        kind: PanelKind,
        origin: u64,
        shifts: &[u64],
        percent: u64,
    ) -> Result<PanelResult, Fault> {
        let arm = |shift: u64| WriteArm { shift_bytes: origin + shift, length_bytes: WHOLE_BYTES };
        let arms: Vec<WriteArm> =
            [0, 0].into_iter().chain(shifts.iter().copied()).map(arm).collect();
        let wanted = |shift: &u64| match kind {
            PanelKind::Origin => RatioQuestion::Faster,
            // From here on chunks are crossed elsewhere: see `pattern::of_shifts`.
            _ if *shift >= HOME_BYTES => RatioQuestion::Slower,
            _ => RatioQuestion::Exactly,
        };
        let pairings = Pairing::with_control(shifts.iter().map(wanted));
        self.panel(kind, &arms, pairings, percent)
    }
}

/// Shifts from a sector to 32 KiB, and a far one.
pub(super) fn shifts(sector_bytes: u64) -> Vec<u64> {
    let steps = std::iter::successors(Some(sector_bytes), |shift| Some(shift << 1));
    steps.take_while(|shift| *shift <= HOME_BYTES).chain([FAR_BYTES]).collect()
}

/// The alignment that the readings of `shifts` after `origin` say, with the comparisons that do.
pub(super) fn aligned(
    readings: &[Reading],
    shifts: &[u64],
    origin: u64,
) -> Result<(Alignment, String), ShiftPattern> {
    let may_be_faster = shifts.iter().position(|shift| *shift >= HOME_BYTES);
    let step = match pattern::of_shifts(readings, may_be_faster.unwrap_or(shifts.len())) {
        ShiftPattern::Step(step) => step,
        other => return Err(other),
    };
    // Behind 32 KiB comes 128 KiB, which says of 64 KiB that it is enough.
    let bytes = shifts[step].min(WHOLE_BYTES);
    let value = Alignment { bytes, origin_bytes: (HOME_BYTES + origin) % bytes };
    let said_by = format!(
        "writes of 64 KiB shifted by {} to {} bytes are slower, by {} bytes and more not",
        shifts[0],
        shifts[step - 1],
        bytes
    );
    Ok((value, said_by))
}

/// The fastest residue of those that were faster than the baseline.
fn best(seen: &PanelResult, residues: &[u64]) -> Option<u64> {
    if seen.void.is_some() {
        return None;
    }
    let arms = seen.compared[1..].iter().zip(residues);
    let faster = arms.filter(|(one, _)| one.reading == Reading::Faster);
    let best = faster.min_by(|(one, _), (other, _)| one.ratio.ratio.total_cmp(&other.ratio.ratio));
    best.map(|(_, residue)| *residue)
}

/// Why there is no alignment.
fn refused(pattern: ShiftPattern, seen: &PanelResult) -> Estimate<Alignment> {
    if let Some(reason) = &seen.void {
        return Estimate::not(Unidentified::Contradiction, reason.clone());
    }
    match pattern {
        ShiftPattern::Open => {
            let ended = seen.ended.said();
            let reason = format!("some shifts were undecided when {ended}");
            Estimate::not(Unidentified::Noise, reason)
        }
        ShiftPattern::Flat | ShiftPattern::Elsewhere => Estimate::not(
            Unidentified::NoSignal,
            "no shift made durable writes of 64 KiB steadily 20 % slower. Possible reasons: a \
             cache hides the granule; the granule is one logical sector; it is larger than \
             64 KiB or no power of two; the first granule starts at none of the shifts tried \
             (every sector below 4 KiB, then 4, 8, 12, 16, 32 KiB)",
        ),
        ShiftPattern::Odd | ShiftPattern::Step(_) => Estimate::not(
            Unidentified::Contradiction,
            "the pattern of the slower shifts fits no power of two up to 64 KiB",
        ),
    }
}
