//! Every exit code of every command, and that each ending says why: a code other than 0 never
//! comes without a word on one of the two streams. The table is `src/exit/table.rs`.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use testkit::running_program::{Ran, by_signals, signal, until};
use testkit::scratch::text;
use testkit::{Loop, Mount, Scratch, need_loops, need_tools, tool};

/// Returns how `straddle` ends with these words.
fn straddle(words: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    Ran::of(command.args(words).env("LC_ALL", "C.UTF-8").stdin(std::process::Stdio::null()))
}

/// It ends with this code, and says `why` on one of its streams.
#[track_caller]
fn ends(words: &[&str], code: i32, why: &str) -> Ran {
    let ran = straddle(words);
    has_ended(words, &ran, code, why);
    ran
}

#[track_caller]
fn has_ended(words: &[&str], ran: &Ran, code: i32, why: &str) {
    assert_eq!(ran.status, Some(code), "{words:?}: {ran:?}");
    assert!(format!("{}{}", ran.out, ran.errors).contains(why), "{words:?}: {why}: {ran:?}");
    assert!(code == 0 || !(ran.out.is_empty() && ran.errors.is_empty()), "{words:?}");
    // What is misuse is said where no program takes it for data.
    let is_error = code == 2 && words.first() != Some(&"check");
    assert!(!is_error || !ran.errors.is_empty(), "{words:?}: {ran:?}");
}

/// An image with one partition at this sector.
fn image(directory: &Path, name: &str, sector: u64) -> String {
    let path = directory.join(name);
    let file = std::fs::File::create(&path).expect("the scratch directory takes a file");
    file.set_len(64 << 20).expect("it takes a hole");
    tool::run_with_input("sfdisk", &["-q", text(&path)], &format!("label: dos\n{sector},,83\n"));
    text(&path).to_owned()
}

/// ext4 on a loop device, mounted until the test ends.
struct Mounted {
    point: PathBuf,
    _mount: Mount,
    _device: Loop,
}

impl Mounted {
    fn new(scratch: &Scratch, length_bytes: u64) -> Mounted {
        Mounted::with(scratch, length_bytes, &[])
    }

    /// The same with these options of mkfs.ext4.
    fn with(scratch: &Scratch, length_bytes: u64, options: &[&str]) -> Mounted {
        let device = Loop::attach(&scratch.image("image", length_bytes), 512);
        tool::run("mkfs.ext4", &[&["-q", "-F"], options, &[text(device.path())]].concat());
        let point = scratch.path().join("point");
        let mount = Mount::new("ext4", "", text(device.path()), &point);
        Mounted { point, _mount: mount, _device: device }
    }
}

/// Leaves open whether the drive of this machine may be read, which is not the test's to say.
#[test]
fn what_lies_beneath_the_file_of_a_loop_is_not_judged_and_no_gap() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount");
    let scratch = Scratch::new();
    let mounted = Mounted::new(&scratch, 64 << 20);
    let ran = straddle(&["check", "--json", text(&mounted.point)]);
    let document: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    let target = &document["targets"][0];
    // So small a file system has blocks below a granule, which is a finding.
    assert_eq!((target["verdict"].as_str(), ran.status), (Some("aligned"), Some(1)), "{ran:?}");
    for layer in target["layers"].as_array().expect("a list") {
        let is_unknown = layer["verdict"] == "unknown";
        assert!(!is_unknown || layer["not_judged"] == true, "{layer:#}");
    }
    assert!(!target["findings"].to_string().contains("ST407"), "{target:#}");
    let said = straddle(&["check", text(&mounted.point)]).out;
    assert!(!said.contains("unknown") && !said.contains("cannot open"), "{said}");
}

