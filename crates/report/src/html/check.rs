//! A result of `straddle check` on the page.

use maud::{Markup, html};

use super::elements::{Tone, chip, folded, more, pairs, refused, say};
use super::finding::findings;
use super::headline::Headline;
use super::run_facts::{self, RunFacts};
use super::short_answer::{Rank, ShortAnswer, sentence};
use super::stack::{has_error, of_verdict, stack, units};
use crate::check_document::{Document, Target};
use crate::drawing;
use crate::quantity_words::{count, severities};
use crate::target_outcome;
use crate::view_options::Look;
use stack::{Severity, Verdict};

/// The most targets that are drawn, the worst first.
const TARGETS_MAX: usize = 24;

/// Columns of a drawing: its letters are then large enough on a phone.
const COLUMNS: usize = 54;

/// All of one result; `id` begins the names of its parts.
pub(super) fn section(id: &str, document: &Document) -> Markup {
    let RunFacts { rows, .. } = run_facts::of_check(document);
    // In the order of the file, but what is bad or not known is not lost behind what is good.
    let mut targets: Vec<&Target> = document.targets.iter().collect();
    targets.sort_by_key(|target| std::cmp::Reverse(need(answer(target).0)));
    html! {
        @for (number, target) in targets.iter().take(TARGETS_MAX).enumerate() {
            (one(&format!("{id}-{number}"), target))
        }
        (more(targets.len().saturating_sub(TARGETS_MAX), "targets"))
        (folded("Machine and command", &pairs(&rows)))
    }
}

fn one(id: &str, target: &Target) -> Markup {
    let (tone, word) = answer(target);
    html! {
        h3 { (say(&target.target)) " " (chip(tone, &word)) }
        @if let Some(refusal) = &target.refusal {
            (refused("not judged", &refusal.message, refusal.hint.as_deref()))
        } @else {
            (figure(id, target))
            div.columns {
                div { h4 { "Stack" } (stack(target)) }
                div { h4 { "Findings" } (findings(target)) (units(target)) }
            }
        }
    }
}

/// The layers as a picture.
fn figure(id: &str, target: &Target) -> Markup {
    let sheet = drawing::drawing(target, &Look { width: Some(COLUMNS), ..Look::default() });
    html! {
        // What is no error is not drawn as one.
        figure.amber[!has_error(target)] {
            (drawing::inline(&sheet, id))
            figcaption {
                "Each box lies on the boxes below it, drives at the bottom. A misaligned layer is "
                "shifted to the right of the granule marks."
            }
        }
    }
}

/// Returns how good a target is, and its verdict in a word.
fn answer(target: &Target) -> (Tone, String) {
    if target.refusal.is_some() {
        return (Tone::Unknown, "not judged".to_owned());
    }
    let word = target.verdict.words();
    match (has_error(target), target.verdict) {
        (true, Verdict::Misaligned) => (Tone::Bad, word.to_owned()),
        (true, _) => (Tone::Bad, format!("{word}, with errors")),
        (false, verdict) => (of_verdict(verdict, target), word.to_owned()),
    }
}

/// Returns how much a tone wants to be looked at: what is not known more than what is good.
fn need(tone: Tone) -> u8 {
    match tone {
        Tone::Good => 0,
        Tone::Plain => 1,
        Tone::Unknown => 2,
        Tone::Care => 3,
        Tone::Bad => 4,
    }
}

/// The result in a few words, for the table of all files.
pub(super) fn headline(document: &Document) -> Headline {
    let summary = &document.summary;
    let worst = document.targets.iter().map(answer).max_by_key(|(tone, _)| need(*tone));
    let severities = severities(summary.errors, summary.warnings, summary.infos);
    let found =
        if severities.is_empty() { "no findings".to_owned() } else { severities.join(", ") };
    match worst {
        None => Headline::new(Tone::Unknown, "no target", ""),
        Some((tone, word)) => {
            let bad = summary.verdicts.of(Verdict::Misaligned);
            let unknown = summary.verdicts.of(Verdict::Unknown);
            let some = |count: u64, word: &str| match count {
                0 => String::new(),
                count => format!("{count} {word}, "),
            };
            // Of one alone the word says all.
            let of = match summary.targets {
                1 => String::new(),
                many => format!(
                    "{}, {}{}",
                    count(many, "target"),
                    some(bad, "misaligned"),
                    some(unknown, "unknown")
                ),
            };
            Headline::new(tone, word, of + &found)
        }
    }
}

/// The result in a sentence, with what to do next.
pub(super) fn short_answer(document: &Document) -> ShortAnswer {
    let targets = || document.targets.iter();
    let worst = targets().filter_map(|target| Some((target, target_outcome::worst(target)?)));
    let worst = worst.max_by_key(|(_, finding)| finding.severity);
    let is_bad =
        |it: &&Target| target_outcome::worst(it).is_some_and(|it| it.severity > Severity::Info);
    let bad = targets().filter(is_bad).count();
    if let Some((target, finding)) = worst.filter(|(_, it)| it.severity > Severity::Info) {
        let cost = finding.cost.as_ref().map(|cost| say(&cost.sentence)).unwrap_or_default();
        let cost = if cost.is_empty() { cost } else { format!(": {cost}") };
        let others = match bad {
            0 | 1 => String::new(),
            bad => format!(" {bad} of {} targets have warnings or errors.", document.targets.len()),
        };
        let what = format!(
            "{} on {}: {}{others}",
            say(&finding.code),
            say(&target.target),
            sentence(&format!("{}{cost}", say(&finding.title)))
        );
        // All of them: which one is right depends on what lies there.
        let remedies = finding.remedies.join("; ");
        let is_error = finding.severity == Severity::Error;
        let rank = if is_error { Rank::Failing } else { Rank::Care };
        return ShortAnswer::new(rank, what).next(Some(&remedies));
    }
    if let Some(target) = targets().find(|target| target.verdict == Verdict::Misaligned) {
        return ShortAnswer::new(Rank::Care, format!("{} is misaligned.", say(&target.target)));
    }
    let refused = targets().find_map(|target| Some((target, target.refusal.as_ref()?)));
    if let Some((target, refusal)) = refused {
        let what = format!("{} could not be opened", say(&target.target));
        return ShortAnswer::refused(&what, refusal);
    }
    match targets().find(|target| answer(target).0 != Tone::Good) {
        Some(target) => {
            let verdict = target.verdict.words();
            ShortAnswer::new(Rank::Unknown, format!("{} is {verdict}.", say(&target.target)))
        }
        None if document.targets.is_empty() => {
            ShortAnswer::new(Rank::Unknown, "No target was judged.")
        }
        None => ShortAnswer::new(Rank::Good, "aligned."),
    }
}
