//! Published numbers, beside what the models say of the same: each line with its error and its
//! label.
//!
//! | file | what it is |
//! |---|---|
//! | `compared` | a published number beside the model's |
//! | `scenario` | what is run on which drive; each once |
//! | `run_figures` | what a run gave: rate, mean, median, turns |
//! | `figures` | the published numbers, with where they stand |
//! | `recorded` | what file systems asked of a disk, as traces |
//! | `filesystems` | the published ratios of file systems, beside those traces' |
//! | `fresh_tables` | what a fresh ext4 writes beside |
//! | `measured_drives` | drives that others measured |
//! | `validation` | those, and every line of the data sheets |
//! | `reasons` | tests of the reasons for what is outside |
//!
//! A drive has one set of values for all of its lines: its profile.

mod compared;
mod figures;
mod filesystems;
mod fresh_tables;
mod measured_drives;
#[cfg(test)]
mod reasons;
mod recorded;
mod run_figures;
mod scenario;
mod validation;

use std::collections::BTreeMap;

pub use compared::{Article, LineOrigin, PublishedNumber, TURNS, source_of};
use run_figures::Figures;
use scenario::Scenario;
pub use validation::validation;

/// All published numbers beside the models', in the order of the articles; `seed` decides the
/// places of random requests. It takes seconds.
#[must_use]
pub fn published(seed: u64) -> Vec<PublishedNumber> {
    published_of(&Article::ALL, seed)
}

/// The numbers of an article, of which no model has said anything yet: nothing is simulated.
pub fn without_models(article: Article) -> impl Iterator<Item = PublishedNumber> {
    let figures = figures::LINES.iter().map(|line| line.published);
    figures.chain(filesystems::published()).filter(move |line| line.article == article)
}

/// The numbers of some articles, as [`published`] gives them.
#[must_use]
pub fn published_of(articles: &[Article], seed: u64) -> Vec<PublishedNumber> {
    let mut done: BTreeMap<Scenario, Figures> = BTreeMap::new();
    let mut of = |case: Scenario| done.entry(case).or_insert_with(|| case.run(seed)).clone();
    let is_asked = |line: &&figures::FigureLine| articles.contains(&line.article());
    let mut lines: Vec<PublishedNumber> =
        figures::LINES.iter().filter(is_asked).map(|line| line.compared(&mut of)).collect();
    if articles.contains(&Article::FourKib) {
        // Behind the last of their own article.
        let same = |line: &PublishedNumber| line.article == Article::FourKib;
        let place = lines.iter().rposition(same).map_or(lines.len(), |last| last + 1);
        lines.splice(place..place, filesystems::compared());
    }
    lines
}
