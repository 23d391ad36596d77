//! From what was seen to the document that is printed.

use device::DurableFault;
use device::durable::{self, WritePlace};
use measure::durable::{DurableSeen, QUESTIONS, RowPlan, RowSeen, SeriesPoint, SlowestSeries};
use report::fsync::{
    DataPath, FsyncRow, Rounds, RowComparison, RowMethod, SlowestWrites, SustainedPoint,
};
use units::number::real;

use super::pace::SECONDS_MAX;
use super::plan::FsyncRunPlan;
use super::session::Session;
use crate::arguments::FSYNC_SECONDS;
use crate::shared::halt::Halt;

/// The probability that any of the intervals of a run misses the truth.
const ALPHA: f64 = 0.05;
/// Below this many latencies the quantile of the same row is not reported.
const QUANTILES: [(u64, f64); 4] = [(1, 0.5), (10, 0.9), (100, 0.99), (1000, 0.999)];
/// The quantiles that have intervals.
const TAILS: [(u64, f64); 2] = [QUANTILES[0], QUANTILES[2]];
/// The rule by which operations are left out.
const WARM_UP: &str =
    "the first round and the first operation of each row in a round are not counted";

/// Puts what was seen into the document.
pub(super) fn fill(
    session: &mut Session<'_>,
    plan: &FsyncRunPlan,
    seen: &DurableSeen,
    slice_ns: u64,
) {
    let document = &mut session.document;
    document.rounds = Some(Rounds {
        rounds: seen.rounds,
        discarded_rounds: seen.discarded_rounds,
        warm_up: WARM_UP.to_owned(),
        slice_ns,
        elapsed_ns: seen.elapsed_ns,
        was_cut_short: seen.was_cut_short,
    });
    // All intervals of a run together miss with the probability of one.
    let many = u32::try_from(plan.rows.len() * TAILS.len()).unwrap_or(u32::MAX).max(1);
    let alpha = ALPHA / f64::from(many);
    let rows = plan.rows.iter().zip(&seen.rows);
    document.rows = rows.map(|(plan, seen)| row(plan, seen, alpha)).collect();
    if !session.interrupt.is_raised() && seen.stopped.is_none() {
        not_reached(&mut document.rows, session.arguments.seconds);
    }
    document.comparisons = comparisons(plan, seen);
    let kept = seen.rows.first().map_or(0, |row| row.round_means_ns.values().len());
    if let Some(note) =
        drawn(kept, seen.rounds).filter(|_| !session.document.comparisons.is_empty())
    {
        session.note(note);
    }
}

/// Says of rows that had no turn that counts why, and what gives them one.
fn not_reached(rows: &mut [FsyncRow], seconds: u32) {
    let is_blank = |row: &&mut FsyncRow| {
        row.operations == 0 && row.errors.is_empty() && row.unavailable.is_none()
    };
    let more = u64::from(seconds.saturating_mul(2).max(FSYNC_SECONDS)).min(SECONDS_MAX);
    let reason = format!(
        "not reached within --seconds {seconds} and --bytes-max; more of them reaches more rows: \
         --seconds {more}"
    );
    rows.iter_mut().filter(is_blank).for_each(|row| row.unavailable = Some(reason.clone()));
}

/// That so many of `all` rounds are compared, where some are not.
fn drawn(kept: usize, all: u64) -> Option<String> {
    u64::try_from(kept).is_ok_and(|kept| kept < all).then(|| {
        format!("rows are compared in {kept} of {all} rounds, drawn evenly from all of the run")
    })
}

fn row(plan: &RowPlan, seen: &RowSeen, alpha: f64) -> FsyncRow {
    let way = plan.way;
    // What went wrong makes the rest mean nothing.
    let counts = seen.errors.is_empty() && seen.latencies.count() > 0;
    let latencies = counts.then_some(&seen.latencies);
    // By nearest rank of the latencies that are kept, as a verdict's are.
    let mut sorted = seen.series.values().to_vec();
    sorted.sort_unstable();
    let quantile = |(least, share): (u64, f64)| {
        let enough = latencies.filter(|latencies| latencies.count() >= least);
        enough.and_then(|_| measure::tail_quantile::quantile(&sorted, share))
    };
    let [median_ns, p90_ns, p99_ns, p999_ns] = QUANTILES.map(quantile);
    let tail = |&(least, share): &(u64, f64)| {
        latencies.filter(|latencies| latencies.count() >= least)?;
        measure::Tail::with(seen.series.values(), share, alpha)
    };
    let mean_ns = seen.mean_ns().filter(|_| counts);
    FsyncRow {
        id: plan.id.clone(),
        group: plan.group,
        label: plan.label.clone(),
        is_pg: plan.is_pg,
        path: if way.is_direct { DataPath::Direct } else { DataPath::Buffered },
        method: method(way.method),
        place: place(way.place).to_owned(),
        write_bytes: u64::from(way.write_bytes),
        writes_per_operation: u64::from(way.writes),
        operations: latencies.map_or(0, measure::Histogram::count),
        discarded_operations: seen.discarded,
        busy_ns: if counts { seen.busy_ns } else { 0 },
        operations_per_second: mean_ns.map(|mean| 1e9 / mean),
        mean_ns,
        median_ns,
        p90_ns,
        p99_ns,
        p999_ns,
        least_ns: latencies.map(measure::Histogram::min),
        greatest_ns: latencies.map(measure::Histogram::max),
        histogram: latencies.map(|it| it.buckets().collect()).unwrap_or_default(),
        slowest: counts.then(|| slowest(&seen.slowest)),
        tails: TAILS.iter().filter_map(tail).collect(),
        unavailable: seen.unavailable.clone(),
        errors: seen.errors.clone(),
    }
}

