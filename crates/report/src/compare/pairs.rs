//! Figures of the same work side by side, and the verdict over all of them.

use std::collections::HashMap;

use measure::Interval;

use super::change::{NONE, SAME_RUN, TOO_WIDE, answer, bound, change, is_vast, reach, words};
use super::comparability::{run, say, setting, warnings};
use super::comparable_figures::{Figure, figures};
use super::uncounted_rows::Apart;
use super::{
    COMPARE_SCHEMA, CompareAnswer, CompareSummary, ComparedRow, Comparing, LIMIT, Measure,
    Measurement, NO_INTERVAL, RunValue,
};
use crate::envelope::Envelope;
use crate::run::Run;

/// The most names of what only one result holds that are kept.
const ALONE_MAX: usize = 64;
/// The least seconds that are advised against intervals that are too wide.
const SECONDS_MIN: u64 = 30;
/// The most seconds that a run takes: a day.
const SECONDS_MAX: u64 = 86_400;
/// Advice about a result of `bench`, which ends as soon as its own question is settled.
const QUIETER: &str = "to be more certain, measure both again on a quiet machine: bench ends as \
     soon as its own question is settled, so a larger --seconds may change nothing";
/// Of runs that measured different rows.
const NO_LATENCY: &str =
    "cannot tell: the runs measured different rows; only durability was compared, and is the same";
/// True of every two runs.
const NOT_PAIRED: &str = "the two runs are not paired: anything that changed in between can be \
     the cause of a difference";

/// The two results side by side, compared in the run `by`; `None` where they are of different
/// commands. Of figures of the same work the first goes with the first. All texts are harmless to
/// print.
#[must_use]
pub fn compare(before: Measurement<'_>, after: Measurement<'_>, by: Run) -> Option<Comparing> {
    if before.command() != after.command() {
        return None;
    }
    let (old, new) = (figures(before), figures(after));
    let [was, is] = [before, after].map(run);
    let setting = setting(before, after);
    // One result twice says nothing about a change, and nothing has to be told apart.
    let is_twin = old == new && was == is && setting.is_empty() && !was.started.is_empty();
    let mut rows = Vec::new();
    let (mut only_before, mut only_after) = (Vec::new(), Vec::new());
    for pair in pairs(&old, &new) {
        match pair {
            (Some(old), Some(new)) => rows.extend(row(old, new)),
            (Some(one), None) => alone(one, &new, &mut only_before),
            (None, Some(one)) => alone(one, &old, &mut only_after),
            (None, None) => {}
        }
    }
    if is_twin {
        rows.iter_mut().for_each(|row| {
            row.answer = CompareAnswer::Same;
            row.words = SAME_RUN.to_owned();
        });
    }
    let summary = summary(&rows, &only_before, &only_after);
    let answer = rows.iter().filter(|row| row.counts()).map(|row| row.answer).max();
    let all_medians = medians(&rows);
    // Where all latencies changed, a ratio that did not is no "same".
    let least =
        if all_medians.is_empty() { CompareAnswer::Same } else { CompareAnswer::CannotTell };
    // Without a latency of both, the same durability says nothing of their rows.
    let is_apart = matches!(before, Measurement::Fsync(_))
        && answer == Some(CompareAnswer::Same)
        && !rows.iter().any(|row| row.change.is_some())
        && !(only_before.is_empty() && only_after.is_empty());
    let sentence = match is_twin {
        true if rows.is_empty() => {
            "cannot tell: both files hold the same run, without a value to compare".to_owned()
        }
        true => "same: both files hold the same run".to_owned(),
        false if is_apart => NO_LATENCY.to_owned(),
        false => match answer {
            Some(answer) => all_medians + &sentence(answer, &rows, &summary),
            None => {
                let apart =
                    Apart { rows: &rows, only_before: &only_before, only_after: &only_after };
                format!("cannot tell: {}", apart.reason(before, [&was, &is]))
            }
        },
    };
    Some(Comparing {
        envelope: Envelope {
            notes: if is_twin { Vec::new() } else { notes(answer, before, after) },
            ..Envelope::new(COMPARE_SCHEMA, by)
        },
        measured_by: before.command().to_owned(),
        answer: answer.filter(|_| !is_apart).map_or(CompareAnswer::CannotTell, |it| it.max(least)),
        sentence,
        limit_percent: ((LIMIT - 1.0) * 100.0).round(),
        warnings: warnings(&was, &is),
        before: was,
        after: is,
        setting,
        rows,
        only_before,
        only_after,
        summary,
    })
}

/// Returns what the reader should know where anything was compared.
fn notes(
    answer: Option<CompareAnswer>,
    before: Measurement<'_>,
    after: Measurement<'_>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if answer == Some(CompareAnswer::CannotTell) {
        let took_ns = before.elapsed_ns().max(after.elapsed_ns());
        let seconds =
            took_ns.saturating_mul(2).div_ceil(1_000_000_000).clamp(SECONDS_MIN, SECONDS_MAX);
        notes.push(match before {
            Measurement::Bench(_) => QUIETER.to_owned(),
            _ => format!("to be more certain, measure both again for longer: --seconds {seconds}"),
        });
    }
    if answer.is_some() {
        notes.push(NOT_PAIRED.to_owned());
    }
    notes
}

