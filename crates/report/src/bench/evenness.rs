//! Evenness of a drive while it was measured: how far arms differ that are the same.

use measure::Interval;

use super::{Experiment, is_control};

/// Returns how far from 1 a ratio may be.
pub(crate) fn reach(Interval { low, high, .. }: Interval) -> f64 {
    (high - 1.0).max(1.0 - low)
}

/// Returns the interval of the ratio of equal arms; `None` where no control ran.
pub(crate) fn control_interval(experiment: &Experiment) -> Option<Interval> {
    let arm = experiment.arms.iter().find(|arm| is_control(arm))?;
    experiment.comparisons.iter().find(|one| one.arm == arm.name).map(|one| one.interval)
}

/// Returns whether equal arms may differ by more than those that are compared: the drive was too
/// uneven for a verdict that stands out as good.
pub(crate) fn is_uneven(experiment: &Experiment) -> bool {
    let compared = experiment.comparisons.first().map(|one| reach(one.interval));
    compared
        .zip(control_interval(experiment).map(reach))
        .is_some_and(|(own, control)| control > own)
}