#[test]
fn every_ending_of_check_has_its_code_and_says_why() {
    need_loops!();
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let (good, bad) = (image(scratch.path(), "good", 2048), image(scratch.path(), "bad", 63));
    let gone = format!("{bad}.gone");
    let backing = scratch.image("deleted", 64 << 20);
    let device = Loop::attach(&backing, 512);
    std::fs::remove_file(&backing).expect("it is there");
    let unknown = text(device.path());
    ends(&["check", &good], 0, "aligned");
    ends(&["check", &bad], 1, "ST102");
    ends(&["check", "--json", &bad], 1, "\"ST102\"");
    ends(&["check", &gone], 2, "No such file");
    ends(&["check", "--frobnicate"], 2, "--frobnicate");
    ends(&["check", unknown], 5, "deleted");
    // A finding outranks a verdict that is missing, and what cannot be opened outranks both.
    ends(&["check", &bad, unknown], 1, "unknown");
    ends(&["check", &bad, unknown, &gone], 2, "No such file");
    ends(&["check", "--allow-unknown", unknown], 0, "deleted");
    ends(&["check", "--allow-unknown", &bad, unknown], 1, "ST102");
    ends(&["check", "--allow-unknown", &gone], 2, "No such file");
    ends(&["check", "--format", "nagios", unknown], 3, "UNKNOWN");
    ends(&["check", "--format", "nagios", "--allow-unknown", unknown], 0, "OK");
    ends(&["check", "--format", "npd", unknown], 2, "unknown");
    let base = scratch.path().join("base.json");
    ends(&["check", "--save", text(&base), &good], 0, "baseline");
    std::fs::copy(&bad, &good).expect("both are files");
    ends(&["check", "--watch", text(&base), &good], 1, "worse");
    ends(&["check", "--watch", text(&base), &bad, "--fail-on", "never"], 0, "not named here");
    ends(&["check", "--watch", &bad, &bad], 2, "hint: ");
}

/// Returns how this shell command ends, in which `$0` is straddle.
fn shell(typed: &str) -> Ran {
    let mut command = Command::new("sh");
    Ran::of(command.args(["-c", typed, env!("CARGO_BIN_EXE_straddle")]).env("LC_ALL", "C.UTF-8"))
}

#[test]
fn a_check_that_names_nothing_ends_with_0_though_no_disk_can_be_read() {
    need_loops!();
    need_tools!("setpriv", "unshare", "mount");
    let nobody = "exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\"";
    for words in ["check --json", ""] {
        let ran = shell(&format!("{nobody} {words}"));
        let unread = "only what the kernel reports was judged: the bytes of ";
        assert!(ran.errors.contains(unread), "{ran:?}");
        if words.is_empty() {
            assert!(matches!(ran.status, Some(0 | 1)) && ran.errors.contains("straddle --help"));
            continue;
        }
        let document = ran.document();
        let targets = document["targets"].as_array().expect("a list");
        let is_bad = |target: &serde_json::Value| {
            let findings = target["findings"].as_array().expect("a list");
            findings.iter().any(|finding| finding["severity"] != "info")
        };
        // Other tests may have a bad disk of their own at this moment.
        let code = i32::from(targets.iter().any(is_bad));
        assert_eq!(ran.status, Some(code), "{ran:?}");
        assert!(document["notes"].to_string().contains(unread), "{document:#}");
        // A device of another test may be gone when it is named: only hardware stays.
        let unknown = targets.iter().filter(|it| it["verdict"] == "unknown" && !is_bad(it));
        let mut names = unknown.filter_map(|target| target["target"].as_str());
        let stays = |name: &&str| Path::new("/sys/block").join(name).join("device").exists();
        let Some(named) = names.find(stays) else {
            return testkit::skip("needs a drive");
        };
        let ran = shell(&format!("{nobody} check /dev/{named}"));
        assert_eq!(ran.status, Some(5), "{ran:?}");
        let ran = shell(&format!("{nobody} check --format nagios"));
        assert!(matches!(ran.status, Some(1..=3)), "{ran:?}");
    }
    let none = "exec unshare -m sh -c 'mount -t tmpfs none /sys && exec \"$@\"' - \"$0\" check";
    let ran = shell(none);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.errors.contains("note: cannot list the disks of this machine"), "{ran:?}");
    let ran = shell(&format!("{none} --save /dev/null/none"));
    assert_eq!(ran.status, Some(2), "{ran:?}");
    let ran = shell(&format!("{none} --format nagios"));
    assert_eq!(ran.status, Some(3), "{ran:?}");
}

