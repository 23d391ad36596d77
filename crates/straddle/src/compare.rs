//! `straddle compare A B`: two result files.

use std::path::Path;

use host::InputError;
use report::RESULT_BYTES_MAX;
use report::compare::{CompareAnswer, Measurement, compare, compare_json, compare_table};
use report::html::{FileContent, ResultFile, read as parse};

use crate::arguments::Compare;
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, Said, shown};
use crate::shared::run;
use units::text::shell_word;

/// The longest result file that is read: histograms of hundreds of experiments fit.
const BYTES_MAX: u64 = RESULT_BYTES_MAX as u64;

pub(crate) fn run(words: &Compare) -> anyhow::Result<CommandOutcome> {
    let sources = [read(&words.before)?, read(&words.after)?];
    let [before, after] = [measurement(&sources[0])?, measurement(&sources[1])?];
    let Some(comparing) = compare(before, after, run::anywhere()) else {
        anyhow::bail!(
            "cannot compare {} with {}: one is a result of {}, the other of {}\nhint: compare two \
             results of the same command: straddle {} {} -o FILE",
            sources[0].name,
            sources[1].name,
            before.command(),
            after.command(),
            before.command(),
            shell_word(&before.target()),
        );
    };
    let text = if words.document.json {
        compare_json(&comparing)
    } else {
        compare_table(&comparing, &printer::look(false))
    };
    let said = Said::or(printer::print(&text)?, &comparing.sentence);
    Ok(match comparing.answer {
        CompareAnswer::Same => CommandOutcome::Done,
        CompareAnswer::CannotTell => CommandOutcome::NoVerdict(said),
        CompareAnswer::Differs => CommandOutcome::Found(said),
    })
}

fn read(path: &Path) -> anyhow::Result<ResultFile> {
    let name = shown(path);
    let fault = |reason: String, hint: &str| {
        anyhow::Error::msg(format!("cannot read the result {name}: {reason}\nhint: {hint}"))
    };
    // An I/O error in the chain would be taken for one of standard output.
    let wrote = "name a file that -o or --json of bench, fsync or probe wrote";
    let bytes = host::read_input(path, BYTES_MAX).map_err(|error| match error {
        InputError::TooLong { .. } => fault(format!("not a result file: {error}"), wrote),
        other => fault(other.to_string(), wrote),
    })?;
    let text = String::from_utf8(bytes).map_err(|_| fault("not UTF-8 text".to_owned(), wrote))?;
    parse(&name, &text).map_err(|error| fault(error.to_string(), error.hint()))
}

fn measurement(source: &ResultFile) -> anyhow::Result<Measurement<'_>> {
    let (of, hint) = match &source.content {
        FileContent::Bench(bench) => return Ok(Measurement::Bench(bench)),
        FileContent::Fsync(fsync) => return Ok(Measurement::Fsync(fsync)),
        FileContent::Probe(probe) => return Ok(Measurement::Probe(probe)),
        FileContent::Check(_) => {
            ("check", "for changes since a baseline: straddle check --watch BASE.json")
        }
        FileContent::Compare(_) => ("compare", "name the two files that it compared"),
        FileContent::Trace(_) => ("trace", "name results of bench, fsync or probe"),
        FileContent::Torture(_) => {
            ("drive torture", "show both on one page: straddle report A B > page.html")
        }
        FileContent::Simulation(_) | FileContent::Published(_) => {
            ("drive simulate", "show both on one page: straddle report A B > page.html")
        }
    };
    anyhow::bail!("cannot compare {}: a result of {of}\nhint: {hint}", source.name)
}
