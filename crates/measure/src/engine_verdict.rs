//! Judgment of durable writes for an engine: PASS, WARN, FAIL, or not enough evidence.
//!
//! | the interval of the profile's quantile | verdict |
//! |---|---|
//! | ends below the warning limit, or at it | PASS |
//! | begins above the failing limit | FAIL; WARN where the stalls are rare, see below |
//! | begins above the warning limit, and reaches to the failing one or beyond | WARN |
//! | holds the warning limit, or has no end that tells | not enough evidence |
//!
//! Rare stalls: the p95's interval ends below the warning limit and the quantile's begins above the
//! failing one. That is the shape of a neighbor's load, of a volume out of burst credits or of a
//! cleaning drive, not of a drive that is too slow: the next run may show none. It is a WARN of its
//! own, which says so, and no FAIL.

use serde::{Deserialize, Serialize};
use workload::engine::Profile;

use crate::tail_quantile::Tail;

/// The quantile by which stalls are told to be rare.
pub const FEW_SHARE: f64 = 0.95;
/// Beyond so many times the samples that there are, more of them are no advice.
const MORE_TIMES_MAX: u64 = 400;
/// A figure is near a limit where it is off by one of so many parts of it at most.
const NEAR_PARTS: u64 = 5;

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// Fast enough.
    Pass,
    /// It works, not as it should.
    Warn,
    /// Too slow.
    Fail,
    /// It cannot be told.
    #[serde(rename = "not-enough-evidence")]
    #[default]
    NotEnough,
}

units::words!(Fitness);

/// An answer with its reason.
#[derive(Clone, Debug, PartialEq)]
pub struct FitnessAnswer {
    /// The answer.
    pub fitness: Fitness,
    /// True if most writes are fast and few stall.
    pub has_rare_stalls: bool,
    /// The verdict for an operator, without figures: the profile's own words, or why it cannot be
    /// told.
    pub sentence: String,
    /// One thing to do next.
    pub next: String,
    /// Number of durable writes likely to settle it, those that were seen included; `None`
    /// where it is settled, or none would.
    pub samples_to_settle: Option<u64>,
}

/// Returns what `tail`, the profile's quantile, says of the engine; `few` is the [`FEW_SHARE`]
/// quantile of the same series, where there is one.
#[must_use]
pub fn judgment(profile: &Profile, tail: &Tail, few: Option<&Tail>) -> FitnessAnswer {
    let (warn_ns, fail_ns) = (profile.warn.above_ns, profile.fail.above_ns);
    let ends_within = |tail: &Tail| tail.high_ns.is_some_and(|high_ns| high_ns <= warn_ns);
    let begins_above = |limit_ns: u64| tail.low_ns.is_some_and(|low_ns| low_ns > limit_ns);
    if ends_within(tail) {
        let next = "nothing now; a drive may be slower at another time and under load: measure \
                    again then, and after a change of drive, file system or firmware";
        let next = if is_near(tail, warn_ns) { near(profile) } else { next.to_owned() };
        return settled(Fitness::Pass, &profile.pass, next);
    }
    if begins_above(fail_ns) {
        if few.is_some_and(ends_within) {
            return rare_stalls(profile);
        }
        return settled(Fitness::Fail, &profile.fail.sentence, profile.next.clone());
    }
    if begins_above(warn_ns) {
        return settled(Fitness::Warn, &profile.warn.sentence, profile.next.clone());
    }
    not_enough(profile, tail)
}

/// Returns whether the figure is so near a limit that another run may end on its other side.
fn is_near(tail: &Tail, limit_ns: u64) -> bool {
    tail.value_ns.abs_diff(limit_ns) <= limit_ns.div_euclid(NEAR_PARTS)
}

/// Returns what to do after a PASS that is near the limit.
fn near(profile: &Profile) -> String {
    let quantile = profile.quantile.name();
    format!(
        "the {quantile} is within 20 % of the limit, so the next run may not pass: measure again \
         when the drive is busiest"
    )
}

fn settled(fitness: Fitness, sentence: &str, next: String) -> FitnessAnswer {
    FitnessAnswer {
        fitness,
        has_rare_stalls: false,
        sentence: sentence.to_owned(),
        next,
        samples_to_settle: None,
    }
}

