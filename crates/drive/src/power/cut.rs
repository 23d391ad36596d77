//! When the power goes, and which of the possible outcomes is wanted.

use super::replay::Medium;
use super::survivors::{Atom, Outcomes, atoms, chosen};
use super::{Aftermath, HostLog, MediumLog};

/// Which writes that no promise covers survive a cut.
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

/// What becomes of a physical sector that is half written when the power goes.
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

/// What a drive does that it must not. All off by default.
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
    /// What should keep a cache alive does not: worn capacitors, an empty battery.
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
    /// What survives of what is not on the medium.
    pub survivors: Survivors,
    /// What becomes of the sector under the head.
    pub under_head: UnderHead,
    /// What is written whole or not at all, in bytes: whole logical sectors, and a whole number of
    /// them a physical sector. `None` for the physical sector.
    pub tear_bytes: Option<u64>,
    /// True if the cache does not forget: capacitors, or non-volatile memory.
    pub is_non_volatile: bool,
    /// What else goes wrong.
    pub faults: Faults,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutFault {
    /// Nobody asked the drive to keep a log, or it is of a kind that keeps none.
    #[error("the drive kept no log of what it did")]
    NoLog,
    /// There is no such member.
    #[error("there are {members} members, and none with number {member}")]
    NoSuchMember {
        /// What was named.
        member: u16,
        /// How many there are.
        members: usize,
    },
    /// A log had no room.
    #[error("the log is full: it was made for fewer commands than came")]
    Full,
    /// The logs are not of the same drive.
    #[error("the drive wrote write {number}, which the host's log has not")]
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
        /// What was wanted.
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

/// Returns what the drive holds after the cut.
///
/// Time and memory: in proportion to the sectors written until then.
///
/// # Errors
/// When a log is full, the logs do not belong together, or nothing can be torn as the cut says.
pub fn cut(host: &HostLog, medium: &MediumLog, cut: &Cut) -> Result<Aftermath, CutFault> {
    let (mut at, atoms) = open(host, medium, cut)?;
    if cut.faults.is_dead {
        return Ok(Aftermath::dead(cut.at_ns));
    }
    let chosen = chosen(&atoms, cut.survivors);
    for (atom, _) in atoms.iter().zip(chosen).filter(|(_, is_chosen)| *is_chosen) {
        for (lba, held) in atom.patch(&at) {
            at.set(lba, held);
        }
    }
    Ok(Aftermath::new(cut.at_ns, at.held()))
}

/// All that the drive can hold after the cut, each once, whatever `cut.survivors` says.
///
/// Memory: in proportion to the sectors written until then, and to the outcomes of single units,
/// which [`Outcomes`] bounds. Their product is visited, not stored.
///
/// # Errors
/// As [`cut`]; and when more is open than can be gone through.
pub fn outcomes(host: &HostLog, medium: &MediumLog, cut: &Cut) -> Result<Outcomes, CutFault> {
    let (at, atoms) = open(host, medium, cut)?;
    if cut.faults.is_dead {
        return Ok(Outcomes::one(Aftermath::dead(cut.at_ns)));
    }
    Outcomes::new(cut.at_ns, &at, &atoms)
}

/// The medium at the cut, and what may have got there besides.
fn open(host: &HostLog, medium: &MediumLog, cut: &Cut) -> Result<(Medium, Vec<Atom>), CutFault> {
    if host.is_full() || medium.is_full() {
        return Err(CutFault::Full);
    }
    let sectors = medium.sectors();
    let (drive_bytes, host_bytes) = (sectors.logical_bytes, host.told().sectors.logical_bytes);
    if drive_bytes != host_bytes {
        return Err(CutFault::Sectors { drive_bytes, host_bytes });
    }
    let tear_bytes = cut.tear_bytes.unwrap_or(sectors.physical_bytes);
    let is_tear = tear_bytes > 0
        && tear_bytes.is_multiple_of(sectors.logical_bytes)
        && sectors.physical_bytes.is_multiple_of(tear_bytes);
    if !is_tear {
        let physical_bytes = sectors.physical_bytes;
        return Err(CutFault::Tear { tear_bytes, physical_bytes });
    }
    let at = Medium::at(host, medium, cut)?;
    let atoms = atoms(host, medium, cut, &at, sectors.units(tear_bytes));
    Ok((at, atoms))
}
