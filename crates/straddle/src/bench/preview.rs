//! `bench --dry-run`: what would be written, for how long, and what it means.

use host::Pinned;
use report::bench::{self, DryRun, PLAN_SCHEMA};
use units::prefix::Size;

use super::announcement::{comparisons, duration, operation_bytes, possible, seconds, titles};
use super::directory_method::{self, DirectoryMethod};
use super::method_budget::MethodBudget;
use super::plan;
use super::raw;
use super::session::Session;
use crate::arguments::BenchFormat;
use crate::exit::CommandOutcome;
use crate::shared::busy::SHARE_PERCENT;
use crate::shared::halt::Halt;
use crate::shared::measure_target::{MeasureTarget, cannot};
use crate::shared::measured_bytes::MeasuredBytes;
use crate::shared::printer::shown;
use crate::shared::raw_claim;
use crate::world::World;

/// Source: `signal(7)`.
const SIGINT: i32 = 2;
/// Bytes of a device that are looked at to say what it lies on.
const LOOK_BYTES: u64 = 1 << 20;

/// Prints the plan and does nothing.
pub(super) fn run<W: World>(
    session: &mut Session<'_>,
    world: &W,
) -> anyhow::Result<CommandOutcome> {
    let printer = session.printer.clone();
    let plan = match planned(session, world) {
        Ok(plan) => plan,
        Err(Halt::Refused(refusal)) => {
            return Ok(CommandOutcome::of_refusal(&refusal, printer.refusal(&refusal)));
        }
        Err(Halt::Void(reason)) => return Ok(CommandOutcome::NoVerdict(printer.error(&reason))),
        Err(Halt::Interrupted) => {
            let signal = session.interrupt.signal().unwrap_or(SIGINT);
            return Ok(CommandOutcome::Interrupted(signal, printer.interrupted()));
        }
    };
    let text = match session.bench.printed.format() {
        BenchFormat::Table | BenchFormat::Nagios => {
            bench::dry_run_text(&plan, &printer.look(false))
        }
        BenchFormat::Json | BenchFormat::FioJson => bench::dry_run_json(&plan),
    };
    printer.print(&text)?;
    Ok(CommandOutcome::Done)
}

fn planned<W: World>(session: &mut Session<'_>, world: &W) -> Result<DryRun, Halt> {
    match directory_method::target(session.bench)? {
        MeasureTarget::Directory(directory) => in_directory(session, world, &directory),
        MeasureTarget::Device { node, number } => on_device(session, &node, number),
    }
}

fn in_directory<W: World>(
    session: &mut Session<'_>,
    world: &W,
    directory: &Pinned,
) -> Result<DryRun, Halt> {
    let way = DirectoryMethod::of(session)?;
    session.grant(way.budget(session.bench));
    let scratch_bytes = session.scratch_bytes();
    possible(session, world, &way, directory)?;
    let number = host::file_facts(&directory.path()).ok().map(|facts| facts.device);
    let place = number.map(|number| looked(session, number));
    if let Some(Err(reason)) = &place {
        session.note(reason);
    }
    let place = place.and_then(Result::ok);
    let mut experiments = way.experiments(session.bench);
    if let DirectoryMethod::Inside = way {
        experiments = titles(session, place.as_ref())?;
    }
    let mut plan = begun(session, shown(directory.given()), place.as_ref());
    plan.scratch_bytes = scratch_bytes;
    plan.written_bytes_max = session.bytes_left();
    plan.experiments = experiments;
    last_at_most(session, &mut plan);
    plan.impact.push(format!(
        "other programs on this drive are slower meanwhile; if they keep it busy, bench uses depth \
         1 and {SHARE_PERCENT} % of the time (--share)"
    ));
    plan.wear = bench::wear(plan.written_bytes_max, capacity(session, place.as_ref()));
    Ok(plan)
}

/// The way down from the device with this number, or why its granule and drive are not known.
fn looked(session: &Session<'_>, number: (u32, u32)) -> Result<MeasuredBytes, String> {
    let wanted = plan::unit_kind(session.bench.unit);
    let place = MeasuredBytes::of_device(&session.inspected, number, LOOK_BYTES, wanted);
    place.map_err(|refusal| {
        format!("granule and drive are unknown before the run: {}", refusal.message)
    })
}

fn on_device(session: &mut Session<'_>, node: &Pinned, number: (u32, u32)) -> Result<DryRun, Halt> {
    let writes = session.bench.raw.write_device;
    if writes {
        let length_bytes = session.bench.scratch.unwrap_or(MethodBudget::HEADLINE.scratch_bytes);
        raw_claim::rehearse(&session.bench.raw, node, length_bytes)?;
    }
    raw::unsupported(session)?;
    let (name, wanted) = (shown(node.given()), plan::unit_kind(session.bench.unit));
    let place = MeasuredBytes::of_device(&session.inspected, number, LOOK_BYTES, wanted);
    let place = place.map_err(|refusal| cannot(&format!("measure {name}"), refusal))?;
    let mut plan = begun(session, name, Some(&place));
    let bytes = operation_bytes(session, Some(&place));
    let works = raw::works(session, bytes, writes);
    plan.experiments = comparisons(session, &works, Some(&place))?;
    last_at_most(session, &mut plan);
    if writes {
        session.grant(MethodBudget::HEADLINE);
        plan.written_bytes_max = session.bytes_left();
        let length = Size(session.scratch_bytes());
        plan.impact.push(format!("the first {length} of the device are overwritten and lost"));
    } else {
        plan.impact.push("the device is only read".to_owned());
    }
    plan.wear = bench::wear(plan.written_bytes_max, capacity(session, Some(&place)));
    Ok(plan)
}

/// Adds for how long its experiments run.
fn last_at_most(session: &Session<'_>, plan: &mut DryRun) {
    plan.seconds_max = seconds(session, &plan.experiments);
    plan.envelope.notes.push(duration(session, &plan.experiments));
}

/// Returns what each kind of plan says.
fn begun(session: &Session<'_>, place: String, found: Option<&MeasuredBytes>) -> DryRun {
    DryRun {
        envelope: session.envelope(PLAN_SCHEMA),
        place,
        layers: found.map(|found| found.layers.clone()).unwrap_or_default(),
        granule_bytes: found.map(|found| found.unit.length_bytes()),
        granule_origin_bytes: found.map(|found| found.unit.origin_bytes()),
        granule_source: found.map(|found| found.unit_source),
        scratch_bytes: 0,
        written_bytes_max: 0,
        seconds_max: 0,
        experiments: Vec::new(),
        wear: String::new(),
        impact: Vec::new(),
    }
}

/// The drive's length in bytes; `None` when it is not known.
fn capacity(session: &Session<'_>, place: Option<&MeasuredBytes>) -> Option<u64> {
    let drive = place?.drive.as_ref()?;
    let text = session.inspected.tree().read(&format!("/sys/block/{}/size", drive.name)).ok()?;
    // Sysfs counts sectors of 512 bytes whatever the drive's are.
    text.trim().parse::<u64>().ok()?.checked_mul(512)
}
