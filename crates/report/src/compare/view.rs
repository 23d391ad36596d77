//! Two results side by side, for people and programs.

use super::{
    CompareAnswer, ComparedRow, ComparedRun, Comparing, NO_INTERVAL, NOT_COUNTED, RunValue,
    SettingChange, multiple, why_not_counted,
};
use crate::bench::figure_rounding::{UNKNOWN, number, time};
use crate::bench::grid::{Cell, Sheet, SheetRow, cell, labeled, prose, quiet};
use crate::colored_line::{BAD, CARE, GOOD, NAME};
use crate::quantity_words::{ViewWords, quantity};
use crate::text::{shorten, width};
use crate::view_options::Look;

/// The heads of the figures, and the columns that a narrow terminal does without.
const HEADS: [&str; 6] = ["", "", "before", "after", "after / before", ""];
const DROPPABLE: [usize; 2] = [1, 2];
/// The columns that all but the name need, and those below which `before` and `after` are dropped.
const FIGURES: usize = 70;
/// Below this, figures flow.
const TINY: usize = 60;

/// The document as JSON, with its line feed.
#[must_use]
pub fn compare_json(comparing: &Comparing) -> String {
    crate::json::pretty(comparing)
}

/// The comparison as text, with its last line feed; colors only repeat what the words say.
#[must_use]
pub fn compare_table(comparing: &Comparing, look: &Look) -> String {
    let mut page =
        CompareText { words: ViewWords { look }, limit: look.columns(), text: String::new() };
    page.comparing(comparing);
    page.text
}

struct CompareText<'a> {
    words: ViewWords<'a>,
    limit: usize,
    text: String,
}

