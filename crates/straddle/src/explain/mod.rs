//! `straddle explain`: what a code, a word or a log line means.

mod answer;
#[cfg(test)]
mod docs;
mod list;
mod page;
mod standard_input;

use self::answer::Answer;
use crate::arguments::Explain;
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, Said};

pub(crate) fn run(explain: &Explain) -> anyhow::Result<CommandOutcome> {
    let text = explain.words.join(" ");
    let answer = match text.trim() {
        "" => Answer::Pages(list::all()),
        "-" => standard_input::pages(std::io::stdin().lock())?,
        words => answer::answer(words),
    };
    match answer {
        Answer::Pages(pages) => {
            printer::print(&pages)?;
            Ok(CommandOutcome::Done)
        }
        Answer::NoPage(titles) => {
            let said = printer::print(&titles)?;
            Ok(CommandOutcome::NoVerdict(Said::or(said, "no page explains it")))
        }
    }
}
