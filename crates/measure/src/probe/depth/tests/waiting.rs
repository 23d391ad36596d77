//! A drive that has so many reads at once, while the others wait before it: how those are chosen
//! that it takes and that it does next is given.

use drive::{DriveCommand, DriveCompletion, DriveTally, Model};
use units::random::Random;

/// A drive and the way to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Number of reads that the drive has at once, at least 1.
    pub(super) slots: usize,
    /// The choice among those that wait outside.
    pub(super) outside: Choice,
    /// The order in which it does those that it has.
    pub(super) inside: Inside,
    /// One passes the throttle in so many nanoseconds; 0 for none.
    pub(super) throttle_ns: u64,
    /// Drives that work by themselves; bytes go round them by 64 KiB.
    pub(super) drives: usize,
    /// Ends are told at multiples of so many nanoseconds; 1 for at once.
    pub(super) told_ns: u64,
}

/// A choice of the next one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choice {
    /// The one that has been there longest.
    Oldest,
    /// The one that is nearest after the last, and then the first of all: an elevator.
    Elevator,
    /// Any.
    Any,
}

/// The order in which a drive does those that it has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inside {
    /// One after the other.
    One(Choice),
    /// All side by side, each for so long.
    All(Time),
}

/// Time of one, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Time {
    /// Anything from the first to the second.
    Between(u64, u64),
    /// One of the two.
    Either(u64, u64),
    /// Whole numbers of the quantum, each next of them half as likely: it has no memory.
    Halving(u64),
}

/// Drives as a plan says.
#[derive(Debug)]
pub(super) struct Drives {
    plan: Plan,
    random: Random,
    drives: Vec<Own>,
}

/// One drive's.
#[derive(Clone, Debug, Default)]
struct Own {
    outside: Vec<Read>,
    inside: Vec<Read>,
    /// When the throttle is open again.
    open_ns: u64,
    position: u64,
}

#[derive(Clone, Copy, Debug)]
struct Read {
    command: DriveCommand,
    /// When it ends; `None` while others are done before it.
    ends_ns: Option<u64>,
}

/// Time of one on a drive that does one after the other.
const ONE: Time = Time::Between(1_000_000, 4_000_000);
/// Most quanta of a read that has no memory.
const HALVINGS_MAX: u64 = 64;

impl Time {
    fn draw(self, random: &mut Random) -> u64 {
        match self {
            Time::Between(low, high) => low + random.below(high - low + 1),
            Time::Either(one, other) => *random.choose(&[one, other]),
            Time::Halving(quantum) => {
                let more = (1..HALVINGS_MAX).take_while(|_| random.below(2) == 0).count() as u64;
                quantum * (1 + more) + random.below(quantum)
            }
        }
    }
}

impl Choice {
    fn of(self, reads: &[Read], position: u64, random: &mut Random) -> usize {
        let key = |read: &Read| {
            let offset = read.command.offset_bytes;
            (offset < position, offset)
        };
        match self {
            Choice::Oldest => 0,
            Choice::Any => usize::try_from(random.below(reads.len() as u64)).unwrap_or(0),
            Choice::Elevator => (0..reads.len()).min_by_key(|at| key(&reads[*at])).unwrap_or(0),
        }
    }
}

impl Own {
    /// Admits as many as there is room for, and gives each that is done now the time of its end.
    fn settle(&mut self, plan: &Plan, now_ns: u64, random: &mut Random) {
        while self.inside.len() < plan.slots && !self.outside.is_empty() {
            let place = plan.outside.of(&self.outside, self.position, random);
            let mut read = self.outside.remove(place);
            self.position = read.command.offset_bytes;
            if let Inside::All(time) = plan.inside {
                let begun_ns = now_ns.max(self.open_ns);
                self.open_ns = begun_ns + plan.throttle_ns;
                read.ends_ns = Some(begun_ns + time.draw(random));
            }
            self.inside.push(read);
        }
        let Inside::One(choice) = plan.inside else { return };
        if self.inside.is_empty() || self.inside.iter().any(|read| read.ends_ns.is_some()) {
            return;
        }
        let place = choice.of(&self.inside, self.position, random);
        self.position = self.inside[place].command.offset_bytes;
        self.inside[place].ends_ns = Some(now_ns + ONE.draw(random));
    }

    /// Returns when the next read ends, and which.
    fn next(&self) -> Option<(u64, usize)> {
        let ends = self.inside.iter().enumerate();
        ends.filter_map(|(place, read)| Some((read.ends_ns?, place))).min()
    }
}

impl Drives {
    pub(super) fn new(plan: Plan, seed: u64) -> Drives {
        Drives { plan, random: Random::new(seed), drives: vec![Own::default(); plan.drives] }
    }

    /// Returns when the next read ends, of which drive, and which.
    fn next(&self) -> Option<(u64, usize, usize)> {
        let each = self.drives.iter().enumerate();
        each.filter_map(|(drive, own)| own.next().map(|(ns, place)| (ns, drive, place))).min()
    }
}

impl Model for Drives {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, _: &mut Vec<DriveCompletion>) {
        let drive = (command.offset_bytes >> 16) as usize % self.drives.len();
        self.drives[drive].outside.push(Read { command, ends_ns: None });
        self.drives[drive].settle(&self.plan, at_ns, &mut self.random);
    }

    fn next_ns(&self) -> Option<u64> {
        self.next().map(|(ends_ns, ..)| ends_ns.next_multiple_of(self.plan.told_ns))
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        while let Some((ends_ns, drive, place)) = self.next()
            && ends_ns.next_multiple_of(self.plan.told_ns) <= to_ns
        {
            let read = self.drives[drive].inside.remove(place);
            self.drives[drive].settle(&self.plan, ends_ns, &mut self.random);
            let at_ns = ends_ns.next_multiple_of(self.plan.told_ns);
            done.push(DriveCompletion { id: read.command.id, at_ns, outcome: Ok(()) });
        }
    }

    fn capacity_bytes(&self) -> u64 {
        1 << 40
    }

    fn logical_bytes(&self) -> u64 {
        512
    }

    fn tally(&self) -> DriveTally {
        DriveTally::default()
    }
}
