//! Number of acknowledged writes that a cut took, and of those that the drive was free to lose.

use super::oracle::Promises;
use super::{Aftermath, CutFault, HostLog, SectorContent};

/// Fate of the writes that were acknowledged when the power went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Writes that were acknowledged.
    pub acknowledged: u64,
    /// Those among them that nothing is left of, though no later write took their place.
    pub lost: u64,
    /// Those of which a part is left.
    pub torn: u64,
    /// Writes that were promised: flushed, forced, or acknowledged by a drive that says it has no
    /// cache that forgets.
    pub promised: u64,
    /// Those among the promised that are lost or torn: what the drive was not free to.
    pub broken: u64,
}

/// Returns what `aftermath` left of the writes in `log`.
///
/// Memory and time: in proportion to the sectors written in the log.
///
/// # Errors
/// When the log is full, so that not all writes are known.
pub fn losses(log: &HostLog, aftermath: &Aftermath) -> Result<Losses, CutFault> {
    if log.is_full() {
        return Err(CutFault::Full);
    }
    let promises = Promises::at(log, aftermath.at_ns);
    let mut losses = Losses::default();
    for (number, write) in log.writes().iter().enumerate() {
        if write.done.is_none_or(|done| done.at_ns > aftermath.at_ns) {
            continue;
        }
        let lbas = log.told().sectors.lbas(write.range);
        let all = lbas.end - lbas.start;
        let is_gone = |lba: &u64| match aftermath.held(*lba) {
            SectorContent::Original | SectorContent::Unreadable => {
                !promises.is_dropped(*lba, number)
            }
            SectorContent::Write(other) => promises.is_superseded(other, Some(number)),
        };
        let gone = u64::try_from(lbas.filter(is_gone).count()).unwrap_or(u64::MAX);
        let is_promised = promises.is_promised(number);
        losses.acknowledged += 1;
        losses.promised += u64::from(is_promised);
        losses.lost += u64::from(gone == all);
        losses.torn += u64::from(gone > 0 && gone < all);
        losses.broken += u64::from(gone > 0 && is_promised);
    }
    Ok(losses)
}
