//! Superblocks and headers from their fields: the counterpart of the readers, for tests.

use device::MemoryDisk;
use sha2::{Digest as _, Sha256};

/// Bytes with fields put at offsets.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Bytes {
    pub(crate) fn zeros(length: usize) -> Bytes {
        Bytes(vec![0; length])
    }

    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) -> &mut Bytes {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    pub(crate) fn le16(&mut self, at: usize, value: u16) -> &mut Bytes {
        self.put(at, &value.to_le_bytes())
    }

    pub(crate) fn le32(&mut self, at: usize, value: u32) -> &mut Bytes {
        self.put(at, &value.to_le_bytes())
    }

    pub(crate) fn le64(&mut self, at: usize, value: u64) -> &mut Bytes {
        self.put(at, &value.to_le_bytes())
    }

    pub(crate) fn be32(&mut self, at: usize, value: u32) -> &mut Bytes {
        self.put(at, &value.to_be_bytes())
    }

    pub(crate) fn be64(&mut self, at: usize, value: u64) -> &mut Bytes {
        self.put(at, &value.to_be_bytes())
    }
}

pub(crate) const MAGIC: u32 = 0xa92b_4efc;

/// An md superblock 1.x. Numbers are in the units of the disk: sectors of 512 bytes.
#[derive(Clone, Debug)]
pub(crate) struct MdOne {
    pub(crate) features: u32,
    pub(crate) name: String,
    pub(crate) made_at: u64,
    pub(crate) level: i32,
    pub(crate) layout: u32,
    pub(crate) size: u64,
    pub(crate) chunk: u32,
    pub(crate) disks: u32,
    pub(crate) data_offset: u64,
    pub(crate) data_size: u64,
    pub(crate) super_offset: u64,
    pub(crate) number: u32,
    pub(crate) roles: Vec<u16>,
    pub(crate) events: u64,
    /// New level, position, delta, new layout, new chunk, new offset.
    pub(crate) reshape: (i32, u64, i32, u32, u32, i32),
    pub(crate) recovery: u64,
    pub(crate) logical_block: u32,
}

