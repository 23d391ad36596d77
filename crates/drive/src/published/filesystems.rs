//! "Linux on 4 KB sector disks": by how many times a step takes longer in a partition at sector 34
//! than in one at sector 40, for six file systems.
//!
//! The article gives few values of their own; of the others it gives the least and the most, and
//! means of all six. The traces are of file systems of today, on a disk that takes no time: what a
//! file system decides by how long the disk takes is not in them, nor is the processor's time.
//!
//! Each step is done on a disk that is idle and whose cache is empty, since the article unmounts
//! after each so that caches do not weigh. Done one behind the other on one disk without a pause,
//! what one step leaves in the cache burdens the next, and more lines are outside their bounds.

use units::number::real;
use workload::trace::TraceEntry;

use super::compared::{Article, LineOrigin, PublishedNumber};
use super::recorded::{SuiteStep, System, entries};

use crate::profile;
use crate::run::{DriveJob, EndedOperation, RunLimits, TraceLayout, TraceReplay, run};

/// The drive.
const DRIVE: &str = "wd10ears";
const SECTOR_BYTES: u64 = 512;
/// First byte of the aligned partition.
const ALIGNED_BYTES: u64 = 40 * SECTOR_BYTES;
const MISALIGNED_BYTES: u64 = 34 * SECTOR_BYTES;
/// Number of commands Linux gives such a disk at once: SATA's NCQ, less one that libata keeps.
const LANES: u16 = 31;
const TURNAROUND_NS: u64 = 10_000;
/// Number of angles that a mean is over, and how far they are apart: about a fifth of a track.
const ANGLES: u64 = 5;
const ANGLE_BYTES: u64 = 61 * 4096;
/// Percentage by which the article's numbers may differ.
const BOUND: f64 = 10.0;

/// Of which file systems a number is.
#[derive(Clone, Copy, Debug)]
enum Of {
    One(System),
    Mean,
    MeanBut(System),
    Least,
    Most,
}

/// A published ratio, or the least and the most that it can be.
#[derive(Clone, Copy, Debug)]
struct RatioLine {
    step: SuiteStep,
    of: Of,
    published: PublishedNumber,
}

const fn exact(step: SuiteStep, of: Of, what: &'static str, published: f64) -> RatioLine {
    line(step, of, what, (published, published))
}

/// One that has no number of its own: it is among the six.
const fn among(
    step: SuiteStep,
    system: System,
    what: &'static str,
    range: (f64, f64),
) -> RatioLine {
    line(step, One(system), what, range)
}

const fn line(step: SuiteStep, of: Of, what: &'static str, range: (f64, f64)) -> RatioLine {
    let standing = LineOrigin::Predicted;
    let published =
        PublishedNumber::published(Article::FourKib, what, "times", range, standing, BOUND);
    RatioLine { step, of, published }
}

/// One that is outside its bound, with the reason.
const fn but(line: RatioLine, outside: &'static str) -> RatioLine {
    RatioLine { published: PublishedNumber { outside, ..line.published }, ..line }
}

use Of::{Least, Mean, MeanBut, Most, One};
use SuiteStep::{Delete, Make, Read, Unpack, Write};
use System::{Btrfs, Ext3, Ext4, Jfs, Reiser, Xfs};

const MAKE: (f64, f64) = (0.96, 7.94);
const UNPACK: (f64, f64) = (1.04, 25.53);
const WRITE: (f64, f64) = (1.10, 6.02);
const READ: (f64, f64) = (0.95, 1.25);
const DELETE: (f64, f64) = (1.04, 4.78);

