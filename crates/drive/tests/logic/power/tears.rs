//! Tears of the sector under the head.

use std::collections::BTreeSet;

use drive::hard_disk::{HardDiskPlan, Rmw};
use drive::power::{Aftermath, Cut, CutFault, SectorContent, Survivors, UnderHead, cut, judge};
use drive::{CommandKind, DriveCommand, Model as _};

use super::logged::{PLAN, disk, drive, told};

/// All aftermaths of one forced write of `sectors` from `first`, cut every 10 us from its begin to
/// its end.
fn aftermaths(plan: HardDiskPlan, (first, sectors): (u64, u64), cut_: Cut) -> BTreeSet<Aftermath> {
    let mut model = disk(plan);
    let action = CommandKind::Write { fua: true };
    let (offset_bytes, length_bytes) = (first * 512, sectors * 512);
    let mut done = Vec::new();
    model.submit(DriveCommand { id: 1, action, offset_bytes, length_bytes }, 0, &mut done);
    model.advance(100_000_000, &mut done);
    let end_ns = done[0].at_ns;
    let medium = model.medium_log().expect("it is kept");
    let at = |at_ns| {
        let after = cut(model.log(), medium, &Cut { at_ns, ..cut_ }).expect("it can be cut");
        assert!(judge(model.log(), &after).expect("there is room").is_kept());
        Aftermath::new(0, after.changed())
    };
    (0..=end_ns).step_by(10_000).chain([end_ns]).map(at).collect()
}

/// Sectors that hold the write, and those that cannot be read.
fn shapes(aftermaths: BTreeSet<Aftermath>) -> BTreeSet<(Vec<u64>, Vec<u64>)> {
    let shape = |after: Aftermath| {
        let of = |wanted: SectorContent| {
            let is = after.changed().filter(|(_, held)| *held == wanted);
            is.map(|(lba, _)| lba).collect::<Vec<u64>>()
        };
        (of(SectorContent::Write(0)), of(SectorContent::Unreadable))
    };
    aftermaths.into_iter().map(shape).collect()
}

#[test]
fn a_misaligned_write_tears_between_physical_sectors_and_never_inside() {
    let none = Cut::at(0);
    for rmw in [Rmw::Buffered, Rmw::Batched, Rmw::PerSector, Rmw::Serial] {
        let found = shapes(aftermaths(HardDiskPlan { rmw, ..PLAN }, (9, 8), none));
        let (all, part) = ((9..17).collect(), (9..16).collect());
        let wanted = BTreeSet::from([(vec![], vec![]), (part, vec![]), (all, vec![])]);
        assert_eq!(found, wanted, "{rmw:?}");
    }
    let aligned = shapes(aftermaths(PLAN, (8, 8), none));
    assert_eq!(aligned, BTreeSet::from([(vec![], vec![]), ((8..16).collect(), vec![])]));
}

#[test]
fn a_cut_under_the_head_takes_up_to_seven_neighbors_with_it() {
    let unreadable = Cut { under_head: UnderHead::Unreadable, ..Cut::at(0) };
    let found = shapes(aftermaths(PLAN, (9, 8), unreadable));
    // Of the second physical sector one logical sector was written: seven are lost beside it.
    assert!(found.contains(&((9..16).collect(), (16..24).collect())), "{found:?}");
    assert!(found.contains(&(vec![], (8..16).collect())), "{found:?}");
    let buffered = HardDiskPlan { rmw: Rmw::Buffered, ..PLAN };
    let found = shapes(aftermaths(buffered, (9, 8), unreadable));
    assert!(found.iter().all(|(_, lost)| lost.is_empty()), "{found:?}");
}

#[test]
fn the_sector_under_the_head_stays_as_it_was_where_that_is_wanted() {
    let old = Cut { under_head: UnderHead::Old, survivors: Survivors::All, ..Cut::at(0) };
    let found = shapes(aftermaths(PLAN, (8, 8), old));
    assert_eq!(found, BTreeSet::from([(vec![], vec![]), ((8..16).collect(), vec![])]));
}

#[test]
fn a_log_that_is_full_is_not_judged() {
    let told = told(&PLAN);
    let model = drive::HardDisk::new(PLAN).expect("such a disk can be");
    let mut model = drive::power::Logged::new(model, told, 10).expect("it keeps a log");
    drive(&mut model, 40, &mut units::random::Random::new(1));
    let medium = model.medium_log().expect("it is kept");
    assert_eq!(cut(model.log(), medium, &Cut::at(5)), Err(CutFault::Full));
    assert_eq!(judge(model.log(), &Aftermath::new(5, [])), Err(CutFault::Full));
}

#[test]
fn a_disk_that_was_told_something_already_keeps_no_log() {
    let mut model = drive::HardDisk::new(PLAN).expect("such a disk can be");
    assert!(model.medium_log().is_none());
    let read =
        DriveCommand { id: 1, action: CommandKind::Read, offset_bytes: 0, length_bytes: 512 };
    model.submit(read, 0, &mut Vec::new());
    assert!(!model.keep_log(100) && model.medium_log().is_none());
}

#[test]
fn a_disk_from_a_profile_keeps_its_log_as_others_do() {
    let profile = &drive::profile::built_in()[0];
    let model = profile.model().expect("a test reads every built-in profile");
    let told = told(&PLAN);
    let mut model = drive::power::Logged::new(model, told, 100).expect("it keeps a log");
    let end_ns = drive(&mut model, 20, &mut units::random::Random::new(2));
    let medium = model.medium_log().expect("it is kept");
    let after = cut(model.log(), medium, &Cut::at(end_ns)).expect("it can be cut");
    assert!(judge(model.log(), &after).expect("there is room").is_kept());
}
