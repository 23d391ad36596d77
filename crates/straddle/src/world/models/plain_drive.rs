//! Drives of known cost. Every operation takes its base time, times what part of a granule costs,
//! times noise that a seed decides.

use drive::power::{HostPromises, Sectors};
use drive::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model};
use units::number::real;
use units::random::Random;

/// Plan of a drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainPlan {
    /// Time of an operation on whole granules, in nanoseconds.
    pub(crate) base_ns: u64,
    /// Time of a flush.
    pub(crate) flush_ns: u64,
    /// Factor of a write that touches part of a granule.
    pub(crate) penalty: f64,
    /// Bytes of a granule.
    pub(crate) granule_bytes: u64,
    /// Standard deviation of the logarithm of each time.
    pub(crate) noise: f64,
    /// Every so many operations one takes `stall_ns` more; 0 for never.
    pub(crate) stall_every: u64,
    pub(crate) stall_ns: u64,
    /// Growth of every time over a million operations.
    pub(crate) drift: f64,
    pub(crate) has_cache: bool,
    pub(crate) seed: u64,
}

impl Default for PlainPlan {
    fn default() -> PlainPlan {
        PlainPlan {
            base_ns: 100_000,
            flush_ns: 400_000,
            penalty: 1.0,
            granule_bytes: 4096,
            noise: 0.05,
            stall_every: 0,
            stall_ns: 0,
            drift: 0.0,
            has_cache: true,
            seed: 1,
        }
    }
}

/// A drive that does one operation after the other.
pub(crate) struct PlainDrive {
    plan: PlainPlan,
    random: Random,
    free_ns: u64,
    operations: u64,
    ending: Vec<DriveCompletion>,
}

const CAPACITY_BYTES: u64 = 256 << 30;

impl PlainDrive {
    pub(crate) fn new(plan: PlainPlan) -> PlainDrive {
        let random = Random::new(plan.seed);
        PlainDrive { plan, random, free_ns: 0, operations: 0, ending: Vec::new() }
    }

    /// Returns a number of mean 0 and deviation 1: the sum of twelve of which each is from 0 to 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| real(self.random.below(1 << 32)) / real(1 << 32)).sum::<f64>() - 6.0
    }

    fn time_ns(&mut self, command: &DriveCommand) -> u64 {
        let PlainPlan { base_ns, flush_ns, penalty, granule_bytes, noise, .. } = self.plan;
        let is_part = |bytes: u64| !bytes.is_multiple_of(granule_bytes);
        let base_ns = match command.action {
            CommandKind::Flush => flush_ns,
            CommandKind::Write { .. }
                if is_part(command.offset_bytes) || is_part(command.length_bytes) =>
            {
                scaled(base_ns, penalty)
            }
            _ => base_ns,
        };
        self.operations += 1;
        let age = real(self.operations) / 1e6;
        let factor = (noise * self.normal()).exp() * (1.0 + self.plan.drift * age);
        let stalls = self.plan.stall_every;
        let is_stalled = stalls > 0 && self.operations.is_multiple_of(stalls);
        scaled(base_ns, factor) + if is_stalled { self.plan.stall_ns } else { 0 }
    }

    fn collect(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.ending.sort_by_key(|ending| ending.at_ns);
        let over = self.ending.iter().take_while(|ending| ending.at_ns <= to_ns).count();
        done.extend(self.ending.drain(..over));
    }
}

/// Returns `nanoseconds` times a small factor.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are far below 2^53 ns, and factors above 0"
)]
fn scaled(nanoseconds: u64, factor: f64) -> u64 {
    (real(nanoseconds) * factor).round() as u64
}

impl Model for PlainDrive {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        let starts_ns = self.free_ns.max(at_ns);
        self.free_ns = starts_ns + self.time_ns(&command).max(1);
        let outcome = command.checked(CAPACITY_BYTES, 512);
        self.ending.push(DriveCompletion { id: command.id, at_ns: self.free_ns, outcome });
        self.collect(at_ns, done);
    }

    fn next_ns(&self) -> Option<u64> {
        self.ending.iter().map(|ending| ending.at_ns).min()
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.collect(to_ns, done);
    }

    fn capacity_bytes(&self) -> u64 {
        CAPACITY_BYTES
    }

    fn logical_bytes(&self) -> u64 {
        512
    }

    fn tally(&self) -> DriveTally {
        DriveTally::default()
    }

    fn told(&self) -> HostPromises {
        let physical_bytes = self.plan.granule_bytes;
        let sectors = Sectors { logical_bytes: 512, physical_bytes, origin_bytes: 0 };
        HostPromises { sectors, has_volatile_cache: self.plan.has_cache }
    }
}
