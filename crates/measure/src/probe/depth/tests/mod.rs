//! Probes of queues whose depth is known: it is found, or nothing is.

mod waiting;

use drive::{HostRules, ModelQueue};

use self::waiting::{Choice, Drives, Inside, Plan, Time};
use super::super::{Ask, ProbeBudget, Spending};
use super::*;
use crate::MappedRun;

const SEEDS: u64 = 6;
const BUDGET: ProbeBudget =
    ProbeBudget { written_bytes: 0, operations: 4_000_000, nanoseconds: 600_000_000_000 };

/// The only depth that may be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Truth {
    /// So many reads are had at once, which must be found.
    Has(u64),
    /// So many are, which may be found.
    MayShow(u64),
    /// Nothing may be found.
    Hidden,
}

use Truth::{Has, Hidden, MayShow};

const fn chooses(slots: usize, choice: Choice) -> Plan {
    Plan {
        slots,
        outside: Choice::Oldest,
        inside: Inside::One(choice),
        throttle_ns: 0,
        drives: 1,
        told_ns: 1,
    }
}

const fn side_by_side(slots: usize, time: Time) -> Plan {
    Plan { inside: Inside::All(time), ..chooses(slots, Choice::Any) }
}

const fn throttled(throttle_ns: u64, time: Time) -> Plan {
    Plan { throttle_ns, ..side_by_side(usize::MAX, time) }
}

const MS: u64 = 1_000_000;

const MODELS: &[(&str, Plan, Truth)] = &[
    ("any of 2", chooses(2, Choice::Any), Has(2)),
    ("any of 3", chooses(3, Choice::Any), Has(3)),
    ("any of 16", chooses(16, Choice::Any), Has(16)),
    ("any of 31", chooses(31, Choice::Any), Has(31)),
    ("any of 32", chooses(32, Choice::Any), Has(32)),
    ("any of 48", chooses(48, Choice::Any), Has(48)),
    ("any of 49", chooses(49, Choice::Any), Hidden),
    ("any of 64", chooses(64, Choice::Any), Hidden),
    ("any of 200", chooses(200, Choice::Any), Hidden),
    ("an elevator of 32", chooses(32, Choice::Elevator), MayShow(32)),
    ("the oldest of 32", chooses(32, Choice::Oldest), Hidden),
    ("one at a time", chooses(1, Choice::Any), Hidden),
    (
        "any of 32 that the host sorts",
        Plan { outside: Choice::Elevator, ..chooses(32, Choice::Any) },
        Hidden,
    ),
    (
        "any of 8 that come in any order",
        Plan { outside: Choice::Any, ..chooses(8, Choice::Any) },
        Hidden,
    ),
    ("8 side by side without memory", side_by_side(8, Time::Halving(MS)), MayShow(8)),
    ("32 side by side without memory", side_by_side(32, Time::Halving(MS)), MayShow(32)),
    ("2 side by side", side_by_side(2, Time::Between(MS / 2, 3 * MS / 2)), MayShow(2)),
    ("8 side by side", side_by_side(8, Time::Between(MS / 2, 3 * MS / 2)), MayShow(8)),
    ("32 side by side", side_by_side(32, Time::Between(MS / 2, 3 * MS / 2)), MayShow(32)),
    ("8 side by side, nearly the same", side_by_side(8, Time::Between(98 * MS, 102 * MS)), Hidden),
    ("any number side by side", side_by_side(usize::MAX, Time::Halving(MS)), Hidden),
    ("throttled", throttled(MS / 3, Time::Between(MS / 2, MS)), Hidden),
    ("throttled, slow or quick", throttled(MS, Time::Either(10 * MS, 11 * MS + MS / 2)), Hidden),
    ("throttled, slower or quick", throttled(MS, Time::Either(10 * MS, 12 * MS + MS / 2)), Hidden),
    ("throttled, far slower", throttled(MS, Time::Either(10 * MS, 14 * MS + MS / 2)), Hidden),
    ("two drives of 16", Plan { drives: 2, ..chooses(16, Choice::Any) }, Hidden),
    ("five drives of 8", Plan { drives: 5, ..chooses(8, Choice::Any) }, Hidden),
    (
        "any of 32, told several at a time",
        Plan { told_ns: 20 * MS, ..chooses(32, Choice::Any) },
        MayShow(32),
    ),
];