/// Figures of the same work: in the order of `after`, then those that are only in `before`.
fn pairs<'a>(
    before: &'a [Figure],
    after: &'a [Figure],
) -> Vec<(Option<&'a Figure>, Option<&'a Figure>)> {
    let key = |one: &'a Figure| (&*one.group, &*one.name, one.measure, &*one.work);
    let mut places: HashMap<_, Vec<usize>> = HashMap::new();
    for (place, one) in before.iter().enumerate().rev() {
        places.entry(key(one)).or_default().push(place);
    }
    let mut free = vec![true; before.len()];
    let mut pairs = Vec::new();
    for one in after {
        let place = places.get_mut(&key(one)).and_then(Vec::pop);
        if let Some(place) = place {
            free[place] = false;
        }
        pairs.push((place.map(|place| &before[place]), Some(one)));
    }
    let left = before.iter().zip(free).filter(|(_, free)| *free);
    pairs.extend(left.map(|(one, _)| (Some(one), None)));
    pairs
}

/// Names a figure of one result, once for all its measures; its group alone where the other result
/// has nothing of that.
fn alone(one: &Figure, others: &[Figure], names: &mut Vec<String>) {
    let name = match others.iter().any(|other| other.group == one.group) {
        true => say(&format!("{}: {}", say(&one.group), say(&one.name))),
        false => say(&one.group),
    };
    if names.len() < ALONE_MAX && !names.contains(&name) {
        names.push(name);
    }
}

/// The two figures; `None` where neither run has a value.
fn row(old: &Figure, new: &Figure) -> Option<ComparedRow> {
    if is_empty(old) && is_empty(new) {
        return None;
    }
    let (change, answer, reason) = match (&old.value, &new.value) {
        (RunValue::Said { .. }, _) | (_, RunValue::Said { .. }) => {
            let (answer, reason) = answers(old, new);
            (None, answer, reason)
        }
        _ => changed(old, new),
    };
    let is_bounded = change.is_some_and(|it| it.ends() != [None, None]);
    Some(ComparedRow {
        group: say(&new.group),
        name: say(&new.name),
        measure: new.measure,
        before: shown(&old.value),
        after: shown(&new.value),
        words: change.map(|change| words(change, new.measure)).unwrap_or_default(),
        alpha: old.alpha.zip(new.alpha).filter(|_| is_bounded).map(|(old, new)| old + new),
        change,
        answer,
        is_judged: old.is_judged && new.is_judged,
        reason,
    })
}

fn is_empty(one: &Figure) -> bool {
    match &one.value {
        RunValue::Latency { value_ns, .. } => value_ns.is_none(),
        RunValue::Said { said, .. } => said.is_none(),
        RunValue::Ratio { .. } => false,
    }
}

/// Returns what two answers in words come to, and why that cannot be told.
fn answers(before: &Figure, after: &Figure) -> (CompareAnswer, Option<String>) {
    let parts = |measured: &RunValue| match measured {
        RunValue::Said { said, because } => (said.clone(), because.clone()),
        _ => (None, None),
    };
    let missing = |when: &str, because: Option<String>| {
        let because = because.map(|because| format!(": {}", say(&because)));
        let reason = format!("the {when} run did not find it{}", because.unwrap_or_default());
        (CompareAnswer::CannotTell, Some(reason))
    };
    let open = |when: &str, said: &str| {
        let reason = format!("the {when} run did not settle it: {}", say(&said.replace('-', " ")));
        (CompareAnswer::CannotTell, Some(reason))
    };
    match (parts(&before.value), parts(&after.value)) {
        ((None, because), _) => missing("earlier", because),
        (_, (None, because)) => missing("later", because),
        ((Some(old), _), (Some(new), _)) => match (&*old, &*new) {
            (old, new) if old == new => (CompareAnswer::Same, None),
            (old, _) if before.is_open => open("earlier", old),
            (_, new) if after.is_open => open("later", new),
            _ => (CompareAnswer::Differs, None),
        },
    }
}

/// Returns how a figure changed, what that says, and why it cannot be told.
fn changed(old: &Figure, new: &Figure) -> (Option<Interval>, CompareAnswer, Option<String>) {
    let found = change(&old.value, &new.value);
    let of = |when: &str, one: &Figure| {
        one.fault.as_ref().map(|fault| format!("the {when} run {}", say(fault)))
    };
    let other = || {
        let reason = format!("an observation was {}, and is {}", old.observed, new.observed);
        (old.observed != new.observed).then(|| say(&reason))
    };
    if let Some(fault) = of("earlier", old).or_else(|| of("later", new)).or_else(other) {
        let bare = Interval { ratio: found.ratio, ..NONE };
        return (Some(bare), CompareAnswer::CannotTell, Some(fault));
    }
    let none = match (is_bare(&old.value), is_bare(&new.value)) {
        (true, true) => Some("no interval in either result"),
        (true, false) => Some("no interval in the earlier result"),
        (false, true) => Some("no interval in the later result"),
        (false, false) => (found.ends() == [None, None])
            .then_some("no interval of the change: both runs have an interval with an open end"),
    };
    (Some(found), answer(found), none.map(str::to_owned))
}

