//! `straddle compare A B`: two result files of `bench`, `fsync` or `probe`.

use std::path::Path;

use report::bench::{self, Bench as Document, BenchFault, alike};
use report::html::{self, Content};

use crate::arguments::Compare;
use crate::exit::Outcome;
use crate::printer::{self, Said, shown};

/// The longest result file that is read: histograms of hundreds of experiments fit.
const BYTES_MAX: u64 = bench::BENCH_BYTES_MAX as u64;

pub(crate) fn run(compare: &Compare) -> anyhow::Result<Outcome> {
    let (before, after) = (read(&compare.before)?, read(&compare.after)?);
    if before.0 != after.0 {
        anyhow::bail!(
            "cannot compare a result of {} with one of {}\nhint: name two results of one command",
            before.0,
            after.0
        );
    }
    let (before, after) = (before.1, after.1);
    let comparing = bench::compare(&before, &after);
    let text = if compare.json {
        bench::compare_json(&comparing)
    } else {
        bench::compare_table(&comparing, &printer::look(false))
    };
    let said = Said::or(printer::print(&text)?, "the results have nothing in common");
    Ok(if comparing.differs() {
        Outcome::Found(said)
    } else if comparing.summary.compared == 0 || comparing.summary.cannot_tell > 0 {
        Outcome::NoVerdict(said)
    } else {
        Outcome::Done
    })
}

/// The command that wrote the file, and what it holds.
fn read(path: &Path) -> anyhow::Result<(&'static str, Document)> {
    let name = shown(path);
    let tried = || format!("cannot read the result {name}");
    // An I/O error in the chain would be taken for one of standard output.
    let bytes = host::read_input(path, BYTES_MAX).map_err(|error| {
        anyhow::Error::msg(format!("{}: {error}\nhint: name what -o or --json wrote", tried()))
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        anyhow::Error::msg(format!(
            "{}: it is no text\nhint: name what -o or --json wrote",
            tried()
        ))
    })?;
    let fault = match bench::bench_parse(&text) {
        Ok(bench) => return Ok(("bench", bench)),
        Err(fault) => fault,
    };
    if let BenchFault::OtherSchema(_) = &fault {
        match html::read(&name, &text).map(|source| source.content) {
            Ok(Content::Fsync(fsync)) => return Ok(("fsync", alike::of_fsync(&fsync))),
            Ok(Content::Probe(probe)) => return Ok(("probe", alike::of_probe(&probe))),
            _ => {}
        }
    }
    anyhow::bail!("{}: {fault}\nhint: {}", tried(), fault.hint())
}
