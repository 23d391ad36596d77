//! `straddle explain`: what a code, a word or a log line means.

mod answer;
#[cfg(test)]
mod docs;
mod input;
mod list;
mod page;

use crate::arguments::Explain;
use crate::exit::CommandOutcome;
use crate::shared::printer;

pub(crate) fn run(explain: &Explain) -> anyhow::Result<CommandOutcome> {
    let text = explain.words.join(" ");
    let printed = match text.trim() {
        "" => list::all(),
        "-" => input::pages(std::io::stdin().lock())?,
        words => answer::answer(words)?,
    };
    printer::print(&printed)?;
    Ok(CommandOutcome::Done)
}
