//! A table's new bytes: only places, sizes and checksums change.

use device::{Disk, disk};
use format::checksum::crc32;

use crate::best_places::NewRange;
use crate::old_table_bytes::{
    Gpt, GptCopy, Mbr, RECORD_BYTES, TableBytes, entry_at, header_crc, number, put,
};

/// A run of the disk that is written as one, in the order in which regions stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its content, in words.
    pub what: String,
    /// Its first byte on the disk.
    pub at_bytes: u64,
    /// Bytes that it holds now; `None` where that does not matter, as of a record in a new place.
    pub old: Option<Vec<u8>>,
    /// Bytes that it will hold.
    pub new: Vec<u8>,
}

/// A partition's place, by its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub(crate) number: u32,
    pub(crate) old: NewRange,
    pub(crate) new: NewRange,
    /// New address of the record of a logical partition, in bytes.
    pub(crate) record_at: Option<u64>,
}

/// The sectors in which the table counts now, and in which it will.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sectors {
    pub(crate) old: u64,
    pub(crate) new: u64,
}

/// Returns the writes after which the table on `bytes` lists `placed`, every partition of it in
/// order of number; nothing where it does so already. The last one is the first sector, changed or
/// not: until it is written, the mark of a move stands there.
///
/// # Errors
/// Why the table cannot express it.
pub(crate) fn regions(
    bytes: &dyn Disk,
    raw: &TableBytes,
    placed: &[Placed],
    sectors: Sectors,
) -> Result<Vec<Region>, String> {
    let all = match raw {
        TableBytes::Gpt(gpt) => gpt_regions(bytes, gpt, placed, sectors),
        TableBytes::Mbr(mbr) => mbr_regions(bytes, mbr, placed, sectors),
    }?;
    let changes = |region: &Region| region.old.as_ref() != Some(&region.new);
    if !all.iter().any(changes) {
        return Ok(Vec::new());
    }
    Ok(all.into_iter().filter(|region| region.at_bytes == 0 || changes(region)).collect())
}

/// Returns the space that a GPT takes at the start and at the end of a disk for sectors of `sector`
/// bytes: the first usable byte, and the bytes kept at the end.
pub(crate) fn gpt_overhead(gpt: &Gpt, sector: u64) -> (u64, u64) {
    let entries = length(&gpt.entries).next_multiple_of(sector);
    (2 * sector + entries, sector + entries)
}

