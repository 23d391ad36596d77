//! The text of a profile: TOML, read by `serde`, whose errors name the file, the line and the key.
//!
//! Profiles of engines ([`crate::engine`]) and of drives are both read with this.

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::Spanned;
use units::prefix::{self, Size};
use units::text::escape;

use crate::{Duration, InputError};

/// The longest profile that is read, in bytes.
pub const PROFILE_BYTES_MAX: usize = 64 << 10;
/// The longest text of one key, in bytes.
const TEXT_BYTES_MAX: usize = 1000;
/// The most notes.
const NOTES_MAX: usize = 32;

/// The form of a time, as errors say it.
pub const TIME_FORM: &str = "a whole number with ns, us, ms or s, such as 10 ms";

/// A profile's text, and what errors say of it.
#[derive(Clone, Copy, Debug)]
pub struct ProfileText<'a> {
    /// The words before "profile" in an error: `the drive's`.
    pub whose: &'static str,
    /// Hint for a file that is not a profile at all.
    pub form_hint: &'static str,
    /// The file, as it was named.
    pub file: &'a str,
    /// Content of the file.
    pub text: &'a str,
}

/// A number, or a text in quotes, which may hold a number too: `7200`, `"8500 us"`, `"7200"`.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number or a text in quotes")]
pub enum Scalar {
    /// A number without quotes.
    Number(i64),
    /// A text in quotes.
    Text(String),
}

impl fmt::Display for Scalar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Number(number) => write!(formatter, "{number}"),
            Scalar::Text(text) => write!(formatter, "{text}"),
        }
    }
}

