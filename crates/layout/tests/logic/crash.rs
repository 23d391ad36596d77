//! The order of the writes is proved by cutting the power everywhere.

use crate::made::crash_model::{Asked, Held, Sizes, Tear, every_outcome};
use crate::made::known::{Known, Single, every_state, single};
use crate::made::tables::{self};
use layout::{Side, Standing};

#[test]
fn at_every_instant_the_old_or_the_new_table_is_read_and_every_cut_is_mended_and_undone() {
    for case in tables::cases() {
        let known = Known::of(&case);
        let hash_before = case.change.hash(&case.disk).expect("it is read");
        layout::check(&case.change, &case.disk, Side::New, &|_| Ok(true)).expect(case.name);
        for &sizes in case.drives {
            let (mut lost, mut torn) = (Vec::new(), 0);
            let (cuts, states) = every_state(&case, sizes, &mut |held, tear| {
                // A single copy that holds neither is not told from what somebody else wrote.
                if !case.is_mbr || !matches!(tear, Tear::Garbage(_)) {
                    let standing = case.change.standing(held);
                    let is_foreign = matches!(standing, Standing::Foreign(_));
                    assert!(!is_foreign, "{} {tear:?}", case.name);
                }
                // Who goes on, or undoes, finds the old table in what is left and in the record.
                if matches!(tear, Tear::Unreadable(_)) {
                    let hash = case.change.old_hash(held);
                    assert_eq!(hash.ok(), Some(hash_before.clone()), "{} {tear:?}", case.name);
                    for side in [Side::New, Side::Old] {
                        let checked = layout::check(&case.change, held, side, &|_| Ok(true));
                        assert_eq!(checked, Ok(()), "{} {tear:?} {side:?}", case.name);
                    }
                }
                let single = single(&case, held);
                if single == Single::Mixed || (case.is_mbr && single == Single::Lost) {
                    torn += 1;
                } else if !known.is_read(held) {
                    lost.push(tear);
                }
            });
            println!("{} {sizes:?}: {cuts} cuts, {states} contents, {torn} torn", case.name);
            assert_eq!(lost, [], "{} {sizes:?}", case.name);
            assert!(states > 5, "{} {sizes:?}: {states}", case.name);
        }
    }
}

#[test]
fn the_orders_of_parted_and_sgdisk_lose_both_copies() {
    let cases = tables::cases();
    let case = cases.iter().find(|case| case.name.contains("are empty")).expect("the case");
    let known = Known::of(case);
    for (tool, writes) in tables::other_orders(&case.change) {
        let mut log: Vec<Asked> =
            writes.iter().map(|one| Asked::Write(one.at_bytes, one.new.clone())).collect();
        assert_eq!(log.len(), 5, "{tool}");
        log.push(Asked::Flush);
        let before = Held::new(case.disk.clone(), 512);
        let (mut cuts, mut lost) = (0, 0);
        let sizes = Sizes { logical: 512, physical: 512 };
        every_outcome(&before, &log, sizes, &mut |held, tear| {
            cuts += u32::from(tear == Tear::Whole);
            lost += u32::from(tear == Tear::Whole && !known.is_read(held));
        });
        println!("{tool}: {lost} of {cuts} lose");
        assert!(lost > 0, "{tool}: {cuts}");
    }
}

#[test]
fn a_table_that_somebody_else_wrote_is_foreign() {
    for case in tables::cases() {
        let mut disk = case.disk.clone();
        assert_eq!(case.change.standing(&disk), Standing::Whole(Side::Old));
        let first = case.change.writes.iter().map(|one| one.at_bytes).min().expect("a write");
        let last = case.change.writes.iter().map(|one| one.at_bytes).max().expect("a write");
        disk.put(first + 9, b"else");
        disk.put(last + 9, b"else");
        let standing = case.change.standing(&disk);
        assert!(matches!(standing, Standing::Foreign(_)), "{}", case.name);
    }
}
