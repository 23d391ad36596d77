//! Images that are small and sound but for a name as long as their format lets it be.

use std::fs;
use std::path::{Path, PathBuf};

/// An image, and the field that holds the name.
#[derive(Clone, Debug)]
pub struct NamedImage {
    /// The field: `LVM volume group`.
    pub field: String,
    /// The image.
    pub path: PathBuf,
}

/// The length of the images that hold disks, in bytes.
const DISK_BYTES: usize = 4 << 20;
/// Start and length of LVM's metadata area, in bytes.
const AREA_BYTES: usize = 4096;
const UUID: &str = "abcdef-abcd-abcd-abcd-abcd-abcd-abcdef";

/// Images below `directory` with names of `bytes` bytes, or as the format takes: plain ones,
/// wide ones, and such that are escape sequences from end to end.
///
/// # Panics
/// When they cannot be written.
#[must_use]
pub fn images(directory: &Path, bytes: usize) -> Vec<NamedImage> {
    let mut all = Vec::new();
    let long = |unit: &str| unit.repeat(bytes.div_ceil(unit.len()));
    for (kind, name) in
        [("plain", long("n")), ("escapes", long("\x1b[2J")), ("wide", long("漢\u{202e}"))]
    {
        let mut put = |field: &str, content: Vec<u8>| {
            let path = directory.join(format!("{kind} {field}"));
            fs::write(&path, content).expect("the directory takes a file");
            all.push(NamedImage { field: format!("{field}, {kind}"), path });
        };
        put("GPT partitions", gpt(&name, 128));
        put("VMDK extent", vmdk(&name));
        put("qcow2 backing file", qcow2(&name));
        put("ext4 label", ext(&name));
        put("btrfs label", btrfs(&name));
        put("md array", md(&name));
        put("LUKS2 label and segment", luks(&name));
        for field in LVM_FIELDS {
            put(&format!("LVM {field}"), lvm(field, &name));
        }
    }
    all.extend(files(directory));
    all
}

/// A GPT disk with as many misaligned partitions as are read.
///
/// # Panics
/// When it cannot be written.
pub fn crowded(path: &Path) {
    fs::write(path, gpt("a partition with a name", 4096)).expect("the directory takes a file");
}

/// A GPT disk in a file whose name, and whose directories' names, are as long as the kernel takes.
fn files(directory: &Path) -> Option<NamedImage> {
    let part = "\x1b[2J漢".repeat(36);
    let mut place = directory.join("deep");
    // PATH_MAX is 4096 bytes, with the zero at its end.
    while place.as_os_str().len() + 2 * part.len() < 4000 {
        place.push(&part);
    }
    fs::create_dir_all(&place).ok()?;
    let path = place.join(&part);
    fs::write(&path, gpt("n", 128)).ok()?;
    Some(NamedImage { field: "file name".to_owned(), path })
}

/// A whole disk of zeros with `parts` at their offsets.
fn disk(parts: &[(usize, &[u8])]) -> Vec<u8> {
    let end = parts.iter().map(|(at, part)| at + part.len()).max().unwrap_or(0);
    let mut disk = vec![0; end.max(DISK_BYTES).next_multiple_of(512)];
    for (at, part) in parts {
        disk[*at..at + part.len()].copy_from_slice(part);
    }
    disk
}

/// The first bytes of `name` that `room` holds, filled with zeros.
fn cut(name: &str, room: usize) -> Vec<u8> {
    let mut bytes = name.as_bytes()[..name.floor_char_boundary(room)].to_vec();
    bytes.resize(room, 0);
    bytes
}

/// The reflected CRC-32, without its last complement.
fn crc(start: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(start, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    })
}

