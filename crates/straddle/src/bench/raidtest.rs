//! `bench --raidtest`: the requests of a file, as raidtest runs them, inside the scratch file: one
//! at a time and 64 at a time. All arms of a pair do the same requests.

use std::num::NonZeroU64;
use std::path::Path;

use report::bench::{Experiment, OperationDirection, Sync, Workload, WorkloadOrder};
use units::prefix::Size;
use workload::raidtest::{RaidRequest, RequestKind, Requests};

use super::document::{self, About};
use super::paired_loop::{self, Bounds};
use super::plan::{self, PlannedArm};
use super::replay::ReplayedRequests;
use super::scratch_file::ScratchFile;
use super::session::{Results, Session};
use super::shifted;
use crate::shared::halt::Halt;
use crate::shared::printer::shown;
use crate::world::World;

/// Number of requests in flight, as the article compares them.
const DEPTHS: [u16; 2] = [1, 64];

/// Runs the file's requests at both depths.
pub(crate) fn run<W: World>(
    session: &mut Session<'_>,
    world: &W,
    ground: &ScratchFile<W::Scratch>,
    path: &Path,
    found: &mut Results,
) -> Result<(), Halt> {
    let unit = ground.place.unit;
    let step = ground.step_bytes()?;
    let requests = read(path)?;
    let longest = requests.as_slice().iter().map(|request| request.length_bytes).max().unwrap_or(0);
    // Requests have many lengths; one of a whole unit crosses wherever it is shifted to.
    let length = u64::from(longest).max(unit.length_bytes()).next_multiple_of(step.max(1));
    let arms = ground.arms(session, length)?;
    let shift_bytes = arms.iter().map(|arm| arm.shift_bytes).max().unwrap_or(0);
    let region = shifted::regions(session, ground, 1, shift_bytes)?[0];
    let unit_bytes = NonZeroU64::new(unit.length_bytes()).expect("a unit has bytes");
    let scaled = requests.scaled(region.device_bytes, unit_bytes).map_err(|error| {
        Halt::hinted(format!("cannot scale the requests: {error}"), session.longer_scratch())
    })?;
    let all = scaled.requests.as_slice();
    if scaled.moved > 0 {
        session.note(format!(
            "{} of {} requests lay behind the device's {} and were moved into it, as far off the \
             granule as before",
            scaled.moved,
            all.len(),
            Size(region.device_bytes)
        ));
    }
    let depths = DEPTHS.into_iter().filter(|depth| *depth == 1 || !session.is_busy);
    for depth in depths.collect::<Vec<_>>() {
        let starts = arms.iter().map(|arm| region.start_bytes(arm.shift_bytes)).collect();
        let replay = ReplayedRequests::new((world, ground), starts, all, depth, session.seed)?;
        let title = format!("{} requests of a file, {depth} at a time", all.len());
        found.experiments.push(compared(session, ground, &arms, replay, (&title, all, depth))?);
        if session.interrupt.is_raised() {
            return Err(Halt::Interrupted);
        }
    }
    Ok(())
}

/// The longest file of requests that is read, in bytes: two million requests.
const REQUESTS_BYTES_MAX: u64 = 64 << 20;

fn read(path: &Path) -> Result<Requests, Halt> {
    let name = shown(path);
    let hint = || {
        Some("make such a file: straddle generate raidtest --media 64M reads.raidtest".to_owned())
    };
    let bytes = host::read_input(path, REQUESTS_BYTES_MAX).map_err(|error| {
        Halt::refused(format!("cannot read the requests in {name}: {error}"), hint())
    })?;
    Requests::decode(&bytes).map_err(|error| {
        Halt::refused(format!("cannot read the requests in {name}: {error}"), hint())
    })
}

/// Compares the arms on requests at one depth.
pub(crate) fn compared<W: World>(
    session: &mut Session<'_>,
    ground: &ScratchFile<W::Scratch>,
    arms: &[PlannedArm],
    mut replay: ReplayedRequests<'_, W>,
    (title, requests, depth): (&str, &[RaidRequest], u16),
) -> Result<Experiment, Halt> {
    let plan = session.experiment(arms, plan::ALPHA);
    let bounds = Bounds { nanoseconds: session.comparison_ns(), bytes: session.bytes_left() };
    let done = paired_loop::run(session, plan, title, bounds, &mut replay)?;
    let about = About {
        title: title.to_owned(),
        unit: "block",
        block_operations: u64::try_from(replay.block).unwrap_or(u64::MAX),
        workload: workload(requests, depth),
        arms: arms.to_vec(),
        seen: replay.seen(),
        elapsed_ns: done.elapsed_ns,
        written_bytes: done.written_bytes,
        predicted: None,
        turn_ns: ground.place.drive.as_ref().and_then(|drive| drive.turn_ns),
    };
    Ok(document::experiment(about, &done.experiment, done.conclusion))
}

fn workload(requests: &[RaidRequest], depth: u16) -> Workload {
    let writes = requests.iter().filter(|request| request.kind == RequestKind::Write).count();
    let action = match writes {
        0 => OperationDirection::Read,
        _ if writes == requests.len() => OperationDirection::Write,
        _ => OperationDirection::Mixed,
    };
    let first = requests.first().map(|request| request.length_bytes);
    let is_one = requests.iter().all(|request| Some(request.length_bytes) == first);
    Workload {
        action,
        operation_bytes: first.filter(|_| is_one).map(u64::from),
        sync: Sync::None,
        sync_every: 0,
        depth: depth.into(),
        order: Some(WorkloadOrder::File),
        direct: true,
        command: Vec::new(),
    }
}
