//! A job file's text as sections of settings. Lines are borrowed; nothing is interpreted.

use super::error::{JobError, Problem};
use super::place::Place;
use super::{LINE_BYTES_MAX, TEXT_BYTES_MAX};

/// A section: its name, and its settings in order.
pub(crate) struct Section<'a> {
    pub(crate) name: &'a str,
    /// From 1.
    pub(crate) line: usize,
    pub(crate) settings: Vec<Setting<'a>>,
}

impl Section<'_> {
    /// Returns whether it speaks for all jobs behind it. fio asks only how the name begins, in any
    /// case.
    pub(crate) fn is_global(&self) -> bool {
        self.name.get(..6).is_some_and(|head| head.eq_ignore_ascii_case("global"))
    }

    /// Returns where line `number` of it is.
    pub(crate) fn place(&self, number: usize) -> Place {
        Place::Line { number, section: Some(self.name.to_owned()) }
    }
}

/// One line `name=value`, or `name` alone. The value keeps the blanks at its front: to fio they
/// matter.
pub(crate) struct Setting<'a> {
    /// From 1.
    pub(crate) line: usize,
    pub(crate) name: &'a str,
    value: Option<&'a str>,
}

impl<'a> Setting<'a> {
    /// A setting that the user told beside the file; an empty value is none.
    pub(crate) fn told(name: &'a str, value: &'a str) -> Setting<'a> {
        Setting { line: 0, name, value: (!value.is_empty()).then_some(value) }
    }

    /// The value of `option`; empty for one that `may_be_bare` and is.
    pub(crate) fn text(&self, option: &'static str, may_be_bare: bool) -> Result<&'a str, Problem> {
        match self.value {
            None if may_be_bare => Ok(""),
            None | Some("") => Err(Problem::NoValue { option }),
            Some(value) if value.len() > LINE_BYTES_MAX => {
                Err(Problem::LineTooLong { bytes: value.len() })
            }
            Some(value) if value.chars().any(char::is_control) => Err(Problem::Control),
            Some(value) => Ok(value),
        }
    }
}

/// The sections of `text`.
///
/// # Errors
/// When the text or a line is too long, holds control characters, stands before the first section,
/// or is a heading that does not end.
pub(crate) fn sections(text: &str) -> Result<Vec<Section<'_>>, JobError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(JobError::new(Place::File, Problem::TextTooLong { bytes: text.len() }));
    }
    let mut sections: Vec<Section<'_>> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let number = number + 1;
        let section = sections.last().map(|section| section.name.to_owned());
        let fail = |problem| JobError::new(Place::Line { number, section }, problem);
        let line = match content(line) {
            Ok("") => continue,
            Ok(line) => line,
            Err(problem) => return Err(fail(problem)),
        };
        if line.starts_with('[') {
            let name = heading(line).map_err(fail)?;
            sections.push(Section { name, line: number, settings: Vec::new() });
        } else if let Some(file) = line.strip_prefix("include") {
            let file = file.trim().to_owned();
            return Err(fail(Problem::Include { file }));
        } else if let Some(section) = sections.last_mut() {
            section.settings.push(setting(number, line));
        } else {
            return Err(fail(Problem::OutsideSection { line: line.to_owned() }));
        }
    }
    Ok(sections)
}

/// Returns what a line says: without its comment, which begins wherever `;` or `#` stands, and
/// without the blanks around.
fn content(line: &str) -> Result<&str, Problem> {
    if line.len() > LINE_BYTES_MAX {
        return Err(Problem::LineTooLong { bytes: line.len() });
    }
    let line = line.find([';', '#']).map_or(line, |end| &line[..end]).trim();
    let is_bad = |character: char| character.is_control() && character != '\t';
    if line.contains(is_bad) {
        return Err(Problem::Control);
    }
    Ok(line)
}

/// The name in `[name]`.
fn heading(line: &str) -> Result<&str, Problem> {
    let name = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    name.filter(|name| !name.is_empty()).ok_or_else(|| Problem::Heading { line: line.to_owned() })
}

fn setting(line: usize, text: &str) -> Setting<'_> {
    match text.split_once('=') {
        Some((name, value)) => Setting { line, name: name.trim_end(), value: Some(value) },
        None => Setting { line, name: text, value: None },
    }
}
