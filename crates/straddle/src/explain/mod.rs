//! `straddle explain`: what a code, a word or a log line means.

mod input;
mod list;
mod page;

use std::io::Write as _;

use anyhow::bail;
use stack::lexicon::{self, Entry};
use workload::Engines;

use crate::arguments::{Colour, Explain};
use crate::exit::Outcome;
use crate::printer;

pub(crate) fn run(explain: &Explain) -> anyhow::Result<Outcome> {
    let text = explain.words.join(" ");
    let printed = match text.trim() {
        "" => list::all(),
        "-" => input::pages(std::io::stdin().lock())?,
        words => match (list::group(words), Engines::built_in().find(words)) {
            (Some(group), _) => group,
            (None, Ok(profile)) => page::of_engine(profile),
            (None, Err(_)) => page::page(entry(words)?),
        },
    };
    let mut output = printer::output(Colour::Auto);
    output.write_all(printed.as_bytes())?;
    output.flush()?;
    Ok(Outcome::Clean)
}

fn entry(words: &str) -> anyhow::Result<Entry> {
    let near = match lexicon::find(words) {
        Ok(entry) => return Ok(entry),
        Err(near) => near,
    };
    let hint = match near[..] {
        [] => "`straddle explain` lists all that is known".to_owned(),
        _ => {
            let names: Vec<String> = near.iter().map(|near| format!("`{}`", near.name())).collect();
            format!("did you mean {}? `straddle explain` lists all", names.join(", "))
        }
    };
    bail!("`{}` is not known\nhint: {hint}", shortened(words))
}

/// What was typed, harmless to print and short enough for a message.
fn shortened(words: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let mut shown: String = words.chars().take(SHOWN_MAX).collect();
    if shown.len() < words.len() {
        shown.push_str("...");
    }
    units::text::escape(shown.as_bytes()).to_string()
}
