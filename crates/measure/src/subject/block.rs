//! One observation under way: what is in flight, what is left, and from when to when.

use device::{Action, Completion, Counters, Operation, Queue, SyncKind};

use super::fault::{is_sync, is_whole, wrong};
use super::{Fault, Subject, Work};

/// What is in flight. All memory is taken at the start.
#[derive(Debug)]
pub(super) struct Flight {
    /// The operation of each slot, which means something while the slot is taken.
    operations: Vec<Operation>,
    /// Whether each slot has an operation.
    taken: Vec<bool>,
    /// The slots that have none.
    free: Vec<u16>,
    completions: Vec<Completion>,
}

impl Flight {
    pub(super) fn new(depth: u16) -> Flight {
        let nothing = Completion { slot: 0, submitted_ns: 0, completed_ns: 0, result: Ok(0) };
        Flight {
            operations: vec![NONE; usize::from(depth)],
            taken: vec![false; usize::from(depth)],
            free: (0..depth).rev().collect(),
            completions: vec![nothing; usize::from(depth)],
        }
    }

    fn is_empty(&self) -> bool {
        self.free.len() == self.operations.len()
    }

    /// Frees a slot.
    fn take(&mut self, slot: u16) {
        if let Some(taken) = self.taken.get_mut(usize::from(slot)).filter(|taken| **taken) {
            *taken = false;
            self.free.push(slot);
        }
    }

    /// Forgets all that is in flight.
    fn clear(&mut self) {
        for slot in 0..u16::try_from(self.taken.len()).unwrap_or(u16::MAX) {
            self.take(slot);
        }
    }
}

const NONE: Operation =
    Operation { action: Action::Read, file: 0, slot: 0, offset_bytes: 0, length_bytes: 0 };

#[cold]
fn unasked(slot: u16) -> Fault {
    Fault::Stopped(format!("the queue ended slot {slot}, which had nothing to do"))
}

/// One observation under way.
#[derive(Debug)]
pub(super) struct Block {
    arm: usize,
    /// The sync, and for how many writes there is one.
    syncs: Option<(SyncKind, u32)>,
    /// Operations that are to be handed over.
    left: u32,
    /// Operations in flight, syncs not counted.
    flying: u32,
    /// Syncs in flight.
    syncing: u32,
    /// Operations that ended.
    pub(super) ended: u32,
    /// Writes that ended and that no sync was pushed for.
    unsynced: u32,
    first_ns: u64,
    last_ns: u64,
    /// When the operation was submitted whose latency ends with its sync's.
    held_ns: Option<u64>,
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
    fn due(&mut self) -> Option<SyncKind> {
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
    fn is_over(&self) -> bool {
        self.left | self.flying | self.unsynced | self.syncing == 0
    }
}

impl<Q: Queue, C: Counters> Subject<Q, C> {
    /// Runs a block to its end.
    #[inline(always)]
    pub(super) fn run(&mut self, block: &mut Block) -> Result<(), Fault> {
        // Where the last operation went, for a sync of its range alone.
        let mut last_bytes = 0;
        while !block.is_over() {
            self.fill(block, &mut last_bytes);
            self.queue.submit()?;
            let ended = self.reap()?;
            for place in 0..ended {
                self.end(place, block)?;
            }
        }
        Ok(())
    }

    /// Pushes what is due as far as there are slots.
    fn fill(&mut self, block: &mut Block, last_bytes: &mut u64) {
        while let Some(slot) = self.flight.free.pop() {
            let (action, offset_bytes, length_bytes) = if let Some(kind) = block.due() {
                let is_alone = kind == SyncKind::Range && self.work.operations() == 1;
                let range =
                    if is_alone { (*last_bytes, self.work.operation_bytes) } else { (0, 0) };
                (Action::Sync(kind), range.0, range.1)
            } else if block.left > 0 {
                block.left -= 1;
                block.flying += 1;
                *last_bytes = self.slots.next(block.arm);
                (self.work.action, *last_bytes, self.work.operation_bytes)
            } else {
                self.flight.free.push(slot);
                return;
            };
            if matches!(action, Action::Write { .. }) {
                self.written_bytes += u64::from(length_bytes);
            }
            let operation = Operation { action, file: 0, slot, offset_bytes, length_bytes };
            self.flight.operations[usize::from(slot)] = operation;
            self.flight.taken[usize::from(slot)] = true;
            self.queue.push(operation);
        }
    }

    /// Waits for at least one operation to end; how many did.
    #[inline(always)]
    fn reap(&mut self) -> Result<usize, Fault> {
        match self.queue.reap(&mut self.flight.completions, 1)? {
            0 => Err(Fault::Stopped(
                "the queue gave nothing back while something was in flight".into(),
            )),
            ended => Ok(ended),
        }
    }

    /// Takes what ended into account: the completion at `place`.
    #[inline]
    fn end(&mut self, place: usize, block: &mut Block) -> Result<(), Fault> {
        let completion = &self.flight.completions[place];
        let slot = completion.slot;
        let Some(operation) = self.flight.operations.get(usize::from(slot)) else {
            return Err(unasked(slot));
        };
        let taken = &mut self.flight.taken[usize::from(slot)];
        if !*taken {
            return Err(unasked(slot));
        }
        *taken = false;
        self.flight.free.push(slot);
        block.first_ns = block.first_ns.min(completion.submitted_ns);
        block.last_ns = block.last_ns.max(completion.completed_ns);
        if !is_whole(operation, completion) {
            return Err(wrong(operation, completion));
        }
        let seen = &mut self.seen[block.arm];
        if is_sync(operation) {
            block.syncing -= 1;
            seen.syncs.record(completion.latency_ns());
            if let Some(submitted_ns) = block.held_ns.take() {
                seen.latencies.record(completion.completed_ns.saturating_sub(submitted_ns));
            }
            return Ok(());
        }
        block.flying -= 1;
        block.ended += 1;
        let Some((_, every)) = block.syncs else {
            seen.latencies.record(completion.latency_ns());
            return Ok(());
        };
        block.unsynced += 1;
        if self.work.depth == 1 && block.unsynced == every {
            block.held_ns = Some(completion.submitted_ns);
        } else {
            seen.latencies.record(completion.latency_ns());
        }
        Ok(())
    }

    /// Brings the queue to rest behind a fault: waits for what is in flight, or forgets it where
    /// the queue gives nothing back.
    pub(super) fn settle(&mut self, result: &Result<(), Fault>) {
        while matches!(result, Err(Fault::Void(_))) && !self.flight.is_empty() {
            let Ok(ended) = self.reap() else { break };
            for place in 0..ended {
                self.flight.take(self.flight.completions[place].slot);
            }
        }
        self.flight.clear();
    }
}
