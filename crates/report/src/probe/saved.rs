//! Kept results of a probe: one file for each drive.
//!
//! It is read by later runs, perhaps by another user, so it is taken for hostile: bounded, of one
//! schema, each number within what a probe can find.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The schema's name and version.
pub const SAVED_SCHEMA: &str = "straddle.measured/1";
/// The longest file that is read, in bytes.
pub const SAVED_BYTES_MAX: u64 = 64 << 10;
/// The longest text in it, in bytes.
const TEXT_BYTES_MAX: usize = 512;
/// The longest reason why a text is none of these, in letters: it may hold what the text says.
const REASON_LETTERS_MAX: usize = 200;
/// The largest granule that a probe can find, in bytes.
pub const GRANULE_BYTES_MAX: u64 = 64 << 10;
/// The largest sector that a drive can have, in bytes.
const SECTOR_BYTES_MAX: u64 = 16 << 20;

/// Kept result of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// `straddle.measured/1`.
    pub schema: String,
    /// The version of straddle that wrote it.
    pub version: String,
    /// When it was measured, RFC 3339 in UTC.
    pub measured: String,
    /// Of which drive it is.
    pub identity: SavedIdentity,
    /// Findings.
    pub granule: SavedGranule,
}

/// Drive and its state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedIdentity {
    /// Its world-wide name, or its serial number.
    pub name: String,
    /// Kind of `name`: `wwid` or `serial`.
    pub kind: String,
    /// Its model; `null` where it does not say. Bridges and hypervisors give many drives one serial
    /// number.
    pub model: Option<String>,
    /// Its length, in bytes; `null` where it is not known.
    pub length_bytes: Option<u64>,
    /// Its firmware; `null` where it does not say.
    pub firmware: Option<String>,
    /// Its logical sector, in bytes.
    pub logical_sector_bytes: u64,
    /// Its physical sector as it says, in bytes.
    pub physical_sector_bytes: u64,
}

/// The granule that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedGranule {
    /// Place where writes must start: every so many bytes.
    pub alignment_bytes: u64,
    /// The first such place.
    pub origin_bytes: u64,
    /// Of what lengths must be multiples, in bytes; `null` where that was not found.
    pub size_bytes: Option<u64>,
    /// Ratio of the times of the least misaligned write and an aligned one, at least.
    pub slower_low: f64,
    /// Ratio of the times of aligned writes, at most.
    pub aligned_high: f64,
    /// The probability that it is wrong, at most.
    pub alpha: f64,
    /// The comparisons that say it.
    pub said_by: String,
}

/// Why a file is nothing that was saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedFault {
    /// It is too long.
    Long,
    /// It is no JSON of this form.
    Form(String),
    /// A number in it is none that a probe finds.
    Value(&'static str),
}

impl fmt::Display for SavedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SavedFault::Long => write!(f, "it is longer than {SAVED_BYTES_MAX} bytes"),
            SavedFault::Form(reason) => write!(f, "it is no {SAVED_SCHEMA}: {reason}"),
            SavedFault::Value(name) => write!(f, "its {name} cannot be"),
        }
    }
}

impl std::error::Error for SavedFault {}

/// Returns what `bytes` of a file say.
///
/// # Errors
/// When it is too long, no JSON of the form, or says what no probe finds.
pub fn saved_parse(bytes: &[u8]) -> Result<Saved, SavedFault> {
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > SAVED_BYTES_MAX {
        return Err(SavedFault::Long);
    }
    let saved: Saved =
        serde_json::from_slice(bytes).map_err(|error| SavedFault::form(&error.to_string()))?;
    if saved.schema != SAVED_SCHEMA {
        return Err(SavedFault::Form("its schema is another".to_owned()));
    }
    saved.checked()
}

impl SavedFault {
    /// `reason` may hold anything of the file.
    fn form(reason: &str) -> SavedFault {
        let harmless = units::text::escape(reason.as_bytes());
        SavedFault::Form(harmless.chars().take(REASON_LETTERS_MAX).collect())
    }
}

