//! Runs on drives whose figures were published.

use super::fresh_tables::{FreshTables, Mount};
use super::run_figures::Figures;
use crate::profile::{self, DriveProfile};
use crate::run::{
    DriveJob, EndedOperation, Ext4Sync, OperationSource, OperationStream, Region, RunLimits, run,
};

/// A run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scenario {
    /// Synced 4 KiB writes in order on a raw partition of a 512e disk; misaligned or not.
    Raw(bool),
    /// The same in a file on ext4 that was just made and mounted.
    Ext4(bool),
    /// Direct 4 KiB writes in order on the raw partition, and no sync.
    Unsynced(bool),
    /// Eight jobs, each with four direct 4 KiB operations in flight in a file of its own, on the
    /// SATA SSD: reads or not, from sector 34 or 2048.
    Jobs {
        /// Reads, else writes.
        reads: bool,
        /// From sector 34.
        is_misaligned: bool,
    },
    /// An 8 KiB overwrite and its flush, on the drive of this place among [`SYNCED`].
    Synced(usize),
    /// Random 16 KiB reads on a RAID 0 of 16 KiB chunks, so many at once; 7680 bytes off or not.
    Striped {
        /// Number of readers.
        readers: u16,
        /// Every request crosses a chunk.
        is_misaligned: bool,
    },
    /// Random reads of so many KiB on an array with parity and 64 KiB chunks, 64 at once.
    Parity {
        /// The level, 5 or 6.
        level: u8,
        /// KiB of each.
        kib: u64,
        /// 512 bytes off.
        is_misaligned: bool,
    },
}

/// Drives whose syncs were published.
pub(super) const SYNCED: [&str; 5] =
    ["cloud-nvme-2019", "dc-s3700", "dc-p3700", "optane-p4800x", "950-pro"];

const MIB: u64 = 1 << 20;
/// "parted mkpart 131072k".
const PARTITION_BYTES: u64 = 128 * MIB;
/// Number of operations a run has.
const OPERATIONS: u64 = 20_000;
/// Time of a host between commands: tens of microseconds, of which most are the disk's own.
const TURNAROUND_NS: u64 = 10_000;
const LIMITS: RunLimits =
    RunLimits { operations: OPERATIONS, time_ns: u64::MAX, turnaround_ns: TURNAROUND_NS };
/// Number of angles of the platter that figures of ext4 are over.
const ANGLES: u64 = 8;
/// The journal, in the middle of a partition that is half of the disk, where mkfs puts it.
const JOURNAL_BYTES: u64 = 1_429_568 * MIB;
/// "parted mkpart 131074k": 2 KiB behind a multiple of 4 KiB.
const SHIFT_BYTES: u64 = 2048;

/// "34s": 1 KiB behind a multiple of 4 KiB.
const SECTOR_34_BYTES: u64 = 34 * 512;
/// "stripeoffset 7680".
const STRIPE_OFFSET_BYTES: u64 = 7680;

impl Scenario {
    /// Returns what it gives.
    pub(super) fn run(self, seed: u64) -> Figures {
        self.run_on(profile::called(self.profile()).expect("a built-in drive"), seed)
    }

    /// Returns what it gives on `drive`.
    pub(super) fn run_on(self, drive: &DriveProfile, seed: u64) -> Figures {
        let shift = |is_misaligned: bool| if is_misaligned { SHIFT_BYTES } else { 0 };
        match self {
            Scenario::Raw(is_misaligned) => {
                on(drive, &mut [(&mut in_order(shift(is_misaligned), true), 1)])
            }
            Scenario::Ext4(is_misaligned) => fresh_ext4(drive, shift(is_misaligned)),
            Scenario::Unsynced(is_misaligned) => {
                on(drive, &mut [(&mut in_order(shift(is_misaligned), false), 16)])
            }
            Scenario::Jobs { reads, is_misaligned } => {
                let start = if is_misaligned { SECTOR_34_BYTES } else { 2048 * 512 };
                let mut jobs: Vec<OperationStream> =
                    (0..8).map(|job| job_file(start, job, reads)).collect();
                let mut jobs: Vec<(&mut dyn OperationSource, u16)> =
                    jobs.iter_mut().map(|job| (job as &mut dyn OperationSource, 4)).collect();
                on(drive, &mut jobs)
            }
            Scenario::Synced(_) => on(drive, &mut [(&mut overwrite(), 1)]),
            Scenario::Striped { readers, is_misaligned } => {
                let start_bytes = if is_misaligned { STRIPE_OFFSET_BYTES } else { 0 };
                let place = Region { start_bytes, length_bytes: 4 << 30 };
                let mut reads = OperationStream::reads(place, 16_384).at_random(seed);
                on(drive, &mut [(&mut reads, readers)])
            }
            Scenario::Parity { kib, is_misaligned, .. } => {
                let start_bytes = if is_misaligned { 512 } else { 0 };
                let place = Region { start_bytes, length_bytes: 64 << 30 };
                let mut reads = OperationStream::reads(place, kib << 10).at_random(seed);
                on(drive, &mut [(&mut reads, 64)])
            }
        }
    }

