//! Baselines: what is saved, what is compared, and files that are none.

use serde_json::Value;
use testkit::{Scratch, need_tools, tool};

use super::monitors::image;
use super::run::{partitioned, straddle, text};

const MIB: u64 = 1 << 20;

/// The exit code, standard output and standard error of a check.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let arguments: Vec<&str> = ["check"].iter().chain(arguments).copied().collect();
    let output = straddle(&arguments);
    let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
    (output.status.code().expect("it exits"), text(output.stdout), text(output.stderr))
}

/// The changes that `--watch --json` prints, each in a few words, and the exit code.
fn changes(arguments: &[&str]) -> (i32, Vec<String>) {
    let arguments = [arguments, &["--json"]].concat();
    let (status, out, err) = run(&arguments);
    let document: Value =
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error} {err}"));
    assert_eq!(document["schema"], "straddle.check.changes/1");
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let one = |change: &Value| {
        let (before, after) = (&change["before"]["value"], &change["after"]["value"]);
        let [trend, layer, key, before, after] =
            [&change["trend"], &change["layer"], &change["key"], before, after].map(word);
        let layer = layer.rsplit('/').next().unwrap_or_default();
        format!("{trend} {layer} {key} {before} {after}")
    };
    let targets = document["targets"].as_array().expect("targets are a list");
    let list = targets.iter().flat_map(|target| target["changes"].as_array().expect("a list"));
    (status, list.map(one).collect())
}

#[test]
fn an_image_that_is_the_same_has_not_changed() {
    need_tools!("sfdisk", "mkfs.ext4");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let system = scratch.image("fs.raw", 64 * MIB);
    tool::run("mkfs.ext4", &["-q", "-F", text(&system)]);
    let base = scratch.path().join("base.json");
    let targets = [text(&image), text(&system)];
    let (status, out, _) = run(&[&targets[..], &["--save", text(&base)]].concat());
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("nothing but the baseline was written"), "{out}");
    let watch = [&targets[..], &["--watch", text(&base)]].concat();
    assert_eq!(changes(&watch), (0, Vec::new()));
    for (format, line) in [
        ("table", "2 targets compared with a baseline of straddle"),
        ("nagios", "STRADDLE OK - nothing changed in 2 targets | targets=2;;;0 worse=0;;;0;2"),
        ("npd", "nothing changed in 2 targets\n"),
    ] {
        let (status, out, _) = run(&[&watch[..], &["--format", format]].concat());
        assert_eq!(status, 0, "{out}");
        assert!(out.starts_with(line), "{out}");
    }
}

