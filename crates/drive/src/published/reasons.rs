//! Reasons for figures outside their bounds, tested: what a reason blames is changed, and the
//! figure comes out.

use units::number::real;
use workload::trace::{TraceAction, TraceEntry};

use super::filesystems::{self, asked, ratio, took_ns};
use super::recorded::{SuiteStep, System, entries};
use super::run_figures::Figure::Turns;
use super::scenario::Scenario;
use crate::profile::{self, DriveProfile};

/// The built-in disk called `name` with these values instead of its own.
fn changed(name: &str, changes: &[(&str, &str)]) -> DriveProfile {
    let disk = profile::called(name).expect("built in").clone();
    changes.iter().fold(disk, |disk, (key, value)| disk.with(key, value).expect("a value"))
}

/// Checks that `found` is within a tenth of `published`.
#[track_caller]
fn near(found: f64, published: f64) {
    assert!((found / published - 1.0).abs() <= 0.1, "{found} for {published}");
}

#[test]
fn rare_delays_are_rare_retries() {
    for (case, mille, retries, turns, wanted) in [
        (Scenario::Raw(false), 999, "1500", "4", 5.0),
        (Scenario::Raw(true), 990, "12000", "6", 9.0),
        (Scenario::Raw(true), 999, "1500", "9", 12.0),
        (Scenario::Ext4(false), 990, "2000", "4", 7.0),
        (Scenario::Ext4(false), 999, "600", "10", 14.0),
        (Scenario::Ext4(true), 990, "6000", "7", 17.0),
        (Scenario::Ext4(true), 999, "600", "44", 54.0),
    ] {
        let disk = changed(case.profile(), &[("retries", retries), ("retry_turns", turns)]);
        assert_eq!(case.run_on(&disk, 1).figure(Turns(mille)), wanted, "{case:?} {mille}");
    }
}

fn first_512e(changes: &[(&str, &str)]) -> DriveProfile {
    changed(filesystems::DRIVE, changes)
}

/// The ratio of `system` in `step` on the article's disk with these values changed.
fn with(changes: &[(&str, &str)], system: System, step: SuiteStep) -> f64 {
    ratio(&first_512e(changes), &asked(system, step))
}

/// The mean of those of `systems`.
fn mean(changes: &[(&str, &str)], step: SuiteStep, systems: &[System]) -> f64 {
    let all: f64 = systems.iter().map(|&system| with(changes, system, step)).sum();
    all / real(systems.len() as u64)
}

use SuiteStep::{Delete, Make, Read, Unpack};
use System::{Btrfs, Ext3, Ext4, Jfs, Reiser, Xfs};

/// The order in which the ST2000DM006 does what waits.
const ORDER: [(&str, &str); 4] =
    [("setup", "1860 us"), ("in_order", "48"), ("pieces_in_order", "40"), ("window", "64")];
const SMALL: [(&str, &str); 2] = [("cache", "1 MiB"), ("run", "512 KiB")];

#[test]
fn single_blocks_of_bitmaps_are_as_slow_as_published_in_another_disk_s_order() {
    near(with(&ORDER, Reiser, Make), 7.94);
}

#[test]
fn today_s_flushes_of_btrfs_make_up_the_mean_of_mkfs() {
    let others = mean(&[], Make, &[Ext3, Ext4, Xfs, Jfs, Reiser]);
    let btrfs = ratio(&first_512e(&[]), &entries(Btrfs, Make));
    near((5.0 * others + btrfs) / 6.0, 2.79);
}

#[test]
fn less_write_cache_makes_the_small_writes_of_a_step_count() {
    let less = [("cache", "16 MiB"), ("run", "8 MiB")];
    near(with(&less, Xfs, Unpack), 1.82);
    near(mean(&less, Delete, &System::ALL), 1.97);
    let without = with(&[], Jfs, Delete);
    let small = with(&SMALL, Jfs, Delete);
    assert!(without < 1.1 && (4.0..4.78).contains(&small), "{without} {small}");
}

#[test]
fn times_of_access_written_beside_reads_make_reading_slower_misaligned() {
    let mut trace = asked(Jfs, Read);
    let inode = |number: u64| TraceEntry {
        at_ns: None,
        action: TraceAction::Write { fua: false },
        offset_bytes: trace[0].offset_bytes / 4096 * 4096 + number * (1 << 20),
        length_bytes: 4096,
        target: trace[0].target,
    };
    let inodes: Vec<TraceEntry> = (0..trace.len() as u64 / 36).map(inode).collect();
    for (number, inode) in inodes.into_iter().enumerate() {
        trace.insert(number * 37, inode);
    }
    near(ratio(&first_512e(&[]), &trace), 1.25);
}

#[test]
fn time_that_is_not_the_disk_s_hides_what_ext4_loses() {
    let (disk, trace) = (first_512e(&[]), asked(Ext4, Unpack));
    let seconds = |sector: u64| 40.0 + real(took_ns(&disk, &trace, sector * 512)) / 1e9;
    near(seconds(34) / seconds(40), 1.04);
}

#[test]
fn no_cache_and_no_order_gives_what_reiserfs_took_to_unpack() {
    for changes in [&SMALL[..], &[("cache", "128 MiB"), ("window", "1024")], &ORDER] {
        let found = with(changes, Reiser, Unpack);
        assert!((5.0..13.0).contains(&found), "{changes:?}: {found}");
    }
    let all = System::ALL.map(|system| with(&[], system, Unpack));
    let published = (all.iter().sum::<f64>() - all[Reiser as usize] + 25.53) / 6.0;
    assert!((7.0..8.0).contains(&published), "{published}");
}
