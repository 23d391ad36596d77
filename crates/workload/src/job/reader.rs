//! One option being read: its text, as each kind of value, and where it goes.

use units::text::escape;

use super::model::JobLength;
use super::number::{self, NumberFault};
use super::remark::{Remark, SettingPlace};
use super::settings::Settings;
use crate::InputError;

/// One option of a section, and the settings that it changes.
pub(crate) struct OptionReader<'a> {
    pub(crate) option: &'static str,
    /// The text as written; empty for a bare flag.
    pub(crate) text: &'a str,
    pub(crate) settings: &'a mut Settings,
    pub(crate) place: &'a SettingPlace,
    pub(crate) remarks: &'a mut Vec<Remark>,
}

const SIZE: &str = "a size such as 4096, 4k or 1m";
const COUNT: &str = "a whole number";
const TIME: &str = "a time such as 10 (seconds), 10s, 5m or 500ms";
const SWITCH: &str = "0 or 1";

impl OptionReader<'_> {
    /// Remarks that the option means `words`.
    pub(crate) fn remark(&mut self, words: &str) {
        let remark = Remark::reading(self.place.clone(), self.option, self.text, words);
        self.remarks.push(remark);
    }

    /// Remarks that the option is not honored, in whole or in part.
    pub(crate) fn not_honored(&mut self, words: &str) {
        let remark = Remark::not_honored(self.place.clone(), self.option, self.text, words);
        self.remarks.push(remark);
    }

    /// A size in bytes, `least` to `most`.
    pub(crate) fn bytes(&mut self, least: u64, most: u64) -> Result<u64, InputError> {
        self.bytes_of(self.text, least, most)
    }

    /// The sizes of reads and of writes: one for both, or two with a comma between. Of three, the
    /// last is for discards.
    pub(crate) fn two_sizes(&mut self, least: u64, most: u64) -> Result<[u64; 2], InputError> {
        let mut parts = self.text.split(',');
        let first = parts.next().unwrap_or_default();
        let read = self.bytes_of(first, least, most)?;
        let write = match parts.next() {
            None | Some("") => read,
            Some(part) => self.bytes_of(part, least, most)?,
        };
        if parts.next().is_some() && parts.next().is_some() {
            return Err(self.unreadable(SIZE));
        }
        Ok([read, write])
    }

    /// A place or a length: a size, or a percentage.
    pub(crate) fn extent(&mut self) -> Result<JobLength, InputError> {
        if !self.text.ends_with('%') {
            return Ok(JobLength::Bytes(self.bytes(0, u64::MAX)?));
        }
        let percent = number::percent(self.text).map_err(|fault| self.problem(fault, SIZE))?;
        let percent = self.within(percent, 0, 100)?;
        Ok(JobLength::Percent(u8::try_from(percent).expect("it is at most 100")))
    }

    /// A whole number, `least` to `most`. fio allows it the suffixes of a size.
    pub(crate) fn count(&mut self, least: u32, most: u32) -> Result<u32, InputError> {
        let (number, _) = number::size_bytes(self.text, self.settings.kb_base)
            .map_err(|fault| self.problem(fault, COUNT))?;
        let number = self.within(number, least.into(), most.into())?;
        Ok(u32::try_from(number).expect("it is at most what fits"))
    }

    /// Any number that fits in 64 bits.
    pub(crate) fn number(&mut self) -> Result<u64, InputError> {
        let (number, _) = number::size_bytes(self.text, self.settings.kb_base)
            .map_err(|fault| self.problem(fault, COUNT))?;
        Ok(number)
    }

    /// A time in nanoseconds.
    pub(crate) fn duration_ns(&mut self) -> Result<u64, InputError> {
        number::duration_ns(self.text).map_err(|fault| self.problem(fault, TIME))
    }

    /// A time in nanoseconds; one without a unit is in microseconds.
    pub(crate) fn microseconds_ns(&mut self) -> Result<u64, InputError> {
        let is_bare = self.text.bytes().all(|byte| byte.is_ascii_digit());
        let ns = self.duration_ns()?;
        Ok(if is_bare { ns / 1_000_000 } else { ns })
    }

    /// 0 or 1.
    pub(crate) fn boolean(&mut self) -> Result<bool, InputError> {
        let number = number::plain(self.text).map_err(|fault| self.problem(fault, SWITCH))?;
        Ok(self.within(number, 0, 1)? == 1)
    }

    /// True where it stands alone, else as a number.
    pub(crate) fn flag(&mut self) -> Result<bool, InputError> {
        if self.text.is_empty() {
            return Ok(true);
        }
        let number = number::plain(self.text).map_err(|fault| self.problem(fault, SWITCH))?;
        Ok(number != 0)
    }

    /// Returns what `words` has for the text.
    pub(crate) fn word<T: Copy>(
        &self,
        words: &[(&str, T)],
        expects: &str,
    ) -> Result<T, InputError> {
        self.refuse_environment()?;
        let found = words.iter().find(|(word, _)| *word == self.text);
        found.map(|(_, value)| *value).ok_or_else(|| self.unreadable(expects))
    }

    /// The text as it is written; what fio would put in from the environment stays a name.
    pub(crate) fn kept(&mut self) -> String {
        if self.depends() {
            self.not_honored("the environment is not read; kept as written");
        }
        self.text.to_owned()
    }

    /// Refuses a value that the environment completes.
    pub(crate) fn refuse_environment(&self) -> Result<(), InputError> {
        if self.depends() { Err(self.environment()) } else { Ok(()) }
    }

    /// The option as it was written.
    fn written(&self) -> String {
        format!("`{}={}`", self.option, escape(self.text.as_bytes()))
    }

    /// The error that the text is not `expects`.
    pub(crate) fn unreadable(&self, expects: &str) -> InputError {
        let hint = format!("write {expects}, without blanks");
        InputError::new(format!("{} is not {expects}", self.written()), hint)
    }

    /// The error that the number is outside of what the option takes.
    pub(crate) fn out_of_range(&self, least: u64, most: u64) -> InputError {
        let problem = format!("{} is outside of {least} to {most}", self.written());
        InputError::new(problem, format!("choose {least} to {most}"))
    }

    /// The error that the environment or the machine would complete the text.
    fn environment(&self) -> InputError {
        let problem = format!("{} needs the environment, which is not read", self.written());
        let hint = format!("write the value itself, or give it with --set {}=VALUE", self.option);
        InputError::new(problem, hint)
    }

    /// Returns whether fio would complete the text: `${NAME}` from the environment, `$ncpus` and
    /// its kin from the machine.
    fn depends(&self) -> bool {
        const WORDS: [&str; 4] = ["${", "$ncpus", "$pagesize", "$mb_memory"];
        WORDS.iter().any(|word| self.text.contains(word))
    }

    fn bytes_of(&mut self, text: &str, least: u64, most: u64) -> Result<u64, InputError> {
        let base = self.settings.kb_base;
        let (bytes, is_iec) =
            number::size_bytes(text, base).map_err(|fault| self.problem(fault, SIZE))?;
        if is_iec && base == number::KbBase::Swapped {
            self.remark("fio's KiB is 1000 bytes and its k is 1024, unless kb_base=1000 is set");
        }
        self.within(bytes, least, most)
    }

    fn within(&self, number: u64, least: u64, most: u64) -> Result<u64, InputError> {
        if (least..=most).contains(&number) {
            return Ok(number);
        }
        Err(self.out_of_range(least, most))
    }

    fn problem(&self, fault: NumberFault, expects: &str) -> InputError {
        if self.depends() {
            return self.environment();
        }
        match fault {
            NumberFault::Refused => self.unreadable(expects),
            NumberFault::Ambiguous => {
                let problem =
                    format!("fio reads {} as another value than the one written", self.written());
                InputError::new(problem, format!("write {expects}, without blanks"))
            }
            NumberFault::TooLarge => self.out_of_range(0, u64::MAX),
        }
    }
}
