//! LUKS2's JSON: which segments there are, and what is under way.
//!
//! Source: LUKS2 on-disk format 1.1.1, sections 3.3 to 3.5; cryptsetup
//! `lib/luks2/luks2_json_metadata.c`.

use serde::Deserialize;

use super::bounded_json::{Few, Names, Short};
use super::{Luks, LuksSegment};
use crate::{Problem, ProblemKind};

/// A problem before it gets the area's address.
type Wrong = (ProblemKind, String);

/// Puts what the JSON in `area` says into `luks`, and returns what is wrong with it. The area is at
/// `at_bytes`; both headers together end at `headers_end`.
pub(super) fn fill(luks: &mut Luks, area: &[u8], at_bytes: u64, headers_end: u64) -> Vec<Problem> {
    let end = area.iter().position(|&byte| byte == 0).unwrap_or(area.len());
    let metadata: Metadata = match serde_json::from_slice(&area[..end]) {
        Ok(metadata) => metadata,
        Err(error) => {
            let detail = format!("the JSON cannot be read: {}", shown(&error.to_string()));
            return vec![Problem::new(ProblemKind::Field, at_bytes, detail)];
        }
    };
    let mut wrong = Vec::new();
    let mut numbered = Vec::new();
    for (name, segment) in metadata.segments.0 {
        match name.0.parse::<u32>() {
            Ok(number) => numbered.push((number, segment)),
            Err(_) => {
                wrong.push((ProblemKind::Field, format!("a segment called {}", shown(&name.0))))
            }
        }
    }
    numbered.sort_by_key(|(number, _)| *number);
    for (number, segment) in &numbered {
        wrong.extend(add(luks, *number, segment, headers_end));
    }
    luks.allows_discards = metadata.config.flags.0.iter().any(|flag| flag.0 == "allow-discards");
    wrong.extend(requirements(luks, &metadata.config));
    if luks.segments.is_empty() {
        wrong.push((ProblemKind::Field, "no data segment".to_owned()));
    }
    wrong.into_iter().map(|(kind, detail)| Problem::new(kind, at_bytes, detail)).collect()
}

/// Adds segment `number`, and returns what is wrong with it.
fn add(luks: &mut Luks, number: u32, segment: &Segment, headers_end: u64) -> Vec<Wrong> {
    luks.reencrypting |= segment.flags.0.iter().any(|flag| flag.0 == "in-reencryption");
    // Backups say how things were before, or will be behind, a reencryption.
    if segment.flags.0.iter().any(|flag| flag.0.starts_with("backup-")) {
        return Vec::new();
    }
    let cipher = segment.encryption.as_ref().map(Short::text);
    luks.cipher = luks.cipher.take().or(cipher);
    let integrity = segment.integrity.as_ref().map(|integrity| integrity.kind.text());
    luks.integrity = luks.integrity.take().or(integrity);
    match segment.described() {
        Ok(segment) => {
            let wrong = segment_wrong(number, &segment, headers_end);
            luks.segments.push(segment);
            wrong
        }
        Err(detail) => vec![(ProblemKind::Field, format!("segment {number}: {detail}"))],
    }
}

/// Returns what a segment that could be read is wrong about.
fn segment_wrong(number: u32, segment: &LuksSegment, headers_end: u64) -> Vec<Wrong> {
    let LuksSegment { kind, offset_bytes: offset, sector_bytes: sector, .. } = segment;
    let mut wrong = Vec::new();
    if !matches!(kind.raw(), b"crypt" | b"linear" | b"hw-opal" | b"hw-opal-crypt") {
        wrong.push((ProblemKind::Unsupported, format!("segment {number} is of kind {kind}")));
    }
    if !matches!(sector, 512 | 1024 | 2048 | 4096) {
        wrong.push((ProblemKind::Field, format!("segment {number} has sectors of {sector} bytes")));
    }
    if !offset.is_multiple_of(512) {
        let detail = format!("segment {number} starts at {offset}, which is no sector");
        wrong.push((ProblemKind::Field, detail));
    }
    if *offset != 0 && *offset < headers_end {
        let detail = format!("segment {number} starts at {offset}, within the headers");
        wrong.push((ProblemKind::Overlap, detail));
    }
    wrong
}

/// Requirements say which newer features the container uses.
fn requirements(luks: &mut Luks, config: &Config) -> Vec<Wrong> {
    let mut unknown = Vec::new();
    for name in &config.requirements.mandatory.0 {
        let name = name.0.as_str();
        if name.starts_with("online-reencrypt") || name.starts_with("offline-reencrypt") {
            luks.reencrypting = true;
        } else if !matches!(name, "opal" | "inline-hw-tags") {
            let detail = format!("unknown requirement {}", shown(name));
            unknown.push((ProblemKind::Unsupported, detail));
        }
    }
    unknown
}

/// The start of `text`, harmless: enough to know it by.
fn shown(text: &str) -> String {
    let bytes = text.as_bytes();
    units::text::escape(&bytes[..bytes.len().min(100)])
}

#[derive(Deserialize)]
struct Metadata {
    segments: Few<Segment>,
    #[serde(default)]
    config: Config,
}

#[derive(Default, Deserialize)]
struct Config {
    #[serde(default)]
    requirements: Requirements,
    #[serde(default)]
    flags: Names,
}

#[derive(Default, Deserialize)]
struct Requirements {
    #[serde(default)]
    mandatory: Names,
}

#[derive(Deserialize)]
struct Segment {
    #[serde(rename = "type")]
    kind: Short,
    offset: Option<Short>,
    size: Option<Short>,
    sector_size: Option<u64>,
    encryption: Option<Short>,
    integrity: Option<Integrity>,
    #[serde(default)]
    flags: Names,
}

#[derive(Deserialize)]
struct Integrity {
    #[serde(rename = "type")]
    kind: Short,
}

impl Segment {
    /// The segment, or which of its numbers is missing or none. Numbers of 64 bits are written as
    /// text of decimal digits.
    fn described(&self) -> Result<LuksSegment, String> {
        let offset = self.offset.as_ref().map(|text| text.0.as_str()).ok_or("no offset")?;
        let size = self.size.as_ref().map(|text| text.0.as_str()).ok_or("no size")?;
        let length_bytes = match size {
            "dynamic" => None,
            size => Some(decimal(size).ok_or_else(|| format!("a size of {}", shown(size)))?),
        };
        Ok(LuksSegment {
            kind: self.kind.text(),
            offset_bytes: decimal(offset)
                .ok_or_else(|| format!("an offset of {}", shown(offset)))?,
            length_bytes,
            sector_bytes: self.sector_size.unwrap_or(512),
        })
    }
}

/// The number of decimal digits, without sign or blanks.
fn decimal(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
