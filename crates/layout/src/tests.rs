//! Any table, as hostile as it likes: a plan keeps the order, overlaps nothing, stays on the disk,
//! and is empty once it was carried out.

use std::rc::Rc;

use crate::{DiskAfter, DiskPlan, NoPlan};
use device::{Disk, FileIdentity, MemoryDisk, MemoryTree, NoFiles};
use stack::assemble::{Start, StartKind, assemble};
use stack::drive::KernelDrive;
use stack::{Condition, LayerId, Stack};
use units::random::Random;

const DISK_BYTES: u64 = 64 << 20;

fn stack_of(disk: Rc<dyn Disk>, told: &Condition) -> Stack {
    let identity = FileIdentity { device: 0, inode: 0 };
    let kind = StartKind::File { path: b"disk".to_vec(), identity };
    let start = Start { kind, name: "disk".to_owned(), bytes: Some(Ok(disk)) };
    assemble(vec![start], &NoFiles, Some(told)).stack
}

fn planned_of(stack: &Stack, id: LayerId, told: Option<&Condition>) -> Result<DiskPlan, NoPlan> {
    let judgments = stack::judge::judge_all(stack);
    crate::plan(&stack::rule::RuleInput { stack, judgments: &judgments, told }, id)
}

fn planned(disk: Rc<dyn Disk>, told: &Condition) -> Option<DiskPlan> {
    let stack = stack_of(disk, told);
    let id = crate::disk_of(&stack, None)?;
    planned_of(&stack, id, Some(told)).ok()
}

/// Entries of an MBR, or of a record: slot, type, start and length.
fn record(disk: &mut MemoryDisk, at: u64, entries: &[(u64, u8, u32, u32)]) {
    for &(slot, code, start, length) in entries {
        let entry = at + 446 + 16 * slot;
        disk.put(entry + 4, &[code]);
        disk.put(entry + 8, &start.to_le_bytes());
        disk.put(entry + 12, &length.to_le_bytes());
    }
    disk.put(at + 510, &[0x55, 0xaa]);
}

/// A table of up to three primary and as many logical partitions, mostly sound.
fn table(random: &mut Random) -> MemoryDisk {
    let mut disk = MemoryDisk::new(DISK_BYTES);
    let mut below = |bound: u64| u32::try_from(random.below(bound)).expect("a small bound");
    let mut at = 1 + below(100);
    let mut primary = Vec::new();
    for slot in 0..u64::from(below(4)) {
        let length = 1 + below(20_000);
        primary.push((slot, 0x83, at, length));
        at += length + below(3) * below(100);
    }
    let (start, count) = (at, below(4));
    for index in 0..count {
        let (gap, length) = (1 + below(70), 1 + below(9000));
        let next = at + gap + length + below(60);
        let mut entries = vec![(0, 0x82, gap, length)];
        if index + 1 < count {
            entries.push((1, 5, next - start, 10));
        }
        record(&mut disk, u64::from(at) * 512, &entries);
        at = next;
    }
    if count > 0 {
        primary.push((3, 5, start, at - start));
    }
    if below(8) == 0 {
        primary.push((u64::from(below(4)), 0x83, below(u64::from(u32::MAX)), below(1 << 20)));
    }
    record(&mut disk, 0, &primary);
    disk
}

