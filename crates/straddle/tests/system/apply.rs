//! `straddle apply` as a user runs it: the field's tools look at what it wrote, and at what it
//! refused to write.

mod devices;
mod forged;
mod grown;
mod qcow2;
mod refused;
mod undone;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::running_program::Ran;
use testkit::{Scratch, need_tools, schema, scratch, tool};

const SCHEMA: &str = include_str!("../../../report/schema/straddle.plan.1.schema.json");

/// Empty partitions off the granule, and one with data that stays.
const GPT: &str = "label: gpt\nfirst-lba: 34\n\
    start=63, size=20001, name=\"a b\", attrs=\"RequiredPartition GUID:60\"\n\
    start=20065, size=10000, type=swap\n\
    start=40960, size=20480, type=U\n";
const MBR: &str = "label: dos\nlabel-id: 0xdeadbeef\n\
    start=63, size=10000, type=7, bootable\n\
    start=10063, size=20000, type=82\n\
    start=40960, size=20480\n";
const LOGICAL: &str = "label: dos\nlabel-id: 0xdeadbeef\n\
    start=64, size=9984, type=7\n\
    start=10080, size=30000, type=5\n\
    start=10143, size=9001\n\
    start=20190, size=9000, type=82\n\
    start=40960, size=20480\n";
/// Sectors of the partition with data.
const DATA: std::ops::Range<u64> = 40_960..61_440;

struct Disk {
    scratch: Scratch,
    image: PathBuf,
    before: Vec<u8>,
}

fn straddle(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    Ran::of(command.args(arguments).current_dir(directory).env("LC_ALL", "C.UTF-8"))
}

fn read(path: &Path) -> Vec<u8> {
    scratch::sparse_bytes(path)
}

/// Writes `bytes` at byte `at` of a file.
fn put(path: &Path, at: u64, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().write(true).open(path).expect("it opens");
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at)).expect("it seeks");
    std::io::Write::write_all(&mut file, bytes).expect("it is written");
}

impl Disk {
    /// An image of 32 MiB with `table`; nothing is on it but in [`DATA`].
    fn new(table: &str) -> Disk {
        let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
        let image = scratch.image("disk.raw", 32 << 20);
        if !table.is_empty() {
            tool::run_with_input("sfdisk", &["-q", scratch::text(&image)], table);
            for sector in DATA {
                put(&image, sector * 512, &[[7; 8], sector.to_le_bytes()].concat());
            }
        }
        let before = read(&image);
        Disk { scratch, image, before }
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        straddle(self.scratch.path(), arguments)
    }

