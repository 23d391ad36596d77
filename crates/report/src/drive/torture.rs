//! Power cuts under a program: their document, and the screen for people.

use serde::{Deserialize, Serialize};
use units::number::real;

use crate::bench::grid::{cell, labeled, prose, quiet};
use crate::envelope::Envelope;
use crate::json::pretty;
use crate::quantity_words::count;
use crate::view_options::Look;

/// The schema's name and version of power cuts under a program.
pub const TORTURE_SCHEMA: &str = "straddle.torture/1";
/// The most failures that a document keeps.
pub const FAILURES_MAX: usize = 100;

/// Power cuts under a program, all or a shard of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Torture {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The profile's name.
    pub drive: String,
    /// Changed values of the profile: `cache=0`.
    pub changed: Vec<String>,
    /// Promises that the drive breaks on purpose: `flush`, `fua`, `protection`.
    pub lies: Vec<String>,
    /// `file` or `loop`.
    pub protocol: String,
    /// The file system that the program ran on; `null` for the bare drive.
    pub file_system: Option<String>,
    /// The program and its arguments, harmless to print.
    pub workload: String,
    /// Survivors among writes that the drive had not promised to keep.
    pub survivors: String,
    /// Content of a sector or unit that was being written.
    pub half_written: String,
    /// The seed that decided all cuts.
    pub seed: u64,
    /// Number of cuts in all shards together.
    pub planned_cuts: u32,
    /// This shard, from 1.
    pub shard: u32,
    /// Number of shards.
    pub shards: u32,
    /// Nanoseconds of the drive's time for which the program ran.
    pub recorded_ns: u64,
    /// Writes in that time.
    pub recorded_writes: u64,
    /// Flushes in that time.
    pub recorded_flushes: u64,
    /// Lines that the program acknowledged in that time.
    pub recorded_lines: u64,
    /// Counts of cuts.
    pub counts: TortureCounts,
    /// The first cuts after which something was wrong, at most 100.
    pub failures: Vec<TortureFailure>,
    /// Command that makes the disk of the first failure; `null` where nothing was kept for it.
    pub look_at: Option<String>,
}

impl Torture {
    /// Returns whether anything could have been lost: cuts were made, and lines acknowledged.
    #[must_use]
    pub fn shows_something(&self) -> bool {
        self.counts.cuts > 0 && self.recorded_lines > 0
    }

    /// Returns why nothing is shown, in a sentence without a full stop.
    pub(crate) fn nothing_shown(&self) -> String {
        match self.counts.cuts {
            0 => "no cut was made".to_owned(),
            _ => "the program acknowledged nothing: it printed no line in phase run".to_owned(),
        }
    }
}

/// Counts of cuts. Those of several shards add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TortureCounts {
    /// Cuts that were made.
    pub cuts: u32,
    /// Cuts after which the check failed although the drive had kept its promises.
    pub program_lost: u32,
    /// Cuts after which the check failed and the drive had broken a promise.
    pub drive_lost: u32,
    /// Cuts after which the drive had broken a promise, and the check saw nothing.
    pub drive_broke_unseen: u32,
    /// Cuts after which sectors could not be read that nobody was writing: they shared a physical
    /// sector or unit with a write.
    pub neighbour_cuts: u32,
}

impl TortureCounts {
    /// Cuts after which the drive had broken a promise.
    #[must_use]
    pub fn broken(&self) -> u32 {
        self.drive_lost.saturating_add(self.drive_broke_unseen)
    }

    /// Cuts after which something was wrong.
    #[must_use]
    pub fn failed(&self) -> u32 {
        self.program_lost.saturating_add(self.broken())
    }

    /// Returns those of both.
    #[must_use]
    pub fn plus(self, other: TortureCounts) -> TortureCounts {
        TortureCounts {
            cuts: self.cuts.saturating_add(other.cuts),
            program_lost: self.program_lost.saturating_add(other.program_lost),
            drive_lost: self.drive_lost.saturating_add(other.drive_lost),
            drive_broke_unseen: self.drive_broke_unseen.saturating_add(other.drive_broke_unseen),
            neighbour_cuts: self.neighbour_cuts.saturating_add(other.neighbour_cuts),
        }
    }

