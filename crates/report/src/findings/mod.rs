//! Findings one by one, for systems that list them: annotations of code hosts, tables, metrics.
//!
//! | file | form |
//! |---|---|
//! | `github` | workflow commands, which become annotations |
//! | `gitlab` | the JSON of a Code Quality report |
//! | `markdown` | a table |
//! | `csv` | a row for each finding |
//! | `prometheus` | metrics |

mod csv;
mod github;
mod gitlab;
mod markdown;
mod prometheus;

use std::collections::BTreeSet;

use crate::check_document::{Finding, Summary, Target};
use crate::text::one_line;
use crate::worst_targets::unknown;
use stack::Verdict;

/// Form in which findings are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingForm {
    /// Workflow commands of GitHub.
    Github,
    /// A Code Quality report of GitLab.
    Gitlab,
    /// A table in Markdown.
    Markdown,
    /// Comma-separated values.
    Csv,
    /// Prometheus's text format.
    Prometheus,
}

impl FindingForm {
    /// Returns the beginning of a list.
    #[must_use]
    pub fn head(self) -> &'static str {
        match self {
            FindingForm::Github => "",
            FindingForm::Gitlab => "[",
            FindingForm::Markdown => markdown::HEAD,
            FindingForm::Csv => csv::HEAD,
            FindingForm::Prometheus => prometheus::HEAD,
        }
    }

    /// Returns the findings of one target, and what is said of it where it has no verdict; empty
    /// where there is nothing to list. Whole lines, but for JSON, where [`FindingForm::between`]
    /// goes before each but the first.
    #[must_use]
    pub fn of(self, target: &Target) -> String {
        let listed = Listed::all(target);
        match self {
            FindingForm::Github => listed.iter().map(github::command).collect(),
            FindingForm::Gitlab => {
                listed.iter().map(gitlab::violation).collect::<Vec<_>>().join(",\n")
            }
            FindingForm::Markdown => listed.iter().map(markdown::row).collect(),
            FindingForm::Csv => listed.iter().map(csv::row).collect(),
            FindingForm::Prometheus => {
                // A sample that is there twice is an error.
                let samples: BTreeSet<_> = listed.iter().filter_map(prometheus::sample).collect();
                samples.into_iter().collect()
            }
        }
    }

    /// Returns what stands before the text of a target, of which it `is_first` or not.
    #[must_use]
    pub fn between(self, is_first: bool) -> &'static str {
        match (self, is_first) {
            (FindingForm::Gitlab, true) => "\n",
            (FindingForm::Gitlab, false) => ",\n",
            _ => "",
        }
    }

    /// Returns the end of a list, which `is_empty` or not.
    #[must_use]
    pub fn tail(self, summary: &Summary, is_empty: bool) -> String {
        match self {
            FindingForm::Gitlab => if is_empty { "]\n" } else { "\n]\n" }.to_owned(),
            FindingForm::Markdown => markdown::tail(summary),
            FindingForm::Prometheus => prometheus::tail(summary),
            FindingForm::Github | FindingForm::Csv => String::new(),
        }
    }
}

/// A finding, or a target without a verdict.
struct Listed<'a> {
    finding: Option<&'a Finding>,
    verdict: Verdict,
    /// Names of the target and of the layer, harmless to print; that of the layer may be empty.
    target: String,
    layer: String,
    /// The finding, or why there is no verdict; one harmless line.
    title: String,
}

impl Listed<'_> {
    fn all(target: &Target) -> Vec<Listed<'_>> {
        let mut listed: Vec<Listed<'_>> =
            target.findings.iter().map(|finding| Listed::finding(target, finding)).collect();
        if target.refusal.is_some() || target.verdict == Verdict::Unknown {
            let title = one_line(&unknown(target));
            listed.push(Listed { title, ..Listed::of(target) });
        }
        listed
    }

    fn of(target: &Target) -> Listed<'_> {
        let (verdict, name) = (target.verdict, one_line(&target.target));
        Listed { finding: None, verdict, target: name, layer: String::new(), title: String::new() }
    }

    fn finding<'a>(target: &Target, finding: &'a Finding) -> Listed<'a> {
        let layer = target.layers.iter().find(|layer| layer.id == finding.layer);
        let layer = layer.map_or_else(String::new, |layer| one_line(&layer.name));
        let Listed { verdict, target, .. } = Listed::of(target);
        Listed { finding: Some(finding), verdict, target, layer, title: one_line(&finding.title) }
    }

    /// The layer, or the target where there is none.
    fn place(&self) -> &str {
        if self.layer.is_empty() { &self.target } else { &self.layer }
    }

    /// The rule's code; `unknown` where there is no verdict.
    fn code(&self) -> &str {
        self.finding.map_or("unknown", |finding| &finding.code)
    }

    /// The cost in a sentence; empty where it costs nothing or that is not known.
    fn cost(&self) -> String {
        let cost = self.finding.and_then(|finding| finding.cost.as_ref());
        cost.map_or_else(String::new, |cost| one_line(&cost.sentence))
    }

    /// The fixes, each a harmless line.
    fn fixes(&self) -> Vec<String> {
        let remedies = self.finding.map_or(&[][..], |finding| &finding.remedies);
        remedies.iter().map(|remedy| one_line(remedy)).collect()
    }
}
