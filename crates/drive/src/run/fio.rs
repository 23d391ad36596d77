//! fio's jobs as streams of commands.

use units::random::Random;
use workload::job::{self, Job};

use super::source::{AccessOrder, OperationStream, Region};

/// A clone of a job: its stream, and how many operations it has in flight.
#[derive(Clone, Debug)]
pub struct FioStream {
    /// The operations.
    pub stream: OperationStream,
    /// Number of operations it has in flight.
    pub lanes: u16,
    /// Operations a second, at least 1; `None`: as many as the drive allows.
    pub per_second: Option<u64>,
    /// Time after each operation, in nanoseconds.
    pub think_ns: u64,
}

/// Why a job cannot be simulated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FioFault {
    /// It needs more of the drive than there is.
    #[error("the job's region ends past the end of the drive, or is shorter than one operation")]
    Region,
    /// More operations in flight than can be simulated.
    #[error("{0} operations in flight are more than the 1024 that can be simulated")]
    Depth(u64),
    /// It reads through the page cache, which is not modeled.
    #[error("the job reads through the page cache, which is not modeled")]
    Buffered,
}

impl FioFault {
    /// Returns what to do about it, in a line: what to write in the job file.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            FioFault::Region => {
                "change offset, size or bs in the job file, or choose a larger drive"
            }
            FioFault::Depth(_) => "lower iodepth or numjobs in the job file",
            FioFault::Buffered => "set direct=1 in the job file",
        }
    }
}

/// The most operations in flight.
const DEPTH_MAX: u64 = 1024;

/// Returns the clones of `job` on `region`: each has a part of its own, as fio's have files of
/// their own. What stays in the page cache is sent to the drive as it is written.
///
/// # Errors
/// When it cannot be simulated.
pub fn streams(job: &Job, region: Region, seed: u64) -> Result<Vec<FioStream>, FioFault> {
    if job.total_depth() > DEPTH_MAX {
        return Err(FioFault::Depth(job.total_depth()));
    }
    if !job.direct && !job.writes() {
        return Err(FioFault::Buffered);
    }
    let offset = job.offset_bytes(region.length_bytes);
    let left = region.length_bytes.checked_sub(offset).ok_or(FioFault::Region)?;
    let clones = u64::from(job.numjobs.max(1));
    let asked = job.size.map(|size| size.of(region.length_bytes));
    let each = asked.unwrap_or(left / clones).min(left / clones);
    if each < job.operation_bytes {
        return Err(FioFault::Region);
    }
    // Clones begin where operations of the first could, so that all lie alike.
    let apart = (left / clones) / job.operation_bytes * job.operation_bytes;
    let clone = |number: u64| {
        let start_bytes = region.start_bytes + offset + number * apart;
        let own = Region { start_bytes, length_bytes: each };
        let stream = stream(job, own, seed ^ (number << 32));
        let Job { per_second, think_ns, .. } = *job;
        FioStream { stream, lanes: lanes(job), per_second, think_ns }
    };
    Ok((0..clones).map(clone).collect())
}

fn lanes(job: &Job) -> u16 {
    u16::try_from(job.depth.max(1)).unwrap_or(u16::MAX)
}

fn stream(job: &Job, region: Region, seed: u64) -> OperationStream {
    let every = job.fsync_every.or(job.fdatasync_every).map_or(0, std::num::NonZeroU32::get);
    OperationStream {
        order: match job.order {
            job::JobOrder::Sequential => AccessOrder::Sequential,
            job::JobOrder::Random => AccessOrder::Random {
                align_bytes: job.align_bytes.max(1),
                random: Random::new(seed),
            },
        },
        read_percent: match job.action {
            job::JobDirection::Read => 100,
            job::JobDirection::Write => 0,
            job::JobDirection::Mixed { read_percent } => read_percent,
        },
        fua: job.durability != job::Durability::None,
        flush_every: every,
        random: Random::new(seed ^ 1),
        ..OperationStream::writes(region, job.operation_bytes)
    }
}
