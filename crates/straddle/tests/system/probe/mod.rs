//! `straddle probe` as a user runs it, and what `straddle check` makes of what it kept.

mod refused;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use testkit::running_program::{Going, by_signals, until};
use testkit::{Loop, Scratch, need_loops, need_tools, schema};

const SCHEMA: &str = include_str!("../../../../report/schema/straddle.probe.1.schema.json");

/// Runs straddle with its state in `state`.
fn straddle(state: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(arguments)
        .env("STATE_DIRECTORY", state)
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it prints UTF-8")
}

/// Returns what was printed, which the schema describes wholly.
#[track_caller]
fn document(output: &Output) -> Value {
    let document: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)));
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    assert_eq!(schema::faults(&schema, &document), Vec::<String>::new());
    document
}

/// A captured machine whose disk `v512e` has a serial number.
fn captured() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../stack/tests/sysroots/qemu-all.k6.12.sysroot")
}

/// Returns what a probe of that disk would keep.
fn saved(physical_sector_bytes: u64) -> Value {
    json!({
        "schema": "straddle.measured/1",
        "version": "0.1.0",
        "measured": "2026-01-02T03:04:05Z",
        "identity": {
            "name": "v512e",
            "kind": "serial",
            "model": null,
            "length_bytes": 67_108_864,
            "firmware": null,
            "logical_sector_bytes": 512,
            "physical_sector_bytes": physical_sector_bytes,
        },
        "granule": {
            "alignment_bytes": 16384,
            "origin_bytes": 0,
            "size_bytes": 16384,
            "slower_low": 1.9,
            "aligned_high": 1.1,
            "alpha": 0.004,
            "said_by": "a test",
        },
    })
}

/// A state directory with that.
fn state(physical_sector_bytes: u64) -> Scratch {
    let scratch = Scratch::new();
    let _ = scratch
        .file("measured-serial-v512e.json", saved(physical_sector_bytes).to_string().as_bytes());
    scratch
}

/// The granules of a check that are used, with who says them and why.
fn granules(check: &Value) -> Vec<(u64, String, String)> {
    let targets = check["targets"].as_array().expect("targets");
    let layers = targets.iter().flat_map(|target| target["layers"].as_array().expect("layers"));
    let units = layers.flat_map(|layer| layer["units"].as_array().into_iter().flatten());
    units
        .filter(|unit| unit["unit"] == "granule" && unit["used"] == true)
        .map(|unit| {
            let word = |key: &str| unit[key].as_str().expect("text").to_owned();
            (unit["bytes"].as_u64().expect("bytes"), word("source"), word("reason"))
        })
        .collect()
}

fn check(state: &Path, more: &[&str]) -> (Value, String) {
    let captured = captured();
    let sysroot = captured.to_str().expect("the path is text");
    let arguments = [&["check", "--json", "--sysroot", sysroot], more].concat();
    let output = straddle(state, &arguments);
    let check = serde_json::from_slice(&output.stdout).expect("valid JSON");
    (check, text(&output.stderr))
}

#[test]
fn check_judges_by_what_was_measured_and_says_when() {
    let state = state(4096);
    let (found, said) = check(state.path(), &[]);
    let measured: Vec<_> =
        granules(&found).into_iter().filter(|(_, source, _)| source == "measured").collect();
    assert_eq!(measured.len(), 1, "one drive alone has this serial: {measured:?}");
    assert_eq!(measured[0].0, 16384);
    assert!(measured[0].2.contains("2026-01-02"), "{measured:?}");
    assert!(said.contains("granule of 16384 bytes") && said.contains("2026-01-02"), "{said}");
    assert_eq!(said.matches("granule of 16384 bytes").count(), 1, "it is said once");
    let captured = captured();
    let sysroot = captured.to_str().expect("the path is text");
    let shown = text(&straddle(state.path(), &["check", "--sysroot", sysroot, "--explain"]).stdout);
    let told = shown.lines().filter(|line| line.contains("2026-01-02")).collect::<Vec<_>>();
    assert!(
        told.iter().any(|line| line.contains("granule of 16 KiB measured 2026-01-02")),
        "{told:?}"
    );
}

