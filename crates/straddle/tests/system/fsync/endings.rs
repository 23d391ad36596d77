//! However a run ends, nothing of it is left.

use std::io::Write as _;

use serde_json::Value;
use testkit::{need_loops, need_tools};

use super::run::{Going, Ran, fsync, going, has_all_rows, in_time, row, signal, until};
use super::volume::Volume;

/// A run that goes on for longer than a test does.
fn started(volume: &Volume) -> Going {
    let before = volume.written_bytes();
    let going = going(&[volume.name(), "--seconds", "600", "--bytes-max", "64G"]);
    // The first file is written, and rows are measured.
    until("it measures", || volume.written_bytes() > before + (17 << 20));
    going
}

#[test]
fn a_signal_ends_it_with_its_code_and_leaves_nothing() {
    need_loops!();
    need_tools!("mkfs.ext4", "mkfs.btrfs", "kill");
    for (volume, signal, code) in [
        (Volume::ext4(""), "INT", 130),
        (Volume::on_loop("btrfs", &["-q", "-f"], ""), "INT", 130),
        (Volume::ext4(""), "TERM", 143),
    ] {
        let mut going = started(&volume);
        going.signal(signal);
        let ran = going.ended();
        assert_eq!(ran.status, Some(code), "{ran:?}");
        assert!(ran.errors.contains("interrupted; nothing is left behind"), "{ran:?}");
        assert!(!ran.errors.contains("error:"), "{ran:?}");
        assert!(ran.out.contains("interrupted: figures"), "the result says so too: {ran:?}");
        volume.is_clean();
    }
}

#[test]
fn nothing_is_left_of_a_run_that_is_killed() {
    need_loops!();
    need_tools!("mkfs.ext4", "mkfs.btrfs", "kill");
    for volume in [Volume::ext4(""), Volume::on_loop("btrfs", &["-q", "-f"], "")] {
        let mut going = started(&volume);
        going.signal("KILL");
        assert_eq!(going.ended().status, None, "a signal is no exit code");
        volume.is_clean();
    }
}

/// The rows of a run that met lack of room, `void` among them: it ended as partial, in the kernel's
/// `words`, and left nothing.
#[track_caller]
fn without_room(ran: &Ran, document: &Value, void: &str, words: &str) {
    let row = row(document, void);
    assert!(row["mean_ns"].is_null() && row["operations"] == 0, "{row}");
    // Also where one page was free still, and half of a write fitted.
    assert!(row["errors"][0].as_str().is_some_and(|error| error.contains(words)), "{row}");
    let refusal = document["refusal"]["message"].as_str().expect("there is one");
    for word in ["had no room while rows were measured", void, words] {
        assert!(refusal.contains(word), "{word}: {refusal}");
    }
    assert!(ran.errors.contains("hint: free ") && !ran.errors.contains("dmesg"), "{ran:?}");
    let rows = document["rows"].as_array().expect("a list");
    assert!(rows.iter().any(|row| row["operations"].as_u64() > Some(0)), "{rows:?}");
}

#[test]
fn a_disk_that_fills_up_meanwhile_ends_in_what_was_measured_and_nothing_is_left() {
    need_loops!();
    need_tools!("mkfs.ext4", "fallocate", "kill");
    let volume = Volume::ext4("");
    let kept = testkit::Scratch::new();
    let output = kept.path().join("result.json");
    let to = output.to_str().expect("it is text");
    let begun = free_bytes(&volume);
    let arguments = ["--rows", "wal", "--seconds", "12", "--bytes-max", "64G", "--output", to];
    let mut going = going(&[&[volume.name()], &arguments[..]].concat());
    stopped_while_a_file_grows(&mut going, &volume, begun);
    let filler = volume.path().join("filler");
    // All that is free at once; what it takes before it fails stays as well.
    let length = ((free_bytes(&volume) >> 12) << 12).to_string();
    let _ =
        testkit::tool::output("fallocate", &["--length", &length, testkit::scratch::text(&filler)]);
    going.signal("CONT");
    let ran = going.ended();
    let text = std::fs::read_to_string(&output).expect("it was kept");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    // Whichever wants a block first meets it.
    let rows = document["rows"].as_array().expect("a list");
    let void = rows.iter().find(|row| row["errors"][0].is_string());
    let void = void.unwrap_or_else(|| panic!("a row met it: {ran:?}"));
    assert_eq!(ran.status, Some(5), "{ran:?}");
    without_room(&ran, &document, void["id"].as_str().expect("a text"), "No space left");
    std::fs::remove_file(&filler).expect("it is there");
    volume.is_clean();
}

