//! The comparisons behind a granule as numbers, and the granule that follows from them: by the
//! functions that the probe itself uses, so that a file of them can be checked anywhere.

use serde::{Deserialize, Serialize};

use super::super::answer::{Estimate, PanelKind};
use super::super::panel::{Pairing, PanelResult};
use super::super::slower_threshold::Reading;
use super::super::stripe::Stripe;
use super::alignment::{self, aligned};
use super::write_length::{Lengths, measured_size};
use super::{Alignment, Granule, HOME_BYTES, WHOLE_BYTES, WriteArm};
use crate::statistics::Interval;

/// Two writes that were compared. Starts are counted from a boundary of 256 KiB of the drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteComparison {
    /// Start of the first write, in bytes.
    pub start_bytes: u64,
    /// Length of the first write, in bytes.
    pub length_bytes: u64,
    /// Start of the write that it is compared with, in bytes.
    pub against_start_bytes: u64,
    /// Length of that write, in bytes.
    pub against_length_bytes: u64,
    /// Time of the first over that of the other: the median of the blocks.
    pub ratio: f64,
    /// The interval's lower bound.
    pub low: f64,
    /// The interval's upper bound; infinite where too few blocks ran.
    pub high: f64,
    /// The blocks that count.
    pub blocks: u64,
}

/// The last comparisons of starts and of lengths: those that a granule follows from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriteEvidence {
    /// Starts, the control first and then shifts that grow.
    pub starts: Vec<WriteComparison>,
    /// Lengths, the control first.
    pub lengths: Vec<WriteComparison>,
}

/// A granule that comparisons support.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SupportedGranule {
    /// Place where a write must start.
    pub alignment: Alignment,
    /// Of what its length must be a multiple, in bytes; `None` where that does not follow.
    pub size_bytes: Option<u64>,
    /// Least lower bound of the starts that are slower: a ratio of times.
    pub slower_low: f64,
    /// Greatest upper bound of the starts that are not.
    pub aligned_high: f64,
}

impl WriteEvidence {
    /// Keeps the comparisons of a panel; those of an earlier one of its kind count no more.
    pub(super) fn take(
        &mut self,
        kind: PanelKind,
        arms: &[WriteArm],
        pairings: &[Pairing],
        seen: &PanelResult,
    ) {
        let place = match kind {
            PanelKind::Alignment => &mut self.starts,
            PanelKind::Size => &mut self.lengths,
            _ => return,
        };
        let compared = pairings.iter().zip(&seen.compared).map(|(pairing, one)| {
            let (write, against) = (&arms[pairing.arm], &arms[pairing.against]);
            WriteComparison {
                start_bytes: HOME_BYTES + write.shift_bytes,
                length_bytes: write.length_bytes,
                against_start_bytes: HOME_BYTES + against.shift_bytes,
                against_length_bytes: against.length_bytes,
                ratio: one.ratio.ratio,
                low: one.ratio.low,
                high: one.ratio.high,
                blocks: one.blocks,
            }
        });
        *place = compared.collect();
    }

    /// Returns the granule that these comparisons of writes with steps of `step_bytes` support.
    ///
    /// # Errors
    /// With the reason, when they are not those that a probe makes, or support no granule.
    pub fn granule(&self, step_bytes: u64) -> Result<SupportedGranule, String> {
        if !step_bytes.is_power_of_two() || !(512..HOME_BYTES).contains(&step_bytes) {
            return Err("the step is no sector".to_owned());
        }
        let base = self.starts.first().ok_or("no starts are compared")?.against_start_bytes;
        let origin = base.checked_sub(HOME_BYTES).filter(|origin| *origin <= HOME_BYTES);
        let origin = origin.ok_or("the starts are compared with one that no probe uses")?;
        let shifts = alignment::shifts(step_bytes);
        let moved = [0]
            .iter()
            .chain(&shifts)
            .map(|shift| ((base + shift, WHOLE_BYTES), (base, WHOLE_BYTES)));
        let starts = readings("starts", &self.starts, moved)?;
        let Ok((alignment, _)) = aligned(&starts[1..], &shifts, origin) else {
            return Err("the pattern of the slower starts is that of no granule".to_owned());
        };
        let lengths = Lengths::of(alignment.bytes, step_bytes);
        let start = HOME_BYTES + Lengths::shift_bytes(alignment);
        let write = |arm: usize| (start, lengths.arms[arm]);
        let pairs = lengths.pairings.iter().map(|pair| (write(pair.arm), write(pair.against)));
        let seen = readings("lengths", &self.lengths, pairs)?;
        if seen[lengths.half] != Reading::Slower {
            return Err("half of the unit is not slower than the whole".to_owned());
        }
        let size_bytes = measured_size(alignment, &lengths, &seen).ok().map(|(size, _)| size);
        let found = |value| Estimate::Found { value, alpha: 0.0, said_by: String::new() };
        let mut granule = Granule {
            alignment: found(alignment),
            size: Estimate::Found { value: alignment.bytes, alpha: 0.0, said_by: String::new() },
            compared: Vec::new(),
            evidence: WriteEvidence::default(),
        };
        // Only reads could tell a long granule from the row of an array.
        Stripe::not_tried("no reads").judge(&mut granule);
        if let Estimate::Not { reason, .. } = granule.alignment {
            return Err(reason);
        }
        let (slower_low, aligned_high) = self.bounds();
        Ok(SupportedGranule { alignment, size_bytes, slower_low, aligned_high })
    }

    /// The least lower bound of slower starts, and the greatest upper bound of the others.
    fn bounds(&self) -> (f64, f64) {
        let all = self.starts.iter();
        let (slower, others): (Vec<_>, Vec<_>) =
            all.partition(|one| one.reading() == Reading::Slower);
        let low = slower.iter().map(|one| one.low).fold(f64::INFINITY, f64::min);
        (low, others.iter().map(|one| one.high).fold(0.0, f64::max))
    }
}

impl WriteComparison {
    fn interval(&self) -> Interval {
        Interval { ratio: self.ratio, low: self.low, high: self.high }
    }

    fn reading(&self) -> Reading {
        Reading::of(&self.interval())
    }

    /// The writes, each with its start and its length.
    fn writes(&self) -> ((u64, u64), (u64, u64)) {
        let against = (self.against_start_bytes, self.against_length_bytes);
        ((self.start_bytes, self.length_bytes), against)
    }

    /// Returns whether the bounds are in order and something was counted.
    fn is_interval(&self) -> bool {
        let is_ordered = 0.0 <= self.low && self.low <= self.ratio && self.ratio <= self.high;
        is_ordered && self.ratio.is_finite() && self.blocks > 0
    }
}

/// The readings of `compared`, which must be of the `wanted` writes, a control first.
fn readings(
    name: &str,
    compared: &[WriteComparison],
    wanted: impl Iterator<Item = ((u64, u64), (u64, u64))>,
) -> Result<Vec<Reading>, String> {
    if !compared.iter().map(WriteComparison::writes).eq(wanted) {
        return Err(format!("the {name} compared are not those that a probe compares"));
    }
    if !compared.iter().all(WriteComparison::is_interval) {
        return Err(format!(
            "a ratio of {name} is outside of its interval, or no block was counted"
        ));
    }
    if compared[0].low > 1.0 || compared[0].high < 1.0 {
        return Err(format!("the control of the {name} differs"));
    }
    Ok(compared.iter().map(WriteComparison::reading).collect())
}