#[test]
fn ignoring_what_was_measured_leaves_no_trace_of_it() {
    let (found, said) = check(state(4096).path(), &["--ignore-measured"]);
    assert!(granules(&found).iter().all(|(_, source, _)| source != "measured"));
    assert!(!said.contains("measured"), "{said}");
    let (without, _) = check(Scratch::new().path(), &[]);
    assert_eq!(granules(&found), granules(&without));
}

#[test]
fn what_was_measured_in_another_sector_format_is_not_used_and_said() {
    let (found, said) = check(state(512).path(), &[]);
    assert!(granules(&found).iter().all(|(_, source, _)| source != "measured"));
    assert!(said.contains("the sectors were 512 and 512 bytes"), "{said}");
}

#[test]
fn a_dry_run_writes_nothing_and_says_what_it_would() {
    let scratch = Scratch::new();
    let directory = scratch.path().to_str().expect("text");
    let output = straddle(scratch.path(), &["probe", directory, "--dry-run", "--json"]);
    let document = document(&output);
    assert_eq!(output.status.code(), Some(0), "{document}");
    assert_eq!(document["dry_run"], true);
    assert_eq!(document["spent"]["bytes_max"], 768 << 20);
    assert_eq!(document["spent"]["written_bytes"], 0);
    assert_eq!(std::fs::read_dir(scratch.path()).expect("it is there").count(), 0);
}

#[test]
fn a_probe_keeps_to_its_bytes_and_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let directory = scratch.path().to_str().expect("text");
    let arguments =
        ["probe", directory, "--bytes-max", "60M", "--seconds", "5", "--seed", "1", "--json"];
    let output = straddle(scratch.path(), &[&arguments[..], &["--no-save"]].concat());
    let document = document(&output);
    if document["refusal"].is_object() {
        testkit::skip("the temporary directory is on no file system to measure on");
        return;
    }
    assert!(document["spent"]["written_bytes"].as_u64().expect("a number") <= 60 << 20);
    assert!(document["kept"]["reason"].is_string(), "{}", document["kept"]);
    let found = ["alignment", "chunk", "depth", "turn"];
    let found = found.iter().any(|name| !document["answers"][name]["value"].is_null());
    assert_eq!(output.status.code(), Some(if found { 0 } else { 5 }), "{document}");
    for name in ["alignment", "size", "chunk", "members", "depth", "turn", "turns"] {
        let answer = &document["answers"][name];
        let is_whole = answer["value"].is_null() == answer["reason"].is_string();
        assert!(is_whole, "{name} has a value or a reason: {answer}");
    }
    assert_eq!(std::fs::read_dir(scratch.path()).expect("it is there").count(), 0);
}

