//! NBD, as a user starts it.

use testkit::running_program::Ran;
use testkit::scratch::text;
use testkit::{Scratch, need_tools, tool};

use super::{interrupted, served, straddle};

#[test]
fn a_drive_is_served_until_a_signal_and_leaves_no_socket() {
    let scratch = Scratch::new();
    let socket = scratch.path().join("socket");
    let words = ["--profile", "hdd-7200-512e", "--as", "nbd", "--socket", text(&socket)];
    let mut going = served(&words);
    going.until("it listens", || socket.exists());
    let taken = Ran::of(straddle(&["serve"]).args(words));
    assert_eq!(taken.status, Some(2), "{taken:?}");
    assert!(taken.errors.contains("it is in use"), "{taken:?}");
    let ran = interrupted(going);
    assert!(!socket.exists(), "{ran:?}");
    let first = ran.out.lines().next().expect("the address");
    assert_eq!(first, format!("nbd+unix:///?socket={}", text(&socket)));
    assert!(ran.out.contains("0 reads, 0 writes, 0 flushes"), "{ran:?}");

    for (words, reason) in [
        (&["--as", "nbd", "--socket", "/nonexistent/socket"][..], "No such file"),
        (&["--as", "nbd", "--set", "rpm=0"], "rpm"),
        (&["--as", "nbd", "--timing", "0"], "a factor from 0.001"),
        (&["--as", "nbd", "--store", "/dev/null"], "not a regular file"),
    ] {
        let profile = ["serve", "--profile", "hdd-7200-512e"];
        let ran = Ran::of(straddle(&profile).args(words));
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.errors.contains(reason), "{reason}: {ran:?}");
    }
}

#[test]
fn what_a_client_did_is_counted_recorded_and_kept_in_the_store() {
    need_tools!("qemu-io");
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    let [socket, counts, trace, store] = ["socket", "counts", "trace", "store"].map(path);
    let words = [
        "--profile",
        "hdd-7200-512e",
        "--as",
        "nbd",
        "--timing",
        "off",
        "--json",
        "--socket",
        text(&socket),
        "--counts",
        text(&counts),
        "--record",
        text(&trace),
        "--store",
        text(&store),
    ];
    let uri = format!("nbd+unix:///?socket={}", text(&socket));
    let qemu = |steps: &[&str]| {
        let steps = steps.iter().flat_map(|step| ["-c", step]);
        let words: Vec<&str> = ["-f", "raw", &uri].into_iter().chain(steps).collect();
        let shown = tool::run("qemu-io", &words);
        assert!(!shown.contains("failed"), "{shown}");
    };
    let mut going = served(&words);
    going.until("it listens", || socket.exists());
    qemu(&["write -P 7 512 4096", "flush", "read -P 7 512 4096"]);
    going.until("the counts are told", || {
        std::fs::read_to_string(&counts).is_ok_and(|text| text.contains("\"writes\": 1"))
    });
    let ran = interrupted(going);
    let documents = serde_json::Deserializer::from_str(&ran.out).into_iter::<serde_json::Value>();
    let documents: Vec<_> = documents.map(|one| one.expect("JSON")).collect();
    let [ready, end] = &documents[..] else { panic!("{ran:?}") };
    assert_eq!(
        (&ready["address"], &ready["requests"]["writes"]),
        (&uri.as_str().into(), &0.into())
    );
    assert_eq!((&end["requests"]["writes"], &end["requests"]["reads"]), (&1.into(), &1.into()));
    assert_eq!((&end["did"]["rmw_reads"], &end["timing"]), (&2.into(), &serde_json::Value::Null));
    assert!(end["turns"].as_f64().expect("it turns") > 1.0, "{end}");

    let replay = ["simulate", "--profile", "hdd-7200-512e", "--trace", text(&trace)];
    let replayed = Ran::of(straddle(&replay).arg("--json")).document();
    assert_eq!(replayed["arms"][0]["did"]["rmw_reads"], 2, "{replayed}");

    let mut again = served(&words);
    again.until("it listens", || socket.exists());
    qemu(&["read -P 7 512 4096", "read -P 0 8192 4096"]);
    interrupted(again);
}

#[test]
fn a_file_that_is_not_the_drives_own_is_neither_overwritten_nor_grown() {
    let scratch = Scratch::new();
    let socket = scratch.path().join("socket");
    let base = ["--profile", "hdd-7200-512e", "--as", "nbd", "--socket", text(&socket)];
    for (option, code) in [("--record", 2), ("--counts", 3), ("--store", 2)] {
        let precious = scratch.file("precious", b"precious\n");
        let ran = Ran::of(straddle(&["serve"]).args(base).args([option, text(&precious)]));
        assert_eq!((ran.status, ran.out.as_str()), (Some(code), ""), "{option}: {ran:?}");
        assert!(ran.errors.contains("hint: name a new file"), "{option}: {ran:?}");
        assert_eq!(std::fs::read(&precious).expect("it is there"), b"precious\n", "{option}");
    }
    // Two drives do not share a store.
    let store = scratch.path().join("store");
    let mut going = served(&[&base[..], &["--timing", "off", "--store", text(&store)]].concat());
    going.until("it listens", || socket.exists());
    let other = scratch.path().join("other");
    let words = ["--profile", "hdd-7200-512e", "--as", "nbd", "--socket", text(&other), "--store"];
    let ran = Ran::of(straddle(&["serve"]).args(words).arg(&store));
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.contains("another process has it locked"), "{ran:?}");
    interrupted(going);
}
