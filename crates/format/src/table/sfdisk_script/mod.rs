//! A partition table as text: what `sfdisk --dump` prints and `sfdisk` reads.
//!
//! Header lines `name: value`, then a line for each partition: `/dev/sda1 : start= 2048, size=
//! 409600, type=83`. Only lines that name their fields are read. Source: sfdisk(8), "Header lines"
//! and "Named-fields format"; libfdisk `script.c` (`parse_line_header`, `parse_line_nameval`).

mod error;
mod line;
#[cfg(test)]
mod tests;

use line::ScriptPartition;
use units::text::escape;
use units::{DiskText, SectorSize};

pub use self::error::{ScriptError, ScriptProblem};
use super::{PartitionTable, TableKind};

/// The longest script that is read, in bytes.
pub const SCRIPT_BYTES_MAX: usize = 1 << 20;
/// The most partitions that it may have.
const PARTITIONS_MAX: usize = 1024;
/// The most characters of a line that are shown.
const SHOWN_MAX: usize = 60;
/// The names of header lines.
const HEADERS: [&str; 10] = [
    "label",
    "label-id",
    "device",
    "unit",
    "sector-size",
    "first-lba",
    "last-lba",
    "table-length",
    "grain",
    "dumped",
];
/// Sectors behind the last usable one of a GPT: the second table and its header.
const GPT_TAIL_SECTORS: u64 = 33;

/// Facts of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The table.
    pub table: PartitionTable,
    /// The disk that was dumped.
    pub device: Option<DiskText>,
    /// The least length that the disk can have.
    pub disk_bytes: u64,
}

/// Returns whether `head`, the first bytes of a file, may be those of a script: all of it is text,
/// and its first line that says something is a header line or names a start or a size.
#[must_use]
pub fn is_script(head: &[u8]) -> bool {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // A character may be cut at the end.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let is_control = |c: char| c.is_control() && !c.is_whitespace();
    let mut lines = text.lines().map(str::trim).filter(|line| is_said(line));
    !text.contains(is_control)
        && lines.next().is_some_and(|line| header(line).is_some() || fields(line).is_some())
}

fn is_said(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

/// The script in `bytes`.
///
/// # Errors
/// When it is too long, is no text, or a line says something that is not read; with its number.
pub fn read(bytes: &[u8]) -> Result<Script, ScriptError> {
    let at = |line, problem| ScriptError { line, problem };
    if bytes.len() > SCRIPT_BYTES_MAX {
        return Err(at(1, ScriptProblem::Long));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n');
        at(before.count() + 1, ScriptProblem::Text)
    })?;
    let mut reader = Reader::default();
    let mut last = 1;
    for (number, line) in text.lines().map(str::trim).enumerate() {
        last = number + 1;
        if is_said(line) {
            reader.line(line).map_err(|problem| at(last, problem))?;
        }
    }
    reader.done().map_err(|problem| at(last, problem))
}

/// The name and value of a header line.
fn header(line: &str) -> Option<(&'static str, &str)> {
    let (name, value) = line.split_once(':')?;
    let known = HEADERS.iter().find(|known| **known == name.trim())?;
    Some((known, value.trim()))
}

/// The fields of a partition's line, behind its device; `None` where it names neither start nor
/// size.
fn fields(line: &str) -> Option<&str> {
    let (before, _) = line.split_once('=')?;
    let fields = before.rfind(':').map_or(line, |colon| &line[colon + 1..]);
    let field = fields.split('=').next().unwrap_or_default().trim();
    let names = ["start", "size", "type", "Id", "name", "uuid", "attrs"];
    names.iter().any(|name| field.ends_with(name)).then_some(fields)
}

fn shown(text: &str) -> String {
    escape(text.chars().take(SHOWN_MAX).collect::<String>().as_bytes())
}

/// The script as far as it was read.
#[derive(Debug, Default)]
struct Reader {
    is_dos: bool,
    sector: Option<SectorSize>,
    id: Option<String>,
    device: Option<DiskText>,
    last_lba: u64,
    /// Partitions as lines say them, in sectors or bytes: a sector's size may follow.
    parts: Vec<ScriptPartition>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), ScriptProblem> {
        if let Some((name, value)) = header(line) {
            return self.header(name, value);
        }
        let fields = fields(line).ok_or_else(|| ScriptProblem::Line(shown(line)))?;
        if self.parts.len() == PARTITIONS_MAX {
            return Err(ScriptProblem::Many);
        }
        let next = self.parts.iter().map(|part| part.number).max().unwrap_or(0).saturating_add(1);
        let device = line[..line.len() - fields.len()].trim_end_matches(':').trim();
        let rest = device.trim_end_matches(|last: char| last.is_ascii_digit());
        let number = device[rest.len()..].parse().unwrap_or(next);
        self.parts.push(ScriptPartition::of(number, fields)?);
        Ok(())
    }

    fn header(&mut self, name: &str, value: &str) -> Result<(), ScriptProblem> {
        match (name, value) {
            ("label", "dos") => self.is_dos = true,
            ("label", "gpt") => self.is_dos = false,
            ("label", other) => return Err(ScriptProblem::Label(shown(other))),
            ("unit", "sectors") => {}
            ("unit", other) => return Err(ScriptProblem::Unit(shown(other))),
            ("label-id", id) => self.id = Some(shown(&id.to_ascii_lowercase())),
            ("device", device) => self.device = Some(DiskText::from_bytes(device.as_bytes())),
            ("sector-size", size) => {
                let sector = size.parse().ok().and_then(SectorSize::new);
                self.sector = Some(sector.ok_or_else(|| ScriptProblem::Sector(shown(size)))?);
            }
            ("last-lba", lba) => {
                let wrong = |_| ScriptProblem::Number { field: "last-lba", text: shown(lba) };
                self.last_lba = lba.parse().map_err(wrong)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn done(self) -> Result<Script, ScriptProblem> {
        let sector = self.sector.unwrap_or(SectorSize::B512);
        let mut partitions = Vec::with_capacity(self.parts.len());
        for part in self.parts {
            partitions.push(part.partition(self.is_dos, sector)?);
        }
        partitions.sort_by_key(|partition| partition.number);
        let ends = partitions.iter().map(|partition| partition.range.end_bytes()).max();
        let Some(end) = ends else { return Err(ScriptProblem::None) };
        let usable = self.last_lba.saturating_add(1 + GPT_TAIL_SECTORS);
        let said = if self.last_lba > 0 { usable.saturating_mul(sector.bytes()) } else { 0 };
        let kind = if self.is_dos { TableKind::Mbr } else { TableKind::Gpt };
        let table = PartitionTable { id: self.id, ..PartitionTable::new(kind, sector, partitions) };
        Ok(Script { table, device: self.device, disk_bytes: end.max(said) })
    }
}
