//! Bytes of a partition that its FAT does not use: kept where they are when the FAT is rebuilt, or
//! a reason to leave it alone.

use std::path::PathBuf;

use device::Disk as _;
use testkit::{FileDisk, Scratch, need_tools, scratch, tool};

use super::{read, straddle};

const START: u64 = 2048;
const SECTORS: u64 = 81_920;
const WORD: &[u8; 8] = b"PRECIOUS";

struct Disk {
    scratch: Scratch,
    image: PathBuf,
}

/// A table of `label` with one partition, and a FAT of `kib` KiB in it, made with more `words`.
fn disk(label: &str, kib: u64, words: &[&str]) -> Disk {
    let scratch = Scratch::in_memory().unwrap_or_else(Scratch::new);
    let image = scratch.image("disk.raw", 64 << 20);
    let kind = if label == "gpt" { "U" } else { "c" };
    let table = format!("label: {label}\nstart={START}, size={SECTORS}, type={kind}\n");
    tool::run_with_input("sfdisk", &["-q", scratch::text(&image)], &table);
    let volume = scratch.image("fat", kib << 10);
    let start = START.to_string();
    tool::run("mkfs.fat", &[words, &["-h", &start, scratch::text(&volume)]].concat());
    let file = scratch.file("file", &[7; 100_000]);
    tool::run("mcopy", &["-i", scratch::text(&volume), scratch::text(&file), "::file"]);
    scratch::place(&volume, &image, START * 512);
    Disk { scratch, image }
}

fn put(path: &std::path::Path, at: u64, bytes: &[u8]) {
    let mut file = std::fs::OpenOptions::new().write(true).open(path).expect("it opens");
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(at)).expect("it seeks");
    std::io::Write::write_all(&mut file, bytes).expect("it is written");
}

impl Disk {
    fn run(&self, words: &[&str]) -> testkit::running_program::Ran {
        straddle(self.scratch.path(), words)
    }

    /// Returns whether `image` has [`WORD`] at byte `at`, and a sound FAT with its file.
    fn holds(&self, image: &str, at: u64) -> bool {
        let image = self.scratch.path().join(image);
        let volume = format!("{}@@{}", scratch::text(&image), START * 512);
        let file = tool::output("mtype", &["-i", &volume, "::file"]);
        let word = FileDisk::open(&image).read_array(at).expect("it is read");
        file.stdout == [7; 100_000] && word == *WORD
    }
}

#[test]
fn what_follows_a_fat_in_its_partition_is_kept_in_its_place() {
    need_tools!("sfdisk", "mkfs.fat", "mcopy", "mtype");
    let end = (START + SECTORS) * 512;
    for (label, kib, words) in
        [("gpt", 20_000, &["-F", "16"][..]), ("dos", 18_001, &["-F", "16"]), ("gpt", 19_000, &[])]
    {
        let fat_end = START * 512 + (kib << 10);
        for at in [fat_end, fat_end + 700, (fat_end + end) / 2, end - 512, end - 8] {
            let disk = disk(label, kib, words);
            put(&disk.image, at, WORD);
            let before = read(&disk.image);
            let ran = disk.run(&["convert", "disk.raw", "--sector", "4096", "-o", "4k.raw"]);
            assert_eq!(ran.status, Some(0), "{label} {kib} {at}: {ran:?}");
            assert!(disk.holds("4k.raw", at), "{label} {kib} {at}");
            let ran = disk.run(&["convert", "4k.raw", "--sector", "512", "-o", "back.raw"]);
            assert_eq!(ran.status, Some(0), "{label} {kib} {at}: {ran:?}");
            assert!(disk.holds("back.raw", at), "{label} {kib} {at}");
            let ran = disk.run(&["convert", "disk.raw", "--sector", "4096", "--plan", "p.json"]);
            assert_eq!(ran.status, Some(0), "{label} {kib} {at}: {ran:?}");
            let ran = disk.run(&["apply", "p.json", "--confirm", "disk.raw"]);
            assert_eq!(ran.status, Some(0), "{label} {kib} {at}: {ran:?}");
            assert!(disk.holds("disk.raw", at), "{label} {kib} {at}");
            let ran = disk.run(&["apply", "--undo", "p.json.undo", "--confirm", "disk.raw"]);
            assert_eq!(ran.status, Some(0), "{label} {kib} {at}: {ran:?}");
            assert!(read(&disk.image) == before, "{label} {kib} {at}");
        }
    }
}

#[test]
fn what_follows_the_last_cluster_is_in_no_cluster_of_the_rebuilt_fat() {
    need_tools!("sfdisk", "mkfs.fat", "mcopy", "mtype");
    // Clusters of 32 KiB leave bytes after the last one.
    let (kib, words) = (20_480, ["-a", "-F", "12", "-s", "64", "-R", "1"]);
    let at = START * 512 + (kib << 10) - 9000;
    let disk = disk("gpt", kib, &words);
    put(&disk.image, at, WORD);
    for (from, to, sector) in [("disk.raw", "4k.raw", "4096"), ("4k.raw", "back.raw", "512")] {
        let ran = disk.run(&["convert", from, "--sector", sector, "-o", to]);
        assert_eq!(ran.status, Some(0), "{to}: {ran:?}");
        assert!(disk.holds(to, at), "{to}");
    }
}

#[test]
fn a_fat_with_something_unknown_in_its_reserved_sectors_is_left_alone() {
    need_tools!("sfdisk", "mkfs.fat", "mcopy");
    for (words, sector) in [
        (&["-F", "16", "-R", "16"][..], 1),
        (&["-F", "16", "-R", "16"], 15),
        // The reserved part of FSInfo, code that is none, and a sector without a use.
        (&["-F", "32", "-s", "1"], 1),
        (&["-F", "32", "-s", "1"], 2),
        (&["-F", "32", "-s", "1"], 8),
        (&["-F", "32", "-s", "1"], 12),
        (&["-F", "32", "-s", "1"], 16),
    ] {
        let disk = disk("dos", 40_000, words);
        put(&disk.image, (START + sector) * 512 + 100, WORD);
        let ran = disk.run(&["convert", "disk.raw", "--sector", "4096", "-o", "4k.raw"]);
        assert_eq!(ran.status, Some(3), "{sector}: {ran:?}");
        let reason = format!("something unknown is in its reserved sector {sector}");
        assert!(ran.errors.contains(&reason), "{sector}: {ran:?}");
        assert!(!disk.scratch.path().join("4k.raw").exists());
    }
}
