//! Results of each drive.

use measure::Interval;

use super::cases::DriveCase;
use super::paired::Paired;
use super::probed::{ProbeFindings, Score};
use super::truth::ASKED;
use crate::soak::models::ALPHA;

/// Number of seeds named.
const SEEDS_NAMED: usize = 8;
/// Probability that a bound is missed by chance alone.
const CHANCE: f64 = 0.001;

/// Results of a drive.
#[derive(Clone, Debug)]
pub(super) struct DriveResults {
    case: DriveCase,
    /// The ratio by the model's own account, where the experiment is made too.
    reference: Option<Interval>,
    probes: Vec<(u64, Score)>,
    benches: Vec<(u64, Score)>,
    /// Number of times each of [`ASKED`] was found and is so.
    right: [u64; ASKED.len()],
    /// The experiments whose interval does not meet the drive's own ratio.
    misses: Vec<u64>,
    /// The least right of the probes and of the experiments, to be shown.
    worst: Option<(u64, Score, ProbeFindings)>,
    worst_paired: Option<(u64, Score, Paired)>,
}

impl DriveResults {
    /// Nothing yet of a drive whose own ratio, where the experiment is made too, lies in
    /// `reference`.
    pub(super) fn new(case: &DriveCase, reference: Option<Interval>) -> DriveResults {
        DriveResults {
            case: case.clone(),
            reference,
            probes: Vec::new(),
            benches: Vec::new(),
            right: [0; ASKED.len()],
            misses: Vec::new(),
            worst: None,
            worst_paired: None,
        }
    }

    /// Adds a probe.
    pub(super) fn add_probe(&mut self, seed: u64, found: ProbeFindings) {
        let score = found.score(&self.case.truth);
        self.probes.push((seed, score));
        let scores = found.scores(&self.case.truth);
        for (right, score) in self.right.iter_mut().zip(scores) {
            *right += u64::from(score == Score::Right);
        }
        if self.worst.as_ref().is_none_or(|(_, worst, _)| score > *worst) {
            self.worst = Some((seed, score, found));
        }
    }

    /// Adds an experiment.
    pub(super) fn add_experiment(&mut self, seed: u64, paired: Paired) {
        let Some(reference) = &self.reference else { return };
        let score = paired.score(self.case.truth.has_penalty, reference);
        self.benches.push((seed, score));
        if !paired.covers(reference) {
            self.misses.push(seed);
        }
        if self.worst_paired.as_ref().is_none_or(|(_, worst, _)| score > *worst) {
            self.worst_paired = Some((seed, score, paired));
        }
    }

    /// Returns how many probes did so.
    pub(super) fn probes(&self, score: Score) -> usize {
        self.probes.iter().filter(|(_, own)| *own == score).count()
    }

    /// Returns how many experiments did so.
    pub(super) fn benches(&self, score: Score) -> usize {
        self.benches.iter().filter(|(_, own)| *own == score).count()
    }

    /// Returns whether anything was said that is not so.
    pub(super) fn has_wrong(&self) -> bool {
        self.probes(Score::Wrong) + self.benches(Score::Wrong) > 0
    }

    /// The bounds that were missed.
    pub(super) fn misses(&self, seeds: u64) -> Vec<String> {
        let mut missed = Vec::new();
        for (what, scores) in [("probe", &self.probes), ("bench", &self.benches)] {
            let wrong = scores.iter().filter(|(_, score)| *score == Score::Wrong);
            let wrong: Vec<u64> = wrong.map(|(seed, _)| *seed).take(SEEDS_NAMED).collect();
            if !wrong.is_empty() {
                missed.push(format!("{what} is wrong with seeds {wrong:?}"));
            }
        }
        let least = (seeds * self.case.right_percent).div_ceil(100);
        // Of a few seeds one may be short.
        let least = if seeds < 20 { least.saturating_sub(1) } else { least };
        let right = self.probes(Score::Right) as u64;
        if right < least {
            missed.push(format!("{right} probes are right, of at least {least}"));
        }
        let most = misses_most(seeds);
        if self.misses.len() as u64 > most {
            missed.push(format!(
                "{} intervals miss the drive's own ratio, of at most {most}",
                self.misses.len()
            ));
        }
        missed
    }