#[test]
fn an_image_repartitioned_between_two_looks_is_exactly_that_change() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let script = "label: dos\nstart=2048, size=40960\nstart=43008, size=40960\n";
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, script);
    let other = partitioned(&scratch, "other.raw", 64 * MIB, script);
    let base = scratch.path().join("base.json");
    let (image, other, base) = (text(&image), text(&other), text(&base));
    assert_eq!(run(&[image, other, "--save", base]).0, 0);
    // Its length stays a whole number of granules.
    let script = "label: dos\nstart=2048, size=40960\nstart=43071, size=40896\n";
    tool::run_with_input("sfdisk", &["-q", image], script);
    let moved = [
        "worse - verdict aligned misaligned",
        "worse disk.raw#2 verdict aligned misaligned",
        "changed disk.raw#2 start-bytes 22020096 22052352",
        "changed disk.raw#2 length-bytes 20971520 20938752",
        "worse disk.raw#2 ST102 - warning",
    ];
    let watch = [image, other, "--watch", base];
    assert_eq!(changes(&watch), (1, moved.map(str::to_owned).to_vec()));
    for (format, code) in [("table", 1), ("jsonl", 1), ("nagios", 1), ("npd", 1)] {
        // The path of a scratch directory may fill the 80 bytes of npd's message.
        let long = ["--format", format, "--message-bytes", "4096"];
        let wanted = if format == "npd" { &long[..] } else { &long[..2] };
        let (status, out, _) = run(&[&watch[..], wanted].concat());
        assert_eq!(status, code, "{format}: {out}");
        assert!(out.contains("ST102"), "{format}: {out}");
        // The command line names it, once.
        let named = usize::from(format == "jsonl");
        assert_eq!(out.matches("other.raw").count(), named, "{format}: {out}");
    }
    assert_eq!(changes(&[&watch[..], &["--fail-on", "error"]].concat()).0, 0);
    assert_eq!(changes(&[&watch[..], &["--fail-on", "never"]].concat()).0, 0);
    let critical = ["--rule", "ST102=error", "--format", "nagios"];
    assert_eq!(run(&[&watch[..], &critical].concat()).0, 2);

    // What was looked at and saved in one go is the next baseline.
    assert_eq!(run(&[&watch[..], &["--save", base]].concat()).0, 1);
    assert_eq!(changes(&watch), (0, Vec::new()));
    // Put right, it is better, which fails nothing.
    let script = "label: dos\nstart=2048, size=40960\nstart=43008, size=40960\n";
    tool::run_with_input("sfdisk", &["-q", image], script);
    let (status, list) = changes(&watch);
    assert_eq!(status, 0, "{list:?}");
    assert!(list.contains(&"better disk.raw#2 ST102 warning -".to_owned()), "{list:?}");
    // Taken away, nobody can tell whether that was meant.
    tool::run_with_input("sfdisk", &["-q", image], "label: dos\nstart=2048, size=40960\n");
    let (status, list) = changes(&watch);
    assert_eq!(status, 5, "{list:?}");
    assert!(list.contains(&"vanished disk.raw#2 partition misaligned -".to_owned()), "{list:?}");
    assert!(list.contains(&"vanished disk.raw#2 ST102 warning -".to_owned()), "{list:?}");
    let (status, out, _) = run(&[&watch[..], &["--format", "nagios"]].concat());
    assert_eq!(status, 3, "{out}");
    assert!(out.starts_with("STRADDLE UNKNOWN - 1 changed in 2 targets; "), "{out}");
    assert!(out.contains("the partition disk.raw#2 (dos, Linux) is gone"), "{out}");
}

#[test]
fn a_granule_that_changed_is_told_with_both_values() {
    let scratch = Scratch::new();
    let image = image(scratch.path(), "disk.raw".as_ref(), 2048);
    let base = scratch.path().join("base.json");
    let (image, base) = (text(&image), text(&base));
    assert_eq!(run(&[image, "--on", "512n", "--save", base]).0, 0);
    let (status, list) = changes(&[image, "--on", "512e", "--watch", base]);
    assert_eq!(status, 0, "{list:?}");
    assert!(list.contains(&"changed disk.raw granule-bytes 512 4096".to_owned()), "{list:?}");
    let (status, out, _) = run(&[image, "--on", "512e", "--watch", base]);
    assert_eq!(status, 0);
    assert!(out.contains("granule 512 B (specified) -> 4 KiB (specified)"), "{out}");
    assert_eq!(changes(&[image, "--on", "512e", "--watch", base, "--fail-on", "info"]).0, 1);
}

#[test]
fn what_vanished_or_cannot_be_judged_is_unanswered_and_what_appeared_is_judged() {
    let scratch = Scratch::new();
    let good = image(scratch.path(), "good.raw".as_ref(), 2048);
    let bad = image(scratch.path(), "bad.raw".as_ref(), 63);
    let base = scratch.path().join("base.json");
    let (good, bad, base) = (text(&good), text(&bad), text(&base));
    assert_eq!(run(&[good, "--save", base]).0, 0);
    assert_eq!(changes(&[good, bad, "--watch", base]).0, 1);
    assert_eq!(changes(&[bad, "--watch", base]).0, 1);
    // What is in the baseline and not named is not asked for.
    assert_eq!(changes(&[bad, "--watch", base, "--fail-on", "never"]).0, 0);
    let (_, _, err) = run(&[bad, "--watch", base]);
    let note = format!("not checked, since not named here: {good} of the baseline");
    assert!(err.contains(&note), "{err}");
    std::fs::remove_file(good).expect("it is there");
    let (status, list) = changes(&[good, "--watch", base]);
    assert_eq!((status, list), (2, vec!["unknown - verdict aligned unknown".to_owned()]));
    for (format, code) in [("nagios", 3), ("npd", 2)] {
        let (status, out, _) = run(&[good, "--watch", base, "--format", format]);
        assert_eq!(status, code, "{out}");
        assert!(out.contains("1 unknown in 1 target"), "{out}");
    }
}

