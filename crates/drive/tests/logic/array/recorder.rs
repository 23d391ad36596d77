//! A member that writes down what it is told, and takes a random time for it.

use drive::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};
use units::random::Random;

/// A command that a member was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) action: CommandKind,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
}

/// A member that writes down what it is told.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    pub(crate) told: Vec<Told>,
    capacity_bytes: u64,
    random: Random,
    now_ns: u64,
    flying: Vec<(u64, u64)>,
}

impl Recorder {
    pub(crate) fn new(capacity_bytes: u64, seed: u64) -> Recorder {
        let random = Random::new(seed);
        Recorder { told: Vec::new(), capacity_bytes, random, now_ns: 0, flying: Vec::new() }
    }
}

impl Model for Recorder {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        assert_eq!(command.checked(self.capacity_bytes, 512), Ok(()), "{command:?}");
        assert!(self.flying.iter().all(|&(_, id)| id != command.id), "{command:?} twice");
        // Some end at once.
        let to_ns = at_ns + self.random.below(4) * self.random.below(1000);
        let (start, end) = (command.offset_bytes, command.offset_bytes + command.length_bytes);
        self.told.push(Told { action: command.action, start, end, from_ns: at_ns, to_ns });
        self.flying.push((to_ns, command.id));
        self.advance(at_ns, done);
    }

    fn next_ns(&self) -> Option<u64> {
        self.flying.iter().map(|&(to_ns, _)| to_ns).min()
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        assert!(to_ns >= self.now_ns, "time does not run backward");
        self.now_ns = to_ns;
        self.flying.sort_unstable();
        let count = self.flying.partition_point(|&(at_ns, _)| at_ns <= to_ns);
        let ended = self.flying.drain(..count);
        done.extend(ended.map(|(at_ns, id)| DriveCompletion { id, at_ns, outcome: Ok(()) }));
    }

    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn logical_bytes(&self) -> u64 {
        512
    }

    fn tally(&self) -> DriveTally {
        DriveTally::default()
    }
}
