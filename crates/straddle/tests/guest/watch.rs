//! `straddle watch` on device-mapper and md, which this machine may not have: its counts against
//! the number of direct reads and writes that were made, and the cause that it names.
//!
//! `STRADDLE_GUEST_WATCH` names the result of a run of `guest/run … watch`; without it these tests
//! skip.

use serde_json::Value;

use crate::answer::{list, text};
use crate::answers::Answers;

/// A read or write of so many bytes at an address of a device.
#[derive(Clone, Copy)]
struct Operation {
    is_write: bool,
    start_bytes: u64,
    length_bytes: u64,
}

/// Place of a device's bytes on its disks.
struct Lies {
    /// Bytes that lie on one disk before the next has its turn; 0 where each disk has all.
    chunk_bytes: u64,
    start_bytes: u64,
    disks: Vec<String>,
}

fn run() -> Option<Answers> {
    Answers::named("STRADDLE_GUEST_WATCH", "watch")
}

fn number(word: &str) -> u64 {
    word.parse().expect("it is a number")
}

/// The lines of the file `of` whose first word is `name`, without it.
fn lines<'a>(of: &'a str, name: &str) -> Vec<Vec<&'a str>> {
    let words = of.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    words.filter(|words| words[0] == name).map(|words| words[1..].to_vec()).collect()
}

/// The operations that were made on the device `name`.
fn made(run: &Answers, name: &str) -> Vec<Operation> {
    let loads = run.written("loads");
    let of = |words: Vec<&str>| {
        let [direction, length, start, count] = words[..] else { panic!("{words:?}") };
        let (length_bytes, start_bytes) = (number(length), number(start));
        let is_write = direction == "write";
        (0..number(count)).map(move |index| Operation {
            is_write,
            start_bytes: start_bytes + index * length_bytes,
            length_bytes,
        })
    };
    lines(&loads, name).into_iter().flat_map(of).collect()
}

fn lies(run: &Answers, name: &str) -> Lies {
    let all = run.written("lies");
    let words = lines(&all, name).remove(0);
    Lies {
        chunk_bytes: number(words[0]),
        start_bytes: number(words[1]),
        disks: words[2..].iter().map(|&disk| disk.to_owned()).collect(),
    }
}

impl Lies {
    /// The pieces of `operations` on the disk with this place in the list. A mirror reads from
    /// any disk, so its reads are left out.
    fn on_disk(&self, place: usize, operations: &[Operation]) -> Vec<Operation> {
        let mut found = Vec::new();
        let disks = u64::try_from(self.disks.len()).expect("few");
        for operation in operations {
            let (mut at, end) =
                (operation.start_bytes, operation.start_bytes + operation.length_bytes);
            while at < end {
                let (disk, start_bytes, until) = match self.chunk_bytes {
                    0 => (u64::try_from(place).expect("few"), at, end),
                    chunk => {
                        let index = at / chunk;
                        let start = index / disks * chunk + at % chunk;
                        (index % disks, start, end.min((index + 1) * chunk))
                    }
                };
                if usize::try_from(disk) == Ok(place) {
                    let start_bytes = self.start_bytes + start_bytes;
                    found.push(Operation { start_bytes, length_bytes: until - at, ..*operation });
                }
                at = until;
            }
        }
        found
    }

    fn is_mirror(&self) -> bool {
        self.chunk_bytes == 0 && self.disks.len() > 1
    }
}

/// The first document of a watch, before the loads, and the last, after them.
fn documents(run: &Answers, name: &str) -> [Value; 2] {
    // Told to end; nobody named a time.
    assert_eq!(run.status(name), "143", "{}", run.written(&format!("{name}.err")));
    let text = run.written(&format!("{name}.jsonl"));
    let document = |line: Option<&str>| serde_json::from_str(line.expect("a line")).expect("JSON");
    [document(text.lines().next()), document(text.lines().next_back())]
}

fn device<'a>(document: &'a Value, kernel: &str) -> &'a Value {
    let mut of = list(&document["devices"]).iter().filter(|one| one["name"] == kernel);
    of.next().unwrap_or_else(|| panic!("{kernel} is watched: {document:#}"))
}

fn kernel_name(run: &Answers, serial: &str) -> String {
    let disks = run.written("disks");
    lines(&disks, serial)[0][0].to_owned()
}

