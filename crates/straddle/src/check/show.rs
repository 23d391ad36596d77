//! Results on their way out: what is printed of a target is made where the target is judged, and
//! put into a page in order.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::bail;
use report::drawing::{self, Sheet};
use report::{
    Baseline, Blocks, ChangeSummary, Changes, ComparedTarget, Digest, Envelope, FindingForm, Look,
    MonitorAnswer, Note, Notifications, Summary, Target, TargetChange, TextRow, ViewShape,
};

use crate::arguments::{Check, Format, RuleChange};
use crate::shared::{printer, target};

/// Presentation of targets.
pub(crate) struct Press {
    format: Format,
    look: Look,
    /// Begun, for documents.
    pub(crate) envelope: Envelope,
    /// True if there is more than one target.
    many: AtomicBool,
    /// From which severity on a finding fails its case.
    fails: stack::Severity,
    /// From which severity on a finding matters; `None` for never.
    least: Option<stack::Severity>,
    /// The longest message for a monitor that wants a short one, in bytes.
    message_bytes: usize,
    /// The names of the targets that were asked for; none for all.
    asked: Vec<String>,
    /// Baseline to compare with, where only changes are shown.
    baseline: Option<Baseline>,
    /// The codes of rules that the user switched off.
    off: Vec<&'static str>,
    /// Rules that may fire, where the format lists them.
    rules: Vec<report::RuleInfo<'static>>,
}

/// Printed part of one target.
pub(crate) enum PrintedPiece {
    /// Printed as it is.
    Text(Blocks),
    /// In columns with others.
    Row(TextRow),
    /// The results of a log, and the target where it has no verdict.
    Results(Blocks, Option<Box<Target>>),
    /// In a digest of what matters, where it does.
    Note(Option<Note>),
    /// In one picture with others.
    Drawn(Box<Sheet>),
    /// With what the baseline says of it.
    Compared(Box<ComparedTarget>),
}

impl PrintedPiece {
    /// The bytes that wait to be printed, where they may be many.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            PrintedPiece::Text(text) | PrintedPiece::Results(text, _) => text.len(),
            PrintedPiece::Row(_)
            | PrintedPiece::Note(_)
            | PrintedPiece::Drawn(_)
            | PrintedPiece::Compared(_) => 0,
        }
    }
}

impl Press {
    /// Returns a press that shows targets as `check` asks, compared with `baseline`, in documents
    /// in this `envelope`, for one target or `many`, of which these were `asked` for; none for all.
    ///
    /// # Errors
    /// When changes cannot be shown as asked.
    pub(crate) fn new(
        check: &Check,
        baseline: Option<Baseline>,
        envelope: Envelope,
        asked: &[PathBuf],
        many: bool,
    ) -> anyhow::Result<Press> {
        let format = check.chosen();
        if check.watch.is_some() && !format.shows_changes() {
            bail!(
                "cannot print changes in this format: --watch has no such output\n\
                 hint: choose another: --format table, json, jsonl, nagios or npd"
            );
        }
        let look = Look { bytes: check.exact.bytes, ..printer::look(check.explain) };
        // Where nothing fails the command, the worst still fails its case.
        let fails = check.fail_on.severity().unwrap_or(stack::Severity::Error);
        let least = check.fail_on.severity();
        let message_bytes = usize::from(check.message_bytes);
        let is_off = |change: &&RuleChange| change.severity.is_none();
        let off = check.rules.iter().filter(is_off).map(|change| change.code).collect();
        let rules = rules();
        let many = AtomicBool::new(many);
        let asked = asked.iter().map(|path| printer::shown(&target::plain(path))).collect();
        Ok(Press {
            envelope,
            format,
            look,
            many,
            fails,
            least,
            message_bytes,
            asked,
            baseline,
            off,
            rules,
        })
    }

    /// Shows one target from now on: those that were named turned out to be one stack.
    pub(crate) fn show_as_one(&self) {
        self.many.store(false, Ordering::Relaxed);
    }

    fn is_for_many(&self) -> bool {
        self.many.load(Ordering::Relaxed)
    }

    /// Returns what `target` means for the exit code, and what is printed of it; nothing where
    /// `only_bad` are wanted and it is not.
    pub(crate) fn judge(
        &self,
        target: Target,
        only_bad: bool,
    ) -> (MonitorAnswer, Option<PrintedPiece>) {
        if let Some(baseline) = &self.baseline {
            let compared = baseline.compare(&target);
            let change = compared.change.as_ref();
            let mut answer =
                change.map_or_else(MonitorAnswer::default, |change| change.answer(self.least));
            answer.unopened |= target.refusal.is_some();
            return (answer, Some(PrintedPiece::Compared(Box::new(compared))));
        }
        let answer = MonitorAnswer::of(&target, self.least);
        let wanted = !only_bad || report::is_bad(&target);
        (answer, wanted.then(|| self.piece(target)))
    }

