//! A physical volume made by hand, for tests.

use device::MemoryDisk;

use super::label::checksum;

/// 32 characters for a UUID.
pub(super) const ID: &str = "abcdefGHIJklmnopQRSTuvwx0123!#yz";
/// The sample's length.
pub(super) const DISK_BYTES: u64 = 64 << 20;
const AREA_BYTES: u64 = 4096;

/// Options of the sample.
#[derive(Clone, Debug)]
pub(super) struct SampleOptions {
    /// The sector with the label.
    pub(super) sector: u64,
    /// The metadata areas: start, length, where the text starts within, and the text.
    pub(super) areas: Vec<(u64, u64, u64, String)>,
}

impl SampleOptions {
    /// One area up to the first extent with `text` right behind its header.
    pub(super) fn of(text: &str) -> SampleOptions {
        SampleOptions {
            sector: 1,
            areas: vec![(AREA_BYTES, (1 << 20) - AREA_BYTES, 512, text.to_owned())],
        }
    }

    /// The disk.
    pub(super) fn disk(&self) -> MemoryDisk {
        let mut disk = MemoryDisk::new(DISK_BYTES);
        disk.put(self.sector * 512, &self.label());
        for (start, length, at, text) in &self.areas {
            put_area(&mut disk, *start, *length, *at, text.as_bytes());
        }
        disk
    }

    /// The label's sector.
    pub(super) fn label(&self) -> Vec<u8> {
        let mut label = vec![0; 512];
        label[..8].copy_from_slice(b"LABELONE");
        label[8..16].copy_from_slice(&self.sector.to_le_bytes());
        label[20] = 32;
        label[24..32].copy_from_slice(b"LVM2 001");
        label[32..64].copy_from_slice(ID.as_bytes());
        label[64..72].copy_from_slice(&DISK_BYTES.to_le_bytes());
        let mut words = vec![1 << 20, 0, 0, 0];
        words.extend(self.areas.iter().flat_map(|(start, length, ..)| [*start, *length]));
        words.extend([0, 0, 2 | 1 << 32]);
        for (word, place) in words.iter().zip(label[72..].chunks_exact_mut(8)) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        let sum = checksum(&label[20..]);
        label[16..20].copy_from_slice(&sum.to_le_bytes());
        label
    }
}

fn put_area(disk: &mut MemoryDisk, start: u64, length: u64, at: u64, text: &[u8]) {
    let mut header = vec![0; 512];
    header[4..20].copy_from_slice(b" LVM2 x[5A%r0N*>");
    header[20] = 1;
    let text_bytes = u64::try_from(text.len()).unwrap();
    for (word, place) in
        [start, length, at, text_bytes].iter().zip(header[24..].chunks_exact_mut(8))
    {
        place.copy_from_slice(&word.to_le_bytes());
    }
    header[56..60].copy_from_slice(&checksum(text).to_le_bytes());
    let sum = checksum(&header[4..]);
    header[..4].copy_from_slice(&sum.to_le_bytes());
    disk.put(start, &header);
    let first = usize::try_from(length - at).unwrap().min(text.len());
    disk.put(start + at, &text[..first]);
    disk.put(start + 512, &text[first..]);
}

/// A text for a group with `pv0` and `pv1` of 15 extents each, and `volumes` as its logical
/// volumes.
pub(super) fn text(sequence: u64, volumes: &str) -> String {
    let member = |name: &str, id: &str| {
        format!(
            "{name} {{ id = \"{id}\" device = \"/dev/x\" status = [\"ALLOCATABLE\"] flags = []
            dev_size = 131072 pe_start = 2048 pe_count = 15 }}\n"
        )
    };
    let (one, two) = (member("pv0", &dashed(ID)), member("pv1", &dashed(&ID.to_uppercase())));
    format!(
        "vg {{ id = \"{}\" seqno = {sequence} extent_size = 8192 # 4 Megabytes
        physical_volumes {{ {one} {two} }} logical_volumes {{ {volumes} }} }}
        # Generated
        contents = \"Text Format Volume Group\" version = 1\n\0",
        dashed(ID)
    )
}

/// A logical volume `name` of the `segments` given as their inner text, each of `extents` extents.
pub(super) fn volume(name: &str, extents: u64, segments: &[&str]) -> String {
    let inner: String = (0_u64..)
        .zip(segments)
        .map(|(number, inner)| {
            let start = number * extents;
            format!("segment{number} {{ start_extent = {start} extent_count = {extents} {inner} }}")
        })
        .collect();
    let (id, count) = (dashed(ID), segments.len());
    format!("{name} {{ id = \"{id}\" status = [\"VISIBLE\"] segment_count = {count} {inner} }}\n")
}

fn dashed(id: &str) -> String {
    let cuts = [0, 6, 10, 14, 18, 22, 26, 32];
    cuts.windows(2).map(|cut| &id[cut[0]..cut[1]]).collect::<Vec<_>>().join("-")
}
