//! Random reads of flash at depth, beside a simulation of each event as MQSim does it: a die reads,
//! asks for its channel, and is free again when its page went through.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use drive::{CommandKind, Flash, FlashPlan};
use units::random::Random;

use crate::shared::{command, drive, is_near};

const DIES: usize = 64;
const CHANNELS: usize = 8;
const READ_NS: u64 = 75_000;
const PAGE_NS: u64 = 12_287;

/// Reads a second with so many in flight, event by event.
fn by_events(depth: usize, count: u64, random: &mut Random) -> u64 {
    // When, and the die: true if its page went through, false if it has read.
    let mut events = BinaryHeap::new();
    let mut waiting = vec![0_u64; DIES];
    let mut asking: Vec<VecDeque<usize>> = vec![VecDeque::new(); CHANNELS];
    let mut is_busy = [false; CHANNELS];
    let (mut done, mut now_ns) = (0, 0);
    let start = |die: usize, now_ns: u64, waiting: &mut [u64], events: &mut BinaryHeap<_>| {
        waiting[die] += 1;
        if waiting[die] == 1 {
            events.push(Reverse((now_ns + READ_NS, die, false)));
        }
    };
    let mut die = || usize::try_from(random.below(DIES as u64)).expect("a die");
    (0..depth).for_each(|_| start(die(), 0, &mut waiting, &mut events));
    while done < count {
        let Reverse((at_ns, own, is_through)) = events.pop().expect("some are in flight");
        now_ns = at_ns;
        let channel = own % CHANNELS;
        if is_through {
            done += 1;
            is_busy[channel] = false;
            waiting[own] -= 1;
            if waiting[own] > 0 {
                events.push(Reverse((now_ns + READ_NS, own, false)));
            }
            start(die(), now_ns, &mut waiting, &mut events);
        } else {
            asking[channel].push_back(own);
        }
        if !is_busy[channel]
            && let Some(next) = asking[channel].pop_front()
        {
            is_busy[channel] = true;
            events.push(Reverse((now_ns + PAGE_NS, next, true)));
        }
    }
    done * 1_000_000_000 / now_ns
}

fn plan() -> FlashPlan {
    FlashPlan {
        capacity_bytes: 64 << 30,
        logical_bytes: 4096,
        unit_bytes: 4096,
        page_bytes: 4096,
        planes: 1,
        pages_per_block: 256,
        dies: 64,
        channels: 8,
        channel_bytes_per_second: 333_333_333,
        read_ns: READ_NS,
        link_bytes_per_second: 1_000_000_000_000,
        flush_programs: 1,
        rmw_slots: 1,
        spare_bytes: 8 << 30,
        used_bytes: 64 << 30,
        ..FlashPlan::default()
    }
}

#[test]
fn random_reads_at_every_depth_go_as_fast_as_their_events_let_them() {
    for depth in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
        let mut random = testkit::random(1);
        let wanted = by_events(depth, 100_000, &mut random);
        let mut flash = Flash::new(plan()).unwrap();
        let places = plan().capacity_bytes / 4096;
        let seen = drive(&mut flash, depth as u64, 100_000, |_, _| {
            command(CommandKind::Read, random.below(places) * 4096, 4096)
        });
        println!("depth {depth}: {} of {wanted}", seen.per_second());
        is_near(seen.per_second(), wanted, 2);
    }
}
