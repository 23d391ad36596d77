//! `straddle convert` as a user runs it, on disks as distributions make theirs.

mod around_fat;
mod in_place;
mod kinds;
mod preflight;
mod refused;

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::running_program::Ran;
use testkit::{Scratch, need_tools, scratch, tool};

use kinds::{KINDS, Kind};

/// A disk of one kind in a directory of its own.
struct Disk {
    scratch: Scratch,
    image: PathBuf,
    kind: &'static Kind,
}

fn straddle(directory: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    Ran::of(command.args(arguments).current_dir(directory).env("LC_ALL", "C.UTF-8"))
}

impl Disk {
    fn run(&self, arguments: &[&str]) -> Ran {
        straddle(self.scratch.path(), arguments)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Every file of the FAT at this byte of an image: path, and content.
    fn files(&self, image: &Path, at: u64) -> Vec<(String, Vec<u8>)> {
        let out = self.file("out");
        let _ = std::fs::remove_dir_all(&out);
        std::fs::create_dir(&out).expect("a directory");
        let volume = format!("{}@@{at}", scratch::text(image));
        tool::run("mcopy", &["-s", "-n", "-Q", "-m", "-i", &volume, "::/", scratch::text(&out)]);
        let mut found = Vec::new();
        walk(&out, "", &mut found);
        found.sort();
        found
    }
}

fn walk(directory: &Path, name: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(directory).expect("it is listed").flatten() {
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.push((name.clone(), Vec::new()));
            walk(&entry.path(), &name, found);
        } else {
            found.push((name, std::fs::read(entry.path()).expect("it is read")));
        }
    }
}

fn read(path: &Path) -> Vec<u8> {
    scratch::sparse_bytes(path)
}

/// Fails where fsck.fat finds anything in the FAT at this range of an image, in MiB.
fn fat_is_sound(disk: &Disk, image: &Path, range: (u64, u64)) {
    let volume = disk.file("volume");
    scratch::copy_range(image, range.0 << 20..(range.0 + range.1) << 20, &volume);
    let ran = tool::output("fsck.fat", &["-n", scratch::text(&volume)]);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(ran.status.success() && said.lines().count() == 2, "{}: {said}", disk.kind.name);
}

#[test]
fn disks_of_every_kind_are_converted_and_back_with_equal_bytes_and_files() {
    need_tools!("sfdisk", "sgdisk", "mkfs.fat", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs");
    need_tools!("mcopy", "fsck.fat");
    for kind in &KINDS {
        let disk = kind.disk();
        let before = read(&disk.image);
        let dry = disk.run(&["convert", "disk.raw", "--sector", "4096", "--dry-run"]);
        assert_eq!(dry.status, Some(0), "{}: {dry:?}", kind.name);
        assert!(dry.out.contains("rebuilt with"), "{dry:?}");
        for (from, to, sector) in [("disk.raw", "4k.raw", "4096"), ("4k.raw", "back.raw", "512")] {
            let ran = disk.run(&["convert", from, "--sector", sector, "-o", to]);
            assert_eq!(ran.status, Some(0), "{}: {ran:?}", kind.name);
            let image = disk.file(to);
            let bytes = read(&image);
            assert!(bytes.len().is_multiple_of(sector.parse().expect("a size")));
            for &(start, length) in kind.kept {
                let range = usize::try_from(start << 20).expect("few")
                    ..usize::try_from((start + length) << 20).expect("few").min(kind.data_end());
                assert!(bytes[range.clone()] == before[range], "{} at {start} MiB", kind.name);
            }
            let (at, _) = kind.fat;
            assert_eq!(
                disk.files(&image, at << 20),
                disk.files(&disk.image, at << 20),
                "{}",
                kind.name
            );
            fat_is_sound(&disk, &image, kind.fat);
            let on = if sector == "512" { "512n" } else { "4Kn" };
            let ran = disk.run(&["check", to, "--on", on, "--fail-on", "error"]);
            assert_eq!(ran.status, Some(0), "{}: {ran:?}", kind.name);
            let again = disk.run(&["convert", to, "--sector", sector, "--dry-run"]);
            assert!(again.out.contains("nothing to do"), "{}: {again:?}", kind.name);
        }
        assert!(read(&disk.image) == before, "the source is only read");
        let partitions = |image: &str| -> Vec<String> {
            let text = tool::run("sfdisk", &["--dump", scratch::text(&disk.file(image))]);
            let rows = text.lines().filter(|line| line.contains("start="));
            rows.map(|row| row.replace(image, "")).collect()
        };
        let (old, new) = (partitions("disk.raw"), partitions("back.raw"));
        assert_eq!(old.len(), new.len(), "{}", kind.name);
        let differ = old.iter().zip(&new).filter(|(old, new)| old != new).count();
        assert_eq!(differ, usize::from(kind.has_odd_end), "{}: {old:?} {new:?}", kind.name);
    }
}

#[test]
fn the_json_of_a_conversion_says_what_the_screen_says() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "mdel");
    let disk = KINDS[0].disk();
    let asked = |from: &str, more: &[&str]| {
        let ran = disk.run(&[&["convert", from, "--sector", "4096", "--json"], more].concat());
        (ran.document(), ran.status)
    };
    let (dry, status) = asked("disk.raw", &["--dry-run"]);
    assert_eq!((&dry["schema"], status), (&"straddle.convert/1".into(), Some(0)));
    assert_eq!((&dry["state"], &dry["output"]), (&"planned".into(), &serde_json::Value::Null));
    let (done, _) = asked("disk.raw", &["-o", "4k.raw"]);
    assert_eq!((&done["state"], &done["output"]), (&"converted".into(), &"4k.raw".into()));
    assert!(done["written_bytes"].as_u64() > Some(1 << 20), "{done:#}");
    assert_eq!(done["partitions"], dry["partitions"]);
    assert_eq!(done["limits"][0]["code"], "ST307", "{done:#}");
    let (at, length) = KINDS[0].fat;
    let rows = done["partitions"].as_array().expect("partitions");
    let esp = rows.iter().find(|row| !row["rebuilt"].is_null()).expect("the ESP");
    for (name, mib) in [("start_sectors", at), ("length_sectors", length)] {
        assert_eq!(esp[name], mib * 256, "{esp:#}");
        assert_eq!(esp[&format!("old_{name}")], mib * 2048, "{esp:#}");
    }
    let (again, status) = asked("4k.raw", &["--dry-run"]);
    assert_eq!((&again["state"], status), (&"unchanged".into(), Some(0)));
    let (refused, status) = asked("disk.raw", &["-o", "4k.raw"]);
    assert_eq!((&refused["state"], status), (&serde_json::Value::Null, Some(3)));
    assert_eq!(refused["refusal"]["kind"], "safety");
    let schema = include_str!("../../../report/schema/straddle.convert.1.schema.json");
    let schema = serde_json::from_str(schema).expect("a schema");
    for document in [dry, done, again, refused] {
        assert_eq!(testkit::schema::faults(&schema, &document), [""; 0]);
    }
}

