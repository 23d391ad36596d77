//! What a 7200 rpm 512e disk of the house does, beside what was published of one: "advanced format
//! disks", fio with `psync`, 4 KiB and an fsync each.

use drive::Model;
use drive::profile;
use drive::run::{Ext4Sync, Job, Limits, Place, Source, Stream, run};

const TURN_NS: u64 = 60_000_000_000 / 7200;
const MIB: u64 = 1 << 20;
/// What is written for each row: several wraps of the journal.
const OPERATIONS: u64 = 20_000;

/// What operations took.
struct Took {
    sorted_ns: Vec<u64>,
}

impl Took {
    fn of(source: &mut dyn Source, lanes: u16) -> Took {
        let disk = profile::built_in().iter().find(|profile| profile.name == "hdd-7200-512e");
        let mut model: Box<dyn Model> =
            disk.expect("it is of the house").model().expect("such a disk can be");
        let mut sorted_ns = Vec::new();
        let limits = Limits { operations: OPERATIONS, time_ns: u64::MAX, turnaround_ns: 10_000 };
        let mut seen = |one: drive::run::Seen| {
            assert_eq!(one.fault, None);
            sorted_ns.push(one.took_ns());
        };
        run(&mut *model, &mut [Job { source, lanes, has_barriers: false }], limits, &mut seen);
        sorted_ns.sort_unstable();
        Took { sorted_ns }
    }

    fn mean_us(&self) -> u64 {
        self.sorted_ns.iter().sum::<u64>() / OPERATIONS / 1000
    }

    /// The quantile in so many of a hundred, in whole turns.
    fn turns(&self, percent: usize) -> u64 {
        (self.sorted_ns[self.sorted_ns.len() * percent / 100] + TURN_NS / 2) / TURN_NS
    }
}

/// That `found` is within so many percent of `published`.
#[track_caller]
fn near(found: u64, published: u64, percent: u64) {
    assert!(found.abs_diff(published) * 100 <= published * percent, "{found} for {published}");
}

/// Synced writes in order, `shift_bytes` behind the start of an aligned partition.
fn raw(shift_bytes: u64, flushes: bool) -> Stream {
    let place = Place { start_bytes: 128 * MIB + shift_bytes, length_bytes: 1 << 40 };
    let writes = Stream::writes(place, 4096);
    if flushes { writes.flushed() } else { writes }
}

/// The same on ext4: the file near the start, the journal in the middle of what mkfs made of 3 TB.
fn ext4(shift_bytes: u64) -> Ext4Sync {
    let place =
        |start_bytes| Place { start_bytes: start_bytes + shift_bytes, length_bytes: 1 << 30 };
    Ext4Sync {
        file: place(162 * MIB),
        journal: place(1_429_568 * MIB),
        at_bytes: 0,
        logged_bytes: 0,
    }
}

#[test]
fn a_synced_write_takes_one_turn_aligned_and_three_misaligned() {
    let (aligned, misaligned) = (Took::of(&mut raw(0, true), 1), Took::of(&mut raw(2048, true), 1));
    assert_eq!((aligned.turns(50), misaligned.turns(50)), (1, 3));
    near(aligned.mean_us(), 8421, 10);
    near(misaligned.mean_us(), 25_850, 10);
}

#[test]
fn an_fsync_on_ext4_takes_four_turns_aligned_and_ten_misaligned_some_one_less() {
    let (aligned, misaligned) = (Took::of(&mut ext4(0), 1), Took::of(&mut ext4(2048), 1));
    assert_eq!((aligned.turns(5), aligned.turns(50)), (3, 4));
    assert_eq!((misaligned.turns(5), misaligned.turns(50)), (9, 10));
    near(aligned.mean_us(), 33_810, 10);
    near(misaligned.mean_us(), 89_160, 10);
}

#[test]
fn without_a_sync_it_makes_little_difference() {
    let (aligned, misaligned) =
        (Took::of(&mut raw(0, false), 16), Took::of(&mut raw(2048, false), 16));
    near(misaligned.mean_us(), aligned.mean_us(), 5);
}
