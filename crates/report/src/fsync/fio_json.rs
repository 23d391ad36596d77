//! A result in the shape of fio's JSON, for parsers that exist: a job for each row.
//!
//! The shape is that of `fio --output-format=json+`, fio 3.33 (`stat.c`,
//! `show_thread_status_json`). What differs in meaning, and it has to: a row's latency is that of
//! the whole operation, its writes and the sync behind them; fio's `sync.lat_ns` is the sync alone.
//! Each job has an object `straddle` beside fio's keys: the row's id, group, path and method.

use serde_json::{Map, Value, json};

use super::{DataPath, Fsync, FsyncRow, RowMethod};
use crate::bench::fio_json::{Latencies, direction};

/// The result as fio's JSON, with its line feed: a job for each row that was measured. The first
/// job's `sync.lat_ns.percentile` is where users of fio look for the 99th percentile.
#[must_use]
pub fn fsync_fio_json(fsync: &Fsync) -> String {
    let mut top = Map::new();
    top.insert("fio version".to_owned(), format!("straddle-{}", fsync.envelope.version).into());
    top.insert("global options".to_owned(), json!({ "directory": fsync.target.path }));
    let measured = fsync.rows.iter().filter(|row| row.operations > 0);
    let jobs: Vec<Value> = measured.enumerate().map(|(number, row)| job(number, row)).collect();
    top.insert("jobs".to_owned(), jobs.into());
    top.insert("disk_util".to_owned(), json!([]));
    crate::json::ended(serde_json::to_string_pretty(&top))
}

fn job(number: usize, row: &FsyncRow) -> Value {
    let nothing = Latencies::default();
    let ends = (row.least_ns.unwrap_or(0), row.greatest_ns.unwrap_or(0));
    let seen = Latencies::new(row.operations, ends, &row.histogram);
    let bytes = row.write_bytes.saturating_mul(row.writes_per_operation);
    let syncs = row.method != RowMethod::None;
    let mut job = Map::new();
    let mut say = |key: &str, value: Value| job.insert(key.to_owned(), value);
    say("jobname", row.id.as_str().into());
    say("groupid", number.into());
    say("error", 0.into());
    say("job options", options(row));
    say("read", direction(&nothing, Some(0), Some(0.0)));
    say("write", direction(&seen, Some(bytes), row.operations_per_second));
    say("trim", direction(&nothing, Some(0), Some(0.0)));
    say(
        "sync",
        match syncs {
            true => json!({ "total_ios": row.operations, "lat_ns": seen.detail() }),
            false => json!({ "total_ios": 0, "lat_ns": nothing.summary() }),
        },
    );
    for (key, unit_ns) in [("latency_ns", 1), ("latency_us", 1_000), ("latency_ms", 1_000_000)] {
        say(key, seen.shares(unit_ns));
    }
    say(
        "straddle",
        json!({
            "id": row.id,
            "group": row.group,
            "label": row.label,
            "path": row.path,
            "method": row.method,
            "place": row.place,
            "writes_per_operation": row.writes_per_operation,
        }),
    );
    job.into()
}

/// The row as fio's options would say it, as texts.
fn options(row: &FsyncRow) -> Value {
    let mut options = Map::new();
    let mut say = |key: &str, value: String| options.insert(key.to_owned(), value.into());
    say("name", row.id.clone());
    say("rw", "write".to_owned());
    say("bs", row.write_bytes.to_string());
    say("iodepth", "1".to_owned());
    say("numjobs", "1".to_owned());
    say("direct", u8::from(row.path == DataPath::Direct).to_string());
    match row.method {
        every @ (RowMethod::Fsync | RowMethod::Fdatasync) => {
            say(every.word(), row.writes_per_operation.to_string())
        }
        RowMethod::OpenDatasync => say("sync", "dsync".to_owned()),
        RowMethod::OpenSync => say("sync", "sync".to_owned()),
        RowMethod::FsyncWritethrough | RowMethod::SyncFileRange | RowMethod::None => None,
    };
    options.into()
}
