//! A partition's line of a script.

use units::{ByteRange, DiskText, SectorSize, prefix};

use super::error::ScriptProblem;
use super::shown;
use crate::table::types::{MbrType, gpt_type};
use crate::table::{Partition, PartitionRole};

/// A partition as its line says it.
#[derive(Debug)]
pub(super) struct ScriptPartition {
    pub(super) number: u32,
    start: Count,
    size: Count,
    type_code: String,
    name: Option<DiskText>,
    id: Option<String>,
    bootable: bool,
}

#[derive(Clone, Copy, Debug)]
enum Count {
    Sectors(u64),
    Bytes(u64),
}

impl Count {
    fn of(field: &'static str, text: &str) -> Result<Count, ScriptProblem> {
        let wrong = || ScriptProblem::Number { field, text: shown(text) };
        match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().map(Count::Sectors).map_err(|_| wrong()),
            false => prefix::parse(text).map(Count::Bytes).map_err(|_| wrong()),
        }
    }

    fn bytes(self, sector: SectorSize) -> Option<u64> {
        match self {
            Count::Sectors(sectors) => sectors.checked_mul(sector.bytes()),
            Count::Bytes(bytes) => Some(bytes),
        }
    }
}

impl ScriptPartition {
    /// The partition that a line's fields describe.
    pub(super) fn of(number: u32, fields: &str) -> Result<ScriptPartition, ScriptProblem> {
        let mut part = ScriptPartition {
            number,
            start: Count::Sectors(0),
            size: Count::Sectors(0),
            type_code: String::new(),
            name: None,
            id: None,
            bootable: false,
        };
        let (mut has_start, mut has_size) = (false, false);
        for field in (Fields { rest: fields }) {
            let (key, value) = field.split_once('=').unwrap_or((field, ""));
            let value = value.trim().trim_matches('"');
            match key.trim() {
                "start" => (part.start, has_start) = (Count::of("start", value)?, true),
                "size" if value == "+" => return Err(ScriptProblem::Chosen("size")),
                "size" => (part.size, has_size) = (Count::of("size", value)?, true),
                "type" | "Id" => part.type_code = shown(value),
                "name" => part.name = Some(DiskText::from_bytes(value.as_bytes())),
                "uuid" => part.id = Some(shown(&value.to_ascii_lowercase())),
                "bootable" => part.bootable = true,
                _ => {}
            }
        }
        match (has_start, has_size) {
            (false, _) => Err(ScriptProblem::Chosen("start")),
            (_, false) => Err(ScriptProblem::Chosen("size")),
            _ => Ok(part),
        }
    }

    /// It in bytes, in a table whose addresses count in `sector`.
    pub(super) fn partition(
        self,
        is_dos: bool,
        sector: SectorSize,
    ) -> Result<Partition, ScriptProblem> {
        let range = self.start.bytes(sector).zip(self.size.bytes(sector));
        let range = range.and_then(|(start, size)| ByteRange::new(start, size));
        let range = range.filter(|range| range.length_bytes() > 0).ok_or(ScriptProblem::Bounds)?;
        let (type_code, type_name, role) = typed(&self.type_code, is_dos);
        Ok(Partition {
            number: self.number,
            range,
            type_code,
            type_name,
            role,
            name: self.name,
            id: self.id,
            bootable: self.bootable,
            entry_at_bytes: 0,
        })
    }
}

/// A type's code, its name and what it is for: a number, a GUID, or a word of sfdisk's, of which
/// only that of an extended partition matters.
fn typed(text: &str, is_dos: bool) -> (String, Option<&'static str>, PartitionRole) {
    if !is_dos {
        let guid = text.to_ascii_lowercase();
        let (name, role) = gpt_type(&guid);
        return (guid, name, role);
    }
    let code = match text {
        "E" | "X" | "Ex" | "extended" => Some(5),
        hex => u8::from_str_radix(hex.trim_start_matches("0x"), 16).ok(),
    };
    match code.map(MbrType) {
        Some(code) => (code.code(), code.name(), code.role()),
        None => (text.to_owned(), None, PartitionRole::Ordinary),
    }
}

/// The fields of a line: between commas that are not within quotes.
struct Fields<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Fields<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let mut is_quoted = false;
        let end = self.rest.find(|c: char| {
            is_quoted ^= c == '"';
            c == ',' && !is_quoted
        });
        let (field, rest) = match end {
            Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
            None => (self.rest, ""),
        };
        self.rest = rest;
        Some(field.trim())
    }
}
