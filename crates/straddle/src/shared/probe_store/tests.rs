//! Tests that what is kept comes back for its own drive alone, whatever else lies in the directory.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use device::MemoryTree;
use jiff::{Timestamp, ToSpan as _};
use report::probe::{GRANULE_BYTES_MAX, SAVED_SCHEMA, Saved, SavedGranule, saved_json};
use stack::drive::{KeptMeasurement, KernelDrive};
use testkit::Scratch;

use super::trust::OTHERS_WRITE;
use super::*;

fn drive(files: &[(&str, &str)]) -> KernelDrive {
    let all = [("queue/logical_block_size", "512"), ("queue/physical_block_size", "512")];
    let tree = all.iter().chain(files).fold(MemoryTree::new(), |tree, (file, value)| {
        tree.with_file(&format!("/sys/block/sda/{file}"), value)
    });
    KernelDrive::read(&tree, "sda")
}

fn saved(drive: &KernelDrive) -> Saved {
    Saved {
        schema: SAVED_SCHEMA.to_owned(),
        version: "0.1.0".to_owned(),
        measured: "2026-01-02T03:04:05Z".to_owned(),
        identity: identity(drive).unwrap(),
        granule: SavedGranule {
            alignment_bytes: 4096,
            origin_bytes: 3584,
            size_bytes: Some(4096),
            slower_low: 2.9,
            aligned_high: 1.1,
            alpha: 0.01,
            said_by: "a test".to_owned(),
        },
    }
}

const SERIAL: (&str, &str) = ("serial", "../S 1");
const FIRMWARE: (&str, &str) = ("device/rev", "1.0");

fn not_used(found: Option<KeptMeasurement>) -> String {
    match found {
        Some(KeptMeasurement::NotUsed(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_kept_comes_back_for_the_same_drive_alone() {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().join("state"));
    let own = drive(&[SERIAL, FIRMWARE]);
    assert_eq!(store.of(&own), None);
    let path = store.keep(&saved(&own)).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    assert_eq!(name, "measured-serial-..%2fS%201.json");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777 & OTHERS_WRITE, 0);
    let Some(KeptMeasurement::Granule(found)) = store.of(&own) else { panic!("it is used") };
    assert_eq!((found.alignment_bytes, found.origin_bytes), (4096, 3584));
    assert!(found.note.contains("2026-01-02"), "{}", found.note);
    assert_eq!(store.of(&drive(&[("serial", "other"), FIRMWARE])), None);
    assert_eq!(store.of(&drive(&[])), None);
}

#[test]
fn another_firmware_or_sector_format_is_not_used_and_said() {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().to_owned());
    store.keep(&saved(&drive(&[SERIAL, FIRMWARE]))).unwrap();
    let reason = not_used(store.of(&drive(&[SERIAL, ("device/rev", "2.0")])));
    assert!(reason.contains("firmware was 1.0 and is now 2.0"), "{reason}");
    let formatted = drive(&[SERIAL, FIRMWARE, ("queue/logical_block_size", "4096")]);
    let reason = not_used(store.of(&formatted));
    assert!(reason.contains("sectors were 512 and 512 bytes and are now 4096"), "{reason}");
}

#[test]
fn a_file_of_another_drive_under_this_ones_name_is_not_used() {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().to_owned());
    let own = drive(&[SERIAL]);
    let path = store.keep(&saved(&own)).unwrap();
    let mut other = saved(&own);
    other.identity.name = "other".to_owned();
    fs::write(&path, saved_json(&other)).unwrap();
    assert!(not_used(store.of(&own)).contains("another drive"));
}

#[test]
fn hostile_files_are_refused_with_a_reason() {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().to_owned());
    let own = drive(&[SERIAL]);
    let path = store.keep(&saved(&own)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(not_used(store.of(&own)).contains("others may write it"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&path, b"{\"schema\": \"straddle.measured/1\"").unwrap();
    assert!(not_used(store.of(&own)).contains("it is no straddle.measured/1"));
    fs::write(&path, vec![b' '; 1 << 20]).unwrap();
    assert!(not_used(store.of(&own)).contains("longer than"));
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(not_used(store.of(&own)).contains("cannot be opened"));
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(not_used(store.of(&own)).contains("not a regular file"));
}

#[test]
fn a_serial_number_that_many_drives_give_is_told_apart_by_model_and_length() {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().join("state"));
    let one = [SERIAL, ("device/model", "A"), ("size", "2048")];
    store.keep(&saved(&drive(&one))).unwrap();
    assert!(matches!(store.of(&drive(&one)), Some(KeptMeasurement::Granule(_))));
    for other in [
        [SERIAL, ("device/model", "B"), ("size", "2048")],
        [SERIAL, ("device/model", "A"), ("size", "4096")],
    ] {
        let reason = not_used(store.of(&drive(&other)));
        assert!(reason.contains("another drive with the same serial"), "{reason}");
    }
}

