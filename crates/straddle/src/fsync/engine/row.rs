//! Work of an engine, as a row to measure.

use device::durable::{DurableMethod, Method, WritePlace};
use measure::durable::{RowGroup, RowPlan};
use workload::Profile;
use workload::engine::{Placement, Space, Sync, WritePattern};

/// The row that does what the engine does.
pub(crate) fn row(profile: &Profile) -> RowPlan {
    RowPlan {
        id: row_id(profile),
        group: RowGroup::Wal,
        label: format!("{}: {}", profile.name, operation(&profile.pattern)),
        is_pg: false,
        way: way(&profile.pattern),
    }
}

/// Returns what the row of an engine is called.
pub(crate) fn row_id(profile: &Profile) -> String {
    format!("engine.{}", profile.name)
}

/// One durable write in words: `write + fdatasync`.
pub(crate) fn operation(pattern: &WritePattern) -> String {
    let writes = match pattern.writes_per_sync {
        1 => "write".to_owned(),
        number => format!("{number} writes"),
    };
    match pattern.sync {
        Sync::Fdatasync | Sync::DirectFdatasync => format!("{writes} + fdatasync"),
        Sync::Fsync => format!("{writes} + fsync"),
        Sync::Dsync | Sync::DirectDsync => format!("{} {writes}", pattern.sync.name()),
    }
}

/// Returns how the pattern is done. What a profile's reader lets through fits.
fn way(pattern: &WritePattern) -> DurableMethod {
    let method = match pattern.sync {
        Sync::Fdatasync | Sync::DirectFdatasync => Method::Fdatasync,
        Sync::Fsync => Method::Fsync,
        Sync::Dsync | Sync::DirectDsync => Method::OpenDatasync,
    };
    let place = match (pattern.placement, pattern.space) {
        (Placement::Rewrite, _) => WritePlace::Overwrite,
        (Placement::Append, Space::Growing) => WritePlace::Append,
        (Placement::Append, Space::Preallocated) => WritePlace::Preallocated,
        (Placement::Append, Space::Written) => WritePlace::Sequential,
    };
    DurableMethod {
        method,
        is_direct: pattern.sync.is_direct(),
        place,
        write_bytes: u32::try_from(pattern.write_bytes).unwrap_or(u32::MAX),
        writes: u32::try_from(pattern.writes_per_sync).unwrap_or(u32::MAX),
        is_contended: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Engines;

    #[test]
    fn every_engine_is_done_by_the_calls_that_its_profile_names() {
        let check = |name: &str, expected: (Method, WritePlace, bool, u32)| {
            let engines = Engines::built_in();
            let way = row(engines.find(name).unwrap()).way;
            let seen = (way.method, way.place, way.is_direct, way.write_bytes);
            assert_eq!(seen, expected, "{name}");
        };
        check("etcd", (Method::Fdatasync, WritePlace::Preallocated, false, 2300));
        check("postgresql", (Method::Fdatasync, WritePlace::Sequential, false, 8192));
        check("mysql", (Method::Fsync, WritePlace::Sequential, false, 512));
        check("kafka", (Method::Fsync, WritePlace::Append, false, 16384));
        check("ceph", (Method::OpenDatasync, WritePlace::Sequential, true, 4096));
    }
}