#[test]
fn a_file_of_another_kind_is_kept_and_the_command_ends_with_3() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let disk = image(scratch.path(), "disk", 63);
    let result = straddle(&["check", "--json", &disk]).out;
    let result = scratch.file("check.json", result.as_bytes());
    let mine = scratch.file("mine", b"precious");
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink(&mine, &link).expect("a link");
    for kept in [text(&mine), text(&link), text(scratch.path())] {
        for words in [
            &["check", &disk, "--save", kept][..],
            &["draw", &disk, "-o", kept],
            &["plan", &disk, "-o", kept],
            &["plan", &disk, "--script", "-o", kept],
            &["report", text(&result), "-o", kept],
            &["bench", text(scratch.path()), "--dry-run", "-o", kept],
            &["fsync", text(scratch.path()), "--dry-run", "-o", kept],
            &["probe", text(scratch.path()), "--dry-run", "-o", kept],
            &["drive", "torture", "--profile", "m4-256", "-o", kept, "--", "true"],
            &["drive", "serve", "--profile", "m4-256", "--as", "nbd", "--counts", kept],
        ] {
            let ran = ends(words, 3, kept);
            assert!(ran.errors.contains("hint: name a"), "{words:?}: {ran:?}");
        }
    }
    assert_eq!(std::fs::read(&mine).expect("it is kept"), b"precious");
    assert!(link.is_symlink());
}

#[test]
fn commands_that_measure_nothing_have_their_codes_and_say_why() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let missing = text(scratch.path()).to_owned() + "/missing";
    ends(&["explain", "ST101"], 0, "ST101");
    ends(&["explain", "-"], 2, "cannot explain standard input: empty");
    ends(&["explain", "ST000"], 5, "no page explains `ST000`");
    let page = text(scratch.path()).to_owned() + "/page.html";
    let known = scratch.file("drives.json", straddle(&["drive", "list", "--json"]).out.as_bytes());
    ends(&["report", "-o", &page, &missing], 2, "cannot show");
    ends(&["draw", &image(scratch.path(), "drawn", 63)], 0, "First bad boundary");
    ends(&["draw", &missing], 2, "No such file");
    ends(&["draw", "-o", "/proc/none-such", text(&known)], 2, "cannot write the picture");
    ends(&["report", "-o", &page, text(&known)], 2, "hint: ");
    ends(&["export", &missing], 2, "cannot export");
    ends(&["export", text(&known)], 2, "cannot export");
    ends(&["export", "--textfile", &missing, text(&known)], 2, "hint: make it first: mkdir");
    let aligned = image(scratch.path(), "aligned", 2048);
    let checked =
        scratch.file("check.json", straddle(&["check", "--json", &aligned]).out.as_bytes());
    ends(&["export", text(&checked)], 0, "straddle_layer_misaligned{");
    let captured =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../stack/tests/sysroots/md-raid5-512e.k6.12.sysroot");
    let captured = straddle(&["check", "--json", "--sysroot", captured]);
    let captured = scratch.file("captured.json", captured.out.as_bytes());
    ends(&["emit", "--for", "mkfs", text(&captured)], 0, "mkfs.xfs -d su=64k,sw=3");
    ends(&["emit", "--for", "mkfs", &missing], 2, "cannot emit values of");
    ends(&["emit", "--for", "none-such", text(&captured)], 2, "none-such");
    let simulate = ["drive", "simulate", "--profile", "hdd-7200-512e", "--operations", "10"];
    let simulated = ends(&[&simulate[..], &["--json"]].concat(), 0, "hdd-7200-512e");
    let result = scratch.file("simulated.json", simulated.out.as_bytes());
    ends(&["report", "-o", &page, text(&result)], 0, "");
    ends(&["drive", "simulate", "--profile", "none-such"], 2, "none-such");
    ends(&["drive", "list"], 0, "m4-256");
    ends(&["drive", "show", "none-such"], 2, "none-such");
    ends(&["generate", "schema"], 0, "$schema");
    ends(&["generate", "man", "none-such"], 2, "none-such");
    ends(&["generate", "man", "--to", "/proc/none-such"], 2, "cannot write");
    ends(&["plan", &image(scratch.path(), "disk", 63)], 0, "partition 1");
    ends(&["plan", &missing], 2, "No such file");
    ends(&["plan", &missing, "--script"], 2, "No such file");
    let blank = scratch.image("blank", 1 << 20);
    ends(&["plan", text(&blank)], 5, "hint: ");
    ends(&["plan", "--new", text(&blank)], 0, "start at sector");
    ends(&["version"], 0, "straddle ");
    ends(&["--color", "never"], 2, "Usage");
    ends(&["none-such"], 2, "none-such");
}

