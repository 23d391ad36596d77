//! The checksums of on-disk formats.

use crc::{CRC_32_ISCSI, Crc, Table};

/// The common CRC-32 of `bytes`. Both copies of a GPT have 16 KiB under one, so the processor's own
/// instructions are worth a crate that uses them.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// The CRC-32 of iSCSI, which file systems call crc32c.
pub(crate) static CRC32C: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// The common CRC-32 of all `parts`, from `seed` on and without the last inversion.
pub(crate) fn seeded_crc32(seed: u32, parts: &[&[u8]]) -> u32 {
    // The crate takes a checksum to go on from, which is the inverted register.
    let mut digest = crc32fast::Hasher::new_with_initial(!seed);
    for part in parts {
        digest.update(part);
    }
    !digest.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, bit by bit.
    fn slow(seed: u32, bytes: &[u8]) -> u32 {
        bytes.iter().fold(seed, |sum, &byte| {
            (0..8).fold(sum ^ u32::from(byte), |sum, _| {
                if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 }
            })
        })
    }

    #[test]
    fn a_seeded_checksum_agrees_with_the_definition() {
        for text in [&b""[..], b"a", b"123456789", &[0xff; 100]] {
            let (first, second) = text.split_at(text.len().div_ceil(2));
            assert_eq!(seeded_crc32(0xf597_a6cf, &[first, second]), slow(0xf597_a6cf, text));
        }
    }
}
