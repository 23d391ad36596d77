//! Agreement with fio and blkparse on traces. fio writes iologs that we read, and reads those that
//! we write; blkparse prints records that we read ourselves too, and we read what it prints.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testkit::{Scratch, scratch, tool};
use units::DiskText;
use units::random::Random;
use workload::trace::{
    IologWriter, Notes, Skipped, Stage, StreamError, TraceAction, TraceEntry, TraceFormat,
    TraceStream, TraceTarget,
};

type Error = StreamError<std::io::Error>;

/// A stream of the file at `path`.
fn stream(
    path: &Path,
    stage: Stage,
) -> TraceStream<impl FnMut(&mut [u8]) -> std::io::Result<usize>> {
    let mut file = std::fs::File::open(path).expect("the trace is there");
    TraceStream::open(move |buffer: &mut [u8]| std::io::Read::read(&mut file, buffer), stage)
        .expect("it is a trace")
}

/// The entries of the iolog at `path` as fio prints its own: kind, offset, length and file.
fn ours(path: &Path) -> Vec<(u8, u64, u64, String)> {
    let mut stream = stream(path, Stage::default());
    let entries: Vec<TraceEntry> =
        stream.by_ref().collect::<Result<_, Error>>().expect("it is sound");
    let files = stream.reader().files();
    let line = |entry: &TraceEntry| {
        let TraceTarget::File(number) = entry.target else { panic!("{entry:?} is of no file") };
        (
            kind(entry.action),
            entry.offset_bytes,
            entry.length_bytes.into(),
            files[usize::from(number)].to_string(),
        )
    };
    entries.iter().map(line).collect()
}

/// fio's number of an action (`enum fio_ddir`).
fn kind(action: TraceAction) -> u8 {
    match action {
        TraceAction::Read => 0,
        TraceAction::Write { .. } => 1,
        TraceAction::Discard => 2,
        TraceAction::Fsync => 3,
        TraceAction::Fdatasync => 4,
        TraceAction::Flush => panic!("an iolog has no flushes"),
    }
}

/// Returns what fio reads of the iolog at `path`: each operation as it queues it. Syncs have no
/// place.
fn fios(path: &Path) -> Vec<(u8, u64, u64, String)> {
    let log = format!("--read_iolog={}", scratch::text(path));
    let said = tool::run("fio", &["--name=job", "--ioengine=sync", "--debug=io", &log]);
    let mut queued = Vec::new();
    for line in said.lines() {
        let Some((_, fields)) = line.split_once("queue: io_u ") else { continue };
        let field = |name: &str| {
            fields
                .split_once(name)
                .expect("the field is there")
                .1
                .split(',')
                .next()
                .unwrap_or_default()
        };
        let hex = |name: &str| u64::from_str_radix(field(name), 16).expect("it is a number");
        let kind = field("ddir=").parse().expect("it is a number");
        // What follows the file's name on the line may be another message.
        let file = field("file=").split("bad ddir").next().unwrap_or_default();
        let place = if kind < 3 { (hex("off=0x"), hex("len=0x")) } else { (0, 0) };
        queued.push((kind, place.0, place.1, file.to_owned()));
    }
    queued
}

/// Two files of 1 MiB in `scratch`, by their full names.
fn files(scratch: &Scratch) -> [PathBuf; 2] {
    ["first", "second"].map(|name| scratch.image(name, 1 << 20))
}

#[test]
fn what_fio_recorded_we_read_as_fio_does() {
    testkit::need_tools!("fio");
    let scratch = Scratch::new();
    let [first, second] = files(&scratch);
    let log = scratch.path().join("log");
    let both = format!("--filename={}:{}", scratch::text(&first), scratch::text(&second));
    let write_log = format!("--write_iolog={}", scratch::text(&log));
    let job =
        ["--name=job", "--ioengine=sync", "--rw=randrw", "--bsrange=512-16k", "--bs_unaligned"];
    let rest = ["--size=1m", "--number_ios=300", "--fsync=7", "--fdatasync=5", "--randseed=11"];
    let _said = tool::run("fio", &[&job[..], &rest, &[&both, &write_log]].concat());
    let read = ours(&log);
    assert_eq!(read, fios(&log));
    for kind in [0, 1, 3, 4] {
        let count = read.iter().filter(|operation| operation.0 == kind).count();
        assert!(count >= 10, "only {count} operations of kind {kind}");
    }
    let mut again = stream(&log, Stage::default());
    let times: Vec<_> = again.by_ref().map(|entry| entry.unwrap().at_ns.unwrap()).collect();
    assert!(times.is_sorted() && again.reader().notes().unsorted == 0);
    assert_eq!(again.reader().notes().skipped(Skipped::FileManagement), 6);
}

