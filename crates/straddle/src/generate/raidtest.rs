//! `straddle generate raidtest`: a file of requests, as raidtest's `genfile` makes them.

use std::fs::File;
use std::io::Write as _;

use anyhow::Context as _;
use workload::raidtest::{GeneratePlan, Mix, Requests};

use crate::arguments::{Raidtest, RaidtestKind, is_standard_output};
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, PrintedKind};

pub(super) fn write(asked: &Raidtest) -> anyhow::Result<CommandOutcome> {
    let plan = GeneratePlan {
        media_bytes: asked.media,
        sector_bytes: asked.sector,
        count: asked.count,
        mix: match asked.kind {
            RaidtestKind::Read => Mix::Read,
            RaidtestKind::Write => Mix::Write,
            RaidtestKind::Mixed => Mix::Mixed,
        },
        seed: asked.seed,
    };
    let requests = Requests::generate(&plan)
        .map_err(|error| anyhow::Error::msg(format!("{error}\nhint: {}", error.hint())))?;
    if is_standard_output(&asked.file) {
        // These are no words: nothing is taken out of them.
        printer::print_bytes(PrintedKind::Data, &requests.encode())?;
        printer::note(&requests.title());
        return Ok(CommandOutcome::Done);
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
    Ok(CommandOutcome::Done)
}
