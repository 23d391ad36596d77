//! `straddle explain`: what a code means, from the one table of rules.

use std::io::Write as _;

use anyhow::bail;
use stack::rule::{RULES, Rule, rule};

use crate::arguments::{Colour, Explain};
use crate::exit::Outcome;
use crate::printer;

/// Lines are broken here.
const WIDTH: usize = 80;

pub(crate) fn run(explain: &Explain) -> anyhow::Result<Outcome> {
    let mut output = printer::output(Colour::Auto);
    match &explain.code {
        None => {
            for rule in RULES {
                writeln!(output, "{}  {}", rule.code, rule.title)?;
            }
        }
        Some(code) => match rule(code) {
            Some(rule) => output.write_all(page(rule).as_bytes())?,
            None => bail!(
                "`{}` is no code\nhint: `straddle explain` lists them",
                units::text::escape(code.as_bytes())
            ),
        },
    }
    output.flush()?;
    Ok(Outcome::Clean)
}

fn page(rule: &Rule) -> String {
    format!(
        "{}  {}\n\nWhy it matters\n{}\nHow to fix it\n{}",
        rule.code,
        rule.title,
        wrapped(rule.why),
        wrapped(rule.fix)
    )
}

fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > WIDTH {
            out.push('\n');
            column = 0;
        }
        out.push_str(if column == 0 { "  " } else { " " });
        out.push_str(word);
        column += width + if column == 0 { 2 } else { 1 };
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_fits_a_terminal() {
        for rule in RULES {
            for line in page(rule).lines() {
                assert!(line.chars().count() <= WIDTH, "{}: {line}", rule.code);
            }
        }
    }
}