fn length(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

fn index(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn read(bytes: &dyn Disk, at: u64, length: u64) -> Result<Vec<u8>, String> {
    disk::read_vec(bytes, at, length).map_err(|error| error.to_string())
}

/// Entries with their partitions at new places.
fn new_entries(gpt: &Gpt, placed: &[Placed], sector: u64) -> Result<Vec<u8>, String> {
    let mut entries = gpt.entries.clone();
    for one in placed {
        let slot = u64::from(one.number).saturating_sub(1).saturating_mul(gpt.entry_bytes);
        let at = index(slot);
        if at.saturating_add(128) > entries.len() {
            return Err(format!("partition {} has no entry", one.number));
        }
        let end = one.new.start + one.new.length;
        put(&mut entries, at + 32, 8, one.new.start.div_euclid(sector));
        put(&mut entries, at + 40, 8, end.div_euclid(sector).saturating_sub(1));
    }
    Ok(entries)
}

fn gpt_regions(
    bytes: &dyn Disk,
    gpt: &Gpt,
    placed: &[Placed],
    sectors: Sectors,
) -> Result<Vec<Region>, String> {
    let entries = new_entries(gpt, placed, sectors.new)?;
    let mbr = protective(gpt, placed, sectors, bytes.length_bytes());
    if sectors.old != sectors.new {
        return converted(bytes, gpt, &entries, &mbr, sectors.new);
    }
    let copy = |copy: &GptCopy, word: &str| {
        let mut header = copy.header.clone();
        put(&mut header, 88, 4, crc32(&entries).into());
        seal(&mut header);
        [
            Region {
                what: format!("{word} GPT entries"),
                at_bytes: copy.entries_at_bytes,
                old: Some(gpt.entries.clone()),
                new: entries.clone(),
            },
            Region {
                what: format!("{word} GPT header"),
                at_bytes: copy.at_bytes,
                old: Some(copy.header.clone()),
                new: header,
            },
        ]
    };
    let mut all = Vec::from(copy(&gpt.backup, "backup"));
    all.extend(copy(&gpt.primary, "primary"));
    let what = "protective MBR".to_owned();
    all.push(Region { what, at_bytes: 0, old: Some(gpt.mbr.clone()), new: mbr });
    Ok(all)
}

/// Puts a header's own checksum right.
fn seal(header: &mut [u8]) {
    let length = index(number(header, 12, 4)).min(header.len());
    let crc = header_crc(&header[..length]);
    put(header, 16, 4, crc.into());
}

/// Both ends of the disk for sectors of another size: the table is laid out anew, and nothing of
/// the old one stays.
fn converted(
    bytes: &dyn Disk,
    gpt: &Gpt,
    entries: &[u8],
    mbr: &[u8],
    sector: u64,
) -> Result<Vec<Region>, String> {
    let sectors = bytes.length_bytes().div_euclid(sector);
    let rows = length(entries).div_ceil(sector);
    let last = sectors.checked_sub(1).filter(|&last| last > 2 * rows + 4);
    let last = last.ok_or("the disk is too small")?;
    let is_odd = |copy: &GptCopy| !disk::is_filled_with(&copy.header[92..], 0);
    if is_odd(&gpt.primary) || is_odd(&gpt.backup) {
        return Err("something unknown follows a GPT header in its sector".to_owned());
    }
    let header = |own: u64, other: u64, entries_at: u64| {
        let mut header = gpt.primary.header[..92].to_vec();
        header.resize(index(sector), 0);
        put(&mut header, 12, 4, 92);
        let fields = [(24, own), (32, other), (40, 2 + rows), (48, last - rows - 1)];
        for (at, value) in fields.into_iter().chain([(72, entries_at)]) {
            put(&mut header, at, 8, value);
        }
        put(&mut header, 88, 4, crc32(entries).into());
        seal(&mut header);
        header
    };
    let old_end = gpt.primary.entries_at_bytes + length(&gpt.entries);
    let head_bytes = ((2 + rows) * sector).max(old_end.next_multiple_of(sector));
    let mut head = vec![0; index(head_bytes)];
    head[..512].copy_from_slice(mbr);
    copy_to(&mut head, sector, &header(1, last, 2));
    copy_to(&mut head, 2 * sector, entries);
    let tail_at =
        ((last - rows) * sector).min(gpt.backup.entries_at_bytes.div_euclid(sector) * sector);
    let mut tail = vec![0; index(bytes.length_bytes() - tail_at)];
    copy_to(&mut tail, (last - rows) * sector - tail_at, entries);
    copy_to(&mut tail, last * sector - tail_at, &header(last, 1, last - rows));
    // Data of partitions that move may stand there until then.
    let region = |what: &str, at_bytes: u64, old: Option<&[u8]>, new: &[u8]| Region {
        what: what.to_owned(),
        at_bytes,
        old: old.map(<[u8]>::to_vec),
        new: new.to_vec(),
    };
    let (mbr, primary) = head.split_at(512);
    Ok(vec![
        region("backup GPT", tail_at, None, &tail),
        region("primary GPT", 512, None, primary),
        region("protective MBR", 0, Some(&gpt.mbr), mbr),
    ])
}

fn copy_to(to: &mut [u8], at: u64, from: &[u8]) {
    let at = index(at);
    to[at..at + from.len()].copy_from_slice(from);
}

/// The MBR of a GPT: hybrid entries follow their partitions; the protective one keeps its reach.
fn protective(gpt: &Gpt, placed: &[Placed], sectors: Sectors, disk_bytes: u64) -> Vec<u8> {
    let mut mbr = gpt.mbr.clone();
    let is_hybrid = (0..4)
        .any(|slot| number(&mbr, entry_at(slot) + 12, 4) != 0 && mbr[entry_at(slot) + 4] != 0xee);
    for slot in 0..4 {
        let at = entry_at(slot);
        let (start, count) = (number(&gpt.mbr, at + 8, 4), number(&gpt.mbr, at + 12, 4));
        let old = NewRange { start: start * sectors.old, length: count * sectors.old };
        let all = disk_bytes.div_euclid(sectors.new).saturating_sub(1).min(u64::from(u32::MAX));
        if count == 0 {
            continue;
        } else if mbr[at + 4] != 0xee {
            if let Some(one) = placed.iter().find(|one| one.old == old) {
                put_entry(&mut mbr, at, one.new, 0, sectors.new);
            }
        } else if is_hybrid {
            // It ends where the first hybrid partition starts.
            let next = placed.iter().find(|one| one.old.start == old.start + old.length);
            let end = next.map_or(old.start + old.length, |one| one.new.start);
            let length = end.saturating_sub(sectors.new);
            put(&mut mbr, at + 8, 4, 1);
            put(&mut mbr, at + 12, 4, length.div_euclid(sectors.new));
        } else if sectors.old != sectors.new {
            put(&mut mbr, at + 12, 4, all);
        }
    }
    mbr
}

/// Writes place and CHS of an entry, the start counted from byte `base`; type and flag stay.
fn put_entry(record: &mut [u8], at: usize, place: NewRange, base: u64, sector: u64) {
    let first = place.start.div_euclid(sector);
    let count = place.length.div_euclid(sector);
    record[at + 1..at + 4].copy_from_slice(&chs(first));
    record[at + 5..at + 8].copy_from_slice(&chs((first + count).saturating_sub(1)));
    put(record, at + 8, 4, place.start.saturating_sub(base).div_euclid(sector));
    put(record, at + 12, 4, count);
}

/// Cylinder, head and sector for 255 heads of 63 sectors; the last that there is from there on.
fn chs(lba: u64) -> [u8; 3] {
    let (cylinder, rest) = (lba.div_euclid(255 * 63), lba % (255 * 63));
    let (head, sector) = (rest.div_euclid(63), rest % 63 + 1);
    let byte = |value: u64| u8::try_from(value & 0xff).unwrap_or(0xff);
    match cylinder {
        0..1024 => [byte(head), byte(sector | (cylinder >> 2 & 0xc0)), byte(cylinder)],
        _ => [0xfe, 0xff, 0xff],
    }
}

fn mbr_regions(
    bytes: &dyn Disk,
    mbr: &Mbr,
    placed: &[Placed],
    sectors: Sectors,
) -> Result<Vec<Region>, String> {
    let most = u64::from(u32::MAX).saturating_mul(sectors.new);
    if placed.iter().any(|one| one.new.start > most || one.new.length > most) {
        return Err("an MBR holds no sector numbers above 4294967295".to_owned());
    }
    let same = |one: &Placed| one.old == one.new && sectors.old == sectors.new;
    let logical: Vec<&Placed> = placed.iter().filter(|one| one.number > 4).collect();
    let chain_stays = logical
        .iter()
        .zip(&mbr.records)
        .all(|(one, record)| same(one) && one.record_at == Some(record.at_bytes));
    let mut new = mbr.mbr.clone();
    for one in placed.iter().filter(|one| one.number <= 4 && !same(one)) {
        put_entry(&mut new, entry_at(index(one.number.into()) - 1), one.new, 0, sectors.new);
    }
    let mut all = Vec::new();
    if !chain_stays {
        if let Some(fault) = &mbr.chain_fault {
            return Err(fault.clone());
        }
        all = records(bytes, mbr, &logical, sectors.new)?;
    }
    let what = "MBR".to_owned();
    all.push(Region { what, at_bytes: 0, old: Some(mbr.mbr.clone()), new });
    Ok(all)
}

/// The records of all logical partitions, the last one first, so that no record leads to one that
/// is not there yet.
fn records(
    bytes: &dyn Disk,
    mbr: &Mbr,
    logical: &[&Placed],
    sector: u64,
) -> Result<Vec<Region>, String> {
    let at = |one: &Placed| one.record_at.ok_or_else(|| "a record has no place".to_owned());
    let Some(first) = logical.first() else { return Ok(Vec::new()) };
    let base = at(first)?;
    let mut all = Vec::new();
    for (index, (one, record)) in logical.iter().zip(&mbr.records).enumerate().rev() {
        let at_bytes = at(one)?;
        let mut new = record.bytes.clone();
        put_entry(&mut new, entry_at(0), one.new, at_bytes, sector);
        if let Some(next) = logical.get(index + 1) {
            let start = at(next)?;
            let length = next.new.start + next.new.length - start;
            put_entry(&mut new, entry_at(1), NewRange { start, length }, base, sector);
        }
        let stays = at_bytes == record.at_bytes;
        let old = if stays { Some(read(bytes, at_bytes, RECORD_BYTES)?) } else { None };
        let what = format!("record of logical partition {}", one.number);
        all.push(Region { what, at_bytes, old, new });
    }
    Ok(all)
}
