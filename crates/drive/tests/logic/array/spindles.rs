//! Published measurements of striped disks, and what the model makes of the same requests.
//!
//! The RAID 0 anchor: two 7200 rpm disks under gstripe, 16 KiB chunks, random 16 KiB reads in 4 GB;
//! with the file system at an offset of 7680 bytes every request crosses a chunk, at 0 none does.
//! One reader did 133 requests/s aligned and 112 misaligned, 64 readers 594 and 314.

use drive::array::{Array, ArrayPlan, Level, Member};
use drive::hard_disk::{HardDisk, HardDiskPlan, Rmw};
use drive::{CommandKind, Model as _};
use units::random::Random;
use units::stripe::Rotation;

use crate::shared::{DISK, RAID5, TURN_NS, command, drive};

/// A 7200 rpm 512n disk of 40 GB, whose stroke is calibrated by one number: that one reader's
/// aligned request takes 1/133 s.
pub(crate) const STRIPED: HardDiskPlan = HardDiskPlan {
    capacity_bytes: 40_000_000_000,
    physical_bytes: 512,
    heads: 4,
    settle_ns: 1_500_000,
    full_stroke_ns: 18_200_000,
    rmw: Rmw::Buffered,
    cache_bytes: 0,
    run_bytes: 1 << 20,
    holds_tail: false,
    read_ahead_bytes: 0,
    ..DISK
};

const ARRAY: ArrayPlan =
    ArrayPlan { level: Level::Raid0, members: 2, chunk_bytes: 16_384, row_bytes: 512, ..RAID5 };

/// An array of disks that turn side by side, each at a pace of its own: the angle between two of
/// them takes every value, as that of real spindles does.
pub(crate) fn array(plan: ArrayPlan, offset_bytes: u64) -> Array<HardDisk> {
    let disk = |spindle: u32| {
        let plan = HardDiskPlan { rpm: 7200 + 3 * spindle, ..STRIPED };
        HardDisk::new(plan).expect("such a disk can be")
    };
    let members = (0..u32::try_from(plan.members).expect("few"))
        .map(|spindle| Member { model: disk(spindle), offset_bytes })
        .collect();
    Array::new(plan, members).expect("such an array can be")
}

/// Requests of one size at random multiples of it, and `offset_bytes` more.
#[derive(Clone, Copy, Debug)]
struct Requests {
    action: CommandKind,
    bytes: u64,
    offset_bytes: u64,
    span_bytes: u64,
    depth: u64,
    count: u64,
}

/// The mean nanoseconds of a request, all of them in a closed loop; and the array.
fn mean_ns(plan: ArrayPlan, requests: Requests) -> (u64, Array<HardDisk>) {
    let mut array = array(plan, 0);
    let mut random = Random::new(11);
    let seen = drive(&mut array, requests.depth, requests.count, |_, _| {
        let number = random.below(requests.span_bytes / requests.bytes);
        let offset_bytes = number * requests.bytes + requests.offset_bytes;
        command(requests.action, offset_bytes, requests.bytes)
    });
    (seen.end_ns / requests.count, array)
}

fn reads(depth: u64, offset_bytes: u64, count: u64) -> u64 {
    let requests = Requests {
        action: CommandKind::Read,
        bytes: 16_384,
        offset_bytes,
        span_bytes: 4_000_000_000,
        depth,
        count,
    };
    mean_ns(ARRAY, requests).0
}

#[test]
fn a_read_that_crosses_a_chunk_waits_for_the_later_of_two_spindles_a_sixth_of_a_turn_more() {
    let (aligned, crossing) = (reads(1, 0, 60_000), reads(1, 7680, 60_000));
    println!("{aligned} ns aligned, {crossing} ns crossing");
    // Calibrated: 133 requests/s.
    let published = 1_000_000_000 / 133;
    assert!(aligned.abs_diff(published) * 50 < published, "{aligned} ns aligned");
    // Predicted: E[max] of two waits is 2T/3, that of one is T/2. Half of the bytes pass at once,
    // on the medium and on the wire.
    let sixth = TURN_NS / 6;
    let saved = 8192 * TURN_NS / STRIPED.outer_track_bytes
        + 8192 * 1_000_000_000 / STRIPED.link_bytes_per_second;
    let more = crossing - aligned + saved;
    assert!(more.abs_diff(sixth) * 20 < sixth, "{more} ns more, {sixth} expected");
    let published = 1_000_000_000 / 112;
    assert!(crossing.abs_diff(published) * 50 < published, "{crossing} ns crossing");
}

#[test]
fn of_64_readers_almost_half_the_speed_is_lost_where_every_read_crosses_a_chunk() {
    for (offset, published) in [(0, 594), (7680, 314)] {
        // Fitted: the settling time was chosen.
        let rate = 1_000_000_000 / reads(64, offset, 20_000);
        println!("offset {offset}: {rate} requests/s, published {published}");
        assert!(rate.abs_diff(published) * 100 < published * 11, "{rate} at offset {offset}");
    }
}

#[test]
fn a_request_crosses_a_chunk_of_raid5_as_often_as_it_is_a_part_of_it_and_reads_pay_5_to_30_percent()
{
    let levels =
        [(Level::Raid5(Rotation::LeftSymmetric), 5), (Level::Raid6(Rotation::LeftSymmetric), 6)];
    for (level, members) in levels {
        let plan = ArrayPlan { level, members, chunk_bytes: 65_536, ..ARRAY };
        for bytes in [4096_u64, 8192, 16_384] {
            let run = |offset_bytes, action, count| {
                let span_bytes = 4_000_000_000;
                let depth = 64;
                let requests = Requests { action, bytes, offset_bytes, span_bytes, depth, count };
                mean_ns(plan, requests)
            };
            let read = |offset| run(offset, CommandKind::Read, 6000);
            let (aligned, shifted) = (read(0), read(512));
            let pieces = |array: &Array<HardDisk>| array.tally().member_reads;
            let (one, all) = (pieces(&aligned.1), pieces(&shifted.1));
            let (crossing, wanted) = ((all - one) * 10_000 / one, bytes * 10_000 / 65_536);
            let slower = |aligned: u64, shifted: u64| (shifted * 1000 / aligned).max(1000) - 1000;
            let reads = slower(aligned.0, shifted.0);
            let write = |offset| run(offset, CommandKind::Write { fua: false }, 2000).0;
            let writes = slower(write(0), write(512));
            let found = format!(
                "{level:?}, {bytes} bytes: {crossing} of 10000 cross, {wanted} expected; reads are \
                 {reads} and writes {writes} in 1000 slower"
            );
            println!("{found}");
            assert!(crossing.abs_diff(wanted) * 8 < wanted, "{found}");
            assert!((50..=300).contains(&reads), "{found}");
            // Writes pay for two more members of those that a row has anyway.
            assert!((20..=300).contains(&writes) && writes < reads, "{found}");
        }
    }
}