fn queue(plan: Plan, seed: u64) -> ModelQueue<Drives> {
    let host = HostRules {
        depth: QUEUE_DEPTH,
        buffer_bytes: 4096,
        start_bytes: 0,
        turnaround_ns: 0,
        has_cache: false,
        has_fua: false,
    };
    ModelQueue::new(Drives::new(plan, seed), host)
}

fn probe(plan: Plan, seed: u64) -> QueueDepth {
    let run = MappedRun { offset_bytes: 0, length_bytes: 64 << 20, leaf: 0, address_bytes: 0 };
    let ask = Ask { runs: &[run], sector_bytes: 512, alpha: 0.02, seed };
    let mut queue = queue(plan, seed);
    let mut spending = Spending::new(BUDGET, 0);
    let (spending, pause) = (&mut spending, &mut |_| true);
    let mut probed = ProbedQueue { queue: &mut queue, ask: &ask, spending, pause };
    find(&mut probed, &Stripe::not_tried("a test")).expect("no read fails")
}

#[test]
fn of_every_queue_its_depth_is_found_or_nothing() {
    for (name, plan, truth) in MODELS {
        for seed in 1..=SEEDS {
            let found = probe(*plan, seed);
            let reads = found.depth.value().map(|depth| depth.reads);
            let is_so = match truth {
                Has(slots) => reads == Some(*slots),
                MayShow(slots) => reads.is_none_or(|reads| reads == *slots),
                Hidden => reads.is_none(),
            };
            assert!(is_so, "{name}, seed {seed}: {found:?}");
        }
    }
}

#[test]
fn without_operations_or_room_nothing_is_told() {
    let run = |length_bytes| MappedRun { offset_bytes: 0, length_bytes, leaf: 0, address_bytes: 0 };
    let why = |length_bytes, operations, goes_on: bool| {
        let runs = [run(length_bytes)];
        let ask = Ask { runs: &runs, sector_bytes: 512, alpha: 0.02, seed: 1 };
        let mut queue = queue(chooses(32, Choice::Any), 1);
        let mut spending = Spending::new(ProbeBudget { operations, ..BUDGET }, 0);
        let stripe = Stripe::not_tried("a test");
        let (spending, pause) = (&mut spending, &mut |_| goes_on);
        let mut probed = ProbedQueue { queue: &mut queue, ask: &ask, spending, pause };
        let found = find(&mut probed, &stripe);
        found.expect("no read fails").depth.why()
    };
    assert_eq!(why(64 << 20, 4000, true), Some(Unidentified::Noise));
    assert_eq!(why(64 << 20, 0, true), Some(Unidentified::Noise));
    assert_eq!(why(64 << 20, 1 << 30, false), Some(Unidentified::Noise));
    assert_eq!(why(1 << 20, 1 << 30, true), Some(Unidentified::NotTried));
    assert_eq!(why(64 << 20, 1 << 30, true), None);
}

#[test]
fn of_an_array_reads_stay_on_one_member_or_none_is_made() {
    let found = |value| Estimate::Found { value, alpha: 0.0, said_by: String::new() };
    let run = MappedRun { offset_bytes: 0, length_bytes: 64 << 20, leaf: 0, address_bytes: 0 };
    let ask = Ask { runs: &[run], sector_bytes: 512, alpha: 0.02, seed: 3 };
    let plan = Plan { drives: 3, ..chooses(16, Choice::Any) };
    let probe = |members: Estimate<u64>| {
        let stripe = Stripe { chunk: found(1 << 16), members, ..Stripe::not_tried("") };
        let mut queue = queue(plan, 3);
        let mut spending = Spending::new(BUDGET, 0);
        let (spending, pause) = (&mut spending, &mut |_| true);
        let mut probed = ProbedQueue { queue: &mut queue, ask: &ask, spending, pause };
        let found = find(&mut probed, &stripe);
        found.expect("no read fails").depth
    };
    assert_eq!(probe(found(3)).value(), Some(&Depth { reads: 16, is_of_member: true }));
    let unknown = Estimate::not(Unidentified::Noise, "a test");
    assert_eq!(probe(unknown).why(), Some(Unidentified::NotTried));
}
