//! A drive with a queue that has an end, in simulated time: for the probe of its depth.
//!
//! What is submitted waits outside until there is room, passes a throttle, and is then one of those
//! that the drive has. It does one of them after the other, or all side by side.

use device::{Completion, Operation, Queue, QueueError};
use units::random::Random;

use crate::number::{few, wide};

/// What a drive and the way to it are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueuePlan {
    /// Number of the drive has at once, at least 1.
    pub slots: usize,
    /// Which of those that wait outside is next.
    pub outside: Choice,
    /// What becomes of those that it has.
    pub inside: Inside,
    /// One passes the throttle in so many nanoseconds; 0 for none.
    pub throttle_ns: u64,
    /// Drives that work by themselves; bytes go round them by 64 KiB.
    pub drives: usize,
    /// Ends are told at multiples of so many nanoseconds; 1 for at once.
    pub told_ns: u64,
}

/// Which one is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one that has been there longest.
    Oldest,
    /// The one that is nearest behind the last, and then the first of all: an elevator.
    Elevator,
    /// Any.
    Any,
}

/// What becomes of those that a drive has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inside {
    /// One after the other.
    One(Choice),
    /// All side by side, each for so long.
    All(Time),
}

/// How long one takes, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Anything from the first to the second.
    Between(u64, u64),
    /// One of the two.
    Either(u64, u64),
    /// Whole numbers of the quantum, each next of them half as likely: it has no memory.
    Halving(u64),
}

/// A drive of which the plan is known.
#[derive(Debug)]
pub struct Queued {
    plan: QueuePlan,
    depth: u16,
    now_ns: u64,
    random: Random,
    pushed: Vec<Operation>,
    drives: Vec<Own>,
    ended: Vec<Completion>,
    buffer: Vec<u8>,
}

/// One drive's.
#[derive(Clone, Debug, Default)]
struct Own {
    outside: Vec<Flying>,
    inside: Vec<Flying>,
    /// When the throttle is open again.
    open_ns: u64,
    position: u64,
}

#[derive(Clone, Copy, Debug)]
struct Flying {
    operation: Operation,
    submitted_ns: u64,
    /// When it ends; `None` while others are done before it.
    ends_ns: Option<u64>,
}

/// How long a drive takes that does one after the other, in nanoseconds.
const ONE: Time = Time::Between(1_000_000, 4_000_000);
/// How often a read that has no memory goes on, at most.
const HALVINGS_MAX: u64 = 64;

impl Time {
    fn draw(self, random: &mut Random) -> u64 {
        match self {
            Time::Between(low, high) => low + random.below(high - low + 1),
            Time::Either(one, other) => *random.choose(&[one, other]),
            Time::Halving(quantum) => {
                let more = (1..HALVINGS_MAX).take_while(|_| random.below(2) == 0).count();
                quantum * (1 + wide(more)) + random.below(quantum)
            }
        }
    }
}

impl Choice {
    fn of(self, flying: &[Flying], position: u64, random: &mut Random) -> usize {
        let key = |one: &Flying| {
            let offset = one.operation.offset_bytes;
            (offset < position, offset)
        };
        match self {
            Choice::Oldest => 0,
            Choice::Any => few(random.below(wide(flying.len()))),
            Choice::Elevator => {
                (0..flying.len()).min_by_key(|&place| key(&flying[place])).unwrap_or(0)
            }
        }
    }
}

impl Own {
    /// Lets in as many as there is room for, and gives each that is done now the time of its end.
    fn settle(&mut self, plan: &QueuePlan, now_ns: u64, random: &mut Random) {
        while self.inside.len() < plan.slots && !self.outside.is_empty() {
            let place = plan.outside.of(&self.outside, self.position, random);
            let mut one = self.outside.remove(place);
            self.position = one.operation.offset_bytes;
            if let Inside::All(time) = plan.inside {
                let begun_ns = now_ns.max(self.open_ns);
                self.open_ns = begun_ns + plan.throttle_ns;
                one.ends_ns = Some(begun_ns + time.draw(random));
            }
            self.inside.push(one);
        }
        let Inside::One(choice) = plan.inside else { return };
        if self.inside.is_empty() || self.inside.iter().any(|one| one.ends_ns.is_some()) {
            return;
        }
        let place = choice.of(&self.inside, self.position, random);
        self.position = self.inside[place].operation.offset_bytes;
        self.inside[place].ends_ns = Some(now_ns + ONE.draw(random));
    }

    /// Which ends next, and when.
    fn next(&self) -> Option<(u64, usize)> {
        let ends = self.inside.iter().enumerate();
        ends.filter_map(|(place, one)| Some((one.ends_ns?, place))).min()
    }
}

impl Queued {
    /// A drive that did nothing yet, at time 0.
    #[must_use]
    pub fn new(plan: QueuePlan, depth: u16, seed: u64) -> Queued {
        Queued {
            plan,
            depth,
            now_ns: 0,
            random: Random::new(seed),
            pushed: Vec::new(),
            drives: vec![Own::default(); plan.drives],
            ended: Vec::new(),
            buffer: vec![0; 1 << 16],
        }
    }

    /// Lets the next end.
    fn step(&mut self) {
        let next = self.drives.iter().enumerate();
        let next = next.filter_map(|(number, own)| own.next().map(|next| (next, number))).min();
        let ((ends_ns, place), number) = next.expect("something is in flight");
        let own = &mut self.drives[number];
        let Flying { operation, submitted_ns, .. } = own.inside.remove(place);
        own.settle(&self.plan, ends_ns, &mut self.random);
        self.ended.push(Completion {
            slot: operation.slot,
            submitted_ns,
            completed_ns: ends_ns,
            result: Ok(operation.length_bytes),
        });
        self.now_ns = self.now_ns.max(ends_ns.next_multiple_of(self.plan.told_ns));
    }
}

impl Queue for Queued {
    fn depth(&self) -> u16 {
        self.depth
    }

    fn buffer(&mut self, _: u16) -> &mut [u8] {
        &mut self.buffer
    }

    fn push(&mut self, operation: Operation) {
        self.pushed.push(operation);
    }

    fn submit(&mut self) -> Result<(), QueueError> {
        for operation in self.pushed.drain(..) {
            let number = few((operation.offset_bytes >> 16) % wide(self.drives.len()));
            let flying = Flying { operation, submitted_ns: self.now_ns, ends_ns: None };
            self.drives[number].outside.push(flying);
        }
        for own in &mut self.drives {
            own.settle(&self.plan, self.now_ns, &mut self.random);
        }
        Ok(())
    }

    fn reap(&mut self, completions: &mut [Completion], least: usize) -> Result<usize, QueueError> {
        while self.ended.len() < least {
            self.step();
        }
        // What has ended until it was told is told with it.
        while self.drives.iter().filter_map(Own::next).any(|(ends_ns, _)| ends_ns <= self.now_ns) {
            self.step();
        }
        let told = self.ended.len().min(completions.len());
        completions[..told].copy_from_slice(&self.ended[..told]);
        self.ended.drain(..told);
        Ok(told)
    }

    fn now_ns(&mut self) -> u64 {
        self.now_ns += 25;
        self.now_ns
    }
}
