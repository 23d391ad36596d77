//! Runs to compare, made by hand.

use crate::made::bench::{disk, no_penalty, penalty, void};
use measure::CostVerdict;
use report::Run;
use report::bench::{Bench, Experiment};
use report::compare::{Comparing, Measurement, compare};

/// Two results of `straddle bench`.
pub(crate) fn benches(before: &Bench, after: &Bench) -> Comparing {
    compare(Measurement::Bench(before), Measurement::Bench(after), Run::default())
        .expect("both are of bench")
}

/// A result of another run, so that no two are the same.
pub(crate) fn with(experiments: Vec<Experiment>, seed: u64) -> Bench {
    Bench { experiments, seed, ..disk() }
}

/// The penalty with another ratio.
pub(crate) fn ratio(ratio: f64, low: f64, high: Option<f64>) -> Experiment {
    let mut experiment = penalty();
    let high = high.unwrap_or(f64::INFINITY);
    experiment.comparisons[0].interval = measure::Interval { ratio, low, high };
    experiment
}

pub(crate) fn two() -> (Bench, Bench) {
    let mut after = with(vec![ratio(1.5, 1.4, Some(1.6)), no_penalty()], 8);
    after.experiments[0].arms[1].median_ns = 12_500_000;
    after.experiments[0].arms[1].p99_ns = None;
    after.experiments[0].verdict = CostVerdict::Small;
    after.envelope.run.kernel = Some("6.13.0".to_owned());
    after.target.granule_bytes = Some(512);
    after.target.model = None;
    (with(vec![penalty(), void()], 7), after)
}