#[test]
fn a_file_that_is_no_baseline_is_refused_with_what_to_do() {
    let scratch = Scratch::new();
    let good = image(scratch.path(), "good.raw".as_ref(), 2048);
    let good = text(&good);
    let pipe = scratch.path().join("pipe");
    tool::run("mkfifo", &[text(&pipe)]);
    let zeros = scratch.image("zeros", 64 * MIB);
    let huge = scratch.image("huge", (256 << 20) + 1);
    let other = b"{\"schema\":\"straddle.check/9\",\"version\":\"9.9\"}";
    let deep = format!("{{\"schema\":{}", "[".repeat(1 << 20));
    let lying = b"{\"schema\":\"straddle.check/1\",\"version\":\"\\u001b\",\"targets\":{},\"x\":1}";
    for (path, word) in [
        (scratch.path().join("missing"), "No such file"),
        (scratch.path().to_owned(), "is a directory"),
        (pipe, "not a regular file"),
        ("/dev/zero".into(), "not a regular file"),
        (zeros, "not a straddle result file"),
        (huge, "longer than 256 MiB"),
        (scratch.file("empty", b""), "not a straddle result file"),
        (scratch.file("text", b"\xff\xfe not json"), "not a straddle result file"),
        (scratch.file("array", b"[1, 2]"), "not a straddle result file"),
        (scratch.file("other", other), "`straddle.check/9`"),
        (scratch.file("deep", deep.as_bytes()), "not a straddle result file"),
        (scratch.file("lying", lying), "unreadable by"),
    ] {
        let (status, out, err) = run(&[good, "--watch", text(&path)]);
        assert_eq!((status, out.as_str()), (2, ""), "{path:?}: {err}");
        assert!(err.contains(word) && err.contains("\nhint: "), "{path:?}: {err}");
        assert!(!err.contains('\u{1b}'), "{err:?}");
    }
}

#[test]
fn a_baseline_replaces_a_baseline_or_an_empty_file_and_nothing_else() {
    let scratch = Scratch::new();
    let disks = Scratch::new();
    let good = image(disks.path(), "good.raw".as_ref(), 2048);
    // Until it is written out, where it lies on its host is not known.
    std::fs::File::open(&good).and_then(|file| file.sync_all()).expect("it can be synced");
    let good = text(&good);
    let precious = scratch.file("precious.json", b"{\"schema\": \"mine\"}");
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink(&precious, &link).expect("a link can be made");
    let names = || std::fs::read_dir(scratch.path()).expect("it lists").count();
    for path in [precious.clone(), link, "/dev/null".into()] {
        let (status, out, err) = run(&[good, "--save", text(&path)]);
        assert_eq!((status, out.as_str()), (3, ""), "{path:?}");
        let tried = ["error: cannot write ", "error: cannot replace "];
        assert!(tried.iter().any(|tried| err.starts_with(tried)), "{err}");
        assert!(err.contains("\nhint: "), "{err}");
    }
    assert_eq!(std::fs::read(&precious).expect("it reads"), b"{\"schema\": \"mine\"}");
    // The target itself is no baseline either.
    assert_eq!(run(&[good, "--save", good]).0, 3);
    assert_eq!(run(&[good, "--save", "/nonexistent/base.json"]).0, 2);
    assert_eq!(names(), 2, "nothing is left behind");
    let base = scratch.file("base.json", b"");
    for _ in 0..2 {
        assert_eq!(run(&[good, "--save", text(&base)]).0, 0);
    }
    // What is saved is what --json prints, of good targets too.
    let saved: Value = serde_json::from_slice(&std::fs::read(&base).expect("it reads")).unwrap();
    let (_, out, _) = run(&[good, "--json", "--only-bad", "--save", text(&base)]);
    let again: Value = serde_json::from_slice(&std::fs::read(&base).expect("it reads")).unwrap();
    assert_eq!(saved["targets"], again["targets"]);
    let printed: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(printed["targets"].as_array().expect("a list").len(), 0);
    assert_eq!(again["targets"].as_array().expect("a list").len(), 1);
    assert_eq!(names(), 3, "nothing is left behind");
}

