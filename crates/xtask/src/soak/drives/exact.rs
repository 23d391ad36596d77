//! Drives of which it is known exactly what a write costs, at a pace that drifts, remembers,
//! stumbles and may switch; and arrays and network volumes made of them.
//!
//! Let `a` be the alignment, `o` its origin, `g` the size. A write from `s` to `e` has a part at
//! its head where `s` is not `o` modulo `a`, and one at its tail where its length, counted from the
//! boundary of `a` at or after `s`, is not a multiple of `g`. Where `g` is `a` these are the
//! sectors that are written in part; where it is more, a whole `g` at any boundary of `a` costs
//! nothing extra.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, PoisonError};

use drive::array::{Level, ParityWrite};
use drive::{
    Array, ArrayPlan, Cloud, CloudPlan, CommandKind, DriveCommand, DriveCompletion, DriveTally,
    Member, Model, Spread, VolumeLimits,
};
use testkit::latency_series::{Pace, whole};
use units::stripe::Rotation;

/// Plan of a drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub(super) alignment_bytes: u64,
    pub(super) origin_bytes: u64,
    pub(super) size_bytes: u64,
    /// Extra time of each part, in plain times.
    pub(super) part: f64,
    /// Time of encryption above it for each operation and each KiB, in nanoseconds.
    pub(super) crypt_ns: (u64, u64),
    /// It looks for operations every so many nanoseconds; 1 for at once.
    pub(super) tick_ns: u64,
    pub(super) shape: SoakedShape,
}

/// Flash without anything above it, with these starts, origin and lengths of writes.
pub(super) const fn flash(alignment_bytes: u64, origin_bytes: u64, size_bytes: u64) -> Exact {
    Exact {
        alignment_bytes,
        origin_bytes,
        size_bytes,
        part: 0.8,
        crypt_ns: (0, 0),
        tick_ns: 1,
        shape: SoakedShape::Alone,
    }
}

/// Arrays and volumes of such drives.
#[derive(Clone, Copy, Debug)]
pub(super) enum SoakedShape {
    Alone,
    Raid0 {
        members: u64,
        chunk_bytes: u64,
    },
    Raid5 {
        members: u64,
        chunk_bytes: u64,
        rotation: Rotation,
    },
    /// A bucket of tokens, each of which lets 16 KiB through.
    Throttled {
        per_second: u64,
        tokens: u64,
    },
}

/// Time of a transfer, as a share of the plain time for each KiB.
const KIB_SHARE: f64 = 0.004;

impl Exact {
    /// The drive, at time 0, whose pace `seed` decides.
    pub(super) fn model(self, seed: u64) -> anyhow::Result<Box<dyn Model>> {
        let (members, chunk_bytes, level) = match self.shape {
            SoakedShape::Alone => return Ok(Box::new(SoakedDrive::new(self, &pace(seed), None))),
            SoakedShape::Throttled { per_second, tokens } => {
                let limits = VolumeLimits {
                    baseline_per_second: per_second,
                    burst_per_second: 1_000_000_000,
                    credits: tokens,
                    counted_bytes: 16 << 10,
                    bytes_per_second: 1 << 40,
                };
                let (request_ns, response_ns, jitter_ns, spread) = (0, 0, 0, Spread::Uniform);
                let plan = CloudPlan { request_ns, response_ns, jitter_ns, spread, seed, limits };
                return Ok(Box::new(Cloud::new(plan, SoakedDrive::new(self, &pace(seed), None))?));
            }
            SoakedShape::Raid0 { members, chunk_bytes } => (members, chunk_bytes, Level::Raid0),
            SoakedShape::Raid5 { members, chunk_bytes, rotation } => {
                (members, chunk_bytes, Level::Raid5(rotation))
            }
        };
        let plan = ArrayPlan {
            level,
            members,
            chunk_bytes,
            turns: false,
            row_bytes: 4096,
            parity_write: ParityWrite::ReadModify,
            stripes: 256,
            hold_ns: 0,
            lost: 0,
            rebuild_bytes_per_second: 0,
        };
        let pace = pace(seed);
        let member = |_| Member { model: SoakedDrive::new(self, &pace, Some(0)), offset_bytes: 0 };
        Ok(Box::new(Array::new(plan, (0..members).map(member).collect())?))
    }

