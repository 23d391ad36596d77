//! Output that a user sees: tables, documents, plans, files, and exit codes that go with the
//! verdicts.

use std::fs;

use serde_json::Value;
use testkit::{Scratch, need_loops, need_tools, schema, scratch::text, tool};

use super::run::{Ran, bench, measured, said};
use super::volume::{Plan, Volume};

const BENCH: &str = include_str!("../../../../report/schema/straddle.bench.1.schema.json");
const COMPARE: &str = include_str!("../../../../report/schema/straddle.compare.2.schema.json");
const PLANNED: &str = include_str!("../../../../report/schema/straddle.bench.plan.1.schema.json");
/// An interval of what is alike.
const EVEN: [f64; 3] = [1.0, 0.97, 1.03];
/// A small scratch file and few pairs.
const SMALL: [&str; 4] = ["--scratch", "8M", "--pairs", "24"];

/// The document, which is as its schema says.
#[track_caller]
fn valid(schema: &str, ran: &Ran) -> Value {
    let schema = serde_json::from_str(schema).expect("the schema is JSON");
    let document = ran.document();
    assert_eq!(schema::faults(&schema, &document), Vec::<String>::new());
    document
}

/// A run on `volume` with these arguments last.
fn on(volume: &Volume, arguments: &[&str]) -> Ran {
    bench(&[&[volume.name()], &SMALL[..], arguments].concat())
}

/// The exit code that goes with a verdict.
fn code(verdict: &Value) -> i32 {
    match verdict.as_str() {
        Some("no-penalty" | "small") => 0,
        Some("penalty") => 1,
        Some("inconclusive" | "void") => 5,
        other => panic!("{other:?} is no verdict"),
    }
}

#[test]
fn a_table_says_where_what_and_how_it_ended_and_the_code_goes_with_it() {
    need_loops!();
    need_tools!("mkfs.ext4", "mkfs.xfs");
    let verdicts = [
        ("No penalty", 0),
        ("Small difference", 0),
        ("Penalty", 1),
        ("No verdict", 5),
        ("Void", 5),
    ];
    for plan in [Plan::EXT4, Plan::XFS] {
        let volume = plan.mounted();
        let before = volume.state();
        let ran = on(&volume, &["--explain"]);
        for part in ["scratch: 8 MiB in ", "aligned", "shifted 512 B", "pair by pair"] {
            assert!(ran.out.contains(part), "{part}: {ran:?}");
        }
        let told = verdicts.iter().find(|(word, _)| ran.out.contains(&format!("\n{word}: ")));
        assert_eq!(told.map(|(_, code)| *code), ran.status, "{ran:?}");
        assert!(said(&ran).is_empty(), "nothing is drawn where nobody looks: {ran:?}");
        volume.is_clean_again(&before);
    }
}

#[test]
fn what_is_measured_through_a_loops_page_cache_is_of_the_loop_which_is_said_first() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let volume = Plan::EXT4.mounted();
    let name = volume.goes_through_the_page_cache();
    let ran = on(&volume, &["--explain"]);
    let flat = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let note = format!("note: {name} goes through the page cache of its host file, ");
    let (at_note, at_verdict) = (flat.find(&note), flat.find("scratch: 8 MiB"));
    assert!(at_note.is_some() && at_note < at_verdict, "{ran:?}");
    assert!(flat.contains(&format!("losetup --direct-io=on /dev/{name}")), "{ran:?}");
    assert!(flat.contains(&format!("; the result is of {name}, not of the drive.")), "{ran:?}");
    assert!(flat.contains(&format!(", on {name} at ")), "{ran:?}");
    assert!(!flat.contains("Predicted"), "no drive was asked: {ran:?}");
    assert!(!flat.contains("the bytes of a write"), "{name} counts what it is given: {ran:?}");
}