#[test]
fn what_surely_mends_is_moved_by_the_plan_onto_every_unit() {
    let mut random = Random::new(8);
    let (mut sure, mut planned) = (0, 0);
    for round in 0..600 {
        let on = *random.choose(&["512e", "granule=64K", "512e,origin=3584", "stripe=64Kx3+1"]);
        let told: Condition = on.parse().expect("a condition");
        let stack = stack_of(Rc::new(table(&mut random)), &told);
        let Some(disk) = crate::disk_of(&stack, None) else { continue };
        let plan = planned_of(&stack, disk, Some(&told));
        let judgments = stack::judge::judge_all(&stack);
        let case =
            stack::rule::RuleInput { stack: &stack, judgments: &judgments, told: Some(&told) };
        for &partition in stack.above(disk) {
            let row = plan.as_ref().ok().and_then(|plan| {
                let row = plan.rows.iter().find(|row| row.layer == partition)?;
                let is_mended = !plan.unmended.iter().any(|one| one.number == row.number);
                (is_mended && row.old.start_bytes() != row.new.start_bytes()).then_some(row)
            });
            planned += u32::from(row.is_some());
            if crate::surely_mends(&case, disk, partition) {
                sure += 1;
                assert!(row.is_some(), "round {round} {on}: {plan:#?}");
            }
        }
    }
    assert!(sure > 100 && planned > sure, "{sure} of {planned}");
}

#[test]
fn a_moved_partition_starts_on_the_granule_wherever_the_first_one_begins() {
    let mut random = Random::new(9);
    let cases = [("512e", 4096, 0), ("granule=64K", 65536, 0), ("512e,origin=3584", 4096, 3584)];
    for (on, unit, origin) in cases {
        let told: Condition = on.parse().expect("a condition");
        let mut moved = 0;
        for round in 0..200 {
            let Some(plan) = planned(Rc::new(table(&mut random)), &told) else { continue };
            let is_mended = |number| !plan.unmended.iter().any(|one| one.number == number);
            let is_aligned = |row: &&crate::PlannedPartition| {
                row.moves() && row.why.starts_with("its data") && is_mended(row.number)
            };
            for row in plan.rows.iter().filter(is_aligned) {
                let start = row.new.start_bytes();
                assert_eq!(start % unit, origin, "round {round} {on}: {plan:#?}");
                moved += 1;
            }
        }
        assert!(moved > 50, "{moved} moved on {on}");
    }
}

#[test]
fn every_plan_keeps_order_and_room_and_settles() {
    let mut random = Random::new(7);
    let (mut changed, mut plans) = (0, 0);
    for round in 0..600 {
        let on =
            *random.choose(&["512e", "granule=64K", "512e,origin=3584", "stripe=64Kx3+1", "4Kn"]);
        let told: Condition = on.parse().expect("a condition");
        let disk: Rc<dyn Disk> = Rc::new(table(&mut random));
        let Some(plan) = planned(Rc::clone(&disk), &told) else { continue };
        plans += 1;
        changed += u32::from(!plan.is_empty());
        let mut rows: Vec<_> = plan.rows.iter().collect();
        rows.sort_by_key(|row| row.old.start_bytes());
        for pair in rows.windows(2) {
            let (one, next) = (pair[0].new, pair[1].new);
            assert!(one.end_bytes() <= next.start_bytes(), "round {round} {on}: {plan:#?}");
        }
        assert!(
            rows.iter()
                .all(|row| row.new.end_bytes() <= DISK_BYTES && row.new.start_bytes() >= 512)
        );
        let after: Rc<dyn Disk> = Rc::new(DiskAfter::new(Rc::clone(&disk), &plan));
        let again = planned(after, &told);
        let again =
            again.unwrap_or_else(|| panic!("round {round} {on}: no second plan: {plan:#?}"));
        assert!(again.is_empty(), "round {round} {on}: {plan:#?}\n{again:#?}");
        assert_eq!(again.rows.len(), plan.rows.len());
    }
    assert!(changed > 100 && plans > changed, "{changed} of {plans} plans change something");
}

