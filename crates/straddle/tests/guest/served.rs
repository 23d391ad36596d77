//! An array of md over drives that `straddle drive serve` serves: its ratio.
//!
//! `STRADDLE_GUEST_RAID0` names the result of a run of `guest/run … raid0`; without it this test
//! skips.

use crate::answers::Answers;

#[test]
fn reads_across_chunks_of_md_raid0_on_served_disks_are_fewer_than_aligned_ones() {
    let Some(run) = Answers::named("STRADDLE_GUEST_RAID0", "raid0") else { return };
    let numbers = run.written("numbers");
    let rate = |place: &str| -> f64 {
        let line = numbers.lines().find_map(|line| line.strip_prefix(&format!("{place}: ")));
        line.and_then(|rate| rate.parse().ok()).expect("it was measured")
    };
    let (aligned, misaligned) = (rate("n = 64, aligned"), rate("n = 64, 7680 bytes off"));
    assert!(0.0 < misaligned && misaligned < aligned, "{numbers}");
}
