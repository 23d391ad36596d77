//! Plans and records that were changed by hand, with their seal made again: nothing is written but
//! what the disk as it is allows.

use report::plan::{KnownRun, Layout, TableChangeDocument, UndoRecord, UndoState, WriteDocument};
use testkit::{need_tools, tool};

use super::{DATA, Disk, GPT, MBR, put, read};

const PLAN: &str = "plan.json";
const UNDO: &str = "plan.json.undo";

/// An edit of a plan's writes, and its name.
type Edit<'a> = (&'a str, Box<dyn Fn(&mut TableChangeDocument) + 'a>);

fn edit<'a>(name: &'a str, edit: impl Fn(&mut TableChangeDocument) + 'a) -> Edit<'a> {
    (name, Box::new(edit))
}

fn plan_of(disk: &Disk) -> Layout {
    let text = std::fs::read_to_string(disk.file(PLAN)).expect("the plan is there");
    Layout::parse(&text).expect("it is a plan")
}

fn record_of(disk: &Disk) -> UndoRecord {
    let text = std::fs::read_to_string(disk.file(UNDO)).expect("the record is there");
    UndoRecord::parse(&text).expect("it is a record")
}

fn seal(change: &mut TableChangeDocument) {
    change.seal_sha256 = change.seal();
}

/// Applies `plan` with one edit, and expects a refusal that changes no byte.
fn refused(disk: &Disk, plan: &Layout, (name, edit): &Edit<'_>) {
    let mut forged = plan.clone();
    let change = forged.table_change.as_mut().expect("writes");
    edit(change);
    if plan.table_change.as_ref() == Some(&*change) {
        return;
    }
    seal(change);
    std::fs::write(disk.file(PLAN), forged.json()).expect("it is written");
    let before = read(&disk.image);
    for way in [&["--dry-run"][..], &["--confirm", "disk.raw"]] {
        let ran = disk.run(&[&["apply", PLAN], way].concat());
        assert_eq!(ran.status, Some(3), "{name}: {ran:?}");
        assert!(!ran.errors.contains("edited"), "{name}: {ran:?}");
        assert!(!ran.errors.contains('\u{1b}'), "{name}: {ran:?}");
        assert!(read(&disk.image) == before, "{name}");
    }
    assert!(!disk.file(UNDO).exists(), "{name}");
}

/// Edits that no table survives.
fn common<'a>() -> Vec<Edit<'a>> {
    vec![
        edit("another disk", |change| change.path = "/dev/null".to_owned()),
        edit("a serial number", |change| change.identity = Some("S1".to_owned())),
        edit("an image format", |change| change.image_format = "qcow2".to_owned()),
        edit("a longer disk", |change| change.disk_bytes += 512),
        edit("a logical sector", |change| change.logical_sector_bytes = Some(512)),
        edit("another old sector", |change| change.old_sector_bytes = 4096),
        edit("another new sector", |change| change.new_sector_bytes = 4096),
        edit("blank or not", |change| change.was_blank = !change.was_blank),
        edit("a rebuilt FAT", |change| change.rebuilt = vec![1]),
        edit("another hash", |change| change.known_sha256 = "00".repeat(32)),
        edit("known runs past the disk", |change| {
            change.known.push(KnownRun { at_bytes: u64::MAX - 511, length_bytes: 512 });
        }),
        edit("no writes", |change| change.writes.clear()),
        edit("the first write is missing", |change| drop(change.writes.remove(0))),
        edit("the last write is missing", |change| drop(change.writes.pop())),
        edit("another order", |change| change.writes.reverse()),
        edit("a name with an escape", |change| change.writes[0].what = "\u{1b}[2J".to_owned()),
        edit("boot code", |change| {
            let first = change.writes.last_mut().expect("a write");
            first.new_hex.replace_range(..4, "eb3c");
        }),
        edit("no signature", |change| {
            let first = change.writes.last_mut().expect("a write");
            first.new_hex.truncate(1020);
        }),
        edit("a write of its own", |change| {
            let what = "table".to_owned();
            let new_hex = "ff".repeat(512);
            let at_bytes = DATA.start * 512;
            change.writes.push(WriteDocument { what, at_bytes, length_bytes: 512, new_hex });
        }),
    ]
}

#[test]
fn a_first_table_that_straddle_would_not_make_is_never_written() {
    let disk = Disk::new("");
    disk.plan(&["--new"]);
    let plan = plan_of(&disk);
    for one in &common() {
        refused(&disk, &plan, one);
    }
    // The same disk with data that the plan says it does not look for.
    put(&disk.image, 20 << 20, b"data");
    let blind = |blank: bool| {
        edit("data in the middle", move |change| {
            change.was_blank = blank;
            change.known.clear();
            change.known_sha256 = EMPTY.to_owned();
        })
    };
    refused(&disk, &plan, &blind(true));
    refused(&disk, &plan, &blind(false));
}

