//! A result in the shape of fio's JSON: a job for each row.
//!
//! One meaning differs: a row's latency covers the whole operation, its writes and the sync after
//! them; fio's `sync.lat_ns` covers the sync alone. Each job has an object `straddle` beside fio's
//! keys: the row's id, group, path and method.

use serde_json::{Value, json};

use super::{DataPath, Fsync, FsyncRow, RowMethod};
use crate::bench::OperationDirection;
use crate::fio_job::{FioJob, FioLatencies, fio_document};

/// The result as fio's JSON, with its line feed: a job for each row that was measured. The first
/// job's `sync.lat_ns.percentile` is where users of fio look for the 99th percentile.
#[must_use]
pub fn fsync_fio_json(fsync: &Fsync) -> String {
    let measured = fsync.rows.iter().filter(|row| row.operations > 0).enumerate();
    let jobs: Vec<Value> = measured.map(|(number, row)| job(number, row).json()).collect();
    let global = json!({ "directory": fsync.target.path });
    fio_document(&fsync.envelope, global, jobs, json!([]))
}

fn job(group: usize, row: &FsyncRow) -> FioJob {
    let ends = (row.least_ns.unwrap_or(0), row.greatest_ns.unwrap_or(0));
    FioJob {
        name: row.id.clone(),
        group,
        action: OperationDirection::Write,
        is_random: false,
        depth: 1,
        is_direct: row.path == DataPath::Direct,
        sync: match row.method {
            every @ (RowMethod::Fsync | RowMethod::Fdatasync) => {
                Some((every.word(), row.writes_per_operation.to_string()))
            }
            RowMethod::OpenDatasync => Some(("sync", "dsync".to_owned())),
            RowMethod::OpenSync => Some(("sync", "sync".to_owned())),
            RowMethod::FsyncWritethrough | RowMethod::SyncFileRange | RowMethod::None => None,
        },
        block_bytes: Some(row.write_bytes),
        blocks: row.writes_per_operation,
        operations_per_second: row.operations_per_second,
        latencies: FioLatencies::new(row.operations, ends, &row.histogram),
        counts_syncs: row.method != RowMethod::None,
        own: json!({
            "id": row.id,
            "group": row.group,
            "label": row.label,
            "path": row.path,
            "method": row.method,
            "place": row.place,
            "writes_per_operation": row.writes_per_operation,
        }),
    }
}
