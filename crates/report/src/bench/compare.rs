//! Two results of `straddle bench` put side by side.
//!
//! Experiments are the same when workload and title are. What is compared is each arm's ratio to
//! its own baseline, which was measured in pairs within one run and has an interval. Medians and
//! p99 of the two runs stand beside each other without any claim: the runs are not paired.

use std::collections::HashMap;
use std::hash::Hash;

use super::comparing::{
    COMPARE_SCHEMA, CompareAnswer, CompareSummary, ComparedArm, ComparedExperiment, ComparedRatio,
    ComparedRun, Comparing, Figures, Interval,
};
use super::{Arm, Bench, Comparison, Experiment};
use crate::text::one_line;

/// What is said of every two runs.
const NOT_PAIRED: &str = "the two runs are not paired: what changed in between is in the ratios \
     of medians and p99 too, so these have no interval; only ratios within a run have one";

/// The two results side by side. Of experiments with the same workload and title the first goes
/// with the first. All texts are harmless to print.
#[must_use]
pub fn compare(before: &Bench, after: &Bench) -> Comparing {
    let mut comparing = Comparing {
        schema: COMPARE_SCHEMA.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        before: run(before),
        after: run(after),
        setting: super::setting::differences(before, after),
        experiments: Vec::new(),
        only_before: Vec::new(),
        only_after: Vec::new(),
        notes: Vec::new(),
        summary: CompareSummary::default(),
    };
    let key = |experiment: &Experiment| (experiment.workload.clone(), experiment.title.clone());
    for pair in pairs(&before.experiments, &after.experiments, key) {
        match pair {
            (Some(old), Some(new)) => comparing.experiments.push(experiment(old, new)),
            (Some(old), None) => comparing.only_before.push(one_line(&old.title)),
            (None, Some(new)) => comparing.only_after.push(one_line(&new.title)),
            (None, None) => {}
        }
    }
    if !comparing.experiments.is_empty() {
        comparing.notes.push(NOT_PAIRED.to_owned());
    }
    comparing.summary = summary(&comparing);
    comparing
}

fn run(bench: &Bench) -> ComparedRun {
    ComparedRun {
        path: one_line(&bench.target.path),
        started: one_line(&bench.run.started),
        version: one_line(&bench.version),
        refusal: bench.refusal.as_ref().map(|refusal| one_line(&refusal.message)),
    }
}

fn summary(comparing: &Comparing) -> CompareSummary {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let of = |answer| {
        let matching = comparing.experiments.iter().filter(|one| one.answer == answer);
        number(matching.count())
    };
    CompareSummary {
        compared: number(comparing.experiments.len()),
        same: of(CompareAnswer::Same),
        differs: of(CompareAnswer::Differs),
        cannot_tell: of(CompareAnswer::CannotTell),
        only_before: number(comparing.only_before.len()),
        only_after: number(comparing.only_after.len()),
    }
}

/// Values with the same key, side by side: in the order of `after`, then those that are only in
/// `before`. Where a key occurs several times, the first goes with the first.
fn pairs<'a, T, K: Eq + Hash>(
    before: &'a [T],
    after: &'a [T],
    key: impl Fn(&T) -> K,
) -> Vec<(Option<&'a T>, Option<&'a T>)> {
    let mut places: HashMap<K, Vec<usize>> = HashMap::new();
    for (place, one) in before.iter().enumerate().rev() {
        places.entry(key(one)).or_default().push(place);
    }
    let mut free = vec![true; before.len()];
    let mut pairs = Vec::new();
    for one in after {
        let place = places.get_mut(&key(one)).and_then(Vec::pop);
        if let Some(place) = place {
            free[place] = false;
        }
        pairs.push((place.map(|place| &before[place]), Some(one)));
    }
    let left = before.iter().zip(free).filter(|(_, free)| *free);
    pairs.extend(left.map(|(one, _)| (Some(one), None)));
    pairs
}

fn experiment(before: &Experiment, after: &Experiment) -> ComparedExperiment {
    let why = untold(before, after);
    let [old, new] = [before, after].map(told);
    let ratios: Vec<ComparedRatio> =
        pairs(&old, &new, |one| (one.arm.as_str(), one.against.as_str()))
            .into_iter()
            .filter_map(|(old, new)| ratio(old.copied(), new.copied(), why.as_deref()))
            .collect();
    // Where nothing was compared nothing can be told.
    let answer = ratios.iter().map(|one| one.answer).max().unwrap_or(CompareAnswer::CannotTell);
    let arms = pairs(&before.arms, &after.arms, |arm| (arm.name.clone(), arm.shift_bytes));
    ComparedExperiment {
        title: one_line(&after.title),
        verdict_before: one_line(&before.verdict),
        verdict_after: one_line(&after.verdict),
        alpha_before: finite(before.alpha),
        alpha_after: finite(after.alpha),
        answer,
        ratios,
        arms: arms.into_iter().filter_map(|(old, new)| arm(old, new)).collect(),
    }
}

