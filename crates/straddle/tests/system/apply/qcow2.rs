//! Tables of guests' disks in qcow2 images: QEMU's tools look at what was written.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};

use testkit::{need_tools, scratch, tool};

use super::{Disk, GPT, LOGICAL, read};

/// Ways to make an image: its name, and the words for `qemu-img`.
const KINDS: [(&str, &[&str]); 9] = [
    ("plain", &[]),
    ("preallocated", &["-o", "preallocation=metadata"]),
    ("version 2", &["-o", "compat=0.10"]),
    ("compressed", &["-c"]),
    ("counts of 8 bits", &["-o", "refcount_bits=8,cluster_size=4096"]),
    ("clusters of 512 bytes", &["-o", "cluster_size=512"]),
    ("clusters of 4 KiB", &["-c", "-o", "cluster_size=4096"]),
    ("clusters of 2 MiB", &["-o", "cluster_size=2M"]),
    ("backing file", &["-B"]),
];

impl Disk {
    /// Makes disk.qcow2 of the raw image.
    fn make_qcow2(&self, words: &[&str]) {
        let qcow2 = self.file("disk.qcow2");
        let _ = std::fs::remove_file(&qcow2);
        let (raw, name) = (scratch::text(&self.image), scratch::text(&qcow2));
        if words == ["-B"] {
            scratch::copy(&self.image, &self.file("base.raw"));
            let over = ["create", "-q", "-f", "qcow2", "-F", "raw", "-b", "base.raw", name];
            tool::run("qemu-img", &over);
        } else {
            let made = [&["convert", "-f", "raw", "-O", "qcow2"], words, &[raw, name]].concat();
            tool::run("qemu-img", &made);
        }
    }

    /// The guest's bytes; those of a snapshot where one is named.
    fn guest(&self, snapshot: Option<&str>) -> Vec<u8> {
        let (qcow2, copy) = (self.file("disk.qcow2"), self.file("copy.raw"));
        let option = snapshot.map(|name| format!("snapshot.name={name}"));
        let chosen: Vec<&str> = option.iter().flat_map(|option| ["-l", option]).collect();
        let names = ["-O", "raw", scratch::text(&qcow2), scratch::text(&copy)];
        tool::run("qemu-img", &[&["convert"], &chosen[..], &names].concat());
        read(&copy)
    }

    fn is_sound(&self) {
        let qcow2 = self.file("disk.qcow2");
        let said = tool::run("qemu-img", &["check", scratch::text(&qcow2)]);
        assert!(said.contains("No errors were found"), "{said}");
    }

    fn plan_qcow2(&self) {
        for name in ["plan.json", "plan.json.undo"] {
            let _ = std::fs::remove_file(self.file(name));
        }
        let ran = self.run(&["plan", "disk.qcow2", "-o", "plan.json"]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.out.contains("straddle apply plan.json --confirm disk.qcow2"), "{ran:?}");
    }