#[test]
fn every_ending_of_demo_has_its_code_and_leaves_nothing() {
    need_tools!("env");
    let scratch = Scratch::new();
    let place = scratch.path().join("tmp");
    std::fs::create_dir(&place).expect("the scratch directory takes another");
    let left = || std::fs::read_dir(&place).expect("it is there").count();
    let demo = |words: &str| shell(&format!("TMPDIR={} COLUMNS=80 {words}", text(&place)));
    let ran = demo("\"$0\" demo");
    assert_eq!((ran.status, left()), (Some(0), 0), "{ran:?}");
    // The partition, where it is, its cost, and where it will be.
    for said in ["disk.img#1", "sector 63", "3.00", "63 -> 56", "$ straddle plan disk.img"] {
        assert!(ran.out.contains(said), "{said}: {}", ran.out);
    }
    // A command to type is never broken.
    let mut prose = ran.out.lines().filter(|line| !line.contains(" sh plan.sh "));
    assert!(prose.all(|line| line.chars().count() <= 80), "{}", ran.out);
    assert!(ran.out.lines().count() <= 60 && ran.errors.is_empty(), "{ran:?}");
    let missing = text(&place).to_owned() + "/missing";
    let ran = shell(&format!("TMPDIR={missing} \"$0\" demo"));
    assert!(ran.status == Some(2) && ran.errors.contains("hint: "), "{ran:?}");
    // Nobody reads what it prints, so the signal comes while it runs.
    let (mut reader, mut writer) = std::io::pipe().expect("a pipe can be made");
    writer.write_all(&[b' '; 1 << 16]).expect("a pipe holds 64 KiB");
    let mut command = by_signals(env!("CARGO_BIN_EXE_straddle"));
    command.arg("demo").env("TMPDIR", &place).stdout(writer);
    let mut held = Held(command.spawn().expect("the program runs"));
    drop(command);
    until("it has made its directory", || left() == 1);
    signal(held.0.id(), "INT");
    let mut said = String::new();
    reader.read_to_string(&mut said).expect("it prints UTF-8");
    assert_eq!(held.0.wait().expect("it can be waited for").code(), Some(130), "{said}");
    assert_eq!(left(), 0);
    let ran = demo("\"$0\" demo --keep");
    let kept = ran.out.lines().find_map(|line| line.strip_prefix("kept: ")).expect("a path");
    ends(&["check", kept], 1, "misaligned by 3.5 KiB");
    std::fs::remove_dir_all(Path::new(kept).parent().expect("it has a directory")).unwrap();
    // Another user, without root.
    need_tools!("setpriv", "chmod");
    if host::is_root() {
        tool::run("chmod", &["777", text(&place)]);
        let ran = demo("setpriv --reuid=65534 --regid=65534 --clear-groups \"$0\" demo");
        assert_eq!((ran.status, left()), (Some(0), 0), "{ran:?}");
    }
}

