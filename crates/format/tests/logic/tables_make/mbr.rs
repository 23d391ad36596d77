//! Makes an MBR with a chain of logical partitions.

use device::MemoryDisk;

/// One entry of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) is_active: bool,
    pub(crate) code: u8,
    pub(crate) start: u32,
    pub(crate) length: u32,
}

/// A logical partition: where its record is, and its place on the disk, both in sectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Logical {
    pub(crate) record: u32,
    pub(crate) code: u8,
    pub(crate) start: u32,
    pub(crate) length: u32,
}

/// An MBR.
#[derive(Clone, Debug)]
pub(crate) struct Mbr {
    pub(crate) sector: u64,
    pub(crate) sectors: u64,
    pub(crate) id: u32,
    pub(crate) primary: [Option<Entry>; 4],
    pub(crate) logical: Vec<Logical>,
}

/// An entry that is not active.
pub(crate) fn entry(code: u8, start: u32, length: u32) -> Entry {
    Entry { is_active: false, code, start, length }
}

/// A record with `entries`, signed.
pub(crate) fn record(entries: &[Option<Entry>]) -> [u8; 512] {
    let mut bytes = [0; 512];
    for (slot, entry) in entries.iter().enumerate() {
        let Some(entry) = entry else { continue };
        let at = 446 + slot * 16;
        bytes[at] = if entry.is_active { 0x80 } else { 0 };
        bytes[at + 4] = entry.code;
        bytes[at + 8..at + 12].copy_from_slice(&entry.start.to_le_bytes());
        bytes[at + 12..at + 16].copy_from_slice(&entry.length.to_le_bytes());
    }
    bytes[510..].copy_from_slice(&[0x55, 0xaa]);
    bytes
}

impl Mbr {
    /// The disk with this table.
    pub(crate) fn encode(&self) -> MemoryDisk {
        let mut disk = MemoryDisk::new(self.sectors * self.sector);
        let mut boot = record(&self.primary);
        boot[440..444].copy_from_slice(&self.id.to_le_bytes());
        disk.put(0, &boot);
        let extended =
            self.primary.iter().flatten().find(|entry| matches!(entry.code, 5 | 15 | 0x85));
        let base = extended.map_or(0, |extended| extended.start);
        for (place, logical) in self.logical.iter().enumerate() {
            let own = entry(logical.code, logical.start - logical.record, logical.length);
            let link = self
                .logical
                .get(place + 1)
                .map(|next| entry(5, next.record - base, next.start + next.length - next.record));
            let at = u64::from(logical.record) * self.sector;
            disk.put(at, &record(&[Some(own), link]));
        }
        disk
    }
}