    /// The line of the table.
    pub(super) fn line(&self) -> String {
        let counts = |scores: &[(u64, Score)]| {
            let count = |wanted| scores.iter().filter(|(_, score)| *score == wanted).count();
            let [right, short, wrong] = [Score::Right, Score::Short, Score::Wrong].map(count);
            format!("{right:>5} {short:>5} {wrong:>5}")
        };
        let line = format!("{:<34} {}", self.case.name, counts(&self.probes));
        let Some(Interval { ratio, low, high }) = self.reference else { return line };
        let within = self.benches.len() - self.misses.len();
        let benches = counts(&self.benches);
        format!("{line}   {benches}   {within:>5}  {ratio:.3} ({low:.3} to {high:.3})")
    }

    /// Returns how often each of what may be found was, in the table of that.
    pub(super) fn found(&self) -> String {
        let may = self.case.truth.may();
        let cells = self.right.iter().zip(may).map(|(right, may)| match may {
            true => format!("{right:>10}"),
            false => format!("{:>10}", "-"),
        });
        format!("{:<34}{}", self.case.name, cells.collect::<String>())
    }

    /// The least right of all, with what may be found.
    pub(super) fn details(&self) -> String {
        let mut lines = vec![format!("may be found: {:?}", self.case.truth)];
        if let Some((seed, score, found)) = &self.worst {
            lines.push(format!("probe, seed {seed}, {score:?}:"));
            lines.extend(found.details());
        }
        if let Some((seed, score, paired)) = &self.worst_paired {
            lines.push(format!(
                "bench, seed {seed}, {score:?}: {} {:?} {:?}",
                paired.reason, paired.interval, self.reference
            ));
        }
        lines.iter().map(|line| format!("      {line}")).collect::<Vec<_>>().join("\n")
    }
}

/// Returns what stands above the table, with or without the experiment.
pub(super) fn head(seeds: u64, has_bench: bool) -> String {
    let said = format!(
        "Probes of drives of known truth: seeds 1 to {seeds}. Right: all that there is, and \
         nothing else.\nCannot tell: less, and nothing that is not so. Wrong: none may be."
    );
    let scores = format!("{:>5} {:>5} {:>5}", "right", "can't", "wrong");
    match has_bench {
        true => format!(
            "{said} Within: the intervals of bench\nthat meet the ratio by the model's own \
             account, which stands behind.\n\n{:<34} {:^17}   {:^17}\n{:<34} {scores}   \
             {scores}   {:>6}",
            "", "probe", "bench", "drive", "within"
        ),
        false => format!("{said}\n\n{:<34} {scores}", "drive"),
    }
}

/// Returns what stands above the table of what was found.
pub(super) fn found_head(seeds: u64) -> String {
    let asked: String = ASKED.iter().map(|name| format!("{name:>10}")).collect();
    format!(
        "How many of {seeds} probes found what the profile says; - where there is nothing to be \
         found.\n\n{:<34}{asked}",
        "drive"
    )
}

/// Returns how many of so many intervals may miss what is true, where each does with probability
/// [`ALPHA`]: more do by chance in fewer than one of 1000 soaks.
fn misses_most(seeds: u64) -> u64 {
    let (n, p) = (seeds as f64, ALPHA);
    let mut term = (1.0 - p).powf(n);
    let mut below = term;
    let mut most = 0;
    while 1.0 - below > CHANCE && most < seeds {
        term *= (n - most as f64) / (most as f64 + 1.0) * p / (1.0 - p);
        below += term;
        most += 1;
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_intervals_may_miss_as_chance_makes() {
        // Of 20, more than 5 miss with probability 0.0003, more than 4 with 0.0026; of 200, more
        // than 21 with 0.0005, more than 20 with 0.0012.
        assert_eq!([misses_most(1), misses_most(20), misses_most(200)], [1, 5, 21]);
    }
}
