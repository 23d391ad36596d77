//! The cost of misalignment by a model's own account: its completions are taken from the model
//! itself, one write after another, with nothing of the experiment between.
//!
//! Writes come one of each arm, in a new random order, since what one leaves behind the
//! next may pay for: an aligned one, a shifted one, and an aligned one that is not looked at. The
//! figure is the median of the pairs' ratios, between the order statistics that hold it in 999 of
//! 1000 runs.

use anyhow::{Context as _, ensure};
use drive::{CommandKind, DriveCommand, DriveCompletion, Model};
use measure::Interval;
use units::random::Random;

use super::cases::{DriveCase, TURNAROUND_NS, stretch};
use super::paired::Writes;

/// The pairs that count, and those before them.
const PAIRS: usize = 4000;
const WARM_UP: usize = 50;
/// Distance of the order statistics from the middle: 3.3 standard deviations of so many fair coins,
/// which are half the root of their number.
const OFF: usize = 105;
/// In which order the arms may come; the second is the shifted one.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
/// Not the stream of any experiment.
const SEED: u64 = 0x0a11_5e1f;

/// Returns how many times as long a shifted write takes as an aligned one.
///
/// # Errors
/// When the drive cannot be, or a command fails.
pub(super) fn ratio(case: &DriveCase) -> anyhow::Result<Interval> {
    let writes = Writes::of(case)?;
    let model = case.model(SEED)?;
    let flushes = model.has_write_cache();
    let mut host = OneByOne { model, flushes, now_ns: 0, done: Vec::new() };
    let (mut random, mut ratios) = (Random::new(SEED), Vec::with_capacity(PAIRS));
    let run = stretch(SEED);
    let places = run.length_bytes / writes.unit_bytes - 3;
    for pair in 0..PAIRS + WARM_UP {
        let mut times_ns = [0.0_f64; 3];
        for &arm in random.choose(&ORDERS) {
            let behind = if arm == 1 { writes.shifted_bytes } else { writes.aligned_bytes };
            let offset = run.address_bytes + random.below(places) * writes.unit_bytes + behind;
            times_ns[arm] = host.durable(offset, writes.length_bytes)? as f64;
        }
        if pair >= WARM_UP {
            ratios.push(times_ns[1] / times_ns[0]);
        }
    }
    ratios.sort_unstable_by(f64::total_cmp);
    let middle = PAIRS / 2;
    Ok(Interval { ratio: ratios[middle], low: ratios[middle - OFF], high: ratios[middle + OFF] })
}

/// Gives a model one command at a time.
struct OneByOne {
    model: Box<dyn Model>,
    flushes: bool,
    now_ns: u64,
    done: Vec<DriveCompletion>,
}

impl OneByOne {
    /// Returns how long a write takes until it lasts, in nanoseconds.
    fn durable(&mut self, offset_bytes: u64, length_bytes: u64) -> anyhow::Result<u64> {
        self.now_ns += TURNAROUND_NS;
        let begun_ns = self.now_ns;
        let write = CommandKind::Write { fua: false };
        self.one(DriveCommand { id: 0, action: write, offset_bytes, length_bytes })?;
        if self.flushes {
            self.one(DriveCommand {
                id: 0,
                action: CommandKind::Flush,
                offset_bytes: 0,
                length_bytes: 0,
            })?;
        }
        Ok(self.now_ns - begun_ns)
    }

    fn one(&mut self, command: DriveCommand) -> anyhow::Result<()> {
        self.model.submit(command, self.now_ns, &mut self.done);
        while self.done.is_empty() {
            let next_ns = self.model.next_ns().context("a command never ends")?;
            self.model.advance(next_ns.max(self.now_ns), &mut self.done);
        }
        for done in self.done.drain(..) {
            ensure!(done.outcome.is_ok(), "{done:?}");
            self.now_ns = self.now_ns.max(done.at_ns);
        }
        Ok(())
    }
}