impl CompareText<'_> {
    fn comparing(&mut self, comparing: &Comparing) {
        self.verdict(comparing);
        self.run("before", &comparing.before);
        self.run("after ", &comparing.after);
        for warning in &comparing.warnings {
            self.prose((CARE, "warning:"), warning);
        }
        for setting in &comparing.setting {
            self.setting(setting);
        }
        comparing.rows.iter().for_each(|row| self.answer(row));
        self.figures(comparing);
        if let Some(why) = why_not_counted(comparing) {
            self.prose((NAME, &format!("{NOT_COUNTED}:")), why);
        }
        for (when, names) in [("before", &comparing.only_before), ("after", &comparing.only_after)]
        {
            for name in names {
                self.prose((NAME, &format!("only {when}:")), name);
            }
        }
        for note in &comparing.envelope.notes {
            self.prose((NAME, "note:"), note);
        }
    }

    fn prose(&mut self, (style, head): (anstyle::Style, &str), text: &str) {
        prose((style, head.to_owned()), &self.words.text(text), self.limit, &mut self.text);
    }

    fn verdict(&mut self, comparing: &Comparing) {
        let style = painted(comparing.answer);
        let sentence = self.words.text(&comparing.sentence);
        let (head, rest) = match sentence.split_once([' ', ':']) {
            Some((head, _)) => sentence.split_at(head.len()),
            None => (sentence.as_str(), ""),
        };
        // A colon after the head stands right behind it.
        let (head, rest) = match rest.strip_prefix(':') {
            Some(rest) => (format!("{head}:"), rest),
            None => (head.to_owned(), rest),
        };
        prose((style, head), rest.trim_start(), self.limit, &mut self.text);
    }

    fn run(&mut self, label: &str, run: &ComparedRun) {
        let words = self.words;
        let or = |text: Option<&str>, name: &str| match text.filter(|text| !text.is_empty()) {
            Some(text) => words.text(text),
            None => format!("{name} not known"),
        };
        let identity = run.identity.as_ref().map(|identity| format!("ID {identity}"));
        let drive = [&run.drive, &run.model, &run.firmware, &identity];
        let drive: Vec<String> = drive.into_iter().flatten().map(|one| words.text(one)).collect();
        let mut pieces = vec![
            cell(or(run.host.as_deref(), "host")),
            cell(or(Some(&run.started), "start")),
            cell(or(Some(&drive.join(" ")), "drive")),
            (NAME, words.text(&run.path)),
        ];
        if let Some(refusal) = &run.refusal {
            pieces.push((CARE, format!("ended early: {}", words.text(refusal))));
        }
        labeled(label, pieces, self.limit, &mut self.text);
    }

    /// `changed  kernel 6.1.0 -> 6.12.0`.
    fn setting(&mut self, setting: &SettingChange) {
        let name = quantity(&setting.key).replace('-', " ");
        let shown = |value: &Option<String>| match value {
            None => "not known".to_owned(),
            Some(value) => self.words.value(&setting.key, value),
        };
        let name = self.words.text(&name);
        let text = format!("{name} {} -> {}", shown(&setting.before), shown(&setting.after));
        labeled("changed", vec![cell(text)], self.limit, &mut self.text);
    }

    /// An answer in words of both runs, and what says it.
    fn answer(&mut self, row: &ComparedRow) {
        let words = self.words;
        let RunValue::Said { said: was, because: old } = &row.before else { return };
        let RunValue::Said { said: is, because: new } = &row.after else { return };
        let shown = |said: &Option<String>| {
            let said = said.as_deref().map(|said| said.replace('-', " "));
            said.map_or(UNKNOWN.to_owned(), |said| words.text(&said))
        };
        let mut pieces: Vec<Cell> = vec![match was == is {
            true => cell(shown(is)),
            false => cell(format!("{} -> {}", shown(was), shown(is))),
        }];
        pieces.push((painted(row.answer), row.answer.words().to_owned()));
        for (when, because) in [("before", old), ("after", new)] {
            let is_news = row.answer != CompareAnswer::Same || old != new;
            let because = because.as_deref().filter(|because| is_news && !because.is_empty());
            pieces.extend(because.map(|because| quiet(format!("{when}: {}", words.text(because)))));
        }
        labeled(&words.text(&row.name), pieces, self.limit, &mut self.text);
    }

    fn figures(&mut self, comparing: &Comparing) {
        let is_figure = |row: &&ComparedRow| !matches!(row.before, RunValue::Said { .. });
        let rows: Vec<&ComparedRow> = comparing.rows.iter().filter(is_figure).collect();
        let longest = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0);
        if self.limit < TINY {
            for row in &rows {
                let cells = self.figure(row).map(cell).to_vec();
                labeled(&self.words.text(&row.name), cells, self.limit, &mut self.text);
            }
        } else if longest + FIGURES <= self.limit {
            self.sheet(&rows, &HEADS, &[], |row| row.group.clone(), 0);
        } else {
            let droppable: &[usize] = if self.limit < FIGURES { &DROPPABLE } else { &[] };
            let group = |row: &ComparedRow| format!("{}: {}", row.group, row.name);
            self.sheet(&rows, &HEADS[1..], droppable, group, 1);
        }
        self.reasons(&rows);
    }

    /// Why figures cannot be told, each reason once.
    fn reasons(&mut self, rows: &[&ComparedRow]) {
        let reason = |row: &&&ComparedRow| {
            row.reason.clone().filter(|reason| !reason.starts_with(NO_INTERVAL))
        };
        let mut said: Vec<String> = Vec::new();
        for row in rows {
            let Some(why) = reason(&row).filter(|why| !said.contains(why)) else { continue };
            let name = match rows.iter().filter(|one| reason(one).as_ref() == Some(&why)).count() {
                1 => format!("{}, {}:", row.name, row.measure.word()),
                many => format!("{many} figures cannot be compared:"),
            };
            let name = self.words.text(&name);
            self.prose((CARE, &name), &why);
            said.push(why);
        }
    }

    /// The figures in columns, from the cell `skip` of each row on.
    fn sheet(
        &mut self,
        rows: &[&ComparedRow],
        heads: &[&str],
        droppable: &[usize],
        group: impl Fn(&ComparedRow) -> String,
        skip: usize,
    ) {
        let dots = self.words.glyphs().ellipsis;
        let room = self.limit.saturating_sub(4);
        let line = |row: &&ComparedRow| SheetRow {
            group: shorten(&self.words.text(&group(row)), room, dots),
            cells: self.figure(row)[skip..].to_vec(),
        };
        let rows = rows.iter().map(line).collect();
        Sheet { heads, droppable, rows }.write(self.limit, &mut self.text);
    }

    /// The name, the measure, both values, the change and the answer.
    fn figure(&self, row: &ComparedRow) -> [String; 6] {
        let words = self.words;
        let value = |measured: &RunValue| match measured {
            RunValue::Latency { value_ns, .. } => value_ns.map(|ns| time(ns, words)),
            RunValue::Ratio { interval } => Some(number(interval.ratio)),
            RunValue::Said { .. } => None,
        };
        let [before, after] =
            [&row.before, &row.after].map(|side| value(side).unwrap_or(UNKNOWN.to_owned()));
        [
            words.text(&row.name),
            row.measure.word().to_owned(),
            before,
            after,
            multiple(row),
            row.result().to_owned(),
        ]
    }
}

fn painted(answer: CompareAnswer) -> anstyle::Style {
    match answer {
        CompareAnswer::Same => GOOD,
        CompareAnswer::CannotTell => CARE,
        CompareAnswer::Differs => BAD,
    }
}
