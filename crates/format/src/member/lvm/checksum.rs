//! LVM's checksum: the common 32-bit CRC with a seed of its own and no final inversion.
//!
//! Source: lvm2 `lib/misc/crc.c` (polynomial 0x04c11db7, bits reversed) and `INITIAL_CRC`.

use crc::{Algorithm, Crc, Table};

/// The seed, in the order of bits in which LVM writes it.
const SEED: u32 = 0xf597_a6cf;

const ALGORITHM: Algorithm<u32> = Algorithm {
    width: 32,
    poly: 0x04c1_1db7,
    init: SEED.reverse_bits(),
    refin: true,
    refout: true,
    xorout: 0,
    check: 0,
    residue: 0,
};

static TABLE: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&ALGORITHM);

/// The checksum of `bytes`.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    TABLE.checksum(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, bit by bit.
    fn slow(bytes: &[u8]) -> u32 {
        bytes.iter().fold(SEED, |sum, &byte| {
            (0..8).fold(sum ^ u32::from(byte), |sum, _| {
                if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 }
            })
        })
    }

    #[test]
    fn the_table_agrees_with_the_definition() {
        for text in [&b""[..], b"a", b"123456789", &[0xff; 100]] {
            assert_eq!(checksum(text), slow(text));
        }
    }
}
