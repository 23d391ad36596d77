//! One disk that two tools formatted, the second without wiping the first: the verdict is that of
//! the content that libblkid names, or unknown where tools disagree.
//!
//! With `STRADDLE_SOAK` set, every ordered pair is judged.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use device::disk::read_vec;
use device::pack;
use testkit::{Scratch, need_tools, tool};

use super::run::{check, text};

/// Heads of disks that real tools made: the files of `crates/format/tests/heads`.
const HEADS: [&str; 26] = [
    "bcache-backing",
    "bcache-cache",
    "bsd",
    "btrfs",
    "erofs",
    "exfat",
    "ext2",
    "ext4",
    "f2fs",
    "fat12",
    "fat16",
    "fat32",
    "gpt",
    "gpt-hybrid",
    "iso9660",
    "jfs",
    "luks1",
    "luks2",
    "mbr",
    "minix",
    "nilfs2",
    "ntfs",
    "reiserfs",
    "squashfs",
    "swap",
    "xfs",
];

/// Pairs that are judged each day.
const PAIRS: usize = 60;

/// The names that `blkid -p` has for an image's content; `None` where it is ambivalent.
fn names(image: &Path) -> Option<Vec<String>> {
    let output = tool::output("blkid", &["-p", "-o", "export", text(image)]);
    if output.status.code() == Some(8) {
        return None;
    }
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    let name =
        |line: &str| line.strip_prefix("TYPE=").or(line.strip_prefix("PTTYPE=")).map(str::to_owned);
    Some(lines.lines().filter_map(name).collect())
}

fn verdict(image: &Path) -> String {
    check(&[text(image)]).target["verdict"].as_str().expect("a word").to_owned()
}

/// A disk on which the heads were written one after another.
fn disk(scratch: &Scratch, heads: &[&str]) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../format/tests/heads");
    let path = scratch.file("disk.raw", b"");
    let file = fs::OpenOptions::new().write(true).open(&path).expect("it opens");
    for head in heads {
        let packed = fs::read(folder.join(format!("{head}.pack"))).expect("the head is there");
        let disk = pack::unpack(&packed).expect("it is packed");
        let length = device::Disk::length_bytes(&disk);
        let longest = file.metadata().expect("it is open").len().max(length);
        file.set_len(longest).expect("sparse");
        for range in pack::ranges(&packed) {
            let (at, bytes) = (range.start_bytes(), range.length_bytes());
            let bytes = read_vec(&disk, at, bytes).expect("in memory");
            file.write_all_at(&bytes, at).expect("it is written");
        }
    }
    path
}

/// One head alone.
struct Single {
    names: Vec<String>,
    verdict: String,
}

/// The verdicts that a pair may have.
fn allowed<'s>(old: &'s Single, new: &'s Single, names: Option<&[String]>) -> Vec<&'s str> {
    let is_named = |one: &Single| {
        let mut own = one.names.iter();
        names.is_some_and(|names| own.any(|name| names.contains(name)))
    };
    // Of a LUKS2 header that was written over the second copy is left, which cryptsetup uses only
    // where nothing else is recognized.
    let is_copy = old.names.iter().any(|name| name == "crypto_LUKS");
    let is_either = match names {
        Some(_) => !is_named(old) && !is_named(new),
        None => old.verdict == new.verdict,
    };
    let mut verdicts = vec!["unknown"];
    verdicts.extend((is_either || is_named(old)).then_some(old.verdict.as_str()));
    verdicts.extend((is_either || is_named(new) || is_copy).then_some(new.verdict.as_str()));
    if names.is_none() && is_either {
        verdicts.retain(|verdict| *verdict == new.verdict);
    }
    verdicts
}

#[test]
fn two_contents_of_a_disk_have_the_verdict_of_the_one_that_libblkid_names_or_none() {
    need_tools!("blkid");
    let mut random = testkit::random(0xc0de);
    let scratch = Scratch::new();
    let mut singles: BTreeMap<&str, Single> = BTreeMap::new();
    for head in HEADS {
        let image = disk(&scratch, &[head]);
        let names = names(&image).expect("one content");
        singles.insert(head, Single { names, verdict: verdict(&image) });
    }
    let pairs = HEADS.iter().flat_map(|old| HEADS.iter().map(move |new| (*old, *new)));
    // Some ISOs are made to be a BSD's disk, too.
    let is_meant =
        |old: &str, new: &str| [old, new].iter().all(|it| ["bsd", "iso9660"].contains(it));
    let mut pairs: Vec<(&str, &str)> =
        pairs.filter(|(old, new)| !is_meant(old, new) && old != new).collect();
    random.shuffle(&mut pairs);
    if std::env::var_os("STRADDLE_SOAK").is_none() {
        pairs.truncate(PAIRS);
    }
    let mut wrong = Vec::new();
    for (old, new) in pairs {
        let image = disk(&scratch, &[old, new]);
        let names = names(&image);
        let verdict = verdict(&image);
        let allowed = allowed(&singles[old], &singles[new], names.as_deref());
        if !allowed.contains(&verdict.as_str()) {
            wrong.push(format!("{new} over {old}: {verdict}; blkid {names:?}, {allowed:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
