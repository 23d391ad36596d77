//! The same disk told the same gives the same answers: on any machine, and however fast its model
//! is made.

use drive::hard_disk::{HardDisk, HardDiskPlan, Rmw, Scheduler};
use drive::{CommandKind, DriveCommand, DriveCompletion, Model as _};
use units::random::Random;

use super::any;
use crate::shared::{DISK, WRITE};

/// A hash over numbers (FNV-1a).
struct Hash(u64);

impl Hash {
    const NEW: Hash = Hash(0xcbf2_9ce4_8422_2325);

    fn add(&mut self, number: u64) {
        for byte in number.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// Adds what completed, when, and how it ended.
    fn add_all(&mut self, done: &[DriveCompletion]) {
        for done in done {
            self.add(done.id);
            self.add(done.at_ns);
            self.add(u64::from(done.outcome.is_ok()));
        }
    }
}

/// A disk whose cache is soon full.
const SMALL_CACHE: HardDiskPlan = HardDiskPlan { cache_bytes: 1 << 20, run_bytes: 1 << 20, ..DISK };

/// Loads: the actions in turn, the bytes off 4 KiB, and the number of random places.
const LOADS: [(&[CommandKind], u64, Option<u64>); 6] = [
    (&[WRITE], 0, None),
    (&[WRITE], 1024, None),
    (&[WRITE], 0, Some(1 << 30)),
    (&[WRITE], 1024, Some(1 << 24)),
    (&[CommandKind::Read], 0, Some(1 << 30)),
    (&[CommandKind::Read, WRITE, WRITE, CommandKind::Write { fua: true }], 1024, Some(1 << 12)),
];

/// Tells `disk` `count` commands of a load, `depth` in flight.
fn load(disk: &mut HardDisk, load: usize, depth: usize, count: u64, hash: &mut Hash) {
    let (actions, shift, places) = LOADS[load];
    let mut random = Random::new(1);
    let (mut done, mut now_ns, mut flying) = (Vec::new(), 0, 0);
    for (id, &action) in (0..count).zip(actions.iter().cycle()) {
        let place = places.map_or(id, |places| random.below(places));
        let offset_bytes = place * 4096 + shift;
        disk.submit(
            DriveCommand { id, action, offset_bytes, length_bytes: 4096 },
            now_ns,
            &mut done,
        );
        flying += 1;
        while flying - done.len() >= depth {
            now_ns = disk.next_ns().expect("some are in flight");
            disk.advance(now_ns, &mut done);
        }
        flying -= done.len();
        hash.add_all(&done);
        done.clear();
    }
    let tally = disk.tally();
    for number in [tally.seek_ns, tally.wait_ns, tally.transfer_ns, tally.cache_hits] {
        hash.add(number);
    }
}

/// The values are this code's, on any machine. A change of the model changes them, and says so in
/// the commit; a change of its speed does not.
#[test]
fn every_load_of_every_policy_gives_the_same_answers_on_every_machine() {
    let mut hashes = LOADS.map(|_| Hash::NEW);
    for scheduler in [Scheduler::Fifo, Scheduler::Nearest] {
        for rmw in [Rmw::Buffered, Rmw::Batched, Rmw::PerSector, Rmw::Serial] {
            for cache_bytes in [0, 1 << 20] {
                let plan = HardDiskPlan { scheduler, rmw, cache_bytes, ..SMALL_CACHE };
                for (number, hash) in hashes.iter_mut().enumerate() {
                    load(&mut any::disk(plan), number, 32, 1000, hash);
                    let few = HardDiskPlan { depth: 8, ..plan };
                    load(&mut any::disk(few), number, 40, 500, hash);
                }
            }
        }
    }
    assert_eq!(
        hashes.map(|hash| hash.0),
        [
            0xe2c9_29a4_05f3_4895,
            0xdc0c_3be5_d44b_6372,
            0x31c2_8806_5c34_158d,
            0x8d35_aff4_2113_2e46,
            0x622c_d990_abb7_8255,
            0x5a30_3c8e_af2f_5e82,
        ]
    );
}

#[test]
fn any_disk_gives_the_same_answers_on_every_machine() {
    let mut hash = Hash::NEW;
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let plan = HardDiskPlan {
            read_ahead_bytes: *random.choose(&[0, 1 << 19]),
            full_stroke_ns: *random.choose(&[1_000_000, 16_000_000, 90_000_000]),
            rpm: *random.choose(&[5400, 7200, 15_000]),
            ..any::plan(&mut random)
        };
        let mut disk = any::disk(plan);
        any::run(&mut disk, 100, &mut random, |_, _, _, done| hash.add_all(done));
        let tally = disk.tally();
        for number in [tally.busy_ns, tally.seeks, tally.rmw_reads, tally.sectors_written] {
            hash.add(number);
        }
    }
    assert_eq!(hash.0, 0xf912_dad7_e1db_dd06);
}
