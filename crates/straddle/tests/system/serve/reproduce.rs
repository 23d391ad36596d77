//! `straddle drive reproduce`: with programs that only pretend, and with the real ones.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use testkit::running_program::{Going, Ran, until};
use testkit::scratch::text;
use testkit::{Scratch, need_loops, need_tools, tool};

use super::file::can_mount;
use super::straddle;

const FSYNC: [&str; 2] = ["reproduce", "disk-misconceptions-fsync"];

/// The words, with a program of this name that is this script.
fn with_program(scratch: &Scratch, name: &str, script: &str, words: &[&str]) -> Command {
    let program = scratch.file(name, format!("#!/bin/sh\n{script}\n").as_bytes());
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(program, executable).expect("it is there");
    let path = format!("{}:{}", text(scratch.path()), std::env::var("PATH").unwrap_or_default());
    let mut command = straddle(words);
    command.env("PATH", path);
    command
}

/// Syncs of the article, with a `pg_test_fsync` that is this script.
fn with_pg_test_fsync(scratch: &Scratch, script: &str) -> Command {
    with_program(scratch, "pg_test_fsync", script, &FSYNC)
}

fn is_mounted(process: u32) -> bool {
    // Its mounts are its own; where it is gone, they are too.
    let mounts = std::fs::read_to_string(format!("/proc/{process}/mountinfo")).unwrap_or_default();
    mounts.lines().any(|line| line.contains(&format!("straddle/{process}-")))
}

#[test]
fn a_dry_run_prints_a_shell_script_and_serves_nothing() {
    let ran = Ran::of(&mut straddle(&["reproduce", "advanced-format-disks", "--dry-run"]));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    for typed in [
        "\nstraddle drive serve --profile hdd-7200-512e --as loop >\"$OUTPUT\" &\n",
        "\nparted -s ${DRIVE:?} mkpart primary 131074k 50%\n",
        "\nmkfs.ext4 -q -F ${DRIVE:?}p1\n",
        "\n# note: percentiles are not compared: ",
        " --runtime=20 ",
    ] {
        assert!(ran.out.contains(typed), "{typed}: {ran:?}");
    }
    let ran = Ran::of(&mut straddle(&["reproduce", "none-such"]));
    assert_eq!(ran.status, Some(2), "{ran:?}");
}

/// Runs the printed script with a `pg_test_fsync` that is `script`, in a directory that keeps what
/// it leaves.
fn printed_script(scratch: &Scratch, script: &str) -> Ran {
    let dry = Ran::of(with_pg_test_fsync(scratch, script).arg("--dry-run"));
    assert_eq!(dry.status, Some(0), "{dry:?}");
    let own = Path::new(env!("CARGO_BIN_EXE_straddle")).parent().expect("it has one");
    let path = [scratch.path(), own].map(|path| text(path).to_owned()).join(":");
    let mut shell = Command::new("sh");
    shell.args(["-c", &dry.out]).env("TMPDIR", scratch.path());
    shell.env("PATH", format!("{path}:{}", std::env::var("PATH").unwrap_or_default()));
    Ran::of(&mut shell)
}

/// The files that the script's program was given, none of which is there any more; what else is
/// left.
fn given(scratch: &Scratch) -> (usize, Vec<String>) {
    let synced = std::fs::read_to_string(scratch.path().join("synced")).expect("it was typed");
    assert!(synced.lines().all(|path| !Path::new(path).exists()), "{synced}");
    let names = std::fs::read_dir(scratch.path()).expect("it is there").flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names = names.filter(|name| !["synced", "pg_test_fsync"].contains(&name.as_str()));
    (synced.lines().count(), names.collect())
}

const NOTES_FILE: &str = "test -w \"$4\" && echo \"$4\" >>\"$TMPDIR/synced\"";

#[test]
fn the_script_of_a_dry_run_types_the_procedure_and_detaches_every_drive() {
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let ran = printed_script(&scratch, NOTES_FILE);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(given(&scratch), (5, Vec::new()));
}

#[test]
fn the_script_of_a_dry_run_ends_where_a_step_fails_and_leaves_nothing() {
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let ran = printed_script(&scratch, &format!("{NOTES_FILE}\nexit 7"));
    assert_eq!(ran.status, Some(7), "{ran:?}");
    assert_eq!(given(&scratch), (1, Vec::new()));
}

