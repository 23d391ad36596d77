//! Content of a drive after a cut.

use super::aftermath::Aftermath;
use super::cut::{Cut, CutFault};
use super::host_log::HostLog;
use super::medium_log::MediumLog;
use super::replay::Medium;
use super::survivors::{Atom, atoms, chosen};

/// Returns what the drive holds after the cut.
///
/// Time and memory: in proportion to the sectors written until then.
///
/// # Errors
/// When a log is full, or the logs do not belong together.
pub fn cut(host: &HostLog, medium: &MediumLog, cut: &Cut) -> Result<Aftermath, CutFault> {
    let (mut at, atoms) = open(host, medium, cut)?;
    let chosen = chosen(&atoms, cut.survivors);
    for (atom, _) in atoms.iter().zip(chosen).filter(|(_, is_chosen)| *is_chosen) {
        for (lba, held) in atom.patch(&at) {
            at.set(lba, held);
        }
    }
    Ok(Aftermath::new(cut.at_ns, at.held()))
}

/// Returns how many parts of writes no promise covers: [`super::Survivors::Chosen`] chooses among
/// those.
///
/// # Errors
/// Those of [`cut`].
pub fn open_parts(host: &HostLog, medium: &MediumLog, cut: &Cut) -> Result<usize, CutFault> {
    Ok(open(host, medium, cut)?.1.len())
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
    let at = Medium::at(host, medium, cut)?;
    let atoms = atoms(host, medium, cut, &at);
    Ok((at, atoms))
}