fn rare_stalls(profile: &Profile) -> FitnessAnswer {
    let sentence = format!(
        "Rare stalls: 95 of 100 writes are fast enough for {}, but a few take far too long. Other \
         load on the drive or used-up burst credits can cause that; neither was checked.",
        profile.name
    );
    let next = "measure again at another hour; look for other writers on the drive, and at the \
                burst balance of a cloud volume";
    FitnessAnswer { has_rare_stalls: true, ..settled(Fitness::Warn, &sentence, next.to_owned()) }
}

fn not_enough(profile: &Profile, tail: &Tail) -> FitnessAnswer {
    let quantile = profile.quantile.name();
    let most = tail.samples.saturating_mul(MORE_TIMES_MAX);
    let samples = match tail.high_ns {
        // Below the limit and open above: an end must be had first.
        None => Some(tail.samples.saturating_add(tail.more_for_an_end())),
        Some(_) => tail.samples_to_leave(profile.warn.above_ns),
    };
    let samples = samples.filter(|samples| *samples <= most);
    let why = match tail.high_ns {
        None => format!(
            "Too few writes to bound the {quantile} from above: slow writes come in groups, so the \
             {} durable writes tell as much as {} independent ones; {} are needed",
            tail.samples, tail.effective_samples, tail.needed_samples
        ),
        Some(_) => format!("The {quantile} may be on either side of the limit"),
    };
    let next = match samples {
        Some(samples) => {
            format!("measure longer: about {} durable writes may settle it", rounded(samples))
        }
        None if is_near(tail, profile.warn.above_ns) => format!(
            "the {quantile} is too near the limit to be settled by a run of this kind: treat it as \
             WARN"
        ),
        None => "the slowest writes vary too much to be settled by a run of this kind: measure \
                 when nothing else uses the drive, or treat it as WARN"
            .to_owned(),
    };
    FitnessAnswer {
        fitness: Fitness::NotEnough,
        has_rare_stalls: false,
        sentence: format!("{why}."),
        next,
        samples_to_settle: samples,
    }
}

