//! From text to a profile: the form by `serde`, then every value.

use serde::Deserialize;
use toml::Spanned;

use super::pattern::Words;
use super::{
    Duration, Limit, PROFILE_BYTES_MAX, Pattern, Profile, ProfileProblem, QUANTILES, Source,
};

/// A problem with its line, from 1.
type Refused = (usize, ProfileProblem);

/// The longest text behind a key, in bytes.
const TEXT_BYTES_MAX: usize = 1000;
/// The most notes.
const NOTES_MAX: usize = 32;
/// The shortest and the longest limit: below a microsecond no durable write was ever seen; a minute
/// is longer than any engine waits.
const LIMIT_NS: (u64, u64) = (1000, 60_000_000_000);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProfile {
    name: Spanned<String>,
    #[serde(default)]
    aliases: Vec<Spanned<String>>,
    title: Spanned<String>,
    quantile: Spanned<String>,
    #[serde(default)]
    quorum: bool,
    pass: Spanned<String>,
    next: Spanned<String>,
    #[serde(default)]
    notes: Vec<Spanned<String>>,
    pattern: RawPattern,
    warn: RawLimit,
    fail: RawLimit,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPattern {
    write: Spanned<String>,
    #[serde(default)]
    writes_per_sync: Option<Spanned<i64>>,
    placement: Spanned<String>,
    space: Spanned<String>,
    file: Spanned<String>,
    sync: Spanned<String>,
    samples: Spanned<i64>,
    time: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLimit {
    above: Spanned<String>,
    source: Spanned<String>,
    #[serde(default)]
    reason: Option<Spanned<String>>,
    sentence: Spanned<String>,
}

/// The profile that `text` holds.
pub(super) fn profile(text: &str) -> Result<Profile, Refused> {
    if text.len() > PROFILE_BYTES_MAX {
        return Err((1, ProfileProblem::TooLong { bytes: text.len() }));
    }
    let raw: RawProfile = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (line(text, at), ProfileProblem::Form { message: error.message().to_owned() })
    })?;
    Values { text }.profile(&raw)
}

/// The number, from 1, of the line that holds the byte `at`.
fn line(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The values of a profile, with the text in which their lines are counted.
struct Values<'a> {
    text: &'a str,
}

