//! The command itself: targets, formats, exit codes, errors.

use std::process::Command;

use serde_json::Value;
use testkit::{Scratch, need_tools};

use super::run::{check, partitioned, straddle, text};

const MIB: u64 = 1 << 20;

fn stdout(arguments: &[&str]) -> String {
    String::from_utf8(straddle(arguments).stdout).expect("it prints UTF-8")
}

#[test]
fn one_broken_target_does_not_stop_the_rest_and_the_exit_status_is_2() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let missing = scratch.path().join("missing.raw");
    let output = straddle(&["check", "--json", text(&missing), text(&image)]);
    assert_eq!(output.status.code(), Some(2));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let refusal = &document["targets"][0]["refusal"];
    assert!(refusal["message"].as_str().unwrap().contains("missing.raw"), "{refusal}");
    assert!(refusal["hint"].is_string());
    assert_eq!(document["targets"][1]["verdict"], "aligned");
    assert_eq!(document["summary"]["broken_targets"], 1);
}

#[test]
fn what_is_no_disk_is_refused_with_a_reason_and_no_hang() {
    let scratch = Scratch::new();
    for (path, word) in [("/dev/null", "/dev/null"), ("/nowhere", "/nowhere")] {
        let output = straddle(&["check", path]);
        assert_eq!(output.status.code(), Some(2), "{path}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.starts_with("error: cannot ") && told.contains(word), "{told}");
        assert!(told.contains("\nhint: "), "{told}");
        let out = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(out.starts_with("1 target could not be opened.") && !out.contains("rror"), "{out}");
    }
    let output = straddle(&["check", text(scratch.path())]);
    assert_eq!(output.status.code(), Some(2), "an empty directory holds no answer");
}

#[test]
fn in_the_c_locale_all_is_ascii_and_a_printed_fix_works_for_any_file_name() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let _ = partitioned(&scratch, "it's \u{e9}\u{2026}.raw", 64 * MIB, "label: dos\nstart=63\n");
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_straddle"));
    let path = std::env::var("PATH").unwrap_or_default();
    let typed = |line: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(scratch.path()).env("LC_ALL", "C");
        shell.env("PATH", format!("{}:{path}", program.parent().expect("a directory").display()));
        let output = shell.output().expect("a shell runs");
        assert!(output.stdout.is_ascii() && output.stderr.is_ascii(), "{line}: {output:?}");
        (output.status.code(), String::from_utf8(output.stdout).expect("it is ASCII"))
    };
    // Standard error is ASCII too.
    assert_eq!(typed("straddle check gone-\u{e9}.raw").0, Some(2));
    let (code, shown) = typed("straddle check --on 512e it*");
    assert_eq!(code, Some(1), "{shown}");
    let fix = shown.lines().find_map(|line| line.trim().strip_prefix("fix ")).expect("a fix");
    let (code, plan) = typed(fix.trim());
    assert_eq!(code, Some(0), "{fix}");
    assert!(plan.contains("63 -> "), "{plan}");
}

#[test]
fn what_is_wrong_with_a_command_line_fits_the_terminal_and_is_whole_in_a_pipe() {
    for words in [["--on", "rubbish"], ["--rule", "X"], ["--rule", "ST101=off,ST102=off"]] {
        let told = |columns: &str| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
            let output = command.arg("check").args(words).env("COLUMNS", columns).output();
            let output = output.expect("it runs");
            assert_eq!(output.status.code(), Some(2));
            String::from_utf8(output.stderr).expect("it prints UTF-8")
        };
        let narrow = told("80");
        assert!(narrow.lines().all(|line| line.len() <= 80), "{narrow}");
        let whole = told("");
        let first = whole.lines().next().unwrap_or_default();
        assert!(first.len() > 80 && narrow.replace('\n', " ").contains(first), "{whole}{narrow}");
    }
}