#[test]
fn documents_of_all_ways_are_as_the_schema_says_and_carry_what_repeats_them() {
    need_loops!();
    need_tools!("mkfs.ext4", "dd");
    let volume = Plan::EXT4.mounted();
    let before = volume.state();
    let scratch = Scratch::new();
    let job = scratch.file("job", b"[x]\nrw=write\nbs=4k\nsize=1m\nfsync=1\n");
    for arguments in [
        &[][..],
        &["--read", "--depth", "8"],
        &["--shift", "512", "--shift", "2K", "--sync", "fsync"],
        &["--depth", "8", "--sync", "none", "--size", "8K"],
        &["--job", text(&job)],
        &["--pairs", "2", "--", "dd", "if=/dev/zero", "of={device}", "bs=4k", "count=1"],
        &["--shift", "100"],
    ] {
        let bounds: &[&str] = if arguments.contains(&"--pairs") { &SMALL[..2] } else { &SMALL };
        let ran = bench(&[&["--json", volume.name()], bounds, arguments].concat());
        let document = valid(BENCH, &ran);
        assert_eq!(document["seed"], 1);
        let words: Vec<&str> = document["command"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert!(words.contains(&volume.name()), "{words:?}");
        let experiments = document["experiments"].as_array().expect("a list");
        // A penalty outranks a verdict that is missing.
        let codes: Vec<i32> = experiments.iter().map(|one| code(&one["verdict"])).collect();
        let worst = [1, 5, 0].into_iter().find(|code| codes.contains(code)).unwrap_or(2);
        assert_eq!(ran.status, Some(worst), "{arguments:?} {:?}", ran.errors);
        assert_eq!(experiments.is_empty(), !document["refusal"].is_null(), "{arguments:?}");
    }
    volume.is_clean_again(&before);
}

#[test]
fn a_dry_run_opens_nothing_for_writing_and_says_what_would_be_written() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "strace", "sync");
    let volume = Plan::EXT4.mounted();
    // Looking changes the time of access, which is written when anybody syncs.
    tool::run("mount", &["-o", "remount,noatime", volume.name()]);
    tool::run("sync", &["--file-system", volume.name()]);
    let (before, written) = (volume.state(), volume.written_sectors());
    let scratch = Scratch::new();
    let calls = scratch.path().join("calls");
    let job = scratch.file("job", b"[x]\nrw=write\nbs=4k\nsize=1m\nfsync=1\ndirectory=/x\n");
    for arguments in [
        &[][..],
        &["--full"],
        &["--suite", "--fs", "ext4"],
        &["--job", text(&job)],
        &["--", "touch", "{mount}/x"],
    ] {
        let binary = env!("CARGO_BIN_EXE_straddle");
        let head =
            ["-f", "-e", "trace=open,openat,openat2,creat,mkdir,ioctl,mount", "-o", text(&calls)];
        let words = [binary, "bench", volume.name(), "--dry-run", "--json"];
        let ran: Ran = tool::output("strace", &[&head[..], &words, arguments].concat()).into();
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let plan = valid(PLANNED, &ran);
        assert!(plan["written_bytes_max"].as_u64() > Some(0), "{plan:#}");
        let calls = fs::read_to_string(&calls).expect("strace wrote it");
        for word in [
            "O_RDWR",
            "O_WRONLY",
            "O_CREAT",
            "O_TMPFILE",
            "LOOP_CONF",
            "LOOP_CTL",
            "LOOP_SET",
            "mount(",
        ] {
            let touching = calls.lines().find(|line| line.contains(word));
            assert!(touching.is_none_or(|line| line.contains("/dev/null")), "{touching:?}");
        }
    }
    assert_eq!(volume.written_sectors(), written);
    volume.is_clean_again(&before);
}

#[test]
fn what_is_written_stays_within_its_bound_as_the_device_counts() {
    need_loops!();
    need_tools!("mkfs.ext4", "sync");
    let volume = Plan::EXT4.mounted();
    tool::run("sync", &["--file-system", volume.name()]);
    let before = volume.written_sectors();
    let arguments = ["--scratch", "8M", "--bytes-max", "16M", "--sync", "none", "--depth", "8"];
    let (document, _) = measured(&[&[volume.name()], &arguments[..]].concat());
    let pairs = document["experiments"][0]["pairs"].as_u64();
    assert!(pairs > Some(0), "{document:#}");
    let written = (volume.written_sectors() - before) * 512;
    // The file system's own records are not the benchmark's.
    assert!((8 << 20..18 << 20).contains(&written), "{written}");
}