/// Returns whether a value has no interval.
fn is_bare(value: &RunValue) -> bool {
    match value {
        RunValue::Latency { low_ns, high_ns, .. } => low_ns.is_none() && high_ns.is_none(),
        RunValue::Ratio { interval } => interval.ends() == [None, None],
        RunValue::Said { .. } => false,
    }
}

/// A value whose texts are harmless.
fn shown(value: &RunValue) -> RunValue {
    match value {
        RunValue::Said { said, because } => {
            let [said, because] = [said, because].map(|text| text.as_deref().map(say));
            RunValue::Said { said, because }
        }
        other => other.clone(),
    }
}

fn summary(rows: &[ComparedRow], only_before: &[String], only_after: &[String]) -> CompareSummary {
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let judged: Vec<CompareAnswer> =
        rows.iter().filter(|row| row.counts()).map(|row| row.answer).collect();
    let of = |answer| number(judged.iter().filter(|one| **one == answer).count());
    CompareSummary {
        compared: number(judged.len()),
        same: of(CompareAnswer::Same),
        differs: of(CompareAnswer::Differs),
        cannot_tell: of(CompareAnswer::CannotTell),
        only_before: number(only_before.len()),
        only_after: number(only_after.len()),
    }
}

/// The words before a verdict on ratios alone, where every median changed one way beyond the limit;
/// empty where not, and where medians are judged.
fn medians(rows: &[ComparedRow]) -> String {
    let is_shown = |row: &&ComparedRow| {
        let has_values = row.reason.as_ref().is_some_and(|why| why.starts_with(NO_INTERVAL));
        row.measure == Measure::Median && !row.is_judged && has_values
    };
    let changes = rows.iter().filter(is_shown).filter_map(|row| row.change);
    let mut ratios: Vec<f64> = changes.map(|change| change.ratio).collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let [low, .., high] = ratios[..] else { return String::new() };
    if low <= LIMIT && high >= LIMIT.recip() {
        return String::new();
    }
    let changed = words(Interval { ratio: low, low, high }, Measure::Median);
    format!("all medians {changed} ({NO_INTERVAL}); their ratio: ")
}

/// The verdict: the bound of the row that changed most.
fn sentence(answer: CompareAnswer, rows: &[ComparedRow], summary: &CompareSummary) -> String {
    let of_answer = rows.iter().filter(|row| row.counts() && row.answer == answer);
    let most = of_answer.reduce(
        |most, row| {
            if reach(row.change) > reach(most.change) { row } else { most }
        },
    );
    let what = most.map(|row| said(row, answer)).unwrap_or_default();
    let (compared, of) = (summary.compared, if summary.compared == 1 { "value" } else { "values" });
    match answer {
        CompareAnswer::Differs => {
            let which = if summary.differs == 1 { "" } else { ", for example" };
            format!("differs ({} of {compared} {of}){which}: {what}", summary.differs)
        }
        CompareAnswer::CannotTell => {
            let is_known = most.is_some_and(|row| row.reason.is_none() && row.change.is_some());
            // The values that are left over are the same or without an interval.
            let which = match (is_known, summary.cannot_tell) {
                (true, 1) => "",
                (true, _) => "; the widest interval",
                (false, 1) => "",
                (false, _) => "; for example",
            };
            format!("cannot tell for {} of {compared} {of}{which}: {what}", summary.cannot_tell)
        }
        CompareAnswer::Same if most.is_some_and(|row| row.change.is_none()) => {
            format!("same ({compared} {of}): {what}")
        }
        CompareAnswer::Same => format!("no difference above 10 % in {compared} {of}: {what}"),
    }
}

/// One row in the verdict: `fdatasync, median 22 to 31 % longer`.
fn said(row: &ComparedRow, answer: CompareAnswer) -> String {
    let name = match row.measure {
        Measure::Answer => row.name.clone(),
        Measure::Ratio => format!("ratio of {} ({})", row.name, row.group),
        measure => format!("{} of {}", measure.word(), row.name),
    };
    let words = match (&row.reason, answer, row.change) {
        (_, CompareAnswer::Same, Some(change)) => bound(change, row.measure),
        (None, _, Some(change)) if is_vast(change) => TOO_WIDE.to_owned(),
        (None, _, Some(_)) => row.words.clone(),
        (Some(reason), ..) => reason.clone(),
        (None, _, None) => match (&row.before, &row.after) {
            (RunValue::Said { said: Some(was), .. }, RunValue::Said { said: Some(is), .. })
                if was != is =>
            {
                format!("{was} before, {is} after")
            }
            _ => "the same answer".to_owned(),
        },
    };
    format!("{name}: {words}")
}
