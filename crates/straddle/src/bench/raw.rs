//! A raw device: reading by default. Writing only where `--write-device` says so, `--confirm` names
//! the device, nothing on it was recognized, and the exclusive claim is held.

use std::os::fd::OwnedFd;

use host::claim::Claim;
use host::engine::{Access, open_pinned};
use host::{FileDisk, Pinned};
use report::Refusal;
use report::bench::ScratchFacts;
use units::prefix::Size;

use super::in_scratch_file::each;
use super::method_budget::MethodBudget;
use super::plan;
use super::session::{Results, Session};
use super::work::ArmWork;
use super::{announcement, document};
use crate::shared::halt::Halt;
use crate::shared::measure_target::cannot;
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::shown;
use crate::shared::raw_claim::claimed;
use crate::world::World;

/// Most bytes of a device that are read: enough that no cache holds it.
const READ_BYTES: u64 = 16 << 30;

/// Compares reads of a device, or writes to it.
pub(crate) fn run<W: World>(
    session: &mut Session<'_>,
    world: &W,
    (node, number): (&Pinned, (u32, u32)),
    found: &mut Results,
) -> Result<(), Halt> {
    let bench = session.bench;
    let name = shown(node.given());
    unsupported(session)?;
    let most = if bench.raw.write_device {
        bench.scratch.unwrap_or(MethodBudget::HEADLINE.scratch_bytes)
    } else {
        READ_BYTES
    };
    let wanted = plan::unit_kind(bench.unit);
    let claim = match bench.raw.write_device {
        true => Some(claimed(&bench.raw, node, most)?),
        false => None,
    };
    let device_bytes = match &claim {
        Some(claim) => claim.length_bytes(),
        None => device::Disk::length_bytes(&FileDisk::of(node)?),
    };
    let length_bytes = device_bytes.min(most);
    let place = MeasuredBytes::of_device(&session.inspected, number, length_bytes, wanted);
    let place = place.map_err(|refusal| cannot(&format!("measure {name}"), refusal))?;
    session.measures(&place);
    found.target = document::target(name.clone(), Some(&place));
    if claim.is_some() {
        found.scratch = Some(ScratchFacts {
            place: format!("{name}, its first {}", Size(length_bytes)),
            length_bytes,
            pieces: u64::try_from(place.runs.len()).unwrap_or(u64::MAX),
            drive_address_bytes: place.first_address_bytes(),
            prepared_ns: 0,
            written_bytes: 0,
        });
    } else if length_bytes < device_bytes {
        session.note(format!("reads only the first {} of {name}", Size(length_bytes)));
    }
    found.target.others_bytes_per_second = session.yield_to_others(world, &place);
    let size = plan::operation_bytes(bench.size, place.unit)?;
    let step = place.logical_sector_bytes.unwrap_or(512);
    let arms = plan::arms(&bench.shift, bench.full, step, u64::from(size), place.unit)?;
    let works = works(session, size, claim.is_some());
    if claim.is_some() {
        let titles = announcement::comparisons(session, &works, Some(&place))?;
        announcement::announce_device(session, &name, length_bytes, &titles);
    }
    each(session, world, &works, &arms, found, |_| {
        let file = world.adopted(opened(node, claim.as_ref())?);
        Ok((file, &place, Box::new(|| None)))
    })
}

/// Returns what a raw device is not asked for.
pub(super) fn unsupported(session: &Session<'_>) -> Result<(), Refusal> {
    let bench = session.bench;
    let on_devices =
        bench.job.is_some() || bench.suite || bench.raidtest.is_some() || !bench.command.is_empty();
    if on_devices {
        let message = "cannot run that on a raw device: jobs, requests, suites and commands need a \
                       scratch file";
        let hint = "name a directory on the drive: straddle bench DIRECTORY";
        return Err(Refusal::hinted(message, hint));
    }
    Ok(())
}

/// The workloads: reads, unless the device is claimed for writing.
pub(crate) fn works(session: &Session<'_>, size: u32, writes: bool) -> Vec<ArmWork> {
    let all = ArmWork::all(session.bench, size);
    if writes {
        return all;
    }
    if session.bench.full {
        return all.into_iter().filter(|work| work.read).collect();
    }
    all.into_iter().map(ArmWork::as_reads).collect()
}

fn opened(node: &Pinned, claim: Option<&Claim>) -> Result<OwnedFd, Halt> {
    match claim {
        Some(claim) => claim.try_clone().map_err(|error| {
            Halt::refused(
                format!("cannot open the claimed device {} again: {error}", shown(node.given())),
                None,
            )
        }),
        None => open_pinned(node, Access::Read, true).map_err(Halt::from),
    }
}