#[test]
fn every_ending_of_trace_has_its_code_and_says_why() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount");
    let scratch = Scratch::new();
    let mounted = Mounted::new(&scratch, 64 << 20);
    let file = mounted.point.join("file");
    std::fs::write(&file, vec![1; 65536]).expect("it takes a file");
    tool::run("sync", &["--file-system", text(&file)]);
    let traced = straddle(&["trace", text(&file)]);
    assert!(matches!(traced.status, Some(0 | 5)), "{traced:?}");
    let waiting = mounted.point.join("waiting");
    // Who syncs all file systems of the machine places it at once.
    until("it waits in memory", || {
        std::fs::write(&waiting, vec![1; 65536]).expect("it takes a file");
        let ran = straddle(&["trace", text(&waiting)]);
        ran.status == Some(5) && ran.out.contains("not on the drive yet")
    });
    let holes = mounted.point.join("holes");
    std::fs::File::create(&holes).and_then(|file| file.set_len(65536)).expect("it takes a file");
    ends(&["trace", text(&holes)], 0, "64 KiB in holes");
    std::fs::remove_file(scratch.path().join("image")).expect("it is there");
    ends(&["trace", "/nonexistent"], 2, "hint: ");
    ends(&["trace", text(&mounted.point)], 2, "not a file");
    ends(&["trace", text(&file), "--offset", "64K"], 2, "the file ends at 64 KiB");
    let short = mounted.point.join("short");
    std::fs::write(&short, b"abc").expect("the file system has room");
    ends(&["trace", text(&short), "--offset", "100"], 2, "the file ends at 3 B");
    ends(&["trace", text(&file), "--offset", "1T", "--length", "4K"], 2, "hint: trace all");
    ends(&["trace", text(&file)], 5, "deleted");
    ends(&["trace", "--allow-unknown", text(&file)], 0, "deleted");
}

/// The first page of a tablespace of InnoDB with pages of 16 KiB, and three more pages.
fn tablespace() -> Vec<u8> {
    let mut bytes = vec![0; 4 * 16384];
    bytes[25] = 8;
    bytes
}

#[test]
fn every_ending_of_atomic_has_its_code_and_says_why() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount");
    let scratch = Scratch::new();
    let mounted = Mounted::with(&scratch, 64 << 20, &["-O", "bigalloc", "-C", "16384"]);
    let put = |name: &str, bytes: &[u8]| {
        let path = mounted.point.join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a directory")).expect("it is made");
        std::fs::write(&path, bytes).expect("it takes a file");
        tool::run("sync", &[text(&path)]);
        path
    };
    let mysql = put("mysql/ibdata1", &tablespace());
    let mysql = mysql.parent().expect("it is in a directory");
    let mut relation = vec![0; 8192];
    relation[18..20].copy_from_slice(&[4, 0x20]);
    put("pg/PG_VERSION", b"18\n");
    put("pg/base/5/1259", &relation);
    let pg = mounted.point.join("pg");
    let mut database = vec![0; 8192];
    database[..18].copy_from_slice(b"SQLite format 3\0\x10\0");
    let sqlite = put("app.db", &database);
    // Whatever is below: these write through the page cache.
    let ran = ends(&["atomic", text(&pg), "--for", "postgresql"], 1, "keep  full_page_writes=on");
    assert!(ran.out.contains("pages of 8 KiB"), "{ran:?}");
    let ran =
        ends(&["atomic", text(&sqlite), "--for", "sqlite"], 1, "SQLite: writes pages of 4 KiB");
    assert!(ran.out.starts_with("NO: "), "{ran:?}");
    let json = straddle(&["atomic", "--json", text(mysql), "--for", "mysql"]);
    let json: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!((&json["data_files"], &json["verdict"]["page_bytes"]), (&1.into(), &16384.into()));
    assert_ne!(json["verdict"]["answer"], "yes", "a loop device promises nothing");
    ends(
        &["atomic", text(&pg), "--for", "mysql"],
        2,
        "hint: name the directory that holds ibdata1",
    );
    ends(&["atomic", text(&sqlite), "--for", "mysql"], 2, "not recognized");
    // Of a loop device whose file is gone, nothing is known.
    std::fs::remove_file(scratch.path().join("image")).expect("it is there");
    let ran = ends(&["atomic", text(mysql), "--for", "mariadb"], 5, "because");
    assert!(ran.out.starts_with("UNKNOWN: "), "{ran:?}");
    ends(&["atomic", text(mysql), "--for", "mariadb", "--allow-unknown"], 0, "UNKNOWN");
    ends(&["atomic", "--allow-unknown", text(&pg), "--for", "postgresql"], 1, "NO: ");
}

