//! When the power goes, and which of the possible outcomes is wanted.

/// Writes, among those that no promise covers, that survive a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survivors {
    /// None: only what the medium has.
    None,
    /// All that came into the drive.
    All,
    /// The first so many writes of those that can, in the order in which they came, and none behind
    /// them.
    Prefix(usize),
    /// Each by chance, and each torn by chance between its units; the number names the chances.
    Random(u64),
    /// The newest write, and none before it: the commit record without what it commits.
    Worst,
}

/// State of a physical sector that is half written when the power goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnderHead {
    /// It is written to its end: drives keep enough energy for that.
    Completes,
    /// It is as it was.
    Old,
    /// It can no longer be read, and with it what the host never wrote of it.
    Unreadable,
    /// Its first units are new and the others as they were: units of [`Cut::tear_bytes`], or
    /// logical sectors where there are none.
    Shorn,
}

/// Misbehavior of a drive. All off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The drive wakes up as if the power had gone so much earlier, in nanoseconds: the newest part
    /// of its mapping is lost, and with it acknowledged and flushed writes (FAST 2013; later work
    /// saw up to 700 ms).
    pub rollback_ns: u64,
    /// Units that were put on the medium are lost while newer ones are there.
    pub unserialized: Option<Unserialized>,
    /// The drive does not come back.
    pub is_dead: bool,
    /// True if the protection of a cache fails: worn capacitors, an empty battery.
    pub protection_fails: bool,
    /// This member of an array does not come back, from 0.
    pub lost_member: Option<u16>,
}

/// Units lost by chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unserialized {
    /// Names the chances.
    pub seed: u64,
    /// Of a thousand units so many are lost.
    pub per_mille: u16,
}

/// A cut of the power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// When, in nanoseconds.
    pub at_ns: u64,
    /// Survivors among what is not on the medium.
    pub survivors: Survivors,
    /// State of the sector under the head.
    pub under_head: UnderHead,
    /// Bytes that are written whole or not at all: whole logical sectors, and a whole number of
    /// them a physical sector. `None` for the physical sector.
    pub tear_bytes: Option<u64>,
    /// True if the cache does not forget: capacitors, or non-volatile memory.
    pub is_non_volatile: bool,
    /// Further faults.
    pub faults: Faults,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutFault {
    /// Nobody asked the drive to keep a log, or it is of a kind that keeps none.
    #[error("the drive kept no log of what it did")]
    NoLog,
    /// There is no such member.
    #[error("no member {member}: the array has {members}, counted from 0")]
    NoSuchMember {
        /// The number that was named.
        member: u16,
        /// Number of members.
        members: usize,
    },
    /// A log had no room.
    #[error("the log is full: more commands came than it can hold")]
    Full,
    /// The logs are not of the same drive.
    #[error("the drive wrote write {number}, which is missing from the host's log")]
    NoSuchWrite {
        /// The write.
        number: usize,
    },
    /// The host's log counts in other sectors.
    #[error(
        "the drive's logical sectors are {drive_bytes} bytes, the host's log says {host_bytes}"
    )]
    Sectors {
        /// Those of the drive.
        drive_bytes: u64,
        /// Those that the host was told.
        host_bytes: u64,
    },
    /// Nothing can be torn so.
    #[error("{tear_bytes} bytes cannot be torn off a physical sector of {physical_bytes}")]
    Tear {
        /// Bytes that were to be torn.
        tear_bytes: u64,
        /// The physical sector.
        physical_bytes: u64,
    },
    /// Too much to go through all possibilities.
    #[error("{units} units with up to {writes} writes each are open, too many to go through all")]
    TooMany {
        /// Units that can be one or the other.
        units: usize,
        /// The most writes that compete for one.
        writes: usize,
    },
}

impl Cut {
    /// The power goes at `at_ns`; nothing survives but what is on the medium, and the sector under
    /// the head completes.
    #[must_use]
    pub fn at(at_ns: u64) -> Cut {
        Cut {
            at_ns,
            survivors: Survivors::None,
            under_head: UnderHead::Completes,
            tear_bytes: None,
            is_non_volatile: false,
            faults: Faults::default(),
        }
    }

    /// The same for a drive whose cache is protected: it does not forget, unless the protection
    /// fails.
    #[must_use]
    pub(crate) fn protected(self) -> Cut {
        Cut { is_non_volatile: !self.faults.protection_fails, ..self }
    }

    /// When the power went, as the drive remembers it.
    pub(super) fn drive_ns(&self) -> u64 {
        self.at_ns.saturating_sub(self.faults.rollback_ns)
    }
}
