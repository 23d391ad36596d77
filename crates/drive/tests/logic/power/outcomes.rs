//! Going through all possibilities: none that may not be, none left out.

use std::collections::BTreeSet;

use drive::hard_disk::{HardDisk, HardDiskPlan};
use drive::power::{
    Aftermath, Cut, Logged, SectorContent, Survivors, cut, judge, legal, open_parts,
};
use drive::{CommandKind, DriveCommand, Model as _};

use super::logged::{PLAN, any_cut, any_plan, disk, drive};
use crate::shared::{command, once};

/// Sends writes of sectors (first, how many, forced) one behind the other, and flushes where there
/// are none; when the last ended. The disk has no time to empty its cache.
fn send(model: &mut Logged<HardDisk>, writes: &[(u64, u64, bool)]) -> u64 {
    let mut now_ns = 0;
    for (id, &(first, sectors, fua)) in (0..).zip(writes) {
        let (action, offset_bytes) = match sectors {
            0 => (CommandKind::Flush, 0),
            _ => (CommandKind::Write { fua }, first * 512),
        };
        let write = command(action, offset_bytes, sectors * 512);
        now_ns = once(model, DriveCommand { id, ..write }, now_ns);
    }
    now_ns
}

const IDLE: HardDiskPlan = HardDiskPlan { idle_ns: 1_000_000_000, ..PLAN };
const NATIVE: HardDiskPlan = HardDiskPlan { physical_bytes: 512, ..IDLE };

/// All that the disk can hold after a cut, whatever `cut_.survivors` says; `None` where more than
/// `parts_max` parts of writes are open.
fn all(model: &Logged<HardDisk>, cut_: &Cut, parts_max: usize) -> Option<BTreeSet<Aftermath>> {
    let medium = model.medium_log().expect("it is kept");
    let parts = open_parts(model.log(), medium, cut_).expect("it can be cut");
    let after = |parts| {
        let cut_ = Cut { survivors: Survivors::Chosen(parts), ..*cut_ };
        cut(model.log(), medium, &cut_).expect("it can be cut")
    };
    (parts <= parts_max).then(|| (0..1 << parts).map(after).collect())
}

#[test]
fn they_are_exactly_what_the_oracle_allows_where_every_sector_is_written_alone() {
    let mut random = testkit::random(10);
    let (mut visited, mut flushed) = (0, 0);
    for _ in 0..200 {
        let writes: Vec<(u64, u64, bool)> = (0..6)
            .map(|_| match random.below(8) {
                0 => (0, 0, false),
                kind => (random.below(4), 1 + random.below(2), kind == 1),
            })
            .collect();
        let mut model = disk(NATIVE);
        let now_ns = send(&mut model, &writes);
        // By brute force: each sector holds any of what it may, and sectors know nothing of each
        // other.
        let mut wanted = BTreeSet::from([Vec::new()]);
        let legal = legal(model.log(), now_ns);
        for lba in 0..6 {
            let may = legal(lba);
            flushed += u64::from(!may.original);
            let original = may.original.then_some(SectorContent::Original);
            let held: Vec<SectorContent> =
                may.writes.into_iter().map(SectorContent::Write).chain(original).collect();
            wanted = wanted
                .iter()
                .flat_map(|so_far: &Vec<(u64, SectorContent)>| {
                    held.iter().map(move |one| [so_far.as_slice(), &[(lba, *one)]].concat())
                })
                .collect();
        }
        let wanted: BTreeSet<Aftermath> =
            wanted.into_iter().map(|held| Aftermath::new(now_ns, held)).collect();
        let seen = all(&model, &Cut::at(now_ns), 12).expect("few");
        visited += seen.len();
        assert!(seen == wanted, "{} of {} for {writes:?}", seen.len(), wanted.len());
    }
    println!("{visited} outcomes, {flushed} promised sectors");
    assert!(visited > 2000 && flushed > 100);
}

#[test]
fn they_are_exactly_the_subsets_of_parts_of_writes_in_physical_sectors() {
    let mut random = testkit::random(11);
    for _ in 0..100 {
        let writes: Vec<(u64, u64, bool)> =
            (0..4).map(|_| (random.below(14), 1 + random.below(10), false)).collect();
        let mut model = disk(IDLE);
        let now_ns = send(&mut model, &writes);
        // By brute force: any set of (write, physical sector), laid over each other in order.
        let mut parts: Vec<(usize, Vec<u64>)> = Vec::new();
        for (number, (first, sectors, _)) in writes.iter().enumerate() {
            for physical in 0..4 {
                let lbas = (*first..first + sectors).filter(|lba| lba / 8 == physical);
                parts.push((number, lbas.collect()));
            }
        }
        parts.retain(|(_, lbas)| !lbas.is_empty());
        let mut wanted = BTreeSet::new();
        for mask in 0_u32..1 << parts.len() {
            let mut held = [SectorContent::Original; 32];
            for (place, (number, lbas)) in parts.iter().enumerate() {
                if mask & (1 << place) != 0 {
                    lbas.iter().for_each(|&lba| {
                        held[usize::try_from(lba).expect("small")] = SectorContent::Write(*number);
                    });
                }
            }
            wanted.insert(Aftermath::new(now_ns, (0..).zip(held)));
        }
        assert!(all(&model, &Cut::at(now_ns), 16) == Some(wanted), "{writes:?}");
    }
}

#[test]
fn an_aligned_write_is_whole_or_not_there_and_a_misaligned_one_can_tear_between_sectors() {
    for (first, possible) in [(8, 2), (9, 4)] {
        let mut model = disk(IDLE);
        let now_ns = send(&mut model, &[(first, 8, false)]);
        let seen = all(&model, &Cut::at(now_ns), 2).expect("few");
        assert_eq!(seen.len(), possible, "from sector {first}");
    }
}

#[test]
fn every_policy_gives_one_of_them_and_the_oracle_misses_nothing_in_any() {
    let mut random = testkit::random(12);
    let (mut some, mut many) = (0, 0);
    for _ in 0..150 {
        let mut model = disk(any_plan(&mut random));
        let end_ns = drive(&mut model, 12, &mut random);
        let medium = model.medium_log().expect("it is kept");
        for _ in 0..4 {
            let cut_ = any_cut(end_ns, &mut random);
            let after = cut(model.log(), medium, &cut_).expect("it can be cut");
            let Some(visited) = all(&model, &cut_, 8) else {
                many += 1;
                continue;
            };
            for outcome in &visited {
                let judged = judge(model.log(), outcome).expect("there is room");
                assert!(judged.is_kept(), "{cut_:?}\n{judged:?}");
            }
            assert!(visited.contains(&after), "{cut_:?}");
            some += 1;
        }
    }
    println!("{some} cuts gone through, {many} with too many outcomes");
    assert!(some > 100);
}
