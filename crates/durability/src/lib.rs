//! Whether a completed sync is real: evidence in, a grade out.
//!
//! Every reason names what was seen, who says so, and what would change it. Times alone prove
//! nothing: a fast flush is either protected memory or a lie, and both look alike. So a time can
//! lower a grade and never raise it.
//!
//! What is *not* here: how evidence is gathered. Everything is a function of [`Evidence`].

mod caller;
mod calls;
mod drive_word;
pub mod elf;
mod evidence;
pub mod hostile;
mod reach;
mod rules;
mod seccomp;
mod servers;
pub mod untorn;
mod warnings;

pub use caller::{Asked, CallFate, Fate, Here, Library, Process, Written};
pub use calls::{FilterSet, Kind as ProgramKind, fates};
pub use drive_word::drive_word;
pub use evidence::{
    Counts, DriveWord, Evidence, Kind, Layer, Medium, Protection, Times, Untried, Warning, Window,
    median,
};
pub use reach::{Reach, fewest_per_sync, is_quiet, reach};
pub use rules::{OTHERS, SYNCS, is_suppressor};
pub use servers::{ConfigFile, Effect, Processes, Running, Server, Setting, Standing, server};

/// What would prove more than anything that is looked at here.
pub const POWER_CUT: &str = "a power cut under load, with a check of what was lost";

/// How far a completed sync can be trusted, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Grade {
    /// All that was seen fits a durable sync, down to the last device that this machine sees.
    Consistent,
    /// Nothing speaks against it, and something that matters could not be seen.
    Unproven,
    /// A layer hides all that is below it.
    Opaque,
    /// Something was seen that a durable sync does not usually show.
    Suspect,
    /// What was seen cannot be durable.
    NotDurable,
}

impl Grade {
    /// The word for it in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Grade::Consistent => "consistent",
            Grade::Unproven => "unproven",
            Grade::Opaque => "opaque",
            Grade::Suspect => "suspect",
            Grade::NotDurable => "not-durable",
        }
    }
}

/// Which way a reason points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// It speaks against a durable sync.
    Against,
    /// It leaves the question open.
    Open,
    /// It speaks for it.
    For,
}

impl Direction {
    /// The word for it in JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Direction::Against => "against",
            Direction::Open => "open",
            Direction::For => "for",
        }
    }
}

/// One thing that was seen, and what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// A stable name: `barrier-off`.
    pub code: &'static str,
    /// Which way it points.
    pub direction: Direction,
    /// The best grade that it allows.
    pub at_best: Grade,
    /// What was seen, as a sentence without its full stop.
    pub sentence: String,
    /// Who says so.
    pub source: String,
    /// What would change it; `None` where nothing needs to: each that allows no more than unproven
    /// has one.
    pub change: Option<String>,
}

impl Reason {
    fn new(code: &'static str, direction: Direction, at_best: Grade) -> Reason {
        let (sentence, source) = (String::new(), String::new());
        Reason { code, direction, at_best, sentence, source, change: None }
    }

    fn against(code: &'static str, at_best: Grade) -> Reason {
        Reason::new(code, Direction::Against, at_best)
    }

    fn open(code: &'static str, at_best: Grade) -> Reason {
        Reason::new(code, Direction::Open, at_best)
    }

    fn speaks_for(code: &'static str) -> Reason {
        Reason::new(code, Direction::For, Grade::Consistent)
    }

    fn seen(self, sentence: impl Into<String>, source: impl Into<String>) -> Reason {
        Reason { sentence: sentence.into(), source: source.into(), ..self }
    }

    fn changes(self, change: impl Into<String>) -> Reason {
        Reason { change: Some(change.into()), ..self }
    }
}

/// A grade with all its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grading {
    /// The grade.
    pub grade: Grade,
    /// The grade as one sentence without its full stop.
    pub sentence: String,
    /// What was seen, the weightiest first.
    pub reasons: Vec<Reason>,
}

/// Returns how far a sync on this path can be trusted.
#[must_use]
pub fn judge(evidence: &Evidence) -> Grading {
    let mut reasons: Vec<Reason> = rules::RULES.iter().flat_map(|rule| rule(evidence)).collect();
    reasons.sort_by_key(|reason| (std::cmp::Reverse(reason.at_best), reason.direction));
    let grade = reasons.iter().map(|reason| reason.at_best).max().unwrap_or(Grade::Unproven);
    let decisive = reasons.iter().find(|reason| reason.at_best == grade);
    let why = decisive.map_or("", |reason| reason.sentence.as_str());
    let sentence = match grade {
        Grade::Consistent => "all that was seen fits a durable sync, down to the last device that \
                              this machine sees; no test short of a power cut proves more"
            .to_owned(),
        Grade::Unproven => format!("nothing speaks against a durable sync, but {why}"),
        Grade::Opaque | Grade::Suspect | Grade::NotDurable => why.to_owned(),
    };
    Grading { grade, sentence, reasons }
}

#[cfg(test)]
mod tests;