impl Values<'_> {
    fn profile(&self, raw: &RawProfile) -> Result<Profile, Refused> {
        let (warn, fail) = (self.limit("warn", &raw.warn)?, self.limit("fail", &raw.fail)?);
        if warn.above_ns > fail.above_ns {
            let [warn, fail] = [warn, fail].map(|limit| Duration(limit.above_ns).to_string());
            return Err(self.refused(&raw.warn.above, ProfileProblem::WarnAboveFail { warn, fail }));
        }
        if let Some(note) = raw.notes.get(NOTES_MAX) {
            let (found, most) = (raw.notes.len().to_string(), NOTES_MAX.to_string());
            return Err(self.out_of_range("the number of notes", note, &found, "0".into(), most));
        }
        let quantiles = QUANTILES.map(|quantile| (quantile.name(), quantile));
        Ok(Profile {
            name: self.name(&raw.name)?,
            aliases: raw.aliases.iter().map(|it| self.name(it)).collect::<Result<_, _>>()?,
            title: self.text("title", &raw.title)?,
            pattern: self.pattern(&raw.pattern)?,
            quantile: self.word("quantile", &raw.quantile, &quantiles)?,
            has_quorum: raw.quorum,
            pass: self.text("pass", &raw.pass)?,
            warn,
            fail,
            next: self.text("next", &raw.next)?,
            notes: raw
                .notes
                .iter()
                .map(|note| self.text("notes", note))
                .collect::<Result<_, _>>()?,
        })
    }

    fn pattern(&self, raw: &RawPattern) -> Result<Pattern, Refused> {
        let pattern = Pattern {
            write_bytes: self.size("write", &raw.write, (1, 16 << 20))?,
            writes_per_sync: match &raw.writes_per_sync {
                Some(writes) => self.number("writes_per_sync", writes, (1, 1024))?,
                None => 1,
            },
            placement: self.word("placement", &raw.placement, Words::ALL)?,
            space: self.word("space", &raw.space, Words::ALL)?,
            file_bytes: self.size("file", &raw.file, (4096, 1 << 30))?,
            sync: self.word("sync", &raw.sync, Words::ALL)?,
            samples: self.number("samples", &raw.samples, (100, 1_000_000))?,
            time_ns: self.time("time", &raw.time, (1_000_000_000, 3_600_000_000_000))?,
        };
        let write_bytes = pattern.write_bytes;
        if pattern.sync.is_direct() && !write_bytes.is_multiple_of(512) {
            return Err(self.refused(&raw.write, ProfileProblem::NotSectors { write_bytes }));
        }
        let (writes, file_bytes) = (pattern.writes_per_sync, pattern.file_bytes);
        if write_bytes.saturating_mul(writes) > file_bytes {
            let problem = ProfileProblem::FileTooShort { file_bytes, writes, write_bytes };
            return Err(self.refused(&raw.file, problem));
        }
        Ok(pattern)
    }

    fn limit(&self, table: &'static str, raw: &RawLimit) -> Result<Limit, Refused> {
        let reason = raw.reason.as_ref().map(|reason| self.text("reason", reason)).transpose()?;
        let source = match self.text("source", &raw.source)?.as_str() {
            "ours" if reason.is_none() => {
                return Err(self.refused(&raw.source, ProfileProblem::NoReason { table }));
            }
            "ours" => Source::Ours,
            page if page.starts_with("https://") || page.starts_with("http://") => {
                Source::Page(page.to_owned())
            }
            other => {
                let expects = "an address that begins with https://, or ours".to_owned();
                return Err(self.unreadable("source", &raw.source, other, expects));
            }
        };
        let above_ns = self.time("above", &raw.above, LIMIT_NS)?;
        let sentence = self.text("sentence", &raw.sentence)?;
        Ok(Limit { above_ns, source, reason: reason.unwrap_or_default(), sentence })
    }

    /// Returns what people type: letters, digits and hyphens.
    fn name(&self, value: &Spanned<String>) -> Result<String, Refused> {
        let name = value.get_ref();
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if (1..=40).contains(&name.len()) && name.bytes().all(is_part) {
            return Ok(name.clone());
        }
        let expects = "a name of at most 40 letters, digits and hyphens".to_owned();
        Err(self.unreadable("name", value, name, expects))
    }

    /// A line of text for people.
    fn text(&self, key: &'static str, value: &Spanned<String>) -> Result<String, Refused> {
        let text = value.get_ref().trim();
        if (1..=TEXT_BYTES_MAX).contains(&text.len()) && !text.contains(char::is_control) {
            return Ok(text.to_owned());
        }
        let expects = format!("one line of text, of 1 to {TEXT_BYTES_MAX} bytes");
        let shown: String = text.chars().take(40).collect();
        Err(self.unreadable(key, value, &shown, expects))
    }

    fn word<T: Copy>(
        &self,
        key: &'static str,
        value: &Spanned<String>,
        words: &[(&str, T)],
    ) -> Result<T, Refused> {
        let found = words.iter().find(|(word, _)| word == value.get_ref());
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            self.unreadable(key, value, value.get_ref(), format!("one of {}", words.join(", ")))
        })
    }

    fn size(
        &self,
        key: &'static str,
        value: &Spanned<String>,
        (least, most): (u64, u64),
    ) -> Result<u64, Refused> {
        let text = value.get_ref();
        let Ok(bytes) = units::prefix::parse(text) else {
            return Err(self.unreadable(key, value, text, "a size such as 4 KiB".to_owned()));
        };
        if (least..=most).contains(&bytes) {
            return Ok(bytes);
        }
        let size = |bytes| units::prefix::Size(bytes).to_string();
        Err(self.out_of_range(key, value, text, size(least), size(most)))
    }

    fn time(
        &self,
        key: &'static str,
        value: &Spanned<String>,
        (least, most): (u64, u64),
    ) -> Result<u64, Refused> {
        let text = value.get_ref();
        let Some(Duration(ns)) = Duration::parse(text) else {
            let expects = "a whole number with ns, us, ms or s, such as 10 ms".to_owned();
            return Err(self.unreadable(key, value, text, expects));
        };
        if (least..=most).contains(&ns) {
            return Ok(ns);
        }
        let time = |ns| Duration(ns).to_string();
        Err(self.out_of_range(key, value, text, time(least), time(most)))
    }

    fn number(
        &self,
        key: &'static str,
        value: &Spanned<i64>,
        (least, most): (u64, u64),
    ) -> Result<u64, Refused> {
        let number = *value.get_ref();
        match u64::try_from(number) {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => {
                let (least, most) = (least.to_string(), most.to_string());
                Err(self.out_of_range(key, value, &number.to_string(), least, most))
            }
        }
    }

    fn unreadable<T>(
        &self,
        key: &'static str,
        at: &Spanned<T>,
        value: &str,
        expects: String,
    ) -> Refused {
        let value = value.chars().take(80).collect();
        self.refused(at, ProfileProblem::Unreadable { key, value, expects })
    }

    fn out_of_range<T>(
        &self,
        key: &'static str,
        at: &Spanned<T>,
        value: &str,
        least: String,
        most: String,
    ) -> Refused {
        let value = value.chars().take(80).collect();
        self.refused(at, ProfileProblem::OutOfRange { key, value, least, most })
    }

    fn refused<T>(&self, at: &Spanned<T>, problem: ProfileProblem) -> Refused {
        (line(self.text, at.span().start), problem)
    }
}