#[test]
fn every_ending_of_watch_has_its_code_and_says_why() {
    need_loops!();
    need_tools!("kill");
    let scratch = Scratch::new();
    let device = Loop::attach(&scratch.image("image", 64 << 20), 512);
    let node = text(device.path());
    ends(&["watch", node, "--seconds", "1"], 0, "watched; nothing was written");
    ends(&["watch", "/nonexistent"], 2, "hint: ");
    ends(&["watch", node, "--pid", "4194305"], 2, "4194305");
    ends(&["watch", node, "--cgroup", "/nonexistent"], 2, "hint: ");
    ends(&["watch", node, "--textfile", "/nonexistent"], 2, "hint: make it first: mkdir");
    ends(&["watch", node, "--pid", "1", "--cgroup", "/"], 2, "Usage");
    for (more, code, why) in
        [(&[][..], 0, ""), (&["--seconds", "1h"], 130, "interrupted; nothing is left behind")]
    {
        let lines = scratch.path().join("lines");
        let [output, errors] = [&lines, &scratch.path().join("errors")]
            .map(|path| std::fs::File::create(path).expect("a file can be made"));
        let mut command = by_signals(env!("CARGO_BIN_EXE_straddle"));
        command.args(["watch", node, "--jsonl"]).args(more).stdout(output).stderr(errors);
        let mut held = Held(command.spawn().expect("the program runs"));
        until("it counts", || std::fs::metadata(&lines).is_ok_and(|lines| lines.len() > 0));
        signal(held.0.id(), "INT");
        assert_eq!(held.0.wait().expect("it can be waited for").code(), Some(code), "{more:?}");
        let errors = std::fs::read_to_string(scratch.path().join("errors")).expect("it is text");
        assert!(errors.contains(why), "{more:?}: {errors}");
    }
}

#[test]
fn what_cannot_be_measured_is_misuse_and_says_why() {
    for command in ["bench", "probe", "fsync"] {
        ends(&[command, "/nonexistent"], 2, "/nonexistent");
        ends(&[command, "/dev/null"], 2, "/dev/null");
        ends(&[command, "/dev/null", "--dry-run"], 2, "/dev/null");
        ends(&[command], 2, "Usage");
        for time in ["-1", "0", "1w"] {
            ends(&[command, "/dev/null", "--seconds", time], 2, "90s, 5m or 1h");
        }
        ends(&[command, "/dev/null", "--seconds", "1h", "--dry-run"], 2, "/dev/null");
    }
}

/// A process that ends with its test.
struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_job_that_a_busy_drive_leaves_out_is_no_verdict_and_says_so() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "dd");
    let scratch = Scratch::new();
    let mounted = Mounted::new(&scratch, 256 << 20);
    let job = scratch.file(
        "job",
        b"[deep]\nioengine=libaio\nrw=randread\niodepth=32\nbs=4k\nsize=1m\ndirect=1\n",
    );
    let _others: Vec<Held> = (0..4)
        .map(|number| {
            let file = format!("of={}/others{number}", text(&mounted.point));
            let script = format!(
                "exec 2>/dev/null; while :; do \
                 dd if=/dev/zero {file} bs=64k count=256 oflag=direct,dsync conv=notrunc; done"
            );
            let mut others = Command::new("sh");
            others.args(["-c", &script]);
            Held(others.spawn().expect("a shell runs"))
        })
        .collect();
    let words = ["bench", text(&mounted.point), "--scratch", "8M", "--seconds", "1"];
    let words = [&words[..], &["--job", text(&job)]].concat();
    // A look of 150 ms decides how busy the drive is, and this machine has other work too.
    until("the drive is seen to be busy", || {
        let ran = straddle(&words);
        let is_left_out = ran.errors.contains("above 1: the drive is busy");
        let is_silent = ran.out.is_empty() && ran.errors.is_empty();
        assert!(!is_silent && ran.status != Some(2), "{ran:?}");
        assert!(!is_left_out || (ran.status, ran.out.as_str()) == (Some(5), ""), "{ran:?}");
        is_left_out
    });
}