#[test]
fn a_drive_without_a_name_has_no_identity() {
    assert!(identity(&drive(&[])).unwrap_err().contains("neither a WWN nor a serial"));
}

/// A store with what was kept of a drive, whose file `change` then makes something else; what the
/// drive is told.
fn told(change: impl FnOnce(&Path, Saved)) -> String {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().join("state"));
    let own = drive(&[SERIAL]);
    let path = store.keep(&saved(&own)).unwrap();
    assert!(matches!(store.of(&own), Some(KeptMeasurement::Granule(_))), "it is used before");
    change(&path, saved(&own));
    let reason = not_used(store.of(&own));
    assert!(reason.len() < 600 && !reason.contains(char::is_control), "one line: {reason}");
    reason
}

#[test]
fn numbers_that_no_probe_finds_and_dates_to_come_are_not_used() {
    let changed = |change: fn(&mut Saved)| {
        told(|path, mut saved| {
            change(&mut saved);
            fs::write(path, saved_json(&saved)).unwrap();
        })
    };
    for bytes in [0, 3, 512, 1 << 63, u64::MAX, 2 * GRANULE_BYTES_MAX] {
        let reason = told(|path, mut saved| {
            saved.granule.alignment_bytes = bytes;
            fs::write(path, saved_json(&saved)).unwrap();
        });
        assert!(reason.ends_with("its alignment_bytes cannot be"), "{reason}");
    }
    let cannot = |name: &str, change: fn(&mut Saved)| {
        let reason = changed(change);
        assert!(reason.ends_with(&format!("its {name} cannot be")), "{reason}");
    };
    cannot("origin_bytes", |saved| saved.granule.origin_bytes = 1 << 63);
    cannot("size_bytes", |saved| saved.granule.size_bytes = Some(0));
    cannot("interval", |saved| saved.granule.slower_low = 0.5);
    cannot("interval", |saved| saved.granule.alpha = 2.0);
    assert!(changed(|saved| saved.measured = "2026-99-99".to_owned()).contains(
        "its date cannot be \
                                              read"
    ));
    let reason = changed(|saved| {
        let later = Timestamp::now().checked_add(72.hours()).unwrap();
        saved.measured = later.to_string();
    });
    assert!(reason.contains("which is in the future"), "{reason}");
}

#[test]
fn the_largest_granule_that_is_read_is_the_largest_that_is_found() {
    assert_eq!(GRANULE_BYTES_MAX, measure::probe::granule::WHOLE_BYTES);
}

#[test]
fn files_that_say_nothing_or_never_end_are_not_used_and_not_waited_for() {
    let written = |bytes: &[u8]| told(|path, _| fs::write(path, bytes).unwrap());
    assert!(written(b"\0\xff\x1b[2J").contains("is no straddle.measured/1"));
    let name = "\u{1b}[2J".repeat(9000);
    let reason = written(format!("{{\"{name}\": 1}}").as_bytes());
    assert!(reason.contains("is no straddle.measured/1"), "{reason}");
    assert!(written("[".repeat(60_000).as_bytes()).contains("is no straddle.measured/1"));
    let huge = told(|path, _| {
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_len(1 << 40).unwrap();
    });
    assert!(huge.contains("longer than"), "{huge}");
    let fifo = told(|path, _| {
        fs::remove_file(path).unwrap();
        testkit::tool::run("mkfifo", &[path.to_str().unwrap()]);
    });
    assert!(fifo.contains("not a regular file"), "{fifo}");
}

#[test]
fn what_others_may_have_put_there_is_not_used() {
    let directory = told(|path, _| {
        let directory = path.parent().unwrap();
        fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).unwrap();
    });
    assert!(directory.contains("its directory") && directory.contains("chmod go-w"), "{directory}");
    if host::user() != 0 {
        testkit::skip("only root gives files away");
        return;
    }
    for nobodys in [false, true] {
        let reason = told(|path, _| {
            let path = if nobodys { path } else { path.parent().unwrap() };
            std::os::unix::fs::chown(path, Some(65534), None).unwrap();
        });
        assert!(reason.contains("user 65534 owns it"), "{reason}");
    }
}

