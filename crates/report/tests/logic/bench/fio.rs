//! fio's shape: the figures in it. That the keys are fio's is tested against fio itself.

use measure::Role;
use report::bench::{Arm, Bench, Experiment, fio_json, fio_json_left_out};
use serde_json::{Value, json};

use super::ugly::unknown;
use crate::made::bench::{arm, disk, penalty, whole};

fn value(bench: &Bench) -> Value {
    serde_json::from_str(&fio_json(bench)).expect("JSON")
}

#[test]
fn there_is_a_job_for_each_experiment_and_arm_but_for_commands() {
    let bench = whole();
    let value = value(&bench);
    let jobs = value["jobs"].as_array().expect("jobs");
    let names: Vec<&str> = jobs.iter().filter_map(|job| job["jobname"].as_str()).collect();
    let expected = [
        "4 KiB write + fdatasync, depth 1: aligned",
        "4 KiB write + fdatasync, depth 1: shifted 512 B",
        "4 KiB write + fdatasync, depth 1: control",
        "64 KiB read, depth 32: aligned",
    ];
    assert_eq!(names[..4], expected);
    let groups: Vec<u64> = jobs.iter().filter_map(|job| job["groupid"].as_u64()).collect();
    assert_eq!(groups, [0, 0, 0, 1, 1, 1, 1, 2, 2, 2]);
    assert_eq!(fio_json_left_out(&bench), ["mkfs.ext4"]);
    let util = json!([{ "name": "sda", "read_ios": 0, "write_ios": 3 * 282 }]);
    assert_eq!(value["disk_util"], util);
}

#[test]
fn the_head_says_who_wrote_it_and_when() {
    let value = value(&disk());
    assert_eq!(value["fio version"], "straddle-0.1.0");
    assert_eq!(value["timestamp"], 1_772_366_400);
    assert_eq!(value["timestamp_ms"], 1_772_366_400_000_u64);
    assert_eq!(value["time"], "Sun Mar  1 12:00:00 2026");
}

#[test]
fn options_are_those_that_fio_would_need() {
    let value = value(&whole());
    let expected = json!({
        "name": "4 KiB write + fdatasync, depth 1: aligned",
        "rw": "write", "bs": "4096", "iodepth": "1", "numjobs": "1", "direct": "1",
        "fdatasync": "1",
    });
    assert_eq!(value["jobs"][0]["job options"], expected);
    let read = &value["jobs"][3]["job options"];
    assert_eq!((&read["rw"], &read["fdatasync"]), (&json!("randread"), &Value::Null));
}

/// By hand: 1000 ns three times and 2000 ns once; buckets of 8 and 16 ns, so middles of 1004 (the
/// bucket of 1000) and 2008, the last cut to the greatest.
#[test]
fn figures_are_those_of_the_histogram() {
    let seen = Arm {
        count: 4,
        least_ns: 1000,
        greatest_ns: 2000,
        histogram: vec![(1000, 3), (1984, 1)],
        operations_per_second: Some(500.0),
        ..arm("a", Role::Baseline, 0, 1004, 2000)
    };
    let bench = Bench { experiments: vec![Experiment { arms: vec![seen], ..penalty() }], ..disk() };
    let value = value(&bench);
    let job = &value["jobs"][0];
    let write = &job["write"];
    assert_eq!((&write["io_bytes"], &write["io_kbytes"]), (&json!(16384), &json!(16)));
    assert_eq!((&write["bw_bytes"], &write["bw"]), (&json!(2_048_000), &json!(2000)));
    assert_eq!((&write["iops"], &write["runtime"]), (&json!(500.0), &json!(8)));
    let latency = &write["lat_ns"];
    assert_eq!((&latency["min"], &latency["max"]), (&json!(1000), &json!(2000)));
    // (3 x 1004 + 1992) / 4 = 1251; sqrt((3 x 247^2 + 741^2) / 3) = 494.
    assert_eq!((&latency["mean"], &latency["stddev"]), (&json!(1251.0), &json!(494.0)));
    let percentile = |name: &str| latency["percentile"][name].as_u64();
    assert_eq!(percentile("1.000000"), Some(1004));
    assert_eq!((percentile("70.000000"), percentile("80.000000")), (Some(1004), Some(1992)));
    assert_eq!(percentile("99.990000"), Some(1992));
    assert_eq!(latency["bins"], json!({ "1004": 3, "1992": 1 }));
    assert_eq!((&job["latency_us"]["2"], &job["latency_ns"]["1000"]), (&json!(100.0), &json!(0.0)));
    assert_eq!(job["read"]["total_ios"], 0);
    assert_eq!(job["sync"]["lat_ns"]["N"], 0);
}

#[test]
fn what_is_not_known_is_null_and_never_invented() {
    let value = value(&unknown());
    assert_eq!(value["timestamp"], Value::Null);
    assert_eq!(value["disk_util"], json!([]));
    let write = &value["jobs"][0]["write"];
    for key in ["io_bytes", "bw", "bw_bytes", "iops", "runtime"] {
        assert_eq!(write.get(key), Some(&Value::Null), "{key}");
    }
    assert_eq!(write["total_ios"], 0);
    assert_eq!(value["jobs"][1]["straddle"]["ratio"], Value::Null);
}

#[test]
fn a_share_of_every_latency_is_in_one_place() {
    for bench in [disk(), whole()] {
        for job in value(&bench)["jobs"].as_array().expect("jobs") {
            let shares = ["latency_ns", "latency_us", "latency_ms"].map(|key| &job[key]);
            let shares = shares.iter().filter_map(|shares| shares.as_object());
            let sum: f64 = shares.flat_map(|one| one.values()).filter_map(Value::as_f64).sum();
            assert!((sum - 100.0).abs() < 1e-9, "{sum}");
        }
    }
}
