//! What others make of what was measured: which rows an engine wants, its verdict, whether a sync
//! is real, where a sustained run's pace fell.
//!
//! Each is handed what was measured and gives a part of the document. Whether a sync is real needs
//! nothing of that.

use measure::durable::{DurableSeen, RowPlan, RowSeen, SeriesPoint};
use report::fsync::{FsyncVerdict, Honesty, Knee};
use workload::Profile;

use super::Halt;
use super::plan::Plan;
use super::session::Session;
use crate::arguments::Fsync;
use crate::engine::{self, Circumstances};
use crate::honesty;

/// The grade of syncs that keep nothing.
const NOT_DURABLE: &str = "not-durable";

/// What was measured.
pub(super) struct Measured<'a> {
    pub(super) plan: &'a Plan,
    pub(super) seen: &'a DurableSeen,
}

impl Measured<'_> {
    /// The row called `id`, and what was seen of it.
    pub(super) fn row(&self, id: &str) -> Option<(&RowPlan, &RowSeen)> {
        let number = self.plan.rows.iter().position(|row| row.id == id)?;
        Some((&self.plan.rows[number], &self.seen.rows[number]))
    }
}

/// The profile of the engine that was named; `None` where none was.
pub(super) fn profile(arguments: &Fsync) -> Result<Option<Profile>, Halt> {
    let Some(name) = &arguments.engine else { return Ok(None) };
    let engines = engine::engines(&arguments.profiles).map_err(|error| {
        let said = format!("{error:#}");
        match said.split_once("\nhint: ") {
            Some((message, hint)) => Halt::refused(message, Some(hint.to_owned())),
            None => Halt::refused(said, None),
        }
    })?;
    let found = engines.find(name).cloned();
    found.map(Some).map_err(|hint| {
        let name = units::text::escape(name.as_bytes());
        Halt::refused(format!("there is no profile of {name}"), Some(hint))
    })
}

/// The rows that are measured: what the engine does, or the `usual` ones.
pub(super) fn rows(profile: Option<&Profile>, usual: Vec<RowPlan>) -> Vec<RowPlan> {
    profile.map_or(usual, |profile| vec![engine::row(profile)])
}

/// Whether that is fast enough for the engine; `None` where none was named. No speed is fast enough
/// where a completed sync is known to be none.
pub(super) fn verdict(session: &Session<'_>, measured: &Measured<'_>) -> Option<FsyncVerdict> {
    let profile = measured.plan.profile.as_ref()?;
    let (_, seen) = measured.row(&engine::row_id(profile))?;
    let series: &[u64] = if seen.errors.is_empty() { &seen.series } else { &[] };
    let Fsync { round_trips_ns, batch, .. } = session.arguments;
    let seed = session.document.seed;
    let circumstances = Circumstances::of(profile, round_trips_ns, *batch, seed);
    let verdict = engine::verdict(profile, series, &circumstances);
    let honesty = session.document.honesty.as_ref();
    match honesty.filter(|honesty| honesty.grade == NOT_DURABLE) {
        Some(honesty) => Some(engine::undone(verdict, honesty)),
        None => Some(verdict),
    }
}

/// Whether a completed sync is real, and what a process makes of its own.
pub(super) fn honesty(session: &Session<'_>) -> Result<Honesty, Halt> {
    let arguments = session.arguments;
    honesty::look(&session.scene, &arguments.directory, arguments.pid)
        .map_err(|refusal| Halt::refused(refusal.message, refusal.hint))
}

/// Where the pace fell for good, and that as a sentence.
pub(super) fn knee(points: &[SeriesPoint], seed: u64) -> (Option<Knee>, String) {
    engine::knee(points, seed)
}