/// A log of `count` operations on two files, written by us.
fn written(format: TraceFormat, names: &[DiskText], random: &mut Random, count: u64) -> String {
    const ACTIONS: [TraceAction; 4] = [
        TraceAction::Read,
        TraceAction::Write { fua: false },
        TraceAction::Fsync,
        TraceAction::Fdatasync,
    ];
    let (mut writer, mut text) = IologWriter::begin(format, names).expect("names are words");
    for number in 0..count {
        let action = *random.choose(&ACTIONS);
        let (length_bytes, offset_bytes) = if action.moves_bytes() {
            (1 + u32::try_from(random.below(16384)).expect("it is small"), random.below(1_000_000))
        } else {
            (0, 0)
        };
        let target = TraceTarget::File(u16::try_from(random.below(2)).expect("it is small"));
        let at_ns = Some(number * 1500);
        let entry = TraceEntry { at_ns, action, target, offset_bytes, length_bytes };
        writer.line(&entry, &mut text).expect("an iolog can say it");
    }
    text + &writer.end()
}

#[test]
fn what_we_write_fio_reads_as_we_do() {
    testkit::need_tools!("fio");
    let mut random = testkit::random(41);
    let scratch = Scratch::new();
    let names = files(&scratch).map(|path| DiskText::from(scratch::text(&path)));
    for format in [TraceFormat::Iolog2, TraceFormat::Iolog3] {
        let text = written(format, &names, &mut random, 200);
        let path = scratch.file("log", text.as_bytes());
        let read = ours(&path);
        assert_eq!((read.len(), &read), (200, &fios(&path)), "{}", format.title());
    }
}

/// Returns how long fio takes for the iolog of these lines.
fn replayed(text: &str) -> Duration {
    let scratch = Scratch::new();
    let name = scratch.image("x", 1 << 20);
    let text = text.replace('x', scratch::text(&name));
    let path = scratch.file("log", text.as_bytes());
    let log = format!("--read_iolog={}", scratch::text(&path));
    let begin = Instant::now();
    let limited =
        ["300", scratch::text(&tool::find("fio").expect("it was asked for")), "--name=job", &log]
            .map(str::to_owned);
    let limited: Vec<&str> = limited.iter().map(String::as_str).collect();
    let _said = tool::run("timeout", &limited);
    begin.elapsed()
}

#[test]
fn times_mean_what_fio_takes_them_for() {
    testkit::need_tools!("fio", "timeout");
    // In version 3 they are microseconds: as milliseconds, this would be 400 seconds.
    let log = "fio version 3 iolog\n1 x add\n2 x open\n3 x write 0 512\n400000 x write 0 512\n";
    assert!(replayed(log) >= Duration::from_millis(390));
    // In version 2 they are milliseconds since the beginning: each after the other, these would be
    // 4000 seconds, and fio is ended before that.
    let waits = "x wait 400 0\n".repeat(10_000);
    let log = format!("fio version 2 iolog\nx add\nx open\nx write 0 512\n{waits}x write 0 512\n");
    assert!(replayed(&log) >= Duration::from_millis(390));
}

#[test]
fn fio_reads_no_trims_and_we_do() {
    testkit::need_tools!("fio");
    let scratch = Scratch::new();
    let [first, _] = files(&scratch);
    let name = scratch::text(&first);
    let log = format!(
        "fio version 3 iolog\n0 {name} add\n0 {name} open\n1 {name} write 0 512\n2 {name} trim 0 512\n"
    );
    let path = scratch.file("log", log.as_bytes());
    let kinds = |operations: &[(u8, u64, u64, String)]| -> Vec<u8> {
        operations.iter().map(|operation| operation.0).collect()
    };
    assert_eq!(kinds(&ours(&path)), [1, 2]);
    assert_eq!(kinds(&fios(&path)), [1]);
}

