//! fio's shape against fio itself: each key that fio writes is written, or left out for a reason.

use std::collections::BTreeSet;

use measure::{CostVerdict, Role};
use report::bench::{
    Arm, BENCH_SCHEMA, Bench, BenchTarget, Experiment, OperationDirection, Sync, Workload,
    WorkloadOrder, fio_json,
};
use report::fsync::fsync_fio_json;
use serde_json::Value;
use testkit::{need_tools, tool};

use crate::made::fsync::plain;
use crate::made::sample::envelope;

/// Keys of fio that we do not write, and why. A key that fio does not write is an error here, so
/// that the list stays true.
const LEFT_OUT: [(&str, &[&str], &str); 5] = [
    (
        "a direction",
        &[
            "bw_min",
            "bw_max",
            "bw_agg",
            "bw_mean",
            "bw_dev",
            "bw_samples",
            "iops_min",
            "iops_max",
            "iops_mean",
            "iops_stddev",
            "iops_samples",
        ],
        "no samples over time are taken: the pairs are the samples, and their ratio has an interval",
    ),
    ("a direction", &["short_ios", "drop_ios"], "a short I/O voids the arm; none is resumed"),
    ("a job", &["usr_cpu", "sys_cpu", "ctx", "majf", "minf"], "arms share one process"),
    (
        "a job",
        &[
            "eta",
            "elapsed",
            "job_runtime",
            "iodepth_level",
            "iodepth_submit",
            "iodepth_complete",
            "latency_depth",
            "latency_target",
            "latency_percentile",
            "latency_window",
        ],
        "arms alternate: they have no time line, and no latency target",
    ),
    (
        "a drive",
        &["read_merges", "write_merges", "read_ticks", "write_ticks", "in_queue", "util"],
        "merges are not told apart, and times are not counted for each arm",
    ),
];
/// Keys of ours that fio does not write here, and why.
const ADDED: [(&str, &[&str], &str); 2] = [
    ("a job", &["straddle"], "which arm it is, and the ratio with its interval"),
    ("a run", &["global options"], "fio writes it where there is a global section"),
];

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[track_caller]
fn check(what: &str, fio: &Value, ours: &Value) {
    let listed = |list: &[(&str, &'static [&'static str], &str)]| -> BTreeSet<&'static str> {
        let of = list.iter().filter(|(of, _, _)| *of == what);
        of.flat_map(|(_, keys, _)| keys.iter().copied()).collect()
    };
    let (fio, ours) = (keys(fio), keys(ours));
    let missing: BTreeSet<&str> = fio.difference(&ours).copied().collect();
    assert_eq!(missing, listed(&LEFT_OUT), "what {what} lacks");
    let added: BTreeSet<&str> = ours.difference(&fio).copied().collect();
    assert_eq!(added, listed(&ADDED), "what {what} has more");
}

/// A small result that wrote.
fn bench() -> Bench {
    let arm = Arm {
        name: "aligned".to_owned(),
        role: Role::Baseline,
        shift_bytes: 0,
        count: 256,
        median_ns: 1000,
        p99_ns: Some(1000),
        least_ns: 1000,
        greatest_ns: 1000,
        operations_per_second: Some(1000.0),
        turns: None,
        histogram: vec![(1000, 256)],
        drive: Some(report::bench::DriveCounts {
            reads: 0,
            read_bytes: 0,
            writes: 256,
            written_bytes: 1 << 20,
            merges: 0,
            flushes: None,
            exact_operations: 0,
            seen_operations: 0,
        }),
    };
    let experiment = Experiment {
        title: "4 KiB write".to_owned(),
        unit: "operation".to_owned(),
        block_operations: 1,
        workload: Workload {
            action: OperationDirection::Write,
            operation_bytes: Some(4096),
            sync: Sync::None,
            sync_every: 0,
            depth: 1,
            order: Some(WorkloadOrder::Cursor),
            direct: false,
            command: Vec::new(),
        },
        pairs: 256,
        discarded_pairs: 0,
        elapsed_ns: 1_000_000,
        written_bytes: 1 << 20,
        arms: vec![arm],
        comparisons: Vec::new(),
        alpha: 0.05,
        verdict: CostVerdict::Inconclusive,
        reason: String::new(),
        predicted: None,
        regimes: Vec::new(),
        narrowing: Vec::new(),
    };
    let run = report::Run {
        started: "2026-03-01T12:00:00Z".to_owned(),
        kernel: Some("6.12.0".to_owned()),
        ..report::Run::default()
    };
    Bench {
        envelope: envelope(BENCH_SCHEMA, run),
        seed: 1,
        elapsed_ns: 1_000_000,
        target: BenchTarget { drive: Some("sda".to_owned()), ..BenchTarget::default() },
        scratch: None,
        experiments: vec![experiment],
    }
}

