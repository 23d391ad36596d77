//! NVMe Identify Namespace of the NVM command set (CNS 05h, CSI 0): preferred sizes that the older
//! answer has no room for.
//!
//! Source: NVM Express NVM Command Set Specification 1.1, "I/O Command Set specific Identify
//! Namespace data structure"; libnvme `struct nvme_nvm_id_ns`. Unlike the sizes of the older answer
//! these count from one, and 0 says nothing (QEMU `hw/nvme/ns.c` stores NPDG less one and NPDGL as
//! it is). All numbers are little-endian.

use super::nvme::{ANSWER_BYTES, Features, Namespace};
use super::{NoAnswer, blocks, head, wrong};
use crate::{Parsed, Problem};

/// The largest preferred unit of a read that a drive can mean, in bytes.
const READ_BYTES_MAX: u64 = 16 << 20;
/// The largest preferred unit of a deallocation that a drive can mean, in bytes.
const DISCARD_BYTES_MAX: u64 = 1 << 30;

/// Preferred sizes in bytes. `None` where the namespace does not say, or says more than any drive
/// can mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NamespaceHints {
    /// NPDGL: a deallocation should be a multiple of this long. Where it is there, it counts, not
    /// NPDG.
    pub discard_granularity_bytes: Option<u64>,
    /// NPDAL: a deallocation should start at a multiple of this. Where it is there, it counts, not
    /// NPDA.
    pub discard_alignment_bytes: Option<u64>,
    /// NPRG: a read should be a multiple of this long.
    pub read_granularity_bytes: Option<u64>,
    /// NPRA: a read should start at a multiple of this.
    pub read_alignment_bytes: Option<u64>,
    /// NORS: the best length of a read.
    pub optimal_read_bytes: Option<u64>,
}

/// The hints of an answer about `namespace`, which says in what they count and which are there.
///
/// # Errors
/// When it is shorter than 4096 bytes, or all zeros as of a drive without hints.
pub fn hints(bytes: &[u8], namespace: &Namespace) -> Result<Parsed<NamespaceHints>, NoAnswer> {
    let block = head::<ANSWER_BYTES>("NVMe Identify Namespace of the NVM command set", bytes)?;
    let unit = namespace.format.map(|format| format.data_bytes);
    let Features { large_discards, reads, .. } = namespace.features;
    let mut problems = Vec::new();
    let mut field = |is_there: bool, at: u64, name: &str, stored: u32, most: u64| {
        let bytes = blocks(u64::from(stored), unit).filter(|_| is_there)?;
        if bytes > most {
            problems.push(absurd(at, name, bytes, most));
            return None;
        }
        Some(bytes)
    };
    let value = NamespaceHints {
        discard_granularity_bytes: field(
            large_discards,
            268,
            "NPDGL",
            block.le32::<268>(),
            DISCARD_BYTES_MAX,
        ),
        read_granularity_bytes: field(reads, 272, "NPRG", block.le32::<272>(), READ_BYTES_MAX),
        read_alignment_bytes: field(reads, 276, "NPRA", block.le32::<276>(), READ_BYTES_MAX),
        optimal_read_bytes: field(reads, 280, "NORS", block.le32::<280>(), DISCARD_BYTES_MAX),
        discard_alignment_bytes: field(
            large_discards,
            284,
            "NPDAL",
            block.le32::<284>(),
            DISCARD_BYTES_MAX,
        ),
    };
    Ok(Parsed { value, problems })
}

fn absurd(at_bytes: u64, name: &str, bytes: u64, most: u64) -> Problem {
    wrong(at_bytes, format!("{name} is {bytes} bytes, above {} MiB", most >> 20))
}

#[cfg(test)]
mod tests {
    use super::super::nvme;
    use super::*;

    /// A namespace with blocks of 4096 bytes and these bits in NSFEAT.
    fn namespace(features: u8) -> Namespace {
        let mut bytes = vec![0; ANSWER_BYTES];
        bytes[0] = 1;
        bytes[24] = features;
        bytes[130] = 12;
        nvme::namespace(&bytes).unwrap().value
    }

    fn answer(fields: [u32; 5]) -> Vec<u8> {
        let mut bytes = vec![0; ANSWER_BYTES];
        for (number, field) in fields.into_iter().enumerate() {
            bytes[268 + 4 * number..][..4].copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn sizes_count_from_one_and_each_needs_its_bit() {
        let bytes = answer([512, 4, 8, 32, 256]);
        let found = hints(&bytes, &namespace(0)).unwrap();
        assert_eq!((found.value, found.problems), (NamespaceHints::default(), Vec::new()));
        let discards = hints(&bytes, &namespace(0x20)).unwrap().value;
        assert_eq!(discards.discard_granularity_bytes, Some(2 << 20));
        assert_eq!(discards.discard_alignment_bytes, Some(1 << 20));
        assert_eq!(discards.read_granularity_bytes, None);
        let reads = hints(&bytes, &namespace(0x80)).unwrap().value;
        assert_eq!(reads.read_granularity_bytes, Some(16384));
        assert_eq!(reads.read_alignment_bytes, Some(32768));
        assert_eq!(reads.optimal_read_bytes, Some(128 << 10));
        assert_eq!(reads.discard_granularity_bytes, None);
    }

    #[test]
    fn zero_says_nothing_and_what_no_drive_means_is_unknown() {
        let found = hints(&answer([0, 1, 0, 0, u32::MAX]), &namespace(0xa0)).unwrap();
        assert_eq!(found.value.discard_granularity_bytes, None);
        assert_eq!(found.value.read_granularity_bytes, Some(4096));
        assert_eq!(found.value.discard_alignment_bytes, None);
        assert_eq!(found.problems[0].detail, "NPDAL is 17592186040320 bytes, above 1024 MiB");
    }

    #[test]
    fn a_drive_without_hints_gives_no_answer() {
        assert!(matches!(hints(&answer([0; 5]), &namespace(0)), Err(NoAnswer::Zeros { .. })));
        assert!(matches!(hints(&[1; 512], &namespace(0)), Err(NoAnswer::Short { .. })));
    }
}