#[test]
fn a_rule_that_is_off_is_named_where_it_hides_a_misaligned_target() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: dos\nstart=63\n");
    let shown = stdout(&["check", "--rule", "ST102=off", text(&image)]);
    assert!(shown.contains("No findings, but 1 target is misaligned: ST102 is off."), "{shown}");
    let other = partitioned(&scratch, "other.raw", 64 * MIB, "label: dos\nstart=63\n");
    let both = ["check", "--rule", "ST102=off", "--rule", "ST101=off", text(&image), text(&other)];
    let shown = stdout(&both);
    let said = "No findings, but 2 targets are misaligned: ST102, ST101 are off.";
    assert!(shown.contains(said), "{shown}");
}

#[test]
fn a_fix_can_be_typed_for_a_name_with_control_characters_and_bytes_that_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;
    need_tools!("sfdisk", "bash");
    let scratch = Scratch::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_straddle"));
    let directory = program.parent().expect("a directory").display();
    let path = format!("{directory}:{}", std::env::var("PATH").unwrap_or_default());
    let run = |program: &str, arguments: &[&OsStr]| {
        let mut command = Command::new(program);
        let command = command.args(arguments).current_dir(scratch.path()).env("PATH", &path);
        let output = command.output().expect("it runs");
        (output.status.code(), String::from_utf8(output.stdout).expect("it prints UTF-8"))
    };
    let plain = partitioned(&scratch, "plain.raw", 64 * MIB, "label: dos\nstart=63\n");
    for name in [&b"a\nb.raw"[..], b"\n\x1b[31m'.raw\n", b"\\u{41}\xff.raw", b"\xe2\x80\xae.raw"] {
        let name = OsStr::from_bytes(name);
        std::fs::copy(&plain, scratch.path().join(name)).unwrap();
        let words = ["check", "--json", "--on", "512e"].map(OsStr::new);
        let program = program.to_str().expect("a path");
        let (_, shown) = run(program, &[&words[..], &[name]].concat());
        let document: Value = serde_json::from_str(&shown).unwrap();
        let finding = &document["targets"][0]["findings"][0];
        let fix = finding["remedies"][0].as_str().expect("there is a fix");
        let (code, plan) = run("bash", &[OsStr::new("-c"), OsStr::new(fix)]);
        assert_eq!(code, Some(0), "{fix}");
        assert!(plan.contains("63 -> "), "{fix}: {plan}");
    }
}

#[test]
fn a_bare_device_name_means_the_one_in_dev_unless_a_file_is_called_so() {
    let scratch = Scratch::new();
    let mut disks = std::fs::read_dir("/sys/block").unwrap().map(|entry| entry.unwrap());
    let is_there = |name: &String| std::path::Path::new("/dev").join(name).exists();
    let disk = disks.find_map(|it| it.file_name().into_string().ok().filter(is_there));
    let disk = disk.expect("this machine has a block device");
    let target = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
        let command = command.args(["check", "--json", &disk]).current_dir(scratch.path());
        let document: Value = serde_json::from_slice(&command.output().unwrap().stdout).unwrap();
        document["targets"][0]["target"].as_str().unwrap().to_owned()
    };
    assert_eq!(target(), format!("/dev/{disk}"));
    let _file = scratch.image(&disk, MIB);
    assert_eq!(target(), disk);
}