    /// Returns how many parts of granules a write covers.
    fn parts(&self, offset_bytes: u64, length_bytes: u64) -> u64 {
        let behind = (offset_bytes + self.alignment_bytes - self.origin_bytes)
            .rem_euclid(self.alignment_bytes);
        let head = (self.alignment_bytes - behind).rem_euclid(self.alignment_bytes);
        let tail = length_bytes.saturating_sub(head).rem_euclid(self.size_bytes);
        u64::from(head > 0) + u64::from(tail > 0 && length_bytes > head)
    }
}

/// The pace that `seed` decides; with every second one it switches.
fn pace(seed: u64) -> Arc<Mutex<Pace>> {
    Arc::new(Mutex::new(Pace::new(seed.is_multiple_of(2), seed)))
}

/// One drive at work.
#[derive(Debug)]
struct SoakedDrive {
    exact: Exact,
    /// The pace of the machine: that of all members.
    pace: Arc<Mutex<Pace>>,
    /// When it is free again, where it does one command after the other; flash does many at once,
    /// the members of an array are said to do one.
    free_ns: Option<u64>,
    /// When each command ends, and its name.
    endings: BinaryHeap<Reverse<(u64, u64)>>,
}

impl SoakedDrive {
    fn new(exact: Exact, pace: &Arc<Mutex<Pace>>, free_ns: Option<u64>) -> SoakedDrive {
        SoakedDrive { exact, pace: Arc::clone(pace), free_ns, endings: BinaryHeap::new() }
    }

    /// Returns when `command` ends.
    fn ends_ns(&mut self, command: &DriveCommand, at_ns: u64) -> u64 {
        let Exact { part, crypt_ns: (each_ns, kib_ns), tick_ns, .. } = self.exact;
        if matches!(command.action, CommandKind::Flush | CommandKind::Discard) {
            return at_ns;
        }
        let parts = match command.action {
            CommandKind::Write { .. } => {
                self.exact.parts(command.offset_bytes, command.length_bytes)
            }
            _ => 0,
        };
        let kib = command.length_bytes as f64 / 1024.0;
        let plain_ns = self.pace.lock().unwrap_or_else(PoisonError::into_inner).next_ns(at_ns);
        let took_ns = whole(plain_ns * (1.0 + KIB_SHARE * kib + part * parts as f64)).max(1);
        let start_ns = at_ns.max(self.free_ns.unwrap_or(0)).next_multiple_of(tick_ns);
        let end_ns = start_ns + took_ns + each_ns + kib_ns * command.length_bytes / 1024;
        self.free_ns = self.free_ns.map(|_| end_ns);
        end_ns
    }
}

impl Model for SoakedDrive {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advance(at_ns, done);
        let end_ns = self.ends_ns(&command, at_ns);
        self.endings.push(Reverse((end_ns, command.id)));
        self.advance(at_ns, done);
    }

    fn next_ns(&self) -> Option<u64> {
        self.endings.peek().map(|Reverse((end_ns, _))| *end_ns)
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        while self.next_ns().is_some_and(|next_ns| next_ns <= to_ns) {
            let ended = self.endings.pop();
            done.extend(ended.map(|Reverse((at_ns, id))| DriveCompletion {
                id,
                at_ns,
                outcome: Ok(()),
            }));
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

    fn has_write_cache(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_512e_drive_has_a_part_for_each_sector_that_is_not_whole() {
        let drive = flash(4096, 0, 4096);
        let parts = [(0, 4096, 0), (512, 4096, 2), (512, 512, 1), (0, 512, 1), (3584, 512, 1)];
        for (offset, length, expected) in parts {
            assert_eq!(drive.parts(offset, length), expected, "{offset} {length}");
        }
        let shifted = flash(4096, 3584, 4096);
        assert_eq!((shifted.parts(3584, 8192), shifted.parts(0, 8192)), (0, 2));
    }

    #[test]
    fn whole_sizes_cost_nothing_at_any_boundary_of_the_alignment() {
        let drive = flash(4096, 0, 16384);
        let parts = [
            (0, 16384, 0),
            (4096, 16384, 0),
            (12288, 32768, 0),
            (0, 4096, 1),
            (4096, 12288, 1),
            (512, 16384, 2),
        ];
        for (offset, length, expected) in parts {
            assert_eq!(drive.parts(offset, length), expected, "{offset} {length}");
        }
    }
}