    fn piece(&self, target: Target) -> PrintedPiece {
        match (self.format, self.shape()) {
            (Format::Table, ViewShape::Tree) => {
                PrintedPiece::Text(report::tree(&target, self.is_for_many(), &self.look).into())
            }
            (Format::Table, ViewShape::Lines) => {
                PrintedPiece::Row(TextRow::of(&target, &self.look))
            }
            (Format::Picture, _) => {
                let sheet = drawing::drawing(&target, &self.look);
                PrintedPiece::Text(drawing::text(&sheet, &self.look).into())
            }
            (Format::Svg, _) => {
                let look = Look { bytes: self.look.bytes, ..Look::default() };
                PrintedPiece::Drawn(Box::new(drawing::drawing(&target, &look)))
            }
            (Format::Json, _) => PrintedPiece::Text(report::element(&target)),
            (Format::Jsonl, _) => PrintedPiece::Text(report::target_line(&target)),
            (Format::Junit, _) => {
                let run = &self.envelope.run;
                PrintedPiece::Text(report::junit_suite(&target, self.fails, run))
            }
            (Format::Sarif, _) => {
                let results = report::sarif_results(&target, &self.rules);
                PrintedPiece::Results(
                    results,
                    Notifications::wants(&target).then(|| Box::new(target)),
                )
            }
            (Format::Nagios | Format::Npd, _) => {
                PrintedPiece::Note(Note::of(&target, self.least, &self.look))
            }
            (format, _) => {
                let text = format.finding_form().map(|form| form.of(&target));
                PrintedPiece::Text(text.unwrap_or_default().into())
            }
        }
    }

    fn changes(&self, changes: &Changes, answer: MonitorAnswer) -> String {
        let headline = || report::changes_headline(&changes.summary);
        match self.format {
            Format::Json => report::changes_json(changes, true),
            Format::Jsonl => report::changes_json(changes, false),
            Format::Nagios => {
                let metrics = report::changes_metrics(&changes.summary);
                report::nagios(answer.state(), &headline(), self.digest(changes), &metrics)
            }
            Format::Npd => report::npd(&headline(), self.digest(changes), self.message_bytes),
            _ => {
                let trees = changes.targets.iter().map(|one| report::changes_tree(one, &self.look));
                let version = &changes.baseline_version;
                let closing = report::changes_closing(&changes.summary, version, &self.look);
                trees.chain([closing]).collect()
            }
        }
    }

    fn digest(&self, changes: &Changes) -> Digest {
        let mut digest = Digest::default();
        let notes = changes.targets.iter();
        notes.for_each(|one| digest.take(Note::of_change(one, self.least, &self.look)));
        digest
    }

    fn shape(&self) -> ViewShape {
        if self.is_for_many() && !self.look.explain { ViewShape::Lines } else { ViewShape::Tree }
    }
}

/// Number of rows put into columns together.
const BATCH: usize = 256;

/// Takes pieces in order, and keeps as few as it can.
pub(crate) struct Pieces<'a> {
    press: &'a Press,
    output: &'a mut dyn Write,
    /// Of the document, with the notes so far.
    pub(crate) envelope: Envelope,
    shown: u64,
    /// True if something was printed that a comma has to follow.
    is_begun: bool,
    rows: Vec<TextRow>,
    drawn: Vec<Sheet>,
    /// Targets without a verdict, where they are reported at the end.
    notifications: Notifications,
    digest: Digest,
    /// The names of all targets, where they are compared with a baseline.
    seen: HashSet<String>,
    changes: Vec<TargetChange>,
    counts: ChangeSummary,
}

