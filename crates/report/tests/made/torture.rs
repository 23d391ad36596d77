//! Power cuts made by hand.

use crate::made::sample::envelope;
use report::Run;
use report::drive::{TORTURE_SCHEMA, Torture, TortureCounts, TortureFailure};

/// Cuts of a drive that lies under a program that loses something by itself too.
pub(crate) fn torture() -> Torture {
    let failure = |cut, missing_sectors, check: Option<&str>| TortureFailure {
        cut,
        at_ns: 1_203_000_000,
        acknowledged_lines: 45,
        survivors: "random".to_owned(),
        missing_sectors,
        check: check.map(str::to_owned),
    };
    Torture {
        envelope: envelope(TORTURE_SCHEMA, Run::default()),
        drive: "m4-256".to_owned(),
        changed: vec!["volatile=yes".to_owned()],
        lies: vec!["flush".to_owned()],
        protocol: "loop".to_owned(),
        file_system: Some("ext4".to_owned()),
        workload: "./sqlite.py wal".to_owned(),
        survivors: "mix".to_owned(),
        half_written: "old".to_owned(),
        seed: 1,
        planned_cuts: 100,
        shard: 1,
        shards: 2,
        recorded_ns: 2_500_000_000,
        recorded_writes: 311,
        recorded_flushes: 207,
        recorded_lines: 100,
        counts: TortureCounts {
            cuts: 50,
            program_lost: 1,
            drive_lost: 7,
            drive_broke_unseen: 2,
            neighbour_cuts: 3,
        },
        failures: vec![
            failure(4, 0, Some("row 7 is lost")),
            failure(6, 8, Some("row 9 is lost")),
            failure(8, 1, None),
            failure(10, 1, None),
        ],
        look_at: Some("straddle drive cut run1 --cut 4 --seed 1 -o disk.img".to_owned()),
    }
}

pub(crate) fn counts(program_lost: u32, drive_lost: u32, drive_broke_unseen: u32) -> TortureCounts {
    TortureCounts { cuts: 100, program_lost, drive_lost, drive_broke_unseen, neighbour_cuts: 0 }
}