/// So many misaligned partitions, a multiple of 4, each with the name.
fn gpt(name: &str, partitions: u32) -> Vec<u8> {
    let array = u64::from(partitions / 4);
    let first = 2 + array;
    let last = first + 2048 + u64::from(partitions) * 32 + array + 1;
    let text: Vec<u16> = name.encode_utf16().chain(std::iter::repeat(0)).take(36).collect();
    let mut entries = Vec::new();
    for number in 0..u64::from(partitions) {
        let start = (first + 2048) | 1;
        let start = start + number * 32;
        entries.extend([0xaf, 0x3d, 0xc6, 0x0f, 0x83, 0x84, 0x72, 0x47]);
        entries.extend([0x8e, 0x79, 0x3d, 0x69, 0xd8, 0x47, 0x7d, 0xe4]);
        entries.extend(u128::from(number + 1).to_le_bytes());
        for value in [start, start + 30, 0] {
            entries.extend(value.to_le_bytes());
        }
        entries.extend(text.iter().flat_map(|unit| unit.to_le_bytes()));
    }
    let header = |own: u64, other: u64, entries_at: u64| {
        let mut header = b"EFI PART\0\0\x01\0\x5c\0\0\0\0\0\0\0\0\0\0\0".to_vec();
        for value in [own, other, first, last - array - 1] {
            header.extend(value.to_le_bytes());
        }
        header.extend([7; 16]);
        header.extend(entries_at.to_le_bytes());
        for value in [partitions, 128, !crc(!0, &entries)] {
            header.extend(value.to_le_bytes());
        }
        let sum = !crc(!0, &header);
        header[16..20].copy_from_slice(&sum.to_le_bytes());
        header
    };
    let mut protective = vec![0, 0, 2, 0, 0xee, 0xff, 0xff, 0xff, 1, 0, 0, 0];
    protective.extend(u32::try_from(last).expect("small").to_le_bytes());
    let at = |sector: u64| usize::try_from(sector * 512).expect("small");
    disk(&[
        (446, &protective),
        (510, &[0x55, 0xaa]),
        (512, &header(1, last, 2)),
        (1024, &entries),
        (at(last - array), &entries),
        (at(last), &header(last, 1, last - array)),
    ])
}

/// A descriptor of one extent.
fn vmdk(name: &str) -> Vec<u8> {
    format!(
        "# Disk DescriptorFile\nversion=1\nCID=fffffffe\nparentCID=ffffffff\n\
         createType=\"monolithicFlat\"\n\nRW 8192 FLAT \"{name}\" 0\n\nddb.adapterType = \"ide\"\n"
    )
    .into_bytes()
}