impl Saved {
    fn checked(self) -> Result<Saved, SavedFault> {
        let SavedGranule { alignment_bytes, origin_bytes, size_bytes, .. } = self.granule;
        let is_size =
            |bytes: u64| bytes.is_power_of_two() && (1024..=GRANULE_BYTES_MAX).contains(&bytes);
        let is_sector =
            |bytes: u64| bytes.is_power_of_two() && (512..=SECTOR_BYTES_MAX).contains(&bytes);
        let is_text = |text: &str| text.len() <= TEXT_BYTES_MAX;
        let is_date = |text: &str| {
            text.len() <= 40 && text.bytes().all(|byte| b"0123456789TZ:.+-".contains(&byte))
        };
        let SavedGranule { slower_low, aligned_high, alpha, .. } = self.granule;
        let is_interval = slower_low.is_finite()
            && slower_low > 1.0
            && (0.0..=slower_low).contains(&aligned_high)
            && (0.0..=1.0).contains(&alpha);
        let identity = &self.identity;
        let is_step = |bytes: u64| bytes.is_multiple_of(identity.logical_sector_bytes.max(512));
        let checks = [
            (is_size(alignment_bytes) && is_step(alignment_bytes), "alignment_bytes"),
            (origin_bytes < alignment_bytes && is_step(origin_bytes), "origin_bytes"),
            (size_bytes.is_none_or(|size| is_size(size) && size >= alignment_bytes), "size_bytes"),
            (is_interval, "interval"),
            (is_sector(identity.logical_sector_bytes), "logical_sector_bytes"),
            (is_sector(identity.physical_sector_bytes), "physical_sector_bytes"),
            (is_date(&self.measured), "date"),
            (is_text(&self.version) && is_text(&self.granule.said_by), "text"),
            (
                is_text(&identity.name) && identity.firmware.as_deref().is_none_or(is_text),
                "identity",
            ),
        ];
        match checks.iter().find(|(holds, _)| !holds) {
            Some((_, name)) => Err(SavedFault::Value(name)),
            None => Ok(self),
        }
    }
}

/// The file's text, with its line feed.
#[must_use]
pub fn saved_json(saved: &Saved) -> String {
    crate::json::pretty(saved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved() -> Saved {
        Saved {
            schema: SAVED_SCHEMA.to_owned(),
            version: "0.1.0".to_owned(),
            measured: "2026-01-02T03:04:05Z".to_owned(),
            identity: SavedIdentity {
                name: "naa.5000".to_owned(),
                kind: "wwid".to_owned(),
                model: Some("ST6000".to_owned()),
                length_bytes: Some(6_001_175_126_016),
                firmware: Some("82.0".to_owned()),
                logical_sector_bytes: 512,
                physical_sector_bytes: 512,
            },
            granule: SavedGranule {
                alignment_bytes: 4096,
                origin_bytes: 3584,
                size_bytes: Some(4096),
                slower_low: 2.9,
                aligned_high: 1.05,
                alpha: 0.004,
                said_by: "shifted writes".to_owned(),
            },
        }
    }

    #[test]
    fn what_is_saved_comes_back() {
        assert_eq!(saved_parse(saved_json(&saved()).as_bytes()), Ok(saved()));
    }

    #[test]
    fn what_no_probe_finds_is_refused() {
        let refused = |change: fn(&mut Saved)| {
            let mut saved = saved();
            change(&mut saved);
            saved_parse(saved_json(&saved).as_bytes()).unwrap_err()
        };
        let value = SavedFault::Value;
        assert_eq!(refused(|it| it.granule.alignment_bytes = 3000), value("alignment_bytes"));
        assert_eq!(refused(|it| it.granule.alignment_bytes = 1 << 40), value("alignment_bytes"));
        assert_eq!(refused(|it| it.identity.logical_sector_bytes = 8192), value("alignment_bytes"));
        assert_eq!(refused(|it| it.granule.slower_low = 1.0), value("interval"));
        assert_eq!(refused(|it| it.granule.aligned_high = 3.0), value("interval"));
        assert_eq!(refused(|it| it.granule.origin_bytes = 4096), value("origin_bytes"));
        assert_eq!(refused(|it| it.granule.size_bytes = Some(512)), value("size_bytes"));
        assert_eq!(
            refused(|it| it.identity.logical_sector_bytes = 0),
            value("logical_sector_bytes")
        );
        assert_eq!(refused(|it| it.measured = "\x1b[2Jtoday".to_owned()), value("date"));
        assert_eq!(refused(|it| it.identity.name = "x".repeat(600)), value("identity"));
        assert!(matches!(refused(|it| it.schema = "other/1".to_owned()), SavedFault::Form(_)));
        assert!(matches!(refused(|it| it.granule.alpha = f64::NAN), SavedFault::Form(_)));
    }

    #[test]
    fn what_is_no_json_or_too_long_is_refused() {
        assert!(matches!(saved_parse(b"{}"), Err(SavedFault::Form(_))));
        assert!(matches!(saved_parse(b"\xff\0"), Err(SavedFault::Form(_))));
        assert_eq!(saved_parse(&vec![b' '; 65 << 10]), Err(SavedFault::Long));
    }
}
