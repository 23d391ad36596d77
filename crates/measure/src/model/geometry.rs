//! What a drive of the probe's models is: its granule, what holds the bytes, the array they lie on,
//! and what stands above it.
//!
//! What a write costs, exactly. Let `a` be the alignment, `o` its origin, `g` the size. A write
//! from `s` to `e` has a part at its head where `s` is not `o` modulo `a`, and one at its tail
//! where its length, counted from the boundary of `a` at or behind `s`, is not a multiple of `g`.
//! Where `g` is `a` these are the sectors that are written in part; where it is more, a whole `g`
//! at any boundary of `a` costs nothing extra. Each part is one read-modify-write. On flash it
//! takes a share of the plain time; on a platter turns, by [`Policy`].

use units::stripe::Rotation;

use super::Temper;

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

/// What stands above the drive and delays what passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Above {
    /// Nothing.
    Nothing,
    /// Encryption as dm-crypt's, done before a write and behind a read.
    Crypt {
        /// What each operation takes, in nanoseconds.
        each_ns: u64,
        /// And what each KiB of it takes.
        kib_ns: u64,
    },
    /// A bucket of tokens, as a cloud's or that of blk-throttle: each started `unit_bytes` of an
    /// operation take one.
    Throttle {
        /// Number of come back in a second.
        per_second: u64,
        /// How many there are at first, and at most.
        burst: u64,
        /// What one lets through, in bytes.
        unit_bytes: u64,
        /// What has to wait goes on at a multiple of so many nanoseconds; 1 for at once.
        tick_ns: u64,
    },
    /// What looks for operations every so many nanoseconds.
    Polled {
        /// How many.
        tick_ns: u64,
    },
}

/// What a drive is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Place where writes must start, in bytes.
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
    /// How parity goes round the members, one of each row; `None` without parity.
    pub parity: Option<Rotation>,
    /// What stands above it.
    pub above: Above,
    /// How it goes.
    pub temper: Temper,
}

impl Geometry {
    /// Returns how many parts of granules a write covers: see the head of this file.
    #[must_use]
    pub fn parts(&self, offset_bytes: u64, length_bytes: u64) -> u64 {
        let behind = (offset_bytes + self.alignment_bytes - self.origin_bytes)
            .rem_euclid(self.alignment_bytes);
        let head = (self.alignment_bytes - behind).rem_euclid(self.alignment_bytes);
        let tail = length_bytes.saturating_sub(head).rem_euclid(self.size_bytes);
        u64::from(head > 0) + u64::from(tail > 0 && length_bytes > head)
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
            parity: None,
            above: Above::Nothing,
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
