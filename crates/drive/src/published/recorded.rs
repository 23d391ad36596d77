//! The recorded traces: what six file systems asked of a disk, step by step. `traces/README.md`
//! says how they were made.

use std::io::Read as _;

use flate2::read::GzDecoder;
use workload::trace::{Stage, TraceEntry, TraceStream};

/// A file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum System {
    Ext3,
    Ext4,
    Xfs,
    Btrfs,
    Jfs,
    Reiser,
}

/// A step of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum SuiteStep {
    Make,
    Unpack,
    Write,
    Read,
    Delete,
}

impl System {
    pub(super) const ALL: [System; 6] =
        [System::Ext3, System::Ext4, System::Xfs, System::Btrfs, System::Jfs, System::Reiser];
}

impl SuiteStep {
    pub(super) const ALL: [SuiteStep; 5] =
        [SuiteStep::Make, SuiteStep::Unpack, SuiteStep::Write, SuiteStep::Read, SuiteStep::Delete];
}

/// The traces of one file system, in the order of the steps.
macro_rules! steps {
    ($system:literal) => {
        steps!($system, "mkfs", "unpack", "write", "read", "delete")
    };
    ($system:literal, $($step:literal),+) => {
        [$(include_bytes!(concat!("../../traces/", $system, "-", $step, ".iolog.gz"))),+]
    };
}

/// In the order of [`System`].
const TRACES: [[&[u8]; 5]; 6] = [
    steps!("ext3"),
    steps!("ext4"),
    steps!("xfs"),
    steps!("btrfs"),
    steps!("jfs"),
    steps!("reiserfs"),
];

/// The trace as it is kept.
pub(super) fn packed(system: System, step: SuiteStep) -> &'static [u8] {
    TRACES[system as usize][step as usize]
}

/// Returns what `system` asked for in `step`.
pub(super) fn entries(system: System, step: SuiteStep) -> Vec<TraceEntry> {
    let mut unpacked = GzDecoder::new(packed(system, step));
    let trace = TraceStream::open(|buffer: &mut [u8]| unpacked.read(buffer), Stage::default());
    let trace = trace.expect("a test reads every recorded trace");
    let entries: Result<Vec<TraceEntry>, _> = trace.collect();
    entries.expect("a test reads every recorded trace to its end")
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::trace::TraceAction;

    /// The disk that they were recorded on: 1 TB, less 4 MiB.
    const DISK_BYTES: u64 = (1_000_204_886_016 >> 20 << 20) - (4 << 20);

    fn all() -> impl Iterator<Item = (System, SuiteStep, Vec<TraceEntry>)> {
        let pairs = System::ALL.into_iter().flat_map(|one| SuiteStep::ALL.map(|step| (one, step)));
        pairs.map(|(system, step)| (system, step, entries(system, step)))
    }

    fn bytes(entries: &[TraceEntry], is_it: impl Fn(TraceAction) -> bool) -> u64 {
        let own = entries.iter().filter(|entry| is_it(entry.action));
        own.map(|entry| u64::from(entry.length_bytes)).sum()
    }

    #[test]
    fn every_trace_is_whole_sectors_of_the_disk_that_it_was_recorded_on() {
        for (system, step, entries) in all() {
            assert!(entries.len() > 20, "{system:?} {step:?} has {}", entries.len());
            for entry in entries.iter().filter(|entry| entry.action.moves_bytes()) {
                let end = entry.offset_bytes + u64::from(entry.length_bytes);
                assert!(end <= DISK_BYTES && entry.offset_bytes % 512 == 0, "{entry:?}");
                assert!(entry.length_bytes % 512 == 0 && entry.length_bytes <= 1 << 20);
                assert_ne!(entry.action, TraceAction::Discard, "such a disk knew none");
            }
        }
    }

    #[test]
    fn each_step_moves_what_it_is_about() {
        let writes = |action| matches!(action, TraceAction::Write { .. });
        let reads = |action| action == TraceAction::Read;
        for (system, step, entries) in all() {
            let (written, read) = (bytes(&entries, writes), bytes(&entries, reads));
            let about = format!("{system:?} {step:?}: {written} written, {read} read");
            match step {
                SuiteStep::Make => assert!(written > 1 << 20, "{about}"),
                SuiteStep::Unpack => assert!(written > 350_000_000 && read < 32 << 20, "{about}"),
                SuiteStep::Write => assert!(written >= 365_000_000 && read < 8 << 20, "{about}"),
                SuiteStep::Read => assert!(read > 700_000_000 && written < 160 << 20, "{about}"),
                SuiteStep::Delete => assert!(written > 0 && written < 160 << 20, "{about}"),
            }
        }
    }

    #[test]
    fn file_systems_that_had_barriers_flush_before_they_are_unmounted() {
        for (system, step, entries) in all() {
            let flushes = entries.iter().filter(|entry| entry.action == TraceAction::Fsync).count();
            let has = matches!(system, System::Ext4 | System::Xfs | System::Btrfs);
            if has && step != SuiteStep::Read {
                let writes = |entry: &TraceEntry| matches!(entry.action, TraceAction::Write { .. });
                let last =
                    entries.iter().rposition(|entry| entry.action == TraceAction::Fsync).unwrap();
                assert!(entries[..last].iter().any(writes), "{system:?} {step:?}");
            }
            // ext3 and ReiserFS had none then, and JFS has none now; their tools sync.
            assert!(
                has || step == SuiteStep::Make || flushes == 0,
                "{system:?} {step:?}: {flushes}"
            );
        }
    }

    #[test]
    fn the_traces_are_small_and_hold_neither_names_nor_dates() {
        let mut bytes = 0;
        for system in System::ALL {
            for step in SuiteStep::ALL {
                let packed = packed(system, step);
                bytes += packed.len();
                // No name and no comment in the head, and no date (RFC 1952).
                assert_eq!((packed[3], &packed[4..8]), (0, &[0; 4][..]));
                let mut text = String::new();
                GzDecoder::new(packed).read_to_string(&mut text).unwrap();
                for line in text.lines().skip(1) {
                    let words: Vec<&str> = line.split(' ').collect();
                    assert_eq!(words[1], "disk", "{line}");
                    assert!(words[0].parse::<u64>().is_ok(), "{line}");
                }
            }
        }
        assert!(bytes < 3 << 20, "{bytes} bytes");
    }
}
