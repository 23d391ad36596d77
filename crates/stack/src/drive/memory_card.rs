//! The kernel's report of a memory card.
//!
//! Source: Linux `Documentation/driver-api/mmc/mmc-dev-attrs.rst`.

use units::Known;

use super::sysfs::SysfsFiles;

/// A memory card or its soldered kin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// `MMC` or `SD`.
    pub kind: String,
    /// The product's name.
    pub name: Known<String>,
    /// `erase_size`: the smallest erase.
    pub erase_bytes: Known<u64>,
    /// `preferred_erase_size`: the allocation unit of an SD card, the erase group of MMC.
    pub preferred_erase_bytes: Known<u64>,
}

impl Card {
    /// The card; `None` where the device is none.
    pub(super) fn read(files: &SysfsFiles<'_>) -> Option<Card> {
        let kind = files.text("device/type").ok().filter(|kind| kind == "MMC" || kind == "SD")?;
        Some(Card {
            kind,
            name: files.word("device/name"),
            erase_bytes: files.number("device/erase_size"),
            preferred_erase_bytes: files.number("device/preferred_erase_size"),
        })
    }
}
