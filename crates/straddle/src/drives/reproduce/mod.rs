//! `drive reproduce`: an article's own procedure, typed on served drives.
//!
//! | file | what it is |
//! |---|---|
//! | `procedure` | the parts of a procedure |
//! | `procedures` | those of the articles |
//! | `typist` | types them on drives that are served here |
//! | `reading` | numbers in what programs print |

mod procedure;
mod procedures;
mod reading;
mod typist;

use std::collections::BTreeMap;

use anyhow::bail;
use drive::published::{LineOrigin, PublishedNumber, TURNS, published_of, without_models};
use host::{Interrupt, PrivateMounts};
use report::Envelope;
use report::drive::{PUBLISHED_SCHEMA, Published, PublishedLine, published_json, published_table};

use self::procedure::{Derived, Procedure};
use self::procedures::PROCEDURES;
use self::typist::Typist;
use super::published;
use crate::arguments::Reproduce;
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, Said, shown};
use crate::shared::run;

/// Seed of the model's random places, as of `drive simulate --published`.
const SEED: u64 = 1;

/// Types the procedure of the article that is asked, and compares.
pub(super) fn run(asked: &Reproduce) -> anyhow::Result<CommandOutcome> {
    let article = asked.article.article();
    let procedure = PROCEDURES.iter().find(|procedure| procedure.article == article);
    let procedure = procedure.expect("a test finds the procedure of every article");
    let interrupt = Interrupt::install()?;
    let mut typist = Typist {
        seconds: asked.seconds,
        is_quiet: asked.document.json,
        interrupt,
        numbers: Default::default(),
    };
    if let Some(path) = &asked.measured {
        typist.numbers = reading::measured(path, &units(procedure))?;
    }
    let comment = if asked.dry_run { "# " } else { "" };
    typist.say(&format!("{comment}{}\n", article.title()));
    let remarks = if asked.measured.is_some() { &[] } else { procedure.remarks };
    for remark in remarks {
        typist.say(&format!("{comment}note: {remark}\n"));
    }
    if asked.dry_run {
        typist.preview(procedure.stands);
        return Ok(CommandOutcome::Done);
    }
    let mut failures = Vec::new();
    let stands = if asked.measured.is_some() { &[] } else { procedure.stands };
    // Mounts of its own, where it may: a process that others start meanwhile would keep a copy of
    // each mount of the machine, and so its partition, as long as it runs.
    let _mounts = if stands.is_empty() { None } else { PrivateMounts::enter().ok() };
    for stand in stands {
        if let Err(error) = typist.work_at(stand) {
            if let Some(signal) = typist.interrupt.signal() {
                return Ok(CommandOutcome::Interrupted(signal, printer::interrupted()));
            }
            let failure = format!("not done here: {}: {error:#}", stand.serve);
            typist.say(&format!("{failure}\n"));
            failures.push(failure);
        }
    }
    let document = document(procedure, &typist, failures);
    if let Some(path) = asked.measured.as_ref().filter(|_| document.lines.is_empty()) {
        bail!("cannot compare {}: no line names a number of this article", shown(path));
    }
    let text = match asked.document.json {
        true => published_json(&document),
        false => format!("\n{}", published_table(&document, &printer::look(false))),
    };
    let said = Said::or(printer::print(&text)?, "there are no published numbers");
    let is_off = |line: &PublishedLine| {
        line.served_error_percent.is_some_and(|error| error.abs() > line.bound_percent)
    };
    Ok(if document.lines.iter().any(is_off) {
        CommandOutcome::Found(said)
    } else if document.envelope.notes.is_empty() {
        CommandOutcome::Done
    } else {
        CommandOutcome::NoVerdict(said)
    })
}

