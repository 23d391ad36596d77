//! The first 512e disks, against what was measured of them elsewhere than in the article that they
//! are used for: by this the profile's policy of writing parts of sectors was chosen.

use drive::run::{CommandPart, DriveJob, OperationSource, RunLimits, run};
use drive::{CommandKind, profile};

/// Writes of 4 KiB at every 16 KiB, as the benchmark of blog.des.no (2010-08) does.
struct Strides {
    next: u64,
    end: u64,
}

impl OperationSource for Strides {
    fn next(&mut self, pieces: &mut Vec<CommandPart>) -> bool {
        let (action, offset_bytes) = (CommandKind::Write { fua: false }, self.next);
        pieces.push(CommandPart { action, offset_bytes, length_bytes: 4096 });
        self.next += 16_384;
        offset_bytes < self.end
    }
}

/// The built-in profile.
fn green() -> &'static profile::DriveProfile {
    profile::called("wd10ears").expect("a built-in drive")
}

/// Returns what one write takes on average, in microseconds, once the cache is full.
fn each_us(rmw: &str, shift_bytes: u64) -> u64 {
    let drive = green().clone().with("rmw", rmw).expect("a policy");
    let mut model = drive.model().expect("a disk that can be");
    let mut source = Strides { next: shift_bytes, end: 32_768 * 16_384 };
    let mut jobs = [DriveJob { source: &mut source, lanes: 1, has_barriers: false }];
    let limits = RunLimits { operations: 32_768, time_ns: u64::MAX, turnaround_ns: 10_000 };
    let mut ends = Vec::new();
    run(&mut *model, &mut jobs, limits, &mut |seen| ends.push(seen.to_ns));
    (ends[32_767] - ends[22_767]) / 10_000 / 1000
}

/// 1,216,537 ms for 32,768 writes on a WD20EARS.
const PUBLISHED_US: u64 = 37_126;

#[test]
fn of_the_three_policies_that_of_the_profile_is_nearest_to_what_was_published() {
    let off = |rmw: &str| each_us(rmw, 512).abs_diff(PUBLISHED_US);
    let [batched, per_sector, serial] = ["batched", "per-sector", "serial"].map(off);
    assert!(serial < per_sector && per_sector < batched, "{batched} {per_sector} {serial}");
    assert!(serial * 100 < PUBLISHED_US * 15, "off by {serial} us");
    let rmw = green().values.iter().find(|value| value.key == "rmw").unwrap();
    assert_eq!(rmw.amount, 3, "serial");
    assert_eq!(rmw.label.word(), "calibrated");
}

#[test]
fn aligned_writes_pass_without_a_turn() {
    assert!(each_us("serial", 0) < 1000);
}
