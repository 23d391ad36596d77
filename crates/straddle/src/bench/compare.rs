//! `straddle compare A B`: two result files.

use std::path::Path;

use report::bench::{self, Bench as Document};

use crate::arguments::Compare;
use crate::exit::Outcome;
use crate::printer::{self, Said, shown};

/// The longest result file that is read: histograms of hundreds of experiments fit.
const BYTES_MAX: u64 = bench::BENCH_BYTES_MAX as u64;

pub(crate) fn run(compare: &Compare) -> anyhow::Result<Outcome> {
    let (before, after) = (read(&compare.before)?, read(&compare.after)?);
    let comparing = bench::compare(&before, &after);
    let text = if compare.json {
        bench::compare_json(&comparing)
    } else {
        bench::compare_table(&comparing, &printer::look(false))
    };
    let said = Said::or(printer::print(&text)?, "the results have nothing in common");
    Ok(if comparing.summary.compared == 0 {
        Outcome::NoVerdict(said)
    } else if comparing.differs() {
        Outcome::Found(said)
    } else {
        Outcome::Done
    })
}

fn read(path: &Path) -> anyhow::Result<Document> {
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
    bench::bench_parse(&text).map_err(|fault| {
        anyhow::Error::msg(format!("{}: {fault}\nhint: {}", tried(), fault.hint()))
    })
}
