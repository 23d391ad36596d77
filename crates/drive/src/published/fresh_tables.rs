//! Writes of a fresh ext4 once it is mounted: its tables of inodes.
//!
//! mke2fs leaves them as they are, and the kernel's thread `ext4lazyinit` fills one group's after
//! the other with zeros (fs/ext4/super.c: `ext4_run_li_request`, Linux 2.6.37 and later). It takes
//! the time of the first, which it also flushes, and waits ten times as long after each.

use crate::CommandKind;
use crate::profile::DriveProfile;
use crate::run::{CommandPart, DriveJob, EndedOperation, OperationSource, RunLimits, run};

/// Writes of the tables of a file system's groups, one group after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreshTables {
    /// First byte of the file system.
    start_bytes: u64,
    /// Number of the next group.
    group: u64,
    /// Number of its requests that were sent.
    requests: u16,
    /// Time from the end of one table to the next, in nanoseconds.
    wait_ns: u64,
    /// True if a table was written since the last wait.
    is_due: bool,
}

/// Events before: the journal is read, and some time passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mount {
    /// First byte of the journal.
    pub(super) journal_bytes: u64,
    /// Time until the first table is written.
    pub(super) later_ns: u64,
}

/// A table of 8192 inodes of 256 bytes: mke2fs makes an inode for each 16 KiB of a group.
const TABLE_BYTES: u64 = 8192 * 256;
/// A group: as many blocks as a block of 4 KiB has bits.
const GROUP_BYTES: u64 = 128 << 20;
/// Tables of so many groups follow each other (`flex_bg`).
const GROUPS_TOGETHER: u64 = 16;
/// The kernel writes zeros in requests of at most so many bytes: `BLK_DEF_MAX_SECTORS` of
/// include/linux/blkdev.h in Linux 3.10.
const REQUEST_BYTES: u64 = 512 << 10;
const _: () = assert!(FreshTables::REQUESTS as u64 * REQUEST_BYTES == TABLE_BYTES);
/// Unit of time that the thread counts in: 1000 a second, as in kernel 3.10 of CentOS, which the
/// article names.
const JIFFY_NS: u64 = 1_000_000;

impl FreshTables {
    /// The thread waits so many times as long as the first table took: `EXT4_DEF_LI_WAIT_MULT`.
    const WAIT: u64 = 10;

    /// The kernel sends so many requests for a table at once, and waits for all
    /// (block/blk-lib.c: `__blkdev_issue_zeroout`).
    pub(super) const REQUESTS: u16 = 4;

    /// Those of a file system at `start_bytes` of `drive`, which does nothing else when the first
    /// is written; the others wait ten times as long as that takes.
    pub(super) fn new(drive: &DriveProfile, start_bytes: u64, mount: Mount) -> FreshTables {
        let mut model = drive.model().expect("a test makes every built-in drive");
        let tables = FreshTables { start_bytes, group: 0, requests: 0, wait_ns: 0, is_due: false };
        let mut first = FirstTable { mount: Some(mount), tables };
        let mut job = [DriveJob { source: &mut first, lanes: 1, has_barriers: false }];
        let limits = RunLimits { operations: 2, time_ns: u64::MAX, turnaround_ns: 0 };
        let mut took_ns = 0;
        run(&mut *model, &mut job, limits, &mut |one: EndedOperation| took_ns = one.took_ns());
        FreshTables {
            wait_ns: FreshTables::WAIT * (took_ns / JIFFY_NS * JIFFY_NS),
            group: 1,
            ..tables
        }
    }

    fn offset_bytes(&self) -> u64 {
        let (together, place) = (self.group / GROUPS_TOGETHER, self.group % GROUPS_TOGETHER);
        self.start_bytes + together * GROUPS_TOGETHER * GROUP_BYTES + place * TABLE_BYTES
    }
}

impl OperationSource for FreshTables {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        pieces.push(CommandPart {
            action: CommandKind::Write { fua: false },
            offset_bytes: self.offset_bytes() + u64::from(self.requests) * REQUEST_BYTES,
            length_bytes: REQUEST_BYTES,
        });
        self.requests += 1;
        if self.requests == FreshTables::REQUESTS {
            (self.requests, self.is_due) = (0, true);
            self.group += 1;
        }
        true
    }

    fn rests_ns(&mut self) -> Option<u64> {
        std::mem::take(&mut self.is_due).then_some(self.wait_ns)
    }
}

/// The mount, and then the first table with its flush.
struct FirstTable {
    mount: Option<Mount>,
    tables: FreshTables,
}

impl OperationSource for FirstTable {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        if let Some(mount) = self.mount.take() {
            (self.tables.wait_ns, self.tables.is_due) = (mount.later_ns, true);
            let offset_bytes = mount.journal_bytes;
            let read = CommandPart { action: CommandKind::Read, offset_bytes, length_bytes: 4096 };
            pieces.push(read);
            return true;
        }
        let is_some = (0..FreshTables::REQUESTS).all(|_| self.tables.next(pieces));
        pieces.push(CommandPart { action: CommandKind::Flush, offset_bytes: 0, length_bytes: 0 });
        is_some
    }

    fn rests_ns(&mut self) -> Option<u64> {
        self.tables.rests_ns()
    }
}
