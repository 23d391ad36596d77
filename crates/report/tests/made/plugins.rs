//! Watched devices made by hand.

use crate::made::sample::envelope;
use report::Run;
use report::watch::{CountedWork, OffCount, WATCH_SCHEMA, Watch, WatchScope, WatchedDevice};

pub(crate) fn device(name: &str, off: Option<(u64, u64)>) -> WatchedDevice {
    let count = |(writes, all_writes)| OffCount {
        unit_bytes: 4096,
        is_granule: true,
        writes,
        reads: 0,
        all_writes,
        all_reads: 0,
        taken_ns: None,
        lost: Some(0),
    };
    WatchedDevice {
        name: name.to_owned(),
        title: String::new(),
        granule_bytes: Some(4096),
        granule_origin_bytes: 0,
        granule_source: None,
        counted: CountedWork::Requests,
        traffic: Vec::new(),
        off: off.map(count).into_iter().collect(),
        write_lengths: Vec::new(),
        off_unknown: off.is_none().then(|| "tracefs needs root".to_owned()),
        writers: Vec::new(),
        writers_unknown: None,
        sample: None,
        extra_reads: None,
        consequences: Vec::new(),
        wear: Vec::new(),
    }
}

pub(crate) fn watch(devices: Vec<WatchedDevice>) -> Watch {
    Watch {
        envelope: envelope(WATCH_SCHEMA, Run::default()),
        watched_ns: 10_000_000_000,
        scope: WatchScope::Machine,
        devices,
        syncs: None,
    }
}

/// Two devices that are written to.
pub(crate) fn busy() -> Watch {
    watch(vec![device("sda", Some((2, 100))), device("sdb", Some((30, 100)))])
}