#[test]
fn numbers_measured_elsewhere_are_compared_and_nothing_is_typed() {
    let scratch = Scratch::new();
    let measured = |article: &str, lines: &str| {
        let file = scratch.file("numbers", lines.as_bytes());
        let words = ["reproduce", article, "--json", "--measured", text(&file)];
        Ran::of(&mut straddle(&words))
    };
    let lines = "n = 1, aligned: 133\nn = 1, 7680 bytes off: 112\n";
    let ran = measured("file-system-blocks-alignment", lines);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let lines = ran.document()["lines"].as_array().expect("a list").clone();
    let whats: Vec<_> = lines.iter().filter_map(|line| line["what"].as_str()).collect();
    let ratio = "n = 1, off over aligned";
    assert_eq!(whats, ["n = 1, aligned", "n = 1, 7680 bytes off", ratio], "{ran:?}");
    assert!(!ran.errors.contains("$ "), "{ran:?}");
    let lines = "n = 64, aligned, misaligned: 5940\nn = 64, aligned, aligned: 10\n";
    let ran = measured("file-system-blocks-alignment", lines);
    assert!(ran.errors.contains("no number `n = 64, aligned, misaligned`"), "{ran:?}");
    let lines = "mkfs, JFS, aligned: 2\nmkfs, JFS, misaligned: 20\n";
    let ran = measured("linux-on-4kb-sector-disks", lines);
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let document = ran.document();
    assert_eq!(document["lines"][0]["served"], 10.0, "{document}");
    assert_eq!(document["lines"].as_array().map(Vec::len), Some(1), "{document}");
    for (lines, reason) in [
        ("mkfs 2\n", "is not NAME: NUMBER\nhint: for example "),
        ("", "no line names a number"),
        ("mkfs, JFS: 2\nmkfs, JSF: 2\n", "no number `mkfs, JSF`\nhint: "),
        ("mkfs, JSF, aligned: 2\n", "names: `mkfs, JFS`"),
        ("read, JFS, misaligned: 1\n", "`read, JFS` needs `, aligned` and `, misaligned`"),
        ("mkfs, JFS: 2\nmkfs, JFS: 3\n", "`mkfs, JFS` is there twice"),
        ("mkfs, JFS: NaN\n", "`mkfs, JFS: NaN` is not NAME: NUMBER"),
        ("mkfs, JFS: 0\n", "`mkfs, JFS: 0` is not NAME: NUMBER"),
        ("a\u{1b}[31mb: 1\n", "no number `a\\u{1b}[31mb`"),
    ] {
        let ran = measured("linux-on-4kb-sector-disks", lines);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.errors.contains(reason), "{ran:?}");
    }
}

#[test]
fn a_number_outside_its_bound_and_a_step_that_fails_have_their_codes() {
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let mut slow =
        with_pg_test_fsync(&scratch, "echo '  fdatasync  10.0 ops/sec  100000 usecs/op'");
    let ran = Ran::of(slow.arg("--json"));
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let line = |line: &Value| {
        let number = |key: &str| line[key].as_f64().expect("a number");
        assert!(number("published") < number("served") || line["unit"] != "ms", "{line}");
        assert!(number("served_error_percent").abs() > 5.0, "{line}");
    };
    let document = ran.document();
    let lines = document["lines"].as_array().expect("a list");
    lines.iter().for_each(line);
    assert_eq!(lines.len(), 7, "{document}");
    assert!(ran.errors.contains("$ pg_test_fsync -s 1 -f /"), "{ran:?}");

    let ran = Ran::of(&mut with_pg_test_fsync(&scratch, "echo no >&2; exit 3"));
    assert_eq!(ran.status, Some(5), "{ran:?}");
    assert!(ran.out.contains("not done here: straddle drive serve --profile"), "{ran:?}");
}

#[test]
fn an_interrupted_or_killed_run_leaves_nothing_mounted_and_no_program() {
    if !can_mount() {
        return;
    }
    let scratch = Scratch::new();
    let started = scratch.path().join("started");
    let script = format!("echo $$ >{}; exec sleep 1000", text(&started));
    for (name, status) in [("INT", Some(130)), ("KILL", None)] {
        let mut going = Going::with(&mut with_pg_test_fsync(&scratch, &script));
        let mut program = 0;
        going.until("the program runs", || {
            let number = std::fs::read_to_string(&started).unwrap_or_default();
            program = number.trim().parse().unwrap_or(0);
            program > 0
        });
        let process = going.number();
        assert!(is_mounted(process));
        going.signal(name);
        assert_eq!(going.ended().status, status);
        until("nothing is mounted", || !is_mounted(process));
        until("the program is gone", || !Path::new(&format!("/proc/{program}")).exists());
        std::fs::remove_file(&started).expect("it is there");
        // Its record and its empty directory stay where it was killed.
        super::forgotten(process);
    }
}

#[test]
fn the_real_tools_find_on_the_served_disk_what_the_article_found() {
    need_tools!("parted", "partx", "mkfs.ext4", "fio", "lsblk");
    need_loops!();
    // The article's mkfs.ext4 writes metadata of terabytes, which takes most of a minute off the
    // sectors.
    let real = tool::find("mkfs.ext4").expect("it is needed");
    let scratch = Scratch::new();
    let script = format!("exec {} \"$@\" 1G", text(&real));
    let words = ["reproduce", "advanced-format-disks", "--seconds", "1", "--json"];
    let ran = Ran::of(&mut with_program(&scratch, "mkfs.ext4", &script, &words));
    assert!(matches!(ran.status, Some(0 | 1)), "times may be late here: {ran:?}");
    let document = ran.document();
    let served = |what: &str| {
        let lines = document["lines"].as_array().expect("a list");
        let line = lines.iter().find(|line| line["what"] == what && line["unit"] == "IOPS");
        line.and_then(|line| line["served"].as_f64()).expect("it was measured")
    };
    // By how much is a matter of time, and of what else runs here.
    for kind in ["raw", "ext4"] {
        let [aligned, misaligned] =
            ["aligned", "misaligned"].map(|place| served(&format!("{kind}, {place}")));
        assert!(misaligned < aligned, "{kind}: {aligned} and {misaligned}, {document}");
    }
    for said in ["parted -s /dev/loop", "loop", "straddle bench --write-device", "512"] {
        assert!(ran.errors.contains(said), "{said}: {ran:?}");
    }
}
