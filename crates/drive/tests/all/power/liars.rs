//! Drives that do not keep their word.

use drive::Model as _;
use drive::hard_disk::{HardDisk, HardDiskPlan, Rmw};
use drive::power::{
    Cut, Faults, Liar, Lies, Logged, OracleFinding, SectorFault, Unserialized, cut, judge,
};
use units::random::Random;

use super::logged::{PLAN, drive, told};

/// Returns how many promised sectors are missing over cuts of liars, with faults besides.
fn missing(lies: Lies, faults: Faults, random: &mut Random) -> u64 {
    let mut missing = 0;
    for _ in 0..40 {
        let plan = HardDiskPlan { rmw: Rmw::Buffered, idle_ns: 500_000_000, ..PLAN };
        let liar = Liar::new(HardDisk::new(plan).expect("such a disk can be"), lies);
        let mut model = Logged::new(liar, told(&plan), 10_000).expect("it keeps a log");
        let end_ns = drive(&mut model, 40, random);
        let medium = model.medium_log().expect("it is kept");
        for _ in 0..10 {
            let cut_ = Cut { faults, ..Cut::at(random.below(end_ns + 1)) };
            let after = cut(model.log(), medium, &cut_).expect("it can be cut");
            let judged = judge(model.log(), &after).expect("there is room");
            let listed: u64 = judged.findings.iter().map(|finding| finding.sectors).sum();
            assert_eq!(listed, judged.missing + judged.torn + judged.collateral);
            assert_eq!(judged.is_kept(), judged.missing == 0);
            let is_missing = |finding: &OracleFinding| finding.verdict == SectorFault::Missing;
            assert_eq!(judged.findings.iter().any(is_missing), judged.missing > 0);
            missing += judged.missing;
        }
    }
    missing
}

#[test]
fn a_drive_that_lies_about_flushes_is_found_and_the_same_drive_that_does_not_is_not() {
    let mut random = testkit::random(5);
    let (honest, none) = (Lies::default(), Faults::default());
    assert_eq!(missing(honest, none, &mut random), 0);
    assert!(missing(Lies { flush: true, ..honest }, none, &mut random) > 1000);
}

#[test]
fn a_drive_that_keeps_forced_writes_in_its_cache_is_found() {
    let mut random = testkit::random(6);
    let lies = Lies { fua: true, flush: false };
    assert!(missing(lies, Faults::default(), &mut random) > 100);
}

#[test]
fn what_drives_were_seen_to_lose_besides_is_found_under_its_name() {
    let mut random = testkit::random(7);
    let (honest, none) = (Lies::default(), Faults::default());
    let faults = [
        Faults { rollback_ns: 20_000_000, ..none },
        Faults { unserialized: Some(Unserialized { seed: 1, per_mille: 50 }), ..none },
        Faults { is_dead: true, ..none },
    ];
    for faults in faults {
        assert!(missing(honest, faults, &mut random) > 100, "{faults:?}");
    }
    let never = Faults { unserialized: Some(Unserialized { seed: 1, per_mille: 0 }), ..none };
    assert_eq!(missing(honest, never, &mut random), 0);
}
