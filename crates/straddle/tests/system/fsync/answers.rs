//! Answers of `straddle fsync`: what is measured and said.

use serde_json::Value;
use testkit::running_program::until;
use testkit::{Scratch, need_loops, need_tools, schema, scratch::text, tool};

use super::run::{PROFILE, Ran, fsync, has_all_rows, in_time, measured, row, succeeded};
use super::volume::Volume;

const SCHEMA: &str = include_str!("../../../../report/schema/straddle.fsync.2.schema.json");
const PLAN: &str = include_str!("../../../../report/schema/straddle.fsync.plan.1.schema.json");

/// Rows that are measured wherever a file can be written.
const EVERYWHERE: [&str; 9] = [
    "pg.one.fdatasync",
    "pg.one.fsync",
    "pg.two.fdatasync",
    "pg.two.fsync",
    "pg.descriptor.own",
    "pg.descriptor.other",
    "pg.write",
    "wal.append",
    "wal.contended",
];

#[track_caller]
fn valid(schema: &str, document: &Value) {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    assert_eq!(schema::faults(&schema, document), Vec::<String>::new());
}

/// All rows on a file system: whole, in time, within the bytes, and nothing is left.
#[track_caller]
fn all_rows(volume: &Volume, is_direct: bool) -> Value {
    // Enough for a second round of all rows, which is the first that counts, beside other tests.
    let of =
        |seconds: &str| fsync(&["--json", volume.name(), "--rows", "all", "--seconds", seconds]);
    let document = succeeded(&in_time(10, of, has_all_rows));
    valid(SCHEMA, &document);
    volume.is_clean();
    let rows = document["rows"].as_array().expect("a list");
    assert_eq!(rows.iter().filter(|row| row["is_pg"] == true).count(), 18);
    for one in rows {
        assert_eq!(one["errors"], serde_json::json!([]), "{one}");
        let is_bare =
            one["method"] == "fsync_writethrough" || (one["path"] == "direct" && !is_direct);
        assert_eq!(one["unavailable"].is_null(), !is_bare, "{one}");
        assert_eq!(one["operations"].as_u64() > Some(0), !is_bare, "{one}");
    }
    for id in EVERYWHERE {
        let one = row(&document, id);
        assert!(one["mean_ns"].as_f64() > Some(0.0), "{one}");
    }
    let written = document["scratch"]["written_bytes"].as_u64().expect("a number");
    assert!(written <= 256 << 20, "{written}");
    assert!(document["refusal"].is_null() && document["rounds"]["rounds"].as_u64() > Some(0));
    document
}

#[test]
fn every_row_is_measured_on_ext4_and_nothing_is_left() {
    need_loops!();
    need_tools!("mkfs.ext4");
    let volume = Volume::ext4("");
    let before = volume.written_bytes();
    let document = all_rows(&volume, true);
    assert_eq!(document["target"]["filesystem"], "ext4");
    let layers = document["target"]["layers"].as_array().expect("a list");
    assert!(layers.iter().any(|layer| layer["name"] == volume.device_name()), "{layers:?}");
    let said = document["scratch"]["written_bytes"].as_u64().expect("a number");
    // The journal comes on top, and pages that are written together are fewer.
    let counted = volume.written_bytes() - before;
    assert!(counted < said * 3, "{counted} of {said}");
}

#[test]
fn every_row_is_measured_on_xfs() {
    need_loops!();
    need_tools!("mkfs.xfs");
    let volume = Volume::on_loop("xfs", &["-q", "-f"], "");
    assert_eq!(all_rows(&volume, true)["target"]["filesystem"], "xfs");
}

