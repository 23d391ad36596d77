//! Options that do not go together, which is found out before anything is looked at.

use crate::arguments::{BenchFormat, Fsync, FsyncRows, ROUND_TRIPS_MAX};
use crate::shared::halt::Halt;

/// Refuses what `arguments` cannot mean.
pub(super) fn refused(arguments: &Fsync) -> Result<(), Halt> {
    let halt = |message: String, hint: &str| Err(Halt::refused(message, Some(hint.to_owned())));
    let no_rows = arguments.rows == FsyncRows::None;
    if no_rows && arguments.printed.format() == BenchFormat::FioJson {
        return halt(
            "cannot print --rows none as fio-json: that format holds rows only".into(),
            "choose another format, or measure rows: --format json, --rows wal",
        );
    }
    if no_rows && arguments.sustained {
        return halt(
            "cannot combine --sustained with --rows none: nothing is measured".into(),
            "leave out one of the two",
        );
    }
    let trips = arguments.round_trips_ns.len();
    if trips > ROUND_TRIPS_MAX {
        return halt(
            format!(
                "cannot use {trips} round trips: a group has at most {ROUND_TRIPS_MAX} other nodes"
            ),
            "give one for each other node: --rtt 300us,300us",
        );
    }
    if arguments.engine.as_ref().is_some_and(|name| name.trim().is_empty()) {
        return halt(
            "cannot judge for an engine without a name: --for is empty".into(),
            "name an engine; to list all: straddle explain engines",
        );
    }
    Ok(())
}
