//! Structures made by hand, as the tools would never write them.

use device::MemoryDisk;

/// Puts `value` at byte `at` of some bytes.
fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// The usual 32-bit CRC from `start`, bit by bit: GPT's with the last inversion, LVM's without.
fn crc(start: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(start, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| {
            if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 }
        })
    })
}

/// A boot record with `entries`: slot, type, first sector, number of sectors.
pub(crate) fn boot_record(entries: &[(usize, u8, u32, u32)]) -> [u8; 512] {
    let mut record = [0; 512];
    for &(slot, code, start, count) in entries {
        let at = 446 + slot * 16;
        record[at + 4] = code;
        put(&mut record, at + 8, &start.to_le_bytes());
        put(&mut record, at + 12, &count.to_le_bytes());
    }
    put(&mut record, 510, &[0x55, 0xaa]);
    record
}

/// A GPT: its entries and how many it says there are.
pub(crate) struct Gpt {
    pub(crate) partitions: Vec<(u64, u64)>,
    pub(crate) entry_count: u32,
    pub(crate) entry_bytes: u32,
}

impl Gpt {
    /// Puts the first copy with its protective MBR on `disk`; each partition is its first and its
    /// last sector.
    pub(crate) fn put(&self, disk: &mut MemoryDisk) {
        let length = usize::try_from(self.entry_bytes).expect("it is what the test made");
        let mut entries = Vec::new();
        for (number, (first, last)) in (1_u32..).zip(&self.partitions) {
            let mut entry = vec![0; length];
            put(&mut entry, 0, &[0xaf; 16]);
            put(&mut entry, 16, &number.to_le_bytes());
            put(&mut entry, 32, &first.to_le_bytes());
            put(&mut entry, 40, &last.to_le_bytes());
            entries.extend(entry);
        }
        let whole = usize::try_from(self.entry_count)
            .expect("it is what the test made")
            .saturating_mul(length);
        let sum = if whole == entries.len() { !crc(!0, &entries) } else { 0 };
        let mut header = [0; 92];
        put(&mut header, 0, b"EFI PART");
        put(&mut header, 8, &0x0001_0000_u32.to_le_bytes());
        put(&mut header, 12, &92_u32.to_le_bytes());
        put(&mut header, 24, &1_u64.to_le_bytes());
        put(&mut header, 32, &u64::MAX.to_le_bytes());
        put(&mut header, 48, &u64::MAX.to_le_bytes());
        put(&mut header, 72, &2_u64.to_le_bytes());
        put(&mut header, 80, &self.entry_count.to_le_bytes());
        put(&mut header, 84, &self.entry_bytes.to_le_bytes());
        put(&mut header, 88, &sum.to_le_bytes());
        let sum = !crc(!0, &header);
        put(&mut header, 16, &sum.to_le_bytes());
        disk.put(0, &boot_record(&[(0, 0xee, 1, u32::MAX)]));
        disk.put(512, &header);
        disk.put(1024, &entries);
    }
}

/// 32 characters that `number` decides, for a UUID.
pub(crate) fn id(number: usize) -> String {
    format!("{number:032}")
}

/// Puts an LVM physical volume with the UUID `id` and a group's `text` on `disk`, from `at` on: the
/// label in its second sector, the text from its byte 4608 on, data from 0 on.
pub(crate) fn put_lvm(disk: &mut MemoryDisk, at: u64, id: &str, text: &str) {
    const SEED: u32 = 0xf597_a6cf;
    let area_bytes: u64 = 16 << 20;
    let mut label = [0; 512];
    put(&mut label, 0, b"LABELONE");
    put(&mut label, 8, &1_u64.to_le_bytes());
    put(&mut label, 20, &32_u32.to_le_bytes());
    put(&mut label, 24, b"LVM2 001");
    put(&mut label, 32, id.as_bytes());
    for (place, word) in label[64..].chunks_exact_mut(8).zip([1 << 30, 0, 0, 4096, area_bytes]) {
        place.copy_from_slice(&u64::to_le_bytes(word));
    }
    let sum = crc(SEED, &label[20..]);
    put(&mut label, 16, &sum.to_le_bytes());
    disk.put(at + 512, &label);
    let mut header = [0; 512];
    put(&mut header, 4, b" LVM2 x[5A%r0N*>");
    put(&mut header, 20, &1_u32.to_le_bytes());
    let length = u64::try_from(text.len()).expect("it is what the test made");
    for (place, word) in header[24..].chunks_exact_mut(8).zip([4096, area_bytes, 512, length]) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    put(&mut header, 56, &crc(SEED, text.as_bytes()).to_le_bytes());
    let sum = crc(SEED, &header[4..]);
    put(&mut header, 0, &sum.to_le_bytes());
    disk.put(at + 4096, &header);
    disk.put(at + 4608, text.as_bytes());
}

