//! What was published, beside what the models say of the same: each line with its error and its
//! label.
//!
//! | file | what it is |
//! |---|---|
//! | `case` | what is run on which drive; each once |
//! | `figures` | what a run gave: rate, mean, median, turns |
//! | `lines` | the published numbers, with where they stand |
//! | `recorded` | what file systems asked of a disk, as traces |
//! | `filesystems` | the published ratios of file systems, beside those traces' |
//!
//! A drive has one set of values for all of its lines: its profile.

mod case;
mod figures;
mod filesystems;
mod lines;
mod recorded;

use std::collections::BTreeMap;

use case::Case;
use figures::Figures;
pub use lines::Article;

/// How a model came to say what it says of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Nothing of the drive was set by this line or its like.
    Predicted,
    /// One value of the drive was set so that this line comes out.
    Calibrated,
    /// Several values were set so that lines such as this come out; it does not count.
    Fitted,
    /// Arithmetic alone.
    Derived,
}

impl Standing {
    /// The word: `predicted`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Standing::Predicted => "predicted",
            Standing::Calibrated => "calibrated",
            Standing::Fitted => "fitted",
            Standing::Derived => "derived",
        }
    }
}

/// A published number beside the model's.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Place where it was published.
    pub article: Article,
    /// What was measured, on what.
    pub what: &'static str,
    /// The unit of both numbers.
    pub unit: &'static str,
    /// What was published; of a range the lower end.
    pub published: f64,
    /// The upper end of a range; else as `published`.
    pub published_max: f64,
    /// What the model says.
    pub model: f64,
    /// The profile of the drive; empty where none is needed.
    pub profile: &'static str,
    /// How the model came to say that.
    pub standing: Standing,
    /// By how many percent it may be off.
    pub bound_percent: f64,
    /// What a reader should know, such as by what it was calibrated.
    pub note: &'static str,
    /// Why it is not within its bound; empty where it is.
    pub outside: &'static str,
}

impl Compared {
    /// By how many percent the model is above what was published; of a range 0 within it, else
    /// from its nearer end.
    #[must_use]
    pub fn error_percent(&self) -> f64 {
        let near = self.model.clamp(self.published, self.published_max);
        if near > 0.0 { (self.model / near - 1.0) * 100.0 } else { 0.0 }
    }

    /// Returns whether it is within its bound.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.error_percent().abs() <= self.bound_percent
    }
}

/// All published numbers beside the models', in the order of the articles; `seed` decides the
/// places of random requests. It takes seconds.
#[must_use]
pub fn published(seed: u64) -> Vec<Compared> {
    let mut done: BTreeMap<Case, Figures> = BTreeMap::new();
    let mut of = |case: Case| done.entry(case).or_insert_with(|| case.run(seed)).clone();
    let mut lines: Vec<Compared> = lines::LINES.iter().map(|line| line.compared(&mut of)).collect();
    // Behind the last of their own article.
    let same = |line: &Compared| line.article == filesystems::ARTICLE;
    let place = lines.iter().rposition(same).map_or(lines.len(), |last| last + 1);
    lines.splice(place..place, filesystems::compared());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_counts_is_within_its_bound_or_says_why_it_is_not() {
        for line in published(1) {
            let is_excused = line.standing == Standing::Fitted || !line.outside.is_empty();
            let shown = format!(
                "{}: {} {} for {}: {:+.1} %",
                line.what,
                line.model,
                line.unit,
                line.published,
                line.error_percent()
            );
            assert!(line.is_within() || is_excused, "{shown}");
            assert!(line.outside.is_empty() || !line.is_within(), "within after all: {shown}");
        }
    }
}
