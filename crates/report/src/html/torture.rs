//! Power cuts under a program, on the page: one result, and the shards of one run together.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::elements::{Tone, chip, folded, more, notes, pairs, say};
use super::headline::Headline;
use super::short_answer::{Rank, ShortAnswer};
use super::table::{Row, cell, figure, head, row, table, told};
use crate::drive::{Torture, TortureCounts, TortureFailure, recorded};
use crate::text::sentence;

/// The most failures of one result, and the most runs, that are shown.
const FAILURES_SHOWN: usize = 40;
const RUNS_MAX: usize = 60;
const HEADS: [&str; 6] =
    ["Cut", "Time", "Survivors", "Acknowledged", "Whose fault", "What is lost"];
const RUN_HEADS: [&str; 6] =
    ["Drive", "Program", "Shards", "Cuts", "Drive broke its promise", "Program lost data"];

/// All of one result.
pub(super) fn section(torture: &Torture) -> Markup {
    let shown = &torture.failures[..torture.failures.len().min(FAILURES_SHOWN)];
    let command = say(&torture.envelope.run.command.join(" "));
    let lies = torture.lies.join(", ");
    html! {
        p { (sentence(&say(&verdict(torture)))) }
        @if !shown.is_empty() {
            h3 { "What was lost" }
            (table("Cuts after which something was wrong", &HEADS, shown.iter().map(one)))
            (more(torture.failures.len() - shown.len(), "cuts"))
        }
        (pairs(&[
            ("Program", Some(say(&torture.workload))),
            ("File system", torture.file_system.as_deref().map(say)),
            ("Recorded", Some(recorded(torture))),
            ("Promises broken on purpose", Some(say(&lies)).filter(|lies| !lies.is_empty())),
            ("Cuts", Some(format!("{} of {}", torture.counts.cuts, torture.planned_cuts))),
            ("Shard", Some(format!("{} of {}", torture.shard, torture.shards))),
            ("To look at", torture.look_at.as_deref().map(say)),
        ]))
        (notes(&torture.envelope.notes))
        (folded("Command", &pairs(&[
            ("Command", Some(command).filter(|words| !words.is_empty())),
            ("Seed", Some(torture.seed.to_string())),
            ("straddle", Some(say(&torture.envelope.version))),
        ])))
    }
}

fn one(failure: &TortureFailure) -> Row {
    let fault = match failure.missing_sectors {
        0 => chip(Tone::Bad, "program"),
        _ => chip(Tone::Bad, "drive"),
    };
    row([
        head(&failure.cut.to_string()),
        figure(format!(
            "{}.{:06} s",
            failure.at_ns / 1_000_000_000,
            failure.at_ns / 1000 % 1_000_000
        )),
        told(&say(&failure.survivors)),
        figure(failure.acknowledged_lines.to_string()),
        cell(fault),
        told(&say(&failure.sentence())),
    ])
}

fn verdict(torture: &Torture) -> String {
    torture.counts.verdict(&torture.drive)
}

/// Returns what was done, in a few words.
pub(super) fn title(torture: &Torture) -> String {
    format!("power cuts of {} under {}", say(&torture.drive), say(&torture.workload))
}

/// The result in a few words, for the table of all files.
pub(super) fn headline(torture: &Torture) -> Headline {
    let TortureCounts { cuts, .. } = torture.counts;
    match (torture.counts.failed(), cuts) {
        (_, 0) => Headline::new(Tone::Plain, "no cut", ""),
        (0, _) => Headline::new(Tone::Good, "nothing lost", format!("{cuts} cuts")),
        (failed, _) => Headline::new(Tone::Bad, "data lost", format!("{failed} of {cuts} cuts")),
    }
}

/// The result in a sentence: of a model, but the program is the user's.
pub(super) fn short_answer(torture: &Torture) -> ShortAnswer {
    let rank = match torture.counts.failed() {
        0 => Rank::Good,
        _ => Rank::Loss,
    };
    let answer = ShortAnswer::new(rank, sentence(&say(&verdict(torture))));
    answer.next(torture.look_at.as_deref())
}

/// Runs whose shards are in several files.
#[derive(Clone, Debug, Default)]
pub(super) struct TortureRuns(BTreeMap<String, TortureRun>);

#[derive(Clone, Debug)]
struct TortureRun {
    drive: String,
    workload: String,
    shards: u32,
    planned_cuts: u32,
    seen: BTreeSet<u32>,
    counts: TortureCounts,
}

impl TortureRuns {
    /// Takes in one result. A shard that comes again counts once.
    pub(super) fn add(&mut self, torture: &Torture) {
        let settings = (
            (&torture.drive, &torture.changed, &torture.lies, &torture.protocol),
            (&torture.file_system, &torture.workload, &torture.survivors, &torture.half_written),
            (torture.seed, torture.planned_cuts, torture.shards),
        );
        let run = self.0.entry(format!("{settings:?}")).or_insert_with(|| TortureRun {
            drive: torture.drive.clone(),
            workload: torture.workload.clone(),
            shards: torture.shards,
            planned_cuts: torture.planned_cuts,
            seen: BTreeSet::new(),
            counts: TortureCounts::default(),
        });
        if run.seen.insert(torture.shard) {
            run.counts = run.counts.plus(torture.counts);
        }
    }

    /// The runs, each with all of its shards together; nothing where each is in one file.
    pub(super) fn section(&self) -> Markup {
        let runs: Vec<&TortureRun> = self.0.values().filter(|run| run.shards > 1).collect();
        let one = |run: &&TortureRun| {
            let TortureRun { counts, seen, shards, .. } = run;
            row([
                head(&say(&run.drive)),
                told(&say(&run.workload)),
                figure(format!("{} of {shards}", seen.len())),
                figure(format!("{} of {}", counts.cuts, run.planned_cuts)),
                figure(counts.broken().to_string()),
                figure(counts.program_lost.saturating_add(counts.drive_lost).to_string()),
            ])
        };
        html! {
            @if !runs.is_empty() {
                section {
                    h2 { "Power cuts, all shards together" }
                    @for run in runs.iter().take(RUNS_MAX) {
                        p { (sentence(&say(&run.counts.verdict(&run.drive)))) }
                    }
                    (table("Runs whose shards are in several files", &RUN_HEADS,
                        runs.iter().take(RUNS_MAX).map(one)))
                    (more(runs.len().saturating_sub(RUNS_MAX), "runs"))
                }
            }
        }
    }
}
