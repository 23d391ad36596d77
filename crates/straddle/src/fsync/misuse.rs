//! Options that do not go together, which is found out before anything is looked at.

use crate::arguments::{BenchFormat, Fsync, FsyncRows, ROUND_TRIPS_MAX};
use crate::shared::halt::Halt;

/// Refuses what `arguments` cannot mean.
pub(super) fn refused(arguments: &Fsync) -> Result<(), Halt> {
    let halt = |message: String, hint: &str| Err(Halt::refused(message, Some(hint.to_owned())));
    let no_rows = arguments.rows == FsyncRows::None;
    if no_rows && arguments.printed.format() == BenchFormat::FioJson {
        return halt(
            "cannot print --rows none in fio's form: it has no place for anything but rows".into(),
            "use --format json, or measure rows: --rows wal",
        );
    }
    if no_rows && arguments.sustained {
        return halt(
            "cannot write on with --sustained where --rows none measures nothing".into(),
            "leave one of them out",
        );
    }
    let trips = arguments.round_trips_ns.len();
    if trips > ROUND_TRIPS_MAX {
        return halt(
            format!(
                "--rtt has {trips} round trips, and a group has {ROUND_TRIPS_MAX} others at most"
            ),
            "give one for each other node of the group: --rtt 300us,300us",
        );
    }
    if arguments.engine.as_ref().is_some_and(|name| name.trim().is_empty()) {
        return halt(
            "--for names no engine: it is empty".into(),
            "straddle explain engines lists all; or leave --for out",
        );
    }
    Ok(())
}
