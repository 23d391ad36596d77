//! Drives that keep their word, over workloads, cuts and policies of all kinds.

use drive::hard_disk::{HardDiskPlan, Rmw};
use drive::power::{Cut, SectorContent, Survivors, UnderHead, cut, judge};
use drive::{CommandKind, DriveCommand, Model as _};
use units::random::Random;

use super::logged::{PLAN, any_cut, any_plan, disk, drive, told};
use crate::shared::{command, once};

/// Counts over many cuts.
#[derive(Debug, Default)]
struct Seen {
    missing: u64,
    collateral: u64,
    torn: u64,
    changed: u64,
    promised: u64,
}

/// Cuts disks of `plan` at random; `cuts` of each of `disks`.
fn cuts(
    (disks, cuts): (u64, u64),
    random: &mut Random,
    plan: impl Fn(&mut Random) -> HardDiskPlan,
    with: impl Fn(Cut) -> Cut,
) -> Seen {
    let mut seen = Seen::default();
    for _ in 0..disks {
        let plan = plan(random);
        let mut model = disk(plan);
        let end_ns = drive(&mut model, 40, random);
        let medium = model.medium_log().expect("it is kept");
        for _ in 0..cuts {
            let cut_ = with(any_cut(end_ns, random));
            let after = cut(model.log(), medium, &cut_).expect("it can be cut");
            let judged = judge(model.log(), &after).expect("there is room");
            assert_eq!(judged.missing, 0, "{plan:?}\n{cut_:?}\n{judged:?}\n{:?}", model.log());
            if cut_.under_head != UnderHead::Unreadable {
                assert_eq!((judged.torn, judged.collateral), (0, 0), "{cut_:?}\n{judged:?}");
            }
            seen.missing += judged.missing;
            seen.collateral += judged.collateral;
            seen.torn += judged.torn;
            seen.changed += u64::try_from(after.changed().count()).expect("few");
            let first = after.changed().next().map_or(0, |(lba, _)| lba);
            let is_promised = !drive::power::legal(model.log(), cut_.at_ns)(first).original;
            seen.promised += u64::from(is_promised);
        }
    }
    seen
}

#[test]
fn no_honest_disk_breaks_a_promise_whatever_survives_of_the_rest() {
    let mut random = testkit::random(1);
    let seen = cuts((300, 12), &mut random, any_plan, |cut| cut);
    println!("{seen:?}");
    assert!(seen.changed > 10_000 && seen.promised > 500 && seen.torn > 0, "{seen:?}");
}

#[test]
fn a_misaligned_write_loses_neighbors_that_the_host_never_wrote_unless_they_are_buffered() {
    let mut random = testkit::random(2);
    let unreadable = |cut| Cut { under_head: UnderHead::Unreadable, ..cut };
    for rmw in [Rmw::Batched, Rmw::PerSector, Rmw::Serial] {
        let seen = cuts((60, 20), &mut random, |_| HardDiskPlan { rmw, ..PLAN }, unreadable);
        println!("{rmw:?}: {seen:?}");
        assert!(seen.collateral > 0 && seen.torn > 0, "{rmw:?}: {seen:?}");
    }
    let buffered = HardDiskPlan { rmw: Rmw::Buffered, ..PLAN };
    let seen = cuts((60, 20), &mut random, |_| buffered, unreadable);
    println!("buffered: {seen:?}");
    assert!(seen.collateral == 0 && seen.torn > 0, "{seen:?}");
    let native = HardDiskPlan { physical_bytes: 512, ..PLAN };
    let seen = cuts((60, 20), &mut random, |_| native, unreadable);
    assert!(seen.collateral == 0 && seen.torn > 0, "{seen:?}");
}

#[test]
fn a_cache_that_does_not_forget_keeps_the_promises_of_a_drive_that_says_it_has_none() {
    let mut random = testkit::random(3);
    let (mut kept, mut missing) = (0, 0);
    for _ in 0..60 {
        let plan = HardDiskPlan { cache_bytes: 128 << 10, ..any_plan(&mut random) };
        let mut told = told(&plan);
        told.has_volatile_cache = false;
        let model = drive::HardDisk::new(plan).expect("such a disk can be");
        let mut model = drive::power::Logged::new(model, told, 10_000).expect("it keeps a log");
        let end_ns = drive(&mut model, 40, &mut random);
        let medium = model.medium_log().expect("it is kept");
        for _ in 0..12 {
            let any = any_cut(end_ns, &mut random);
            for is_non_volatile in [true, false] {
                let cut_ = Cut { is_non_volatile, ..any };
                let after = cut(model.log(), medium, &cut_).expect("it can be cut");
                let judged = judge(model.log(), &after).expect("there is room");
                if is_non_volatile {
                    assert_eq!(judged.missing, 0, "{cut_:?}\n{judged:?}\n{:?}", model.log());
                    assert_eq!(judged.collateral, 0, "{cut_:?}\n{judged:?}");
                    kept += 1;
                }
                missing += judged.missing;
            }
        }
    }
    println!("{kept} cuts kept; without capacitors {missing} sectors were missing");
    assert!(kept == 720 && missing > 1000);
}

#[test]
fn after_a_flush_every_sector_holds_the_newest_write_and_nothing_is_left_open() {
    let mut random = testkit::random(4);
    for _ in 0..100 {
        let plan = any_plan(&mut random);
        let (mut model, mut now_ns, mut newest) = (disk(plan), 0, [None; 128]);
        for id in 0..30_u64 {
            let (first, sectors) = (random.below(112), 1 + random.below(16));
            let fua = random.below(4) == 0;
            let number = usize::try_from(id).expect("small");
            for lba in first..first + sectors {
                newest[usize::try_from(lba).expect("small")] = Some(number);
            }
            let write = command(CommandKind::Write { fua }, first * 512, sectors * 512);
            now_ns = once(&mut model, DriveCommand { id, ..write }, now_ns);
        }
        now_ns =
            once(&mut model, DriveCommand { id: 99, ..command(CommandKind::Flush, 0, 0) }, now_ns);
        let medium = model.medium_log().expect("it is kept");
        for survivors in [Survivors::None, Survivors::All, Survivors::Worst] {
            let cut_ = Cut { survivors, ..Cut::at(now_ns) };
            let after = cut(model.log(), medium, &cut_).expect("it can be cut");
            for (lba, number) in (0..).zip(newest) {
                let wanted = number.map_or(SectorContent::Original, SectorContent::Write);
                assert_eq!(after.held(lba), wanted, "sector {lba}, {survivors:?}, {plan:?}");
            }
        }
    }
}
