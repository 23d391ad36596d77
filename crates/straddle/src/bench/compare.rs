//! `straddle compare A B`: two result files.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use report::bench::{self, Bench as Document};

use crate::arguments::Compare;
use crate::exit::Outcome;
use crate::printer::{self, shown};

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
    printer::print(&text)?;
    Ok(if comparing.summary.compared == 0 {
        Outcome::Unanswered
    } else if comparing.differs() {
        Outcome::Found
    } else {
        Outcome::Clean
    })
}

fn read(path: &Path) -> anyhow::Result<Document> {
    let name = shown(path);
    let tried = || format!("cannot read the result {name}");
    // An I/O error in the chain would be taken for one of standard output.
    let file = File::open(path).map_err(|error| anyhow::Error::msg(error.to_string()));
    let mut text = String::new();
    let read = file.and_then(|file| {
        file.take(BYTES_MAX + 1)
            .read_to_string(&mut text)
            .map_err(|error| anyhow::Error::msg(error.to_string()))
    });
    let read = read.with_context(tried)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > BYTES_MAX {
        anyhow::bail!("cannot read the result {name}: it is longer than {} MiB", BYTES_MAX >> 20);
    }
    bench::bench_parse(&text).map_err(|fault| {
        anyhow::Error::msg(format!("{}: {fault}\nhint: {}", tried(), fault.hint()))
    })
}
