//! From text to a profile: the form by `serde`, then every value.

use serde::Deserialize;
use toml::Spanned;

use super::pattern::{PatternWords, WritePattern};
use super::profile::{Limit, LimitSource, Profile, QUANTILES};
use crate::profile_text::{ProfileText, Scalar};
use crate::{Duration, InputError};

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
    write: Spanned<Scalar>,
    writes_per_sync: Option<Spanned<Scalar>>,
    placement: Spanned<String>,
    space: Spanned<String>,
    file: Spanned<Scalar>,
    sync: Spanned<String>,
    samples: Spanned<Scalar>,
    time: Spanned<Scalar>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLimit {
    above: Spanned<Scalar>,
    source: Spanned<String>,
    reason: Option<Spanned<String>>,
    sentence: Spanned<String>,
}

impl Profile {
    /// The profile that `text` holds; `file` is named in errors, as it is.
    ///
    /// # Errors
    /// With the line, when it is no TOML, a key is missing or not known, or a value is absurd.
    pub fn parse(file: &str, text: &str) -> Result<Profile, InputError> {
        let form_hint = "`straddle explain engine profile` prints one to copy";
        profile(&ProfileText { whose: "the", form_hint, file, text })
    }
}

/// The profile that `source` holds.
fn profile(source: &ProfileText<'_>) -> Result<Profile, InputError> {
    let raw: RawProfile = source.parse()?;
    let (warn, fail) = (limit(source, "warn", &raw.warn)?, limit(source, "fail", &raw.fail)?);
    if warn.above_ns > fail.above_ns {
        let [warn, fail] = [warn, fail].map(|limit| Duration(limit.above_ns));
        let problem = format!("the warn limit of {warn} is above the fail limit of {fail}");
        return Err(source.error(&raw.warn.above, &problem, "lower warn, or raise fail"));
    }
    let quantiles = QUANTILES.map(|quantile| (quantile.name(), quantile));
    let aliases = raw.aliases.iter().map(|alias| source.name(alias));
    Ok(Profile {
        name: source.name(&raw.name)?,
        aliases: aliases.collect::<Result<_, _>>()?,
        title: source.line("title", &raw.title)?,
        pattern: pattern(source, &raw.pattern)?,
        quantile: source.word("quantile", &raw.quantile, &quantiles)?,
        has_quorum: raw.quorum,
        pass: source.line("pass", &raw.pass)?,
        warn,
        fail,
        next: source.line("next", &raw.next)?,
        notes: source.notes(&raw.notes)?,
    })
}

fn pattern(source: &ProfileText<'_>, raw: &RawPattern) -> Result<WritePattern, InputError> {
    let writes = raw.writes_per_sync.as_ref();
    let writes = writes.map(|writes| source.count("writes_per_sync", writes, (1, 1024)));
    let pattern = WritePattern {
        write_bytes: source.size("write", &raw.write, (1, 16 << 20))?,
        writes_per_sync: writes.transpose()?.unwrap_or(1),
        placement: source.word("placement", &raw.placement, PatternWords::ALL)?,
        space: source.word("space", &raw.space, PatternWords::ALL)?,
        file_bytes: source.size("file", &raw.file, (4096, 1 << 30))?,
        sync: source.word("sync", &raw.sync, PatternWords::ALL)?,
        samples: source.count("samples", &raw.samples, (100, 1_000_000))?,
        time_ns: source.time("time", &raw.time, (1_000_000_000, 3_600_000_000_000))?,
    };
    let (write_bytes, writes) = (pattern.write_bytes, pattern.writes_per_sync);
    if pattern.sync.is_direct() && !write_bytes.is_multiple_of(512) {
        let problem = format!("writes of {write_bytes} bytes cannot go past the page cache");
        let hint = "choose a multiple of 512 B, or a sync without O_DIRECT";
        return Err(source.error(&raw.write, &problem, hint));
    }
    let (file_bytes, least) = (pattern.file_bytes, write_bytes.saturating_mul(writes));
    if least > file_bytes {
        let problem = format!(
            "file is {file_bytes} bytes, and one sync follows {writes} of {write_bytes} bytes, \
             which are {least}"
        );
        let hint = format!("make file at least {least}, or lower write or writes_per_sync");
        return Err(source.error(&raw.file, &problem, hint));
    }
    Ok(pattern)
}

fn limit(source: &ProfileText<'_>, table: &str, raw: &RawLimit) -> Result<Limit, InputError> {
    let reason = raw.reason.as_ref().map(|reason| source.line("reason", reason)).transpose()?;
    let from = match source.line("source", &raw.source)?.as_str() {
        "ours" if reason.is_none() => {
            let problem = format!("{table} has source \"ours\" but no reason");
            let hint = "add a line reason = \"...\"";
            return Err(source.error(&raw.source, &problem, hint));
        }
        "ours" => LimitSource::Ours,
        page if page.starts_with("https://") || page.starts_with("http://") => {
            LimitSource::Page(page.to_owned())
        }
        _ => {
            let expects = "an address that begins with https://, or ours";
            return Err(source.unreadable("source", &raw.source, expects));
        }
    };
    Ok(Limit {
        above_ns: source.time("above", &raw.above, LIMIT_NS)?,
        source: from,
        reason: reason.unwrap_or_default(),
        sentence: source.line("sentence", &raw.sentence)?,
    })
}