    /// The profile of its drive.
    pub(super) fn profile(self) -> &'static str {
        match self {
            Scenario::Raw(_) | Scenario::Ext4(_) | Scenario::Unsynced(_) => "hdd-7200-512e",
            Scenario::Jobs { .. } => "m4-256",
            Scenario::Synced(place) => SYNCED[place],
            Scenario::Striped { .. } => "raid0-2x16k",
            Scenario::Parity { level: 5, .. } => "raid5-5x64k",
            Scenario::Parity { .. } => "raid6-6x64k",
        }
    }
}

/// A job's file of 500 MB behind those of the jobs before it.
fn job_file(start_bytes: u64, job: u64, reads: bool) -> OperationStream {
    let length_bytes = 500 * MIB;
    let place = Region { start_bytes: start_bytes + job * length_bytes, length_bytes };
    if reads { OperationStream::reads(place, 4096) } else { OperationStream::writes(place, 4096) }
}

/// Returns what pg_test_fsync's fdatasync row does: 8 KiB to the same place, and a flush.
fn overwrite() -> OperationStream {
    let place = Region { start_bytes: 128 * MIB, length_bytes: 8192 };
    OperationStream::writes(place, 8192).flushed()
}

/// Returns what a file's fsyncs take on an ext4 that was just made and mounted, over angles of the
/// platter.
fn fresh_ext4(drive: &DriveProfile, shift_bytes: u64) -> Figures {
    Figures::together((0..ANGLES).map(|angle| ext4_at(drive, shift_bytes, angle)))
}

/// The same, where the platter has turned by so many of [`ANGLES`] when the first table is written.
fn ext4_at(drive: &DriveProfile, shift_bytes: u64, angle: u64) -> Figures {
    let turn_ns = drive.amount("rpm").map_or(0, |rpm| 60_000_000_000 / rpm.max(1));
    let place = PARTITION_BYTES + shift_bytes;
    let mount =
        Mount { journal_bytes: JOURNAL_BYTES + shift_bytes, later_ns: turn_ns * angle / ANGLES };
    let mut tables = FreshTables::new(drive, place, mount);
    let limits = RunLimits { operations: OPERATIONS / ANGLES, ..LIMITS };
    let tables: (&mut dyn OperationSource, u16) = (&mut tables, FreshTables::REQUESTS);
    first_on(drive, &mut [(&mut ext4(shift_bytes), 1), tables], (1, limits))
}

/// Runs `sources`, each in so many lanes, on `drive`.
fn on(drive: &DriveProfile, sources: &mut [(&mut dyn OperationSource, u16)]) -> Figures {
    let count = sources.len();
    first_on(drive, sources, (count, LIMITS))
}

/// The same; only the first `count` are looked at, and the others are what the kernel does beside.
fn first_on(
    drive: &DriveProfile,
    sources: &mut [(&mut dyn OperationSource, u16)],
    (count, limits): (usize, RunLimits),
) -> Figures {
    let mut model = drive.model().expect("a test makes every built-in drive");
    let turn_ns = drive.amount("rpm").map_or(0, |rpm| 60_000_000_000 / rpm.max(1));
    let mut took_ns = Vec::with_capacity(1 << 16);
    let mut seen = |one: EndedOperation| {
        assert!(one.fault.is_none(), "the published workloads fit their drives");
        if one.job < count {
            took_ns.push(one.took_ns());
        }
    };
    let mut jobs: Vec<DriveJob<'_>> = sources
        .iter_mut()
        .map(|(source, lanes)| DriveJob {
            source: &mut **source,
            lanes: *lanes,
            has_barriers: false,
        })
        .collect();
    let elapsed_ns = run(&mut *model, &mut jobs, limits, &mut seen);
    Figures::new(took_ns, elapsed_ns, turn_ns)
}

/// Writes on the partition at 128 MiB.
fn in_order(shift_bytes: u64, flushes: bool) -> OperationStream {
    let place = Region { start_bytes: 128 * MIB + shift_bytes, length_bytes: 1 << 40 };
    let writes = OperationStream::writes(place, 4096);
    if flushes { writes.flushed() } else { writes }
}

/// A file near the start of the partition, and the journal.
fn ext4(shift_bytes: u64) -> Ext4Sync {
    let place =
        |start_bytes| Region { start_bytes: start_bytes + shift_bytes, length_bytes: 1 << 30 };
    Ext4Sync::new(place(162 * MIB), place(JOURNAL_BYTES))
}
