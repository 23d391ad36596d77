//! `straddle explain`: what a code, a word or a log line means.

mod answer;
#[cfg(test)]
mod docs;
mod list;
mod page;
mod standard_input;

use crate::arguments::Explain;
use crate::exit::CommandOutcome;
use crate::shared::printer;

pub(crate) fn run(explain: &Explain) -> anyhow::Result<CommandOutcome> {
    let text = explain.words.join(" ");
    let printed = match text.trim() {
        "" => list::all(),
        "-" => standard_input::pages(std::io::stdin().lock())?,
        words => answer::answer(words)?,
    };
    printer::print(&printed)?;
    Ok(CommandOutcome::Done)
}
