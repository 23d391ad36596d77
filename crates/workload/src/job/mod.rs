//! fio's job files: INI text with `[global]`, one section for each job, and `;` or `#` comments.
//!
//! The rules are those of fio 3.33 (`HOWTO`, section "Job file format"), read from its behavior:
//! `fio --parse-only` and `fio --debug=parse` are what the tests compare with. Options stand in one
//! table, [`option::OPTIONS`]; what is known to fio but not done here stands in
//! [`named::NAMED`]. Where fio reads a number otherwise than it is written (`bs= 4k` is 4 bytes,
//! `runtime=1min` is one microsecond), the value is refused rather than believed.

mod engine;
mod error;
mod model;
mod number;
mod page;
mod place;
mod reader;
mod section;
mod settings;

pub mod named;
pub mod option;

pub use engine::{ENGINES, Engine, EngineRow, EngineUse};
pub use error::{JobError, Problem};
pub use model::{Action, Durability, Extent, Job, Order};
pub use page::tables;
pub use place::{Place, Remark, RemarkKind};

use named::NAMED;
use option::OPTIONS;
use reader::Reader;
use section::{Section, Setting};
use settings::Settings;

/// The longest job file that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = 256 << 10;
/// The longest line that is read, in bytes; fio's own bound for a file name.
pub const LINE_BYTES_MAX: usize = 4096;
/// The most jobs in a file, clones by `numjobs` counted; fio's own bound.
pub const JOBS_MAX: u64 = 4096;

/// A job file that was read: its jobs in order, and all that is done otherwise than fio would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// The jobs, in the order of the file; at least one.
    pub jobs: Vec<Job>,
    /// What is not honored or reads otherwise than it looks, in the order of the file.
    pub remarks: Vec<Remark>,
}

impl JobFile {
    /// The jobs of `text`, with each option of `overrides` put in the place of what any section
    /// says of it (`--set rw=write`). A flag may be set with an empty value.
    ///
    /// # Errors
    /// When fio would refuse a line, when a value reads otherwise in fio than it looks, when a
    /// workload cannot be run at all (a network engine, discards, an include), when an override
    /// names no option, when there is no job, or when a bound is exceeded ([`TEXT_BYTES_MAX`],
    /// [`LINE_BYTES_MAX`], [`JOBS_MAX`]). The error names the line.
    pub fn parse(text: &str, overrides: &[(String, String)]) -> Result<JobFile, JobError> {
        let overrides: Vec<Setting<'_>> =
            overrides.iter().map(|(name, value)| Setting::told(name, value)).collect();
        for setting in &overrides {
            if known(setting.name).is_none() {
                return Err(JobError::new(Place::Told, unknown(setting.name)));
            }
        }
        let mut work = Work { overrides: &overrides, jobs: vec![], count: 0, remarks: vec![] };
        let mut global = Settings::default();
        for section in section::sections(text)? {
            if section.is_global() {
                work.section(&mut global, &section)?;
            } else {
                let mut settings = global.clone();
                work.section(&mut settings, &section)?;
                work.job(settings, &section)?;
            }
        }
        if work.jobs.is_empty() {
            return Err(JobError::new(Place::File, Problem::NoJobs));
        }
        Ok(JobFile { jobs: work.jobs, remarks: work.remarks })
    }
}

/// What is being put together.
struct Work<'a> {
    overrides: &'a [Setting<'a>],
    jobs: Vec<Job>,
    /// Of the jobs, clones counted.
    count: u64,
    remarks: Vec<Remark>,
}

