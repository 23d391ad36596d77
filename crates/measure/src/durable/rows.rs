//! The rows that `straddle fsync` measures, as a table.
//!
//! The first 18 are those of `pg_test_fsync` under its own labels, in its order, done as it does
//! them: `open_*` past the page cache, the others through it; all of them write over the first
//! bytes of one file of 16 MiB. Source: PostgreSQL `src/bin/pg_test_fsync/pg_test_fsync.c`.

use device::durable::{DurableMethod, Method, WritePlace};
use serde::{Deserialize, Serialize};

/// Bytes of `pg_test_fsync`'s page, `XLOG_BLCKSZ`.
const PAGE: u32 = 8192;
/// Bytes that the rows with several sizes write in all, and the sizes of their pieces.
const CUT_UP: [u32; 5] = [16, 8, 4, 2, 1];
/// Number of writes a sync follows.
const GROUP_SIZES: [u32; 6] = [1, 2, 4, 8, 16, 32];

/// The group that a row belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowGroup {
    /// One write of 8 kB.
    #[default]
    #[serde(rename = "one-8kb-write")]
    OneWrite,
    /// Two writes of 8 kB.
    #[serde(rename = "two-8kb-writes")]
    TwoWrites,
    /// 16 kB by `open_sync`, in pieces.
    OpenSyncSizes,
    /// A sync on another descriptor than the write.
    OtherDescriptor,
    /// Writes without a sync.
    NonSynced,
    /// The methods by the other path than `pg_test_fsync` takes.
    OtherPath,
    /// Patterns of write-ahead logs.
    Wal,
    /// Several writes for each sync.
    GroupSize,
}

units::words!(RowGroup);

/// A row to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowPlan {
    /// Unique name: `pg.one.fdatasync`.
    pub id: String,
    /// Its group.
    pub group: RowGroup,
    /// Its label: that of `pg_test_fsync` where it is one of its rows.
    pub label: String,
    /// True if it is one of `pg_test_fsync`'s.
    pub is_pg: bool,
    /// The way of writing.
    pub way: DurableMethod,
}

/// A choice of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChoice {
    /// Those of `pg_test_fsync`.
    Pg,
    /// Those that show what logs meet.
    Wal,
    /// Both, without the sizes of groups.
    Usual,
    /// All there are.
    All,
}

impl RowChoice {
    /// The rows, in the order in which they are shown.
    #[must_use]
    pub fn plans(self) -> Vec<RowPlan> {
        match self {
            RowChoice::Pg => pg_rows(),
            RowChoice::Wal => [wal_rows(), group_rows()].concat(),
            RowChoice::Usual => [pg_rows(), other_path_rows(), wal_rows()].concat(),
            RowChoice::All => [pg_rows(), other_path_rows(), wal_rows(), group_rows()].concat(),
        }
    }
}

/// Rows that are usually asked about together: the question, the row, and the one that it is
/// compared with. Both do the same but for one thing.
pub const QUESTIONS: [(&str, &str, &str); 9] = [
    ("fsync against fdatasync", "pg.one.fsync", "pg.one.fdatasync"),
    ("open_sync against open_datasync", "pg.one.open_sync", "pg.one.open_datasync"),
    ("O_DIRECT against the page cache, fdatasync", "path.fdatasync.direct", "pg.one.fdatasync"),
    (
        "buffered against O_DIRECT, open_datasync",
        "path.open_datasync.buffered",
        "pg.one.open_datasync",
    ),
    (
        "open_datasync against fdatasync, both direct",
        "pg.one.open_datasync",
        "path.fdatasync.direct",
    ),
    ("append against overwrite", "wal.append", "wal.overwrite"),
    ("preallocated against overwrite", "wal.preallocated", "wal.overwrite"),
    ("append against preallocated", "wal.append", "wal.preallocated"),
    ("fsync with a second writer against alone", "wal.contended", "wal.overwrite-fsync"),
];

fn row(id: &str, group: RowGroup, label: &str, is_pg: bool, way: DurableMethod) -> RowPlan {
    RowPlan { id: id.to_owned(), group, label: label.to_owned(), is_pg, way }
}

/// Writes of a page over the first bytes, through the page cache.
const OVER: DurableMethod = DurableMethod {
    method: Method::None,
    is_direct: false,
    place: WritePlace::Overwrite,
    write_bytes: PAGE,
    writes: 1,
    is_contended: false,
};