#[test]
fn every_row_is_measured_on_btrfs_where_syncs_reach_the_disk_and_the_name_goes() {
    need_loops!();
    need_tools!("mkfs.btrfs");
    let volume = Volume::on_loop("btrfs", &["-q", "-f"], "");
    let flushes = || {
        let path = format!("/sys/block/{}/stat", volume.device_name());
        let line = std::fs::read_to_string(path).expect("it counts");
        line.split_whitespace().nth(15).map(|word| word.parse::<u64>().expect("a number"))
    };
    let before = flushes();
    let document = all_rows(&volume, true);
    let Some((before, after)) = before.zip(flushes()) else {
        testkit::skip("the kernel does not count flushes");
        return;
    };
    let operations = |id: &str| row(&document, id)["operations"].as_u64().expect("a number");
    let synced: u64 = ["pg.one.fdatasync", "pg.one.fsync"].map(operations).iter().sum();
    assert!(after - before > synced, "{} flushes in all for {synced} syncs", after - before);
}

#[test]
fn every_row_is_measured_in_memory_or_says_why_not() {
    need_loops!();
    let volume = Volume::in_memory("size=256m");
    let of = |seconds: &str| fsync(&["--json", volume.name(), "--seconds", seconds]);
    let document = succeeded(&in_time(2, of, has_all_rows));
    valid(SCHEMA, &document);
    volume.is_clean();
    assert_eq!(document["target"]["filesystem"], "tmpfs");
    assert!(document["target"]["layers"].as_array().is_some_and(Vec::is_empty));
    for id in EVERYWHERE {
        assert!(row(&document, id)["operations"].as_u64() > Some(0), "{id}");
    }
    let direct = row(&document, "pg.one.open_datasync");
    let refused = direct["unavailable"].as_str().is_some_and(|reason| reason.contains("direct"));
    assert!(refused || direct["operations"].as_u64() > Some(0), "{direct}");
}

#[test]
fn the_table_has_every_label_of_pg_test_fsync() {
    need_loops!();
    need_tools!("mkfs.ext4", "pg_test_fsync");
    let volume = Volume::ext4("");
    let file = volume.path().join("out");
    let theirs = tool::run("pg_test_fsync", &["-s", "1", "-f", text(&file)]);
    let of = |seconds: &str| fsync(&[volume.name(), "--rows", "pg", "--seconds", seconds]);
    let ran = in_time(6, of, has_all_rows);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let ours: Vec<String> = ran.out.lines().map(squeezed).collect();
    let mut from = 0;
    let rows = theirs.lines().filter(|line| line.contains("usecs/op") || line.ends_with("n/a"));
    for line in rows {
        let label = squeezed(line.get(8..38).expect("a label has 30 columns"));
        let found = ours[from..].iter().position(|own| own.starts_with(&label));
        from +=
            1 + found.unwrap_or_else(|| panic!("{label} is not there, or not in order: {ours:?}"));
    }
    assert_eq!(theirs.lines().filter(|line| line.contains("usecs/op")).count(), 16);
}