/// Returns a result of which each figure is known: `straddle` printed it on a drive model.
fn of_model(name: &str) -> serde_json::Value {
    let path = format!("{}/src/world/verdicts/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("it is part of the source");
    let mut document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    document["version"] = env!("CARGO_PKG_VERSION").into();
    document
}

/// Returns the path of a file in `scratch` that holds this result.
fn kept(scratch: &Scratch, name: &str, document: &serde_json::Value) -> String {
    text(&scratch.file(name, document.to_string().as_bytes())).to_owned()
}

#[test]
fn results_of_fsync_are_compared_by_their_ratios_and_mixed_results_are_refused() {
    let scratch = Scratch::new();
    let place = text(scratch.path());
    let result = |name: &str, factor: f64| {
        let mut document = of_model("fsync-pass");
        document["comparisons"] = serde_json::json!([{
            "question": "append against overwrite", "row": "wal.append",
            "against": "wal.overwrite", "ratio": factor, "low": 0.99 * factor,
            "high": 1.01 * factor, "alpha": 0.05, "rounds": 9, "conclusion": "slower",
        }]);
        kept(&scratch, name, &document)
    };
    let (even, slow) = (result("even", 1.0), result("slow", 3.0));
    ends(&["compare", &even, &even], 0, "the same run");
    ends(&["compare", &even, &slow], 1, "differs (1 of 5 values)");
    let probed = straddle(&["probe", place, "--dry-run", "--json"]).document();
    let probed = kept(&scratch, "probed", &probed);
    ends(&["compare", &probed, &probed], 5, "cannot tell");
    ends(&["compare", &even, &probed], 2, "one is a result of fsync, the other of probe");
    let disk = scratch.image("disk.raw", 65 << 20);
    ends(&["compare", &even, text(&disk)], 2, "not a result file");
    // Whatever this machine does meanwhile, two runs of it are shown side by side.
    let [first, second] = ["first", "second"].map(|name| {
        let path = scratch.path().join(name);
        straddle(&["fsync", place, "--seconds", "1", "--rows", "wal", "-o", text(&path)]);
        text(&path).to_owned()
    });
    let two = straddle(&["compare", &first, &second]);
    assert!(matches!(two.status, Some(0 | 1 | 5)) && two.out.contains("before  "), "{two:?}");
}

#[test]
fn every_ending_of_compare_has_its_code_and_says_why() {
    let scratch = Scratch::new();
    let [even, slow, void, synced, late, probed, unknown] = [
        "bench-no-penalty",
        "bench-penalty",
        "bench-void",
        "fsync-pass",
        "fsync-fail",
        "probe-granule",
        "probe-nothing",
    ]
    .map(|name| kept(&scratch, name, &of_model(name)));
    let mut nothing = of_model("bench-no-penalty");
    nothing["experiments"] = serde_json::json!([]);
    let nothing = kept(&scratch, "nothing", &nothing);
    for same in [&even, &synced, &probed] {
        ends(&["compare", same, same], 0, "both files hold the same run");
    }
    ends(&["compare", &even, &slow], 1, "differs (1 of 1 value)");
    ends(&["compare", &synced, &late], 1, "pass -> fail");
    ends(&["compare", &even, &nothing], 5, "only the earlier run measured");
    ends(&["compare", "--allow-unknown", &even, &nothing], 0, "");
    ends(&["compare", &even, &void], 5, "the later run is void");
    ends(&["compare", &probed, &unknown], 5, "the later run did not find it");
    ends(&["compare", &even, &synced], 2, "one is a result of bench, the other of fsync");
    let both = ends(&["compare", &synced, &probed], 2, "compare two results of the same command");
    let typed = both.errors.split_once(": straddle fsync /").map(|(_, typed)| typed.trim_end());
    assert!(typed.is_some_and(|typed| typed.ends_with(" -o FILE")), "a target is named: {both:?}");
    ends(&["compare", &even, "/nonexistent"], 2, "/nonexistent");
    ends(&["compare", &even], 2, "Usage");
}
