//! A partition table as its bytes stand, so that a new one keeps all that is not meant to change:
//! types, names, flags, attributes, ids, boot code.
//!
//! Sources: UEFI specification 2.10, chapter 5; util-linux `libfdisk/src/{gpt,dos}.c`.

use device::{Disk, disk};
use format::checksum::crc32;
use format::table::{PartitionRole, PartitionTable, TableKind};

/// The length of an MBR or an extended boot record.
pub(crate) const RECORD_BYTES: u64 = 512;
const RECORD: usize = 512;
/// The most bytes of entries that are rewritten; `format` reads as many.
const ENTRIES_BYTES_MAX: u64 = 1 << 20;
/// The first entry of a record, and the length of each.
const ENTRIES_AT: usize = 446;
const ENTRY: usize = 16;

#[derive(Clone, Debug)]
pub(crate) enum TableBytes {
    Gpt(Gpt),
    Mbr(Mbr),
}

/// Both copies of a GPT, which agree.
#[derive(Clone, Debug)]
pub(crate) struct Gpt {
    pub(crate) mbr: Vec<u8>,
    pub(crate) entries: Vec<u8>,
    pub(crate) entry_bytes: u64,
    pub(crate) primary: GptCopy,
    pub(crate) backup: GptCopy,
}

/// One copy's header and where its entries are.
#[derive(Clone, Debug)]
pub(crate) struct GptCopy {
    /// The whole sector.
    pub(crate) header: Vec<u8>,
    pub(crate) at_bytes: u64,
    pub(crate) entries_at_bytes: u64,
}

/// An MBR and the records of its logical partitions.
#[derive(Clone, Debug)]
pub(crate) struct Mbr {
    pub(crate) mbr: Vec<u8>,
    /// In the order of the chain, which is that of the numbers from 5.
    pub(crate) records: Vec<Record>,
    /// Why logical partitions must stay where they are.
    pub(crate) chain_fault: Option<String>,
}

/// An extended boot record.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) at_bytes: u64,
    pub(crate) bytes: Vec<u8>,
}

/// The little-endian number of up to 8 bytes at `at`; 0 where there are none.
pub(crate) fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let field = bytes.get(at..at.saturating_add(length)).unwrap_or_default();
    field.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}

/// Puts the low `length` bytes of `value` at `at`, which must lie within.
pub(crate) fn put(bytes: &mut [u8], at: usize, length: usize, value: u64) {
    bytes[at..at + length].copy_from_slice(&value.to_le_bytes()[..length]);
}

/// Returns the offset of entry `slot` in a record.
pub(crate) fn entry_at(slot: usize) -> usize {
    ENTRIES_AT + slot * ENTRY
}

impl TableBytes {
    /// The bytes of `table` on `disk`.
    ///
    /// # Errors
    /// Why it cannot be rewritten.
    pub(crate) fn read(disk: &dyn Disk, table: &PartitionTable) -> Result<TableBytes, String> {
        match table.kind {
            TableKind::Gpt => Gpt::read(disk, table.sector.bytes()).map(TableBytes::Gpt),
            TableKind::Mbr => Mbr::read(disk, table).map(TableBytes::Mbr),
            TableKind::Bsd => Err("BSD disklabels are not rewritten".to_owned()),
            TableKind::Sgi | TableKind::Sun => {
                Err(format!("{} disk labels are not rewritten", table.kind.word()))
            }
        }
    }
}

impl Gpt {
    fn read(disk: &dyn Disk, sector: u64) -> Result<Gpt, String> {
        let mbr = record(disk, 0)?;
        let (primary, entries) = GptCopy::read(disk, sector, sector)?;
        let other = number(&primary.header, 32, 8).checked_mul(sector);
        let other = other.ok_or("the primary GPT header names no backup")?;
        let (backup, copied) = GptCopy::read(disk, other, sector)?;
        if entries != copied {
            return Err("the primary and the backup GPT disagree".to_owned());
        }
        let entry_bytes = number(&primary.header, 84, 4);
        Ok(Gpt { mbr, entries, entry_bytes, primary, backup })
    }
}