/// An image over a backing file.
fn qcow2(name: &str) -> Vec<u8> {
    let length = u32::try_from(name.len()).expect("small");
    let mut header = b"QFI\xfb\0\0\0\x02".to_vec();
    header.extend(0x1_0000_u64.to_be_bytes());
    header.extend(length.to_be_bytes());
    header.extend(16_u32.to_be_bytes());
    header.extend((64_u64 << 20).to_be_bytes());
    header.extend([0, 0, 0, 0, 0, 0, 0, 1]);
    for table in [0x30_0000_u64, 0x31_0000] {
        header.extend(table.to_be_bytes());
    }
    header.extend([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    disk(&[(0, &header), (0x1_0000, name.as_bytes())])
}

fn ext(name: &str) -> Vec<u8> {
    let mut block = vec![0; 1024];
    for (at, value) in [(0, 64_u32), (4, 4096), (0x14, 1), (0x20, 8192), (0x24, 8192), (0x4c, 1)] {
        block[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    block[0x38..0x3e].copy_from_slice(&[0x53, 0xef, 0, 0, 1, 0]);
    block[0x58..0x5a].copy_from_slice(&256_u16.to_le_bytes());
    block[0x78..0x88].copy_from_slice(&cut(name, 16));
    block[0x88..0xc8].copy_from_slice(&cut(name, 64));
    disk(&[(1024, &block)])
}

fn btrfs(name: &str) -> Vec<u8> {
    let mut block = vec![0; 4096];
    block[0x30..0x38].copy_from_slice(&0x1_0000_u64.to_le_bytes());
    block[0x40..0x48].copy_from_slice(b"_BHRfS_M");
    for (at, value) in [(0x90, 4096_u32), (0x94, 16384), (0x98, 16384), (0x9c, 4096)] {
        block[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    block[0x70..0x78].copy_from_slice(&(4_u64 << 20).to_le_bytes());
    block[0x12b..0x22b].copy_from_slice(&cut(name, 256));
    disk(&[(0x1_0000, &block)])
}

fn md(name: &str) -> Vec<u8> {
    let mut block = vec![0; 256];
    for (at, value) in [(0, 0xa92b_4efc_u32), (4, 1), (0x48, 5), (0x4c, 2), (0x58, 128), (0x5c, 3)]
    {
        block[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    block[0x20..0x40].copy_from_slice(&cut(name, 32));
    for (at, value) in [(0x50, 4096_u64), (0x80, 2048), (0x88, 4096), (0x90, 8)] {
        block[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    let sum: u64 = block.chunks_exact(4).fold(0, |sum, word| {
        sum + u64::from(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    });
    let folded = u32::try_from((sum & 0xffff_ffff) + (sum >> 32)).expect("carries are few");
    block[0xd8..0xdc].copy_from_slice(&folded.to_le_bytes());
    disk(&[(4096, &block)])
}

fn luks(name: &str) -> Vec<u8> {
    const HEADER_BYTES: u64 = 4 << 20;
    let mut header = b"LUKS\xba\xbe\0\x02".to_vec();
    header.extend(HEADER_BYTES.to_be_bytes());
    header.extend(1_u64.to_be_bytes());
    header.extend(cut(name, 48));
    header.extend(cut("sha256", 32));
    header.resize(header.len() + 64, 1);
    header.extend(cut("00000000-0000-0000-0000-000000000001", 40));
    header.extend(cut(name, 48));
    let name = serde_text(name);
    let area = format!(
        "{{\"keyslots\":{{}},\"tokens\":{{\"0\":{{\"type\":{name},\"keyslots\":[]}}}},\
         \"segments\":{{\"0\":{{\"type\":\"crypt\",\"offset\":\"16777216\",\"size\":\"dynamic\",\
         \"iv_tweak\":\"0\",\"encryption\":{name},\"sector_size\":512}}}},\"digests\":{{}},\
         \"config\":{{\"json_size\":\"4190208\",\"keyslots_size\":\"0\"}}}}"
    );
    disk(&[(0, &header), (4096, area.as_bytes()), (20 << 20, &[1])])
}

fn serde_text(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}

/// The fields of LVM's text that may be of any length.
const LVM_FIELDS: [&str; 6] =
    ["volume group", "logical volume", "segment type", "device", "many volumes", "tag"];

/// A physical volume whose metadata has the name in `field`.
fn lvm(field: &str, name: &str) -> Vec<u8> {
    let of = |own: &str, usual: &str| if own == field { name.to_owned() } else { usual.to_owned() };
    let volume = |number: usize| {
        let name = match field {
            "many volumes" => format!("{}{number}", "v".repeat(100)),
            _ => of("logical volume", "lv"),
        };
        format!(
            "{name} {{ id = \"{UUID}\" status = [\"READ\", \"WRITE\", \"VISIBLE\"] flags = []\n\
             segment_count = 1 segment1 {{ start_extent = 0 extent_count = 1 type = \"{}\"\n\
             stripe_count = 1 stripes = [\"pv0\", {number}] }} }}\n",
            of("segment type", "striped")
        )
    };
    // LVM itself takes no name of more than 127 bytes, but as many as fit.
    let count = if field == "many volumes" { name.len() / 512 + 1 } else { 1 };
    let volumes: String = (0..count).map(volume).collect();
    let group = of("volume group", "vg");
    let text = format!(
        "{group} {{ id = \"{UUID}\" seqno = 1 format = \"lvm2\" status = []\n\
         flags = [] tags = [\"{}\"] extent_size = 8 max_lv = 0 max_pv = 0 metadata_copies = 0\n\
         physical_volumes {{ pv0 {{ id = \"{UUID}\" device = \"{}\" status = [\"ALLOCATABLE\"]\n\
         flags = [] dev_size = 65536 pe_start = 16385 pe_count = 256 }} }}\n\
         logical_volumes {{ {volumes} }} }}\n\
         contents = \"Text Format Volume Group\" version = 1\n\0",
        of("tag", "t"),
        of("device", "/dev/x"),
    );
    const START: u32 = 0xf597_a6cf;
    let area = (text.len() + 8192).next_multiple_of(4096);
    let mut head = b" LVM2 x[5A%r0N*>".to_vec();
    head.extend(1_u32.to_le_bytes());
    let wide = |number: usize| u64::try_from(number).expect("small").to_le_bytes();
    for value in [AREA_BYTES, area, 512, text.len()] {
        head.extend(wide(value));
    }
    head.extend(crc(START, text.as_bytes()).to_le_bytes());
    head.resize(508, 0);
    let sum = crc(START, &head);
    let mut label = b"LVM2 001".to_vec();
    label.extend(UUID.replace('-', "").into_bytes());
    for value in [32 << 20, 16385 * 512, 0, 0, 0, AREA_BYTES, area, 0, 0] {
        label.extend(wide(value));
    }
    let mut sector = 32_u32.to_le_bytes().to_vec();
    sector.append(&mut label);
    sector.resize(492, 0);
    let label_sum = crc(START, &sector);
    disk(&[
        (512, b"LABELONE\x01\0\0\0\0\0\0\0"),
        (528, &label_sum.to_le_bytes()),
        (532, &sector),
        (AREA_BYTES, &sum.to_le_bytes()),
        (AREA_BYTES + 4, &head),
        (AREA_BYTES + 512, text.as_bytes()),
        (32 << 20, &[0]),
    ])
}