#[test]
fn a_qcow2_image_with_a_backing_file_is_converted_into_the_same_raw_image() {
    need_tools!("sfdisk", "mkfs.fat", "mkfs.ext4", "mcopy", "qemu-img");
    let disk = KINDS[0].disk();
    let name = scratch::text(&disk.image);
    let [base, top] = ["base.qcow2", "top.qcow2"].map(|name| disk.file(name));
    let (base, top) = (scratch::text(&base), scratch::text(&top));
    tool::run("qemu-img", &["convert", "-c", "-O", "qcow2", name, base]);
    tool::run("qemu-img", &["create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", base, top]);
    for (from, to) in [("disk.raw", "one.raw"), ("top.qcow2", "other.raw")] {
        let ran = disk.run(&["convert", from, "--sector", "4096", "-o", to]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
    assert!(read(&disk.file("one.raw")) == read(&disk.file("other.raw")));
}

#[test]
fn converted_disks_are_accepted_on_4096_byte_sectors_and_converted_back_on_512() {
    testkit::need_loops!();
    need_tools!("sfdisk", "sgdisk", "mkfs.fat", "mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mcopy");
    need_tools!("e2fsck", "xfs_repair", "btrfs", "fsck.fat", "mount", "umount");
    for kind in &KINDS {
        let disk = kind.disk();
        for (from, to, sector) in [("disk.raw", "4k.raw", 4096), ("4k.raw", "back.raw", 512)] {
            let ran = disk.run(&["convert", from, "--sector", &sector.to_string(), "-o", to]);
            assert_eq!(ran.status, Some(0), "{}: {ran:?}", kind.name);
            let device = testkit::Loop::attach(&disk.file(to), sector);
            let name = scratch::text(device.path());
            let verify = tool::output("sfdisk", &["--verify", name]);
            assert!(verify.status.success(), "{}: {verify:?}", kind.name);
            if kind.is_gpt {
                let said = tool::run("sgdisk", &["-v", name]);
                assert!(said.contains("No problems found"), "{}: {said}", kind.name);
            }
            for &(number, checker) in kind.systems {
                let part = device.partition(number);
                let part = scratch::text(&part);
                let words: &[&str] = match checker {
                    "e2fsck" => &["-fn", part],
                    "btrfs" => &["check", part],
                    _ => &["-n", part],
                };
                let ran = tool::output(checker, words);
                assert!(ran.status.success(), "{} {checker}: {ran:?}", kind.name);
                let point = disk.file("point");
                std::fs::create_dir_all(&point).expect("a directory");
                let point = scratch::text(&point);
                let mounted = tool::output("mount", &["-o", "ro", part, point]);
                // A kernel without the file system says nothing of the disk.
                if mounted.status.success() {
                    tool::run("umount", &[point]);
                } else {
                    let said = String::from_utf8_lossy(&mounted.stderr).into_owned();
                    assert!(said.contains("unknown filesystem"), "{} {checker}: {said}", kind.name);
                }
            }
        }
    }
}
