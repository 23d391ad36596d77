//! When the power goes, and which of the possible outcomes is wanted.

/// Writes, among those that no promise covers, that survive a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survivors {
    /// None: only what the medium has.
    None,
    /// All that came into the drive.
    All,
    /// Those parts of writes whose bit is set, the first that came in the lowest.
    Chosen(u64),
    /// Each by chance, and each torn by chance between its units; the number names the chances.
    Random(u64),
    /// The newest write, and none before it: the commit record without what it commits.
    Worst,
    /// Those that came in first, up to one chosen by chance, as in a cache that writes in order;
    /// the number names the chance.
    Prefix(u64),
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
}

/// Misbehavior of a drive. All off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// True if the protection of a cache fails: worn capacitors, an empty battery.
    pub protection_fails: bool,
    /// This member of an array does not come back, from 0.
    pub lost_member: Option<u16>,
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
    /// True if the cache does not forget: capacitors, or non-volatile memory.
    pub is_non_volatile: bool,
    /// Writes of at most so many bytes survive whole or not at all, and what began of them is
    /// completed, as AWUPF promises (NVM Express Command Set Specification, "Atomic Operation"); 0
    /// for none.
    pub untorn_bytes: u64,
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
            is_non_volatile: false,
            untorn_bytes: 0,
            faults: Faults::default(),
        }
    }

    /// The same for a drive whose cache is protected: it does not forget, unless the protection
    /// fails.
    #[must_use]
    pub(crate) fn protected(self) -> Cut {
        Cut { is_non_volatile: !self.faults.protection_fails, ..self }
    }
}
