//! From a job file's text to its jobs.

use units::text::escape;

use super::model::{JOBS_MAX, Job};
use super::not_honored::{NAMED, OptionGroup};
use super::option::{OPTIONS, OptionRow};
use super::reader::OptionReader;
use super::remark::{Remark, SettingPlace};
use super::section::{JobLine, Section, sections};
use super::settings::Settings;
use crate::InputError;
use crate::near_words::distance;

/// A job file that was read: its jobs in order, and all that is done otherwise than fio would.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// The jobs, in the order of the file; at least one.
    pub jobs: Vec<Job>,
    /// Remarks on what is not honored or reads otherwise than it looks, in the order of the file.
    pub remarks: Vec<Remark>,
}

impl JobFile {
    /// The jobs of `text`, with each option of `overrides` put in the place of what any section
    /// says of it (`--set rw=write`). A flag may be set with an empty value.
    ///
    /// # Errors
    /// When fio would refuse a line, when a value reads otherwise in fio than it looks, when a
    /// workload cannot be run at all (a network engine, discards, an include), when an override
    /// names no option, when there is no job, or when a bound is exceeded
    /// ([`super::TEXT_BYTES_MAX`], [`super::LINE_BYTES_MAX`], [`JOBS_MAX`]). The error names the
    /// line.
    pub fn parse(text: &str, overrides: &[(String, String)]) -> Result<JobFile, InputError> {
        let overrides: Vec<JobLine<'_>> =
            overrides.iter().map(|(name, value)| JobLine::told(name, value)).collect();
        for setting in &overrides {
            if known(setting.name).is_none() {
                return Err(SettingPlace::Told.refused(unknown(setting.name)));
            }
        }
        let mut work =
            JobFileReader { overrides: &overrides, jobs: vec![], count: 0, remarks: vec![] };
        let mut global = Settings::default();
        for section in sections(text)? {
            if section.is_global() {
                work.section(&mut global, &section)?;
            } else {
                let mut settings = global.clone();
                work.section(&mut settings, &section)?;
                work.job(settings, &section)?;
            }
        }
        if work.jobs.is_empty() {
            let hint = "add a section [name] below [global]";
            return Err(SettingPlace::File.refused(InputError::new("no job section", hint)));
        }
        Ok(JobFile { jobs: work.jobs, remarks: work.remarks })
    }
}

/// The job file so far.
struct JobFileReader<'a> {
    overrides: &'a [JobLine<'a>],
    jobs: Vec<Job>,
    /// Of the jobs, clones counted.
    count: u64,
    remarks: Vec<Remark>,
}

impl JobFileReader<'_> {
    /// Puts the lines of `section` into `settings`, but those that are told otherwise.
    fn section(
        &mut self,
        settings: &mut Settings,
        section: &Section<'_>,
    ) -> Result<(), InputError> {
        if section.is_global() && section.name != "global" {
            let place = section.place(section.line);
            let words = "fio takes every section whose name begins with global as one for all jobs";
            self.remarks.push(Remark::reading(place, "section", section.name, words));
        }
        for setting in in_order(&section.settings) {
            let place = section.place(setting.line);
            let told = |other: &JobLine<'_>| same(other.name, setting.name);
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
        place: &SettingPlace,
        lines: &[JobLine<'_>],
    ) -> Result<(), InputError> {
        for setting in in_order(lines) {
            let fail = |problem| place.refused(problem);
            match known(setting.name) {
                None => return Err(fail(unknown(setting.name))),
                Some(FioOption::Honored(row)) => {
                    let text = setting.text(row.name, row.kind.may_be_bare()).map_err(fail)?;
                    let remarks = &mut self.remarks;
                    let mut reader =
                        OptionReader { option: row.name, text, settings, place, remarks };
                    (row.store)(&mut reader).map_err(fail)?;
                }
                Some(FioOption::Named { name, why, may_be_bare }) => {
                    let text = setting.text(name, may_be_bare).map_err(fail)?;
                    self.remarks.push(Remark::not_honored(place.clone(), name, text, why));
                }
            }
        }
        Ok(())
    }

    /// Makes the job of `section`, with what is told on top.
    fn job(&mut self, mut settings: Settings, section: &Section<'_>) -> Result<(), InputError> {
        let remarked = self.remarks.len();
        self.read(&mut settings, &SettingPlace::Told, self.overrides)?;
        if !self.jobs.is_empty() {
            // What is told was remarked on at the first job.
            self.remarks.truncate(remarked);
        }
        let place = section.place(section.line);
        let job = settings
            .job(section.name, &place, &mut self.remarks)
            .map_err(|problem| place.refused(problem))?;
        self.count += u64::from(job.numjobs);
        self.jobs.push(job);
        if self.count > JOBS_MAX {
            let problem = format!("{} jobs are more than {JOBS_MAX}", self.count);
            let hint = "lower numjobs: --set numjobs=1";
            return Err(place.refused(InputError::new(problem, hint)));
        }
        Ok(())
    }
}

/// `lines` in the order in which fio reads them: `kb_base` first, since it decides what `k` means.
fn in_order<'a, 'b>(lines: &'a [JobLine<'b>]) -> impl Iterator<Item = &'a JobLine<'b>> {
    let is_first = |setting: &&JobLine<'_>| setting.name == "kb_base";
    lines.iter().filter(is_first).chain(lines.iter().filter(move |setting| !is_first(setting)))
}

/// An option that fio knows.
enum FioOption {
    Honored(&'static OptionRow),
    Named { name: &'static str, why: &'static str, may_be_bare: bool },
}

fn known(name: &str) -> Option<FioOption> {
    if let Some(row) = OPTIONS.iter().find(|row| row.is_called(name)) {
        return Some(FioOption::Honored(row));
    }
    let (group, name, may_be_bare) = NAMED.iter().find_map(|group| group.find(name))?;
    Some(FioOption::Named { name, why: group.why, may_be_bare })
}

/// Returns whether two names are one option's.
fn same(one: &str, other: &str) -> bool {
    one == other || OPTIONS.iter().any(|row| row.is_called(one) && row.is_called(other))
}

fn unknown(name: &str) -> InputError {
    let names = OPTIONS.iter().flat_map(|row| row.names());
    let names = names.chain(NAMED.iter().flat_map(OptionGroup::names));
    let near = names.map(|known| (distance(name, known), known)).min();
    let near = near.filter(|(distance, _)| *distance <= 2).map(|(_, known)| known);
    let hint = near.map_or_else(
        || "docs/jobs.md lists the options; fio --cmdhelp lists fio's".to_owned(),
        |near| format!("did you mean {near}"),
    );
    InputError::new(format!("fio has no option called `{}`", escape(name.as_bytes())), hint)
}
