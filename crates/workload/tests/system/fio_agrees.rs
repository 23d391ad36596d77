//! fio's reading of job files against ours. What we accept, fio accepts, and reads as the same
//! numbers; what we refuse and fio accepts is listed with the reason.

use std::process::Output;

use testkit::{Scratch, scratch, tool};
use units::random::Random;
use workload::InputError;
use workload::job::not_honored::NAMED;
use workload::job::option::OPTIONS;
use workload::job::{Job, JobFile, JobLength};

/// The fio whose options our tables list.
const VERSION: &str = "fio-3.33";

/// Answer of fio to `text`: whether it accepts it, and what it prints while it parses.
struct Said {
    accepts: bool,
    debug: String,
}

fn fio(text: &str) -> Said {
    let scratch = Scratch::new();
    let path = scratch.file("job.fio", text.as_bytes());
    let Output { status, stdout, stderr } =
        tool::output("fio", &["--debug=parse", "--parse-only", scratch::text(&path)]);
    let debug = String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned();
    Said { accepts: status.success(), debug }
}

/// One file of many jobs, each with lines that we accept.
fn together(jobs: &[String]) -> Said {
    let sections = jobs.iter().enumerate();
    fio(&sections
        .map(|(number, lines)| {
            format!(
                "[j{number}]
{lines}
"
            )
        })
        .collect::<String>())
}

impl Said {
    /// The number that fio made of `option` in job `number` of a file made by [`together`].
    fn number(&self, number: usize, option: &str) -> Option<u64> {
        let (_, rest) = self.debug.split_once(&format!(
            "Parsing section [j{number}]
"
        ))?;
        let job = rest.split("Parsing section").next()?;
        let (_, rest) = job.rsplit_once(&format!("__handle_option={option}, "))?;
        let (_, number) = rest.split_once("ret=0, out=")?;
        number.split_whitespace().next()?.parse().ok()
    }
}

fn ours(text: &str) -> Result<Job, InputError> {
    JobFile::parse(text, &[]).map(|mut file| file.jobs.remove(0))
}

/// Lines of a job that both accept or both refuse.
const SAME: &[&str] = &[
    "rw=read",
    "rw=write",
    "rw=randread",
    "rw=randwrite",
    "rw=rw",
    "readwrite=readwrite",
    "rw=randrw",
    "rw=randwrite:8",
    "rw=wrte",
    "rw= write",
    "rw=write ",
    "rw=WRITE",
    "RW=write",
    "rw",
    "rw=",
    "bs=4k",
    "blocksize=4K",
    "bs=4kb",
    "bs=4KiB",
    "bs=1m",
    "bs=0",
    "bs=",
    "bs",
    "bs=k",
    "bs=4k,8k",
    "bs=4k,",
    "bs=4k,,8k",
    "bs =4k",
    " \tbs=4k",
    "bs=4k # eight",
    "bs=4k;8k",
    "bs=0x1000",
    "bs=+4k",
    "bs=(2*1024)",
    "bs=99999999999999999999",
    "kb_base=1000\nbs=4KiB",
    "bs=4KiB\nkb_base=1000",
    "kb_base=500",
    "ba=512",
    "blockalign=1k,512",
    "ba=0",
    "size=1g",
    "size=50%",
    "offset=4k",
    "offset=50%",
    "fileoffset=1m",
    "direct=1",
    "direct=0",
    "direct=2",
    "direct",
    "direct=",
    "direct=yes",
    "direct= 1",
    "buffered=0",
    "sync=none",
    "sync=0",
    "sync=1",
    "sync=sync",
    "sync=dsync",
    "sync=2",
    "sync",
    "sync=",
    "sync=dsyncx",
    "fsync=1",
    "fdatasync=32",
    "fsync=1k",
    "fsync=x",
    "end_fsync=1",
    "iodepth=8\nioengine=libaio",
    "iodepth=0",
    "iodepth=x",
    "numjobs=8",
    "runtime=10",
    "runtime=10s",
    "timeout=5m",
    "runtime=1h",
    "runtime=500ms",
    "runtime=100us",
    "runtime=100usec",
    "runtime=100msec",
    "runtime=2d",
    "runtime=",
    "runtime",
    "time_based",
    "time_based=1",
    "time_based=0",
    "time_based=",
    "time_based=yes",
    "loops=3",
    "thread",
    "overwrite=1",
    "overwrite",
    "new_group",
    "new_group=1",
    "group_reporting",
    "stonewall",
    "stonewall=1",
    "wait_for_previous",
    "randrepeat=0",
    "randrepeat=2",
    "randseed=7",
    "randseed=0x89",
    "randseed=abc",
    "norandommap",
    "norandommap=1",
    "name=other",
    "name=",
    "name",
    "description=words of any kind",
    "rwmixread=70\nrw=rw",
    "rwmixread=101",
    "rwmixwrite=30",
    "ioengine=psync",
    "ioengine=sync",
    "ioengine=vsync",
    "ioengine=pvsync",
    "ioengine=pvsync2",
    "ioengine=libaio",
    "ioengine=io_uring",
    "ioengine=posixaio",
    "ioengine=mmap",
    "ioengine=null",
    "ioengine=io_uring\nhipri",
    "hipri\nioengine=io_uring",
    "filename=/nowhere/at all",
    "filename=",
    "nice=5",
    "bogus=1",
    "bogus",
    "=1",
    "exitall",
    "zero_buffers",
    "write_lat_log=log",
    "ramp_time",
    "[",
    "\u{feff}bs=4k",
    "iodepth=${NO_SUCH_NAME}",
];