/// A group's text: its UUID, the UUIDs of its physical volumes `pv0` and so on, and what stands
/// among its logical volumes. Extents have 1 MiB and start at byte 0.
pub(crate) fn group(id: &str, members: &[String], volumes: &str) -> String {
    let member = |(number, member): (usize, &String)| {
        format!("pv{number} {{ id=\"{member}\" pe_start=0 pe_count=4000000000 }}\n")
    };
    let members: String = members.iter().enumerate().map(member).collect();
    format!(
        "vg{{ id=\"{id}\" seqno=1 extent_size=2048\nphysical_volumes{{\n{members}}}\n\
         logical_volumes{{\n{volumes}}} }}\n\
         contents=\"Text Format Volume Group\" version=1\n\0"
    )
}

/// A logical volume `name` of one segment of `extents` extents: its type and what that asks for.
pub(crate) fn volume(name: &str, extents: u64, segment: &str) -> String {
    format!(
        "{name}{{ id=\"{}\" status=[\"VISIBLE\"] segment_count=1 segment1{{ start_extent=0 \
         extent_count={extents} {segment} }} }}\n",
        id(name.len())
    )
}

/// A member of an md array, superblock 1.2.
pub(crate) struct Member {
    pub(crate) array: u16,
    pub(crate) level: i32,
    pub(crate) layout: u32,
    pub(crate) chunk_sectors: u32,
    pub(crate) raid_disks: u32,
    pub(crate) role: u16,
    pub(crate) data_sectors: u64,
    pub(crate) data_at_sector: u64,
}

impl Member {
    /// The superblock, which belongs at byte 4096.
    pub(crate) fn superblock(&self) -> [u8; 1024] {
        let mut bytes = [0; 1024];
        let mut word = |at: usize, value: u32| put(&mut bytes, at, &value.to_le_bytes());
        word(0, 0xa92b_4efc);
        word(4, 1);
        word(72, self.level.cast_unsigned());
        word(76, self.layout);
        word(88, self.chunk_sectors);
        word(92, self.raid_disks);
        word(160, 0);
        word(220, 1);
        put(&mut bytes, 16, &self.array.to_be_bytes().repeat(8));
        put(&mut bytes, 80, &self.data_sectors.to_le_bytes());
        put(&mut bytes, 128, &self.data_at_sector.to_le_bytes());
        put(&mut bytes, 136, &self.data_sectors.to_le_bytes());
        put(&mut bytes, 144, &8_u64.to_le_bytes());
        put(&mut bytes, 168, &self.role.to_be_bytes().repeat(8));
        put(&mut bytes, 256, &self.role.to_le_bytes());
        let (words, _) = bytes[..256].as_chunks::<4>();
        let sum: u64 = words.iter().map(|word| u64::from(u32::from_le_bytes(*word))).sum();
        let sum = sum + u64::from(self.role);
        let sum = (sum & 0xffff_ffff) + (sum >> 32);
        put(&mut bytes, 216, &u32::try_from(sum).expect("it is what the test made").to_le_bytes());
        bytes
    }
}

/// The header of a qcow2 image, version 3: its guest's bytes, the length of a cluster as a power of
/// two, the entries of its L1 table and where that begins.
pub(crate) fn qcow2(guest_bytes: u64, cluster_bits: u32, entries: u32, table_at: u64) -> [u8; 104] {
    let mut header = [0; 104];
    put(&mut header, 0, b"QFI\xfb\0\0\0\x03");
    put(&mut header, 20, &cluster_bits.to_be_bytes());
    put(&mut header, 24, &guest_bytes.to_be_bytes());
    put(&mut header, 36, &entries.to_be_bytes());
    put(&mut header, 40, &table_at.to_be_bytes());
    put(&mut header, 96, &4_u32.to_be_bytes());
    put(&mut header, 100, &104_u32.to_be_bytes());
    header
}

/// Puts the footer and the header of a dynamic VHD at the start of `disk`: its guest's bytes, its
/// blocks' length and how many entries its block table has, which begins at byte 1536.
pub(crate) fn put_vhd(disk: &mut MemoryDisk, guest_bytes: u64, block_bytes: u32, entries: u32) {
    let sum = |bytes: &[u8]| !bytes.iter().fold(0_u32, |sum, &byte| sum + u32::from(byte));
    let mut footer = [0; 512];
    put(&mut footer, 0, b"conectix");
    put(&mut footer, 12, &0x0001_0000_u32.to_be_bytes());
    put(&mut footer, 16, &512_u64.to_be_bytes());
    put(&mut footer, 48, &guest_bytes.to_be_bytes());
    put(&mut footer, 60, &3_u32.to_be_bytes());
    let checksum = sum(&footer);
    put(&mut footer, 64, &checksum.to_be_bytes());
    let mut header = [0; 1024];
    put(&mut header, 0, b"cxsparse");
    put(&mut header, 16, &1536_u64.to_be_bytes());
    put(&mut header, 24, &0x0001_0000_u32.to_be_bytes());
    put(&mut header, 28, &entries.to_be_bytes());
    put(&mut header, 32, &block_bytes.to_be_bytes());
    let checksum = sum(&header);
    put(&mut header, 36, &checksum.to_be_bytes());
    disk.put(0, &footer);
    disk.put(512, &header);
}