/// Asserts that counts of `device` are those of `operations`: all, and those off each size.
#[track_caller]
fn counts_are(device: &Value, operations: &[Operation], with_reads: bool) {
    let kernel = text(&device["name"]);
    let sizes = list(&device["off"]);
    assert!(sizes.iter().any(|size| size["unit_bytes"] == 4096), "{device:#}");
    for size in sizes {
        let unit = size["unit_bytes"].as_u64().expect("bytes");
        let count = |is_write: bool, with_whole: bool| {
            let is_off = |one: &&Operation| {
                let end = one.start_bytes + one.length_bytes;
                with_whole || !one.start_bytes.is_multiple_of(unit) || !end.is_multiple_of(unit)
            };
            let of = operations.iter().filter(|one| one.is_write == is_write);
            u64::try_from(of.filter(is_off).count()).expect("few")
        };
        let writes = (count(true, false), count(true, true));
        let counted = |key: &str| size[key].as_u64().expect("a count");
        assert_eq!((counted("writes"), counted("all_writes")), writes, "{kernel}, off {unit}");
        if with_reads {
            let reads = (count(false, false), count(false, true));
            assert_eq!((counted("reads"), counted("all_reads")), reads, "{kernel}, off {unit}");
        }
        assert_eq!(size["lost"], 0, "{kernel}");
    }
}

/// Asserts that the device `name`, whose kernel name is `top`, and its disks were counted right.
#[track_caller]
fn is_counted(run: &Answers, name: &str, top: &str) {
    let [before, after] = documents(run, name);
    let (operations, lies) = (made(run, name), lies(run, name));
    assert!(operations.len() >= 100);
    let disks = lies.disks.iter().map(|serial| kernel_name(run, serial));
    for (place, disk) in disks.enumerate() {
        counts_are(device(&before, &disk), &[], true);
        let below = lies.on_disk(place, &operations);
        let device = device(&after, &disk);
        assert_eq!(device["counted"], "requests");
        counts_are(device, &below, !lies.is_mirror());
    }
    if !top.is_empty() {
        counts_are(device(&before, top), &[], true);
        let device = device(&after, top);
        assert_eq!(device["counted"], "bios");
        counts_are(device, &operations, true);
    }
}

#[test]
fn a_disk_is_counted_as_it_was_written() {
    let Some(run) = run() else { return };
    is_counted(&run, "plain", "");
}

#[test]
fn device_mapper_one_sector_off_is_counted_above_and_below() {
    let Some(run) = run() else { return };
    is_counted(&run, "linear", "dm-0");
    is_counted(&run, "volume", "dm-1");
}

#[test]
fn raid0_and_raid1_are_counted_above_and_on_each_disk() {
    let Some(run) = run() else { return };
    is_counted(&run, "stripes", "md0");
    is_counted(&run, "mirror", "md1");
}

#[test]
fn a_volume_one_sector_off_is_named_as_the_cause_with_the_process_that_writes() {
    let Some(run) = run() else { return };
    let [_, document] = documents(&run, "volume");
    let top = device(&document, "dm-1");
    assert_eq!((list(&top["writers"]).len(), list(&top["consequences"]).len()), (0, 0));
    let drive = device(&document, &kernel_name(&run, "group"));
    let writers = list(&drive["writers"]);
    assert!(writers.iter().all(|writer| writer["process"] == "dd"), "{writers:#?}");
    assert_eq!(drive["sample"]["writes"], 100);
    let [cause] = list(&drive["consequences"]) else { panic!("one cause: {drive:#}") };
    assert_eq!((&cause["cause"], &cause["offset_bytes"]), (&"shifted".into(), &512.into()));
    assert!(text(&cause["layer"]).contains("volume"), "{cause}");
    // Each write covers two granules in part.
    assert_eq!(drive["extra_reads"], 200);
}

#[test]
fn of_an_array_that_is_named_the_writers_are_sampled_however_many_disks_it_has() {
    let Some(run) = run() else { return };
    let [_, document] = documents(&run, "stripes");
    let array = device(&document, "md0");
    assert_eq!(array["sample"]["writes"], 230);
    let writers = list(&array["writers"]);
    assert!(writers.iter().all(|writer| writer["process"] == "dd"), "{writers:#?}");
    let note = text(&list(&document["notes"])[0]);
    assert!(!note.ends_with("/dev/md0"), "the command that was typed is no advice: {note}");
    assert!(device(&document, &kernel_name(&run, "r0"))["sample"].is_null());
}
