//! Slots on runs that are known.

use std::collections::BTreeSet;

use super::{MappedRun, NoRoom, SlotOrder, Slots, SlotsPlan};
use units::Unit;

fn run(offset_bytes: u64, length_bytes: u64, address_bytes: u64) -> MappedRun {
    MappedRun { offset_bytes, length_bytes, leaf: 0, address_bytes }
}

fn slots(
    runs: &[MappedRun],
    unit: Unit,
    shifts_bytes: &[u64],
    order: SlotOrder,
) -> Result<Slots, NoRoom> {
    Slots::new(SlotsPlan { runs, unit, operation_bytes: 4096, shifts_bytes, order, seed: 1 })
}

fn unit(length: u64, origin: u64) -> Unit {
    Unit::with_origin(length, origin).unwrap()
}

#[test]
fn slots_start_on_the_leafs_boundaries_and_not_on_the_files() {
    // The run's data starts 1024 bytes after a boundary, so the first slot is 3072 bytes into it.
    let runs = [run(0, 1 << 20, (1 << 30) + 1024)];
    let slots = slots(&runs, unit(4096, 0), &[0, 512], SlotOrder::Cursor).unwrap();
    assert_eq!(slots.first_offset_bytes(), 3072);
    assert_eq!(slots.slot_bytes(), 8192);
    assert_eq!(slots.count(), ((1 << 20) - 3072) / 8192);
}

#[test]
fn a_units_origin_counts() {
    let runs = [run(0, 1 << 20, 0)];
    let slots = slots(&runs, unit(4096, 3584), &[0], SlotOrder::Cursor).unwrap();
    assert_eq!(slots.first_offset_bytes(), 3584);
}

#[test]
fn the_cursor_is_shared_goes_on_from_run_to_run_and_comes_round() {
    let runs = [run(0, 5 * 8192, 0), run(1 << 20, 100, 1 << 21), run(1 << 22, 3 * 8192, 1 << 23)];
    let mut slots = slots(&runs, unit(4096, 0), &[0, 512], SlotOrder::Cursor).unwrap();
    let taken: Vec<u64> = (0..9).map(|n| slots.next(n % 2)).collect();
    let far = 1 << 22;
    assert_eq!(
        taken,
        [0, 8192 + 512, 16384, 24576 + 512, 32768, far + 512, far + 8192, far + 16384 + 512, 0]
    );
}

#[test]
fn backwards_is_the_cursor_from_the_last_to_the_first() {
    let runs = [run(0, 5 * 8192, 0)];
    let taken = |order: SlotOrder| {
        let mut slots = slots(&runs, unit(4096, 0), &[512], order).unwrap();
        (0..10).map(|_| slots.next(0)).collect::<Vec<u64>>()
    };
    let mut forwards = taken(SlotOrder::Cursor);
    forwards.reverse();
    assert_eq!(taken(SlotOrder::Backwards), forwards);
}

#[test]
fn no_two_operations_touch_one_unit_and_each_stays_in_its_run() {
    let mut random = testkit::random(4);
    for order in [SlotOrder::Cursor, SlotOrder::Random] {
        for _ in 0..50 {
            let unit = unit(512 << random.below(6), 512 * random.below(8));
            let shifts = [0, 512 * random.below(20), 512];
            let (mut runs, mut end) = (Vec::new(), 0);
            for _ in 0..8 {
                let offset = end + 512 * random.below(9);
                let length = 512 * random.below(3000);
                runs.push(run(offset, length, offset * 2 + 512 * random.below(16)));
                end = offset + length;
            }
            let Ok(mut slots) = slots(&runs, unit, &shifts, order) else { continue };
            check_disjoint(&mut slots, &runs, unit);
        }
    }
}

/// Takes every slot once and checks each unit that is touched.
fn check_disjoint(slots: &mut Slots, runs: &[MappedRun], unit: Unit) {
    slots.start_pair();
    let mut touched = BTreeSet::new();
    for number in 0..slots.count() {
        let offset = slots.next(usize::try_from(number % 3).unwrap());
        let inside = |run: &&MappedRun| {
            run.offset_bytes <= offset && offset + 4096 <= run.offset_bytes + run.length_bytes
        };
        let (place, run) = (0..).zip(runs).find(|(_, run)| inside(run)).unwrap();
        let address = run.address_bytes + offset - run.offset_bytes;
        let mut boundary = unit.floor(address).unwrap();
        while boundary < address + 4096 {
            assert!(touched.insert((place, boundary)), "{boundary} is touched twice");
            boundary += unit.length_bytes();
        }
    }
}

#[test]
fn random_slots_repeat_within_a_pair_only_when_there_are_no_more() {
    let runs = [run(0, 12 * 8192, 0)];
    let mut slots = slots(&runs, unit(4096, 0), &[0, 512, 0], SlotOrder::Random).unwrap();
    for _ in 0..100 {
        slots.start_pair();
        let taken: BTreeSet<u64> = (0..12).map(|_| slots.next(0)).collect();
        assert_eq!(taken.len(), 12);
        assert!(taken.contains(&slots.next(0)), "what comes behind the last came before");
    }
}

#[test]
fn too_few_slots_are_refused_with_what_to_do() {
    let runs = [run(0, 7 * 8192, 0)];
    let refused = slots(&runs, unit(4096, 0), &[0, 512], SlotOrder::Cursor).unwrap_err();
    assert_eq!((refused.found, refused.needed), (7, 8));
    assert!(refused.to_string().contains("7 places for 4096 bytes shifted by up to 512"));
    assert!(refused.hint().starts_with("use a file of 65536 bytes"), "{}", refused.hint());
    let none = slots(&[], unit(4096, 0), &[0], SlotOrder::Cursor).unwrap_err();
    assert!(none.hint().starts_with("no part of the file"));
}

#[test]
fn what_does_not_fit_in_64_bits_is_refused_and_does_not_overflow() {
    let runs = [run(u64::MAX - 10, 1 << 40, 0), run(0, 1 << 20, u64::MAX - 10)];
    assert!(slots(&runs, unit(4096, 0), &[0], SlotOrder::Cursor).is_err());
    assert!(slots(&[run(0, 1 << 40, 0)], unit(4096, 0), &[u64::MAX], SlotOrder::Cursor).is_err());
}
