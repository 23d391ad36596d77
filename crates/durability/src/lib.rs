//! Grades of completed syncs: evidence in, a grade out.
//!
//! Every reason names what was seen, who says so, and what would change it. Times alone prove
//! nothing: a fast flush is either protected memory or a lie, and both look alike. So a time can
//! lower a grade and never raise it.
//!
//! Not here: how evidence is gathered. Everything is a function of [`Evidence`].

mod drive_protection;
pub mod elf;
mod evidence;
mod filtered_calls;
mod flush_reach;
mod grade;
pub mod hostile;
mod nvme_warnings;
mod process_evidence;
mod reason;
mod rules;
mod seccomp;
mod servers;
mod smart_attributes;
mod sync_syscalls;
pub mod untorn;

pub use drive_protection::drive_word;
pub use evidence::{
    CountedWindow, DriveWord, Evidence, LayerCounts, Medium, PathLayer, Protection, SyncLayerKind,
    Times, Untried, Warning, median,
};
pub use filtered_calls::{FilterSet, fates};
pub use flush_reach::{FlushReach, fewest_per_sync, is_quiet, reach};
pub use grade::Grade;
pub use process_evidence::{CallFate, Fate, Here, Library, NeededLibrary, Process, WrittenFile};
pub use reason::{Direction, POWER_CUT, Reason};
pub use rules::{OTHERS, SYNCS, is_suppressor};
pub use servers::{
    Confidence, ConfigFile, Processes, Running, Server, ServerSetting, SyncEffect, server,
};
pub use sync_syscalls::ProgramKind;

/// A grade with all its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grading {
    /// The grade.
    pub grade: Grade,
    /// The grade as one sentence without its full stop.
    pub sentence: String,
    /// The reasons, the weightiest first.
    pub reasons: Vec<Reason>,
}

/// Returns how far a sync on this path can be trusted.
#[must_use]
pub fn judge(evidence: &Evidence) -> Grading {
    let mut reasons: Vec<Reason> = rules::RULES.iter().flat_map(|rule| rule(evidence)).collect();
    // What explains a grade comes before what only saw it.
    let order = |reason: &Reason| {
        let is_symptom = rules::SYMPTOMS.contains(&reason.code);
        (std::cmp::Reverse(reason.at_best), reason.direction, is_symptom)
    };
    reasons.sort_by_key(order);
    let grade = reasons.iter().map(|reason| reason.at_best).max().unwrap_or(Grade::Unproven);
    let decisive = reasons.iter().find(|reason| reason.at_best == grade);
    let why = decisive.map_or("", |reason| reason.sentence.as_str());
    let sentence = match grade {
        Grade::Consistent => "no evidence against durability on any device visible from this \
                              machine; only a power cut proves more"
            .to_owned(),
        Grade::Unproven => format!("no evidence against durability, but {why}"),
        Grade::Opaque | Grade::Suspect | Grade::NotDurable => why.to_owned(),
    };
    Grading { grade, sentence, reasons }
}

#[cfg(test)]
mod tests;
