//! Documents, tables and metrics of a watch.

use serde_json::Value;
use testkit::running_program::until;
use testkit::{need_loops, need_tools, schema, scratch::text};

use super::volume::Device;
use super::watching::{Watching, watch};
use super::writer::Writer;

/// The schema as the published file holds it.
const SCHEMA: &str = include_str!("../../../../report/schema/straddle.watch.1.schema.json");

#[track_caller]
fn fits(document: &Value) {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    assert_eq!(schema::faults(&schema, document), [""; 0], "{document:#}");
}

#[test]
fn documents_fit_the_schema_and_one_second_is_a_table() {
    need_loops!();
    need_tools!("python3");
    let device = Device::new(64 << 20);
    let writer = Writer::direct("writer", device.node(), 1024, 4096);
    let process = writer.process().to_string();
    for more in [&[][..], &["--on", "granule=16K"], &["--pid", &process]] {
        let mut watching = Watching::start(device.node(), more);
        fits(watching.last());
        watching.until("writers are seen", |seen| {
            seen["devices"][0]["sample"]["writes"].as_u64() > Some(20)
        });
        fits(&watching.end());
        let ran = watch(&[&[device.node(), "--json", "--seconds", "1"], more].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        fits(&ran.document());
    }
    let table = watch(&[device.node(), "--seconds", "1"]);
    assert_eq!(table.status, Some(0), "{table:?}");
    for said in ["off multiples of", "4 KiB (granule)", "watched; nothing was written"] {
        assert!(table.out.contains(said), "{said}: {table:?}");
    }
    let refused = watch(&["/nonexistent", "--json"]);
    fits(&refused.document());
}

/// Asserts that `line` is a comment, or a sample: `name{label="value",...} number`.
#[track_caller]
fn is_sample(line: &str) {
    if line.starts_with("# HELP ") || line.starts_with("# TYPE ") {
        return;
    }
    let parts = line.split_once('{').and_then(|(name, rest)| Some((name, rest.rsplit_once("} ")?)));
    let (name, (labels, value)) = parts.unwrap_or_else(|| panic!("{line}"));
    assert!(name.starts_with("straddle_") && name.ends_with("_total"), "{line}");
    let is_number = match name.ends_with("_seconds_total") {
        true => value.parse().is_ok_and(|seconds: f64| seconds >= 0.0),
        false => value.parse::<u64>().is_ok(),
    };
    assert!(is_number, "{line}");
    for label in labels.split(',') {
        let (name, value) = label.split_once('=').unwrap_or_else(|| panic!("{line}"));
        assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'), "{line}");
        assert!(value.len() > 2 && value.starts_with('"') && value.ends_with('"'), "{line}");
    }
}

#[test]
fn metrics_are_a_whole_file_of_prometheus_text() {
    need_loops!();
    need_tools!("python3");
    let device = Device::new(64 << 20);
    let _writer = Writer::direct("writer", device.node(), 1024, 4096);
    let directory = device.scratch.path().join("collector");
    std::fs::create_dir(&directory).expect("a directory can be made");
    let words = [device.node(), "--textfile", text(&directory)];
    let file = directory.join("straddle_watch.prom");
    let metrics = || std::fs::read_to_string(&file).unwrap_or_default();
    let name = device.name();
    let off = format!("straddle_off_unit_writes_total{{device=\"{name}\",unit_bytes=\"4096\"");
    until("writes off the granule are in it", || {
        let ran = watch(&[&words[..], &["--seconds", "1"]].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let metrics = metrics();
        metrics.lines().for_each(is_sample);
        assert!(metrics.ends_with('\n'), "{metrics}");
        let line = metrics.lines().find(|line| line.starts_with(&off));
        line.is_some_and(|line| !line.ends_with(" 0"))
    });
    // Nothing else is left in the directory.
    let names = std::fs::read_dir(&directory).expect("it can be listed");
    assert_eq!(names.count(), 1, "{}", metrics());
}