    fn apply_qcow2(&self, words: &[&str]) -> String {
        let ran = self.run(&[&["apply", "--confirm", "disk.qcow2"], words].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        self.is_sound();
        ran.out
    }

    /// Expects that `plan` or `apply` refuses for `reason` and changes no byte.
    fn refuses_qcow2(&self, reason: &str) {
        let now = read(&self.file("disk.qcow2"));
        let _ = std::fs::remove_file(self.file("plan.json"));
        let mut ran = self.run(&["plan", "disk.qcow2", "-o", "plan.json"]);
        let status = match self.file("plan.json").exists() {
            true => 3,
            false => 5,
        };
        if status == 3 {
            ran = self.run(&["apply", "plan.json", "--confirm", "disk.qcow2"]);
        }
        assert_eq!(ran.status, Some(status), "{reason}: {ran:?}");
        assert!(ran.errors.contains(reason), "{reason}: {ran:?}");
        assert!(read(&self.file("disk.qcow2")) == now, "{reason}");
    }
}

#[test]
fn a_guests_table_is_written_as_that_of_a_raw_image_and_undone_to_the_byte() {
    need_tools!("sfdisk", "qemu-img");
    for table in [GPT, LOGICAL] {
        for (kind, words) in KINDS {
            let disk = Disk::new(table);
            disk.make_qcow2(words);
            disk.plan_qcow2();
            let file = read(&disk.file("disk.qcow2"));
            let dry = disk.run(&["apply", "plan.json", "--dry-run"]);
            assert_eq!(dry.status, Some(0), "{kind}: {dry:?}");
            assert!(read(&disk.file("disk.qcow2")) == file, "{kind}");
            disk.apply_qcow2(&["plan.json"]);
            let after = disk.guest(None);
            let again = disk.run(&["plan", "disk.qcow2", "--json"]);
            assert_eq!(again.document()["changes"], false, "{kind}: {again:?}");
            disk.apply_qcow2(&["--undo", "plan.json.undo"]);
            assert!(disk.guest(None) == disk.before, "{kind}");
            if kind == "backing file" {
                assert!(read(&disk.file("base.raw")) == disk.before);
            }
            std::fs::remove_file(disk.file("plan.json.undo")).expect("the record is there");
            disk.plan(&[]);
            assert_eq!(disk.apply(&["plan.json"]).status, Some(0));
            assert!(read(&disk.image) == after && after != disk.before, "{kind}");
        }
    }
}

#[test]
fn a_blank_image_gets_its_first_table_which_is_undone() {
    need_tools!("sfdisk", "sgdisk", "parted", "qemu-img");
    for words in [&[][..], &["-o", "cluster_size=512"], &["-o", "compat=0.10"], &["-B"]] {
        let disk = Disk::new("");
        disk.make_qcow2(words);
        let new = ["plan", "--new", "disk.qcow2"];
        let shown = disk.run(&new);
        let offer = "\n                straddle plan --new disk.qcow2 -o plan.json\n";
        assert!(shown.out.ends_with(offer), "{shown:?}");
        let ran = disk.run(&[&new[..], &["-o", "plan.json"]].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.out.contains("straddle apply plan.json --confirm disk.qcow2"), "{ran:?}");
        assert!(ran.out.starts_with("disk.qcow2: new table with 1 partition\n"), "{ran:?}");
        assert!(ran.out.contains("  new\n") && !ran.out.contains("->"), "{ran:?}");
        disk.apply_qcow2(&["plan.json"]);
        disk.guest(None);
        let copy = disk.file("copy.raw");
        super::accepted(&copy);
        let table = tool::run("sfdisk", &["--dump", scratch::text(&copy)]);
        assert_eq!(table.lines().filter(|line| line.contains("start=")).count(), 1, "{table}");
        let again = disk.run(&[&new[..], &["-o", "again.json"]].concat());
        assert!(again.errors.contains("found on it: a partition table"), "{again:?}");
        disk.apply_qcow2(&["--undo", "plan.json.undo"]);
        assert!(disk.guest(None) == disk.before, "{words:?}");
    }
    let disk = Disk::new("");
    let name = disk.file("disk.vdi");
    tool::run("qemu-img", &["create", "-q", "-f", "vdi", scratch::text(&name), "32M"]);
    let ran = disk.run(&["plan", "--new", "disk.vdi", "-o", "plan.json"]);
    assert!(ran.errors.contains("lay out a raw image of the same size"), "{ran:?}");
}

#[test]
fn a_plan_for_a_blank_image_is_refused_where_one_page_anywhere_holds_data() {
    need_tools!("qemu-img", "qemu-io");
    let disk = Disk::new("");
    for (name, format) in [("big.qcow2", "qcow2"), ("big.raw", "raw")] {
        let image = disk.file(name);
        tool::run("qemu-img", &["create", "-q", "-f", format, scratch::text(&image), "1G"]);
        // 100 MiB and 300 KiB: `plan` reads the start of each MiB.
        let write = "write -q -P 0x5a 105164800 4096";
        tool::run("qemu-io", &["-f", format, "-c", write, scratch::text(&image)]);
        let before = read(&image);
        let ran = disk.run(&["plan", "--new", name, "-o", "plan.json"]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        for words in [&["-n"][..], &["--confirm", name]] {
            let ran = disk.run(&[&["apply", "plan.json"], words].concat());
            let reason = "the plan is for a blank disk, and it holds data";
            assert!(ran.status == Some(3) && ran.errors.contains(reason), "{ran:?}");
        }
        assert!(read(&image) == before, "{name}");
        std::fs::remove_file(disk.file("plan.json")).expect("it is there");
    }
}

#[test]
fn a_snapshot_keeps_its_table() {
    need_tools!("sfdisk", "qemu-img");
    for words in [&[][..], &["-c"], &["-o", "cluster_size=512"], &["-o", "compat=0.10"]] {
        let disk = Disk::new(GPT);
        disk.make_qcow2(words);
        let qcow2 = disk.file("disk.qcow2");
        for name in ["one", "two"] {
            tool::run("qemu-img", &["snapshot", "-c", name, scratch::text(&qcow2)]);
        }
        disk.plan_qcow2();
        let said = disk.apply_qcow2(&["plan.json"]);
        assert!(said.ends_with("snapshots of the image keep the table that they have\n"), "{said}");
        let after = disk.guest(None);
        assert!(after != disk.before);
        for name in ["one", "two"] {
            assert!(disk.guest(Some(name)) == disk.before, "{words:?}");
        }
        disk.apply_qcow2(&["--undo", "plan.json.undo"]);
        assert!(disk.guest(None) == disk.before);
        // QEMU finds the clusters that each snapshot needs, and no other.
        tool::run("qemu-img", &["snapshot", "-a", "one", scratch::text(&qcow2)]);
        tool::run("qemu-img", &["snapshot", "-d", "one", scratch::text(&qcow2)]);
        tool::run("qemu-img", &["snapshot", "-d", "two", scratch::text(&qcow2)]);
        disk.is_sound();
        assert!(disk.guest(None) == disk.before);
    }
}

/// A process that has an image open until it is dropped.
struct Opened(Child);

impl Drop for Opened {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn an_image_that_qemu_has_open_is_refused_and_unchanged() {
    need_tools!("sfdisk", "qemu-img", "qemu-io");
    for mode in [&[][..], &["-r"]] {
        let disk = Disk::new(GPT);
        disk.make_qcow2(&[]);
        disk.plan_qcow2();
        let qcow2 = disk.file("disk.qcow2");
        let mut command = Command::new("qemu-io");
        command.args(mode).arg(&qcow2).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut opened = Opened(command.spawn().expect("qemu-io starts"));
        let mut input = opened.0.stdin.take().expect("a pipe");
        // It answers when the image is open.
        input.write_all(b"length\n").expect("it is asked");
        let mut line = String::new();
        let mut output = BufReader::new(opened.0.stdout.take().expect("a pipe"));
        output.read_line(&mut line).expect("it answers");
        let before = read(&qcow2);
        for how in [&["--confirm", "disk.qcow2"][..], &["--dry-run"]] {
            let ran = disk.run(&[&["apply", "plan.json"], how].concat());
            assert_eq!(ran.status, Some(3), "{ran:?}");
            assert!(ran.errors.contains("disk.qcow2 is in use: "), "{ran:?}");
        }
        assert!(read(&qcow2) == before && !disk.file("plan.json.undo").exists());
        drop((input, output, opened));
        disk.apply_qcow2(&["plan.json"]);
    }
}

#[test]
fn images_that_are_not_written_say_why_and_what_to_do() {
    need_tools!("sfdisk", "qemu-img");
    let disk = Disk::new(GPT);
    let qcow2 = disk.file("disk.qcow2");
    let name = scratch::text(&qcow2).to_owned();
    for (words, reason) in [
        (&["-o", "extended_l2=on,cluster_size=64K"][..], "subclusters"),
        (&["-c", "-o", "compression_type=zstd"], "zstd"),
        (&["-o", "refcount_bits=4"], "less than 8 bits"),
        (&["-o", "data_file=data.raw"], "in another file"),
    ] {
        let words: Vec<String> = (words.iter())
            .map(|word| word.replace("data.raw", scratch::text(&disk.file("data.raw"))))
            .collect();
        disk.make_qcow2(&words.iter().map(String::as_str).collect::<Vec<_>>());
        disk.refuses_qcow2(reason);
    }
    disk.make_qcow2(&[]);
    tool::run("qemu-img", &["bitmap", "--add", &name, "changed"]);
    disk.refuses_qcow2("it has bitmaps");
    let copy = "test ! -e new.raw && qemu-img convert -O raw disk.qcow2 new.raw";
    disk.refuses_qcow2(copy);
    let typed = |is_made: bool| {
        let done = Command::new("sh").args(["-c", copy]).current_dir(disk.file(".")).status();
        assert_eq!(done.expect("a shell starts").success(), is_made);
        read(&disk.file("new.raw"))
    };
    assert!(typed(true) == read(&disk.image));
    std::fs::write(disk.file("new.raw"), "mine").expect("it is written");
    assert_eq!(typed(false), b"mine", "what is there stays");
    // The dirty bit, and a count that is too low.
    for (at, bytes, reason) in [(79, [1], "marked dirty"), (0x2_0001, [0], "lower than")] {
        disk.make_qcow2(&[]);
        super::put(&qcow2, at, &bytes);
        disk.refuses_qcow2(reason);
        disk.refuses_qcow2("qemu-img check -r all disk.qcow2");
    }
    // What changed after the plan is found again.
    disk.make_qcow2(&[]);
    disk.plan_qcow2();
    super::put(&qcow2, 0x2_0001, &[0]);
    let ran = disk.run(&["apply", "plan.json", "--confirm", "disk.qcow2"]);
    assert!(ran.status == Some(3) && ran.errors.contains("qemu-img check -r all"), "{ran:?}");
    scratch::copy(&disk.image, &qcow2);
    let ran = disk.run(&["apply", "plan.json", "--confirm", "disk.qcow2"]);
    assert!(ran.status == Some(3) && ran.errors.contains("not a qcow2 image"), "{ran:?}");
}

#[test]
fn images_of_other_formats_are_planned_as_their_raw_copies() {
    need_tools!("sfdisk", "qemu-img");
    let disk = Disk::new(GPT);
    for format in ["vdi", "vhdx", "vmdk"] {
        let image = disk.file(&format!("disk.{format}"));
        let names = [scratch::text(&disk.image), scratch::text(&image)];
        tool::run("qemu-img", &["convert", "-O", format, names[0], names[1]]);
        let before = read(&image);
        let _ = std::fs::remove_file(disk.file("plan.json"));
        let planned = disk.run(&["plan", names[1], "-o", "plan.json"]);
        assert_eq!(planned.status, Some(0), "{planned:?}");
        let ran = disk.apply(&["plan.json"]);
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.errors.contains("a raw copy of the image"), "{ran:?}");
        assert!(read(&image) == before);
    }
}
