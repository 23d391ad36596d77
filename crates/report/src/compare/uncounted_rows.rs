//! Rows that do not count for the verdict, and why.

use super::{ComparedRow, ComparedRun, Comparing, Measurement};

/// Figures of two runs of which none counts for the verdict.
pub(super) struct Apart<'a> {
    /// The rows, none of which counts.
    pub(super) rows: &'a [ComparedRow],
    /// Names of what only the earlier result holds.
    pub(super) only_before: &'a [String],
    /// Names of what only the later result holds.
    pub(super) only_after: &'a [String],
}

impl Apart<'_> {
    /// Why nothing was judged.
    pub(super) fn reason(&self, of: Measurement<'_>, runs: [&ComparedRun; 2]) -> String {
        let ended = ["earlier", "later"].into_iter().zip(runs).find_map(|(when, run)| {
            run.refusal.as_ref().map(|refusal| format!("the {when} run ended early: {refusal}"))
        });
        let named = |names: &[String]| match names {
            [] => None,
            [one] => Some(one.clone()),
            [one, more @ ..] => Some(format!("{one} and {} more", more.len())),
        };
        match (ended, named(self.only_before), named(self.only_after)) {
            (Some(ended), ..) if self.rows.is_empty() => ended,
            (_, Some(before), Some(after)) => {
                format!("the runs measured different things: {before} (before), {after} (after)")
            }
            (_, Some(one), None) => format!("only the earlier run measured {one}"),
            (_, None, Some(one)) => format!("only the later run measured {one}"),
            (_, None, None) if self.rows.is_empty() => "neither result holds a value".to_owned(),
            (_, None, None) => match of {
                Measurement::Bench(_) => "neither result holds a ratio, shifted to aligned",
                _ => "no value of both results counts",
            }
            .to_owned(),
        }
    }
}

/// Why rows do not count for the verdict; `None` where all do.
pub(crate) fn why_not_counted(comparing: &Comparing) -> Option<&'static str> {
    let is_any = comparing.rows.iter().any(|row| !row.counts());
    is_any.then_some(match comparing.measured_by.as_str() {
        "bench" => {
            "bench saves no interval for a latency; only the ratio of shifted to aligned counts"
        }
        _ => "the interval of this p99 is missing or too wide; the medians count",
    })
}