/// Categories of blktrace at their places in an action.
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const SYNC: u32 = 1 << 19;
const PASSTHROUGH: u32 = 1 << 25;
const AHEAD: u32 = 1 << 27;
const META: u32 = 1 << 28;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;

/// Requests as they may be, with whether they have data.
const REQUESTS: [(u32, bool); 12] = [
    (1 << 16, true),
    (1 << 16 | AHEAD | META, true),
    (WRITE, true),
    (WRITE | SYNC | META, true),
    (WRITE | SYNC | FUA, true),
    (WRITE | FLUSH | SYNC, true),
    (WRITE | FLUSH | SYNC | FUA, true),
    (WRITE | FLUSH | SYNC, false),
    (1 << 16 | FLUSH, false),
    (1 << 16, false),
    (WRITE | DISCARD | SYNC, true),
    (1 << 16 | PASSTHROUGH, true),
];

/// Actions with the category of each: queued, issued, completed, merged, inserted, requeued.
const EVENTS: [u32; 6] =
    [1 | 1 << 20, 7 | 1 << 22, 8 | 1 << 23, 2 | 1 << 20, 12 | 1 << 20, 6 | 1 << 21];

/// The files of as many CPUs as blktrace would write.
struct Recording {
    cpus: Vec<Vec<u8>>,
    sequences: Vec<u32>,
    big: bool,
}

impl Recording {
    fn new(cpus: usize, big: bool) -> Recording {
        Recording { cpus: vec![Vec::new(); cpus], sequences: vec![0; cpus], big }
    }

    /// Adds a record of `cpu`.
    fn add(&mut self, cpu: usize, at_ns: u64, (sector, length_bytes): (u64, u32), action: u32) {
        let is_notice = action & 1 << 26 != 0;
        self.sequences[cpu] += u32::from(!is_notice);
        let sequence = if is_notice { 0 } else { self.sequences[cpu] };
        let behind: &[u8] = match action {
            _ if is_notice => b"fio\0\0\0\0\0\0\0\0\0\0\0\0\0",
            _ if action & PASSTHROUGH != 0 && action & 0xffff != 1 => &[0x12, 0, 0, 0, 0x24, 1],
            _ => &[],
        };
        let fields = [
            (0x6561_7407, 4),
            (sequence.into(), 4),
            (at_ns, 8),
            (sector, 8),
            (length_bytes.into(), 4),
            (action.into(), 4),
            (77, 4),
            (8 << 20 | 16, 4),
            (cpu as u64, 4),
            (0, 2),
            (behind.len() as u64, 2),
        ];
        for (number, bytes) in fields {
            let (little, large) = (number.to_le_bytes(), u64::to_be_bytes(number));
            let field = if self.big { &large[8 - bytes..] } else { &little[..bytes] };
            self.cpus[cpu].extend_from_slice(field);
        }
        self.cpus[cpu].extend_from_slice(behind);
    }

    /// `count` random events on `cpus` CPUs, and the time of the first.
    fn random(random: &mut Random, cpus: usize, big: bool, count: u64) -> (Recording, u64) {
        let mut recording = Recording::new(cpus, big);
        let first_ns = 1_000_000_000_000 + random.below(1 << 40);
        let mut at_ns = first_ns;
        for cpu in 0..cpus {
            recording.add(cpu, at_ns - 1, (0, 0), 1 << 26);
        }
        for _ in 0..count {
            let cpu = usize::try_from(random.below(cpus as u64)).expect("it is small");
            let (request, has_data) = *random.choose(&REQUESTS);
            let sectors = if has_data { 1 + random.below(1 << 12) } else { 0 };
            let length_bytes = u32::try_from(sectors * 512).expect("it is small");
            let sector = below_power(random, 54);
            // Passthrough commands are never merged, and blkparse does not print it if they are.
            let possible = if request & PASSTHROUGH == 0 { EVENTS.len() } else { 3 };
            let event = random.choose(&EVENTS[..possible]);
            recording.add(cpu, at_ns, (sector, length_bytes), request | event);
            at_ns += 1 + below_power(random, 30);
        }
        (recording, first_ns)
    }

