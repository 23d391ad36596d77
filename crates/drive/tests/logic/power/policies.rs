//! Survivors by policy, if nothing decides but the policy.

use drive::power::{
    Cut, Data, HostLog, HostPromises, MediumLog, MediumPass, SectorContent, Sectors, Survivors,
    UnderHead, cut,
};
use units::ByteRange;

const SECTORS: Sectors = Sectors { logical_bytes: 512, physical_bytes: 4096, origin_bytes: 0 };

fn sectors(first: u64, count: u64) -> ByteRange {
    ByteRange::new(first * 512, count * 512).expect("small")
}

/// A drive whose cache has a write of 8 sectors from each of these, acknowledged in this order.
fn cached(firsts: &[u64]) -> (HostLog, MediumLog) {
    let told = HostPromises { sectors: SECTORS, has_volatile_cache: true };
    let (mut host, mut medium) = (HostLog::new(told, 100), MediumLog::new(SECTORS, 1 << 20, 100));
    for (id, first) in (1..).zip(firsts) {
        let number = host.write_sent(sectors(*first, 8), false, id * 10);
        medium.sent(id);
        medium.arrived(id, true, id * 10 + 1);
        host.write_done(number.expect("there is room"), id * 10 + 2);
        medium.ended(id);
    }
    (host, medium)
}

/// Checks the contents of the first sectors of three writes.
fn check(survivors: Survivors, is_non_volatile: bool, wanted: [Option<usize>; 3]) {
    let (host, medium) = cached(&[0, 8, 16]);
    let cut_ = Cut { survivors, is_non_volatile, ..Cut::at(1000) };
    let after = cut(&host, &medium, &cut_).expect("it can be cut");
    let wanted = wanted.map(|number| number.map_or(SectorContent::Original, SectorContent::Write));
    assert_eq!([0, 8, 16].map(|lba| after.held(lba)), wanted, "{survivors:?}");
    assert_eq!([7, 15, 23].map(|lba| after.held(lba)), wanted, "none is torn");
}

#[test]
fn each_policy_keeps_the_writes_that_its_name_says() {
    check(Survivors::None, false, [None, None, None]);
    check(Survivors::All, false, [Some(0), Some(1), Some(2)]);
    check(Survivors::Chosen(0), false, [None, None, None]);
    check(Survivors::Chosen(5), false, [Some(0), None, Some(2)]);
    check(Survivors::Worst, false, [None, None, Some(2)]);
    for survivors in [Survivors::None, Survivors::Chosen(1), Survivors::Worst] {
        check(survivors, true, [Some(0), Some(1), Some(2)]);
    }
}

#[test]
fn chance_keeps_every_subset_sooner_or_later_and_the_same_seed_the_same() {
    let (host, medium) = cached(&[0, 8, 16]);
    let mut random = testkit::random(15);
    let after = |seed| {
        let cut_ = Cut { survivors: Survivors::Random(seed), ..Cut::at(1000) };
        cut(&host, &medium, &cut_).expect("it can be cut")
    };
    let seeds: Vec<u64> = (0..200).map(|_| random.next_u64()).collect();
    let seen: std::collections::BTreeSet<_> = seeds.iter().map(|seed| after(*seed)).collect();
    assert_eq!(seen.len(), 8);
    assert!(seeds.iter().all(|seed| after(*seed) == after(*seed)));
}

#[test]
fn a_prefix_keeps_the_first_writes_and_every_number_of_them_sooner_or_later() {
    let (host, medium) = cached(&[0, 8, 16]);
    let kept = |seed| {
        let cut_ = Cut { survivors: Survivors::Prefix(seed), ..Cut::at(1000) };
        let after = cut(&host, &medium, &cut_).expect("it can be cut");
        [0, 8, 16].map(|lba| after.held(lba) != SectorContent::Original)
    };
    let seen: std::collections::BTreeSet<_> = (0..100).map(kept).collect();
    let wanted = [[false; 3], [true, false, false], [true, true, false], [true; 3]];
    assert_eq!(seen, wanted.into_iter().collect());
}

#[test]
fn nothing_survives_that_came_behind_the_cut() {
    let (host, medium) = cached(&[0, 8, 16]);
    for (at_ns, count) in [(10, 0), (11, 1), (30, 2), (31, 3)] {
        let cut_ = Cut { survivors: Survivors::All, ..Cut::at(at_ns) };
        let after = cut(&host, &medium, &cut_).expect("it can be cut");
        assert_eq!(after.changed().count(), count * 8, "at {at_ns} ns");
    }
}

#[test]
fn the_head_decides_what_becomes_of_its_sector_whatever_else_may_survive() {
    // Both writes are to the first physical sector; the older is put there when the power goes.
    let told = HostPromises { sectors: SECTORS, has_volatile_cache: true };
    let (mut host, mut medium) = (HostLog::new(told, 100), MediumLog::new(SECTORS, 1 << 20, 100));
    for id in 1..3 {
        host.write_sent(sectors(0, 4), false, id).expect("there is room");
        medium.sent(id);
        medium.arrived(id, true, id * 100);
        let span = MediumPass { first: 0, sectors: 1, from_ns: 150, to_ns: 250 };
        if id == 1 {
            medium.put(Data::Cached, sectors(0, 4), (110, 250), &[span], false);
        }
    }
    let heads = [
        (UnderHead::Completes, SectorContent::Write(0), SectorContent::Original),
        (UnderHead::Old, SectorContent::Original, SectorContent::Original),
        (UnderHead::Unreadable, SectorContent::Unreadable, SectorContent::Unreadable),
    ];
    for (under_head, written, beside) in heads {
        let cut_ = Cut { under_head, survivors: Survivors::All, ..Cut::at(200) };
        let after = cut(&host, &medium, &cut_).expect("it can be cut");
        assert_eq!((after.held(0), after.held(4)), (written, beside), "{under_head:?}");
        // Before the head is there and behind it, the policy decides again.
        for at_ns in [120, 150, 250] {
            let after = cut(&host, &medium, &Cut { at_ns, ..cut_ }).expect("it can be cut");
            let newest = SectorContent::Write(usize::from(at_ns >= 200));
            assert_eq!(
                (after.held(0), after.held(4)),
                (newest, SectorContent::Original),
                "at {at_ns}"
            );
        }
    }
}

#[test]
fn what_was_discarded_does_not_come_back_from_the_cache() {
    let (mut host, mut medium) = cached(&[0, 8]);
    host.discard_sent(sectors(4, 6), 500).expect("there is room");
    medium.dropped(sectors(4, 6), 500);
    let all = |at_ns| {
        let cut_ = Cut { survivors: Survivors::All, ..Cut::at(at_ns) };
        let after = cut(&host, &medium, &cut_).expect("it can be cut");
        [0, 3, 4, 9, 10, 15].map(|lba| after.held(lba))
    };
    let (first, second, none) =
        (SectorContent::Write(0), SectorContent::Write(1), SectorContent::Original);
    assert_eq!(all(499), [first, first, first, second, second, second]);
    assert_eq!(all(500), [first, first, none, none, second, second]);
}