/// A number of samples with two digits that count, rounded up.
#[must_use]
pub fn rounded(samples: u64) -> u64 {
    let mut unit = 1;
    while samples.div_euclid(unit) >= 100 {
        unit *= 10;
    }
    samples.div_ceil(unit).saturating_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Engines;

    fn etcd() -> Profile {
        Engines::built_in().find("etcd").unwrap().clone()
    }

    /// A p99 with these ends, in milliseconds.
    fn tail(at: u64, low: Option<u64>, high: Option<u64>) -> Tail {
        let ns = |ms: u64| ms * 1_000_000;
        Tail {
            quantile_percent: 99.0,
            value_ns: ns(at),
            low_ns: low.map(ns),
            high_ns: high.map(ns),
            alpha: crate::tail_quantile::ALPHA,
            samples: 2000,
            effective_samples: 1500,
            needed_samples: 368,
        }
    }

    /// etcd warns above 10 ms and fails above 100 ms.
    #[track_caller]
    fn check(at: u64, low: u64, high: u64, expected: Fitness) {
        assert_eq!(judgment(&etcd(), &tail(at, Some(low), Some(high)), None).fitness, expected);
    }

    #[test]
    fn an_interval_that_excludes_a_limit_is_a_verdict_and_any_other_is_none() {
        check(3, 2, 5, Fitness::Pass);
        check(9, 8, 10, Fitness::Pass);
        check(9, 8, 11, Fitness::NotEnough);
        check(10, 10, 10, Fitness::Pass);
        check(14, 11, 16, Fitness::Warn);
        check(90, 11, 300, Fitness::Warn);
        check(100, 50, 100, Fitness::Warn);
        check(120, 101, 200, Fitness::Fail);
        check(50, 5, 300, Fitness::NotEnough);
    }

    #[test]
    fn a_pass_near_the_limit_says_that_the_next_run_may_not_pass() {
        let next = |at| judgment(&etcd(), &tail(at, Some(2), Some(10)), None).next;
        assert!(next(9).contains("within 20 % of the limit"), "{}", next(9));
        assert!(next(7).starts_with("nothing now; "), "{}", next(7));
    }

    #[test]
    fn without_an_upper_end_it_never_passes_and_may_still_fail() {
        let of = |low, high| judgment(&etcd(), &tail(3, low, high), None);
        let open = of(Some(2), None);
        assert_eq!(open.fitness, Fitness::NotEnough);
        assert!(
            open.sentence.contains("Too few writes to bound the p99 from above")
                && open.sentence.contains("the 2000 durable writes tell as much as"),
            "{open:?}"
        );
        assert!(open.samples_to_settle.is_some());
        assert_eq!(of(None, None).fitness, Fitness::NotEnough);
        assert_eq!(of(Some(11), None).fitness, Fitness::Warn);
        assert_eq!(of(Some(101), None).fitness, Fitness::Fail);
    }

    #[test]
    fn rare_stalls_over_a_fine_p95_are_a_warning_of_their_own_and_no_fail() {
        // A p99 of 67 ms over a p95 of 3.4 ms, on a limit of 20 ms: OpenShift's.
        let openshift = Engines::built_in().find("openshift").unwrap().clone();
        let stalls = tail(67, Some(40), Some(90));
        let few = Tail { quantile_percent: 95.0, ..tail(3, Some(3), Some(4)) };
        let said = judgment(&openshift, &stalls, Some(&few));
        assert!(said.fitness == Fitness::Warn && said.has_rare_stalls);
        assert!(said.sentence.starts_with("Rare stalls: 95 of 100 writes"));
        let slow = Tail { quantile_percent: 95.0, ..tail(12, Some(11), Some(13)) };
        assert_eq!(judgment(&openshift, &stalls, Some(&slow)).fitness, Fitness::Fail);
        assert_eq!(judgment(&openshift, &stalls, None).fitness, Fitness::Fail);
    }

    #[test]
    fn more_writes_are_asked_for_only_where_they_help() {
        let near = judgment(&etcd(), &tail(9, Some(8), Some(12)), None);
        // The upper end is 3 ms away, the limit 1 ms: 9 times as many hold the interval apart where
        // the figure stays, and 36 times as many where it comes nearer meanwhile.
        assert_eq!(near.samples_to_settle, Some(72_000));
        assert!(near.next.contains("about 72000 durable writes may settle it"), "{near:?}");
        let at = judgment(&etcd(), &tail(10, Some(8), Some(12)), None);
        assert_eq!(at.samples_to_settle, None);
        assert!(at.next.contains("too near the limit"));
        // A p99 of 6 of 10 ms is not near: stalls are rare, and may be more than rare.
        let far = judgment(&etcd(), &tail(6, Some(5), Some(60)), None);
        assert_eq!(far.samples_to_settle, None);
        assert!(far.next.contains("vary too much") && !far.next.contains("near"), "{far:?}");
        assert_eq!([7, 99, 101, 12_345].map(rounded), [7, 99, 110, 13_000]);
    }

    #[test]
    fn a_drive_just_over_a_limit_passes_and_one_just_below_fails_in_fewer_than_5_of_100_runs() {
        let series = testkit::latency_series::Series::Alike(0.7);
        let truth_ns = units::number::whole(series.quantile_ns(0.99));
        let mut over = etcd();
        over.warn.above_ns = truth_ns - truth_ns / 200;
        let mut below = etcd();
        (below.warn.above_ns, below.fail.above_ns) = (1000, truth_ns + truth_ns / 200);
        let (mut passed, mut failed) = (0, 0);
        for seed in 1..=300 {
            let tail = Tail::of(&series.values(seed, 4000), 0.99).unwrap();
            passed += u32::from(judgment(&over, &tail, None).fitness == Fitness::Pass);
            failed += u32::from(judgment(&below, &tail, None).fitness == Fitness::Fail);
        }
        println!("of 300 runs, {passed} pass over the limit and {failed} fail below it");
        assert!(passed <= 15 && failed <= 15, "{passed} {failed}");
    }

    #[test]
    fn every_verdict_has_one_sentence_and_one_next_step_for_every_engine() {
        for profile in Engines::built_in().iter() {
            for (low, high) in [(1, 1), (1, 100_000), (2_000_000, 3_000_000)] {
                let said = judgment(profile, &tail(low, Some(low), Some(high)), None);
                assert!(said.sentence.ends_with('.') && !said.next.is_empty(), "{said:?}");
                assert!(!said.next.ends_with('.'));
            }
        }
    }
}
