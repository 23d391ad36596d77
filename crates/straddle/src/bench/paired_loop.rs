//! The loop of every measurement: pairs in an order that coins decide, until enough is known.

use measure::{Conclusion, CostVerdict, Experiment, ExperimentPlan, PairStep, Stop};

use super::progress::BenchProgressLine;
use super::session::{Limit, Session};
use crate::shared::busy;
use crate::shared::halt::Halt;

/// Work that takes time, once for each arm of a pair.
pub(crate) trait Timed {
    /// Returns how long arm `arm` took this time, in nanoseconds.
    ///
    /// # Errors
    /// When it failed, or would have to go on without end.
    fn time(&mut self, arm: usize) -> Result<u64, Halt>;

    /// The most bytes that one pair writes.
    fn pair_bytes(&self) -> u64;

    /// Told before each pair.
    fn start_pair(&mut self) {}

    /// Returns what was wrong with all of it, asked at the end; `None` when nothing was.
    fn fault(&mut self) -> Option<String> {
        None
    }
}

/// Bounds on time and bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) nanoseconds: u64,
    pub(crate) bytes: u64,
}

/// Results of a contest.
pub(crate) struct ContestResult {
    pub(crate) experiment: Experiment,
    pub(crate) conclusion: Conclusion,
    pub(crate) elapsed_ns: u64,
    pub(crate) written_bytes: u64,
}

/// Runs pairs until the experiment has its answer or a bound is reached.
///
/// # Errors
/// When a pair cannot be done here at all. What is void, or ended early by the user, is a result.
pub(crate) fn run(
    session: &mut Session<'_>,
    plan: ExperimentPlan,
    title: &str,
    bounds: Bounds,
    timed: &mut dyn Timed,
) -> Result<ContestResult, Halt> {
    let mut experiment = Experiment::new(plan).expect("arms() makes one baseline and a shift");
    let arms = experiment.plan().arms.len();
    let (mut times, mut order) = (vec![0; arms], vec![0; arms]);
    let mut progress = BenchProgressLine::start(session, title);
    let begun_ns = session.elapsed_ns();
    let (mut written_bytes, mut ran) = (0, 0);
    let mut limit = Limit::Seconds;
    let stop = loop {
        let elapsed_ns = session.elapsed_ns().saturating_sub(begun_ns);
        if session.interrupt.is_raised() {
            break Stop::Interrupted;
        }
        let bytes_left = bounds.bytes.saturating_sub(written_bytes).min(session.bytes_left());
        limit = match (elapsed_ns >= bounds.nanoseconds, ran >= session.pairs_max()) {
            (true, _) => Limit::Seconds,
            (false, true) => Limit::Pairs,
            (false, false) => Limit::Bytes,
        };
        if limit != Limit::Bytes || timed.pair_bytes() > bytes_left {
            break Stop::Budget;
        }
        order.copy_from_slice(experiment.order());
        timed.start_pair();
        match pair(timed, &order, &mut times) {
            Ok(()) => {}
            Err(Halt::Interrupted) => break Stop::Interrupted,
            Err(Halt::Void(reason)) => {
                experiment.void(reason);
                break Stop::Rule;
            }
            Err(halt) => {
                progress.clear();
                return Err(halt);
            }
        }
        ran += 1;
        session.wrote(timed.pair_bytes());
        written_bytes += timed.pair_bytes();
        experiment.record(&times);
        if experiment.is_due() {
            let standing = experiment.standing();
            if standing.is_done {
                break Stop::Rule;
            }
            if let Some(judged) =
                standing.comparisons.iter().find(|one| one.arm == experiment.judged())
            {
                progress.show(session, &PairStep { pairs: standing.pairs, median: judged.median });
            }
        }
        let elapsed_ns = session.elapsed_ns().saturating_sub(begun_ns);
        let left_ns = bounds.nanoseconds.saturating_sub(elapsed_ns);
        let share = session.share_percent.into();
        busy::rest((&*session.clock, &session.interrupt), times.iter().sum(), share, left_ns);
    };
    progress.clear();
    if let Some(reason) = timed.fault() {
        experiment.void(reason);
    }
    let conclusion = experiment.finish(stop);
    if stop != Stop::Interrupted && conclusion.verdict == CostVerdict::Inconclusive {
        // Without a verdict its own rule ends it at the most pairs alone.
        let limit = if stop == Stop::Rule { Limit::Pairs } else { limit };
        session.unsettled(limit, experiment.more());
    }
    let elapsed_ns = session.elapsed_ns().saturating_sub(begun_ns);
    Ok(ContestResult { experiment, conclusion, elapsed_ns, written_bytes })
}

fn pair(timed: &mut dyn Timed, order: &[usize], times: &mut [u64]) -> Result<(), Halt> {
    for &arm in order {
        times[arm] = timed.time(arm)?;
    }
    Ok(())
}
