//! Drives that others measured: one set of values each.

use units::number::real;

use super::compared::{Article, LineOrigin, PublishedNumber};
use crate::CommandKind;
use crate::profile;
use crate::run::{
    CommandPart, DriveJob, EndedOperation, OperationSource, OperationStream, Region, RunLimits, run,
};

/// Disk of which somebody published a curve over depths.
const DISK: &str = "st2000dm006";
const PIECE_BYTES: u64 = 4096;

/// Quantity that was measured.
#[derive(Clone, Copy, Debug)]
enum Measured {
    /// Random reads a second at this depth.
    Reads(u16),
    /// Random writes a second that the cache takes.
    CachedWrites,
    /// Milliseconds of a flush after so many scattered writes.
    Flush(u64),
    /// Milliseconds that so many of a thousand random reads take at most.
    Quantile(usize),
    /// The mean of random reads at depth 1, in milliseconds.
    Mean,
}

use LineOrigin::{Calibrated, Fitted, Predicted};
use Measured::{CachedWrites, Flush, Mean, Quantile, Reads};

/// Drive, quantity, its unit, what was published, how it is measured, its label, and by how many
/// percent it may be off.
type MeasuredLine = (&'static str, &'static str, &'static str, f64, Measured, LineOrigin, f64);

const LINES: &[MeasuredLine] = &[
    ("ultrastar-7k8", "random read, depth 1", "ms", 12.2, Mean, Predicted, 10.0),
    ("ultrastar-7k8", "random read, depth 32", "IOPS", 200.0, Reads(32), Predicted, 15.0),
    (DISK, "random read, depth 1", "IOPS", 57.6, Reads(1), Fitted, 10.0),
    (DISK, "random read, depth 2", "IOPS", 64.5, Reads(2), Fitted, 10.0),
    (DISK, "random read, depth 4", "IOPS", 71.2, Reads(4), Fitted, 10.0),
    (DISK, "random read, depth 8", "IOPS", 78.6, Reads(8), Fitted, 10.0),
    (DISK, "random read, depth 16", "IOPS", 86.3, Reads(16), Fitted, 10.0),
    (DISK, "random read, depth 32", "IOPS", 93.6, Reads(32), Fitted, 10.0),
    (DISK, "cached random write", "IOPS", 124.0, CachedWrites, Fitted, 15.0),
    (DISK, "flush of 8 scattered writes", "ms", 127.0, Flush(8), Fitted, 15.0),
    (DISK, "flush of 64 scattered writes", "ms", 630.0, Flush(64), Fitted, 15.0),
    (DISK, "random read, p99", "ms", 29.0, Quantile(990), Predicted, 15.0),
    (DISK, "random read, p99.9", "ms", 103.0, Quantile(999), Calibrated, 15.0),
];

/// All of them; `seed` decides places.
pub(super) fn compared(seed: u64) -> Vec<PublishedNumber> {
    let line = |&(profile, what, unit, value, measured, standing, bound): &MeasuredLine| {
        let article = Article::Drive(profile);
        let range = (value, value);
        let published = PublishedNumber::published(article, what, unit, range, standing, bound);
        let note = "measured by others on one drive; where that was published is not recorded";
        PublishedNumber { model: measured.on(profile, seed), profile, note, ..published }
    };
    LINES.iter().map(line).collect()
}

impl Measured {
    /// Returns what the model of the built-in drive called `name` does.
    fn on(self, name: &str, seed: u64) -> f64 {
        let drive = profile::called(name).expect("a built-in drive");
        let capacity = drive.amount("capacity").unwrap_or(0);
        let place = Region { start_bytes: 0, length_bytes: capacity / PIECE_BYTES * PIECE_BYTES };
        let reads = || OperationStream::reads(place, PIECE_BYTES).at_random(seed);
        let writes = || OperationStream::writes(place, PIECE_BYTES).at_random(seed);
        match self {
            Reads(depth) => Timed::of(name, &mut reads(), (depth, 30_000)).per_second(0),
            // Once the cache is full.
            CachedWrites => Timed::of(name, &mut writes(), (4, 8000)).per_second(1000),
            Flush(pieces) => {
                let mut source = ScatteredWrites { writes: writes(), pieces };
                let timed = Timed::of(name, &mut source, (1, 50));
                1e3 / timed.per_second(0)
            }
            Quantile(mille) => Timed::of(name, &mut reads(), (1, 50_000)).quantile_ms(mille),
            Mean => 1e3 / Timed::of(name, &mut reads(), (1, 4000)).per_second(0),
        }
    }
}

/// So many writes anywhere, and a flush, as one operation.
struct ScatteredWrites {
    writes: OperationStream,
    pieces: u64,
}

impl OperationSource for ScatteredWrites {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        let is_some = (0..self.pieces).all(|_| self.writes.next(pieces));
        pieces.push(CommandPart { action: CommandKind::Flush, offset_bytes: 0, length_bytes: 0 });
        is_some
    }
}

/// Times of operations, and when they ended.
#[derive(Debug, Default)]
struct Timed {
    took_ns: Vec<u64>,
    ends_ns: Vec<u64>,
}

impl Timed {
    fn of(name: &str, source: &mut dyn OperationSource, (depth, operations): (u16, u64)) -> Timed {
        let drive = profile::called(name).expect("a built-in drive");
        let mut model = drive.model().expect("a test makes every built-in drive");
        let mut jobs = [DriveJob { source, lanes: depth, has_barriers: false }];
        let limits = RunLimits { operations, time_ns: u64::MAX, turnaround_ns: 0 };
        let mut timed = Timed::default();
        run(&mut *model, &mut jobs, limits, &mut |one: EndedOperation| {
            timed.took_ns.push(one.took_ns());
            timed.ends_ns.push(one.to_ns);
        });
        timed.took_ns.sort_unstable();
        timed
    }

    /// Operations a second, once `settled` of them have ended.
    fn per_second(&self, settled: usize) -> f64 {
        let from_ns = settled.checked_sub(1).map_or(0, |last| self.ends_ns[last]);
        let end_ns = self.ends_ns.last().copied().unwrap_or(0);
        real((self.ends_ns.len() - settled) as u64) * 1e9 / real((end_ns - from_ns).max(1))
    }

    fn quantile_ms(&self, mille: usize) -> f64 {
        real(self.took_ns[self.took_ns.len() * mille / 1000]) / 1e6
    }
}
