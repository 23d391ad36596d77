//! Origin of the bytes in each member's writes, for power cuts: kept only if somebody asks.
//! somebody asks.
//!
//! A member's write is made of pieces. Without parity a piece is a part of a write. With parity it
//! is a part of a round of a stripe: data and parity together bring the stripe up to what all
//! writes of its rounds say, in the order in which the rounds were.

use std::collections::BTreeMap;

use units::ByteRange;

use crate::power::{CutFault, HostLog, HostPromises};

/// A piece of a member's write: the member's bytes from the start of its data, and whose they are.
#[derive(Clone, Copy, Debug)]
struct WritePart {
    start: u64,
    end: u64,
    /// The write's number, or with parity the round's.
    origin: usize,
}

/// Commands that a member was sent.
#[derive(Clone, Debug)]
pub(super) struct MemberLedger {
    /// Its writes as it numbers them.
    pub(super) host: HostLog,
    writes: Vec<Vec<WritePart>>,
}

impl MemberLedger {
    /// Nothing yet, of a member that says `told`, for at most `commands_max` commands.
    pub(super) fn new(told: HostPromises, commands_max: usize) -> MemberLedger {
        MemberLedger { host: HostLog::new(told, commands_max), writes: Vec::new() }
    }

    /// A write of `range` of the member, which is made of `parts` (start, end, origin), is sent.
    pub(super) fn sent(
        &mut self,
        range: ByteRange,
        parts: impl Iterator<Item = (u64, u64, usize)>,
        fua: bool,
        at_ns: u64,
    ) {
        if self.host.write_sent(range, fua, at_ns).is_some() {
            let part = |(start, end, origin)| WritePart { start, end, origin };
            self.writes.push(parts.map(part).collect());
        }
    }

    /// Whose the byte `at` of the member's write `number` is.
    pub(super) fn origin(&self, number: usize, at: u64) -> Result<usize, CutFault> {
        let parts = self.writes.get(number).ok_or(CutFault::NoSuchWrite { number })?;
        let part = parts.iter().find(|part| (part.start..part.end).contains(&at));
        part.map(|part| part.origin).ok_or(CutFault::NoSuchWrite { number })
    }
}

/// The array's own part: how its writes are numbered, and the rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrayLedger {
    /// Number of writes sent.
    writes: usize,
    rounds: Vec<Vec<usize>>,
    /// The rounds of each stripe, in order.
    by_stripe: BTreeMap<u64, Vec<usize>>,
}

impl ArrayLedger {
    /// A write was sent; its number.
    pub(super) fn sent(&mut self) -> usize {
        self.writes += 1;
        self.writes - 1
    }

    /// A round of `stripe` with parts of `writes`, in the order in which they came, begins; its
    /// number.
    pub(super) fn round(&mut self, stripe: u64, writes: Vec<usize>) -> usize {
        self.rounds.push(writes);
        self.by_stripe.entry(stripe).or_default().push(self.rounds.len() - 1);
        self.rounds.len() - 1
    }

    /// The newest write to the byte `address` of `stripe` when `round` was over; `None` where no
    /// write was.
    pub(super) fn newest(
        &self,
        host: &HostLog,
        stripe: u64,
        round: usize,
        address: u64,
    ) -> Option<usize> {
        let rounds = self.by_stripe.get(&stripe)?.iter().rev().filter(|own| **own <= round);
        let mut writes = rounds.flat_map(|own| self.rounds[*own].iter().rev().copied());
        writes.find(|number| {
            let range = host.writes().get(*number).map(|write| write.range);
            range.is_some_and(|range| (range.start_bytes()..range.end_bytes()).contains(&address))
        })
    }
}
