//! Work that each arm does: as options ask for it, as `measure` does it, as documents show it.

use device::{Action, Durability, SyncKind};
use report::bench::{self, Sync, Workload, WorkloadOrder};
use units::prefix::Size;

use crate::arguments::{Durable, SuiteSteps};

/// Work that each arm does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArmWork {
    pub(crate) read: bool,
    /// Sync that is called, and the number of writes after which it is called.
    pub(crate) sync: Option<(SyncKind, u32)>,
    /// Durability that each write asks for itself.
    pub(crate) durability: Durability,
    pub(crate) depth: u16,
    pub(crate) operation_bytes: u32,
    /// True if all arms take the next granules from one cursor; else places are drawn.
    pub(crate) in_order: bool,
    /// True if operations pass by the page cache.
    pub(crate) direct: bool,
}

impl ArmWork {
    /// Returns reads, or writes that are durable as `durable` says, at one depth. Synchronous
    /// writes at depth 1 go forward, as a log does.
    fn direct(read: bool, durable: Durable, depth: u16, operation_bytes: u32) -> ArmWork {
        let (sync, durability) = match durable {
            _ if read => (None, Durability::Cached),
            Durable::None => (None, Durability::Cached),
            Durable::Fdatasync => (Some((SyncKind::Data, 1)), Durability::Cached),
            Durable::Fsync => (Some((SyncKind::All, 1)), Durability::Cached),
            Durable::Dsync => (None, Durability::Data),
            Durable::Sync => (None, Durability::All),
        };
        let in_order = !read && depth == 1 && durable != Durable::None;
        ArmWork { read, sync, durability, depth, operation_bytes, in_order, direct: true }
    }

    /// Returns the workloads that were asked for, the headline first.
    pub(crate) fn all(bench: &SuiteSteps, operation_bytes: u32) -> Vec<ArmWork> {
        let work = |read, durable, depth| ArmWork::direct(read, durable, depth, operation_bytes);
        if !bench.full {
            return vec![work(bench.read, bench.sync, bench.depth)];
        }
        let mut all = vec![work(false, Durable::Fdatasync, 1)];
        all.extend([8, 32].map(|depth| work(false, Durable::Dsync, depth)));
        all.extend([1, 8, 32].map(|depth| work(false, Durable::None, depth)));
        all.extend([1, 8, 32].map(|depth| work(true, Durable::None, depth)));
        all
    }

    /// Returns the same as reads.
    pub(crate) fn as_reads(self) -> ArmWork {
        ArmWork::direct(true, Durable::None, self.depth, self.operation_bytes)
    }

    /// Returns it as a person says it.
    pub(crate) fn title(&self) -> String {
        let size = Size(u64::from(self.operation_bytes));
        let what = match (self.read, self.document_sync()) {
            (true, _) => "random read",
            (false, Sync::Fdatasync) => "write + fdatasync",
            (false, Sync::Fsync) => "write + fsync",
            (false, Sync::Dsync) => "write (O_DSYNC)",
            (false, Sync::Sync) => "write (O_SYNC)",
            (false, _) => "random write, no sync",
        };
        format!("{size} {what}, depth {}", self.depth)
    }

    /// Returns it as `measure` does it; at a depth above 1 in blocks that are still to be
    /// calibrated.
    pub(crate) fn measured(&self) -> measure::Work {
        let write = Action::Write { durability: self.durability, atomic: false };
        measure::Work {
            action: if self.read { Action::Read } else { write },
            sync: self.sync.map(|(kind, _)| kind),
            sync_every: self.sync.map_or(0, |(_, every)| every),
            operation_bytes: self.operation_bytes,
            depth: self.depth,
            block_operations: 1,
        }
    }

    /// Returns it as documents show it.
    pub(crate) fn document(&self) -> Workload {
        let sync = self.document_sync();
        let each = u64::from(sync != Sync::None);
        Workload {
            action: if self.read {
                bench::OperationDirection::Read
            } else {
                bench::OperationDirection::Write
            },
            operation_bytes: Some(self.operation_bytes.into()),
            sync,
            sync_every: self.sync.map_or(each, |(_, every)| every.into()),
            depth: self.depth.into(),
            order: Some(if self.in_order { WorkloadOrder::Cursor } else { WorkloadOrder::Random }),
            direct: self.direct,
            command: Vec::new(),
        }
    }

    fn document_sync(&self) -> Sync {
        match (self.sync, self.durability) {
            (Some((SyncKind::All, _)), _) => Sync::Fsync,
            (Some(_), _) => Sync::Fdatasync,
            (None, Durability::Data) => Sync::Dsync,
            (None, Durability::All) => Sync::Sync,
            (None, Durability::Cached) => Sync::None,
        }
    }
}
