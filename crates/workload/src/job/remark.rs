//! Places in a job file, and remarks on them.

use std::fmt;

use units::text::escape;

use crate::InputError;

/// Place of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingPlace {
    /// On a line of a section.
    Line {
        /// From 1.
        number: usize,
        /// The section's name; `None` before the first one.
        section: Option<String>,
    },
    /// In an override (`--set`).
    Told,
    /// In the file as a whole.
    File,
}

impl SettingPlace {
    /// The error that a job file has `problem` here.
    pub(crate) fn refused(&self, problem: InputError) -> InputError {
        match self {
            SettingPlace::File => problem.within("cannot read the job file: "),
            place => problem.within(format_args!("cannot read the job file: {place}: ")),
        }
    }
}

impl fmt::Display for SettingPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingPlace::Line { number, section: Some(section) } => {
                write!(f, "line {number}, [{}]", escape(section.as_bytes()))
            }
            SettingPlace::Line { number, section: None } => write!(f, "line {number}"),
            SettingPlace::Told => f.write_str("--set"),
            SettingPlace::File => f.write_str("the job file"),
        }
    }
}

/// Subject of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    /// fio would do it; it is not done.
    NotHonored,
    /// It is done, and means something else than it may look like.
    Reading,
}

/// Something in a job file that its author should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Subject.
    pub kind: RemarkKind,
    /// Place of the setting.
    pub place: SettingPlace,
    /// The option, by its first name.
    pub option: String,
    /// The value as it was written; empty for a flag without one.
    pub value: String,
    /// Why, or what is done.
    pub words: String,
}

impl Remark {
    /// That `option` is not honored, since `why`.
    pub(crate) fn not_honored(place: SettingPlace, option: &str, value: &str, why: &str) -> Remark {
        Remark::new(RemarkKind::NotHonored, place, (option, value), why)
    }

    /// That `option` means `words`.
    pub(crate) fn reading(place: SettingPlace, option: &str, value: &str, words: &str) -> Remark {
        Remark::new(RemarkKind::Reading, place, (option, value), words)
    }

    fn new(
        kind: RemarkKind,
        place: SettingPlace,
        (option, value): (&str, &str),
        words: &str,
    ) -> Remark {
        let (option, value) = (option.to_owned(), value.to_owned());
        Remark { kind, place, option, value, words: words.to_owned() }
    }
}

impl fmt::Display for Remark {
    /// One line: `line 5, [global]: not honored: nice=5: ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if self.kind == RemarkKind::NotHonored {
            f.write_str("not honored: ")?;
        }
        f.write_str(&self.option)?;
        if !self.value.is_empty() {
            write!(f, "={}", escape(self.value.as_bytes()))?;
        }
        write!(f, ": {}", self.words)
    }
}