#[test]
fn misuse_says_what_to_type_and_exits_with_2() {
    for arguments in [
        &["check", "--on", "513n", "x"][..],
        &["check", "--rule", "ST999=info", "x"],
        &["check", "--format", "xml", "x"],
        &["explain", "-"],
        &["frobnicate"],
    ] {
        let output = straddle(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty() && output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn severity_can_be_changed_and_failing_can_be_tuned() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "d.raw", 64 * MIB, "label: gpt\nfirst-lba: 34\nstart=34\n");
    let path = text(&image);
    assert_eq!(check(&[path]).status, 1);
    assert_eq!(check(&[path, "--fail-on", "error"]).status, 0);
    assert_eq!(check(&[path, "--fail-on", "never"]).status, 0);
    assert_eq!(check(&[path, "--rule", "ST102=error", "--fail-on", "error"]).status, 1);
    assert_eq!(check(&[path, "--rule", "ST102=off"]).status, 0);
}

#[test]
fn every_format_is_written_and_every_machine_format_is_well_formed() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "d.raw", 64 * MIB, "label: gpt\nfirst-lba: 34\nstart=34\n");
    let other = scratch.path().join("other.raw");
    std::fs::copy(&image, &other).expect("it is copied");
    let (path, other) = (text(&image), text(&other));
    let json: Value = serde_json::from_str(&stdout(&["check", "--json", path, other])).unwrap();
    assert_eq!(json["targets"].as_array().unwrap().len(), 2);
    let lines = stdout(&["check", "--format", "jsonl", path, other]);
    assert_eq!(lines.lines().count(), 3);
    for line in lines.lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
    let sarif: Value =
        serde_json::from_str(&stdout(&["check", "--format", "sarif", path])).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "ST102");
    let junit = stdout(&["check", "--format", "junit", path]);
    assert!(junit.starts_with("<?xml") && junit.contains("ST102"), "{junit}");
}

#[test]
fn a_directory_is_searched_and_only_the_bad_ones_are_shown() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let _good = partitioned(&scratch, "good.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let script = "label: gpt\nfirst-lba: 34\nstart=34\n";
    let _bad = partitioned(&scratch, "wrong.raw", 64 * MIB, script);
    let all = stdout(&["check", text(scratch.path())]);
    assert!(all.contains("good.raw") && all.contains("wrong.raw"), "{all}");
    let bad = stdout(&["check", "--only-bad", text(scratch.path())]);
    assert!(!bad.contains("good.raw") && bad.contains("wrong.raw"), "{bad}");
    let _other = scratch.file("notes.txt", b"no disk image");
    let output = straddle(&["check", text(scratch.path())]);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), output.stderr);
    assert!(!out.contains("notes.txt") && out.contains("2 targets"), "{out}");
    assert!(String::from_utf8_lossy(&err).contains("left out"));
}

#[test]
fn explain_knows_everything_that_it_lists() {
    let list = stdout(&["explain"]);
    let names: Vec<&str> = (list.lines())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.trim_start().split("  ").next().unwrap())
        .collect();
    assert!(names.len() > 100, "{names:?}");
    let engines = stdout(&["explain", "engines"]);
    for name in names.into_iter().filter(|name| !name.starts_with("what each")) {
        let page = stdout(&["explain", &name.to_lowercase()]);
        let head = page.lines().next().unwrap_or_default().to_lowercase();
        assert!(head.starts_with(&name.to_lowercase()), "{name}: {page}");
        let is_rule = name.len() == 5 && name.starts_with("ST");
        assert_eq!(page.contains("How to fix it"), is_rule, "{page}");
        // An engine's page says what is measured and who says what it can bear.
        let is_engine = engines.contains(&format!("\n  {name} "));
        assert_eq!(page.contains("What is measured"), is_engine, "{page}");
        assert_eq!(page.contains("What it means"), !is_rule && !is_engine, "{page}");
    }
    assert!(stdout(&["explain", "history"]).contains("16065"));
}

#[test]
fn a_log_line_is_explained_as_one_argument_as_several_and_from_a_pipe() {
    let line = r#"{"level":"warn","msg":"slow fdatasync","took":"1.8s","expected-duration":"1s"}"#;
    let page = stdout(&["explain", line]);
    assert!(page.starts_with("slow fdatasync: etcd"), "{page}");
    assert_eq!(stdout(&["explain", "--", "-rw", "slow", "fdatasync,", "took", "2s"]), page);
    assert_eq!(stdout(&["explain", "Jan", "1", "etcd:", "slow", "fdatasync"]), page);
    let piped = Command::new(env!("CARGO_BIN_EXE_straddle"))
        .args(["explain", "-"])
        .stdin(std::fs::File::open(Scratch::new().file("log", line.as_bytes())).unwrap())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(piped.stdout).unwrap(), page);
}

