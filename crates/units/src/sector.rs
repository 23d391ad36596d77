//! Logical block addresses, and the size of the sectors that they count.

/// The size of a logical sector: a power of two from 512 to 65536 bytes.
///
/// 512 and 4096 are what drives sell; 520 and 528 byte formats carry protection data that the
/// kernel hides; 1024 and 2048 occur on optical media and on USB bridges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SectorSize(u32);

impl SectorSize {
    /// 512 bytes.
    pub const B512: SectorSize = SectorSize(512);
    /// 4096 bytes, as 4Kn drives have.
    pub const B4096: SectorSize = SectorSize(4096);

    /// A sector of `bytes`; `None` unless that is a power of two from 512 to 65536.
    #[must_use]
    pub fn new(bytes: u64) -> Option<SectorSize> {
        let size = u32::try_from(bytes).ok()?;
        (size.is_power_of_two() && (512..=65536).contains(&size)).then_some(SectorSize(size))
    }

    /// The size in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        u64::from(self.0)
    }
}

/// The number of a logical sector, counted from the start of its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lba(pub u64);

impl Lba {
    /// The sector's byte address; `None` when it exceeds `u64::MAX`.
    #[must_use]
    pub fn to_bytes(self, sector: SectorSize) -> Option<u64> {
        self.0.checked_mul(sector.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_powers_of_two_from_512_are_sector_sizes() {
        for bytes in [0, 1, 256, 513, 520, 131_072] {
            assert_eq!(SectorSize::new(bytes), None, "{bytes}");
        }
        assert_eq!(SectorSize::new(4096), Some(SectorSize::B4096));
    }

    #[test]
    fn an_address_beyond_64_bits_is_none() {
        assert_eq!(Lba(u64::MAX).to_bytes(SectorSize::B512), None);
        assert_eq!(Lba(63).to_bytes(SectorSize::B512), Some(32256));
    }
}
