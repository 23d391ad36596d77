//! The last kept result in place of a look: no device is opened.

use std::time::Instant;

use jiff::Timestamp;
use report::check_document::{Document, SCHEMA};
use report::{Envelope, Refusal, Run, check_parse};

use super::baseline;
use super::show::{Pieces, Press};
use super::tally::{CheckTally, Shown};
use super::{ended, target_stack};
use crate::arguments::{Check, Format};
use crate::exit::CommandOutcome;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::{self, PrintedKind, shown};
use crate::shared::{kept_results, run};

/// Seconds by which a result may be dated in the future: clocks are set.
const CLOCK_SECONDS: i64 = 300;

/// Judges the last kept result, or says why there is none to judge.
pub(super) fn run(check: &Check) -> anyhow::Result<CommandOutcome> {
    let begun = Instant::now();
    let own = run::run(Timestamp::now(), &InspectedMachine::live());
    let (targets, envelope, elapsed_ns) = match kept(&own, check.max_age) {
        Ok(document) => {
            let Document { targets, mut envelope, summary } = document;
            let started = &envelope.run.started;
            let note = format!("judged by the result of {started}; no device was opened");
            printer::note(&note);
            envelope.notes.push(note);
            (targets, envelope, summary.elapsed_ns)
        }
        Err(refusal) => {
            let target = target_stack::refused("last kept result".to_owned(), refusal);
            let elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
            (vec![target], Envelope::new(SCHEMA, own), elapsed_ns)
        }
    };
    let is_text = check.chosen() == Format::Table;
    let mut output = printer::output(if is_text { PrintedKind::Text } else { PrintedKind::Data });
    let press = Press::new(check, None, envelope, &[], targets.len() > 1)?;
    let mut page = Pieces::begin(&press, &mut output)?;
    let mut tally = CheckTally::of(check, None);
    for target in targets {
        tally.take(&mut page, Shown::of(check, &press, target))?;
    }
    tally.summary.elapsed_ns = elapsed_ns;
    let answer = check.allowed(tally.answer());
    page.end(&tally.summary, answer, false)?;
    Ok(ended(check, answer, output.end()?))
}

/// The last result of this machine that is no older than `max_age` seconds.
fn kept(own: &Run, max_age: u32) -> Result<Document, Refusal> {
    let refused = |reason: String| {
        let hint = "keep one first: straddle check --keep";
        let message = format!("cannot judge the last kept result: {reason}");
        Refusal::undecided(message, Some(hint.to_owned()))
    };
    let path = kept_results::last(kept_results::CHECK).map_err(refused)?;
    let told = |reason: String| refused(format!("{}: {reason}", shown(&path)));
    let bytes = host::read_input(&path, baseline::BASELINE_BYTES);
    let bytes = bytes.map_err(|error| told(error.to_string()))?;
    let document = check_parse(&bytes).map_err(|fault| told(fault.to_string()))?;
    other_machine(&document.envelope.run, own).map_or(Ok(()), |reason| Err(told(reason)))?;
    unfit_age(&document.envelope.run, own, max_age).map_or(Ok(()), |reason| Err(told(reason)))?;
    Ok(document)
}

/// Why a result is not of this machine; `None` where it is.
fn other_machine(kept: &Run, own: &Run) -> Option<String> {
    let Some(host) = &kept.host else { return Some("does not name its machine".to_owned()) };
    (own.host.as_ref() != Some(host)).then(|| format!("is of another machine: {host}"))
}

/// Why a result is too old, or cannot be dated; `None` where it is recent.
fn unfit_age(kept: &Run, own: &Run, max_age: u32) -> Option<String> {
    let parsed = |run: &Run| run.started.parse::<Timestamp>().ok();
    let Some((made, now)) = parsed(kept).zip(parsed(own)) else {
        return Some("its date cannot be read".to_owned());
    };
    let age = now.as_second().saturating_sub(made.as_second());
    match age {
        _ if age < -CLOCK_SECONDS => Some(format!("is of the future: {made}")),
        _ if age > i64::from(max_age) => {
            Some(format!("too old: {}, and --max-age is {}", words(age), words(max_age.into())))
        }
        _ => None,
    }
}

/// A time in its largest whole unit, or the next smaller one where that would be a bare 1.
fn words(seconds: i64) -> String {
    let units = [(86_400, "days"), (3600, "hours"), (60, "minutes")];
    let unit = units.into_iter().find(|(each, _)| seconds >= 2 * each);
    let (each, name) = unit.unwrap_or((1, "seconds"));
    format!("{} {name}", seconds.div_euclid(each))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(started: &str, host: Option<&str>) -> Run {
        Run { started: started.to_owned(), host: host.map(str::to_owned), ..Run::default() }
    }

    #[test]
    fn a_result_is_used_up_to_its_greatest_age_and_not_from_the_future() {
        let now = run("2026-11-26T12:00:00Z", Some("db1"));
        let unfit = |started: &str| unfit_age(&run(started, Some("db1")), &now, 86_400);
        assert_eq!(unfit("2026-11-25T12:00:00Z"), None);
        assert_eq!(unfit("2026-11-26T12:04:00Z"), None, "a clock that was set");
        let old = unfit("2026-11-23T11:00:00Z").unwrap();
        assert_eq!(old, "too old: 3 days, and --max-age is 24 hours");
        assert!(unfit("2026-11-26T13:00:00Z").unwrap().starts_with("is of the future"));
        assert_eq!(unfit("soon").unwrap(), "its date cannot be read");
    }

    #[test]
    fn a_result_is_of_this_machine_only_where_it_says_so() {
        let own = run("", Some("db1"));
        assert_eq!(other_machine(&run("", Some("db1")), &own), None);
        assert_eq!(
            other_machine(&run("", Some("db2")), &own).unwrap(),
            "is of another machine: db2"
        );
        assert_eq!(other_machine(&run("", None), &own).unwrap(), "does not name its machine");
    }
}