/// Lines that fio accepts and we refuse, with the reason.
const STRICTER: &[(&str, &str)] = &[
    ("bs= 4k", "fio reads 4 bytes"),
    ("bs=4 k", "fio reads 4 bytes"),
    ("bs=4.5k", "fio reads 4 bytes"),
    ("bs=1e3", "fio reads 1 byte"),
    ("bs=4x", "fio reads 4 bytes"),
    ("bs=2*1024", "fio reads 2 bytes"),
    ("bs=-5", "fio reads 16 EiB"),
    ("bs=4kx", "the x is dropped"),
    ("bs=4ki", "the i is dropped"),
    ("bs=4k-8k", "a range of sizes is not offered"),
    ("bs=,8k", "reads and writes need a size each"),
    ("bs=0x1000k", "the k is dropped"),
    ("bs=4k=8k", "the rest is dropped"),
    ("bs=2g", "no operation is that long"),
    ("bs=$pagesize", "the machine is not asked"),
    ("iodepth=$ncpus", "the machine is not asked"),
    ("iodepth=5000\nioengine=libaio", "no queue is that deep"),
    ("runtime=1min", "fio reads 1 microsecond"),
    ("runtime=1sec", "fio reads 1 microsecond"),
    ("runtime=0.5s", "fio reads 0"),
    ("runtime=1h30m", "fio reads 1 microsecond"),
    ("runtime= 1s", "only some blanks are harmless"),
    ("runtime=-1", "fio reads a time without end"),
    ("direct=1x", "the x is dropped"),
    ("direct=-1", "it is neither 0 nor 1"),
    ("rw=write,read", "what follows the comma is dropped"),
    ("fsync=5000000000", "fio keeps the low 32 bits"),
    ("fsync=1,2", "what follows the comma is dropped"),
    ("rwmixread=30%", "fio reads a negative number"),
    ("numjobs=0", "fio runs nothing"),
    ("numjobs=5000", "fio stops when it runs it"),
    ("loops=0", "it says nothing"),
    ("size=0", "fio stops when it runs it"),
    ("size=101%", "there is no more than the whole"),
    ("size=1k", "fio stops when it runs it: less than one operation"),
    ("size=3z", "zones are not offered"),
    ("rw=trim", "discards are never sent"),
    ("ioengine=bogus", "fio stops when it runs it"),
    ("ioengine=net", "it is no disk"),
    ("[]", "a job needs a name"),
    ("[open", "fio takes `ope` for the name"),
    ("[a]b", "fio takes `a]` for the name"),
    ("[a;b]", "fio takes the empty name"),
];

/// Lines that fio refuses and we accept, with the reason.
const LOOSER: &[(&str, &str)] = &[
    ("hipri", "which engine has an option is not checked: it is not honored"),
    ("nice=words", "values of what is not honored are not read"),
];

fn text(lines: &str) -> String {
    format!("[j]\n{lines}\n")
}

#[test]
fn both_accept_and_both_refuse_the_same_lines() {
    testkit::need_tools!("fio");
    let (good, bad): (Vec<&str>, Vec<&str>) =
        SAME.iter().partition(|lines| ours(&text(lines)).is_ok());
    let good: Vec<String> = good.into_iter().map(ToOwned::to_owned).collect();
    let said = together(&good);
    assert!(said.accepts, "fio refuses what we accept: {}", said.debug);
    for lines in &bad {
        assert!(!fio(&text(lines)).accepts, "fio accepts {lines}: {:?}", ours(&text(lines)));
    }
    assert!(good.len() > 80 && bad.len() > 30, "{} accepted, {} refused", good.len(), bad.len());
}

#[test]
fn each_difference_is_known_and_has_its_reason() {
    testkit::need_tools!("fio");
    for (lines, why) in STRICTER {
        assert!(ours(&text(lines)).is_err(), "we accept {lines}; {why}");
        assert!(fio(&text(lines)).accepts, "fio refuses {lines}; {why}");
    }
    for (lines, why) in LOOSER {
        assert!(ours(&text(lines)).is_ok(), "we refuse {lines}; {why}");
        assert!(!fio(&text(lines)).accepts, "fio accepts {lines}; {why}");
    }
}

