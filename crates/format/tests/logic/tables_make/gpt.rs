//! Makes a GPT with both copies.

use crc::{CRC_32_ISO_HDLC, Crc};
use device::MemoryDisk;

use super::mbr::{self, Entry};

/// One partition.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// From 1.
    pub(crate) number: u32,
    pub(crate) kind: [u8; 16],
    pub(crate) id: [u8; 16],
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) attributes: u64,
    pub(crate) name: String,
}

/// A table.
#[derive(Clone, Debug)]
pub(crate) struct Gpt {
    pub(crate) sector: u64,
    pub(crate) sectors: u64,
    pub(crate) guid: [u8; 16],
    pub(crate) entry_count: u32,
    pub(crate) entry_bytes: u32,
    pub(crate) slots: Vec<Slot>,
    /// The entries of the first sector; `None` for a disk without an MBR.
    pub(crate) protective: Option<[Option<Entry>; 4]>,
}

/// The GUID of Linux data, as it is stored.
pub(crate) const LINUX_DATA: [u8; 16] = [
    0xaf, 0x3d, 0xc6, 0x0f, 0x83, 0x84, 0x72, 0x47, 0x8e, 0x79, 0x3d, 0x69, 0xd8, 0x47, 0x7d, 0xe4,
];

/// A partition of Linux data with an id that `number` decides.
pub(crate) fn slot(number: u32, first: u64, last: u64) -> Slot {
    let mut id = [7; 16];
    id[..4].copy_from_slice(&number.to_le_bytes());
    Slot {
        number,
        kind: LINUX_DATA,
        id,
        first,
        last,
        attributes: 0,
        name: format!("part {number}"),
    }
}

impl Gpt {
    /// A table of 128 entries on a disk of `sectors` sectors, sound in all parts.
    pub(crate) fn new(sector: u64, sectors: u64, slots: Vec<Slot>) -> Gpt {
        let length = u32::try_from(sectors - 1).unwrap_or(u32::MAX);
        let protective = Some([Some(mbr::entry(0xee, 1, length)), None, None, None]);
        let guid = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        Gpt { sector, sectors, guid, entry_count: 128, entry_bytes: 128, slots, protective }
    }

    /// The sectors that one copy's entries take.
    pub(crate) fn entry_sectors(&self) -> u64 {
        (u64::from(self.entry_count) * u64::from(self.entry_bytes)).div_ceil(self.sector)
    }

    pub(crate) fn first_usable(&self) -> u64 {
        2 + self.entry_sectors()
    }

    pub(crate) fn last_usable(&self) -> u64 {
        self.sectors - 2 - self.entry_sectors()
    }

    /// The disk with this table.
    pub(crate) fn encode(&self) -> MemoryDisk {
        self.encode_changed(|_, _| ())
    }

    /// The disk with this table, after `change` altered the headers (`true` for the backup) before
    /// their checksums are made.
    pub(crate) fn encode_changed(&self, change: impl Fn(bool, &mut [u8])) -> MemoryDisk {
        let mut disk = MemoryDisk::new(self.sectors * self.sector);
        if let Some(entries) = &self.protective {
            disk.put(0, &mbr::record(entries));
        }
        let entries = self.entries();
        for is_backup in [false, true] {
            let mut header = self.header(is_backup, &entries);
            change(is_backup, &mut header);
            seal(&mut header);
            let (at, entries_at) = self.places(is_backup);
            disk.put(at * self.sector, &header);
            disk.put(entries_at * self.sector, &entries);
        }
        disk
    }

    /// The sectors of a copy's header and entries.
    pub(crate) fn places(&self, is_backup: bool) -> (u64, u64) {
        if is_backup { (self.sectors - 1, self.last_usable() + 1) } else { (1, 2) }
    }

    fn entries(&self) -> Vec<u8> {
        let size = usize::try_from(self.entry_bytes).expect("a made number fits");
        let mut bytes =
            vec![0; size * usize::try_from(self.entry_count).expect("a made number fits")];
        for slot in &self.slots {
            let at = size * usize::try_from(slot.number - 1).expect("a made number fits");
            let entry = &mut bytes[at..at + size];
            entry[..16].copy_from_slice(&slot.kind);
            entry[16..32].copy_from_slice(&slot.id);
            entry[32..40].copy_from_slice(&slot.first.to_le_bytes());
            entry[40..48].copy_from_slice(&slot.last.to_le_bytes());
            entry[48..56].copy_from_slice(&slot.attributes.to_le_bytes());
            for (at, unit) in slot.name.encode_utf16().take(36).enumerate() {
                entry[56 + at * 2..58 + at * 2].copy_from_slice(&unit.to_le_bytes());
            }
        }
        bytes
    }

    fn header(&self, is_backup: bool, entries: &[u8]) -> Vec<u8> {
        let (own, entries_at) = self.places(is_backup);
        let (other, _) = self.places(!is_backup);
        let mut header = Vec::new();
        header.extend(b"EFI PART");
        for word in [0x0001_0000, 92, 0, 0_u32] {
            header.extend(word.to_le_bytes());
        }
        for lba in [own, other, self.first_usable(), self.last_usable()] {
            header.extend(lba.to_le_bytes());
        }
        header.extend(self.guid);
        header.extend(entries_at.to_le_bytes());
        for word in [self.entry_count, self.entry_bytes, crc(entries)] {
            header.extend(word.to_le_bytes());
        }
        header
    }
}

/// Sets a header's checksum to what its bytes give.
pub(crate) fn seal(header: &mut [u8]) {
    header[16..20].fill(0);
    let sum = crc(&header[..92]);
    header[16..20].copy_from_slice(&sum.to_le_bytes());
}

fn crc(bytes: &[u8]) -> u32 {
    Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(bytes)
}
