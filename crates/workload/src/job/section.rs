//! A job file's text as sections of settings. Lines are borrowed; nothing is interpreted.

use units::text::escape;

use super::remark::SettingPlace;
use crate::InputError;

/// The longest job file that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = 256 << 10;
/// The longest line that is read, in bytes; fio's own bound for a file name.
pub const LINE_BYTES_MAX: usize = 4096;

/// A section: its name, and its settings in order.
pub(crate) struct Section<'a> {
    pub(crate) name: &'a str,
    /// From 1.
    pub(crate) line: usize,
    pub(crate) settings: Vec<JobLine<'a>>,
}

impl Section<'_> {
    /// Returns whether it speaks for all jobs behind it. fio asks only how the name begins, in any
    /// case.
    pub(crate) fn is_global(&self) -> bool {
        self.name.get(..6).is_some_and(|head| head.eq_ignore_ascii_case("global"))
    }

    /// Returns where line `number` of it is.
    pub(crate) fn place(&self, number: usize) -> SettingPlace {
        SettingPlace::Line { number, section: Some(self.name.to_owned()) }
    }
}

/// One line `name=value`, or `name` alone. The value keeps the blanks at its front: to fio they
/// matter.
pub(crate) struct JobLine<'a> {
    /// From 1.
    pub(crate) line: usize,
    pub(crate) name: &'a str,
    value: Option<&'a str>,
}

impl<'a> JobLine<'a> {
    /// A setting that the user told beside the file; an empty value is none.
    pub(crate) fn told(name: &'a str, value: &'a str) -> JobLine<'a> {
        JobLine { line: 0, name, value: (!value.is_empty()).then_some(value) }
    }

    /// The value of `option`; empty for one that `may_be_bare` and is.
    pub(crate) fn text(
        &self,
        option: &'static str,
        may_be_bare: bool,
    ) -> Result<&'a str, InputError> {
        match self.value {
            None if may_be_bare => Ok(""),
            None | Some("") => Err(InputError::new(
                format!("{option} needs a value"),
                format!("write {option}=VALUE"),
            )),
            Some(value) if value.len() > LINE_BYTES_MAX => Err(line_too_long(value)),
            Some(value) if value.chars().any(char::is_control) => Err(control()),
            Some(value) => Ok(value),
        }
    }
}

/// The sections of `text`.
///
/// # Errors
/// When the text or a line is too long, holds control characters, is before the first section,
/// or is a heading that does not end.
pub(crate) fn sections(text: &str) -> Result<Vec<Section<'_>>, InputError> {
    if text.len() > TEXT_BYTES_MAX {
        let problem = format!("{} bytes are more than the limit of {TEXT_BYTES_MAX}", text.len());
        return Err(
            SettingPlace::File.refused(InputError::new(problem, "check that this is a job file"))
        );
    }
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let section = sections.last().map(|section| section.name.to_owned());
        let fail = |problem| SettingPlace::Line { number, section }.refused(problem);
        let line = match content(line) {
            Ok("") => continue,
            Ok(line) => line,
            Err(problem) => return Err(fail(problem)),
        };
        if line.starts_with('[') {
            let name = heading(line).map_err(fail)?;
            sections.push(Section { name, line: number, settings: Vec::new() });
        } else if let Some(file) = line.strip_prefix("include") {
            let problem = format!("`include {}` is not followed", escape(file.trim().as_bytes()));
            let hint = "paste the text of that file in its place";
            return Err(fail(InputError::new(problem, hint)));
        } else if let Some(section) = sections.last_mut() {
            section.settings.push(setting(number, line));
        } else {
            let problem = format!("`{}` is before the first section", escape(line.as_bytes()));
            let hint = "put [global] or [name] above it; without a byte order mark";
            return Err(fail(InputError::new(problem, hint)));
        }
    }
    Ok(sections)
}

/// Returns what a line says: without its comment, which begins wherever `;` or `#` stands, and
/// without the blanks around.
fn content(line: &str) -> Result<&str, InputError> {
    if line.len() > LINE_BYTES_MAX {
        return Err(line_too_long(line));
    }
    let line = line.find([';', '#']).map_or(line, |end| &line[..end]).trim();
    let is_bad = |character: char| character.is_control() && character != '\t';
    if line.contains(is_bad) {
        return Err(control());
    }
    Ok(line)
}

/// The name in `[name]`.
fn heading(line: &str) -> Result<&str, InputError> {
    let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    name.filter(|name| !name.is_empty()).ok_or_else(|| {
        let hint = "write [name] on a line of its own, without ; or # in the name";
        InputError::new(format!("`{}` is not a section's heading", escape(line.as_bytes())), hint)
    })
}

fn setting(line: usize, text: &str) -> JobLine<'_> {
    match text.split_once('=') {
        Some((name, value)) => JobLine { line, name: name.trim_end(), value: Some(value) },
        None => JobLine { line, name: text, value: None },
    }
}

fn line_too_long(line: &str) -> InputError {
    let problem = format!("{} bytes are more than the limit of {LINE_BYTES_MAX}", line.len());
    InputError::new(problem, "shorten the line; fio refuses it too")
}

fn control() -> InputError {
    InputError::new("the text has control characters", "save the file as plain text in UTF-8")
}
