//! Undo right after apply: always done, whatever the new table's records were put over; and
//! refused once somebody uses what it would take away.

use testkit::need_tools;

use super::{Disk, put, read};

/// Two blank logical partitions. On granules of 16 KiB the record of the second is put into the
/// old place of the first.
pub(super) const LOGICAL: &str = "label: dos\nlabel-id: 0xdeadbeef\n\
    start=2048, size=9984, type=7\n\
    start=14000, size=20000, type=5\n\
    start=14001, size=5000\n\
    start=19002, size=9000, type=82\n\
    start=40960, size=20480\n";

/// A table with two logical partitions of `length` sectors, each `gap` sectors after its record;
/// the first record is at sector `record`.
fn logical(record: u64, gap: u64, length: u64) -> String {
    let [first, second] = [record + gap, record + 2 * gap + length];
    format!(
        "label: dos\nlabel-id: 0xdeadbeef\nstart=2048, size=9984, type=7\n\
         start={record}, size=20000, type=5\nstart={first}, size={length}\n\
         start={second}, size=9000, type=82\nstart=40960, size=20480\n"
    )
}

#[test]
fn undo_after_apply_gives_every_byte_back_wherever_records_were() {
    need_tools!("sfdisk");
    let mut applied = 0;
    for on in ["granule=4K", "granule=16K", "granule=64K", "4Kn"] {
        for (record, gap, length) in [
            (14_000, 1, 5000),
            (14_000, 7, 5001),
            (14_016, 64, 5001),
            (14_001, 63, 5000),
            (14_001, 100, 5001),
        ] {
            let table = logical(record, gap, length);
            let disk = Disk::new(&table);
            let document = disk.plan(&["--on", on]);
            if document["table_change"].is_null() {
                continue;
            }
            applied += 1;
            let ran = disk.apply(&["plan.json"]);
            assert_eq!(ran.status, Some(0), "{on}: {table}: {ran:?}");
            assert!(!disk.is_unchanged());
            let ran = disk.apply(&["--undo", "plan.json.undo"]);
            assert_eq!(ran.status, Some(0), "{on}: {table}: {ran:?}");
            assert!(disk.is_unchanged(), "{on}: {table}");
        }
    }
    assert!(applied > 12, "{applied}");
}

#[test]
fn undo_is_refused_once_its_places_are_used() {
    need_tools!("sfdisk");
    let disk = Disk::new(LOGICAL);
    let document = disk.plan(&["--on", "granule=16K"]);
    assert_eq!(disk.apply(&["plan.json"]).status, Some(0));
    let after = read(&disk.image);
    let moved = &document["partitions"][2];
    let number = |name: &str| moved[name].as_u64().expect("a number");
    let [old, new] = ["old", "new"].map(|side| {
        let start = number(&format!("{side}_start_bytes"));
        (start, start + number(&format!("{side}_length_bytes")))
    });
    let [left, gained] = match new.0 > old.0 {
        true => [old.0, new.1 - 1],
        false => [old.1 - 1, new.0],
    };
    for (at, reason) in
        [(gained, "moves, and it holds data"), (left, "would cover data that is in no partition")]
    {
        std::fs::write(&disk.image, &after).expect("it is written");
        put(&disk.image, at, b"x");
        let used = read(&disk.image);
        for way in [&["--confirm", "disk.raw"][..], &["--dry-run"]] {
            let ran = disk.run(&[&["apply", "--undo", "plan.json.undo"], way].concat());
            assert_eq!(ran.status, Some(3), "{at}: {ran:?}");
            assert!(ran.errors.contains(reason), "{at}: {ran:?}");
            assert!(read(&disk.image) == used, "{at}");
        }
    }
}

#[test]
fn what_is_written_into_a_gap_after_the_plan_is_neither_covered_nor_overwritten() {
    need_tools!("sfdisk");
    let disk = Disk::new(LOGICAL);
    let document = disk.plan(&["--on", "granule=16K"]);
    let writes = document["table_change"]["writes"].as_array().expect("writes");
    let at = |name: &str, of: &serde_json::Value| of[name].as_u64().expect("a number");
    let mut places: Vec<u64> = writes.iter().map(|write| at("at_bytes", write)).collect();
    places.retain(|&at| at > 0);
    // The last byte of the last logical partition, which moves up.
    let moved = &document["partitions"][3];
    places.push(at("new_start_bytes", moved) + at("new_length_bytes", moved) - 1);
    for place in places {
        std::fs::write(&disk.image, &disk.before).expect("it is written");
        put(&disk.image, place, b"x");
        let used = read(&disk.image);
        let ran = disk.apply(&["plan.json"]);
        assert_eq!(ran.status, Some(3), "{place}: {ran:?}");
        assert!(read(&disk.image) == used, "{place}");
    }
}