impl Work<'_> {
    /// Puts the lines of `section` into `settings`, but those that are told otherwise.
    fn section(&mut self, settings: &mut Settings, section: &Section<'_>) -> Result<(), JobError> {
        if section.is_global() && section.name != "global" {
            let place = section.place(section.line);
            let words = "fio takes every section whose name begins with global as one for all jobs";
            self.remarks.push(Remark::reading(place, "section", section.name, words));
        }
        for setting in in_order(&section.settings) {
            let place = section.place(setting.line);
            let told = |other: &Setting<'_>| same(other.name, setting.name);
            if !self.overrides.iter().any(told) {
                self.read(settings, &place, std::slice::from_ref(setting))?;
            }
        }
        Ok(())
    }

    /// Puts `lines` into `settings`; what they say is remarked on at `place`.
    fn read(
        &mut self,
        settings: &mut Settings,
        place: &Place,
        lines: &[Setting<'_>],
    ) -> Result<(), JobError> {
        for setting in in_order(lines) {
            let fail = |problem| JobError::new(place.clone(), problem);
            match known(setting.name) {
                None => return Err(fail(unknown(setting.name))),
                Some(Known::Honored(row)) => {
                    let text = setting.text(row.name, row.kind.may_be_bare()).map_err(fail)?;
                    let remarks = &mut self.remarks;
                    let mut reader = Reader { option: row.name, text, settings, place, remarks };
                    (row.store)(&mut reader).map_err(fail)?;
                }
                Some(Known::Named { name, why, may_be_bare }) => {
                    let text = setting.text(name, may_be_bare).map_err(fail)?;
                    self.remarks.push(Remark::not_honored(place.clone(), name, text, why));
                }
            }
        }
        Ok(())
    }

    /// Makes the job of `section`, with what is told on top.
    fn job(&mut self, mut settings: Settings, section: &Section<'_>) -> Result<(), JobError> {
        let remarked = self.remarks.len();
        self.read(&mut settings, &Place::Told, self.overrides)?;
        if !self.jobs.is_empty() {
            // What is told was remarked on at the first job.
            self.remarks.truncate(remarked);
        }
        let place = section.place(section.line);
        let job = settings
            .job(section.name, self.jobs.last(), &place, &mut self.remarks)
            .map_err(|problem| JobError::new(place.clone(), problem))?;
        self.count += u64::from(job.numjobs);
        self.jobs.push(job);
        if self.count > JOBS_MAX {
            return Err(JobError::new(place, Problem::TooManyJobs { count: self.count }));
        }
        Ok(())
    }
}

/// `lines` in the order in which fio reads them: `kb_base` first, since it decides what `k` means.
fn in_order<'a, 'b>(lines: &'a [Setting<'b>]) -> impl Iterator<Item = &'a Setting<'b>> {
    let is_first = |setting: &&Setting<'_>| setting.name == "kb_base";
    lines.iter().filter(is_first).chain(lines.iter().filter(move |setting| !is_first(setting)))
}

/// An option that fio knows.
enum Known {
    Honored(&'static option::OptionRow),
    Named { name: &'static str, why: &'static str, may_be_bare: bool },
}

fn known(name: &str) -> Option<Known> {
    if let Some(row) = OPTIONS.iter().find(|row| row.is_called(name)) {
        return Some(Known::Honored(row));
    }
    let (group, name, may_be_bare) = NAMED.iter().find_map(|group| group.find(name))?;
    Some(Known::Named { name, why: group.why, may_be_bare })
}

/// Returns whether two names are one option's.
fn same(one: &str, other: &str) -> bool {
    one == other || OPTIONS.iter().any(|row| row.is_called(one) && row.is_called(other))
}

fn unknown(name: &str) -> Problem {
    let names = OPTIONS.iter().flat_map(|row| row.names());
    let names = names.chain(NAMED.iter().flat_map(named::Group::names));
    let near = names.map(|known| (distance(name, known), known)).min();
    let near = near.filter(|(distance, _)| *distance <= 2).map(|(_, known)| known);
    Problem::UnknownOption { name: name.to_owned(), near }
}

/// The longest word for which a near one is looked for, in bytes.
const WORD_BYTES_MAX: usize = 40;

/// Returns how many letters must be put in, left out or changed to make one word the other; of long
/// words only that they are far.
pub(crate) fn distance(one: &str, other: &str) -> usize {
    match one.len().max(other.len()) > WORD_BYTES_MAX {
        true => usize::MAX,
        false => strsim::levenshtein(one, other),
    }
}

#[cfg(test)]
mod tests;
