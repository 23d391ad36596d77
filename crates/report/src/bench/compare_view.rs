//! Two results side by side, for people and programs.

use super::comparing::{
    CompareAnswer, ComparedArm, ComparedExperiment, ComparedRatio, ComparedRun, Comparing, Figures,
    Interval, Setting,
};
use super::figures::{Ratio, UNKNOWN, interval_title, number, time};
use super::grid::{Cell, Grid, cell, flowing, labelled, prose, quiet};
use crate::line::{BAD, CARE, GOOD, NAME};
use crate::look::Look;
use crate::words::{Words, count};

/// The document as JSON, with its line feed.
#[must_use]
pub fn compare_json(comparing: &Comparing) -> String {
    crate::json::ended(serde_json::to_string_pretty(comparing))
}

/// The comparison as text, with its last line feed; colours only repeat what the words say.
#[must_use]
pub fn compare_table(comparing: &Comparing, look: &Look) -> String {
    let mut page = Page { words: Words { look }, limit: look.columns(), text: String::new() };
    page.comparing(comparing);
    page.text
}

struct Page<'a> {
    words: Words<'a>,
    limit: usize,
    text: String,
}

impl Page<'_> {
    fn comparing(&mut self, comparing: &Comparing) {
        self.run("before ", &comparing.before);
        self.run("after  ", &comparing.after);
        for setting in &comparing.setting {
            self.setting(setting);
        }
        for experiment in &comparing.experiments {
            self.experiment(experiment);
        }
        for (when, titles) in [("before", &comparing.only_before), ("after", &comparing.only_after)]
        {
            for title in titles {
                let head = (NAME, format!("only {when}:"));
                prose(head, &self.words.text(title), self.limit, &mut self.text);
            }
        }
        for note in &comparing.notes {
            let note = self.words.text(note);
            prose((NAME, "note:".to_owned()), &note, self.limit, &mut self.text);
        }
        prose(quiet(""), &closing(comparing), self.limit, &mut self.text);
    }

    fn run(&mut self, label: &str, run: &ComparedRun) {
        let words = self.words;
        let mut pieces = vec![
            (NAME, words.text(&run.path)),
            cell(match run.started.as_str() {
                "" => "start not known".to_owned(),
                started => format!("started {}", words.text(started)),
            }),
            cell(format!("straddle {}", words.text(&run.version))),
        ];
        if let Some(refusal) = &run.refusal {
            pieces.push((CARE, format!("nothing was measured: {}", words.text(refusal))));
        }
        labelled(label, pieces, self.limit, &mut self.text);
    }

    /// `changed  kernel 6.1.0 -> 6.12.0`.
    fn setting(&mut self, setting: &Setting) {
        let name = setting.key.strip_suffix("-bytes").unwrap_or(&setting.key).replace('-', " ");
        let is_size = setting.key.ends_with("-bytes");
        let shown = |value: &Option<String>| match value {
            None => "not known".to_owned(),
            Some(value) => match value.parse() {
                Ok(bytes) if is_size => self.words.exact(bytes),
                _ => self.words.text(value),
            },
        };
        let name = self.words.text(&name);
        let text = format!("{name} {} -> {}", shown(&setting.before), shown(&setting.after));
        labelled("changed", vec![cell(text)], self.limit, &mut self.text);
    }

    fn experiment(&mut self, experiment: &ComparedExperiment) {
        let words = self.words;
        let verdict =
            |verdict: &str| super::sentences::verdict_word(verdict, words).1.to_lowercase();
        let verdicts = match experiment.verdict_before == experiment.verdict_after {
            true => format!("{} in both", verdict(&experiment.verdict_after)),
            false => format!(
                "{} -> {}",
                verdict(&experiment.verdict_before),
                verdict(&experiment.verdict_after)
            ),
        };
        let title =
            vec![(NAME, words.text(&experiment.title)), painted(experiment.answer), cell(verdicts)];
        flowing(title, self.limit, &mut self.text);
        self.ratios(experiment);
        self.arms(experiment);
    }

    fn ratios(&mut self, experiment: &ComparedExperiment) {
        let words = self.words;
        let titles = [experiment.alpha_before, experiment.alpha_after]
            .map(|alpha| interval_title(alpha.unwrap_or(f64::NAN)));
        let mut grid = Grid::default();
        let heads = [format!("before, {}", titles[0]), format!("after, {}", titles[1])];
        let [before, after] = heads.map(quiet);
        grid.push(vec![quiet("ratio"), before, after]);
        for ratio in &experiment.ratios {
            let name = (NAME, words.text(&ratio.arm));
            let [before, after] = [ratio.before, ratio.after].map(|one| match one.map(figure) {
                Some(one) => cell(format!("{}   {}", one.figure(), one.interval())),
                None => cell(UNKNOWN),
            });
            grid.push(vec![name, before, after, self.answer(ratio)]);
        }
        if grid.fits(self.limit) {
            return grid.write(&mut self.text);
        }
        for ratio in &experiment.ratios {
            let mut pieces = Vec::new();
            for (when, title, one) in
                [("before", &titles[0], ratio.before), ("after", &titles[1], ratio.after)]
            {
                let Some(one) = one.map(figure) else { continue };
                pieces.push(cell(format!("{when} {}", one.figure())));
                pieces.push(cell(format!("{title}: {}", one.interval())));
            }
            pieces.push(self.answer(ratio));
            let name = format!("ratio of {}", words.text(&ratio.arm));
            labelled(&name, pieces, self.limit, &mut self.text);
        }
    }

    /// `differs`, `cannot tell: the later run is void`.
    fn answer(&self, ratio: &ComparedRatio) -> Cell {
        let (style, mut text) = painted(ratio.answer);
        let bound = ratio.change.and_then(bound);
        if let Some(said) = ratio.reason.as_ref().map(|text| self.words.text(text)).or(bound) {
            text += &format!(": {said}");
        }
        (style, text)
    }

    fn arms(&mut self, experiment: &ComparedExperiment) {
        let words = self.words;
        let mut grid = Grid::default();
        let head =
            ["not paired", "median before", "after", "ratio", "p99 before", "after", "ratio"];
        grid.push(head.map(quiet).to_vec());
        for arm in &experiment.arms {
            let cells = figures(arm, words).map(cell);
            grid.push(std::iter::once((NAME, words.text(&arm.arm))).chain(cells).collect());
        }
        if grid.fits(self.limit) {
            return grid.write(&mut self.text);
        }
        for arm in &experiment.arms {
            let [old, new, ratio, old_p99, new_p99, p99_ratio] = figures(arm, words);
            let pieces = vec![
                cell(format!("median {old} -> {new}, ratio {ratio}")),
                cell(format!("p99 {old_p99} -> {new_p99}, ratio {p99_ratio}")),
                cell("(not paired)"),
            ];
            labelled(&words.text(&arm.arm), pieces, self.limit, &mut self.text);
        }
    }
}

