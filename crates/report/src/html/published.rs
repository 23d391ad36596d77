//! Published numbers beside those of the models, on the page.

use ::drive::published::source_of;
use maud::{Markup, html};

use super::chart::{Caption, Dot, factors};
use super::elements::{Tone, chip, folded, more, pairs, say};
use super::headline::Headline;
use super::short_answer::{Rank, ShortAnswer};
use super::table::{Row, cell, figure, named, row, table, told};
use crate::bench::figure_rounding::UNKNOWN;
use crate::drive::{Published, PublishedLine, PublishedStanding, bound, digits, error, range};

/// The most articles, and the most lines of one, that are shown.
const ARTICLES_MAX: usize = 24;
const LINES_MAX: usize = 60;
const HEADS: [&str; 8] =
    ["What", "Published", "Model", "Unit", "Error", "Bound", "Label", "Answer"];

/// All of one result; `id` makes names unique on the page.
pub(super) fn section(id: &str, published: &Published) -> Markup {
    let lines = &published.lines[..];
    let articles: Vec<&[PublishedLine]> =
        lines.chunk_by(|one, next| one.article == next.article).collect();
    html! {
        p { (labels()) }
        @for (number, lines) in articles.iter().take(ARTICLES_MAX).enumerate() {
            (article(&format!("{id}-{number}"), lines))
        }
        (more(articles.len().saturating_sub(ARTICLES_MAX), "articles"))
        (folded("Command", &pairs(&[
            ("Seed", Some(published.seed.to_string())),
            ("straddle", Some(say(&published.envelope.version))),
        ])))
    }
}

/// Returns what the labels mean.
fn labels() -> &'static str {
    "Predicted: the number set no value of the drive. Calibrated: it set one. Fitted: it set \
     several, together with others, so it does not count. Derived: arithmetic without a model."
}

fn article(id: &str, lines: &[PublishedLine]) -> Markup {
    let shown = &lines[..lines.len().min(LINES_MAX)];
    let title = lines.first().map_or(UNKNOWN.to_owned(), |line| say(&line.article));
    html! {
        h3 { (title) }
        @if let Some(source) = lines.first().and_then(|line| source_of(&line.article)) {
            p.quiet { (source) }
        }
        (table("Published numbers, and the model's", &HEADS,
            shown.iter().map(one)))
        (more(lines.len() - shown.len(), "numbers"))
        (errors(id, shown))
        (reasons(shown))
    }
}

fn one(line: &PublishedLine) -> Row {
    let what = html! {
        (say(&line.what))
        @if let Some(drive) = &line.drive { " " span.quiet { (say(drive)) } }
    };
    row([
        named(what),
        figure(range(line)),
        figure(digits(line.model)),
        told(&line.unit),
        figure(error(line)),
        figure(bound(line)),
        told(line.label.word()),
        cell(answer(line)),
    ])
}

fn answer(line: &PublishedLine) -> Markup {
    match line.standing() {
        PublishedStanding::Fitted => chip(Tone::Plain, "does not count"),
        PublishedStanding::Within => chip(Tone::Good, "within"),
        PublishedStanding::Explained => chip(Tone::Care, "outside"),
        PublishedStanding::Outside => chip(Tone::Bad, "outside, no reason given"),
    }
}

/// Each line as a factor of what was published, over what would be within its bound.
fn errors(id: &str, lines: &[PublishedLine]) -> Markup {
    let caption = Caption {
        id: id.to_owned(),
        title: "Model by published".to_owned(),
        description: "A dot for each number: how many times what was published the model says, on \
                      a logarithmic axis. The line is what would be within its bound. The numbers \
                      are those of the table."
            .to_owned(),
    };
    let dot = |line: &PublishedLine| {
        let share = line.bound_percent / 100.0;
        let high = line.published_max / line.published;
        Dot {
            name: line.what.clone(),
            at: line.model / line.published,
            line: [1.0 - share, high * (1.0 + share)],
            odd: !line.within,
        }
    };
    factors(&caption, &lines.iter().map(dot).collect::<Vec<Dot>>())
}

/// Why lines are outside, and what else there is to them.
fn reasons(lines: &[PublishedLine]) -> Markup {
    let noted =
        |line: &PublishedLine| Some((answer(line), say(&line.what), say(line.note.as_ref()?)));
    let noted: Vec<(Markup, String, String)> = lines.iter().filter_map(noted).collect();
    html! {
        @if !noted.is_empty() {
            ul.notes {
                @for (answer, what, note) in &noted {
                    li { (answer) " " strong { (what) } ": " (note) }
                }
            }
        }
    }
}

/// The result in a few words, for the table of all files.
pub(super) fn headline(published: &Published) -> Headline {
    let count = |standing: PublishedStanding| {
        published.lines.iter().filter(|line| line.standing() == standing).count()
    };
    let [within, explained, outside, fitted] = [
        PublishedStanding::Within,
        PublishedStanding::Explained,
        PublishedStanding::Outside,
        PublishedStanding::Fitted,
    ]
    .map(count);
    let tone = match (outside, explained) {
        (1.., _) => Tone::Bad,
        (0, 1..) => Tone::Care,
        (0, 0) => Tone::Good,
    };
    let counted = within + explained + outside;
    let word = format!("{within} of {counted} within their bounds");
    Headline::new(tone, word, format!("{fitted} fitted"))
}

/// The result in a sentence: of models, so that nothing here is wrong.
pub(super) fn short_answer(published: &Published) -> ShortAnswer {
    let Headline { word, figures, .. } = headline(published);
    ShortAnswer::new(Rank::Plain, format!("{word}, {figures}."))
}