    /// The verdict in a sentence without a full stop: whose fault it is, if anything is lost.
    #[must_use]
    pub fn verdict(&self, drive: &str) -> String {
        let cuts = self.cuts;
        let (program, broken) = (self.program_lost, self.broken());
        match (program, broken) {
            (0, 0) => format!("{cuts} cuts of {drive}: nothing acknowledged was lost"),
            (_, 0) => format!(
                "acknowledged data was lost in {program} of {cuts} cuts; {drive} kept its \
                 promises, so the fault is in the software above it"
            ),
            (0, _) => format!(
                "{drive} broke its promise in {broken} of {cuts} cuts; the program noticed {}",
                self.drive_lost
            ),
            _ => format!(
                "{drive} broke its promise in {broken} of {cuts} cuts, and the program noticed {}; \
                 in {program} more, the software above it lost acknowledged data",
                self.drive_lost
            ),
        }
    }
}

/// A cut after which something was wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TortureFailure {
    /// Number of the cut, from 0.
    pub cut: u32,
    /// When the power went, in nanoseconds of the drive's time.
    pub at_ns: u64,
    /// Lines that the program had acknowledged until then.
    pub acknowledged_lines: u64,
    /// Survivors among writes that the drive had not promised to keep.
    pub survivors: String,
    /// Logical sectors that the drive had promised to keep, and lost.
    pub missing_sectors: u64,
    /// Reason for which the check failed, harmless to print; `null` where it passed.
    pub check: Option<String>,
}

impl TortureFailure {
    /// Returns whose fault it is, and what the check said, in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let lost = || count(self.missing_sectors, "promised sector");
        match &self.check {
            Some(why) if self.missing_sectors > 0 => format!("drive lost {}; check: {why}", lost()),
            Some(why) => format!("drive kept its promises; check: {why}"),
            None => format!("drive lost {}; the check passed", lost()),
        }
    }
}

/// Power cuts as JSON, with their line feed.
#[must_use]
pub fn torture_json(torture: &Torture) -> String {
    pretty(torture)
}

/// The screen for people: the verdict first.
#[must_use]
pub fn torture_text(torture: &Torture, look: &Look) -> String {
    let limit = look.columns();
    let mut page = String::new();
    let counts = &torture.counts;
    let (word, verdict) = match counts.failed() {
        0 if !torture.shows_something() => ("NO VERDICT", torture.nothing_shown()),
        0 => ("PASS", counts.verdict(&torture.drive)),
        _ => ("FAIL", counts.verdict(&torture.drive)),
    };
    prose(cell(word), &verdict, limit, &mut page);
    let mut line = |name: &str, text: &str| labeled(name, vec![cell(text)], limit, &mut page);
    if !torture.lies.is_empty() {
        line("lies    ", &format!("--lie {}", torture.lies.join(" --lie ")));
    }
    line("workload", &torture.workload);
    line("recorded", &recorded(torture));
    line("cuts    ", &format!("seed {}, survivors {}", torture.seed, torture.survivors));
    if torture.shards > 1 {
        let (shard, shards) = (torture.shard, torture.shards);
        line("shard   ", &format!("{shard} of {shards}; {} cuts in all", torture.planned_cuts));
    }
    for failure in torture.failures.iter().take(3) {
        line("cut     ", &failure_words(failure));
        line("        ", &failure.sentence());
    }
    let more = torture.failures.len().saturating_sub(3);
    if more > 0 {
        line("        ", &format!("{more} more in --json"));
    }
    if let Some(command) = &torture.look_at {
        line("look at ", command);
    }
    let neighbours = counts.neighbour_cuts;
    if neighbours > 0 {
        let text = format!(
            "in {neighbours} cuts, sectors that nobody was writing became unreadable: they share \
             a physical sector or unit with a write"
        );
        prose(quiet("note"), &text, limit, &mut page);
    }
    for note in &torture.envelope.notes {
        prose(quiet("note"), note, limit, &mut page);
    }
    page
}

/// Returns what the program did, in words.
pub(crate) fn recorded(torture: &Torture) -> String {
    format!(
        "{}, {}, {} flushes, {:.1} s",
        count(torture.recorded_lines, "acknowledged line"),
        count(torture.recorded_writes, "write"),
        torture.recorded_flushes,
        real(torture.recorded_ns) / 1e9,
    )
}

/// Returns which cut it was, in words.
fn failure_words(failure: &TortureFailure) -> String {
    format!(
        "{} at {:.6} s, unpromised writes kept: {}, after {}",
        failure.cut,
        real(failure.at_ns) / 1e9,
        failure.survivors,
        count(failure.acknowledged_lines, "acknowledged line"),
    )
}
