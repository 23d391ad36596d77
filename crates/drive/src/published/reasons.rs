//! Reasons for figures outside their bounds, tested: what a reason blames is changed, and the
//! figure comes out.

use units::number::real;
use workload::trace::TraceAction;

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

use SuiteStep::{Delete, Make, Read, Unpack, Write};
use System::{Btrfs, Ext3, Ext4, Jfs, Reiser, Xfs};

const SMALL: [(&str, &str); 2] = [("cache", "1 MiB"), ("run", "512 KiB")];

#[test]
fn single_blocks_of_bitmaps_are_as_slow_as_published_in_another_disk_s_order() {
    let order =
        [("setup", "1860 us"), ("in_order", "48"), ("pieces_in_order", "40"), ("window", "64")];
    near(with(&order, Reiser, Make), 7.94);
}

#[test]
fn today_s_flushes_of_btrfs_make_up_the_mean_of_mkfs() {
    let others = mean(&[], Make, &[Ext3, Ext4, Xfs, Jfs, Reiser]);
    let btrfs = ratio(&first_512e(&[]), &entries(Btrfs, Make));
    near((5.0 * others + btrfs) / 6.0, 2.79);
}

#[test]
fn less_write_cache_makes_the_small_writes_of_a_step_count() {
    near(with(&[("cache", "16 MiB"), ("run", "8 MiB")], Xfs, Unpack), 1.82);
    assert!(with(&[("cache", "16 MiB"), ("run", "8 MiB")], Ext3, Delete) >= 1.04);
    let without = with(&[], Jfs, Delete);
    let small = with(&SMALL, Jfs, Delete);
    assert!(without < 1.1 && (4.0..4.78).contains(&small), "{without} {small}");
    near(mean(&SMALL, Delete, &System::ALL), 1.97);
    let others = [Ext3, Ext4, Xfs, Btrfs, Reiser];
    near(mean(&[("cache", "2 MiB"), ("run", "1 MiB")], Delete, &others), 1.40);
}

#[test]
fn longer_runs_leave_less_of_a_large_file_in_the_cache() {
    near(mean(&[("run", "64 MiB")], Write, &[Ext3, Ext4, Xfs, Btrfs, Jfs]), 1.31);
}

#[test]
fn a_head_that_settles_longer_before_a_write_narrows_what_reiserfs_loses() {
    near(with(&[("write_settle", "300 us")], Reiser, Write), 6.02);
}

#[test]
fn without_times_of_access_reading_is_as_fast_misaligned() {
    let read = |system| {
        let mut trace = asked(system, Read);
        trace.retain(|entry| entry.action == TraceAction::Read);
        ratio(&first_512e(&[]), &trace)
    };
    let without = [read(Btrfs), read(Jfs)];
    assert!(without.iter().all(|ratio| *ratio < 1.25), "{without:?}");
    let others = [Ext3, Ext4, Xfs, Reiser].map(|system| with(&[], system, Read));
    near(others.into_iter().chain(without).fold(0.0, f64::max), 1.25);
}

#[test]
fn time_that_is_not_the_disk_s_hides_what_ext4_loses() {
    let (disk, trace) = (first_512e(&[]), asked(Ext4, Unpack));
    let seconds = |sector: u64| 40.0 + real(took_ns(&disk, &trace, sector * 512)) / 1e9;
    near(seconds(34) / seconds(40), 1.04);
}

#[test]
fn no_cache_and_no_order_gives_what_reiserfs_took_to_unpack() {
    for changes in
        [&SMALL[..], &[("cache", "128 MiB"), ("window", "1024")], &[("setup", "1860 us")]]
    {
        let found = with(changes, Reiser, Unpack);
        assert!((10.0..20.0).contains(&found), "{changes:?}: {found}");
    }
    let all = System::ALL.map(|system| with(&[], system, Unpack));
    let published = (all.iter().sum::<f64>() - all[Reiser as usize] + 25.53) / 6.0;
    assert!((6.0..8.0).contains(&published), "{published}");
}
