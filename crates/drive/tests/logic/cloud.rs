//! Rates that a network volume's limits allow.

use drive::{
    Cloud, CloudPlan, CommandKind, Flash, Ideal, Memory, MemoryPlan, Model, Spread, VolumeLimits,
};

use crate::shared::{Seen, WRITE, command, drive, is_near};

const GIB: u64 = 1 << 30;

fn plan(limits: VolumeLimits) -> CloudPlan {
    CloudPlan {
        request_ns: 200_000,
        response_ns: 200_000,
        jitter_ns: 100_000,
        spread: Spread::Uniform,
        seed: 1,
        limits,
    }
}

fn volume(limits: VolumeLimits) -> Cloud<Ideal> {
    let ideal = Ideal::new(100 * GIB, 512).expect("such a store can be");
    Cloud::new(plan(limits), ideal).expect("such a volume can be")
}

fn writes(volume: &mut impl Model, depth: u64, count: u64, bytes: u64) -> Seen {
    drive(volume, depth, count, |_, number| command(WRITE, number % 1000 * bytes, bytes))
}

#[test]
fn gp2_has_the_limits_that_are_documented() {
    let baseline =
        |gib| (VolumeLimits::gp2(gib).baseline_per_second, VolumeLimits::gp2(gib).burst_per_second);
    let documented = [
        (1, (100, 3000)),
        (100, (300, 3000)),
        (1000, (3000, 3000)),
        (5334, (16_000, 16_000)),
        (16_384, (16_000, 16_000)),
    ];
    for (gib, wanted) in documented {
        assert_eq!(baseline(gib), wanted, "{gib} GiB");
    }
}

/// 100 GiB: 3000 a second until 5.4 million credits, less the 300 a second that come in, are gone:
/// 2000 seconds. Then 300. The same in a thousandth of the time, with a thousandth of the credits.
#[test]
fn a_burst_lasts_as_long_as_its_credits_and_the_baseline_follows() {
    let limits = VolumeLimits { credits: 5400, ..VolumeLimits::gp2(100) };
    is_near(writes(&mut volume(limits), 32, 6000, 4096).per_second(), 3000, 1);
    let seen = writes(&mut volume(limits), 32, 9000, 4096);
    // 6000 in the two seconds of the burst, and 3000 in ten.
    is_near(seen.end_ns, 12_000_000_000, 1);
    // Without credits, the baseline at once; the first waits for nothing.
    let limits = VolumeLimits { credits: 0, burst_per_second: 300, ..limits };
    is_near(writes(&mut volume(limits), 32, 3000, 4096).per_second(), 300, 1);
    assert!(writes(&mut volume(limits), 1, 1, 4096).end_ns <= 500_000);
}

#[test]
fn credits_come_back_while_nothing_is_done() {
    let limits = VolumeLimits { credits: 300, ..VolumeLimits::gp2(100) };
    let mut volume = volume(limits);
    let mut done = Vec::new();
    let mut spend = |at_ns, ids: std::ops::Range<u64>| {
        done.clear();
        for id in ids {
            volume.submit(drive::DriveCommand { id, ..command(WRITE, 0, 4096) }, at_ns, &mut done);
        }
        volume.advance(at_ns + 5_000_000_000, &mut done);
        done.last().unwrap().at_ns - at_ns
    };
    let first_ns = spend(0, 0..300);
    assert!(first_ns < 110_000_000, "{first_ns}");
    // Five seconds bring 1500 credits, of which 300 are kept.
    let second_ns = spend(5_000_000_000, 300..600);
    assert!(second_ns < 110_000_000, "{second_ns}");
    let third_ns = spend(10_000_000_000, 600..1500);
    assert!(third_ns > 1_800_000_000, "{third_ns}");
}

#[test]
fn a_large_operation_counts_as_several_and_bytes_have_a_limit_of_their_own() {
    let limits = VolumeLimits { credits: 0, burst_per_second: 300, ..VolumeLimits::gp2(100) };
    is_near(writes(&mut volume(limits), 8, 3000, 256 << 10).per_second(), 300, 1);
    is_near(writes(&mut volume(limits), 8, 1500, 512 << 10).per_second(), 150, 1);
    is_near(writes(&mut volume(limits), 8, 1500, (256 << 10) + 4096).per_second(), 150, 1);
    // 1111 of 2000 credits at 1000 a second, and the rest at 100.
    let burst = VolumeLimits {
        baseline_per_second: 100,
        burst_per_second: 1000,
        credits: 1000,
        bytes_per_second: 1 << 40,
        ..limits
    };
    is_near(writes(&mut volume(burst), 8, 1000, 512 << 10).end_ns, 10_000_000_000, 1);
    let limits = VolumeLimits { bytes_per_second: 16 << 20, ..limits };
    is_near(writes(&mut volume(limits), 8, 640, 256 << 10).per_second(), 64, 1);
}