    /// Its files in `scratch`, as blktrace names them.
    fn files(&self, scratch: &Scratch) -> Vec<PathBuf> {
        let file =
            |(cpu, bytes): (usize, &Vec<u8>)| scratch.file(&format!("sdb.blktrace.{cpu}"), bytes);
        self.cpus.iter().enumerate().map(file).collect()
    }
}

/// A number of up to `bits` bits, each length as likely.
fn below_power(random: &mut Random, bits: u64) -> u64 {
    let bits = random.below(bits);
    random.below(1 << bits)
}

/// The counts of several notes, added.
fn counts(notes: &[&Notes]) -> [u64; 7] {
    let sum = |count: fn(&Notes) -> u64| notes.iter().map(|notes| count(notes)).sum();
    [
        sum(|notes| notes.entries),
        sum(|notes| notes.queued),
        sum(|notes| notes.issued),
        sum(|notes| notes.completed),
        sum(|notes| notes.skipped(Skipped::OtherEvent)),
        sum(|notes| notes.skipped(Skipped::Passthrough)),
        sum(|notes| notes.skipped(Skipped::NoData)),
    ]
}

#[test]
fn records_say_what_blkparse_prints_of_them() {
    testkit::need_tools!("blkparse");
    let mut random = testkit::random(43);
    for (cpus, big) in [(1, false), (3, false), (4, true)] {
        let (recording, first_ns) = Recording::random(&mut random, cpus, big, 1500);
        let scratch = Scratch::new();
        let paths = recording.files(&scratch);
        let text = scratch.path().join("text");
        let merged = scratch.path().join("merged");
        let (text_name, merged_name) = (scratch::text(&text), scratch::text(&merged));
        let directory = scratch::text(scratch.path());
        let from = ["-D", directory, "-i", "sdb", "-o", text_name, "-d", merged_name];
        let _said = tool::run("blkparse", &from);
        // With elapsed times, and a summary for each program.
        let fuller = scratch.path().join("fuller");
        let from = ["-D", directory, "-i", "sdb", "-o", scratch::text(&fuller), "-t", "-s"];
        let _said = tool::run("blkparse", &from);
        let said = std::fs::read_to_string(&fuller).expect("blkparse wrote it");
        assert!(said.lines().any(|line| line.contains(" + ") && line.contains(") [")));
        for stage in [Stage::Queued, Stage::Issued, Stage::Completed] {
            let mut traces: Vec<_> = paths.iter().map(|path| stream(path, stage)).collect();
            let records = traces.iter_mut().flatten().collect::<Result<Vec<TraceEntry>, Error>>();
            let mut records = records.unwrap();
            records.sort_by_key(|entry| entry.at_ns);
            let notes: Vec<_> = traces.iter().map(|trace| trace.reader().notes()).collect();
            assert!(records.len() > 150, "only {} entries of {stage:?}", records.len());
            assert_eq!(notes.iter().map(|notes| notes.lost).sum::<u64>(), 0);

            let mut printed = stream(&text, stage);
            assert_eq!(printed.format(), TraceFormat::Blkparse);
            let lines: Vec<TraceEntry> = printed.by_ref().collect::<Result<_, Error>>().unwrap();
            let since = |entry: &TraceEntry| entry.at_ns.map(|at_ns| at_ns - first_ns);
            let wanted: Vec<TraceEntry> =
                records.iter().map(|entry| TraceEntry { at_ns: since(entry), ..*entry }).collect();
            assert_eq!(lines, wanted, "{cpus} CPUs, big-endian: {big}, {stage:?}");
            assert_eq!(counts(&[printed.reader().notes()]), counts(&notes));

            let mut full = stream(&fuller, stage);
            let lines: Vec<TraceEntry> = full.by_ref().collect::<Result<_, Error>>().unwrap();
            assert_eq!(lines, wanted, "blkparse -t -s");
            assert_eq!(counts(&[full.reader().notes()]), counts(&notes));

            let merged: Vec<TraceEntry> =
                stream(&merged, stage).collect::<Result<_, Error>>().unwrap();
            assert_eq!(merged, wanted, "blkparse -d");
        }
    }
}
