//! A sheet, read.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;
use workload::InputError;
use workload::profile_text::{ProfileText, Scalar};

use super::keys::keys;
use crate::profile::{DriveKind, DriveProfile, Quantity, RawValues, built_in_base};

/// A sheet as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSheet {
    name: Spanned<String>,
    title: Spanned<String>,
    kind: Spanned<String>,
    /// The drive that gives what the sheet does not say.
    base: Option<Spanned<String>>,
    /// Source of the lines.
    source: Spanned<String>,
    /// Lines for which nobody has looked there.
    #[serde(default)]
    unconfirmed: Vec<Spanned<String>>,
    #[serde(default)]
    notes: Vec<Spanned<String>>,
    sheet: BTreeMap<Spanned<String>, Spanned<Scalar>>,
    /// Values of the profile that no sheet says.
    #[serde(default)]
    values: RawValues,
}

/// A line of a sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SheetLine {
    /// Its name.
    pub(super) key: &'static str,
    quantity: Quantity,
    /// The number: bytes, nanoseconds, bytes a second, a count, or a word's place.
    pub(super) amount: u64,
    /// Line of the file; 0 where it was measured.
    line: usize,
    /// Source: an address, or the command that measured it.
    pub(super) source: String,
    /// False where it was written from memory, or as others quote its source.
    pub(super) is_confirmed: bool,
}

impl SheetLine {
    /// Its name and its number, as it is written: `read_rate = 7450 MB`.
    pub(super) fn written(&self) -> String {
        format!("{} = {}", self.key, self.quantity.written(self.amount).trim_matches('"'))
    }

    /// Place of the line, for people.
    pub(super) fn place(&self) -> String {
        match self.line {
            0 => format!("{} ({})", self.written(), self.source),
            line => format!("line {line}: {}", self.written()),
        }
    }
}

/// Numbers that the maker of a drive gives, and such as were measured.
#[derive(Clone, Debug)]
pub struct DataSheet {
    /// Name that people type.
    pub(super) name: String,
    pub(super) title: String,
    source: String,
    pub(super) notes: Vec<String>,
    pub(super) base: &'static DriveProfile,
    pub(super) lines: Vec<SheetLine>,
    /// Values that the file gives by themselves.
    pub(super) values: Vec<crate::profile::Value>,
}

impl DataSheet {
    /// The sheet that `text` holds; `file` is what errors call it.
    ///
    /// # Errors
    /// When it is too long, no TOML, of a kind that no sheet describes, or has lines that the kind
    /// has not, or a number cannot be read; with its line.
    pub fn parse(file: &str, text: &str) -> Result<DataSheet, InputError> {
        let form_hint = "`straddle drive show samsung-990-pro --sheet` prints one to copy";
        let source = ProfileText { whose: "the sheet's", form_hint, file, text };
        let raw: RawSheet = source.parse()?;
        let kind = source.word("kind", &raw.kind, &KINDS.map(|kind| (kind.word(), kind)))?;
        let published = source.line("source", &raw.source)?;
        let mut lines = Vec::new();
        for (name, value) in &raw.sheet {
            lines.push(line(&source, kind, (name, value), &published)?);
        }
        for name in &raw.unconfirmed {
            let line = lines.iter_mut().find(|line| line.key == name.get_ref());
            let line = line.ok_or_else(|| {
                source.unreadable("unconfirmed", name, "names of lines of [sheet]")
            })?;
            (line.source, line.is_confirmed) = (NOT_CONFIRMED.to_owned(), false);
        }
        let keys = keys(kind);
        lines.sort_by_key(|line| keys.iter().position(|key| key.name == line.key));
        let is_sata = lines.iter().any(|line| line.key == "interface" && line.amount == 0);
        let usual = match (kind, is_sata) {
            (DriveKind::HardDisk, _) => "ultrastar-7k8",
            (DriveKind::Cloud, _) => "gp2-100",
            (_, true) => "samsung-pm883",
            (_, false) => "micron-7300-pro",
        };
        let base = raw.base.as_ref().map_or(usual, |base| base.get_ref());
        let found = built_in_base(base).filter(|base| base.kind == kind);
        let base = found.ok_or_else(|| {
            let place = raw.base.as_ref().unwrap_or(&raw.name);
            let expects = format!("a built-in {} that is no sheet itself", kind.word());
            source.unreadable("base", place, &expects)
        })?;
        Ok(DataSheet {
            name: source.name(&raw.name)?,
            title: source.line("title", &raw.title)?,
            source: published,
            notes: source.notes(&raw.notes)?,
            base,
            lines,
            values: raw.values.read(&source, kind)?,
        })
    }

    /// Takes a number that was measured, which counts more than the maker's; `source` says how it
    /// was measured. False where such a drive has no such line.
    pub fn measured(&mut self, name: &str, amount: u64, source: &str) -> bool {
        let Some(key) = keys(self.base.kind).iter().find(|key| key.name == name) else {
            return false;
        };
        if amount == 0 {
            return false;
        }
        // A depth-1 rate would say the same again.
        let twin = match name {
            "read_latency" => "read_iops_1",
            "write_latency" => "write_iops_1",
            _ => name,
        };
        self.lines.retain(|line| line.key != name && line.key != twin);
        let (quantity, source) = (key.quantity, source.to_owned());
        let is_confirmed = true;
        self.lines.push(SheetLine {
            key: key.name,
            quantity,
            amount,
            line: 0,
            source,
            is_confirmed,
        });
        true
    }

    /// The name of the drive.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Source of its lines, except of those that are not confirmed.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The kind of the drive.
    #[must_use]
    pub fn kind(&self) -> DriveKind {
        self.base.kind
    }

    /// The line called `key`.
    pub(super) fn line(&self, key: &str) -> Option<&SheetLine> {
        self.lines.iter().find(|line| line.key == key)
    }

    /// The number of the line called `key`.
    pub(super) fn amount(&self, key: &str) -> Option<u64> {
        self.line(key).map(|line| line.amount)
    }
}

/// Source of a line that is not confirmed.
pub(crate) const NOT_CONFIRMED: &str =
    "not confirmed: the maker's number from memory, or as others quote it";

/// The kinds that sheets describe.
const KINDS: [DriveKind; 3] = [DriveKind::HardDisk, DriveKind::Flash, DriveKind::Cloud];

fn line(
    source: &ProfileText<'_>,
    kind: DriveKind,
    (name, value): (&Spanned<String>, &Spanned<Scalar>),
    published: &str,
) -> Result<SheetLine, InputError> {
    let keys = keys(kind);
    let Some(key) = keys.iter().find(|key| key.name == name.get_ref()) else {
        let found: String = name.get_ref().chars().take(80).collect();
        let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
        let problem = format!("the sheet of a {} has no `{found}`", kind.word());
        return Err(source.error(name, &problem, format!("choose one of {}", names.join(", "))));
    };
    let amount = key
        .quantity
        .read(&value.get_ref().to_string())
        .filter(|&amount| amount > 0 || matches!(key.quantity, Quantity::Word(_)));
    let amount =
        amount.ok_or_else(|| source.unreadable(key.name, value, &key.quantity.expects()))?;
    Ok(SheetLine {
        key: key.name,
        quantity: key.quantity,
        amount,
        line: source.line_of(name),
        source: published.to_owned(),
        is_confirmed: true,
    })
}