#[test]
fn one_at_a_time_takes_the_way_there_and_back_and_no_more_than_the_jitter() {
    for spread in [Spread::Uniform, Spread::Triangular] {
        let store = Ideal::new(GIB, 4096).unwrap();
        let plan = CloudPlan { spread, ..plan(VolumeLimits::gp2(1000)) };
        let mut volume = Cloud::new(plan, store).unwrap();
        let mut took_ns = writes(&mut volume, 1, 5000, 4096).took_ns;
        took_ns.sort_unstable();
        let (least, most) = (took_ns[0], took_ns[4999]);
        assert!(least >= 400_000 && most <= 500_000, "{spread:?}: {least} to {most}");
        is_near(took_ns[2500], 450_000, 1);
        // A quarter of uniform values lies in the lower quarter, and an eighth of triangular ones.
        let lower = took_ns.iter().filter(|&&took_ns| took_ns < 425_000).count();
        let wanted = if spread == Spread::Uniform { 1150..1350 } else { 540..710 };
        assert!(wanted.contains(&lower), "{spread:?}: {lower}");
    }
}

#[test]
fn a_volume_shows_the_drive_under_it() {
    let memory = MemoryPlan {
        capacity_bytes: GIB,
        logical_bytes: 512,
        line_bytes: 4096,
        banks: 1,
        read_ns: 1_000_000,
        write_ns: 1_000_000,
        host_ns: 0,
        command_ns: 0,
        link_bytes_per_second: 1 << 40,
    };
    let store = Memory::new(memory).unwrap();
    let mut volume = Cloud::new(plan(VolumeLimits::gp2(1000)), store).unwrap();
    assert_eq!((volume.capacity_bytes(), volume.logical_bytes()), (GIB, 512));
    let seen = writes(&mut volume, 1, 100, 4096);
    assert!(seen.took_ns.iter().all(|took_ns| (1_400_000..=1_500_003).contains(took_ns)));
    assert_eq!(volume.tally().commands, 100);
    assert_eq!(volume.tally(), volume.store().tally());
    let mut done = Vec::new();
    let beyond = command(CommandKind::Read, GIB, 512);
    volume.submit(beyond, seen.end_ns, &mut done);
    assert_eq!(done[0].outcome, Err(drive::CommandFault::Bounds));
    // Any model will do.
    let _: Option<Cloud<Cloud<Flash>>> = None;
}

#[test]
fn a_plan_that_cannot_be_says_which_value_and_why() {
    let limits = VolumeLimits::gp2(100);
    let wrong = [
        (
            VolumeLimits { baseline_per_second: 0, ..limits },
            "baseline is 0, must be from 1 to 10^9",
        ),
        (
            VolumeLimits { burst_per_second: 299, ..limits },
            "burst is 299, must be from the baseline to 10^9",
        ),
        (VolumeLimits { counted_bytes: 3, ..limits }, "counted is 3, must be from 512 to 2^40"),
    ];
    for (limits, wanted) in wrong {
        let fault = Cloud::new(plan(limits), Ideal::new(GIB, 512).unwrap()).unwrap_err();
        assert_eq!(fault.to_string(), wanted);
    }
    assert!(Ideal::new(GIB, 3).is_err());
    assert!(Ideal::new(GIB + 1, 512).is_err());
}

/// A built-in drive with a write cache that loses nothing, and of which it tells.
#[test]
fn a_volume_tells_of_the_write_cache_that_its_store_tells_of() {
    let over = |name: &str| {
        let store = drive::profile::called(name).expect("a built-in drive");
        let store = store.model().expect("such a drive can be");
        Cloud::new(plan(VolumeLimits::gp2(100)), store).expect("such a volume can be")
    };
    let told = |name: &str| (over(name).told().has_volatile_cache, over(name).has_write_cache());
    assert_eq!(told("m4-256"), (true, true));
    assert_eq!(told("dc-s3700"), (false, true));
    assert_eq!(told("dc-p3700"), (false, false));
}
