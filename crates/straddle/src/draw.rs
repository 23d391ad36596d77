//! `straddle draw`: the result of a check as a picture.

use crate::arguments::Draw;
use crate::check;
use crate::exit::CommandOutcome;
use crate::shared::destination::{self, Destination};

pub(crate) fn run(draw: &Draw) -> anyhow::Result<CommandOutcome> {
    let destination = Destination::of(destination::PICTURE, draw.output.as_ref())?;
    check::run_to(&draw.check(), destination)
}