/// The rows of `pg_test_fsync`.
#[must_use]
pub fn pg_rows() -> Vec<RowPlan> {
    let mut rows = Vec::new();
    for (group, name, writes) in [(RowGroup::OneWrite, "one", 1), (RowGroup::TwoWrites, "two", 2)] {
        for (label, method, is_direct) in [
            ("open_datasync", Method::OpenDatasync, true),
            ("fdatasync", Method::Fdatasync, false),
            ("fsync", Method::Fsync, false),
            ("fsync_writethrough", Method::Writethrough, false),
            ("open_sync", Method::OpenSync, true),
        ] {
            let way = DurableMethod { method, is_direct, writes, ..OVER };
            rows.push(row(&format!("pg.{name}.{label}"), group, label, true, way));
        }
    }
    for kib in CUT_UP {
        let writes = 16_u32.div_euclid(kib);
        let plural = if writes == 1 { "" } else { "s" };
        let label = format!("{writes:>2} * {kib:>2}kB open_sync write{plural}");
        let (method, is_direct) = (Method::OpenSync, true);
        let way = DurableMethod { method, is_direct, write_bytes: kib << 10, writes, ..OVER };
        let id = format!("pg.sizes.{writes}x{kib}kb");
        rows.push(row(&id, RowGroup::OpenSyncSizes, &label, true, way));
    }
    for (id, label, method) in [
        ("pg.descriptor.own", "write, fsync, close", Method::WriteFsyncClose),
        ("pg.descriptor.other", "write, close, fsync", Method::WriteCloseFsync),
    ] {
        rows.push(row(
            id,
            RowGroup::OtherDescriptor,
            label,
            true,
            DurableMethod { method, ..OVER },
        ));
    }
    rows.push(row("pg.write", RowGroup::NonSynced, "write", true, OVER));
    rows
}

/// The methods of the first group by the other path.
fn other_path_rows() -> Vec<RowPlan> {
    [
        ("open_datasync", Method::OpenDatasync, false),
        ("fdatasync", Method::Fdatasync, true),
        ("fsync", Method::Fsync, true),
        ("open_sync", Method::OpenSync, false),
    ]
    .into_iter()
    .map(|(label, method, is_direct)| {
        let path = if is_direct { "direct" } else { "buffered" };
        let way = DurableMethod { method, is_direct, ..OVER };
        row(&format!("path.{label}.{path}"), RowGroup::OtherPath, label, false, way)
    })
    .collect()
}

/// Returns what write-ahead logs meet.
#[must_use]
fn wal_rows() -> Vec<RowPlan> {
    let next = DurableMethod { method: Method::Fdatasync, place: WritePlace::Sequential, ..OVER };
    let of = |id: &str, label: &str, way: DurableMethod| row(id, RowGroup::Wal, label, false, way);
    vec![
        of("wal.overwrite", "overwrite, fdatasync", next),
        of(
            "wal.preallocated",
            "preallocated, fdatasync",
            DurableMethod { place: WritePlace::Preallocated, ..next },
        ),
        of("wal.append", "append, fdatasync", DurableMethod { place: WritePlace::Append, ..next }),
        of(
            "wal.sync-file-range",
            "sync_file_range: not durable",
            DurableMethod { method: Method::SyncFileRange, ..next },
        ),
        of(
            "wal.empty-fsync",
            "fsync, nothing written",
            DurableMethod {
                method: Method::Fsync,
                place: WritePlace::Nothing,
                write_bytes: 0,
                writes: 0,
                ..next
            },
        ),
        of(
            "wal.overwrite-fsync",
            "overwrite, fsync",
            DurableMethod { method: Method::Fsync, ..next },
        ),
        of(
            "wal.contended",
            "overwrite, fsync, second writer",
            DurableMethod { method: Method::Fsync, is_contended: true, ..next },
        ),
    ]
}

/// Several writes for each sync.
fn group_rows() -> Vec<RowPlan> {
    let next = DurableMethod { method: Method::Fdatasync, place: WritePlace::Sequential, ..OVER };
    let of = |writes: u32| {
        let plural = if writes == 1 { "" } else { "s" };
        let label = format!("{writes:>2} write{plural}, fdatasync");
        row(
            &format!("group.{writes}"),
            RowGroup::GroupSize,
            &label,
            false,
            DurableMethod { writes, ..next },
        )
    };
    GROUP_SIZES.into_iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_rows_of_pg_test_fsync_are_all_there_in_its_order() {
        let labels: Vec<String> = pg_rows().iter().map(|row| row.label.clone()).collect();
        let methods = ["open_datasync", "fdatasync", "fsync", "fsync_writethrough", "open_sync"];
        assert_eq!(labels[..5], methods);
        assert_eq!(labels[5..10], methods);
        assert_eq!(
            labels[10..15],
            [
                " 1 * 16kB open_sync write",
                " 2 *  8kB open_sync writes",
                " 4 *  4kB open_sync writes",
                " 8 *  2kB open_sync writes",
                "16 *  1kB open_sync writes",
            ]
        );
        assert_eq!(labels[15..], ["write, fsync, close", "write, close, fsync", "write"]);
        for row in &pg_rows()[10..15] {
            assert_eq!(row.way.operation_bytes(), 16 << 10);
        }
    }

    #[test]
    fn no_two_rows_have_a_name_and_every_question_is_about_rows_of_the_usual_run() {
        let ids: Vec<String> = RowChoice::All.plans().into_iter().map(|row| row.id).collect();
        let apart: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(apart.len(), ids.len());
        let usual: Vec<String> = RowChoice::Usual.plans().into_iter().map(|row| row.id).collect();
        for (question, row, against) in QUESTIONS {
            for id in [row, against] {
                assert!(usual.iter().any(|own| own == id), "{question}: {id}");
            }
        }
    }
}
