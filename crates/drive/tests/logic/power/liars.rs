//! Drives that do not keep their word.

use drive::Model as _;
use drive::hard_disk::{HardDisk, HardDiskPlan, Rmw};
use drive::power::{Cut, Liar, Lies, Logged, cut, judge};
use units::random::Random;

use super::logged::{PLAN, drive, told};

/// Returns how many promised sectors are missing over cuts of liars.
fn missing(lies: Lies, random: &mut Random) -> u64 {
    let mut missing = 0;
    for _ in 0..40 {
        let plan = HardDiskPlan { rmw: Rmw::Buffered, idle_ns: 500_000_000, ..PLAN };
        let liar = Liar::new(HardDisk::new(plan).expect("such a disk can be"), lies);
        let mut model = Logged::new(liar, told(&plan), 10_000).expect("it keeps a log");
        let end_ns = drive(&mut model, 40, random);
        let medium = model.medium_log().expect("it is kept");
        for _ in 0..10 {
            let cut_ = Cut::at(random.below(end_ns + 1));
            let after = cut(model.log(), medium, &cut_).expect("it can be cut");
            let judged = judge(model.log(), &after).expect("there is room");
            missing += judged.missing;
        }
    }
    missing
}

#[test]
fn a_drive_that_lies_about_flushes_is_found_and_the_same_drive_that_does_not_is_not() {
    let mut random = testkit::random(5);
    let honest = Lies::default();
    assert_eq!(missing(honest, &mut random), 0);
    assert!(missing(Lies { flush: true, ..honest }, &mut random) > 1000);
}

#[test]
fn a_drive_that_keeps_forced_writes_in_its_cache_is_found() {
    let mut random = testkit::random(6);
    let lies = Lies { fua: true, flush: false };
    assert!(missing(lies, &mut random) > 100);
}