/// The comparisons but those of controls.
fn told(experiment: &Experiment) -> Vec<&Comparison> {
    let is_control = |name: &str| {
        experiment.arms.iter().any(|arm| arm.name == name && super::arms::is_control(arm))
    };
    experiment.comparisons.iter().filter(|one| !is_control(&one.arm)).collect()
}

/// Why nothing can be told of two runs of an experiment, whatever their figures; `None` where it
/// can.
fn untold(before: &Experiment, after: &Experiment) -> Option<String> {
    for (when, one) in [("earlier", before), ("later", after)] {
        if matches!(one.verdict.as_str(), "void" | "inconclusive") {
            return Some(format!("the {when} run is {}", one.verdict));
        }
    }
    let observed = |one: &Experiment| match one.block_operations {
        0 | 1 => format!("one {}", one_line(&one.unit)),
        many => format!("one {} of {many} operations", one_line(&one.unit)),
    };
    let (old, new) = (observed(before), observed(after));
    (old != new).then(|| format!("an observation was {old}, and is {new}"))
}

fn ratio(
    before: Option<&Comparison>,
    after: Option<&Comparison>,
    untold: Option<&str>,
) -> Option<ComparedRatio> {
    let named = after.or(before)?;
    let [old, new] = [before, after].map(|one| one.map(interval));
    let overlap = old.zip(new).map(|(old, new)| overlap(old, new));
    let (answer, reason) = match (untold, overlap) {
        (Some(why), _) => (CompareAnswer::CannotTell, Some(why)),
        (None, None) => (CompareAnswer::CannotTell, Some("only one of the runs compared it")),
        (None, Some(None)) => (CompareAnswer::CannotTell, Some("an interval is not known")),
        (None, Some(Some(true))) => (CompareAnswer::Same, None),
        (None, Some(Some(false))) => (CompareAnswer::Differs, None),
    };
    Some(ComparedRatio {
        arm: one_line(&named.arm),
        against: one_line(&named.against),
        before: old,
        after: new,
        change: old.zip(new).and_then(|(old, new)| change(old, new)),
        answer,
        reason: reason.map(str::to_owned),
    })
}

fn interval(comparison: &Comparison) -> Interval {
    let high = comparison.high.and_then(finite);
    // Without an upper end a lower one of 0 says nothing.
    let low = finite(comparison.low).filter(|low| high.is_some() || *low > 0.0);
    Interval { ratio: finite(comparison.ratio), low, high }
}

/// Whether two intervals have a value in common; `None` where an end is not known.
fn overlap(before: Interval, after: Interval) -> Option<bool> {
    Some(before.low? <= after.high? && after.low? <= before.high?)
}

/// How many times the earlier ratio the later one is; `None` where an end is not known.
fn change(before: Interval, after: Interval) -> Option<Interval> {
    let over = |one: Option<f64>, other: Option<f64>| Some(one? / other.filter(|end| *end > 0.0)?);
    let (low, high) = (over(after.low, before.high)?, over(after.high, before.low)?);
    Some(Interval { ratio: over(after.ratio, before.ratio), low: Some(low), high: Some(high) })
}

fn arm(before: Option<&Arm>, after: Option<&Arm>) -> Option<ComparedArm> {
    let name = &after.or(before)?.name;
    let [old, new] = [before, after].map(|arm| arm.map(figures));
    let of =
        |figure: fn(Figures) -> Option<u64>| times(old.and_then(figure)?, new.and_then(figure)?);
    Some(ComparedArm {
        arm: one_line(name),
        before: old,
        after: new,
        median_ratio: of(|figures| figures.median_ns),
        p99_ratio: of(|figures| figures.p99_ns),
    })
}

fn figures(arm: &Arm) -> Figures {
    let seen = arm.count > 0;
    Figures {
        count: arm.count,
        median_ns: seen.then_some(arm.median_ns),
        p99_ns: arm.p99_ns.filter(|_| seen),
    }
}

/// How many times `before` `after` is; `None` of nothing.
fn times(before: u64, after: u64) -> Option<f64> {
    (before > 0).then(|| after as f64 / before as f64)
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
