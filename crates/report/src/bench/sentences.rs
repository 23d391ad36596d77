//! Figures in words, in sentences.

use measure::{CostVerdict, Regime};

use super::evenness::is_uneven;
use super::figure_rounding::time;
use super::grid::Cell;
use super::{Effort, Experiment, Predicted};
use crate::colored_line::{BAD, CARE, GOOD, NAME};
use crate::quantity_words::{ViewWords, count};
use crate::text::sentence;

/// Number of parts of a run named; `--json` has them all.
const REGIMES_MAX: usize = 6;

/// The word of a verdict as it starts a sentence, and its color.
pub(crate) fn verdict_word(experiment: &Experiment) -> Cell {
    match experiment.verdict {
        CostVerdict::Penalty => (BAD, "Penalty".to_owned()),
        CostVerdict::NoPenalty if is_uneven(experiment) => (NAME, "No penalty".to_owned()),
        CostVerdict::NoPenalty => (GOOD, "No penalty".to_owned()),
        CostVerdict::Small => (CARE, "Small difference".to_owned()),
        CostVerdict::Inconclusive => (CARE, "No verdict".to_owned()),
        CostVerdict::Void => (CARE, "Void".to_owned()),
    }
}

/// The verdict, and its reason as one sentence.
pub(crate) fn verdict(experiment: &Experiment, words: ViewWords<'_>) -> (Cell, String) {
    let (style, word) = verdict_word(experiment);
    let reason = words.text(&experiment.reason);
    // A reason may be a whole sentence that begins with the verdict.
    let bare = reason.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(&word));
    let reason = if bare { reason[word.len()..].trim_start_matches([':', ' ']) } else { &reason };
    let (colon, reason) = (if reason.is_empty() { "." } else { ":" }, sentence(reason));
    ((style, format!("{word}{colon}")), reason)
}

/// `Predicted from the stack: 2 reads and 2 writes of 4 KiB instead of 1 write.`
pub(crate) fn predicted(
    stack: &Predicted,
    granule_bytes: Option<u64>,
    words: ViewWords<'_>,
) -> String {
    let of = match granule_bytes {
        Some(bytes) => format!("of {}", words.exact(bytes)),
        None => "of a granule each".to_owned(),
    };
    let (aligned, shifted) = (&stack.aligned, &stack.shifted);
    let operations = |effort: &Effort| (effort.reads, effort.writes);
    let mut text = format!("Predicted from the stack: {} {of}", effort(shifted));
    if operations(aligned) == operations(shifted) {
        text += " either way";
    } else {
        text += &format!(" instead of {}", effort(aligned));
    }
    if aligned.drives != shifted.drives {
        text += &format!(", on {} instead of {}", count(shifted.drives, "drive"), aligned.drives);
    } else if shifted.drives > 1 {
        text += &format!(", on {}", count(shifted.drives, "drive"));
    }
    text + "."
}

fn effort(effort: &Effort) -> String {
    let (reads, writes) = (count(effort.reads, "read"), count(effort.writes, "write"));
    match (effort.reads, effort.writes) {
        (0, _) => writes,
        (_, 0) => reads,
        _ => format!("{reads} and {writes}"),
    }
}

/// Returns how the drive changed during the run; `None` where it did not.
pub(crate) fn regimes(experiment: &Experiment, words: ViewWords<'_>) -> Option<String> {
    if experiment.regimes.len() < 2 {
        return None;
    }
    let medians = || experiment.regimes.iter().map(|regime| regime.median_ns);
    let (low, high) = (medians().min()?, medians().max()?);
    Some(match words.look.explain {
        true => {
            format!("the drive's speed changed during the run: {}", regime_list(experiment, words))
        }
        false => {
            let of = match experiment.block_operations {
                0 | 1 => String::new(),
                many => format!(" of {many} operations"),
            };
            let (low, high) = (time(low, words), time(high, words));
            format!(
                "the drive's speed changed during the run: medians{of} from {low} to {high}; \
                 pairing limits the effect"
            )
        }
    })
}

/// `8.35 ms (spread 120 µs) from pair 1, 12.0 ms (spread 300 µs) from pair 23`.
pub(crate) fn regime_list(experiment: &Experiment, words: ViewWords<'_>) -> String {
    parts(&experiment.regimes, experiment.block_operations, words)
}

fn parts(regimes: &[Regime], block_operations: u64, words: ViewWords<'_>) -> String {
    let one = |regime: &Regime| {
        let (median, spread) = (time(regime.median_ns, words), time(regime.spread_ns, words));
        format!("{median} (spread {spread}) from pair {}", regime.from_pair)
    };
    // Beside the median of one operation, what many took together needs its name.
    let of = match block_operations {
        0 | 1 => String::new(),
        many => format!("{many} operations took "),
    };
    let list = regimes.iter().take(REGIMES_MAX).map(one).collect::<Vec<_>>().join(", ");
    let mut text = of + &list;
    let more = regimes.len().saturating_sub(REGIMES_MAX);
    if more > 0 {
        text += &format!(", and {more} more");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view_options::Look;

    fn effort(reads: u64, writes: u64, drives: u64) -> Effort {
        Effort { reads, writes, read_modify_writes: reads, drives }
    }

    #[test]
    fn a_prediction_names_what_each_needs() {
        let look = Look::default();
        let check = |aligned, shifted, granule, text: &str| {
            let stack = Predicted { aligned, shifted };
            assert_eq!(predicted(&stack, granule, ViewWords { look: &look }), text);
        };
        check(
            effort(0, 1, 1),
            effort(2, 2, 1),
            Some(4096),
            "Predicted from the stack: 2 reads and 2 writes of 4 KiB instead of 1 write.",
        );
        check(
            effort(1, 0, 1),
            effort(2, 0, 2),
            None,
            "Predicted from the stack: 2 reads of a granule each instead of 1 read, on 2 drives \
             instead of 1.",
        );
        check(
            effort(0, 1, 2),
            effort(0, 1, 2),
            Some(4096),
            "Predicted from the stack: 1 write of 4 KiB either way, on 2 drives.",
        );
    }

    #[test]
    fn parts_of_a_run_name_what_took_so_long() {
        let look = Look::default();
        let words = ViewWords { look: &look };
        let one = Regime { from_pair: 1, median_ns: 8_350_000, spread_ns: 120_000 };
        let two = Regime { from_pair: 23, median_ns: 12_000_000, spread_ns: 300_000 };
        let list = "8.35 ms (spread 120 µs) from pair 1, 12.0 ms (spread 300 µs) from pair 23";
        assert_eq!(parts(&[one, two], 1, words), list);
        let block = parts(&[one, two], 128, words);
        assert_eq!(block, format!("128 operations took {list}"));
    }
}
