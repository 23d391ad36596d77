//! `straddle probe`: what a drive really writes as one, measured; and what to tell tools.
//!
//! | file | what it is |
//! |---|---|
//! | `bed` | where: the scratch file or the device, the way down, the drive |
//! | `measuring` | the questions of `measure::probe`, asked there |
//! | `document` | what is printed, and what is kept |

mod bed;
mod document;
mod measuring;

use std::io::Write as _;

use host::Interrupt;
use jiff::Timestamp;
use report::Look;
use report::probe::{Probe as Document, ProbeRefusal, probe_json, probe_table};

use crate::arguments::{Colour, Probe};
use crate::bench::shown;
use crate::bench::target::Target;
use crate::exit::Outcome;
use crate::printer;
use crate::scene::Scene;

use bed::Bed;

/// What everything here is told.
struct Run<'a> {
    probe: &'a Probe,
    /// Without what was measured before: that is what is asked.
    scene: Scene,
    interrupt: Interrupt,
    seed: u64,
}

pub(crate) fn run(probe: &Probe) -> anyhow::Result<Outcome> {
    let started = Timestamp::now();
    let begun = std::time::Instant::now();
    // Any number will do that another run is unlikely to have; it is printed.
    let drawn = u64::try_from(started.as_nanosecond().rem_euclid(1 << 53)).unwrap_or(1);
    let run = Run {
        probe,
        scene: Scene::live().ignoring_measured(true),
        interrupt: Interrupt::install()?,
        seed: probe.seed.unwrap_or(drawn),
    };
    let mut document = document::begun(&run, started.to_string());
    if let Err(refusal) = fill(&run, &mut document) {
        document.refusal = Some(refusal);
    }
    document.elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    show(&run, &document)
}

/// Answers what was asked.
fn fill(run: &Run<'_>, document: &mut Document) -> Result<(), ProbeRefusal> {
    let target = Target::of(&run.probe.target).map_err(from_bench)?;
    if run.probe.dry_run {
        return bed::preview(run, &target, document);
    }
    let bed = Bed::made(run, &target, document)?;
    document::describe(&bed, document);
    let found = measuring::run(run, &bed, document)?;
    document::answer(run, &bed, &found, document);
    Ok(())
}

/// A refusal of the bench's parts, as one of this.
fn from_bench(refusal: report::bench::BenchRefusal) -> ProbeRefusal {
    let report::bench::BenchRefusal { message, hint, safety } = refusal;
    let hint = hint.map(|hint| hint.replace("straddle bench", "straddle probe"));
    ProbeRefusal { message, hint, safety }
}

/// A refusal that is no matter of safety.
fn refused(message: impl Into<String>, hint: Option<&str>) -> ProbeRefusal {
    ProbeRefusal { message: message.into(), hint: hint.map(str::to_owned), safety: false }
}

/// Prints the result; what the process ends with.
fn show(run: &Run<'_>, document: &Document) -> anyhow::Result<Outcome> {
    if let Some(refusal) = &document.refusal {
        let hint = refusal.hint.as_ref().map(|hint| format!("\nhint: {hint}"));
        printer::error(&format!("{}{}", refusal.message, hint.unwrap_or_default()));
    }
    let signal = run.interrupt.signal();
    if signal.is_some() {
        printer::note("interrupted; nothing is left behind");
    }
    // What was measured is kept where it cannot be shown, and shown where it cannot be kept.
    let kept = run.probe.output.as_ref().map_or(Ok(()), |path| {
        // The chain must not hold the I/O error itself, which would be taken for standard output's.
        std::fs::write(path, probe_json(document))
            .map_err(|error| anyhow::anyhow!("cannot write the result to {}: {error}", shown(path)))
    });
    let look = Look {
        width: Some(printer::width()),
        ascii: printer::is_ascii(),
        bytes: false,
        explain: run.probe.explain,
    };
    let text = match (run.probe.json, &document.refusal) {
        (true, _) => probe_json(document),
        (false, Some(_)) => String::new(),
        (false, None) => probe_table(document, &look),
    };
    let mut output = printer::output(Colour::Auto);
    output.write_all(text.as_bytes())?;
    output.flush()?;
    kept?;
    Ok(match (&document.refusal, signal) {
        (_, Some(signal)) => Outcome::Interrupted(signal),
        (Some(refusal), None) if refusal.safety => Outcome::Refused,
        (Some(_), None) => Outcome::Unanswered,
        (None, None) if document.dry_run || document.answers.found_any() => Outcome::Clean,
        (None, None) => Outcome::Unanswered,
    })
}
