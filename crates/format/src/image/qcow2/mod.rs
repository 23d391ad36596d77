//! qcow2: two levels of tables, clusters of 512 bytes to 2 MiB.
//!
//! A guest byte keeps its place within its cluster, so alignment holds up to the cluster size. The
//! header tells where the first table (L1) stands; the entries of the second (L2) are looked up on
//! demand. Source: QEMU's `docs/interop/qcow2.txt`; where that leaves freedom, `block/qcow2.c` and
//! `block/qcow2-cluster.c`.

use device::{Disk, disk};
use units::{ByteRange, DiskText};

use super::{Image, ImageKind, ImageLayout, Reference, ReferenceRole};
use crate::bytes::{self, Block};
use crate::{Parsed, Problem, ProblemKind};

mod extension;
mod feature;
mod lookup;

const MAGIC: &[u8; 4] = b"QFI\xfb";
/// The longest backing file name.
const NAME_BYTES_MAX: u32 = 1023;
/// Bytes of the first cluster that are read for extensions and the backing name.
const HEADER_REGION_BYTES: u64 = 64 << 10;
/// Subclusters of a cluster with extended L2 entries.
const SUBCLUSTERS: u64 = 32;

/// Place where the tables stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qcow2Tables {
    /// The cluster is 2 to this power bytes: 9 to 21.
    pub cluster_bits: u32,
    /// The L1 table in the image file.
    pub directory: ByteRange,
    /// True if an L2 entry has 16 bytes, of which 8 are a bitmap of 32 subclusters.
    pub extended: bool,
    /// The version, 2 or 3: 2 has no zero clusters.
    pub version: u32,
    /// The number of the reference that holds the clusters; `None` when this file does.
    pub data: Option<usize>,
    /// The compression of compressed clusters.
    pub compression: Compression,
}

/// The compression of compressed clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// A raw deflate stream.
    Deflate,
    /// A Zstandard frame.
    Zstd,
}

/// The fixed part of the header, in version 2 without what stands behind byte 72.
type Header = Block<112>;

/// The header of a qcow2 image whose first bytes are `head`; `None` when the magic is absent, or
/// the version is 1, which is another format.
pub(super) fn read(file: &dyn Disk, head: &[u8]) -> Option<Parsed<Image>> {
    let version =
        bytes::block::<8>(head).filter(|start| start.array::<0, 4>() == *MAGIC)?.be32::<4>();
    if version == 1 {
        return None;
    }
    let mut image = Image::unread(ImageKind::Qcow2, format!("v{version}"));
    let mut problems = Vec::new();
    let laid = if matches!(version, 2 | 3) {
        // A short file is padded: its missing fields are then reported as what they are, zero.
        let mut fixed = [0; 112];
        let length = head.len().min(if version == 2 { 72 } else { 112 });
        fixed[..length].copy_from_slice(&head[..length]);
        facts(file, &Block(fixed), &mut image, &mut problems)
    } else {
        let reason = format!("version {version} of qcow2 is not known");
        Err(Problem::new(ProblemKind::Unsupported, 4, reason))
    };
    Some(image.laid_out_or(laid, problems))
}

/// Fills `image` from the header; its layout, or the problem for which there is none.
fn facts(
    file: &dyn Disk,
    header: &Header,
    image: &mut Image,
    problems: &mut Vec<Problem>,
) -> Result<ImageLayout, Problem> {
    let wrong = |at, reason: String| Problem::new(ProblemKind::Field, at, reason);
    let version = header.be32::<4>();
    image.virtual_bytes = header.be64::<24>();
    image.encrypted = encryption(header.be32::<32>(), image, problems);
    let cluster_bits = header.be32::<20>();
    if !(9..=21).contains(&cluster_bits) {
        let reason = format!("clusters of 2^{cluster_bits} bytes; 2^9 to 2^21 are allowed");
        return Err(wrong(20, reason));
    }
    let cluster_bytes = 1_u64 << cluster_bits;
    image.block_bytes = Some(cluster_bytes);

    let header_bytes = if version == 2 { 72 } else { header_length(header, problems) };
    let region = HEADER_REGION_BYTES.min(cluster_bytes).min(file.length_bytes());
    let region = disk::read_vec(file, 0, region).unwrap_or_else(|error| {
        problems.push(Problem::unreadable("the header cluster", 0, &error));
        Vec::new()
    });
    let extensions = extension::read(&region, header_bytes, backing_offset(header), problems);
    let features = feature::read(header, &extensions, image, problems);

    backing(header, &region, &extensions, image, problems);
    if features.external_data {
        data_file(&extensions, image, problems);
    }
    describe(header, image, problems);
    if let Some(reason) = features.unknown {
        return Err(Problem::new(ProblemKind::Unsupported, 72, reason));
    }
    if features.extended {
        if cluster_bits < 14 {
            let reason = "extended L2 entries need clusters of 16 KiB or more";
            return Err(wrong(20, reason.to_owned()));
        }
        image.subblock_bytes = Some(cluster_bytes / SUBCLUSTERS);
    }
    let directory = directory(file, header, image.virtual_bytes, features.extended, problems)
        .map_err(|reason| wrong(40, reason))?;
    Ok(ImageLayout::Qcow2(Qcow2Tables {
        cluster_bits,
        directory,
        extended: features.extended,
        version,
        data: features.external_data.then(|| image.reference(ReferenceRole::Data)).flatten(),
        compression: features.compression,
    }))
}