fn slowest(seen: &SlowestSeries) -> SlowestWrites {
    SlowestWrites { stretch_ns: seen.stretch_ns(), latency_ns: seen.list().collect() }
}

fn method(method: durable::Method) -> RowMethod {
    match method {
        durable::Method::OpenDatasync => RowMethod::OpenDatasync,
        durable::Method::OpenSync => RowMethod::OpenSync,
        durable::Method::Fdatasync => RowMethod::Fdatasync,
        durable::Method::Fsync
        | durable::Method::WriteFsyncClose
        | durable::Method::WriteCloseFsync => RowMethod::Fsync,
        durable::Method::Writethrough => RowMethod::FsyncWritethrough,
        durable::Method::SyncFileRange => RowMethod::SyncFileRange,
        durable::Method::None => RowMethod::None,
    }
}

fn place(place: WritePlace) -> &'static str {
    match place {
        WritePlace::Overwrite => "overwrite",
        WritePlace::Sequential => "sequential",
        WritePlace::Preallocated => "preallocated",
        WritePlace::Append => "append",
        WritePlace::Nothing => "nothing",
    }
}

/// The questions about rows that were both measured.
fn comparisons(plan: &FsyncRunPlan, seen: &DurableSeen) -> Vec<RowComparison> {
    let found = |id: &str| {
        let number = plan.rows.iter().position(|row| row.id == id)?;
        Some(&seen.rows[number]).filter(|row| row.errors.is_empty() && row.mean_ns().is_some())
    };
    let asked: Vec<_> = QUESTIONS
        .iter()
        .filter_map(|(question, row, against)| {
            Some((question, (row, found(row)?), (against, found(against)?)))
        })
        .collect();
    // All of them together miss with the probability of one.
    let many = u32::try_from(asked.len()).unwrap_or(u32::MAX).max(1);
    let alpha = ALPHA / f64::from(many);
    asked
        .into_iter()
        .map(|(question, (row, one), (against, other))| {
            let compared = {
                let (one, other) = (one.round_means_ns.values(), other.round_means_ns.values());
                measure::durable::compare(one, other, alpha)
            };
            RowComparison {
                question: (*question).to_owned(),
                row: (*row).to_owned(),
                against: (*against).to_owned(),
                interval: compared.interval,
                alpha,
                rounds: compared.rounds,
                conclusion: compared.conclusion(),
            }
        })
        .collect()
}

/// A stretch of a sustained run.
pub(super) fn point(point: &SeriesPoint) -> SustainedPoint {
    let seconds = real(point.took_ns) / 1e9;
    SustainedPoint {
        at_ns: point.at_ns,
        at_bytes: point.at_bytes,
        bytes_per_second: real(point.bytes) / seconds,
        operations: point.operations,
        median_ns: point.median_ns,
        greatest_ns: point.greatest_ns,
    }
}

/// Returns what a fault of what is called `name` means for the run.
pub(super) fn halt(name: &str, fault: DurableFault) -> Halt {
    let (DurableFault::Unavailable(reason)
    | DurableFault::Void(reason)
    | DurableFault::NoRoom(reason)
    | DurableFault::Stopped(reason)) = fault;
    Halt::refused(format!("{name}: {reason}"), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_not_reached_say_so_with_what_reaches_more() {
        let unavailable = Some("Linux has no fsync_writethrough".to_owned());
        let mut rows = [
            FsyncRow { operations: 7, ..FsyncRow::default() },
            FsyncRow::default(),
            FsyncRow { unavailable: unavailable.clone(), ..FsyncRow::default() },
            FsyncRow { errors: vec!["it failed".to_owned()], ..FsyncRow::default() },
        ];
        not_reached(&mut rows, 1);
        let [reached, blank, missing, failed] = rows.map(|row| row.unavailable);
        assert!(blank.is_some_and(|it| it.ends_with("more rows: --seconds 15")));
        assert_eq!([reached, missing, failed], [None, unavailable, None]);
        let mut rows = [FsyncRow::default()];
        not_reached(&mut rows, 20);
        assert!(rows[0].unavailable.as_ref().is_some_and(|it| it.contains("--seconds 40")));
    }

    #[test]
    fn it_is_said_where_some_rounds_stand_for_all() {
        let said = drawn(8192, 20_000).expect("it is said");
        assert!(said.contains("8192 of 20000 rounds"), "{said}");
        assert_eq!(drawn(12, 12), None);
    }
}
