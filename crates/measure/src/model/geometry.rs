//! A drive with a granule, or an array of some, or a platter: a [`Queue`] in simulated time, for
//! the probe.
//!
//! What a write costs, exactly. Let `a` be the alignment, `o` its origin, `g` the size. A write
//! from `s` to `e` has a part at its head where `s` is not `o` modulo `a`, and one at its tail
//! where its length, counted from the boundary of `a` at or behind `s`, is no multiple of `g`.
//! Where `g` is `a` these are the sectors that are written in part; where it is more, a whole `g`
//! at any boundary of `a` costs nothing extra. Each part is one read-modify-write. On flash it
//! takes a share of the plain time; on a platter turns, by [`Policy`].

use device::{Action, Completion, Operation, Queue, QueueError};
use units::random::Random;

use super::{Pace, Temper};
use crate::number::{real, whole};

/// What holds the bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Medium {
    /// Flash: each part takes so many times the plain time more.
    Flash {
        /// How many.
        part: f64,
    },
    /// A platter, with its turn in nanoseconds.
    Platter {
        /// How long a turn takes.
        turn_ns: u64,
        /// How it reads before it writes.
        policy: Policy,
    },
    /// A cache that answers for all that is behind it, in so many times the plain time.
    Cache {
        /// How many.
        times: f64,
    },
}

/// How firmware writes sectors of which it gets a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Policy {
    /// It need not: a buffer that does not forget takes them.
    Buffered,
    /// All are read in one turn and written in the next.
    Batched,
    /// One behind the other, and the next is read while the last is written.
    PerSector,
    /// One behind the other.
    Serial,
}

impl Policy {
    /// The turns that so many parts take beyond the first.
    #[must_use]
    pub fn turns(self, parts: u64) -> u64 {
        match (self, parts) {
            (Policy::Buffered, _) | (_, 0) => 0,
            (Policy::Batched, _) => 1,
            (Policy::PerSector, parts) => parts,
            (Policy::Serial, parts) => 2 * parts - 1,
        }
    }
}

/// What a drive is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Where writes must start, in bytes.
    pub alignment_bytes: u64,
    /// The first such place.
    pub origin_bytes: u64,
    /// Of what their lengths must be multiples.
    pub size_bytes: u64,
    /// What holds the bytes.
    pub medium: Medium,
    /// The chunk in bytes, and how many members there are; one for no array.
    pub chunk_bytes: u64,
    /// See `chunk_bytes`.
    pub members: u64,
    /// How it goes.
    pub temper: Temper,
}

impl Geometry {
    /// How many parts of granules a write covers: see the head of this file.
    #[must_use]
    pub fn parts(&self, offset_bytes: u64, length_bytes: u64) -> u64 {
        let behind = (offset_bytes + self.alignment_bytes - self.origin_bytes)
            .rem_euclid(self.alignment_bytes);
        let head = (self.alignment_bytes - behind).rem_euclid(self.alignment_bytes);
        let tail = length_bytes.saturating_sub(head).rem_euclid(self.size_bytes);
        u64::from(head > 0) + u64::from(tail > 0 && length_bytes > head)
    }
}

/// The bytes of a track of a platter: where a place is on the turn.
const TRACK_BYTES: u64 = 1_760_000;
/// What a transfer takes, as a share of the plain time for each KiB.
const KIB_SHARE: f64 = 0.004;
/// How long a controller takes before it looks for a place, in nanoseconds.
const TURNAROUND_NS: u64 = 150_000;
/// One write of a platter in so many takes another turn.
const MISSES_ONE_IN: u64 = 40;
/// How far the clock goes on when it is asked, in nanoseconds.
const ASKED_NS: u64 = 2_000;

/// A drive of known geometry.
#[derive(Debug)]
pub struct Probed {
    geometry: Geometry,
    depth: u16,
    pace: Pace,
    random: Random,
    now_ns: u64,
    /// When each member is free again.
    free_ns: Vec<u64>,
    pushed: Vec<Operation>,
    flying: Vec<Completion>,
    buffer: Vec<u8>,
}

impl Probed {
    /// A drive that did nothing yet; addresses are offsets.
    #[must_use]
    pub fn new(geometry: Geometry, depth: u16, seed: u64) -> Probed {
        let members = usize::try_from(geometry.members).expect("few");
        Probed {
            geometry,
            depth,
            pace: Pace::new(geometry.temper, seed),
            random: Random::new(seed ^ 0x5eed),
            now_ns: 0,
            free_ns: vec![0; members],
            pushed: Vec::new(),
            flying: Vec::new(),
            buffer: vec![0; 1 << 17],
        }
    }

