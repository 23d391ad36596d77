//! Content of a drive after a cut: one outcome, or all of them.

use super::aftermath::Aftermath;
use super::cut::{Cut, CutFault};
use super::host_log::HostLog;
use super::medium_log::MediumLog;
use super::replay::Medium;
use super::survivors::{Atom, Outcomes, atoms, chosen};

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
/// Those of [`cut`]; and when more is open than can be gone through.
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