#[test]
fn a_baseline_stays_and_nothing_is_saved_where_no_target_could_be_opened() {
    let scratch = Scratch::new();
    let good = image(scratch.path(), "good.raw".as_ref(), 2048);
    let base = scratch.path().join("base.json");
    let (base, typed) = (text(&base), scratch.path().join("godo.raw"));
    assert_eq!(run(&[text(&good), "--save", base]).0, 0);
    let before = std::fs::read(base).expect("it was saved");
    let (status, _, err) = run(&[text(&typed), "--save", base]);
    assert_eq!(status, 2, "{err}");
    let said = format!("error: cannot save the baseline {base}: no target could be opened");
    assert!(err.contains(&said), "{err}");
    assert!(std::fs::read(base).is_ok_and(|now| now == before), "the baseline stays");
    // One of two that can be opened is a look.
    assert_eq!(run(&[text(&typed), text(&good), "--save", base]).0, 2);
    assert!(std::fs::read(base).is_ok_and(|now| now != before));
    let other = scratch.path().join("other.json");
    assert_eq!(run(&[text(&typed), "--save", text(&other)]).0, 2);
    assert!(!other.exists());
}

#[test]
fn without_targets_those_of_the_baseline_are_looked_at_again_however_they_are_called() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let _ = image(scratch.path(), "good.raw".as_ref(), 2048);
    let odd = image(scratch.path(), "o\ndd\u{202e}.raw".as_ref(), 2048);
    let here = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_straddle"));
        command.arg("check").args(arguments).current_dir(scratch.path());
        let output = command.output().expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("it prints UTF-8");
        (output.status.code(), text(output.stdout) + &text(output.stderr))
    };
    let odd = text(&odd);
    assert_eq!(here(&["good.raw", odd, "--on", "512e", "--save", "w"]).0, Some(0));
    for again in [
        &["--watch", "w"][..],
        &["./good.raw", odd, "--on", "512e", "--watch", "./w"],
        &["--watch", "w", "--save", "./w"],
        &["--watch", "w"],
    ] {
        let (code, shown) = here(again);
        assert_eq!(code, Some(0), "{again:?}: {shown}");
        assert!(shown.contains("2 targets compared"), "{again:?}: {shown}");
    }
    let _ = image(scratch.path(), "good.raw".as_ref(), 63);
    let (code, shown) = here(&["--watch", "w"]);
    assert_eq!(code, Some(1), "{shown}");
}

#[test]
fn a_long_file_that_is_no_result_is_not_written_over_and_called_so() {
    let scratch = Scratch::new();
    let good = image(scratch.path(), "good.raw".as_ref(), 2048);
    let huge = scratch.image("huge", (256 << 20) + 1);
    let (status, _, err) = run(&[text(&good), "--save", text(&huge)]);
    assert_eq!(status, 3);
    assert!(err.starts_with("error: cannot replace "), "{err}");
    assert_eq!(std::fs::metadata(&huge).expect("it is there").len(), (256 << 20) + 1);
}

#[test]
fn formats_that_cannot_show_changes_say_so() {
    let scratch = Scratch::new();
    let good = image(scratch.path(), "good.raw".as_ref(), 2048);
    let base = scratch.path().join("base.json");
    let (good, base) = (text(&good), text(&base));
    assert_eq!(run(&[good, "--save", base]).0, 0);
    for format in ["junit", "sarif"] {
        let (status, out, err) = run(&[good, "--watch", base, "--format", format]);
        assert_eq!((status, out.as_str()), (2, ""));
        assert!(err.contains("hint: choose another: --format table"), "{err}");
    }
    assert_eq!(run(&[good, "--watch", base, "--only-bad"]).0, 2);
}

#[test]
fn a_target_of_the_baseline_that_was_removed_vanished_and_is_no_misuse() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let images = ["one.raw", "two.raw"]
        .map(|name| partitioned(&scratch, name, 64 * MIB, "label: gpt\nstart=2048\n"));
    let base = scratch.path().join("base.json");
    let (status, out, _) = run(&[text(&images[0]), text(&images[1]), "--save", text(&base)]);
    assert_eq!(status, 0, "{out}");
    for image in &images {
        std::fs::remove_file(image).expect("it is removed");
        let (status, out, err) = run(&["--watch", text(&base)]);
        assert_eq!(status, 5, "{out}{err}");
        assert!(out.contains("vanished") && !err.contains("cannot open"), "{out}{err}");
    }
    // What the baseline does not have is still named wrong.
    let (status, _, err) = run(&["/nope", "--watch", text(&base)]);
    assert_eq!(status, 2, "{err}");
}