#[test]
fn a_dry_run_says_bytes_time_wear_and_impact_and_writes_nothing() {
    need_loops!();
    need_tools!("mkfs.ext4");
    // Looking changes the time of access elsewhere, which is written when anybody syncs.
    let volume = Volume::ext4("noatime");
    tool::run("sync", &["--file-system", volume.name()]);
    let before = volume.written_bytes();
    let ran = fsync(&[volume.name(), "--dry-run"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    for word in ["scratch", "written", "time", "wear", "impact", "nothing was written"] {
        assert!(ran.out.contains(word), "{word}: {ran:?}");
    }
    let plan = measured(&[volume.name(), "--dry-run"]);
    valid(PLAN, &plan);
    assert_eq!(volume.written_bytes(), before);
}

/// Returns what `--dry-run` says of a run with `arguments`.
#[track_caller]
fn foreseen(arguments: &[&str]) -> Value {
    let scratch = Scratch::new();
    let plan = measured(&[&[text(scratch.path()), "--dry-run"], arguments].concat());
    valid(PLAN, &plan);
    plan
}

#[test]
fn what_is_foreseen_keeps_to_the_seconds_and_bytes_that_were_given() {
    let check = |arguments: &[&str], seconds: u64, bytes: u64| {
        let forecast = &foreseen(arguments)["forecast"];
        assert!(forecast["seconds_max"].as_u64() <= Some(seconds), "{arguments:?}: {forecast}");
        assert!(forecast["written_bytes_max"].as_u64() <= Some(bytes), "{arguments:?}: {forecast}");
    };
    for seconds in ["1", "3", "15", "600"] {
        let number = seconds.parse().expect("a number");
        check(&["--seconds", seconds], number, 256 << 20);
        check(&["--seconds", seconds, "--for", "etcd"], number, 256 << 20);
        check(&["--seconds", seconds, "--for", "ceph", "--bytes-max", "64M"], number, 64 << 20);
        check(&["--seconds", seconds, "--sustained"], number * 2, 256 << 20);
    }
}

#[test]
fn a_look_without_rows_foresees_its_own_bytes_and_seconds() {
    let plan = foreseen(&["--rows", "none"]);
    assert_eq!(plan["rows"], serde_json::json!([]));
    assert_eq!(plan["forecast"]["seconds_max"], 15);
    assert!(plan["forecast"]["written_bytes_max"].as_u64() < Some(8 << 20), "{plan}");
    assert!(plan["forecast"]["scratch_bytes"].as_u64() < Some(2 << 20), "{plan}");
}

#[test]
fn files_are_as_long_as_the_engines_where_the_bytes_allow_it_and_it_is_said_where_not() {
    let check = |arguments: &[&str], scratch_bytes: u64, is_shortened: bool| {
        let plan = foreseen(arguments);
        let forecast = &plan["forecast"];
        assert_eq!(forecast["scratch_bytes"], scratch_bytes, "{arguments:?}: {forecast}");
        let notes = plan["notes"].to_string();
        assert_eq!(notes.contains("half of --bytes-max"), is_shortened, "{arguments:?}: {notes}");
    };
    // A page is the file that is written over, which none of its rows does.
    check(&["--for", "etcd"], 64_000_000 + 4096, false);
    check(&["--for", "nats"], (8 << 20) + 4096, false);
    check(&["--for", "etcd", "--bytes-max", "16M"], (8 << 20) + 4096, true);
    check(&["--for", "postgresql"], 16 << 20, false);
    // Of 64 MiB, what 30600 writes of 512 bytes write over.
    check(&["--for", "mysql"], 30_600 * 512, false);
    check(&["--for", "mysql", "--seconds", "60"], 64 << 20, false);
}

#[test]
fn too_few_writes_end_in_an_option_to_type_that_is_more_than_was_given() {
    let scratch = Scratch::new();
    let profile = scratch.file("own.toml", PROFILE.as_bytes());
    let ran = fsync(&[text(scratch.path()), "--json", "--for", "a", "--profile", text(&profile)]);
    assert_eq!(ran.status, Some(5), "{ran:?}");
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    let verdict = &document["verdict"];
    assert_eq!(verdict["verdict"], "not-enough-evidence", "{verdict}");
    // The profile wants 100 writes; more than the usual seconds lift that.
    let next = verdict["next"].as_str().expect("a text");
    let (_, behind) = next.split_once("at half this pace: --seconds ").expect(next);
    let seconds = behind.split(' ').next().and_then(|word| word.parse::<u64>().ok());
    assert!(seconds >= Some(16) && next.starts_with("measure longer, for about "), "{next}");
}

#[test]
fn how_far_it_is_stands_on_a_terminal_unless_it_is_not_wanted() {
    need_tools!("script");
    let scratch = Scratch::new();
    let binary = env!("CARGO_BIN_EXE_straddle");
    let shown = |options: &str| {
        let what =
            format!("{binary} fsync {} --rows wal --seconds 2 {options}", text(scratch.path()));
        tool::run("script", &["--quiet", "--return", "--command", &what, "/dev/null"])
    };
    // A busy drive may take all the seconds for the files.
    until("each stage is drawn", || {
        let drawn = shown("");
        let stages = ["making scratch files", "measuring  ", "looking whether syncs are real"];
        stages.iter().all(|words| drawn.contains(&format!("\r\u{1b}[K{words}")))
    });
    assert!(!shown("--no-progress").contains("measuring  "));
    let piped = fsync(&[text(scratch.path()), "--rows", "wal", "--seconds", "1"]);
    assert!(!piped.errors.contains("measuring  "), "{piped:?}");
}

#[test]
fn what_is_going_to_be_written_is_said_before() {
    let scratch = Scratch::new();
    let of = |seconds: &str| fsync(&[text(scratch.path()), "--rows", "wal", "--seconds", seconds]);
    let ran = in_time(4, of, has_all_rows);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(
        ran.errors.contains("writes at most 256 MiB, under")
            || ran.errors.contains("writes at most 256 MiB;"),
        "{ran:?}"
    );
    assert!(
        ran.errors.contains("other programs' syncs on this drive are slower meanwhile"),
        "{ran:?}"
    );
}

#[test]
fn a_result_is_kept_whole_in_a_file_and_fio_s_parsers_find_the_percentiles() {
    let scratch = Scratch::new();
    let file = Scratch::new();
    let path = file.path().join("result.json");
    let of = |seconds: &str| {
        let words = [text(scratch.path()), "--rows", "wal", "--seconds", seconds];
        fsync(&[&words[..], &["-o", text(&path), "--format", "fio-json"]].concat())
    };
    let percentile = |ran: &Ran| {
        let fio: Option<Value> = serde_json::from_str(&ran.out).ok();
        fio?["jobs"][0]["sync"]["lat_ns"]["percentile"]["99.000000"].as_u64()
    };
    let ran = in_time(2, of, |ran| percentile(ran).is_some());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let kept = std::fs::read_to_string(&path).expect("it was written");
    valid(SCHEMA, &serde_json::from_str(&kept).expect("JSON"));
    assert!(percentile(&ran) > Some(0), "{ran:?}");
}

#[test]
fn a_sustained_run_gives_a_series_within_its_bytes() {
    let scratch = Scratch::new();
    let of = |seconds: &str| {
        let words = ["--json", text(scratch.path()), "--rows", "wal", "--seconds", seconds];
        fsync(&[&words[..], &["--sustained", "--bytes-max", "256M"]].concat())
    };
    let document = succeeded(&in_time(2, of, has_all_rows));
    valid(SCHEMA, &document);
    let sustained = &document["sustained"];
    assert!(!sustained["points"].as_array().expect("a list").is_empty(), "{sustained}");
    let written = document["scratch"]["written_bytes"].as_u64().expect("a number");
    assert!(written <= 256 << 20, "{written}");
}

#[test]
fn a_plugin_says_its_state_in_its_code_and_its_only_line() {
    let scratch = Scratch::new();
    let kept = scratch.path().join("result.json");
    let arguments =
        [text(scratch.path()), "--rows", "none", "--format", "nagios", "-o", text(&kept)];
    let ran = fsync(&arguments);
    let states = ["OK", "WARNING", "CRITICAL", "UNKNOWN"];
    let state = states[usize::try_from(ran.status.expect("it exits")).expect("it is a state")];
    assert!(ran.out.starts_with(&format!("STRADDLE {state} - syncs in ")), "{ran:?}");
    assert!(ran.out.contains(" | written=0B;;;0 time="), "{ran:?}");
    assert_eq!(ran.out.lines().count(), 1, "{ran:?}");
    let document: Value =
        serde_json::from_slice(&std::fs::read(&kept).expect("it is kept")).expect("it is JSON");
    let expected = match document["honesty"]["grade"].as_str() {
        Some("not-durable") => "CRITICAL",
        Some("suspect") => "WARNING",
        _ => "OK",
    };
    assert_eq!(state, expected, "{document}");
}
