//! Consequences of a call that fails: strace lets one fail that did not.

use std::process::Stdio;

use serde_json::Value;
use testkit::{Scratch, need_loops, need_tools, scratch::text, tool};

use super::run::{Ran, fsync, going};
use super::volume::Volume;

/// A run of so many seconds of which strace changes a call; what it ended with, and the trace.
fn tampered(inject: &str, only: &str, seconds: &str) -> (Ran, String) {
    let (scratch, beside) = (Scratch::new(), Scratch::new());
    let trace = beside.path().join("trace");
    let mut command = tool::command("strace");
    command.args(["-f", "-qq", "-s", "0", "-e", only, "-e", inject, "-o", text(&trace)]);
    command.args([env!("CARGO_BIN_EXE_straddle"), "fsync", text(scratch.path())]);
    command.args(["--rows", "pg", "--seconds", seconds, "--seed", "1", "--json"]);
    let output = command.stdin(Stdio::null()).output().expect("strace runs");
    let trace = std::fs::read_to_string(trace).expect("strace wrote it");
    assert_eq!(std::fs::read_dir(scratch.path()).expect("it is there").count(), 0);
    (output.into(), trace)
}

#[test]
fn after_a_sync_that_failed_nothing_is_written_and_no_sync_is_tried_again() {
    need_tools!("strace");
    let inject = "inject=fdatasync:error=EIO:when=9";
    let (ran, trace) = tampered(inject, "trace=pwrite64,write,fdatasync,fsync", "60");
    if !trace.contains("INJECTED") {
        testkit::skip("strace cannot change calls here");
        return;
    }
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.errors.contains("fdatasync failed"), "{ran:?}");
    assert!(ran.errors.contains("not tried again") && ran.errors.contains("hint: "), "{ran:?}");
    let (_, behind) = trace.split_once("INJECTED").expect("it is there");
    // The document and the message go to descriptors 1 and 2.
    let calls = behind.lines().filter(|line| line.contains('('));
    let others: Vec<&str> =
        calls.filter(|line| !line.contains("write(1,") && !line.contains("write(2,")).collect();
    assert!(others.is_empty(), "{others:?}");
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    let broken = |row: &&Value| row["errors"].as_array().is_some_and(|list| !list.is_empty());
    let rows = document["rows"].as_array().expect("a list");
    assert_eq!(rows.iter().filter(broken).count(), 1);
}

#[test]
fn a_file_system_that_goes_down_meanwhile_is_named_with_how_it_is_looked_at() {
    need_loops!();
    need_tools!("mkfs.xfs", "mkfs.ext4", "xfs_io", "mount", "umount");
    let xfs = || Volume::on_loop("xfs", &["-q", "-f"], "");
    let check = |errors: &str, check: &str, volume: &Volume| {
        assert!(errors.starts_with("note: ") || errors.starts_with("error: "), "{errors}");
        let (_, hint) = errors.split_once("\nhint: ").unwrap_or_else(|| panic!("{errors}"));
        let order = ["went down", "(dmesg)", &format!("umount {}", volume.name()), check];
        let places = order.map(|word| hint.find(word).unwrap_or_else(|| panic!("{word}: {hint}")));
        assert!(places.is_sorted(), "{hint}");
        assert!(hint.contains(volume.device_name()), "{hint}");
    };
    for (volume, how) in [(xfs(), "xfs_repair -n /dev/"), (Volume::ext4(""), "e2fsck -f /dev/")] {
        let before = volume.written_bytes();
        let mut going = going(&[volume.name(), "--seconds", "600", "--bytes-max", "64G"]);
        going.until("it measures", || volume.written_bytes() > before + (17 << 20));
        tool::run("xfs_io", &["-x", "-c", "shutdown", volume.name()]);
        let ran = going.ended();
        assert_eq!(ran.status, Some(1), "{ran:?}");
        let ways = ["error: stopped, and not tried again", "error: stopped: the file system of"];
        assert!(ways.iter().any(|way| ran.errors.contains(way)), "{ran:?}");
        check(&ran.errors, how, &volume);
        let again = fsync(&[volume.name()]);
        assert_eq!(again.status, Some(2), "{again:?}");
        check(&again.errors, how, &volume);
    }
}

#[test]
fn a_short_write_voids_its_row_alone() {
    need_tools!("strace");
    let measured =
        |rows: &[Value]| rows.iter().filter(|row| row["operations"].as_u64() > Some(0)).count();
    let mut rows = Vec::new();
    // On a busy machine few seconds do not hold a round of all rows.
    for seconds in ["6", "24", "96"] {
        let inject = "inject=pwrite64:retval=512:when=150";
        let (ran, trace) = tampered(inject, "trace=pwrite64", seconds);
        if !trace.contains("INJECTED") {
            testkit::skip("strace cannot change calls here");
            return;
        }
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let document: Value = serde_json::from_str(&ran.out).expect("JSON");
        rows.clone_from(document["rows"].as_array().expect("a list"));
        if measured(&rows) == 15 {
            break;
        }
    }
    let broken = |row: &&Value| row["errors"].as_array().is_some_and(|list| !list.is_empty());
    let broken: Vec<&Value> = rows.iter().filter(broken).collect();
    let [row] = broken[..] else { panic!("one row is void: {broken:?}") };
    assert!(row["errors"][0].as_str().is_some_and(|error| error.contains("wrote 512")), "{row}");
    assert!(row["mean_ns"].is_null() && row["histogram"] == serde_json::json!([]), "{row}");
    assert_eq!(measured(&rows), 15);
}