impl ProfileText<'_> {
    /// The values as they are written.
    ///
    /// # Errors
    /// When the text is too long or not TOML, or a key is unknown, missing or of another type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, InputError> {
        let bytes = self.text.len();
        if bytes > PROFILE_BYTES_MAX {
            let problem = format!("{bytes} bytes are more than the limit of {PROFILE_BYTES_MAX}");
            return Err(self.error_at(0, &problem, self.form_hint));
        }
        toml::from_str(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let message = error.message();
            let hint = match message.ends_with("expected a string") {
                true => "put it in quotes",
                false => self.form_hint,
            };
            self.error_at(at, message, hint)
        })
    }

    /// The error that `at` has `problem`, about which `hint` says what to do.
    pub fn error<T>(&self, at: &Spanned<T>, problem: &str, hint: impl Into<String>) -> InputError {
        self.error_at(at.span().start, problem, hint)
    }

    /// Line of the file on which `at` stands, from 1.
    #[must_use]
    pub fn line_of<T>(&self, at: &Spanned<T>) -> usize {
        self.line_at(at.span().start)
    }

    fn line_at(&self, at: usize) -> usize {
        let before = self.text.as_bytes().get(..at).unwrap_or(self.text.as_bytes());
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    fn error_at(&self, at: usize, problem: &str, hint: impl Into<String>) -> InputError {
        let line = self.line_at(at);
        let file = escape(self.file.as_bytes());
        let problem = escape(problem.as_bytes());
        let message = format!("cannot read {} profile: {file}:{line}: {problem}", self.whose);
        InputError::new(message, hint)
    }

    /// The error that the value of `key` is not what the key takes.
    pub fn unreadable<T>(&self, key: &str, value: &Spanned<T>, expects: &str) -> InputError {
        let written: String =
            self.text.get(value.span()).unwrap_or_default().chars().take(80).collect();
        let problem = format!("expected {expects}, got `{key} = {written}`");
        self.error(value, &problem, format!("write {expects} after {key} ="))
    }

    /// `number`, which `value` says, if it is within the bounds, which `show` puts in words.
    ///
    /// # Errors
    /// When it is not.
    fn within<S: fmt::Display>(
        &self,
        key: &str,
        value: &Spanned<Scalar>,
        number: u64,
        (least, most): (u64, u64),
        show: fn(u64) -> S,
    ) -> Result<u64, InputError> {
        if (least..=most).contains(&number) {
            return Ok(number);
        }
        let (found, bounds) = (value.get_ref(), format!("{} to {}", show(least), show(most)));
        let problem = format!("{key} is {found}, outside of {bounds}");
        Err(self.error(value, &problem, format!("choose {bounds}")))
    }

    /// Number of bytes within the bounds: `4 KiB`.
    ///
    /// # Errors
    /// When it is no size, or out of the bounds.
    pub fn size(
        &self,
        key: &str,
        value: &Spanned<Scalar>,
        bounds: (u64, u64),
    ) -> Result<u64, InputError> {
        let bytes = prefix::parse(&value.get_ref().to_string());
        let bytes = bytes.map_err(|_| self.unreadable(key, value, "a size such as 4 KiB"))?;
        self.within(key, value, bytes, bounds, Size)
    }

    /// Time in nanoseconds, within the bounds: `10 ms`.
    ///
    /// # Errors
    /// When it is no time, or out of the bounds.
    pub fn time(
        &self,
        key: &str,
        value: &Spanned<Scalar>,
        bounds: (u64, u64),
    ) -> Result<u64, InputError> {
        let time = Duration::parse(&value.get_ref().to_string());
        let Duration(ns) = time.ok_or_else(|| self.unreadable(key, value, TIME_FORM))?;
        self.within(key, value, ns, bounds, Duration)
    }

    /// Whole number within the bounds.
    ///
    /// # Errors
    /// When it is none, or out of the bounds.
    pub fn count(
        &self,
        key: &str,
        value: &Spanned<Scalar>,
        bounds: (u64, u64),
    ) -> Result<u64, InputError> {
        let number: Result<i64, _> = value.get_ref().to_string().parse();
        let number = number.map_err(|_| self.unreadable(key, value, "a whole number"))?;
        // Below every bound, as a number without a sign is not.
        self.within(key, value, u64::try_from(number).unwrap_or(0), bounds, |bound| bound)
    }

    /// Meaning of one of `words`.
    ///
    /// # Errors
    /// When it is another word.
    pub fn word<T: Copy>(
        &self,
        key: &str,
        value: &Spanned<String>,
        words: &[(&str, T)],
    ) -> Result<T, InputError> {
        let found = words.iter().find(|(word, _)| word == value.get_ref());
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.unreadable(key, value, &format!("one of {}", words.join(", ")))
        })
    }

    /// Name that people type: letters, digits and hyphens.
    ///
    /// # Errors
    /// When it is none, or too long.
    pub fn name(&self, value: &Spanned<String>) -> Result<String, InputError> {
        let name = value.get_ref();
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if (1..=40).contains(&name.len()) && name.bytes().all(is_part) {
            return Ok(name.clone());
        }
        Err(self.unreadable("name", value, "a name of at most 40 letters, digits and hyphens"))
    }

    /// One line of text for people.
    ///
    /// # Errors
    /// When it is empty, too long, or more than a line.
    pub fn line(&self, key: &str, value: &Spanned<String>) -> Result<String, InputError> {
        let text = value.get_ref().trim();
        if (1..=TEXT_BYTES_MAX).contains(&text.len()) && !text.contains(char::is_control) {
            return Ok(text.to_owned());
        }
        let expects = format!("one line of text, of 1 to {TEXT_BYTES_MAX} bytes");
        Err(self.unreadable(key, value, &expects))
    }

    /// The lines of `notes`.
    ///
    /// # Errors
    /// When there are too many, or one is not a line.
    pub fn notes(&self, notes: &[Spanned<String>]) -> Result<Vec<String>, InputError> {
        if let Some(note) = notes.get(NOTES_MAX) {
            let bounds = format!("0 to {NOTES_MAX}");
            let problem = format!("the number of notes is {}, outside of {bounds}", notes.len());
            return Err(self.error(note, &problem, format!("choose {bounds}")));
        }
        notes.iter().map(|note| self.line("notes", note)).collect()
    }
}
