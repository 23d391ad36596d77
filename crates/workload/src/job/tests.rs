//! Claims about job files, and about what they should not say.

use std::num::NonZeroU32;

use super::{
    Durability, Engine, Job, JobDirection, JobFile, JobLength, JobOrder, RemarkKind, TEXT_BYTES_MAX,
};
use crate::InputError;

fn parse(text: &str) -> Result<JobFile, InputError> {
    JobFile::parse(text, &[])
}

fn told(text: &str, overrides: &[(&str, &str)]) -> Result<JobFile, InputError> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    JobFile::parse(text, &overrides.iter().map(owned).collect::<Vec<_>>())
}

/// The only job of `[j]` with `lines`.
fn job(lines: &str) -> Job {
    let mut file = parse(&format!("[j]\n{lines}\n")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(file.jobs.len(), 1);
    file.jobs.remove(0)
}

/// Checks what is said of `[j]` with `lines`.
#[track_caller]
fn refused(lines: &str, wanted: &str) {
    let said = parse(&format!("[j]\n{lines}\n")).expect_err(lines).to_string();
    assert!(said.contains(wanted), "{said} for {lines}");
}

const LOG: &str = "\
; one write after the other, each flushed
[global]
filename=/dev/nowhere1
runtime=60

[log_writer]
rw=write
bs=4k
size=100G
ioengine=psync
fsync=1
iodepth=1
numjobs=1
new_group=1
";

const CROWD: &str = "\
[global]
directory=/srv/nowhere
size=500m
numjobs=8
iodepth=4
time_based
runtime=10
overwrite=1
ioengine=libaio
bs=4k
group_reporting
direct=1

[crowd]
";

#[test]
fn a_job_of_flushed_writes_is_read_whole_and_without_a_remark() {
    let file = parse(LOG).unwrap();
    assert_eq!(file.remarks, []);
    let job = &file.jobs[0];
    assert_eq!(job.name, "log_writer");
    assert_eq!((job.action, job.order), (JobDirection::Write, JobOrder::Sequential));
    assert_eq!(job.size, Some(JobLength::Bytes(100 << 30)));
    assert_eq!(job.runtime_ns, Some(60_000_000_000));
    assert_eq!((job.fsync_every, job.direct), (NonZeroU32::new(1), false));
    assert_eq!(job.filename.as_deref(), Some("/dev/nowhere1"));
    assert!(job.is_durable());
    assert_eq!(job.title(), "4 KiB write + fsync, depth 1");
}

#[test]
fn eight_clones_at_depth_four_are_thirty_two_operations_at_once() {
    let file = parse(CROWD).unwrap();
    assert_eq!(file.remarks, []);
    let job = &file.jobs[0];
    assert_eq!((job.engine, job.depth, job.numjobs, job.total_depth()), (Engine::Async, 4, 8, 32));
    assert!(job.direct && job.time_based && !job.is_durable());
    assert_eq!(job.title(), "4 KiB direct read, depth 32 (8 jobs x 4)");
    let file = told(CROWD, &[("rw", "write")]).unwrap();
    assert_eq!(file.jobs[0].title(), "4 KiB direct write, depth 32 (8 jobs x 4)");
}

#[test]
fn an_override_stands_in_the_place_of_every_section_and_of_both_names() {
    let text = "[global]\nblocksize=4k\n[a]\nbs=8k\n[b]\nbs=no number\n";
    let file = told(text, &[("bs", "16k"), ("time_based", ""), ("runtime", "5")]).unwrap();
    assert!(file.jobs.iter().all(|job| job.operation_bytes == 16384 && job.time_based));
    let error = told(text, &[("bsx", "1")]).unwrap_err();
    assert!(error.to_string().starts_with("cannot read the job file: --set: "), "{error}");
    assert_eq!(error.hint(), "did you mean bs");
    let file = told("[a]\nnice=3\n[b]\n", &[("nice", "5")]).unwrap();
    assert_eq!(file.remarks.len(), 1);
    assert!(file.remarks[0].to_string().starts_with("--set: not honored: nice=5: "));
    let error = told("[a]\n", &[("bs", "")]).unwrap_err();
    assert!(error.to_string().ends_with("bs needs a value"), "{error}");
}

#[test]
fn global_speaks_for_the_jobs_below_it_only() {
    let file = parse("[a]\n[global]\nbs=8k\n[b]\nbs=1k\n[c]\n[Globalement]\nbs=2k\n[d]\n").unwrap();
    let sizes: Vec<u64> = file.jobs.iter().map(|job| job.operation_bytes).collect();
    assert_eq!(sizes, [4096, 1024, 8192, 2048]);
    assert_eq!(file.remarks[0].kind, RemarkKind::Reading);
}

#[test]
fn a_job_waits_for_those_before_it_by_either_name_of_stonewall() {
    let text = "[a]\nstonewall\n[b]\n[c]\nwait_for_previous\n[d]\nnew_group=1\n[e]\nstonewall=0\n";
    let waits: Vec<bool> = parse(text).unwrap().jobs.iter().map(|job| job.stonewall).collect();
    assert_eq!(waits, [true, false, true, false, false]);
}

#[test]
fn what_is_not_honored_is_named_with_its_value_section_and_line() {
    let file = parse("[global]\nnice=5\n[a]\nrw=randwrite:8\nhipri\nioengine=mmap\n").unwrap();
    let lines: Vec<String> = file.remarks.iter().map(ToString::to_string).collect();
    assert!(lines[0].starts_with("line 2, [global]: not honored: nice=5: "), "{}", lines[0]);
    assert!(lines[1].starts_with("line 4, [a]: not honored: rw=randwrite:8: "), "{}", lines[1]);
    assert!(lines[2].starts_with("line 5, [a]: not honored: hipri: "), "{}", lines[2]);
    assert!(lines[3].starts_with("line 6, [a]: not honored: ioengine=mmap: "), "{}", lines[3]);
}

#[test]
fn a_kib_of_a_thousand_bytes_is_remarked_on() {
    let file = parse("[a]\nbs=4KiB\n").unwrap();
    assert_eq!(file.jobs[0].operation_bytes, 4000);
    assert_eq!(file.remarks[0].kind, RemarkKind::Reading);
    let file = parse("[a]\nbs=4KiB\nkb_base=1000\n").unwrap();
    assert_eq!((file.jobs[0].operation_bytes, file.remarks.len()), (4096, 0));
}

#[test]
fn values_that_fio_reads_otherwise_than_written_are_refused() {
    for lines in
        ["bs= 4k", "bs=4.5k", "runtime=1min", "runtime=0.5s", "bs=-5", "bs=0x1000k", "direct=1x"]
    {
        refused(lines, "as another value than the one written");
    }
}

#[test]
fn the_environment_decides_no_number_and_leaves_names_alone() {
    for lines in ["bs=${SIZE}", "iodepth=$ncpus", "rw=${RW}", "ioengine=${E}", "sync=${S}"] {
        refused(lines, "needs the environment");
    }
    let file = parse("[a]\nfilename=${DISK}\n").unwrap();
    assert_eq!(file.jobs[0].filename.as_deref(), Some("${DISK}"));
    assert!(file.remarks[0].words.contains("environment"));
    refused("include other.fio", "`include other.fio` is not followed");
    assert_eq!(told("[a]\nbs=${SIZE}\n", &[("bs", "8k")]).unwrap().jobs[0].operation_bytes, 8192);
}

#[test]
fn an_error_names_its_line_and_says_what_to_do() {
    let error = parse("[a]\n\nrw=wrte\n").unwrap_err();
    let words = "cannot read the job file: line 3, [a]: `rw=wrte` is not read, write, randread, \
        randwrite, rw, readwrite or randrw";
    assert_eq!(error.to_string(), words);
    let error = parse("[a]\nblocksze=4k\n").unwrap_err();
    assert_eq!(error.hint(), "did you mean blocksize");
    let error = parse("bs=4k\n[a]\n").unwrap_err();
    assert!(error.to_string().contains("is before the first section"), "{error}");
    for text in ["", "[global]\nbs=4k\n", "# nothing\n"] {
        let error = parse(text).unwrap_err();
        assert_eq!(error.to_string(), "cannot read the job file: no job section");
    }
}

#[test]
fn what_no_disk_can_run_is_refused() {
    refused("rw=randtrim", "discards");
    refused("ioengine=rdma", "engine `");
    refused("ioengine=nonesuch", "engine `");
    refused("size=1k", "less than one operation");
    refused("size=0%", "is outside of");
    let many = "[a]\nnumjobs=4096\n[b]\n";
    let error = parse(many).unwrap_err();
    assert!(error.to_string().contains("4097 jobs are more than 4096"), "{error}");
}

#[test]
fn a_synchronous_engine_has_depth_one_and_says_so() {
    let file = parse("[a]\niodepth=16\n").unwrap();
    assert_eq!(file.jobs[0].depth, 1);
    assert_eq!(file.remarks[0].option, "iodepth");
    assert_eq!(job("iodepth=16\nioengine=io_uring").depth, 16);
}

#[test]
fn reads_and_writes_may_differ_in_size() {
    assert_eq!(job("bs=4k,8k,16k\nrw=write").operation_bytes, 8192);
    assert_eq!(job("bs=4k,8k\nrw=read").operation_bytes, 4096);
    let file = parse("[a]\nbs=4k,8k\nrw=randrw\nrwmixwrite=30\n").unwrap();
    assert_eq!(file.jobs[0].operation_bytes, 8192);
    assert_eq!(file.jobs[0].action, JobDirection::Mixed { read_percent: 70 });
    assert_eq!(file.remarks[0].value, "4096,8192");
}

#[test]
fn alignment_follows_the_size_unless_it_is_told() {
    let plain = job("bs=8k\nrw=randwrite");
    assert_eq!(plain.align_bytes, 8192);
    let told = job("bs=4k\nba=512\nrw=randwrite\nsync=dsync\ndirect=1");
    assert_eq!(told.align_bytes, 512);
    assert_eq!(told.durability, Durability::Dsync);
    assert_eq!(told.title(), "4 KiB direct random write + O_DSYNC, depth 1");
    assert!(told.is_durable());
}

#[test]
fn percentages_are_of_the_whole() {
    let job = job("size=25%\noffset=50%");
    assert_eq!(job.size.unwrap().of(u64::MAX), u64::MAX / 4);
    assert_eq!(job.offset.of(1000), 500);
}

#[test]
fn an_offset_in_percent_is_rounded_up_to_an_operation_and_one_in_bytes_is_taken_as_it_is() {
    // fio 3.33 begins at 331776 of a file of 1000000 bytes.
    assert_eq!(job("bs=4k\noffset=33%").offset_bytes(1_000_000), 331_776);
    assert_eq!(job("bs=4k\noffset=50%").offset_bytes(16 << 10), 8 << 10);
    assert_eq!(job("bs=4k\noffset=100%").offset_bytes(u64::MAX), u64::MAX);
    assert_eq!(job("bs=4k\noffset=1536").offset_bytes(1_000_000), 1536);
}

#[test]
fn hostile_text_is_refused_or_read_and_never_more() {
    let long = "x".repeat(5000);
    refused(&format!("name={long}"), "bytes are more than the limit of 4096");
    refused("bs=4\0k", "control characters");
    refused("\u{1b}[31m", "control characters");
    let big = "#".repeat(TEXT_BYTES_MAX + 1);
    assert!(
        parse(&big).unwrap_err().to_string().contains("bytes are more than the limit of 262144")
    );
    for lines in [
        "bs=99999999999999999999",
        "size=99999999999p",
        "runtime=99999999999999d",
        "iodepth=4097",
        "fsync=4294967296",
        "bs=2g",
        "numjobs=0",
    ] {
        refused(lines, "is outside of");
    }
    let deep = "[".repeat(4000) + &"]".repeat(90);
    assert_eq!(parse(&deep).unwrap().jobs.len(), 1);
    let many = "[a]\n".repeat(5000);
    let error = parse(&many).unwrap_err();
    assert!(error.to_string().contains("4097 jobs are more than 4096"), "{error}");
    let hidden = parse("[a\u{202e}]\nnice=\u{202e}\n").unwrap();
    assert!(!hidden.remarks[0].to_string().contains('\u{202e}'));
}

#[test]
fn what_paces_a_job_is_read_for_each_direction_and_remarked_on() {
    let of = |lines: &str| {
        let one = job(lines);
        (one.per_second, one.think_ns)
    };
    assert_eq!(of("rw=write\nrate_iops=100,50"), (Some(50), 0));
    assert_eq!(of("rw=read\nbs=8k\nrate=80k"), (Some(10), 0));
    assert_eq!(of("rw=rw\nrate_iops=100\nrate=1m"), (Some(200), 0));
    assert_eq!(of("rw=read\nthinktime=500"), (None, 500_000));
    assert_eq!(of("rw=read\nthinktime=2ms"), (None, 2_000_000));
    let file = JobFile::parse("[x]\nrw=read\nthinktime=500\n", &[]).unwrap();
    assert_eq!(file.remarks.len(), 1);
    assert!(super::PACES.contains(&file.remarks[0].option.as_str()));
}
