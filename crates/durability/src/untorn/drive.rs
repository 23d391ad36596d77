//! The drive at the bottom: the command in which a page arrives, and the promise that covers it.

use std::collections::BTreeSet;

use stack::drive::KernelDrive;
use units::Known;
use units::prefix::Exact;

use super::page_layer::PageFate;
use super::promise::{self, Claim, Promise};
use super::volume::crosses;

/// The smallest page of memory: a buffer of a page of the database has at most one part for each.
const MEMORY_PAGE_BYTES: u64 = 4096;

/// Fate of pages on a drive.
pub(super) struct DriveFate {
    pub(super) fate: PageFate,
    pub(super) reason: String,
    pub(super) source: Option<&'static str>,
    /// True if pages would stay whole at the multiples of a page, and are not there.
    pub(super) is_misplaced: bool,
}

/// Fate of pages of `page` bytes that start `shifts` past the multiples of a page on `drive`.
pub(super) fn fate(
    drive: &KernelDrive,
    page: u64,
    shifts: &BTreeSet<u64>,
    kernel: Option<(u32, u32)>,
) -> DriveFate {
    let there = fate_at(drive, page, shifts, kernel);
    let best = fate_at(drive, page, &BTreeSet::from([0]), kernel);
    match (there.fate, best.fate) {
        (PageFate::Torn, PageFate::Whole) => DriveFate { is_misplaced: true, ..best },
        _ => there,
    }
}

fn fate_at(
    drive: &KernelDrive,
    page: u64,
    shifts: &BTreeSet<u64>,
    kernel: Option<(u32, u32)>,
) -> DriveFate {
    let no = |(fate, reason)| DriveFate { fate, reason, source: None, is_misplaced: false };
    if let Err(fault) = arrives(drive, page, shifts) {
        return no(fault);
    }
    let claims = promise::claims(drive, page, kernel).into_iter();
    let mut faults = Vec::new();
    for claim in claims {
        let kept = claim.and_then(|promise| covers(drive, promise, page, shifts));
        match kept {
            Ok(promise) => {
                let (by, most) = (promise.by, Exact(promise.longest_bytes));
                return DriveFate {
                    fate: PageFate::Whole,
                    reason: format!("keeps writes of up to {most} whole ({by})"),
                    source: Some(promise.source),
                    is_misplaced: false,
                };
            }
            Err(fault) => faults.push(fault),
        }
    }
    // What nobody told outranks what one rule does not cover: another rule might.
    let unknown = faults.iter().position(|(fate, _)| *fate == PageFate::Unknown).unwrap_or(0);
    match faults.is_empty() {
        true => no((PageFate::Unknown, "does not promise whole writes".to_owned())),
        false => no(faults.swap_remove(unknown)),
    }
}

type Fault = (PageFate, String);

fn told(known: &Known<u64>) -> Result<u64, Fault> {
    known
        .value()
        .copied()
        .ok_or_else(|| (PageFate::Unknown, known.reason().unwrap_or("it is not known").to_owned()))
}

/// Checks that the kernel sends a page as one command.
fn arrives(drive: &KernelDrive, page: u64, shifts: &BTreeSet<u64>) -> Result<(), Fault> {
    if drive.backing_file.is_some() || !drive.slaves.is_empty() {
        return Err((PageFate::Unknown, "does not promise whole writes".to_owned()));
    }
    let torn = |reason: String| Err((PageFate::Torn, reason));
    let most = told(&drive.queue.command_bytes)?;
    if most < page {
        return torn(format!("writes above {} are split (queue/max_sectors_kb)", Exact(most)));
    }
    let segments = told(&drive.queue.segments)?;
    if segments < page.div_ceil(MEMORY_PAGE_BYTES) {
        return torn(format!(
            "commands of above {segments} segments are split (queue/max_segments)"
        ));
    }
    let logical = told(&drive.logical_bytes)?;
    if logical == 0 || !page.is_multiple_of(logical) {
        let reason = format!("a page is not a multiple of the sector that it reports, {logical} B");
        return Err((PageFate::Unknown, reason));
    }
    let every = told(&drive.zone_bytes)?;
    if every > 0 && shifts.iter().any(|&shift| crosses(page, shift, every, 0)) {
        let every = Exact(every);
        return torn(format!("writes are split at multiples of {every} (queue/chunk_sectors)"));
    }
    Ok(())
}

/// Checks that `promise` covers the commands of pages.
fn covers(drive: &KernelDrive, promise: Promise, page: u64, shifts: &BTreeSet<u64>) -> Claim {
    let (by, longest) = (promise.by, Exact(promise.longest_bytes));
    if shifts.is_empty() {
        return Err((PageFate::Unknown, "no page is known to be on it".to_owned()));
    }
    if !shifts.iter().all(|&shift| promise.keeps(page, shift)) {
        let reason = match promise.longest_bytes {
            0 => format!("no write is promised to stay whole ({by})"),
            most if most < page => format!("only writes of up to {longest} stay whole ({by})"),
            _ => format!("a page may cross a boundary inside which writes stay whole ({by})"),
        };
        return Err((PageFate::Torn, reason));
    }
    if promise.allows_merges {
        return Ok(promise);
    }
    let most = told(&drive.queue.command_bytes)?;
    // Two pages do not fit in a command, or no two are merged, or all lengths are kept.
    if most / 2 < page || promise.keeps_all(most) {
        return Ok(promise);
    }
    // Behind NVMe multipath each path merges by its own setting.
    if !drive.paths.is_empty() {
        let reason = "it is not known if the paths below it merge pages into longer commands";
        return Err((PageFate::Unknown, reason.to_owned()));
    }
    if told(&drive.queue.no_merges)? == 2 {
        return Ok(promise);
    }
    let name = &drive.name;
    let reason = format!(
        "the kernel may merge pages into commands of up to {}, which may be torn; prevent that \
         with: echo 2 > /sys/block/{name}/queue/nomerges",
        Exact(most)
    );
    Err((PageFate::Torn, reason))
}