/// `at most 6 % higher or 3 % lower`: what the change is within; `None` where that is not known.
fn bound(change: Interval) -> Option<String> {
    let (low, high) = (change.low?, change.high?);
    let (up, down) = (|end: f64| (end - 1.0) * 100.0, |end: f64| (1.0 - end) * 100.0);
    Some(match (low > 1.0, high < 1.0) {
        (true, _) if low >= 2.0 => format!("at least {} times", number(low)),
        (true, _) => format!("at least {:.0} % higher", up(low).floor()),
        (_, true) => format!("at least {:.0} % lower", down(high).floor()),
        _ if low == high => return None,
        _ => format!("at most {:.0} % higher or {:.0} % lower", up(high).ceil(), down(low).ceil()),
    })
}

fn painted(answer: CompareAnswer) -> Cell {
    let style = match answer {
        CompareAnswer::Same => GOOD,
        CompareAnswer::CannotTell => CARE,
        CompareAnswer::Differs => BAD,
    };
    (style, answer.words().to_owned())
}

fn figure(one: Interval) -> Ratio {
    let number = |end: Option<f64>| end.unwrap_or(f64::NAN);
    Ratio { ratio: number(one.ratio), low: number(one.low), high: one.high }
}

/// The median before, after, and their ratio; then p99 likewise.
fn figures(arm: &ComparedArm, words: Words<'_>) -> [String; 6] {
    let shown = |of: Option<Figures>, figure: fn(Figures) -> Option<u64>| {
        of.and_then(figure).map_or(UNKNOWN.to_owned(), |one| time(one, words))
    };
    let ratio = |ratio: Option<f64>| ratio.map_or(UNKNOWN.to_owned(), number);
    let (median, p99) = (|of: Figures| of.median_ns, |of: Figures| of.p99_ns);
    [
        shown(arm.before, median),
        shown(arm.after, median),
        ratio(arm.median_ratio),
        shown(arm.before, p99),
        shown(arm.after, p99),
        ratio(arm.p99_ratio),
    ]
}

/// `2 experiments compared: 1 differs, 1 same`.
fn closing(comparing: &Comparing) -> String {
    let summary = &comparing.summary;
    if summary.compared == 0 {
        return "nothing to compare: no experiment is in both".to_owned();
    }
    let counts = [
        (summary.differs, CompareAnswer::Differs),
        (summary.cannot_tell, CompareAnswer::CannotTell),
        (summary.same, CompareAnswer::Same),
    ];
    let said: Vec<String> = (counts.iter())
        .filter(|(count, _)| *count > 0)
        .map(|(count, answer)| format!("{count} {}", answer.words()))
        .collect();
    format!("{} compared: {}", count(summary.compared, "experiment"), said.join(", "))
}