/// Returns whether the guest's bytes are encrypted.
fn encryption(method: u32, image: &mut Image, problems: &mut Vec<Problem>) -> bool {
    let name = match method {
        0 => return false,
        1 => "AES-CBC".to_owned(),
        2 => "LUKS".to_owned(),
        other => {
            let detail = format!("encryption method {other} is not known");
            problems.push(Problem::new(ProblemKind::Unsupported, 32, detail));
            format!("method {other}")
        }
    };
    image.details.push(("encryption", name));
    true
}

/// Returns where the extensions start.
fn header_length(header: &Header, problems: &mut Vec<Problem>) -> u64 {
    let length = header.be32::<100>();
    if length < 104 || !length.is_multiple_of(8) {
        let detail =
            format!("the header is {length} bytes long; version 3 has 104 or more, by eights");
        problems.push(Problem::new(ProblemKind::Field, 100, detail));
    }
    u64::from(length.max(104))
}

fn backing_offset(header: &Header) -> Option<u64> {
    Some(header.be64::<8>()).filter(|&offset| offset != 0)
}

/// The backing file.
fn backing(
    header: &Header,
    region: &[u8],
    extensions: &extension::Extensions,
    image: &mut Image,
    problems: &mut Vec<Problem>,
) {
    let Some(offset) = backing_offset(header) else { return };
    let length = header.be32::<16>();
    let name = usize::try_from(offset)
        .ok()
        .and_then(|start| region.get(start..)?.get(..usize::try_from(length).ok()?))
        .filter(|_| length <= NAME_BYTES_MAX);
    if name.is_none_or(<[u8]>::is_empty) {
        let detail = format!(
            "the backing file's name of {length} bytes at {offset}; it has 1 to {NAME_BYTES_MAX} \
             bytes within the first cluster"
        );
        problems.push(Problem::new(ProblemKind::Field, 8, detail));
    }
    // Kept even without a readable name: what is not in this image is not zero.
    image.references.push(Reference {
        role: ReferenceRole::Backing,
        path: DiskText::from_bytes(name.unwrap_or_default()),
        format: extensions.backing_format.clone(),
    });
}

/// The external data file.
fn data_file(extensions: &extension::Extensions, image: &mut Image, problems: &mut Vec<Problem>) {
    let name = extensions.data_file.clone();
    if name.is_none() {
        let detail = "an external data file is used, but not named";
        problems.push(Problem::new(ProblemKind::Field, 72, detail));
    }
    image.references.push(Reference {
        role: ReferenceRole::Data,
        path: name.unwrap_or_default(),
        format: Some(DiskText::from("raw")),
    });
}

/// Other facts: refcounts and snapshots.
fn describe(header: &Header, image: &mut Image, problems: &mut Vec<Problem>) {
    let order = if header.be32::<4>() == 2 { 4 } else { header.be32::<96>() };
    if order <= 6 {
        image.details.push(("refcount bits", (1_u32 << order).to_string()));
    } else {
        let detail = format!("refcounts of 2^{order} bits; at most 2^6 are allowed");
        problems.push(Problem::new(ProblemKind::Field, 96, detail));
    }
    image.details.push(("snapshots", header.be32::<60>().to_string()));
}

/// The L1 table, checked against the guest's size and the file's.
fn directory(
    file: &dyn Disk,
    header: &Header,
    virtual_bytes: u64,
    extended: bool,
    problems: &mut Vec<Problem>,
) -> Result<ByteRange, String> {
    let (entries, offset) = (u64::from(header.be32::<36>()), header.be64::<40>());
    let cluster_bytes = 1_u64 << header.be32::<20>();
    let span = cluster_bytes * cluster_bytes.div_euclid(if extended { 16 } else { 8 });
    let needed = virtual_bytes.div_ceil(span);
    if entries < needed {
        let detail = format!("the L1 table has {entries} entries; the guest's size needs {needed}");
        problems.push(Problem::new(ProblemKind::Field, 36, detail));
    }
    if !offset.is_multiple_of(cluster_bytes) {
        return Err(format!("the L1 table at {offset} is not on a cluster"));
    }
    let table = ByteRange::new(offset, entries * 8)
        .ok_or_else(|| format!("the L1 table at {offset} ends beyond 64 bits"))?;
    // Only what the guest's size needs counts: a table may be larger than that.
    let used = offset.saturating_add(needed.min(entries) * 8);
    if used > file.length_bytes() {
        let detail = format!(
            "the L1 table ends at {used}, past the end of the file at {}",
            file.length_bytes()
        );
        problems.push(Problem::new(ProblemKind::Outside, 40, detail));
    }
    Ok(table)
}

#[cfg(test)]
mod tests;
