//! Write whose data each sector holds when the power is back.

use std::collections::BTreeMap;

/// Content of a logical sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SectorContent {
    /// The data from before the log began.
    Original,
    /// The data of the write with this number.
    Write(usize),
    /// Nothing: reads fail until it is written again.
    Unreadable,
}

/// Content of a drive after a cut.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Aftermath {
    /// When the power went, in nanoseconds.
    pub at_ns: u64,
    /// By logical sector; those that are not there hold [`Held::Original`].
    sectors: BTreeMap<u64, SectorContent>,
    unfit: Unfit,
}

/// Logical sectors of an array that do not fit together. An array holds what it holds, but a member
/// that is lost before it is made to fit again takes more with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Unfit {
    /// Sectors of which copies differ.
    pub mirrors: u64,
    /// Sectors whose parity does not fit what stands beside them: the write hole.
    pub parity: u64,
}

impl Aftermath {
    /// Returns what `sectors` say; all others are as they were.
    pub fn new(at_ns: u64, sectors: impl IntoIterator<Item = (u64, SectorContent)>) -> Aftermath {
        let changed = |(_, held): &(u64, SectorContent)| *held != SectorContent::Original;
        let sectors = sectors.into_iter().filter(changed).collect();
        Aftermath { at_ns, sectors, unfit: Unfit::default() }
    }

    /// The same of an array of which so much does not fit together.
    #[must_use]
    pub(crate) fn with_unfit(self, unfit: Unfit) -> Aftermath {
        Aftermath { unfit, ..self }
    }

    /// Returns what of an array does not fit together; nothing of other drives.
    #[must_use]
    pub fn unfit(&self) -> Unfit {
        self.unfit
    }

    /// Returns what the logical sector `lba` holds.
    #[must_use]
    pub fn held(&self, lba: u64) -> SectorContent {
        self.sectors.get(&lba).copied().unwrap_or(SectorContent::Original)
    }

    /// The logical sectors that hold something else than before the log began, in order.
    pub fn changed(&self) -> impl Iterator<Item = (u64, SectorContent)> {
        self.sectors.iter().map(|(&lba, &held)| (lba, held))
    }
}