const LINES: &[RatioLine] = &[
    among(Make, Ext3, "mkfs, ext3", MAKE),
    among(Make, Ext4, "mkfs, ext4", MAKE),
    but(
        exact(Make, One(Xfs), "mkfs, XFS", 0.96),
        "below 1 is the article's own spread, and no model says it; today's mkfs.xfs flushes twice",
    ),
    among(Make, Btrfs, "mkfs, btrfs", MAKE),
    among(Make, Jfs, "mkfs, JFS", MAKE),
    but(
        exact(Make, One(Reiser), "mkfs, ReiserFS", 7.94),
        "single blocks of bitmaps, 128 MiB apart: four turns and a seek over a wait and a seek; \
         with rmw = per-sector, three turns, it would be two thirds of this",
    ),
    but(
        exact(Make, Mean, "mkfs, mean of the six", 2.79),
        "today's btrfs writes its trees twice and flushes 14 times; ReiserFS as above",
    ),
    among(Unpack, Ext3, "untar, ext3", UNPACK),
    but(
        exact(Unpack, One(Ext4), "untar, ext4", 1.04),
        "of a fifth of the tree: 11 flushes and the journal weigh more than in the article's",
    ),
    but(
        exact(Unpack, One(Xfs), "untar, XFS", 1.82),
        "XFS of 2.6.32 wrote its log more often: since 2.6.39 it gathers changes first",
    ),
    among(Unpack, Btrfs, "untar, btrfs", UNPACK),
    among(Unpack, Jfs, "untar, JFS", UNPACK),
    exact(Unpack, One(Reiser), "untar, ReiserFS", 25.53),
    but(
        exact(Unpack, Mean, "untar, mean of the six", 10.9),
        "ext3, btrfs and JFS, of which no own values are published, must be 37 together, and are a \
         third of that here",
    ),
    among(Write, Ext3, "large write, ext3", WRITE),
    among(Write, Ext4, "large write, ext4", WRITE),
    exact(Write, One(Xfs), "large write, XFS", 1.10),
    among(Write, Btrfs, "large write, btrfs", WRITE),
    exact(Write, One(Jfs), "large write, JFS", 1.10),
    but(
        exact(Write, One(Reiser), "large write, ReiserFS", 6.02),
        "a few blocks among the data cost four turns, or wait in the cache at the end and are not \
         timed: it is 4 to 15 by where the partition starts",
    ),
    but(exact(Write, Mean, "large write, mean of the six", 2.10), "ReiserFS as above"),
    exact(Write, MeanBut(Reiser), "large write, mean but ReiserFS", 1.31),
    among(Read, Ext3, "read, ext3", READ),
    among(Read, Ext4, "read, ext4", READ),
    among(Read, Xfs, "read, XFS", READ),
    but(
        among(Read, Btrfs, "read, btrfs", READ),
        "the times of access are written as copies of its trees: 130 scattered writes and two \
         flushes beside a fifth of the article's reads",
    ),
    among(Read, Jfs, "read, JFS", READ),
    among(Read, Reiser, "read, ReiserFS", READ),
    but(
        exact(Read, Least, "read, least of the six", 0.95),
        "below 1 is the article's own spread, and no model says it",
    ),
    but(exact(Read, Most, "read, most of the six", 1.25), "that of btrfs"),
    among(Delete, Ext3, "delete, ext3", DELETE),
    among(Delete, Ext4, "delete, ext4", DELETE),
    but(
        exact(Delete, One(Xfs), "delete, XFS", 1.04),
        "of a fifth of the tree: 12 flushes weigh more than in the article's",
    ),
    among(Delete, Btrfs, "delete, btrfs", DELETE),
    but(
        exact(Delete, One(Jfs), "delete, JFS", 4.78),
        "its 2125 small writes fit into the cache, and JFS waits for no flush: they are not timed; \
         with a write cache of 2 MiB they are, and it is 4.1",
    ),
    among(Delete, Reiser, "delete, ReiserFS", DELETE),
    but(exact(Delete, Mean, "delete, mean of the six", 1.97), "JFS as above"),
    exact(Delete, MeanBut(Jfs), "delete, mean but JFS", 1.40),
];

/// All of its lines.
pub(super) fn compared() -> Vec<PublishedNumber> {
    let ratios = SuiteStep::ALL.map(|step| System::ALL.map(|system| ratio(system, step)));
    LINES.iter().map(|line| line.compared(&ratios[line.step as usize])).collect()
}

impl RatioLine {
    fn compared(&self, ratios: &[f64; 6]) -> PublishedNumber {
        PublishedNumber { model: self.of.value(ratios), profile: DRIVE, ..self.published }
    }
}

impl Of {
    /// Its value, where the file systems have `ratios`.
    fn value(self, ratios: &[f64; 6]) -> f64 {
        let [first, rest @ ..] = ratios;
        match self {
            One(system) => ratios[system as usize],
            Mean => ratios.iter().sum::<f64>() / 6.0,
            MeanBut(system) => (ratios.iter().sum::<f64>() - ratios[system as usize]) / 5.0,
            Least => rest.iter().copied().fold(*first, f64::min),
            Most => rest.iter().copied().fold(*first, f64::max),
        }
    }
}

/// By how many times `step` takes longer misaligned: in the mean over places of the partition that
/// begin at other angles of the platter: the article does not say where its partition began.
fn ratio(system: System, step: SuiteStep) -> f64 {
    let trace = entries(system, step);
    let mean_ns = |start_bytes: u64| {
        let starts = (0..ANGLES).map(|angle| start_bytes + angle * ANGLE_BYTES);
        starts.map(|start_bytes| real(took_ns(&trace, start_bytes))).sum::<f64>()
    };
    mean_ns(MISALIGNED_BYTES) / mean_ns(ALIGNED_BYTES)
}

/// Returns how long the step of `trace` takes in a partition at `start_bytes`, until its last
/// operation has ended. What is in the drive's cache then is not waited for, as no unmount does.
fn took_ns(trace: &[TraceEntry], start_bytes: u64) -> u64 {
    let drive = profile::called(DRIVE).expect("a built-in drive");
    let mut model = drive.model().expect("a test makes every built-in drive");
    let entries = || trace.iter().copied();
    let layout = TraceLayout::of(entries());
    let mut source = TraceReplay::new(entries(), &layout, start_bytes, SECTOR_BYTES);
    let mut jobs = [DriveJob { source: &mut source, lanes: LANES, has_barriers: true }];
    let limits =
        RunLimits { operations: u64::MAX, time_ns: u64::MAX, turnaround_ns: TURNAROUND_NS };
    let mut seen = |one: EndedOperation| {
        assert!(one.fault.is_none(), "the recorded traces fit the drive");
    };
    run(&mut *model, &mut jobs, limits, &mut seen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_system_has_a_line_for_each_step() {
        for step in SuiteStep::ALL {
            for system in System::ALL {
                let of = |line: &&RatioLine| {
                    line.step == step && matches!(line.of, One(own) if own == system)
                };
                assert_eq!(LINES.iter().filter(of).count(), 1, "{system:?} {step:?}");
            }
        }
    }

    #[test]
    fn means_and_extremes_of_six_ratios() {
        let ratios = [1.0, 2.0, 3.0, 4.0, 5.0, 9.0];
        assert_eq!(Mean.value(&ratios), 4.0);
        assert_eq!(MeanBut(Reiser).value(&ratios), 3.0);
        assert_eq!((Least.value(&ratios), Most.value(&ratios)), (1.0, 9.0));
        assert_eq!(One(Btrfs).value(&ratios), 4.0);
    }
}