#[test]
fn keys_are_those_of_fio_or_left_out_for_a_reason() {
    need_tools!("fio");
    let scratch = testkit::scratch::Scratch::new();
    let file = scratch.image("data", 0);
    let filename = format!("--filename={}", testkit::scratch::text(&file));
    let text = tool::run(
        "fio",
        &[
            "--name=write",
            &filename,
            "--rw=write",
            "--bs=4k",
            "--size=1M",
            "--ioengine=psync",
            "--lat_percentiles=1",
            "--clat_percentiles=1",
            "--output-format=json+",
        ],
    );
    let fio: Value = serde_json::from_str(&text).expect("fio writes JSON");
    let ours: Value = serde_json::from_str(&fio_json(&bench())).expect("JSON");
    check("a run", &fio, &ours);
    let (job, our_job) = (&fio["jobs"][0], &ours["jobs"][0]);
    check("a job", job, our_job);
    for way in ["read", "write", "trim"] {
        check("a direction", &job[way], &our_job[way]);
        check("a submission", &job[way]["slat_ns"], &our_job[way]["slat_ns"]);
    }
    check("a latency", &job["write"]["lat_ns"], &our_job["write"]["lat_ns"]);
    let ranks = |job: &Value| job["write"]["lat_ns"]["percentile"].clone();
    check("a percentile", &ranks(job), &ranks(our_job));
    for unit in ["latency_ns", "latency_us", "latency_ms"] {
        check("a share", &job[unit], &our_job[unit]);
    }
    // fio counts a drive only where the file system names one, and adds sums where that is made of
    // several.
    if let Some(drive) = fio["disk_util"].get(0).filter(|drive| drive["aggr_util"].is_null()) {
        check("a drive", drive, &ours["disk_util"][0]);
    }
    let kinds = |value: &Value| match value {
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Object(_) => "object",
        _ => "other",
    };
    for (key, value) in our_job["write"].as_object().expect("an object") {
        assert_eq!(kinds(value), kinds(&job["write"][key]), "{key}");
    }
}

#[test]
fn fio_s_own_script_makes_tables_of_latencies_from_ours() {
    need_tools!("fio_jsonplus_clat2csv", "python3");
    if !tool::output("python3", &["-c", "import six"]).status.success() {
        return testkit::skip("needs Python's module six, of Debian's package python3-six");
    }
    let scratch = testkit::scratch::Scratch::new();
    for text in [fio_json(&bench()), fsync_fio_json(&plain())] {
        let ours: Value = serde_json::from_str(&text).expect("JSON");
        let source = scratch.file("fio.json", text.as_bytes());
        let table = scratch.path().join("table.csv");
        let paths = [testkit::scratch::text(&source), testkit::scratch::text(&table)];
        tool::run("fio_jsonplus_clat2csv", &paths);
        // The script reads its tables back and compares them with the source.
        tool::run("fio_jsonplus_clat2csv", &[paths[0], paths[1], "--validate"]);
        for (number, job) in ours["jobs"].as_array().expect("a list").iter().enumerate() {
            let bins = job["write"]["clat_ns"]["bins"].as_object().expect("all latencies");
            let table = scratch.path().join(format!("table_job{number}.csv"));
            let lines = std::fs::read_to_string(table).expect("a table for each job");
            assert!(!bins.is_empty() && lines.lines().count() > bins.len(), "{lines}");
        }
    }
}
