//! A search for an array: its queue, what it may use, and what was compared so far.

use device::Queue;
use units::random::Random;

use super::super::ProbedQueue;
use super::super::answer::{ArmComparison, PanelKind, Unidentified};
use super::super::operations::Operations;
use super::super::panel::{Pairing, Panel, PanelResult};
use super::super::residue_places::{Comb, Places};
use super::super::slower_threshold::Reading;
use crate::Fault;
use units::number::wide;

/// The reads of a block for each in flight.
const ROUNDS: u32 = 2;
/// Half the length of an operation.
const HALF_BYTES: u64 = 4096;
/// The buffer that the queue must have for each slot.
pub const BUFFER_BYTES: u32 = 8192;
/// The places that an arm needs, so that no cache holds them all.
const TEETH_LEAST: u64 = 4;
/// Facts about the drive before its reads are timed.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriveFacts {
    /// Place where its writes must start; 0 where that is not known.
    pub granule_bytes: u64,
    /// True if it has a platter.
    pub is_turning: bool,
}

pub(super) type Refused = (Unidentified, String);

pub(super) fn refused<T>(why: Unidentified, reason: impl Into<String>) -> Result<T, Refused> {
    Err((why, reason.into()))
}

pub(super) struct Search<'a, 'b, 'c, Q: Queue> {
    pub(super) probed: &'a mut ProbedQueue<'b, 'c, Q>,
    pub(super) half_bytes: u64,
    pub(super) granule_bytes: u64,
    pub(super) is_turning: bool,
    pub(super) compared: Vec<ArmComparison>,
    pub(super) boundaries: Vec<(u64, Reading)>,
    /// Number of times the number of members was asked again.
    pub(super) rounds: u64,
}

impl<'a, 'b, 'c, Q: Queue> Search<'a, 'b, 'c, Q> {
    /// A search that has compared nothing yet.
    pub(super) fn new(
        probed: &'a mut ProbedQueue<'b, 'c, Q>,
        known: DriveFacts,
    ) -> Search<'a, 'b, 'c, Q> {
        let DriveFacts { granule_bytes, is_turning } = known;
        Search {
            probed,
            half_bytes: HALF_BYTES,
            granule_bytes,
            is_turning,
            compared: Vec::new(),
            boundaries: Vec::new(),
            rounds: 0,
        }
    }

    /// Compares arms of reads, with so many percent of what may still be used.
    pub(super) fn panel(
        &mut self,
        kind: PanelKind,
        arms: &[(String, Comb)],
        pairings: Vec<Pairing>,
        percent: u64,
    ) -> Result<Result<PanelResult, Refused>, Fault> {
        let places: Vec<Places> =
            arms.iter().map(|(_, comb)| Places::new(self.probed.ask.runs, *comb)).collect();
        if places.iter().any(|places| places.teeth() < TEETH_LEAST) {
            let reason = "there is no room for reads across boundaries up to 1 MiB";
            return Ok(refused(Unidentified::NotTried, reason));
        }
        let depth = self.probed.queue.depth();
        let part = match kind {
            PanelKind::Chunk => 70,
            PanelKind::Shared => 71,
            _ => 72 + self.rounds,
        };
        let seed = self.probed.ask.seed(part);
        let panel = Panel {
            kind,
            arms: arms.iter().map(|(name, _)| name.clone()).collect(),
            pairings,
            alpha: self.probed.ask.share(),
            seed,
        };
        let (mut operations, mut random) = (Operations::new(depth), Random::new(seed ^ 1));
        let length_bytes = u32::try_from(2 * self.half_bytes).unwrap_or(u32::MAX);
        let count = u32::from(depth) * ROUNDS;
        let time = |queue: &mut Q, arm: usize| {
            operations.reads(queue, count, length_bytes, &mut || places[arm].draw(&mut random))
        };
        let block = (u64::from(count) * wide(arms.len()), 0);
        let seen = self.probed.run(&panel, percent, block, time)?;
        self.compared.extend(seen.compared.iter().cloned());
        Ok(match seen.void.clone() {
            Some(reason) => refused(Unidentified::Contradiction, reason),
            None => Ok(seen),
        })
    }
}