    /// A plan of the disk in plan.json.
    fn plan(&self, more: &[&str]) -> Value {
        // What a test made of it is no plan, and is not replaced.
        let _ = std::fs::remove_file(self.file("plan.json"));
        let ran = self.run(&[&["plan", "disk.raw", "-o", "plan.json"], more].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let text = std::fs::read_to_string(self.file("plan.json")).expect("the plan is there");
        let document: Value = serde_json::from_str(&text).expect("it is JSON");
        let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
        assert_eq!(schema::faults(&schema, &document), [""; 0]);
        document
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn apply(&self, more: &[&str]) -> Ran {
        self.run(&[&["apply", "--confirm", "disk.raw"], more].concat())
    }

    fn is_unchanged(&self) -> bool {
        read(&self.image) == self.before
    }
}

/// The table as sfdisk dumps it, without places.
fn kept(image: &Path) -> Vec<String> {
    let text = tool::run("sfdisk", &["--dump", scratch::text(image)]);
    let is_place = |field: &str| {
        let field = field.trim_start();
        ["start=", "size="].iter().any(|name| field.contains(name))
    };
    let fields = |line: &str| -> String {
        line.split(',').filter(|field| !is_place(field)).collect::<Vec<_>>().join(",")
    };
    text.lines().map(fields).collect()
}

/// Fails where a tool of the field complains.
fn accepted(image: &Path) {
    let name = scratch::text(image);
    let verify = tool::output("sfdisk", &["--verify", name]);
    let said = [verify.stdout, verify.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(verify.status.success(), "{said}");
    let is_gpt = tool::run("sfdisk", &["--dump", name]).contains("label: gpt");
    if is_gpt {
        assert!(said.contains("No errors detected"), "{said}");
        let verify = tool::run("sgdisk", &["-v", name]);
        assert!(verify.contains("No problems found"), "{verify}");
    }
    let print = tool::output("parted", &["-s", name, "print"]);
    assert!(print.status.success() && print.stderr.is_empty(), "{print:?}");
}

#[test]
fn what_was_applied_is_accepted_by_every_tool_and_undone_to_the_byte() {
    need_tools!("sfdisk", "sgdisk", "parted");
    for (table, hybrid) in [(GPT, false), (GPT, true), (MBR, false), (LOGICAL, false)] {
        let mut disk = Disk::new(table);
        if hybrid {
            tool::run("sgdisk", &["-h", "2:3", scratch::text(&disk.image)]);
            disk.before = read(&disk.image);
        }
        let before = kept(&disk.image);
        let document = disk.plan(&[]);
        assert!(document["table_change"]["writes"].is_array(), "{document:#}");
        assert_eq!(document["moved_bytes"], 0);
        let dry = disk.run(&["apply", "plan.json", "--dry-run"]);
        assert_eq!(dry.status, Some(0), "{dry:?}");
        assert!(dry.out.contains("straddle apply plan.json --confirm disk.raw"), "{dry:?}");
        assert!(dry.out.contains("\n  note     qcow2 files based on it "), "{dry:?}");
        assert!(disk.is_unchanged() && !disk.file("plan.json.undo").exists());
        let ran = disk.apply(&["plan.json"]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(!disk.is_unchanged());
        accepted(&disk.image);
        assert_eq!(kept(&disk.image), before);
        let data = |bytes: &[u8]| {
            let place = |sector: u64| usize::try_from(sector * 512).expect("short");
            bytes[place(DATA.start)..place(DATA.end)].to_vec()
        };
        assert_eq!(data(&read(&disk.image)), data(&disk.before));
        let check = disk.run(&["check", "disk.raw"]);
        assert_eq!(check.status, Some(0), "{check:?}");
        let again = disk.run(&["plan", "disk.raw", "--json"]);
        assert_eq!(again.document()["changes"], false, "{again:?}");
        let undo = disk.apply(&["--undo", "plan.json.undo"]);
        assert_eq!(undo.status, Some(0), "{undo:?}");
        assert!(disk.is_unchanged(), "{table}");
        let undo = disk.apply(&["--undo", "plan.json.undo"]);
        assert!(undo.status == Some(0) && undo.out.contains("nothing to change"), "{undo:?}");
    }
}

#[test]
fn a_blank_disk_gets_a_table_of_one_partition_and_loses_it_again() {
    need_tools!("sfdisk", "sgdisk", "parted");
    for on in ["512e", "512e,stripe=256Kx3", "4Kn"] {
        let disk = Disk::new("");
        let document = disk.plan(&["--new", "--on", on]);
        assert_eq!(document["partitions"].as_array().map(Vec::len), Some(1));
        let ran = disk.apply(&["plan.json"]);
        assert_eq!(ran.status, Some(0), "{on}: {ran:?}");
        if on != "4Kn" {
            accepted(&disk.image);
        }
        let check = disk.run(&["check", "disk.raw", "--on", on]);
        assert_eq!(check.status, Some(0), "{on}: {check:?}");
        assert!(check.out.contains("1 partition"), "{check:?}");
        let undo = disk.apply(&["--undo", "plan.json.undo"]);
        assert_eq!(undo.status, Some(0), "{undo:?}");
        assert!(disk.is_unchanged());
    }
}

#[test]
fn a_table_is_rewritten_for_4096_byte_sectors_and_back() {
    need_tools!("sfdisk");
    let disk = Disk::new("label: gpt\nstart=2048, size=20480\nstart=40960, size=20480\n");
    let document = disk.plan(&["--on", "4Kn"]);
    assert_eq!(document["sector_bytes"], 4096, "{document:#}");
    let ran = disk.apply(&["plan.json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let check = disk.run(&["check", "disk.raw", "--on", "4Kn"]);
    assert_eq!(check.status, Some(0), "{check:?}");
    assert!(check.out.contains("2 partitions"), "{check:?}");
    assert_eq!(disk.apply(&["--undo", "plan.json.undo"]).status, Some(0));
    assert!(disk.is_unchanged());
}

#[test]
fn an_interrupted_apply_goes_on_and_is_undone_from_anywhere() {
    need_tools!("sfdisk");
    for (table, on) in [(GPT, "512e"), (undone::LOGICAL, "granule=16K")] {
        is_finished_and_undone_from_anywhere(table, on);
    }
}

fn is_finished_and_undone_from_anywhere(table: &str, on: &str) {
    let disk = Disk::new(table);
    let document = disk.plan(&["--on", on]);
    let ran = disk.apply(&["plan.json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let after = read(&disk.image);
    let record = std::fs::read_to_string(disk.file("plan.json.undo")).expect("a record");
    let writes = document["table_change"]["writes"].as_array().expect("writes");
    for count in 0..=writes.len() {
        let mut cut = disk.before.clone();
        for write in &writes[..count] {
            let number = |name: &str| write[name].as_u64().and_then(|at| usize::try_from(at).ok());
            let (at, length) = (number("at_bytes"), number("length_bytes"));
            let range = at.zip(length).map(|(at, length)| at..at + length).expect("a write");
            cut[range.clone()].copy_from_slice(&after[range]);
        }
        for (torn, undo) in [(false, false), (false, true), (true, false), (true, true)] {
            let mut cut = cut.clone();
            if let Some(write) = writes.get(count).filter(|_| torn) {
                // The begin of the write that was cut is new.
                let at = write["at_bytes"].as_u64().and_then(|at| usize::try_from(at).ok());
                let at = at.expect("a write");
                cut[at..at + 20].copy_from_slice(&after[at..at + 20]);
            }
            std::fs::write(&disk.image, &cut).expect("it is written");
            let state = if undo && count % 2 == 1 { "undoing" } else { "writing" };
            let record = record.replace("\"written\"", &format!("\"{state}\""));
            std::fs::write(disk.file("plan.json.undo"), record).expect("it is written");
            let words = if undo { &["--undo", "plan.json.undo"][..] } else { &["plan.json"] };
            let ran = disk.apply(words);
            assert_eq!(ran.status, Some(0), "{count} {torn} {undo}: {ran:?}");
            let wanted = if undo { &disk.before } else { &after };
            assert!(&read(&disk.image) == wanted, "{count} {torn} {undo}");
        }
    }
}

#[test]
fn a_write_that_fails_ends_with_4_and_the_same_command_goes_on() {
    need_tools!("sfdisk");
    let disk = Disk::new(GPT);
    disk.plan(&[]);
    // No byte from half of the image on is written.
    let limited = |words: &[&str]| {
        let script = "ulimit -f 16384; exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_straddle"), "apply"]).args(words);
        let command = command.args(["--confirm", "disk.raw"]).current_dir(disk.scratch.path());
        let ran = Ran::of(command);
        assert_eq!(ran.status, Some(4), "{ran:?}");
        assert!(ran.errors.contains("stopped at the backup GPT"), "{ran:?}");
        assert!(ran.errors.contains("the same command goes on"), "{ran:?}");
    };
    limited(&["plan.json"]);
    assert!(disk.is_unchanged(), "the first write failed");
    assert_eq!(disk.apply(&["plan.json"]).status, Some(0));
    let after = read(&disk.image);
    limited(&["--undo", "plan.json.undo"]);
    let now = read(&disk.image);
    assert!(now != after && now != disk.before, "the primary copy is the old one by now");
    let other = disk.apply(&["plan.json"]);
    assert_eq!(other.status, Some(3), "{other:?}");
    assert!(other.errors.contains("undoing it was interrupted"), "{other:?}");
    assert_eq!(disk.apply(&["--undo", "plan.json.undo"]).status, Some(0));
    assert!(disk.is_unchanged());
}

#[test]
fn an_image_whose_name_begins_with_a_dash_is_confirmed_as_it_is_printed() {
    need_tools!("sfdisk");
    let disk = Disk::new(GPT);
    std::fs::rename(&disk.image, disk.file("-d.raw")).expect("it is renamed");
    let ran = disk.run(&["plan", "./-d.raw", "-o", "plan.json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let ran = disk.run(&["apply", "plan.json", "--dry-run"]);
    assert!(ran.out.contains("--confirm './-d.raw'\n"), "{ran:?}");
    let ran = disk.run(&["apply", "plan.json", "--confirm", "./-d.raw"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
}

#[test]
fn a_dry_run_says_that_the_old_table_cannot_be_saved_and_nothing_is_left_of_either() {
    need_tools!("sfdisk");
    let disk = Disk::new(GPT);
    disk.plan(&[]);
    let names = || std::fs::read_dir(disk.scratch.path()).expect("it is listed").count();
    let before = names();
    for more in [&["--dry-run"][..], &["--confirm", "disk.raw"]] {
        let words = ["apply", "plan.json", "--undo-file", "none/undo"];
        let ran = disk.run(&[&words[..], more].concat());
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.errors.contains("cannot save the old table in none/undo"), "{ran:?}");
    }
    assert_eq!(disk.run(&["apply", "plan.json", "--dry-run"]).status, Some(0));
    assert!(names() == before && disk.is_unchanged());
}