#[test]
fn results_that_were_kept_are_compared_and_one_that_is_slower_is_named() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let volume = Plan::EXT4.mounted();
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    let kept = |name: &str| {
        let ran = on(&volume, &["--output", text(&path(name))]);
        assert!(ran.out.contains("pair by pair"), "{ran:?}");
        let text = fs::read_to_string(path(name)).expect("it was kept");
        valid(BENCH, &Ran { status: None, out: text, errors: String::new() })
    };
    let (first, _) = (kept("first"), kept("second"));
    let compare = |second: &str| -> Ran {
        let binary = env!("CARGO_BIN_EXE_straddle");
        let words =
            ["compare", "--json", text(&path("first")), text(&path(second))].map(str::to_owned);
        std::process::Command::new(binary).args(words).output().expect("it runs").into()
    };
    let same = compare("first");
    assert_eq!(same.status, Some(0), "{same:?}");
    valid(COMPARE, &same);
    assert!(matches!(compare("second").status, Some(0 | 1 | 5)));
    // What drives would have said on which a shift costs nothing, and ten times.
    let like = |verdict: &str, interval: [f64; 3]| {
        let mut document = first.clone();
        let experiment = &mut document["experiments"][0];
        experiment["verdict"] = verdict.into();
        for one in experiment["comparisons"].as_array_mut().expect("a list") {
            let [ratio, low, high] = if one["arm"] == "control" { EVEN } else { interval };
            (one["ratio"], one["low"], one["high"]) = (ratio.into(), low.into(), high.into());
        }
        document.to_string()
    };
    fs::write(path("first"), like("no-penalty", EVEN)).expect("it can be written");
    fs::write(path("slow"), like("penalty", [10.0, 9.0, 11.0])).expect("it can be written");
    assert_eq!(compare("first").status, Some(0));
    assert_eq!(compare("slow").status, Some(1), "{:?}", compare("slow"));
    fs::write(path("broken"), "{").expect("it can be written");
    let broken = compare("broken");
    assert_eq!(broken.status, Some(2));
    assert!(broken.errors.contains("hint: "), "{broken:?}");
}

#[test]
fn a_seed_decides_which_places_are_written() {
    need_loops!();
    need_tools!("mkfs.ext4", "strace");
    let volume = Plan::EXT4.mounted();
    let scratch = Scratch::new();
    let calls = scratch.path().join("calls");
    let places = |seed: &str| -> Vec<String> {
        let binary = env!("CARGO_BIN_EXE_straddle");
        let head = ["-f", "-e", "trace=pread64,preadv2", "-o", text(&calls), binary, "bench"];
        let words = [volume.name(), "--read", "--pairs", "12", "--scratch", "8M", "--share", "100"];
        let _ = tool::output("strace", &[&head[..], &words, &["--seed", seed]].concat());
        let calls = fs::read_to_string(&calls).expect("strace wrote it");
        let reads = calls.lines().filter(|line| line.contains(", 4096"));
        let offset = |line: &str| line.split(", 4096").nth(1).map(str::to_owned);
        reads.filter_map(offset).filter(|rest| rest.contains(") = 4096")).collect()
    };
    // How many pairs are warm-up, before those that count, is for the drive to say.
    let [first, again, other] = ["5", "5", "6"].map(places);
    let shorter = first.len().min(again.len());
    assert!(shorter >= 36, "{first:?}, {again:?}");
    assert_eq!(first[..shorter], again[..shorter]);
    assert_ne!(first[..36], other[..36]);
}

#[test]
fn a_command_that_discards_its_device_does_not_move_the_scratch_file() {
    need_loops!();
    need_tools!("mkfs.ext4", "blkdiscard", "fallocate");
    let volume = Plan::EXT4.mounted();
    let script = "blkdiscard -f {device}; fallocate -n -p -l 1M {device}; \
                  blkdiscard -f -z {device}; true";
    let arguments = ["--scratch", "8M", "--pairs", "3", "--", "sh", "-c", script];
    let ran = bench(&[&[volume.name()], &arguments[..]].concat());
    assert_eq!(ran.status, Some(5), "{ran:?}");
    assert!(ran.out.contains("No verdict: "), "{ran:?}");
}

#[test]
fn a_command_runs_for_as_many_pairs_as_were_asked_and_what_it_writes_is_counted_once() {
    need_loops!();
    need_tools!("mkfs.ext4", "dd");
    let volume = Plan::EXT4.mounted();
    let dd = ["dd", "if=/dev/zero", "of={device}", "bs=1M", "count=2", "oflag=direct"];
    let words = [volume.name(), "--scratch", "16M", "--pairs", "4", "--json", "--"];
    let document = bench(&[&words[..], &dd[..]].concat()).document();
    let experiment = &document["experiments"][0];
    assert_eq!(experiment["pairs"], 4, "{experiment:#}");
    // Three arms of 2 MiB in each of four pairs.
    assert_eq!(experiment["written_bytes"], 24 << 20, "{experiment:#}");
    let all = &document["scratch"]["written_bytes"];
    assert_eq!(*all, (16 + 24) << 20, "filling the scratch file counts too");
}
