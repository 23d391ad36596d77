//! Credits, as Amazon EBS's gp2 has them: they come in at the baseline rate, up to a most; each
//! operation takes one, and while there are any, operations may come at the burst rate. A large
//! operation counts as several. (Amazon EBS user guide, "General Purpose SSD volumes": 3 credits a
//! second and GiB, at least 100 and at most 16,000; 5.4 million at first and at most; 3000 a second
//! while they last. "I/O characteristics": 256 KiB count as one on SSD volumes.)

use super::plan::VolumeLimits;
use crate::server::{Server, transfer_ns};

/// One credit, counted in what comes in within a nanosecond at one a second.
const ONE: i128 = 1_000_000_000;

/// Credits, and when the next operation may begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    limits: VolumeLimits,
    /// Credits, each 10^9; below 0 where a large operation took more than there were.
    level: i128,
    at_ns: u64,
    pace: Server,
}

impl Bucket {
    /// A full bucket, at time 0.
    pub(super) fn new(limits: VolumeLimits) -> Bucket {
        let level = Bucket::most(limits);
        Bucket { limits, level, at_ns: 0, pace: Server::default() }
    }

    /// One credit at least: who waited long enough waits no longer.
    fn most(limits: VolumeLimits) -> i128 {
        i128::from(limits.credits.max(1)) * ONE
    }

    /// When an operation that counts as `count` may begin, not before `at_ns`.
    pub(super) fn take(&mut self, at_ns: u64, count: u64) -> u64 {
        let baseline = i128::from(self.limits.baseline_per_second);
        let mut begin_ns = self.pace.free_ns.max(at_ns);
        let came = i128::from(begin_ns.saturating_sub(self.at_ns)) * baseline;
        self.level = (self.level + came).min(Bucket::most(self.limits));
        let missing = (ONE - self.level).max(0);
        let wait_ns = (missing + baseline - 1) / baseline;
        begin_ns = begin_ns.saturating_add(u64::try_from(wait_ns).unwrap_or(u64::MAX));
        self.level += wait_ns * baseline - i128::from(count) * ONE;
        self.at_ns = begin_ns;
        self.pace.serve(begin_ns, transfer_ns(count, self.limits.burst_per_second));
        begin_ns
    }
}
