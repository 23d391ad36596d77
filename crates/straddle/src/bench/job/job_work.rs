//! Work of a fio job, in this program's words.

use device::{Durability, SyncKind};
use units::random::Random;
use workload::raidtest::{RaidRequest, RequestKind};
use workload::{Job, job};

use super::requirements::{depth, name};
use crate::bench::session::Session;
use crate::bench::work::ArmWork;
use crate::shared::halt::Halt;

/// Writes to a page cache between two times that they are written out, at depth 1.
const BUFFERED_WRITES: u32 = 32;

/// The work of a job that only reads or only writes.
///
/// # Errors
/// When it cannot be done here.
pub(super) fn work(session: &mut Session<'_>, job: &Job) -> Result<ArmWork, Halt> {
    let name = name(job);
    let read = !job.writes();
    if read && !job.direct {
        let message = format!(
            "cannot run job {name}: it reads through the page cache, which answers instead of the \
             drive"
        );
        return Err(Halt::hinted(message, "bypass the page cache: --set direct=1".to_owned()));
    }
    let Ok(operation_bytes) = u32::try_from(job.operation_bytes) else {
        return Err(Halt::refused(
            format!("cannot run job {name}: its operations are longer than 4 GiB"),
            None,
        ));
    };
    let every = |kind, every: Option<std::num::NonZeroU32>| Some((kind, every?.get()));
    let (all, data) =
        (every(SyncKind::All, job.fsync_every), every(SyncKind::Data, job.fdatasync_every));
    if all.is_some() && data.is_some() {
        session.note(format!("job {name}: fsync is done, fdatasync is left out"));
    }
    let flag = match job.durability {
        job::Durability::None => Durability::Cached,
        job::Durability::Dsync => Durability::Data,
        job::Durability::Sync => Durability::All,
    };
    let asked = all.or(data).filter(|_| !read);
    let is_cached = !read && !job.direct && asked.is_none() && flag == Durability::Cached;
    if is_cached {
        session.note(format!(
            "job {name}: data in the page cache is written out after each group of writes; the \
             times include that"
        ));
    }
    let written_out = if job.total_depth() == 1 { BUFFERED_WRITES } else { u32::MAX };
    Ok(ArmWork {
        read,
        sync: asked.or(is_cached.then_some((SyncKind::Data, written_out))),
        durability: if read { Durability::Cached } else { flag },
        depth: depth(job)?,
        operation_bytes,
        in_order: job.order != job::JobOrder::Random,
        direct: job.direct,
    })
}

/// `count` operations of a job that mixes reads and writes, on a device of `device_bytes`.
pub(super) fn drawn(
    session: &Session<'_>,
    job: &Job,
    device_bytes: u64,
    count: usize,
) -> Result<Vec<RaidRequest>, Halt> {
    let wrong = |what: &str| {
        let hint = Some(session.longer_scratch());
        Halt::refused(format!("cannot run job {}: its device has no room: {what}", name(job)), hint)
    };
    let length_bytes =
        u32::try_from(job.operation_bytes).map_err(|_| wrong("an operation above 4 GiB"))?;
    let start = job.offset_bytes(device_bytes).min(device_bytes);
    let length = job.size.map_or(device_bytes - start, |size| size.of(device_bytes));
    let length = length.min(device_bytes - start);
    let is_random = job.order == job::JobOrder::Random;
    let step = if is_random { job.align_bytes } else { job.operation_bytes }.max(1);
    let places = length.saturating_sub(job.operation_bytes).div_euclid(step) + 1;
    if length < job.operation_bytes {
        return Err(wrong("it is shorter than an operation"));
    }
    let read_percent = match job.action {
        job::JobDirection::Read => 100,
        job::JobDirection::Write => 0,
        job::JobDirection::Mixed { read_percent } => read_percent,
    };
    let mut random = Random::new(job.seed.unwrap_or(session.seed));
    let mut request = |number: u64| {
        let place = if is_random { random.below(places) } else { number % places };
        let write = random.below(100) >= u64::from(read_percent);
        let kind = if write { RequestKind::Write } else { RequestKind::Read };
        RaidRequest { kind, offset_bytes: start + place * step, length_bytes }
    };
    Ok((0..).take(count).map(&mut request).collect())
}