impl<'a> Pieces<'a> {
    /// A page onto `output`, begun.
    ///
    /// # Errors
    /// When nothing can be written.
    pub(crate) fn begin(press: &'a Press, output: &'a mut dyn Write) -> anyhow::Result<Pieces<'a>> {
        let envelope = press.envelope.clone();
        let head = match press.format {
            _ if press.baseline.is_some() => String::new(),
            Format::Json => report::head(&envelope),
            Format::Junit => report::JUNIT_HEAD.to_owned(),
            Format::Sarif => report::sarif_head(&envelope.version, &press.rules),
            format => format.finding_form().map_or("", FindingForm::head).to_owned(),
        };
        output.write_all(head.as_bytes())?;
        Ok(Pieces {
            press,
            output,
            envelope,
            shown: 0,
            is_begun: false,
            rows: Vec::new(),
            drawn: Vec::new(),
            notifications: Notifications::default(),
            digest: Digest::default(),
            seen: HashSet::new(),
            changes: Vec::new(),
            counts: ChangeSummary::default(),
        })
    }

    /// The next piece.
    ///
    /// # Errors
    /// When nothing can be written.
    pub(crate) fn take(&mut self, piece: PrintedPiece) -> anyhow::Result<()> {
        match piece {
            PrintedPiece::Text(text) => self.print(text)?,
            PrintedPiece::Results(results, refused) => {
                self.print(results)?;
                refused.into_iter().for_each(|target| self.notifications.take(&target));
            }
            PrintedPiece::Row(row) => self.rows.push(row),
            PrintedPiece::Drawn(sheet) => self.drawn.push(*sheet),
            PrintedPiece::Compared(compared) => {
                self.counts.add(compared.change.as_ref());
                self.changes.extend(compared.change);
                self.seen.insert(compared.target);
            }
            PrintedPiece::Note(note) => note.into_iter().for_each(|note| self.digest.take(note)),
        }
        self.shown += 1;
        if self.rows.len() >= BATCH { self.flush() } else { Ok(()) }
    }

    /// Prints `text` with what the format has between texts before it.
    fn print(&mut self, text: Blocks) -> anyhow::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let before = match (self.press.format, self.is_begun) {
            (Format::Json | Format::Sarif, false) => "\n",
            (Format::Json | Format::Sarif, true) => ",\n",
            (Format::Table | Format::Picture, true) => "\n",
            (Format::Junit, _) => &report::junit_open(self.shown),
            (format, begun) => format.finding_form().map_or("", |form| form.between(!begun)),
        };
        self.is_begun = true;
        self.output.write_all(before.as_bytes())?;
        // Each block is given back when it is written.
        for block in text {
            self.output.write_all(&block)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> anyhow::Result<()> {
        let rows = report::rows(&self.rows, &self.press.look);
        self.rows.clear();
        Ok(self.output.write_all(rows.as_bytes())?)
    }

    /// Takes what the baseline has and nobody saw; what that means for the exit code.
    pub(crate) fn take_vanished(&mut self) -> MonitorAnswer {
        let mut answer = MonitorAnswer::default();
        let Some(baseline) = &self.press.baseline else { return answer };
        let (vanished, others) = baseline.vanished(&self.seen, &self.press.asked);
        if let [first, more @ ..] = &others[..] {
            let more =
                if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
            let note = format!("not checked, since not named here: {first}{more} of the baseline");
            printer::note(&note);
            self.envelope.notes.push(note);
        }
        for change in vanished {
            answer.merge(change.answer(self.press.least));
            self.counts.add(Some(&change));
            self.changes.push(change);
        }
        answer
    }

    /// Prints what stands after the last piece, where a baseline was saved or not.
    ///
    /// # Errors
    /// When nothing can be written.
    pub(crate) fn end(
        mut self,
        summary: &Summary,
        answer: MonitorAnswer,
        is_saved: bool,
    ) -> anyhow::Result<()> {
        self.flush()?;
        if let Some(baseline) = &self.press.baseline {
            self.counts.elapsed_ns = summary.elapsed_ns;
            let changes = Changes {
                envelope: Envelope { schema: report::CHANGES_SCHEMA.to_owned(), ..self.envelope },
                baseline_version: baseline.version().to_owned(),
                targets: self.changes,
                summary: self.counts,
            };
            let mut text = self.press.changes(&changes, answer);
            if is_saved && self.press.format == Format::Table {
                text += "What was seen now is the new baseline.\n";
            }
            return Ok(self.output.write_all(text.as_bytes())?);
        }
        let text = match self.press.format {
            Format::Table => {
                let shape = self.press.shape();
                if self.press.is_for_many() && shape == ViewShape::Tree && self.shown > 0 {
                    self.output.write_all(b"\n")?;
                }
                let (off, look) = (&self.press.off, &self.press.look);
                let text = report::closing(summary, self.shown, off, shape, look);
                match is_saved {
                    true => text.replace("nothing was", "nothing but the baseline was"),
                    false => text,
                }
            }
            Format::Picture => String::new(),
            Format::Svg => drawing::svg(&self.drawn) + "\n",
            Format::Json => report::tail(&self.envelope, summary, !self.is_begun),
            Format::Jsonl => report::summary_line(&self.envelope.version, summary),
            Format::Junit => report::JUNIT_TAIL.to_owned(),
            Format::Sarif => self.notifications.sarif_tail(!self.is_begun),
            Format::Nagios => {
                let metrics = report::metrics(summary, self.press.least);
                report::nagios(answer.state(), &report::headline(summary), self.digest, &metrics)
            }
            Format::Npd => {
                report::npd(&report::headline(summary), self.digest, self.press.message_bytes)
            }
            format => {
                let form = format.finding_form();
                form.map_or_else(String::new, |form| form.tail(summary, !self.is_begun))
            }
        };
        Ok(self.output.write_all(text.as_bytes())?)
    }
}

fn rules() -> Vec<report::RuleInfo<'static>> {
    let info = |rule: &'static stack::rule::Rule| report::RuleInfo {
        code: rule.code,
        title: rule.title,
        why: rule.why,
        help_uri: Some(help_uri(rule)),
    };
    stack::rule::RULES.iter().map(info).collect()
}

/// Address of a rule in the repository's page of rules, whose headings are `### ST101: title`.
fn help_uri(rule: &stack::rule::Rule) -> String {
    let heading = format!("{}: {}", rule.code, rule.title).to_lowercase();
    let kept = heading.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
    let anchor: String = kept.map(|it| if it == ' ' { '-' } else { it }).collect();
    format!("{}/blob/main/docs/rules.md#{anchor}", env!("CARGO_PKG_REPOSITORY"))
}
