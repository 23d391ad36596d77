//! The document of all engines, `docs/engines.md`.

use super::engines::{BUILT_IN, Engines};
use super::profile::{Limit, Profile};
use crate::Duration;

/// The form of a profile, as the document shows it.
pub const FORM: &str = include_str!("form.md");

/// Explanation of the verdicts.
const JUDGED: &str = include_str!("judged.md");

/// A profile to copy: that of the first built-in engine.
#[must_use]
pub fn example() -> &'static str {
    BUILT_IN[0].1
}

/// The document of all engines, in Markdown.
#[must_use]
pub fn document(engines: &Engines) -> String {
    let mut page = "# Engines\n\n\
        Made from the profiles in `crates/workload/profiles`; `straddle explain NAME` prints \
        each.\n\
        Each limit is for one durable write at a time, without other load. A limit marked ours is \
        \n\
        chosen by this project; no other source names it.\n\n\
        | engine | quantile | WARN above | FAIL above |\n|---|---|---|---|\n"
        .to_owned();
    for profile in engines.iter() {
        let limit = |limit: &Limit| {
            let ours = if limit.is_ours() { ", ours" } else { "" };
            format!("{}{ours}", Duration(limit.above_ns))
        };
        let (warn, fail) = (limit(&profile.warn), limit(&profile.fail));
        let (name, quantile) = (&profile.name, profile.quantile.name());
        page += &format!("| [{name}](#{name}) | {quantile} | {warn} | {fail} |\n");
    }
    for profile in engines.iter() {
        page += &section(profile);
    }
    page + "\n" + JUDGED + "\n## A profile of your own\n\n" + FORM
}

fn section(profile: &Profile) -> String {
    let mut page = format!("\n## {}\n\n**{}**\n\n", profile.name, plain(&profile.title));
    if !profile.aliases.is_empty() {
        page += &format!("Also called {}.\n\n", profile.aliases.join(", "));
    }
    page += &format!("Measured: {}; ", plain(&profile.pattern.sentence()));
    page += &format!("{}.\n\n", profile.pattern.wanted());
    for (grade, limit) in [("WARN", &profile.warn), ("FAIL", &profile.fail)] {
        page += &format!(
            "- **{grade}** above a {} of {}: {}\n  Source: {}\n",
            profile.quantile.name(),
            Duration(limit.above_ns),
            plain(&limit.sentence),
            plain(&limit.from())
        );
    }
    page += &format!("- Next: {}\n", plain(&profile.next));
    profile.notes.iter().for_each(|note| page += &format!("- Note: {}\n", plain(note)));
    page
}

/// Text in which Markdown sees no markup.
fn plain(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if matches!(character, '*' | '<' | '>' | '#' | '|' | '`' | '[' | ']') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}