/// Our reading of an option, as the number that fio prints.
type Read = fn(&Job) -> u64;

/// Options whose numbers are compared, with what must stand beside them.
const NUMBERS: [(&str, &str, Read); 6] = [
    ("bs", "", |job| job.operation_bytes),
    ("offset", "", |job| match job.offset {
        JobLength::Bytes(bytes) => bytes,
        // fio marks a percentage by its complement.
        JobLength::Percent(percent) => u64::MAX - u64::from(percent),
    }),
    ("runtime", "", |job| job.runtime_ns.unwrap_or(0) / 1000),
    ("iodepth", "ioengine=io_uring\n", |job| job.depth.into()),
    ("numjobs", "", |job| job.numjobs.into()),
    ("fsync", "", |job| job.fsync_every.map_or(0, std::num::NonZeroU32::get).into()),
];

/// A value that may be a number.
fn value(random: &mut Random) -> String {
    const HEADS: [&str; 8] = ["", "", "", "", " ", "+", "-", "0x"];
    const DIGITS: [&str; 10] = ["1", "4", "8", "10", "16", "100", "512", "4096", "007", ""];
    const TAILS: [&str; 24] = [
        "", "", "", "", "k", "K", "m", "M", "g", "kb", "KB", "kib", "MiB", "KiB", "b", "s", "ms",
        "us", "h", "d", "%", "x", " k", ".5",
    ];
    const BASES: [&str; 3] = ["", "\nkb_base=1000", "\nkb_base=1024"];
    let parts = [&HEADS[..], &DIGITS, &TAILS, &BASES];
    parts.iter().map(|choices| *random.choose(choices)).collect()
}

#[test]
fn a_number_that_we_accept_is_fio_s_number() {
    testkit::need_tools!("fio");
    let mut random = testkit::random(31);
    let (mut jobs, mut numbers) = (Vec::new(), Vec::new());
    for _ in 0..2000 {
        let (option, beside, read) = *random.choose(&NUMBERS);
        let lines = format!("{beside}{option}={}", value(&mut random));
        if let Ok(job) = ours(&text(&lines)) {
            jobs.push(lines);
            numbers.push((option, read(&job)));
        }
    }
    assert!(jobs.len() > 300, "only {} of 2000 were accepted", jobs.len());
    let said = together(&jobs);
    assert!(said.accepts, "fio refuses what we accept: {}", said.debug);
    for (number, (option, read)) in numbers.into_iter().enumerate() {
        assert_eq!(Some(read), said.number(number, option), "{}", jobs[number]);
    }
}

#[test]
fn whole_files_are_accepted_by_both() {
    testkit::need_tools!("fio");
    for file in ["seeds/job/log.fio", "seeds/job/crowd.fio"] {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(file);
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(JobFile::parse(&text, &[]).map(|file| file.remarks), Ok(Vec::new()));
        // fio looks for the directory; the rest is its own to judge.
        let text = text.replace("directory=/srv/nowhere", "directory=/");
        assert!(fio(&text).accepts, "{file}");
    }
}

#[test]
fn the_tables_hold_every_option_of_fio_and_no_other() {
    testkit::need_tools!("fio");
    let version = tool::run("fio", &["--version"]);
    if version.trim() != VERSION {
        return testkit::skip(&format!("the tables are those of {VERSION}, not of {version}"));
    }
    let mut theirs = listed(&tool::run("fio", &["--cmdhelp"]));
    for engine in ["libaio", "io_uring", "pvsync2"] {
        theirs.extend(listed(&tool::run("fio", &[&format!("--enghelp={engine}")])));
    }
    let ours = || {
        let named = NAMED.iter().flat_map(workload::job::not_honored::OptionGroup::names);
        OPTIONS.iter().flat_map(|row| row.names()).chain(named)
    };
    for name in &theirs {
        assert!(ours().any(|own| own == name), "{name} is in no table");
    }
    for own in ours() {
        let known = theirs.iter().any(|name| name == own) || has_help(own);
        assert!(known, "fio has no option {own}");
        assert_eq!(ours().filter(|other| *other == own).count(), 1, "{own} stands twice");
    }
}

/// The names in a list of `name : what it is`.
fn listed(help: &str) -> Vec<String> {
    let names = help.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    names.filter(|name| !name.is_empty() && !name.contains(' ')).map(ToOwned::to_owned).collect()
}

fn has_help(name: &str) -> bool {
    let output = tool::output("fio", &[&format!("--cmdhelp={name}")]);
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    !said.contains("No such command")
}
