//! One observation under way: what is in flight, what is left, and from when to when.

use device::{Action, Completion, Operation, SyncKind};

use super::fault::Fault;
use super::work::Work;

/// Operations in flight. All memory is taken at the start.
#[derive(Debug)]
pub(super) struct InFlight {
    /// The operation of each slot, which means something while the slot is taken.
    pub(super) operations: Vec<Operation>,
    /// True if the slot has an operation.
    pub(super) taken: Vec<bool>,
    /// The slots that have none.
    pub(super) free: Vec<u16>,
    pub(super) completions: Vec<Completion>,
}

impl InFlight {
    pub(super) fn new(depth: u16) -> InFlight {
        let nothing = Completion { slot: 0, submitted_ns: 0, completed_ns: 0, result: Ok(0) };
        InFlight {
            operations: vec![NONE; usize::from(depth)],
            taken: vec![false; usize::from(depth)],
            free: (0..depth).rev().collect(),
            completions: vec![nothing; usize::from(depth)],
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.free.len() == self.operations.len()
    }

    /// Frees a slot.
    pub(super) fn take(&mut self, slot: u16) {
        if let Some(taken) = self.taken.get_mut(usize::from(slot)).filter(|taken| **taken) {
            *taken = false;
            self.free.push(slot);
        }
    }

    /// Forgets all that is in flight.
    pub(super) fn clear(&mut self) {
        for slot in 0..u16::try_from(self.taken.len()).unwrap_or(u16::MAX) {
            self.take(slot);
        }
    }
}

const NONE: Operation =
    Operation { action: Action::Read, file: 0, slot: 0, offset_bytes: 0, length_bytes: 0 };

#[cold]
pub(super) fn unasked(slot: u16) -> Fault {
    Fault::Stopped(format!("the queue ended slot {slot}, which had nothing to do"))
}

/// One observation under way.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) arm: usize,
    /// The sync, and for how many writes there is one.
    pub(super) syncs: Option<(SyncKind, u32)>,
    /// Operations that are to be handed over.
    pub(super) left: u32,
    /// Operations in flight, syncs not counted.
    pub(super) flying: u32,
    /// Syncs in flight.
    pub(super) syncing: u32,
    /// Operations that ended.
    pub(super) ended: u32,
    /// Writes that ended and that no sync was pushed for.
    pub(super) unsynced: u32,
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
    /// When the operation was submitted whose latency ends with its sync's.
    pub(super) held_ns: Option<u64>,
}

impl Block {
    pub(super) fn new(arm: usize, work: &Work) -> Block {
        Block {
            arm,
            syncs: work.syncs(),
            left: work.operations(),
            flying: 0,
            syncing: 0,
            ended: 0,
            unsynced: 0,
            first_ns: u64::MAX,
            last_ns: 0,
            held_ns: None,
        }
    }

    /// From the first submission to the last completion.
    pub(super) fn time_ns(&self) -> u64 {
        self.last_ns.saturating_sub(self.first_ns)
    }

    /// The sync that is due: for each full number of writes, and for the rest once none is left.
    #[inline]
    pub(super) fn due(&mut self) -> Option<SyncKind> {
        let (kind, every) = self.syncs?;
        if self.unsynced >= every {
            self.unsynced -= every;
        } else if self.left == 0 && self.flying == 0 && self.unsynced > 0 {
            self.unsynced = 0;
        } else {
            return None;
        }
        self.syncing += 1;
        Some(kind)
    }

    /// Returns whether nothing is left to do, to sync or to wait for.
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        self.left | self.flying | self.unsynced | self.syncing == 0
    }
}
