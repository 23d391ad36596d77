//! One experiment on one model drive, and what it should have found.
//!
//! # The truth
//!
//! The estimand is the median of the pairs' log ratios over both orders that the coin could have
//! given. The model knows what each place of a pair takes plainly, u and v, and D, the effect; so
//! each pair has two log ratios, ln(D(v)/u) and ln(D(u)/v), of which the coin picked one. The truth
//! is the median of both of all pairs that counted: no long run is needed, and none would do, since
//! what is added weighs less at a slow pace, and runs meet different paces. Where the effect is a
//! multiplication by θ, the two are ln θ ± ln(u/v), and the truth is θ, whatever the drive did.
//!
//! That the interval holds for this truth where the effect is added: at the truth the chances of
//! the signs differ from pair to pair, but add up to one half, and a sum of such signs spreads no
//! more than one of fair coins.

use device::{Action, Durability};
use units::Unit;

use super::{Counting, Drive, DriveCounters, DrivePlan, Effect, Failure, Temper};
use crate::{
    ArmPlan, Conclusion, Experiment, Fault, Interval, Limits, Order, Plan, Role, Run, Slots,
    SlotsPlan, Stop, Subject, Work,
};

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// How the drive goes.
    pub temper: Temper,
    /// What the shifted arm costs.
    pub effect: Effect,
    /// What happens in the middle.
    pub failure: Option<(u64, Failure)>,
    /// What decides the drive's times and the orders.
    pub seed: u64,
}

/// What came out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The verdict with its sentence.
    pub conclusion: Conclusion,
    /// The pairs that were run, those left out as warm-up included.
    pub pairs: u64,
    /// The pairs that were run when the interval first excluded 1.
    pub found_at: Option<u64>,
    /// The last interval of the median.
    pub interval: Interval,
    /// The ratio that is true: see the head of this file.
    pub truth: f64,
}

/// The most pairs of a trial.
pub const PAIRS_MAX: usize = 2000;

const OPERATION_BYTES: u32 = 4096;
const SHIFTS_BYTES: [u64; 3] = [0, 512, 0];
const SCRATCH_BYTES: u64 = 64 << 20;

impl Trial {
    /// Runs the experiment as anybody would, with the arms aligned, shifted and aligned again.
    #[must_use]
    pub fn run(&self) -> Outcome {
        let mut experiment = Experiment::new(self.plan()).expect("the plan is sound");
        let mut subject = self.subject();
        let (mut times_ns, mut plain_ns) = ([0; 3], [0.0; 3]);
        let (mut both, mut pairs, mut found_at) = (Vec::with_capacity(2 * PAIRS_MAX), 0, None);
        while !experiment.standing().is_done {
            let result = pair(&mut experiment, &mut subject, &mut times_ns, &mut plain_ns);
            if let Err(fault) = result {
                experiment.void(fault.to_string());
                break;
            }
            experiment.record(&times_ns);
            let ratio =
                |arm: usize, base: usize| (self.effect.on(plain_ns[arm]) / plain_ns[base]).ln();
            both.extend([ratio(1, 0), ratio(0, 1)]);
            pairs += 1;
            if found_at.is_none() && !experiment.standing().comparisons[0].median.contains(1.0) {
                found_at = Some(pairs);
            }
        }
        let conclusion = experiment.finish(Stop::Rule);
        let standing = experiment.standing();
        let discarded = usize::try_from(standing.discarded).expect("a few pairs");
        let interval = standing.comparisons[0].median;
        Outcome {
            conclusion,
            pairs,
            found_at,
            interval,
            truth: median(&mut both[2 * discarded..]).exp(),
        }
    }

    fn plan(&self) -> Plan {
        let arm = |name: &str, role| ArmPlan { name: name.to_owned(), role };
        Plan {
            arms: vec![
                arm("aligned", Role::Baseline),
                arm("shifted", Role::Shifted),
                arm("aligned again", Role::Control),
            ],
            alpha: 0.05,
            pairs_max: PAIRS_MAX,
            limits: Limits::default(),
            seed: self.seed,
        }
    }

    fn subject(&self) -> Subject<Drive, DriveCounters> {
        let unit = Unit::new(4096).expect("it has a length");
        let drive = Drive::new(DrivePlan {
            unit,
            effect: self.effect,
            temper: self.temper,
            depth: 1,
            buffer_bytes: 4096,
            failure: self.failure,
            counting: Counting::Exact,
            // Not the stream that decides the orders.
            seed: self.seed ^ (1 << 32),
        });
        let work = Work {
            action: Action::Write { durability: Durability::Data, atomic: false },
            sync: None,
            sync_every: 0,
            operation_bytes: OPERATION_BYTES,
            depth: 1,
            block_operations: 1,
        };
        let slots = Slots::new(SlotsPlan {
            runs: &[Run {
                offset_bytes: 0,
                length_bytes: SCRATCH_BYTES,
                leaf: 0,
                address_bytes: 0,
            }],
            unit,
            operation_bytes: u64::from(OPERATION_BYTES),
            shifts_bytes: &SHIFTS_BYTES,
            order: Order::Cursor,
            seed: self.seed,
        });
        let slots = slots.expect("there is room");
        let counters = drive.counters();
        Subject::new(drive, Some(counters), work, slots, SHIFTS_BYTES.len())
    }
}

/// Runs one pair: the times, and what they would be without the effect.
fn pair(
    experiment: &mut Experiment,
    subject: &mut Subject<Drive, DriveCounters>,
    times_ns: &mut [u64],
    plain_ns: &mut [f64],
) -> Result<(), Fault> {
    subject.start_pair();
    for &arm in experiment.order() {
        times_ns[arm] = subject.observe(arm)?;
        plain_ns[arm] = subject.queue_mut().plain_ns();
    }
    Ok(())
}

/// The median; 0 of nothing.
fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        count => f64::midpoint(values[(count - 1) >> 1], values[count >> 1]),
    }
}
