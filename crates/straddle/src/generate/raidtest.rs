//! `straddle generate raidtest`: a file of requests, as raidtest's `genfile` makes them.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use workload::raidtest::{GeneratePlan, Mix, Requests};

use crate::arguments::{Colour, is_standard_output, size_above_0};
use crate::exit::Outcome;
use crate::printer;

/// Write a file of requests for `bench --raidtest`, in raidtest's own format
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  straddle generate raidtest --media 64M --count 10000 reads.raidtest
  straddle bench /data --raidtest reads.raidtest")]
pub(crate) struct Raidtest {
    /// The file to write, which must not exist; - is standard output
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The length of the medium that requests are drawn from; at least 128 KiB
    #[arg(long, value_name = "SIZE", value_parser = size_above_0)]
    pub(crate) media: u64,

    /// Of what offsets and lengths are multiples: a power of two
    #[arg(long, value_name = "SIZE", default_value_t = 512)]
    pub(crate) sector: u32,

    /// How many requests
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub(crate) count: usize,

    /// What they do
    #[arg(long, value_enum, default_value_t = Kind::Read)]
    pub(crate) kind: Kind,

    /// What decides them
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// What requests do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// All read
    Read,
    /// All write
    Write,
    /// Each by a fair coin
    Mixed,
}

pub(super) fn write(asked: &Raidtest) -> anyhow::Result<Outcome> {
    let plan = GeneratePlan {
        media_bytes: asked.media,
        sector_bytes: asked.sector,
        count: asked.count,
        mix: match asked.kind {
            Kind::Read => Mix::Read,
            Kind::Write => Mix::Write,
            Kind::Mixed => Mix::Mixed,
        },
        seed: asked.seed,
    };
    let requests = Requests::generate(&plan)
        .map_err(|error| anyhow::Error::msg(format!("{error}\nhint: {}", error.hint())))?;
    if is_standard_output(&asked.file) {
        // These are no words: nothing is taken out of them.
        let mut output = printer::output(Colour::Always);
        output.write_all(&requests.encode())?;
        output.flush()?;
        printer::note(&requests.title());
        return Ok(Outcome::Clean);
    }
    let write = || -> std::io::Result<()> {
        let mut file = File::create_new(&asked.file)?;
        file.write_all(&requests.encode())?;
        file.sync_all()
    };
    // An I/O error in the chain would be taken for one of standard output.
    write().map_err(|error| anyhow::Error::msg(error.to_string())).with_context(|| {
        let name = units::text::escape(asked.file.as_os_str().as_encoded_bytes());
        format!("cannot write the requests to {name}")
    })?;
    printer::note(&requests.title());
    Ok(Outcome::Clean)
}
