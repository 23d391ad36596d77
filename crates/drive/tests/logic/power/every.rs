//! Claims about drives of every kind: honest ones keep their word whatever survives besides, and
//! each liar is found.

use drive::power::{
    Cut, Faults, Liar, Lies, Logged, SectorContent, Survivors, UnderHead, judge, legal,
};
use drive::{CommandKind, DriveCommand, Model};
use units::random::Random;

use super::kinds::{KINDS, Kind, logged, model};
use super::logged::{any_cut, drive};
use crate::shared::{command, once, run_out};

const HONEST: Lies = Lies { flush: false, fua: false };

/// Counts over many cuts.
#[derive(Debug, Default)]
struct Seen {
    missing: u64,
    /// Sectors that hold a write, and those of them that no promise covers.
    written: u64,
    open: u64,
    mirrors: u64,
    parity: u64,
}

/// Cuts drives as `make` makes them, `drives` times, each ten times.
fn cuts(
    drives: u64,
    random: &mut Random,
    make: impl Fn(&mut Random) -> Box<dyn Model>,
    with: impl Fn(Cut) -> Cut,
) -> Seen {
    let mut seen = Seen::default();
    for _ in 0..drives {
        let mut model = logged(make(random));
        let end_ns = drive(&mut model, 40, random);
        for _ in 0..10 {
            let cut = with(any_cut(end_ns, random));
            let after = model.cut(&cut).unwrap_or_else(|fault| panic!("{cut:?}: {fault}"));
            let judged = judge(model.log(), &after).expect("there is room");
            seen.missing += judged.missing;
            let legal = legal(model.log(), cut.at_ns);
            for (lba, held) in after.changed() {
                let SectorContent::Write(number) = held else { continue };
                seen.written += 1;
                let may = legal(lba);
                seen.open += u64::from(may.original);
                assert!(model.log().writes()[number].sent.at_ns <= cut.at_ns, "from the future");
            }
            seen.mirrors += after.unfit().mirrors;
            seen.parity += after.unfit().parity;
        }
    }
    seen
}

/// Returns what is half written is new or old: whether sectors can become unreadable is the disk's
/// matter.
fn whole(cut: Cut) -> Cut {
    match cut.under_head {
        UnderHead::Unreadable => Cut { under_head: UnderHead::Old, ..cut },
        _ => cut,
    }
}

#[test]
fn no_honest_drive_of_any_kind_breaks_a_promise_whatever_survives_of_the_rest() {
    for (seed, kind) in (30..).zip(KINDS) {
        let mut random = testkit::random(seed);
        let seen = cuts(25, &mut random, |random| model(kind, HONEST, random), whole);
        println!("{kind:?}: {seen:?}");
        assert_eq!(seen.missing, 0, "{kind:?}: {seen:?}");
        assert!(seen.written > 500, "{kind:?}: {seen:?}");
    }
}

#[test]
fn a_mapping_unit_that_is_lost_takes_its_neighbors_and_no_promise() {
    let mut random = testkit::random(50);
    let unreadable = |cut| Cut { under_head: UnderHead::Unreadable, ..cut };
    let (mut collateral, mut torn) = (0, 0);
    for _ in 0..30 {
        let mut model = logged(model(Kind::Flash, HONEST, &mut random));
        let end_ns = drive(&mut model, 40, &mut random);
        for _ in 0..20 {
            let cut = unreadable(any_cut(end_ns, &mut random));
            let judged = judge(model.log(), &model.cut(&cut).expect("it can be cut"));
            let judged = judged.expect("there is room");
            assert_eq!(judged.missing, 0, "{cut:?}\n{judged:?}\n{:?}", model.log());
            (collateral, torn) = (collateral + judged.collateral, torn + judged.torn);
        }
    }
    assert!(collateral > 0 && torn > 0, "{collateral} {torn}");
    // Capacitors let it end what it has begun.
    let seen = cuts(15, &mut random, |random| model(Kind::Protected, HONEST, random), unreadable);
    assert_eq!(seen.missing, 0, "{seen:?}");
}