#[test]
fn a_quota_that_is_reached_meanwhile_ends_in_what_was_measured_and_nothing_is_left() {
    need_loops!();
    need_tools!("mkfs.btrfs", "btrfs");
    let volume = Volume::on_loop("btrfs", &["-q", "-f"], "");
    let inside = volume.path().join("limited");
    let inside = testkit::scratch::text(&inside);
    testkit::tool::run("btrfs", &["quota", "enable", volume.name()]);
    testkit::tool::run("btrfs", &["subvolume", "create", inside]);
    // Room for the first file of 16 MiB, and not for all that the rows let grow beside it.
    testkit::tool::run("btrfs", &["qgroup", "limit", "22M", inside]);
    let words = ["--json", inside, "--rows", "wal", "--bytes-max", "64G", "--seconds"];
    let ran = in_time(6, |seconds| fsync(&[&words[..], &[seconds]].concat()), has_all_rows);
    assert_eq!(ran.status, Some(5), "{ran:?}");
    without_room(&ran, &ran.document(), "wal.preallocated", "quota exceeded");
    until("nothing is left", || std::fs::read_dir(inside).is_ok_and(|left| left.count() == 0));
}

#[test]
fn what_is_left_when_all_is_killed_at_once_goes_with_the_next_run_and_a_live_one_keeps_its_files() {
    need_loops!();
    need_tools!("mkfs.btrfs", "kill");
    let volume = Volume::on_loop("btrfs", &["-q", "-f"], "");
    let mut going = started(&volume);
    // Which have names on btrfs.
    until("its files are there", || volume.names().len() == 4);
    let names = volume.names();
    // Rows that only look make a file too.
    let beside = fsync(&[volume.name(), "--rows", "none"]);
    assert!(!beside.errors.contains("removed"), "{beside:?}");
    assert_eq!(volume.names(), names, "another run goes on");

    // What is stopped does nothing between one death and the next.
    let guards = going.children();
    assert_eq!(guards.len(), names.len(), "each name has its guard");
    guards.iter().for_each(|guard| signal(*guard, "STOP"));
    going.signal("KILL");
    assert_eq!(going.ended().status, None, "a signal is no exit code");
    guards.iter().for_each(|guard| signal(*guard, "KILL"));
    assert_eq!(volume.names(), names, "nobody was there to remove them");
    for name in &names {
        std::fs::copy(volume.path().join(name), volume.path().join(format!("{name}~"))).unwrap();
    }

    let looked = fsync(&[volume.name(), "--dry-run"]);
    assert_eq!(looked.status, Some(0), "{looked:?}");
    assert_eq!(volume.names().len(), 2 * names.len(), "looking removes nothing");
    let next = fsync(&[volume.name(), "--rows", "none"]);
    for name in &names {
        assert!(next.errors.contains(&format!("note: removed {name} (")), "{next:?}");
    }
    let others: Vec<String> = names.iter().map(|name| format!("{name}~")).collect();
    assert_eq!(volume.names(), others, "what only looks like one is left alone");
    others.iter().for_each(|name| std::fs::remove_file(volume.path().join(name)).unwrap());
    volume.is_clean();
}

#[test]
fn rows_that_meet_a_full_file_system_are_void_and_the_others_go_on() {
    need_loops!();
    need_tools!("kill");
    let volume = Volume::in_memory("size=64m");
    let filler = volume.path().join("filler");
    // To a file: nobody reads a pipe while the file system is filled.
    let kept = testkit::Scratch::new();
    let output = kept.path().join("result.json");
    let to = output.to_str().expect("it is text");
    let arguments = [volume.name(), "--seconds", "15", "--bytes-max", "64G", "--output", to];
    let begun = free_bytes(&volume);
    let mut going = going(&arguments);
    stopped_while_a_file_grows(&mut going, &volume, begun);
    let mut file = std::fs::File::create(&filler).expect("it can be made");
    while file.write(&[1; 65536]).is_ok() {}
    going.signal("CONT");
    let ran = going.ended();
    let text = std::fs::read_to_string(&output).expect("it was kept");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    // That memory is not durable is known without a sync.
    assert_eq!(ran.status, Some(1), "{ran:?}");
    without_room(&ran, &document, "wal.append", "No space left");
    let over = row(&document, "pg.one.fdatasync");
    assert!(over["operations"].as_u64() > Some(0), "{over}");
    std::fs::remove_file(&filler).expect("it is there");
    volume.is_clean();
}

/// Stops a run, on a volume where `begun` bytes were free, once the file of 16 MiB and the space of
/// 8 MiB are taken and the file that grows to 8 MiB has more than 1 MiB to go: its next blocks are
/// the next that anything wants, however long this thread has to wait for a processor.
#[track_caller]
fn stopped_while_a_file_grows(going: &mut Going, volume: &Volume, begun: u64) {
    until("a file grows", || {
        assert!(going.is_going(), "it ended before");
        going.signal("STOP");
        let taken = begun.saturating_sub(free_bytes(volume));
        let grows = (24 << 20..31 << 20).contains(&taken);
        if !grows {
            going.signal("CONT");
        }
        grows
    });
}

/// The bytes that are free there.
fn free_bytes(volume: &Volume) -> u64 {
    let answer = testkit::tool::run("stat", &["--file-system", "--format=%f %S", volume.name()]);
    let numbers: Vec<u64> =
        answer.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.iter().product()
}