/// SHA-256 of nothing.
const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn a_changed_table_that_straddle_would_not_make_is_never_written() {
    need_tools!("sfdisk");
    for table in [GPT, MBR] {
        let disk = Disk::new(table);
        disk.plan(&[]);
        let plan = plan_of(&disk);
        for one in &common() {
            refused(&disk, &plan, one);
        }
        // Known runs say which disk it is; without them the plan still writes nothing else.
        put(&disk.image, 1, b"boot");
        let unseen = edit("another disk, unseen", |change| {
            change.known.clear();
            change.known_sha256 = EMPTY.to_owned();
        });
        refused(&disk, &plan, &unseen);
    }
}

#[test]
fn a_record_that_was_changed_by_hand_writes_no_byte_that_apply_did_not_save() {
    need_tools!("sfdisk");
    for (table, more) in [(GPT, &[][..]), (MBR, &[]), ("", &["--new"])] {
        let disk = Disk::new(table);
        disk.plan(more);
        assert_eq!(disk.apply(&[PLAN]).status, Some(0));
        let (record, after) = (record_of(&disk), read(&disk.image));
        // One write has no other order.
        let is_same = |forged: &UndoRecord, seal: &str| {
            forged.table_change.seal_sha256 == seal && forged.old_hex == record.old_hex
        };
        let refused = |name: &str, record: &UndoRecord| {
            let mut record = record.clone();
            let was = std::mem::take(&mut record.table_change.seal_sha256);
            seal(&mut record.table_change);
            if is_same(&record, &was) {
                return;
            }
            std::fs::write(disk.file(UNDO), record.json()).expect("it is written");
            let ran = disk.apply(&["--undo", UNDO]);
            assert_eq!(ran.status, Some(3), "{name}: {ran:?}");
            assert!(read(&disk.image) == after, "{name}");
        };
        for state in [UndoState::Writing, UndoState::Written, UndoState::Undoing] {
            let record = UndoRecord { state, ..record.clone() };
            for (name, edit) in &common() {
                let mut forged = record.clone();
                edit(&mut forged.table_change);
                forged.old_hex.resize(forged.table_change.writes.len(), String::new());
                refused(name, &forged);
            }
            for index in 0..record.old_hex.len() {
                let mut other = record.clone();
                other.old_hex[index] = "eb3c90".repeat(20);
                refused("other old bytes", &other);
                // Over the data of a partition, which the record calls torn.
                let mut moved = record.clone();
                moved.table_change.writes[index].at_bytes = DATA.start * 512;
                refused("another place", &moved);
            }
        }
        std::fs::write(disk.file(UNDO), record.json()).expect("it is written");
        assert_eq!(disk.apply(&["--undo", UNDO]).status, Some(0));
        assert!(disk.is_unchanged());
    }
}

#[test]
fn words_of_a_foreign_plan_are_printed_without_escape_sequences() {
    let disk = Disk::new("");
    disk.plan(&["--new"]);
    let mut plan = plan_of(&disk);
    let hostile = "\u{1b}[2J\u{202e}".to_owned();
    let hint = Some(hostile.clone());
    plan.envelope.refusal = Some(report::Refusal::new(hostile.clone(), hint));
    let mut other = plan_of(&disk);
    other.table_change = None;
    other.not_applied_because = hostile;
    let schema = "{\"schema\": \"straddle.\\u001b[2J/1\"}".to_owned();
    let state = "{\"schema\": \"straddle.undo/1\", \"version\": \"\", \
        \"state\": \"\\u001b[2J\"}"
        .to_owned();
    for (text, more) in
        [(plan.json(), &[][..]), (other.json(), &[]), (schema, &[]), (state, &["--undo"])]
    {
        std::fs::write(disk.file(PLAN), &text).expect("it is written");
        let ran = disk.apply(&[more, &[PLAN]].concat());
        assert_eq!(ran.status, Some(3), "{ran:?}");
        let is_odd = |mark: char| matches!(mark, '\u{1b}' | '\u{202e}');
        assert!(!ran.errors.contains(is_odd), "{text}: {ran:?}");
    }
}

#[test]
fn a_conversion_without_the_fat_that_it_makes_again_is_refused() {
    need_tools!("sfdisk", "mkfs.fat");
    let disk = Disk::new("label: gpt\nstart=2048, size=40960, type=uefi\n");
    let name = testkit::scratch::text(&disk.image);
    tool::run("mkfs.fat", &["-F", "16", "-s", "8", "--offset", "2048", name, "20480"]);
    let ran = disk.run(&["convert", "disk.raw", "--sector", "4096", "--plan", PLAN]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let plan = plan_of(&disk);
    assert_eq!(plan.table_change.as_ref().expect("writes").rebuilt, [1]);
    let partition = (1 << 20)..(21 << 20);
    let without = edit("no FAT", |change| {
        change.rebuilt.clear();
        change.writes.retain(|write| !partition.contains(&write.at_bytes));
    });
    refused(&disk, &plan, &without);
}