#[test]
fn explain_answers_a_question_with_the_page_that_it_names_and_names_the_next() {
    for (asked, answer) in [
        (&["ashfit"][..], "\nashift: ZFS"),
        (&["which", "ashift"], "\nashift: ZFS"),
        (&["what", "does", "misaligned", "mean?"], "\nmisaligned: "),
    ] {
        let page = stdout(&[&["explain"], asked].concat());
        assert!(page.starts_with("closest match for `"), "{page}");
        assert!(page.contains(answer), "{page}");
    }
    assert!(stdout(&["explain", "which", "ashift"]).contains("`; also: "));
    let both = stdout(&["explain", "ST101", "granule"]);
    assert!(both.starts_with("ST101") && both.contains("\ngranule: "), "{both}");
}

#[test]
fn explain_shows_no_page_but_titles_for_words_that_only_resemble_one() {
    for asked in ["the fan is loud", "is etcd slow here", "zyzzyva \u{1b}[31m\u{202e}", "ST999"] {
        let output = straddle(&["explain", asked]);
        assert_eq!(output.status.code(), Some(5), "{asked}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.starts_with("no page explains `"), "{text}");
        assert!(text.ends_with("to list all: straddle explain\n"), "{text}");
        let titles = text.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        assert!(titles.count() <= 3 && !text.contains('\u{1b}'), "{text}");
    }
    let engine = straddle(&["explain", "is etcd slow here"]);
    assert!(
        String::from_utf8(engine.stdout).unwrap().contains("\n  etcd: "),
        "the engine is first"
    );
}

#[test]
fn a_table_for_4096_byte_sectors_in_an_image_is_found_and_judged_in_bytes() {
    need_tools!("sgdisk", "losetup");
    testkit::need_loops!();
    let scratch = Scratch::new();
    let image = scratch.image("disk.raw", 64 * MIB);
    let disk = testkit::Loop::attach(&image, 4096);
    testkit::tool::run("sgdisk", &["-n", "1:256:4096", text(disk.path())]);
    drop(disk);
    let checked = check(&[text(&image)]);
    assert_eq!(checked.layer("partition", "#1")["start_bytes"].as_u64(), Some(MIB));
    assert_eq!(checked.status, 0, "{:?}", checked.findings());
    assert!(checked.has("ST301", "info"));
}

#[test]
fn a_remedy_names_an_image_by_the_path_that_was_given() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "my disk.raw", 64 << 20, "label: dos\nstart=63\n");
    let checked = check(&[text(&image), "--on", "512e"]);
    let remedy = checked.target["findings"][0]["remedies"][0].as_str().expect("text").to_owned();
    assert!(remedy.contains(&format!("'{}'", text(&image))), "{remedy}");
}

#[test]
fn a_target_that_is_not_there_is_counted_as_unknown_and_two_kinds_of_disk_are_refused() {
    let output = straddle(&["check", "--json", "/nope"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(document["targets"][0]["verdict"], "unknown");
    assert_eq!(document["summary"]["verdicts"]["unknown"], 1, "{document:#}");
    assert_eq!(document["summary"]["broken_targets"], 1, "{document:#}");
    let output = straddle(&["check", "--on", "512e,4Kn", "/nope"]);
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("4Kn") && said.contains("a second kind of disk"), "{said}");
}

#[test]
fn a_reason_is_not_cut_in_a_pipe() {
    need_tools!("qemu-img");
    let scratch = Scratch::new();
    let base = scratch.image("base.raw", 4 * MIB);
    let directory = scratch.path().join("images");
    std::fs::create_dir(&directory).expect("it can be made");
    for name in ["one.qcow2", "two.qcow2"] {
        let (base, over) = (text(&base), directory.join(name));
        let words = ["create", "-q", "-f", "qcow2", "-F", "raw", "-b", base, text(&over)];
        testkit::tool::run("qemu-img", &words);
    }
    let out = stdout(&["check", text(&directory)]);
    assert!(out.contains("the backing file was not read"), "{out}");
}