#[test]
fn too_few_bytes_and_a_file_are_refused_with_what_to_do() {
    let scratch = Scratch::new();
    let directory = scratch.path().to_str().expect("text");
    let output = straddle(scratch.path(), &["probe", directory, "--bytes-max", "1M"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("hint: allow more: --bytes-max"));
    let file = scratch.image("file", 4096);
    let output = straddle(scratch.path(), &["probe", file.to_str().expect("text")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("straddle probe "), "{}", text(&output.stderr));
}

#[test]
fn a_raw_device_is_read_and_not_written_and_without_the_right_word_refused() {
    need_loops!();
    let scratch = Scratch::new();
    let before = vec![0; 64 << 20];
    let file = scratch.file("disk", &before);
    let device = Loop::attach(&file, 512);
    let node = device.path().to_str().expect("text");
    let output = straddle(scratch.path(), &["probe", node, "--seconds", "3", "--json"]);
    let document = document(&output);
    if document["refusal"].is_object() {
        testkit::skip("the temporary directory is on no file system that says where a file lies");
        return;
    }
    // What others do on the drive meanwhile decides whether reads at a depth are tried.
    let is_busy = document["notes"].to_string().contains("busy with other I/O");
    assert!(is_busy || document["spent"]["operations"].as_u64() > Some(0), "{document}");
    assert_eq!(document["spent"]["written_bytes"], 0, "{document}");
    assert_eq!(document["answers"]["alignment"]["why"], "not-tried");
    let words = ["probe", node, "--write-device", "--confirm", "wrong"];
    let output = straddle(scratch.path(), &words);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let output = straddle(scratch.path(), &["probe", node, "--write-device"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("--confirm is missing"), "{}", text(&output.stderr));
    drop(device);
    assert!(std::fs::read(&file).expect("it is there") == before, "nothing was written");
}

#[test]
fn a_dry_run_of_writing_needs_no_words_says_what_is_lost_and_refuses_what_the_run_would() {
    need_loops!();
    let scratch = Scratch::new();
    let before = vec![0; 80 << 20];
    let file = scratch.file("disk", &before);
    let device = Loop::attach(&file, 512);
    let node = device.path().to_str().expect("text");
    let dry = ["probe", node, "--write-device", "--dry-run"];
    let with = |more: &[&str]| straddle(scratch.path(), &[&dry[..], more].concat());
    let output = with(&["--json", "--bytes-max", "96M"]);
    let plan = document(&output);
    if plan["refusal"].is_object() {
        testkit::skip("the temporary directory is on no file system that says where a file lies");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{plan}");
    assert_eq!(plan["spent"]["bytes_max"], 96 << 20);
    assert_eq!(plan["target"]["length_bytes"], 32 << 20);
    let shown = text(&with(&["--bytes-max", "96M"]).stdout);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let lost = format!("the first 32 MiB of {node} (bytes 0 to 33554431) are overwritten");
    assert!(shown.contains(&lost), "{shown}");
    assert!(shown.contains("needs --confirm with the path with its exact length"), "{shown}");
    let output = with(&["--confirm", "wrong"]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("`wrong` was given"), "{}", text(&output.stderr));
    let right = format!("{node}={}", 80 << 20);
    assert_eq!(with(&["--confirm", &right]).status.code(), Some(0));
    drop(device);
    assert!(std::fs::read(&file).expect("it is there") == before, "nothing was written");
}

#[test]
fn wrong_words_for_a_device_with_data_are_named_before_the_data_and_no_wipe_is_told() {
    need_loops!();
    let scratch = Scratch::new();
    let mut bytes = vec![0; 32 << 20];
    // The mark of a swap area of 4 KiB pages.
    bytes[4086..4096].copy_from_slice(b"SWAPSPACE2");
    let file = scratch.file("disk", &bytes);
    let device = Loop::attach(&file, 512);
    let node = device.path().to_str().expect("text");
    for dry in [&[][..], &["--dry-run"]] {
        let words = [&["probe", node, "--write-device", "--confirm", "wrong"], dry].concat();
        let output = straddle(scratch.path(), &words);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{said}");
        let told = said.find("`wrong` was given").expect("the words are named");
        let data = said.find("there is data on it: swap").expect("the data is named");
        assert!(told < data && !said.contains("wipefs"), "{said}");
    }
    let output = straddle(scratch.path(), &["probe", node, "--write-device", "--dry-run"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("there is data on") && !said.contains("wipefs"), "{said}");
    drop(device);
    assert!(std::fs::read(&file).expect("it is there") == bytes, "nothing was written");
}

#[test]
fn a_device_with_no_room_is_refused_before_anything_is_written() {
    need_loops!();
    let scratch = Scratch::new();
    let file = scratch.image("disk", 1 << 20);
    let before = std::fs::read(&file).expect("it is there");
    let device = Loop::attach(&file, 512);
    let node = device.path().to_str().expect("text");
    let right = format!("{node}={}", 1 << 20);
    for dry in [&[][..], &["--dry-run"]] {
        let words = [&["probe", node, "--write-device", "--confirm", &right], dry].concat();
        let output = straddle(scratch.path(), &words);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(
            text(&output.stderr).contains("at least 16 MiB are needed"),
            "{}",
            text(&output.stderr)
        );
    }
    drop(device);
    assert!(std::fs::read(&file).expect("it is there") == before, "nothing was written");
}

#[test]
fn what_is_found_through_the_page_cache_of_a_loop_is_not_of_the_drive_beneath() {
    need_loops!();
    let scratch = Scratch::new();
    let file = scratch.file("disk", &vec![0x5a; 32 << 20]);
    let cached = Loop::attach(&file, 512);
    let node = cached.path().to_str().expect("text");
    let output = straddle(scratch.path(), &["probe", node, "--seconds", "2", "--json"]);
    let document = document(&output);
    if document["refusal"].is_object() {
        testkit::skip("the temporary directory is on no file system that says where a file lies");
        return;
    }
    let notes = document["notes"].to_string();
    let name = node.trim_start_matches("/dev/");
    assert!(notes.contains(&format!("the result is of {name}, not of the drive")), "{notes}");
    assert_eq!(document["reported"]["physical_sector_bytes"], Value::Null, "{document}");
}

#[test]
fn a_dry_run_refuses_a_device_whose_bytes_lie_nowhere_as_the_run_does() {
    need_loops!();
    let scratch = Scratch::new();
    // All of it is a hole.
    let file = scratch.image("disk", 32 << 20);
    let device = Loop::attach(&file, 512);
    let node = device.path().to_str().expect("text");
    let right = format!("{node}={}", 32 << 20);
    let of = |more: &[&str]| {
        let words = [&["probe", node, "--write-device", "--confirm", &right], more].concat();
        let output = straddle(scratch.path(), &words);
        (output.status.code(), text(&output.stderr))
    };
    let (code, said) = of(&["--dry-run"]);
    assert_eq!((code, said.as_str()), (of(&[]).0, of(&[]).1.as_str()), "both say the same");
    assert!(code == Some(2) && said.contains("cannot probe"), "{said}");
}

#[test]
fn a_result_that_was_cut_off_by_a_signal_says_so() {
    let scratch = Scratch::new();
    let directory = scratch.path().to_str().expect("text");
    let mut probe = by_signals(env!("CARGO_BIN_EXE_straddle"));
    let mut probe = Going::with(probe.args(["probe", directory, "--json", "--no-save"]));
    let counts = format!("/proc/{}/io", probe.number());
    // Behind the 64 MiB of the scratch file come the measured writes.
    let measures = || {
        let counts = std::fs::read_to_string(&counts).unwrap_or_default();
        let written = counts.lines().find_map(|line| line.strip_prefix("write_bytes: "));
        written.and_then(|bytes| bytes.parse::<u64>().ok()) > Some(66 << 20)
    };
    until("it measures, or is refused", || measures() || !probe.is_going());
    probe.signal("INT");
    let ran = probe.ended();
    let document = ran.document();
    if document["refusal"].is_object() {
        testkit::skip("the temporary directory is on no file system to measure on");
        return;
    }
    assert_eq!(ran.status, Some(130), "{document}");
    assert!(document["notes"].to_string().contains("interrupted: figures"), "{document}");
}

#[test]
fn how_far_it_is_stands_on_a_terminal_unless_it_is_not_wanted() {
    need_tools!("script");
    let scratch = Scratch::new();
    let directory = scratch.path().to_str().expect("text");
    let binary = env!("CARGO_BIN_EXE_straddle");
    let probe = format!("{binary} probe {directory} --no-save --bytes-max 60M --seconds 2");
    let shown = |options: &str| {
        let what = format!("{probe} {options}; true");
        testkit::tool::run("script", &["--quiet", "--return", "--command", &what, "/dev/null"])
    };
    let mut is_refused = false;
    // A busy drive may take all the seconds for the file.
    until("each stage is drawn", || {
        let drawn = shown("");
        is_refused = !drawn.contains("probing  ") && drawn.contains("error: ");
        let mut stages = ["the scratch file", "durable writes"].iter();
        let is_drawn = |words| drawn.contains(&format!("\r\u{1b}[Kprobing  {words}: "));
        is_refused || stages.all(is_drawn)
    });
    if is_refused {
        testkit::skip("the temporary directory is on no file system to measure on");
        return;
    }
    assert!(!shown("--no-progress").contains("probing  "));
    let piped = ["probe", directory, "--no-save", "--bytes-max", "60M", "--seconds", "1"];
    let piped = straddle(scratch.path(), &piped);
    assert!(!text(&piped.stderr).contains("probing  "), "{}", text(&piped.stderr));
}

#[test]
fn a_state_directory_that_cannot_be_meant_is_named_once() {
    let captured = captured();
    let arguments = ["check", "--sysroot", captured.to_str().expect("it is text")];
    for state in ["state", ":/var/lib/straddle"] {
        let output = straddle(Path::new(state), &arguments);
        let said = text(&output.stderr);
        let note =
            format!("note: earlier measurements are not used: $STATE_DIRECTORY is `{state}`");
        assert_eq!(said.matches(&note).count(), 1, "{said}");
        let ignoring = [&arguments[..], &["--ignore-measured"]].concat();
        let output = straddle(Path::new(state), &ignoring);
        assert!(!text(&output.stderr).contains("STATE_DIRECTORY"), "{output:?}");
    }
}