#[test]
fn nothing_is_kept_where_it_would_not_be_used() {
    let scratch = Scratch::new();
    let directory = scratch.path().join("state");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
    let refused = Store::at(directory.clone()).keep(&saved(&drive(&[SERIAL]))).unwrap_err();
    assert!(refused.contains("chmod go-w"), "{refused}");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

#[test]
fn hundreds_of_other_files_are_not_looked_at() {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().to_owned());
    let own = drive(&[SERIAL]);
    for number in 0..500 {
        fs::write(scratch.path().join(format!("measured-serial-{number}.json")), b"\0").unwrap();
    }
    assert_eq!(store.of(&own), None);
    store.keep(&saved(&own)).unwrap();
    assert!(matches!(store.of(&own), Some(KeptMeasurement::Granule(_))));
}

#[test]
fn two_drives_with_long_names_that_differ_at_their_ends_keep_both() {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().to_owned());
    let long = |end: &str| "t10.ATA     ".repeat(8) + end;
    let (one, other) = (long("1"), long("2"));
    let drives = [drive(&[("device/wwid", &one)]), drive(&[("device/wwid", &other)])];
    for (drive, alignment_bytes) in drives.iter().zip([4096, 16384]) {
        let mut saved = saved(drive);
        saved.granule.alignment_bytes = alignment_bytes;
        saved.granule.size_bytes = None;
        store.keep(&saved).unwrap();
    }
    let found = drives.each_ref().map(|drive| match store.of(drive) {
        Some(KeptMeasurement::Granule(found)) => found.alignment_bytes,
        other => panic!("{other:?}"),
    });
    assert_eq!(found, [4096, 16384]);
}

#[test]
fn a_file_under_the_name_that_older_versions_gave_it_is_read_and_then_replaced() {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().to_owned());
    let (one, other) = ("x".repeat(70) + "1", "x".repeat(70) + "2");
    let own = drive(&[("device/wwid", &one)]);
    let old = scratch.path().join(format!("measured-wwid-{}.json", "x".repeat(60)));
    fs::write(&old, saved_json(&saved(&own))).unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(store.of(&own), Some(KeptMeasurement::Granule(_))));
    assert_eq!(store.of(&drive(&[("device/wwid", &other)])), None, "it is of the first alone");
    let path = store.keep(&saved(&own)).unwrap();
    assert!(path != old && !old.exists());
    assert!(matches!(store.of(&own), Some(KeptMeasurement::Granule(_))));
}

#[test]
fn what_is_kept_of_another_drive_is_not_overwritten() {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().to_owned());
    let own = drive(&[SERIAL]);
    let path = store.keep(&saved(&own)).unwrap();
    let mut other = saved(&own);
    other.identity.name = "other".to_owned();
    fs::write(&path, saved_json(&other)).unwrap();
    let before = fs::metadata(&path).unwrap().ino();
    assert!(store.keep(&saved(&own)).unwrap_err().contains("belongs to another drive"));
    assert_eq!(fs::metadata(&path).unwrap().ino(), before);
}

#[test]
fn what_a_process_of_the_same_number_left_behind_is_no_obstacle() {
    let scratch = Scratch::new();
    let store = Store::at(scratch.path().to_owned());
    let own = drive(&[SERIAL]);
    let name = "measured-serial-..%2fS%201.json";
    let left = scratch.path().join(format!(".{name}.{}.new", std::process::id()));
    fs::write(&left, b"half").unwrap();
    store.keep(&saved(&own)).unwrap();
    assert!(!left.exists());
}

#[test]
fn a_state_directory_that_is_not_absolute_keeps_nothing_and_says_why() {
    let store = |set: &'static [(&'static str, &'static str)]| {
        Store::of_variables(move |name| {
            set.iter().find(|(own, _)| *own == name).map(|(_, value)| OsString::from(value))
        })
    };
    let check = |set, name: &str, value: &str| {
        let reason = store(set).unwrap().keep(&saved(&drive(&[SERIAL, FIRMWARE]))).unwrap_err();
        let said = format!("${name} is `{value}`, which does not begin with an absolute path");
        assert_eq!(reason, said);
    };
    check(&[("STATE_DIRECTORY", "state/x"), ("HOME", "/root")], "STATE_DIRECTORY", "state/x");
    check(&[("STATE_DIRECTORY", ":/var/lib/x")], "STATE_DIRECTORY", ":/var/lib/x");
    check(&[("XDG_STATE_HOME", "state")], "XDG_STATE_HOME", "state");
    check(&[("STATE_DIRECTORY", ""), ("HOME", "root")], "HOME", "root");
    assert!(store(&[("STATE_DIRECTORY", "")]).is_none());
}
