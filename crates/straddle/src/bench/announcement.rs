//! Announcement of what is going to be written, and for how long; what cannot be is refused first.

use host::Pinned;
use measure::Role;
use units::prefix::Size;

use super::directory_method::DirectoryMethod;
use super::plan;
use super::scratch_file;
use super::session::Session;
use super::work::ArmWork;
use crate::shared::halt::{Halt, no_file};
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::shown;
use crate::world::World;

/// For how long making ready may take beside the comparisons, in seconds.
const READY_SECONDS: u64 = 5;

/// Refuses a scratch file that cannot be made, or in which nothing can be shifted, as far as that
/// is known without writing.
pub(super) fn possible<W: World>(
    session: &Session<'_>,
    world: &W,
    way: &DirectoryMethod,
    directory: &Pinned,
) -> Result<(), Halt> {
    session.afford(session.scratch_bytes(), "the scratch file")?;
    let plan = session.scratch_plan();
    let filesystem = world.possible(directory, plan).map_err(|error| no_file(&error))?;
    // File systems of the suite lie on whole devices, each aligned or not as a whole.
    if !matches!(way, DirectoryMethod::Suite(_)) {
        scratch_file::shiftable(&filesystem, &shown(directory.given()))?;
    }
    Ok(())
}

/// Says on standard error what is going to be written in `directory`, before it is.
pub(super) fn announce<W: World>(
    session: &Session<'_>,
    world: &W,
    way: &DirectoryMethod,
    directory: &Pinned,
) -> Result<(), Halt> {
    possible(session, world, way, directory)?;
    let titles = match way {
        DirectoryMethod::Inside => titles(session, None)?,
        other => other.experiments(session.bench),
    };
    session.printer.note(&format!(
        "writes at most {} in {}; {}",
        Size(session.bytes_left()),
        shown(directory.given()),
        duration(session, &titles)
    ));
    Ok(())
}

/// Says on standard error what of a device is going to be overwritten, before it is.
pub(super) fn announce_device(session: &Session<'_>, name: &str, bytes: u64, titles: &[String]) {
    session.printer.note(&format!(
        "overwrites the first {} of {name}; {}",
        Size(bytes),
        duration(session, titles)
    ));
}

/// The comparisons inside the scratch file.
///
/// # Errors
/// When no shift that was asked for can be compared.
pub(super) fn titles(
    session: &Session<'_>,
    place: Option<&MeasuredBytes>,
) -> Result<Vec<String>, Halt> {
    let works = ArmWork::all(session.bench, operation_bytes(session, place));
    Ok(comparisons(session, &works, place)?)
}

/// One title for each workload and shift.
///
/// # Errors
/// When no shift that was asked for can be compared.
pub(super) fn comparisons(
    session: &Session<'_>,
    works: &[ArmWork],
    place: Option<&MeasuredBytes>,
) -> Result<Vec<String>, String> {
    let (bench, bytes) = (session.bench, operation_bytes(session, place));
    let shifts: Vec<String> = match place {
        Some(place) => {
            let step = place.logical_sector_bytes.unwrap_or(512);
            let arms = plan::arms(&bench.shift, bench.full, step, bytes.into(), place.unit)?;
            let judged = arms.into_iter().filter(|arm| arm.role == Role::Shifted);
            judged.map(|arm| arm.name).collect()
        }
        None if bench.shift.is_empty() && bench.full => {
            ["shifted by a sector", "shifted by half a unit"].map(str::to_owned).to_vec()
        }
        None if bench.shift.is_empty() => vec!["shifted by a sector".to_owned()],
        None => bench.shift.iter().map(|&bytes| format!("shifted {}", Size(bytes))).collect(),
    };
    let titled = |work: &ArmWork| {
        let title = work.title();
        shifts.iter().map(move |shift| format!("{title}, {shift}")).collect::<Vec<_>>()
    };
    Ok(works.iter().flat_map(titled).collect())
}

/// Returns how long an operation would be, in bytes.
pub(super) fn operation_bytes(session: &Session<'_>, place: Option<&MeasuredBytes>) -> u32 {
    let told = session.bench.size;
    match place {
        Some(place) => plan::operation_bytes(told, place.unit).unwrap_or(4096),
        None => told.and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(4096),
    }
}

/// Returns for how long so many comparisons run, and how that is made up.
pub(super) fn duration(session: &Session<'_>, experiments: &[String]) -> String {
    let all = seconds(session, experiments);
    let measured = all.saturating_sub(READY_SECONDS);
    format!("takes at most {all} s: {measured} s to measure, {READY_SECONDS} s to prepare")
}

/// Returns the most seconds that so many comparisons take, with making ready.
pub(super) fn seconds(session: &Session<'_>, experiments: &[String]) -> u64 {
    let each = session.comparison_ns().div_ceil(1_000_000_000);
    let many = u64::try_from(experiments.len()).unwrap_or(u64::MAX);
    each.saturating_mul(many).saturating_add(READY_SECONDS)
}