/// The numbers of the article that were served, beside what was published and simulated.
fn document(procedure: &Procedure, typist: &Typist, failures: Vec<String>) -> Published {
    let mut lines = published_of(&[procedure.article], SEED);
    let ratios = procedure.derived.iter().filter_map(|derived| ratio(&lines, derived));
    lines.extend(ratios.collect::<Vec<_>>());
    let line = |number: &PublishedNumber| {
        let served = served(procedure, typist, number.what, number.unit)?;
        let error = number.error_percent_of(served);
        let line = published::line(number);
        Some(PublishedLine { served: Some(served), served_error_percent: Some(error), ..line })
    };
    let envelope = Envelope { notes: failures, ..Envelope::new(PUBLISHED_SCHEMA, run::anywhere()) };
    Published { envelope, seed: SEED, lines: lines.iter().filter_map(line).collect() }
}

/// The line of a ratio that was not published itself, of two numbers that were.
fn ratio(lines: &[PublishedNumber], derived: &Derived) -> Option<PublishedNumber> {
    let of = |name: &str| lines.iter().find(|line| line.what == name);
    if of(derived.what).is_some() {
        return None;
    }
    let (first, second) = (of(derived.over.0)?, of(derived.over.1)?);
    let (published, model) = (first.published / second.published, first.model / second.model);
    let (what, unit, published_max) = (derived.what, "times", published);
    let standing = LineOrigin::Derived;
    Some(PublishedNumber { what, unit, published, published_max, model, standing, ..*first })
}

/// The number of a line that was measured, or calculated from two that were.
fn served(procedure: &Procedure, typist: &Typist, what: &str, unit: &str) -> Option<f64> {
    let measured = |name: &str| typist.numbers.get(name).copied();
    let derived = procedure.derived.iter().find(|derived| derived.what == what);
    match derived {
        Some(derived) => {
            let times = measured(derived.over.0)? / measured(derived.over.1)?;
            Some(if derived.is_percent { (times - 1.0) * 100.0 } else { times })
        }
        None if unit == TURNS => None,
        None => measured(what),
    }
}

/// The numbers that can be measured, each with its unit: lines that are not calculated, and the
/// parts of those that are.
fn units(procedure: &Procedure) -> BTreeMap<&'static str, &'static str> {
    let is_derived = |what: &str| procedure.derived.iter().any(|derived| derived.what == what);
    let parts = procedure.derived.iter().flat_map(|derived| [derived.over.0, derived.over.1]);
    let lines = without_models(procedure.article).filter(|line| line.unit != TURNS);
    let lines = lines.map(|line| (line.what, line.unit));
    parts.map(|part| (part, "")).chain(lines.filter(|(what, _)| !is_derived(what))).collect()
}

#[cfg(test)]
mod tests {
    use super::procedure::Step;
    use super::*;
    use drive::published::Article;

    #[test]
    fn every_article_has_a_procedure_whose_drives_can_be_served() {
        for article in Article::ALL {
            let procedure = PROCEDURES.iter().find(|own| own.article == article);
            let procedure = procedure.expect("it has one");
            for stand in procedure.stands {
                let serve = typist::serve_arguments(stand.serve).expect("it can be typed");
                assert!(drive::profile::called(&serve.profile).is_some(), "{}", serve.profile);
            }
        }
    }

    #[test]
    fn every_number_that_is_measured_was_published_or_is_part_of_one_that_was() {
        for procedure in PROCEDURES {
            let lines: Vec<PublishedNumber> = without_models(procedure.article).collect();
            let published = |name: &str| lines.iter().any(|line| line.what == name);
            for derived in procedure.derived {
                let is_ratio = ratio(&lines, derived).is_some();
                assert!(published(derived.what) || is_ratio, "{}", derived.what);
            }
            let parts = procedure.derived.iter().flat_map(|own| [own.over.0, own.over.1]);
            let parts: Vec<&str> = parts.collect();
            for stand in procedure.stands {
                let steps = stand.steps.iter().flat_map(|step| match step {
                    Step::Measure(_, readings) => readings.iter(),
                    _ => [].iter(),
                });
                for (_, name) in steps {
                    for arm in stand.arms {
                        let name = name.replace("{place}", arm.place);
                        assert!(published(&name) || parts.contains(&name.as_str()), "{name}");
                    }
                }
            }
        }
    }
}
