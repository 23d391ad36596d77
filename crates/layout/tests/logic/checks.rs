//! Writes that `check` refuses, whoever made them.

use device::MemoryDisk;
use layout::{Side, TableChange, check};
use units::ByteRange;

use crate::made::tables::{self, Case};

const SECTOR: usize = 512;
/// Reason that names no single field.
const NOT_OWN: &str = "not those that straddle makes";

fn case(words: &str) -> Case {
    tables::cases().into_iter().find(|case| case.name.contains(words)).expect("the case")
}

fn reason(change: &TableChange, disk: &MemoryDisk, is_blank: bool) -> String {
    check(change, disk, Side::New, &|_| Ok(is_blank)).expect_err("it is refused")
}

/// Changes the entries of both copies, and their checksums.
fn edited(change: &TableChange, edit: impl Fn(&mut [u8])) -> TableChange {
    let mut change = change.clone();
    let mut sum = 0;
    for write in change.writes.iter_mut().filter(|write| write.what.contains("entries")) {
        edit(&mut write.new);
        sum = format::checksum::crc32(&write.new);
    }
    for write in change.writes.iter_mut().filter(|write| write.what.contains("header")) {
        write.new[88..92].copy_from_slice(&sum.to_le_bytes());
        write.new[16..20].fill(0);
        let own = format::checksum::crc32(&write.new[..92]);
        write.new[16..20].copy_from_slice(&own.to_le_bytes());
    }
    change
}

#[test]
fn an_edit_of_anything_but_places_is_refused_though_all_checksums_are_right() {
    let Case { disk, change, .. } = case("partitions are empty");
    assert_eq!(check(&edited(&change, |_| {}), &disk, Side::New, &|_| Ok(true)), Ok(()));
    for (at, what) in [(0, "type"), (16, "id"), (48, "attribute"), (56, "name")] {
        let change = edited(&change, |entries| entries[at] ^= 1);
        let reason = reason(&change, &disk, true);
        assert!(reason.contains(NOT_OWN), "{what}: {reason}");
    }
    let gone = edited(&change, |entries| entries[128..256].fill(0));
    assert!(reason(&gone, &disk, true).contains("numbers of partitions"));
    let mut first = change.clone();
    let mbr = first.writes.iter_mut().find(|write| write.at_bytes == 0).expect("the first sector");
    mbr.new[0] = 0xeb;
    assert!(reason(&first, &disk, true).contains(NOT_OWN));
}

#[test]
fn a_place_over_another_partition_past_the_disk_or_off_its_data_is_refused() {
    let Case { disk, change, .. } = case("partitions are empty");
    let long = edited(&change, |entries| entries[40..44].copy_from_slice(&2000_u32.to_le_bytes()));
    assert!(reason(&long, &disk, true).contains("overlap"));
    let past = edited(&change, |entries| {
        entries[256 + 40..][..4].copy_from_slice(&20_000_u32.to_le_bytes());
    });
    assert!(reason(&past, &disk, true).contains("past the disk"));
    assert!(reason(&change, &disk, false).contains("holds data"));
}

#[test]
fn an_end_is_cut_only_where_nothing_is() {
    let disk = tables::gpt(512, &[(64, 999), (1001, 3000)]);
    let change = tables::planned(&disk, "512e");
    // The first partition stays, and ends with its first sector.
    let short = edited(&change, |entries| entries.copy_within(32..40, 40));
    let entries = short.writes.iter().find(|write| write.what.contains("entries"));
    let first = &entries.expect("entries are written").new[32..40];
    let cut = u64::from_le_bytes(first.try_into().expect("8 bytes")) * 512 + 512;
    for is_blank in [true, false] {
        let holds_cut = |range: ByteRange| (range.start_bytes()..range.end_bytes()).contains(&cut);
        let answer = |range| Ok(is_blank || !holds_cut(range));
        let checked = check(&short, &disk, Side::New, &answer);
        let is_refused = checked.is_err_and(|why| why.contains("partition 1 would end earlier"));
        assert_eq!(is_refused, !is_blank);
        let checked = check(&short, &disk, Side::Old, &answer);
        let is_refused = checked.is_err_and(|why| why.contains("partition 1 would cover data"));
        assert_eq!(is_refused, !is_blank);
    }
}