    /// When an operation ends that starts now.
    fn end_ns(&mut self, operation: &Operation) -> u64 {
        let Geometry { chunk_bytes, members, .. } = self.geometry;
        let end = operation.offset_bytes + u64::from(operation.length_bytes);
        let (mut at, mut last_ns) = (operation.offset_bytes, self.now_ns);
        while at < end {
            let next = if members > 1 { (at / chunk_bytes + 1) * chunk_bytes } else { end };
            let length = end.min(next) - at;
            let member = usize::try_from((at / chunk_bytes) % members).expect("few");
            let is_write = matches!(operation.action, Action::Write { .. });
            let parts = if is_write { self.geometry.parts(at, length) } else { 0 };
            last_ns = last_ns.max(self.piece_ns(member, (at, length), parts));
            at += length;
        }
        last_ns
    }

    /// When a member has done a piece.
    fn piece_ns(&mut self, member: usize, (at, length): (u64, u64), parts: u64) -> u64 {
        let plain_ns = self.pace.next_ns(self.now_ns);
        let transfer = 1.0 + KIB_SHARE * real(length) / 1024.0;
        let took = |times: f64| whole((plain_ns * times).round()).max(1);
        // Flash does many things at once; the members of an array are said to do one.
        let start_ns = match self.geometry.members {
            1 => self.now_ns,
            _ => self.now_ns.max(self.free_ns[member]),
        };
        let end_ns = match self.geometry.medium {
            Medium::Cache { times } => start_ns + took(times * transfer),
            Medium::Flash { part } => start_ns + took(transfer + part * real(parts)),
            Medium::Platter { turn_ns, policy } => {
                let misses = u64::from(self.random.below(MISSES_ONE_IN) == 0);
                let turns = policy.turns(parts) + misses;
                let ready_ns = start_ns + TURNAROUND_NS;
                let place_ns = of_track(at % TRACK_BYTES, turn_ns);
                let wait_ns = (place_ns + turn_ns - ready_ns % turn_ns) % turn_ns;
                let jitter_ns = self.random.below(20_000);
                ready_ns + wait_ns + turns * turn_ns + of_track(length, turn_ns) + jitter_ns
            }
        };
        self.free_ns[member] = end_ns;
        end_ns
    }
}

/// For how long so many bytes of a track pass by.
fn of_track(bytes: u64, turn_ns: u64) -> u64 {
    bytes * turn_ns / TRACK_BYTES
}

impl Queue for Probed {
    fn depth(&self) -> u16 {
        self.depth
    }

    fn buffer(&mut self, _: u16) -> &mut [u8] {
        &mut self.buffer
    }

    fn push(&mut self, operation: Operation) {
        assert!(operation.slot < self.depth, "there is no such slot");
        self.pushed.push(operation);
    }

    fn submit(&mut self) -> Result<(), QueueError> {
        for operation in std::mem::take(&mut self.pushed) {
            let completion = Completion {
                slot: operation.slot,
                submitted_ns: self.now_ns,
                completed_ns: self.end_ns(&operation),
                result: Ok(operation.length_bytes),
            };
            self.flying.push(completion);
        }
        Ok(())
    }

    fn reap(&mut self, completions: &mut [Completion], least: usize) -> Result<usize, QueueError> {
        self.flying.sort_unstable_by_key(|flying| flying.completed_ns);
        let room = self.flying.len().min(completions.len());
        if let Some(last) = least.min(room).checked_sub(1) {
            self.now_ns = self.now_ns.max(self.flying[last].completed_ns);
        }
        let now_ns = self.now_ns;
        let ended = self.flying.partition_point(|flying| flying.completed_ns <= now_ns).min(room);
        for (completion, flying) in completions.iter_mut().zip(self.flying.drain(..ended)) {
            *completion = flying;
        }
        Ok(ended)
    }

    fn now_ns(&mut self) -> u64 {
        self.now_ns += ASKED_NS;
        self.now_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flash(alignment_bytes: u64, origin_bytes: u64, size_bytes: u64) -> Geometry {
        Geometry {
            alignment_bytes,
            origin_bytes,
            size_bytes,
            medium: Medium::Flash { part: 1.0 },
            chunk_bytes: 1 << 30,
            members: 1,
            temper: Temper::Steady,
        }
    }

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

    #[test]
    fn each_policy_takes_its_turns_for_two_parts() {
        let policies = [Policy::Buffered, Policy::Batched, Policy::PerSector, Policy::Serial];
        assert_eq!(policies.map(|policy| 1 + policy.turns(2)), [1, 2, 3, 4]);
        assert_eq!(policies.map(|policy| 1 + policy.turns(0)), [1; 4]);
    }
}