impl MdOne {
    /// A RAID 5 of four 127 MiB members, 1.2.
    pub(crate) fn raid5() -> MdOne {
        MdOne {
            features: 0,
            name: "host:0".to_owned(),
            made_at: 1_700_000_000,
            level: 5,
            layout: 2,
            size: 260_096,
            chunk: 128,
            disks: 4,
            data_offset: 2048,
            data_size: 260_096,
            super_offset: 8,
            number: 0,
            roles: vec![0, 1, 2, 3],
            events: 7,
            reshape: (0, 0, 0, 0, 0, 0),
            recovery: 0,
            logical_block: 0,
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut sb = Bytes::zeros(4096);
        sb.le32(0, MAGIC).le32(4, 1).le32(8, self.features);
        sb.put(16, &[0xab; 16]).put(32, self.name.as_bytes()).le64(64, self.made_at);
        sb.le32(72, self.level.cast_unsigned()).le32(76, self.layout).le64(80, self.size);
        sb.le32(88, self.chunk).le32(92, self.disks);
        let (level, position, delta, layout, chunk, offset) = self.reshape;
        sb.le32(100, level.cast_unsigned()).le64(104, position).le32(112, delta.cast_unsigned());
        sb.le32(116, layout).le32(120, chunk).le32(124, offset.cast_unsigned());
        sb.le64(128, self.data_offset).le64(136, self.data_size).le64(144, self.super_offset);
        sb.le64(152, self.recovery).le32(160, self.number).put(168, &[0xcd; 16]);
        sb.le64(192, self.made_at).le64(200, self.events).le64(208, u64::MAX);
        sb.le32(220, u32::try_from(self.roles.len()).expect("few roles"))
            .le32(224, self.logical_block);
        for (index, role) in self.roles.iter().enumerate() {
            sb.le16(256 + 2 * index, *role);
        }
        let end = 256 + 2 * self.roles.len();
        let sum: u64 = sb.0[..end]
            .chunks(4)
            .map(|word| word.iter().rev().fold(0_u64, |sum, &byte| sum << 8 | u64::from(byte)))
            .sum();
        let folded = (sum & 0xffff_ffff) + (sum >> 32);
        sb.le32(216, u32::try_from(folded & 0xffff_ffff).expect("it was cut to 32 bits"));
        sb.0
    }

    /// A disk of 128 MiB with this superblock where it says.
    pub(crate) fn disk(&self) -> MemoryDisk {
        let mut disk = MemoryDisk::new(128 << 20);
        disk.put(self.super_offset * 512, &self.bytes());
        disk
    }
}

/// An md superblock 0.90, with the descriptor of this member alone.
#[derive(Clone, Debug)]
pub(crate) struct MdZero {
    pub(crate) big_endian: bool,
    pub(crate) minor: u32,
    pub(crate) level: i32,
    pub(crate) layout: u32,
    pub(crate) chunk_bytes: u32,
    pub(crate) size_kib: u32,
    pub(crate) disks: u32,
    pub(crate) number: u32,
    pub(crate) role: u32,
    pub(crate) state: u32,
    pub(crate) events: u64,
    /// Position, new level, delta, new layout, new chunk.
    pub(crate) reshape: (u64, i32, i32, u32, u32),
}

impl MdZero {
    /// A RAID 5 of four members of 128 MiB.
    pub(crate) fn raid5() -> MdZero {
        MdZero {
            big_endian: false,
            minor: 90,
            level: 5,
            layout: 2,
            chunk_bytes: 65536,
            size_kib: 131_008,
            disks: 4,
            number: 1,
            role: 1,
            state: 6,
            events: 0x1_0000_0002,
            reshape: (0, 0, 0, 0, 0),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut words = vec![0_u32; 1024];
        let halves = |value: u64| {
            let (high, low) = (value >> 32, value & 0xffff_ffff);
            let pair = if self.big_endian { [high, low] } else { [low, high] };
            pair.map(|half| u32::try_from(half).expect("it was cut to 32 bits"))
        };
        for (word, value) in [
            (0, MAGIC),
            (2, self.minor),
            (5, 0x0123_4567),
            (6, 1_700_000_000),
            (7, self.level.cast_unsigned()),
            (8, self.size_kib),
            (9, self.disks),
            (10, self.disks),
            (13, 0x89ab_cdef),
            (14, 0x0011_2233),
            (15, 0x4455_6677),
            (32, 1_700_000_000),
            (33, 1),
            (34, self.disks),
            (35, self.disks),
            (39, halves(self.events)[0]),
            (40, halves(self.events)[1]),
            (44, halves(self.reshape.0)[0]),
            (45, halves(self.reshape.0)[1]),
            (46, self.reshape.1.cast_unsigned()),
            (47, self.reshape.2.cast_unsigned()),
            (48, self.reshape.3),
            (49, self.reshape.4),
            (64, self.layout),
            (65, self.chunk_bytes),
        ] {
            words[word] = value;
        }
        for start in [992, 128 + 32 * usize::try_from(self.number).expect("a small number")] {
            words[start] = self.number;
            words[start + 3] = self.role;
            words[start + 4] = self.state;
        }
        let sum: u64 = words.iter().map(|&word| u64::from(word)).sum();
        words[38] = u32::try_from(((sum & 0xffff_ffff) + (sum >> 32)) & 0xffff_ffff)
            .expect("it was cut to 32 bits");
        let order = if self.big_endian { u32::to_be_bytes } else { u32::to_le_bytes };
        words.into_iter().flat_map(order).collect()
    }

    /// A disk of 128 MiB with this superblock in its place.
    pub(crate) fn disk(&self) -> MemoryDisk {
        let mut disk = MemoryDisk::new(128 << 20);
        disk.put((128 << 20) - 0x1_0000, &self.bytes());
        disk
    }
}

/// One LUKS2 header with its JSON, `size` bytes, to stand at `at`.
pub(crate) fn luks2(size: usize, at: u64, sequence: u64, json: &str) -> Vec<u8> {
    let mut header = Bytes::zeros(size);
    header.put(0, if at == 0 { b"LUKS\xba\xbe" } else { b"SKUL\xba\xbe" }).put(6, &[0, 2]);
    header.be64(8, u64::try_from(size).expect("it fits")).be64(16, sequence).put(24, b"a label");
    header.put(72, b"sha256").put(168, b"11111111-2222-3333-4444-555555555555");
    header.put(208, b"a subsystem").be64(256, at).put(4096, json.as_bytes());
    sign(&mut header.0);
    header.0
}

/// Puts the right checksum into a LUKS2 header.
pub(crate) fn sign(header: &mut [u8]) {
    header[448..512].fill(0);
    let digest = Sha256::digest(&*header);
    header[448..480].copy_from_slice(&digest);
}

/// JSON with these segments and requirements.
pub(crate) fn json(segments: &str, requirements: &str) -> String {
    format!(
        r#"{{"keyslots":{{}},"segments":{{{segments}}},"config":{{"json_size":"12288",
        "requirements":{{"mandatory":[{requirements}]}}}}}}"#
    )
}

/// A segment called 0 at `offset`.
pub(crate) fn segment(offset: u64) -> String {
    format!(
        r#""0":{{"type":"crypt","offset":"{offset}","size":"dynamic","iv_tweak":"0",
        "encryption":"aes-xts-plain64","sector_size":4096}}"#
    )
}

/// A LUKS1 header whose data starts at sector `payload`.
pub(crate) fn luks1(payload: u32) -> Vec<u8> {
    let mut header = Bytes::zeros(592);
    header.put(0, b"LUKS\xba\xbe").put(6, &[0, 1]).put(8, b"aes").put(40, b"xts-plain64");
    header.put(72, b"sha256").be32(104, payload).be32(108, 64);
    header.put(168, b"11111111-2222-3333-4444-555555555555");
    for slot in 0..8 {
        let at = 208 + 48 * slot;
        header.be32(at, if slot == 0 { 0x00ac_71f3 } else { 0x0000_dead });
        header
            .be32(at + 40, 8 + 504 * u32::try_from(slot).expect("below eight"))
            .be32(at + 44, 4000);
    }
    header.0
}

/// A dm-integrity superblock: version, powers of two, tag, journal sections, sectors, flags.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntegritySb {
    pub(crate) version: u8,
    pub(crate) log_interleave: u8,
    pub(crate) tag: u16,
    pub(crate) journal: u32,
    pub(crate) provided: u64,
    pub(crate) flags: u32,
    pub(crate) log_block: u8,
}

impl IntegritySb {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut sb = Bytes::zeros(4096);
        sb.put(0, b"integrt\0").put(8, &[self.version, self.log_interleave]).le16(10, self.tag);
        sb.le32(12, self.journal).le64(16, self.provided).le32(24, self.flags);
        sb.put(28, &[self.log_block]);
        sb.0
    }
}
