//! Bench's experiment on a built-in drive: writes off its granule against writes on it.

use anyhow::{Context as _, anyhow};
use device::{Action, Durability};
use measure::{
    CostVerdict, Experiment, Interval, SlotOrder, Slots, SlotsPlan, Stop, Subject, VerdictLimits,
    Work,
};
use units::Unit;

use super::cases::{DriveCase, stretch};
use super::probed::Score;
use crate::soak::models::plan;

/// The most pairs.
const PAIRS_MAX: usize = 1000;
/// Rounding error of a ratio.
const ROUNDED: f64 = 1e-9;
const LENGTH_BYTES: u64 = 4096;
const SHIFT_BYTES: u64 = 512;

/// Aligned and shifted writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Writes {
    pub(super) length_bytes: u64,
    /// Unit that no two writes share.
    pub(super) unit_bytes: u64,
    /// Place where the aligned ones start after a boundary of 4 KiB or of the granule.
    pub(super) aligned_bytes: u64,
    /// Place where the others do.
    pub(super) shifted_bytes: u64,
}

impl Writes {
    /// Those that tell what misalignment costs the drive of `case`.
    pub(super) fn of(case: &DriveCase) -> anyhow::Result<Writes> {
        let sector_bytes = case.model(0)?.logical_bytes();
        let granule = case.truth.alignment;
        let bytes = granule.map_or(LENGTH_BYTES, |found| found.bytes.max(LENGTH_BYTES));
        let aligned_bytes = granule.map_or(0, |found| found.origin_bytes);
        Ok(Writes {
            length_bytes: bytes,
            unit_bytes: bytes,
            aligned_bytes,
            shifted_bytes: aligned_bytes + SHIFT_BYTES.max(sector_bytes),
        })
    }
}

/// End of the experiment.
#[derive(Clone, Debug)]
pub(super) struct Paired {
    pub(super) verdict: CostVerdict,
    pub(super) reason: String,
    pub(super) interval: Interval,
}

/// The experiment on the drive of `case`.
///
/// # Errors
/// When the drive cannot be, or an operation fails.
pub(super) fn run(case: &DriveCase, seed: u64) -> anyhow::Result<Paired> {
    let writes = Writes::of(case)?;
    let named = || format!("{}, seed {seed}", case.name);
    let mut experiment = Experiment::new(plan(PAIRS_MAX, seed))?;
    let shifts = [writes.aligned_bytes, writes.shifted_bytes, writes.aligned_bytes];
    let slots = Slots::new(SlotsPlan {
        runs: &[stretch(seed)],
        unit: Unit::new(writes.unit_bytes).context("a granule has a length")?,
        operation_bytes: writes.length_bytes,
        shifts_bytes: &shifts,
        order: SlotOrder::Random,
        seed,
    })?;
    let work = Work {
        action: Action::Write { durability: Durability::Data, atomic: false },
        sync: None,
        sync_every: 0,
        operation_bytes: u32::try_from(writes.length_bytes)?,
        depth: 1,
        block_operations: 1,
    };
    let queue = case.queue(1, seed)?;
    let counters = queue.counters();
    let mut subject = Subject::new(queue, Some(counters), work, slots, shifts.len());
    let mut times_ns = [0; 3];
    while !experiment.standing().is_done {
        subject.start_pair();
        for &arm in experiment.order() {
            times_ns[arm] =
                subject.observe(arm).map_err(|fault| anyhow!("{}: {fault}", named()))?;
        }
        experiment.record(&times_ns);
    }
    let conclusion = experiment.finish(Stop::Rule);
    let interval = experiment.standing().comparisons[0].median;
    Ok(Paired { verdict: conclusion.verdict, reason: conclusion.reason, interval })
}

impl Paired {
    /// Returns how it did on a drive that has a penalty or none, whose own ratio lies in `own`.
    pub(super) fn score(&self, has_penalty: bool, own: &Interval) -> Score {
        let limits = VerdictLimits::default();
        let is_right = match self.verdict {
            CostVerdict::Penalty => has_penalty && own.high > limits.penalty_above,
            CostVerdict::NoPenalty => own.low <= limits.penalty_above,
            // How much it is was not settled.
            CostVerdict::Small if self.interval.high > limits.penalty_above => return Score::Short,
            CostVerdict::Small => own.low <= limits.penalty_above,
            CostVerdict::Inconclusive | CostVerdict::Void => return Score::Short,
        };
        if is_right { Score::Right } else { Score::Wrong }
    }

    /// Returns whether its interval meets the drive's own ratio, to within what logarithms lose.
    pub(super) fn covers(&self, own: &Interval) -> bool {
        let (low, high) = (1.0 - ROUNDED, 1.0 + ROUNDED);
        self.interval.low * low <= own.high && own.low <= self.interval.high * high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_that_the_drives_own_ratio_denies_is_wrong() {
        let interval = |low, high| Interval { ratio: f64::midpoint(low, high), low, high };
        let paired =
            |verdict| Paired { verdict, reason: String::new(), interval: interval(2.9, 3.1) };
        let (three, one) = (interval(3.0, 3.0), interval(1.0, 1.0));
        assert_eq!(paired(CostVerdict::Penalty).score(true, &three), Score::Right);
        assert_eq!(paired(CostVerdict::Penalty).score(true, &one), Score::Wrong);
        assert_eq!(paired(CostVerdict::Penalty).score(false, &three), Score::Wrong);
        assert_eq!(paired(CostVerdict::NoPenalty).score(true, &three), Score::Wrong);
        assert_eq!(paired(CostVerdict::NoPenalty).score(false, &one), Score::Right);
        assert_eq!(paired(CostVerdict::Inconclusive).score(false, &one), Score::Short);
        assert!(
            paired(CostVerdict::Penalty).covers(&three)
                && !paired(CostVerdict::Penalty).covers(&one)
        );
    }
}