#[test]
fn a_write_into_a_partition_or_off_the_sectors_is_refused() {
    for words in ["partitions are empty", "an MBR"] {
        let Case { disk, change, .. } = case(words);
        let mut inside = change.clone();
        let mut extra = inside.writes[0].clone();
        (extra.at_bytes, extra.old, extra.new) = (1200 * 512, vec![0; SECTOR], vec![1; SECTOR]);
        inside.writes.insert(0, extra);
        assert!(reason(&inside, &disk, true).contains("writes into partition"), "{words}");
        let off = |edit: &dyn Fn(&mut layout::TableWrite)| {
            let mut change = change.clone();
            edit(&mut change.writes[0]);
            reason(&change, &disk, true)
        };
        assert!(off(&|write| write.at_bytes += 1).contains("whole sectors"), "{words}");
        assert!(off(&|write| write.at_bytes = u64::MAX - 511).contains("whole sectors"));
        assert!(off(&|write| write.new.truncate(100)).contains("whole sectors"), "{words}");
        let mut twice = change.clone();
        twice.writes.push(change.writes[0].clone());
        assert!(reason(&twice, &disk, true).contains("same sector"), "{words}");
    }
}

#[test]
fn an_order_that_hides_a_logical_partition_is_refused() {
    let Case { disk, mut change, .. } = case("logical");
    assert!(change.writes.len() > 2, "{change:#?}");
    // The first sector leads to records that are not there yet.
    change.writes.reverse();
    assert!(reason(&change, &disk, true).contains("would hide a partition"));
}

/// `change` with one more write, of `new` over `old`.
fn with_write(change: &TableChange, at_bytes: u64, old: u8, new: u8) -> TableChange {
    let mut change = change.clone();
    let mut extra = change.writes[0].clone();
    (extra.at_bytes, extra.old, extra.new) = (at_bytes, vec![old; SECTOR], vec![new; SECTOR]);
    change.writes.insert(0, extra);
    change
}

#[test]
fn a_write_where_no_table_is_is_refused() {
    for (words, gap) in [("partitions are empty", 40 * 512), ("an MBR", 20 * 512)] {
        let Case { disk, change, .. } = case(words);
        let loader = with_write(&change, gap, 7, 0);
        assert!(reason(&loader, &disk, true).contains("something unknown"), "{words}");
        let blank = with_write(&change, gap, 0, 7);
        assert!(reason(&blank, &disk, true).contains("where no table is"), "{words}");
    }
}

#[test]
fn a_header_with_another_usable_range_or_other_places_is_refused() {
    let Case { disk, change, .. } = case("partitions are empty");
    for (at, what) in [(40, "first usable"), (48, "last usable"), (40 + 7, "a range of none")] {
        let mut forged = change.clone();
        for write in forged.writes.iter_mut().filter(|write| write.what.contains("header")) {
            write.new[at] ^= 1;
        }
        let forged = edited(&forged, |_| {});
        let reason = reason(&forged, &disk, true);
        assert!(reason.contains(NOT_OWN), "{what}: {reason}");
    }
}

#[test]
fn runs_that_a_plan_calls_records_are_not_taken_for_blank() {
    let disk = tables::gpt(512, &[(64, 999), (1001, 3000)]);
    let change = tables::planned(&disk, "512e");
    let mut short = edited(&change, |entries| entries.copy_within(32..40, 40));
    short.known.extend((64..1000).filter_map(|sector| ByteRange::new(sector * 512, 512)));
    let first = ByteRange::new(70 * 512, 900 * 512).expect("within the first partition");
    let checked = check(&short, &disk, Side::Old, &|range| Ok(!range.overlaps(first)));
    assert!(checked.is_err_and(|why| why.contains("partition 1 would cover data")));
}
