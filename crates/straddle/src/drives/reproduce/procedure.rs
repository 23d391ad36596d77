//! An article's own procedure, as data. Words are typed as they stand; `{…}` is filled in:
//!
//! | placeholder | stands for |
//! |---|---|
//! | `{drive}`, `{bytes}` | the served drive, and its capacity in bytes |
//! | `{point}` | an empty directory to mount on |
//! | `{seconds}`, `{probe_seconds}` | the time of a run, and that of a probe: three runs |
//! | `{start}`, `{place}` | of the arm: its first byte or sector, and its name in the numbers |

use drive::published::Article;

/// Steps for an article.
#[derive(Clone, Copy, Debug)]
pub(super) struct Procedure {
    pub(super) article: Article,
    /// Drives that are served, one after the other.
    pub(super) stands: &'static [Stand],
    /// Numbers that are calculated from two others.
    pub(super) derived: &'static [Derived],
    /// Differences from the article, and what cannot be done here and why: sentences.
    pub(super) remarks: &'static [&'static str],
}

/// A served drive, and what is done to it for each arm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stand {
    /// Command that serves it.
    pub(super) serve: &'static str,
    pub(super) arms: &'static [Arm],
    pub(super) steps: &'static [Step],
    /// Steps at the end, typed once.
    pub(super) last: &'static [Step],
}

/// A place on the drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arm {
    pub(super) start: &'static str,
    pub(super) place: &'static str,
}

/// Something that is typed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// A command that must succeed.
    Do(&'static str),
    /// One whose output is shown, whatever its exit status.
    Show(&'static str),
    /// One whose output has numbers, each with its name.
    Measure(&'static str, &'static [(Reading, &'static str)]),
}

/// A number in the output of a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reading {
    /// fio's operations a second.
    FioRate,
    /// fio's mean time of a sync, in milliseconds.
    FioSync,
    /// pg_test_fsync's time of an `fdatasync`, in milliseconds.
    PgTime,
    /// The same as a rate.
    PgRate,
}

/// A number that is calculated from two others, whose names it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Derived {
    /// Its name among the published numbers, or of the ratio of two of them.
    pub(super) what: &'static str,
    /// The first number divided by the second.
    pub(super) over: (&'static str, &'static str),
    /// True if it is by how many percent that is above 1.
    pub(super) is_percent: bool,
}