impl GptCopy {
    fn read(disk: &dyn Disk, at_bytes: u64, sector: u64) -> Result<(GptCopy, Vec<u8>), String> {
        let header = disk::read_vec(disk, at_bytes, sector).map_err(|error| error.to_string())?;
        let length = usize::try_from(number(&header, 12, 4)).unwrap_or(0);
        let sound = header.starts_with(b"EFI PART")
            && (92..=header.len()).contains(&length)
            && number(&header, 16, 4) == u64::from(header_crc(&header[..length]));
        let size = number(&header, 84, 4);
        let bytes = number(&header, 80, 4).saturating_mul(size);
        let place = if at_bytes == sector { "primary" } else { "backup" };
        if !sound || size < 128 || bytes > ENTRIES_BYTES_MAX {
            return Err(format!("the {place} GPT header is damaged or missing"));
        }
        let entries_at_bytes = number(&header, 72, 8).saturating_mul(sector);
        let entries =
            disk::read_vec(disk, entries_at_bytes, bytes).map_err(|error| error.to_string())?;
        if u64::from(crc32(&entries)) != number(&header, 88, 4) {
            return Err(format!("the checksum of the {place} GPT entries is wrong"));
        }
        Ok((GptCopy { header, at_bytes, entries_at_bytes }, entries))
    }
}

/// The checksum of a GPT header, its own field taken as 0.
pub(crate) fn header_crc(header: &[u8]) -> u32 {
    let mut copy = header.to_vec();
    put(&mut copy, 16, 4, 0);
    crc32(&copy)
}

impl Mbr {
    fn read(disk: &dyn Disk, table: &PartitionTable) -> Result<Mbr, String> {
        let mbr = record(disk, 0)?;
        let mut records = Vec::new();
        for partition in table.partitions.iter().filter(|partition| partition.number > 4) {
            let at_bytes = partition.entry_at_bytes.saturating_sub(ENTRIES_AT as u64);
            records.push(Record { at_bytes, bytes: record(disk, at_bytes)? });
        }
        let chain_fault = chain_fault(table, &records);
        Ok(Mbr { mbr, records, chain_fault })
    }
}

/// Why the chain of records is none that is rewritten: records in the order of the disk, each
/// before its one partition, the first at the start of the extended partition.
fn chain_fault(table: &PartitionTable, records: &[Record]) -> Option<String> {
    let containers: Vec<_> =
        table.partitions.iter().filter(|one| one.role == PartitionRole::Extended).collect();
    let odd = || Some("the chain of logical partitions has an unusual order".to_owned());
    let [container] = containers[..] else {
        return (containers.len() > 1).then(|| "there are several extended partitions".to_owned());
    };
    let sector = table.sector.bytes();
    let start = container.range.start_bytes();
    let logical: Vec<_> = table.partitions.iter().filter(|one| one.number > 4).collect();
    let mut expected = Some(start);
    for (record, partition) in records.iter().zip(&logical) {
        let used = |slot: usize| number(&record.bytes, entry_at(slot) + 12, 4) != 0;
        let sits = expected == Some(record.at_bytes)
            && record.at_bytes < partition.range.start_bytes()
            && partition.entry_at_bytes == record.at_bytes + ENTRIES_AT as u64
            && !used(2)
            && !used(3);
        if !sits {
            return odd();
        }
        let link = number(&record.bytes, entry_at(1) + 8, 4);
        expected = used(1).then(|| start + link * sector);
        if expected.is_some_and(|next| next < partition.range.end_bytes()) {
            return odd();
        }
    }
    // A chain whose first record lists nothing, or that goes on after the last partition.
    if expected.is_some() && !records.is_empty() { odd() } else { None }
}

fn record(disk: &dyn Disk, at_bytes: u64) -> Result<Vec<u8>, String> {
    disk::read_vec(disk, at_bytes, RECORD as u64).map_err(|error| error.to_string())
}