/// `disk` with single bytes in its free space, and the places of those.
fn with_bytes_between(disk: &mut MemoryDisk, told: &Condition, random: &mut Random) -> Vec<u64> {
    let stack = stack_of(Rc::new(disk.clone()), told);
    let Some(id) = crate::disk_of(&stack, None) else { return Vec::new() };
    let table = &stack.layer(id).tables[0];
    let is_held = |at: u64| {
        let partitions = table
            .partitions
            .iter()
            .filter(|one| one.role != format::table::PartitionRole::Extended);
        let ranges = partitions.clone().map(|one| (one.range.start_bytes(), one.range.end_bytes()));
        let records = partitions.map(|one| one.entry_at_bytes.saturating_sub(446));
        let records = records.map(|record| (record, record + 512));
        ranges.chain(records).any(|(start, end)| (start..end).contains(&at))
    };
    let mut put = Vec::new();
    for partition in &table.partitions {
        let near = [partition.range.start_bytes(), partition.range.end_bytes()];
        let at = random.choose(&near).saturating_add(random.below(8192)).saturating_sub(4096);
        if (512..DISK_BYTES).contains(&at) && !is_held(at) {
            disk.put(at, &[0xa5]);
            put.push(at);
        }
    }
    put
}

#[test]
fn no_plan_takes_free_space_that_is_not_blank() {
    let mut random = Random::new(13);
    let (mut changed, mut held) = (0, 0);
    for round in 0..600 {
        let on =
            *random.choose(&["512e", "granule=64K", "512e,origin=3584", "stripe=64Kx3+1", "4Kn"]);
        let told: Condition = on.parse().expect("a condition");
        let mut disk = table(&mut random);
        let bytes = with_bytes_between(&mut disk, &told, &mut random);
        let disk: Rc<dyn Disk> = Rc::new(disk);
        let Some(plan) = planned(Rc::clone(&disk), &told) else { continue };
        changed += u32::from(!plan.is_empty());
        held += plan.unmended.iter().filter(|one| one.what.contains("in the way")).count();
        let after = DiskAfter::new(Rc::clone(&disk), &plan);
        for at in bytes {
            let is_taken = |row: &crate::PlannedPartition| {
                (row.new.start_bytes()..row.new.end_bytes()).contains(&at)
            };
            assert!(!plan.rows.iter().any(is_taken), "round {round} {on}, byte {at}: {plan:#?}");
            assert_eq!(after.read_array(at), Ok([0xa5]), "round {round} {on}, byte {at}");
        }
        let again = planned(Rc::new(after), &told).expect("a second plan");
        assert!(again.is_empty(), "round {round} {on}: {plan:#?}\n{again:#?}");
    }
    assert!(changed > 100 && held > 20, "{changed} plans change something, {held} stay");
}

#[test]
fn a_plan_of_noise_never_panics() {
    let mut random = Random::new(11);
    let told: Condition = "4Kn".parse().expect("a condition");
    for _ in 0..400 {
        let mut disk = table(&mut random);
        for _ in 0..random.below(30) {
            let (at, byte) = (random.below(1 << 17), random.next_u64().to_le_bytes());
            disk.put(at, &byte[..1]);
        }
        disk.put(510, &[0x55, 0xaa]);
        let _ = planned(Rc::new(disk), &told);
    }
}

#[test]
fn no_partition_is_moved_on_a_drive_that_takes_writes_at_the_end_of_zones_alone() {
    let planned = |zoned: &str| {
        let tree = MemoryTree::new()
            .with_file("/sys/block/sda/queue/logical_block_size", "512")
            .with_file("/sys/block/sda/queue/physical_block_size", "4096")
            .with_file("/sys/block/sda/queue/zoned", zoned);
        let mut disk = MemoryDisk::new(DISK_BYTES);
        record(&mut disk, 0, &[(0, 0x83, 63, 20_000)]);
        let kind = StartKind::Drive(Box::new(KernelDrive::read(&tree, "sda")));
        let start = Start { kind, name: "sda".to_owned(), bytes: Some(Ok(Rc::new(disk))) };
        let stack = assemble(vec![start], &NoFiles, None).stack;
        let id = crate::disk_of(&stack, None).expect("there is a table");
        planned_of(&stack, id, None)
    };
    assert!(!planned("none").expect("there is a plan").is_empty());
    let refused = planned("host-managed").expect_err("nothing is moved");
    assert!(refused.reason.contains("cannot be rewritten in place"), "{}", refused.reason);
}
