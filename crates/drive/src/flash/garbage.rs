//! Additional work of a write by garbage collection, as the host's pattern makes it.
//!
//! Data written in order fills blocks that become empty by themselves. Data written at random
//! shares the spare flash, and costs what [`amplification`] says for its share. The policy that
//! chooses the block to collect decides the shares: [`Victim`]. Data that is not written again lies
//! in full blocks that nobody collects, and takes no share. The drive is in the steady state of its
//! pattern, once that is known.

use super::FlashPlan;
use super::amplification::amplification;
use super::pattern::Pattern;
use super::plan::Victim;
use super::unmapped::Unmapped;
use units::number::real;

/// A fraction's unit: 2^32.
const ONE: u64 = 1 << 32;
/// Number of pieces from which the zones that they are in are known.
const KNOWN_PIECES: u64 = 512;

/// The account of what is in use and what is owed to it.
#[derive(Clone, Debug)]
pub(super) struct Garbage {
    flash_bytes: u64,
    capacity_bytes: u64,
    /// Bytes that are erased as one, on all dies.
    erase_bytes: u64,
    unit_bytes: u64,
    victim: Victim,
    /// Programs that need no garbage to be collected first.
    erased: u64,
    pub(super) unmapped: Unmapped,
    pattern: Pattern,
    /// Programs beyond each program's own, as a fraction of [`ONE`].
    extra: u64,
    /// For how many bytes in use that holds.
    extra_for: u64,
    /// Work that was not yet a whole program.
    owed: u64,
}

impl Garbage {
    /// That of a drive which uses all addresses but those `unmapped`.
    pub(super) fn new(plan: &FlashPlan, unmapped: Unmapped) -> Garbage {
        let blocks = u64::from(plan.pages_per_block).saturating_mul(plan.dies.into());
        let erase_bytes = plan.program_bytes().saturating_mul(blocks);
        let mut garbage = Garbage {
            flash_bytes: plan.capacity_bytes + plan.spare_bytes - plan.kept_back_bytes,
            capacity_bytes: plan.capacity_bytes,
            erase_bytes,
            unit_bytes: plan.unit_bytes,
            victim: plan.victim,
            erased: plan.erased_bytes / plan.program_bytes(),
            unmapped,
            pattern: Pattern::new(plan.capacity_bytes, erase_bytes),
            extra: 0,
            extra_for: 0,
            owed: 0,
        };
        garbage.look();
        garbage
    }

    fn used_bytes(&self) -> u64 {
        self.capacity_bytes - self.unmapped.bytes()
    }

    /// The host writes `start..end`.
    pub(super) fn note(&mut self, start: u64, end: u64) {
        let is_due = self.pattern.note(start, end);
        if is_due || self.used_bytes().abs_diff(self.extra_for) > self.flash_bytes >> 10 {
            self.look();
        }
    }

    /// Returns how many programs move valid pages so that `programs` can be done.
    pub(super) fn moved(&mut self, programs: u64) -> u64 {
        let erased = self.erased.min(programs);
        self.erased -= erased;
        let owed = u128::from(self.owed) + u128::from(self.extra) * u128::from(programs - erased);
        self.owed = u64::try_from(owed % u128::from(ONE)).unwrap_or(0);
        u64::try_from(owed / u128::from(ONE)).unwrap_or(u64::MAX)
    }

    /// Learns what a program costs from the pattern.
    fn look(&mut self) {
        self.extra_for = self.used_bytes();
        let extra = (self.amplification() - 1.0) * real(ONE);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is from 0 to a hundred times 2^32"
        )]
        let extra = extra as u64;
        self.extra = extra;
    }

    /// Programs for each of the host's.
    fn amplification(&self) -> f64 {
        let used = real(self.used_bytes());
        let spare = real(self.flash_bytes - self.used_bytes());
        let pattern = &self.pattern;
        let random_bytes =
            pattern.zones.iter().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
        let piece = random_bytes.checked_div(pattern.pieces).unwrap_or(0).max(self.unit_bytes);
        let pieces = real(self.erase_bytes) / real(piece);
        if used <= 0.0 {
            return 1.0;
        }
        let random = match pattern.pieces < KNOWN_PIECES {
            true => amplification(1.0 + spare / used, pieces),
            false => self.of_zones(used, spare, pieces),
        };
        let ordered = real(pattern.ordered_bytes);
        if ordered <= 0.0 {
            return random;
        }
        (ordered + real(random_bytes) * random) / (ordered + real(random_bytes))
    }

    /// Programs for each that is written at random: the spare is shared by the zones that are
    /// written.
    fn of_zones(&self, used: f64, spare: f64, pieces: f64) -> f64 {
        let zones = &self.pattern.zones;
        let mean = zones.iter().map(|bytes| bytes / zones.len() as u64).sum::<u64>();
        // One that others' edges touch, or that was written once, is not among them.
        let is_written = |bytes: &&u64| **bytes > mean / 16;
        let count = zones.iter().filter(is_written).count();
        let zone_bytes = real(self.pattern.zone_bytes()).min(used / real(count as u64));
        let part = |bytes: u64| match self.victim {
            Victim::Greedy => 1.0,
            Victim::CostBenefit => real(bytes).sqrt(),
        };
        let parts: f64 = zones.iter().filter(is_written).map(|bytes| part(*bytes)).sum();
        let written: f64 = zones.iter().filter(is_written).map(|bytes| real(*bytes)).sum();
        let cost = |bytes: u64| {
            let ratio = 1.0 + spare * part(bytes) / parts / zone_bytes;
            real(bytes) / written * amplification(ratio, pieces)
        };
        zones.iter().filter(is_written).map(|bytes| cost(*bytes)).sum()
    }
}
