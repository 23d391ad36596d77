//! Conclusions from what was measured: the verdict for an engine, and whether a sync is real.

use clap::ValueEnum as _;
use durability::Process;
use report::fsync::{FsyncVerdict, Honesty};
use units::text::{escape, shell_word};

use super::advice;
use super::measured::FsyncMeasured;
use super::session::Session;
use crate::arguments::{Fsync, FsyncRows};
use crate::fsync::engine::{self, Circumstances};
use crate::fsync::honesty::{self, LookTime};
use crate::shared::halt::Halt;
use crate::world::World;

/// Returns whether that is fast enough for the engine, as far as its syncs are real; `None` where
/// none was named.
pub(super) fn verdict(session: &Session<'_>, measured: &FsyncMeasured<'_>) -> Option<FsyncVerdict> {
    let profile = measured.plan.profile.as_ref()?;
    let (_, seen) = measured.row(&engine::row_id(profile))?;
    let series: &[u64] = if seen.errors.is_empty() { seen.series.values() } else { &[] };
    let Fsync { round_trips_ns, batch, .. } = session.arguments;
    let seed = session.document.seed;
    let circumstances = Circumstances::of(profile, round_trips_ns, *batch, seed);
    let mut verdict = engine::verdict(profile, series, &circumstances);
    verdict.notes.extend(drawn(series.len(), seen.latencies.count()));
    let verdict = advice::advised(session, measured, profile, verdict);
    Some(match &session.document.honesty {
        Some(honesty) => engine::held_to(verdict, honesty),
        None => verdict,
    })
}

/// That so many of `all` durable writes were kept in their order, where some were not.
fn drawn(kept: usize, all: u64) -> Option<String> {
    (kept > 0 && u64::try_from(kept).is_ok_and(|kept| kept < all)).then(|| {
        format!("The interval rests on {kept} of {all} durable writes, drawn evenly from all.")
    })
}

/// Returns whether a completed sync is real, and what `process` makes of its own, in about
/// `usual_ns`; not after the end of the run's time.
pub(super) fn honesty<W: World>(
    session: &Session<'_>,
    world: &W,
    process: Option<Process>,
    usual_ns: u64,
) -> Result<Honesty, Halt> {
    let options = given(session.arguments);
    let process = process.map(|process| Process { options, ..process });
    let time = LookTime { usual_ns, end_ns: session.left_ns() };
    let mut line = session.progress(0);
    line.announce(|look| report::fsync::doing("looking whether syncs are real", look));
    let found = honesty::look(
        world,
        &session.inspected,
        (session.directory()?, process),
        time,
        &session.interrupt,
    );
    line.clear();
    Ok(found?)
}

/// The options that decide what is measured, as they were typed: ` --rows none`.
fn given(arguments: &Fsync) -> String {
    let rows = arguments.rows.to_possible_value().filter(|_| arguments.rows != FsyncRows::Usual);
    let rows = rows.map_or(String::new(), |rows| format!(" --rows {}", rows.get_name()));
    let engine = arguments
        .engine
        .as_deref()
        .map(|name| format!(" --for {}", shell_word(&escape(name.as_bytes()))));
    let profiles = arguments.profiles.iter().map(|path| {
        format!(" --profile {}", shell_word(&escape(path.as_os_str().as_encoded_bytes())))
    });
    rows + &engine.unwrap_or_default() + &profiles.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command};
    use clap::Parser as _;

    #[test]
    fn a_run_that_is_offered_keeps_the_options_that_were_given() {
        let offered = |options: &[&str]| {
            let typed = [&["straddle", "fsync", "/data", "--pid", "7"], options].concat();
            let Command::Fsync(arguments) = Arguments::parse_from(typed).command else {
                panic!("fsync");
            };
            given(&arguments)
        };
        assert_eq!(offered(&[]), "");
        assert_eq!(offered(&["--rows", "none"]), " --rows none");
        assert_eq!(offered(&["--for", "etcd"]), " --for etcd");
        let own = offered(&["--for", "own", "--profile", "own.toml"]);
        assert_eq!(own, " --for own --profile own.toml");
    }
}