#[test]
fn whoever_lies_about_flushes_or_forced_writes_is_found_of_every_kind_that_forgets() {
    let kinds = [Kind::Raid0, Kind::Raid1, Kind::Raid10, Kind::Raid5, Kind::Raid6];
    let least = |cut| Cut { survivors: Survivors::None, under_head: UnderHead::Old, ..cut };
    let lies = [Lies { flush: true, fua: false }, Lies { flush: false, fua: true }];
    for (seed, lies) in (60..).zip(lies) {
        for kind in kinds {
            // The members lie: the array passes on what it was told.
            let mut random = testkit::random(seed);
            let seen = cuts(15, &mut random, |random| model(kind, lies, random), least);
            assert!(seen.missing > 0, "members of {kind:?}, {lies:?}: {seen:?}");
        }
        for kind in [Kind::Flash, Kind::Raid5] {
            let mut random = testkit::random(seed + 10);
            let liar = |random: &mut Random| -> Box<dyn Model> {
                Box::new(Liar::new(model(kind, HONEST, random), lies))
            };
            let seen = cuts(15, &mut random, liar, least);
            assert!(seen.missing > 0, "{kind:?}, {lies:?}: {seen:?}");
        }
        // A battery makes good what the disks below do not keep, until they are given it.
        let mut random = testkit::random(seed + 20);
        let seen = cuts(40, &mut random, |random| model(Kind::Battery, lies, random), least);
        assert_eq!(seen.missing > 0, lies.fua, "{lies:?}: {seen:?}");
    }
}

#[test]
fn a_protection_that_fails_is_found() {
    let least = |cut| Cut { survivors: Survivors::None, under_head: UnderHead::Old, ..cut };
    let fails = Faults { protection_fails: true, ..Faults::default() };
    for (seed, kind) in (90..).zip([Kind::Protected, Kind::Battery]) {
        let mut random = testkit::random(seed);
        let make = |random: &mut Random| model(kind, HONEST, random);
        let seen = cuts(15, &mut random, make, |cut| Cut { faults: fails, ..least(cut) });
        assert!(seen.missing > 50, "{kind:?}: {seen:?}");
    }
}

/// A drive of `kind` that was written to and then flushed until nothing was left to do.
fn flushed(kind: Kind, random: &mut Random) -> (Logged<Box<dyn Model>>, u64) {
    let mut model = logged(model(kind, HONEST, random));
    let now_ns = drive(&mut model, 40, random);
    let now_ns = run_out(&mut model, now_ns, &mut Vec::new());
    let flush = DriveCommand { id: 9999, ..command(CommandKind::Flush, 0, 0) };
    let now_ns = once(&mut model, flush, now_ns);
    (model, now_ns)
}

#[test]
fn a_member_that_is_lost_while_nothing_is_under_way_takes_nothing_with_it_but_from_raid_0() {
    for (seed, kind) in (120..).zip(KINDS) {
        let members = match kind {
            Kind::Raid1 => 2,
            Kind::Raid0 => 3,
            Kind::Raid5 | Kind::Raid10 => 4,
            Kind::Raid6 => 5,
            _ => continue,
        };
        let mut random = testkit::random(seed);
        let mut missing = 0;
        for _ in 0..10 {
            let (model, now_ns) = flushed(kind, &mut random);
            for member in 0..members {
                let faults = Faults { lost_member: Some(member), ..Faults::default() };
                let after = model.cut(&Cut { faults, ..Cut::at(now_ns) }).expect("it can be cut");
                missing += judge(model.log(), &after).expect("there is room").missing;
                // Mirrors may differ for good: nothing orders two writes to one place that are in
                // flight together.
                assert_eq!(after.unfit().parity, 0, "{kind:?}");
            }
            let faults = Faults { lost_member: Some(members), ..Faults::default() };
            assert!(model.cut(&Cut { faults, ..Cut::at(now_ns) }).is_err(), "there is none");
        }
        assert_eq!(missing > 0, kind == Kind::Raid0, "{kind:?}: {missing}");
    }
}

#[test]
fn a_cut_tears_parity_from_data_and_with_a_member_lost_too_that_is_the_write_hole() {
    let mut random = testkit::random(140);
    for kind in [Kind::Raid5, Kind::Raid6] {
        let seen = cuts(20, &mut random, |random| model(kind, HONEST, random), whole);
        assert!(seen.missing == 0 && seen.parity > 0 && seen.mirrors == 0, "{kind:?}: {seen:?}");
    }
    let lost = Faults { lost_member: Some(1), ..Faults::default() };
    let hole = |cut| Cut { faults: lost, ..whole(cut) };
    let seen = cuts(20, &mut random, |random| model(Kind::Raid5, HONEST, random), hole);
    assert!(seen.missing > 0, "{seen:?}");
    for kind in [Kind::Raid1, Kind::Raid10] {
        let seen = cuts(20, &mut random, |random| model(kind, HONEST, random), whole);
        assert!(seen.missing == 0 && seen.mirrors > 0 && seen.parity == 0, "{kind:?}: {seen:?}");
        // Mirrors have no hole: the other has all that was promised.
        let seen = cuts(20, &mut random, |random| model(kind, HONEST, random), hole);
        assert_eq!(seen.missing, 0, "{kind:?}: {seen:?}");
    }
}
