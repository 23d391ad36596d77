//! Workload that is done on each drive: what the command line says, a job file, or a trace.

use std::cell::RefCell;

use anyhow::{anyhow, bail};
use drive::run::{
    AccessOrder, DriveJob, FioStream, OperationSource, OperationStream, Paced, Region, TraceReplay,
    streams,
};
use units::prefix::Size;
use units::text::escape;
use workload::job::JobPace;

use super::layer_workload::{Descent, LayerBytes, LayerWorkload};
use super::recorded_trace::RecordedTrace;
use crate::arguments::Simulate;
use crate::shared::job_file;

/// Workload that is done on each drive.
pub(super) struct Workload {
    /// It in words.
    pub(super) title: String,
    /// Notes on it that a reader should know.
    pub(super) notes: Vec<String>,
    what: What,
}

/// Place where its operations come from.
enum What {
    /// From the command line.
    Told,
    /// From a job file.
    Jobs(Vec<workload::Job>),
    /// From a trace.
    RecordedTrace(Box<RecordedTrace>),
}

impl Workload {
    /// Returns what is asked for, of which files are read.
    ///
    /// # Errors
    /// When a job file or a trace cannot be read.
    pub(super) fn of(asked: &Simulate) -> anyhow::Result<Workload> {
        if let Some(path) = &asked.job {
            let file = job_file::read(path, &[]).map_err(|refusal| {
                let hint = refusal.hint.map(|hint| format!("\nhint: {hint}"));
                anyhow!("{}{}", refusal.message, hint.unwrap_or_default())
            })?;
            let titles: Vec<String> = file.jobs.iter().map(workload::Job::title).collect();
            let remarks = file.remarks.iter().map(|remark| escape(remark.to_string().as_bytes()));
            let waits = file.jobs.iter().skip(1).filter(|job| job.stonewall).map(|job| {
                let name = escape(job.name.as_bytes());
                format!("stonewall of {name} is not kept: all jobs run at once here")
            });
            let notes = remarks.chain(waits);
            return Ok(Workload {
                title: titles.join("; "),
                notes: notes.collect(),
                what: What::Jobs(file.jobs),
            });
        }
        if let Some(path) = &asked.trace {
            let recorded = RecordedTrace::of(path)?;
            let most = asked.operations();
            let (title, mut notes) = (recorded.title(most), recorded.notes.clone());
            if recorded.operations > most {
                notes.push(format!("--operations {} replays all", recorded.operations));
            }
            notes.push(match (asked.rate, asked.recorded_times) {
                (Some(_), _) | (None, true) => format!(
                    "open loop: operations arrive whatever the drive does, at most {} in flight; a \
                     time includes the wait for that",
                    asked.depth
                ),
                (None, false) => format!(
                    "closed loop: {} of the trace's operations in flight, each as soon as the \
                     drive is done; the trace's own times are not kept",
                    asked.depth
                ),
            });
            return Ok(Workload { title, notes, what: What::RecordedTrace(Box::new(recorded)) });
        }
        let size = Size(asked.size);
        let order = if asked.random { "at random places" } else { "in order" };
        let (what, sync) = match (asked.read, asked.no_sync) {
            (true, _) => ("reads", ""),
            (false, true) => ("writes", ", without a flush"),
            (false, false) => ("writes", ", a flush after each"),
        };
        let title = format!("{size} {what} {order}{sync}, depth {}", asked.depth);
        Ok(Workload { title, notes: Vec::new(), what: What::Told })
    }

    /// Returns the address from which operations are multiples of a granule away: the start of the
    /// workload, and for a trace the address as far after it as more than half of the operations
    /// are after a multiple.
    pub(super) fn begins(&self, asked: &Simulate) -> u64 {
        match &self.what {
            What::RecordedTrace(recorded) => asked.start.saturating_add(recorded.behind_bytes),
            What::Told | What::Jobs(_) => asked.start,
        }
    }

    /// Returns whether its operations come at times of their own, or with rests.
    pub(super) fn is_paced(&self, asked: &Simulate) -> bool {
        let is_job_paced = match &self.what {
            What::Jobs(jobs) => jobs.iter().any(|job| job.pace != JobPace::default()),
            What::Told | What::RecordedTrace(_) => false,
        };
        is_job_paced || asked.rate.is_some() || asked.recorded_times
    }

    /// Returns whether it may write: an array that is rebuilt writes by itself.
    pub(super) fn may_write(&self, asked: &Simulate) -> bool {
        !(asked.read && matches!(self.what, What::Told))
    }

    /// Returns whether it may have flushes.
    pub(super) fn may_flush(&self, asked: &Simulate) -> bool {
        match self.what {
            What::Told => !asked.read && !asked.no_sync,
            What::Jobs(_) | What::RecordedTrace(_) => true,
        }
    }

    /// That some of its operations are no whole sectors of `sector_bytes` and are made so, on a
    /// drive called `drive`; of a trace only: others are refused.
    pub(super) fn widened(&self, sector_bytes: u64, drive: &str) -> Option<String> {
        let What::RecordedTrace(recorded) = &self.what else { return None };
        (!recorded.bits.is_multiple_of(sector_bytes)).then(|| {
            format!(
                "operations of the trace that are no whole sectors of {sector_bytes} bytes are \
                 made wider on {drive}, without the reads that a page cache would add"
            )
        })
    }

    /// Returns what a job file or the command line does, each with the name of its job, on `place`
    /// of a drive whose sectors are of
    /// `sector_bytes`.
    fn streams(
        &self,
        place: Region,
        sector_bytes: u64,
        asked: &Simulate,
    ) -> anyhow::Result<Vec<(String, FioStream)>> {
        let What::Jobs(jobs) = &self.what else {
            let plain = match asked.read {
                true => OperationStream::reads(place, asked.size),
                false => OperationStream::writes(place, asked.size),
            };
            let flushed = if asked.read || asked.no_sync { plain } else { plain.flushed() };
            let stream = if asked.random { flushed.at_random(asked.seed) } else { flushed };
            let pace = JobPace::default();
            return Ok(vec![(String::new(), FioStream { stream, lanes: asked.depth, pace })]);
        };
        let mut all = Vec::new();
        for job in jobs {
            let name = escape(job.name.as_bytes());
            let clones = streams(job, place, asked.seed).map_err(|fault| {
                anyhow!("cannot simulate {name}: {fault}\nhint: {}", fault.hint())
            })?;
            if let Some(what) = clones.iter().find_map(|one| odd(&one.stream, sector_bytes)) {
                bail!(
                    "cannot simulate {name}: operations {what} are not whole logical sectors\n\
                     hint: take multiples of {sector_bytes} for bs, ba and offset"
                );
            }
            all.extend(clones.into_iter().map(|clone| (name.to_string(), clone)));
        }
        Ok(all)
    }

    /// It on `place` of a drive called `drive`, whose sectors are of `sector_bytes`.
    ///
    /// # Errors
    /// When the place is too short for it, or its operations are no whole sectors.
    pub(super) fn programs<'a>(
        &'a self,
        place: Region,
        sector_bytes: u64,
        drive: &str,
        asked: &Simulate,
    ) -> anyhow::Result<Vec<Program<'a>>> {
        let What::RecordedTrace(recorded) = &self.what else {
            let program = |(name, FioStream { stream, lanes, pace })| Program {
                name,
                source: match asked.rate {
                    Some(rate) => Box::new(Paced::at_rate(stream, rate)),
                    None if pace == JobPace::default() => {
                        Box::new(stream) as Box<dyn OperationSource>
                    }
                    None => Box::new(Paced::new(stream, pace)),
                },
                lanes,
                has_barriers: false,
            };
            return Ok(self
                .streams(place, sector_bytes, asked)?
                .into_iter()
                .map(program)
                .collect());
        };
        let need = recorded.layout.bytes();
        if need > place.length_bytes {
            let hint = match asked.stack.is_empty() {
                true => "simulate a larger drive: --set capacity=4T",
                false => "choose a longer layer with --layer, or leave out --stack",
            };
            bail!(
                "cannot replay on {drive}: the trace reaches {}, and the place is {} long\nhint: \
                 {hint}",
                Size(need),
                Size(place.length_bytes)
            );
        }
        let (entries, layout) = (recorded.entries()?, &recorded.layout);
        let replay = TraceReplay::new(entries, layout, place.start_bytes, sector_bytes);
        let source: Box<dyn OperationSource> = match (asked.rate, asked.recorded_times) {
            (Some(rate), _) => Box::new(Paced::at_rate(replay, rate)),
            (None, true) => Box::new(replay.timed()),
            (None, false) => Box::new(replay),
        };
        let name = String::new();
        Ok(vec![Program { name, source, lanes: asked.depth, has_barriers: true }])
    }
}

/// Describes the operations of `stream` that are no whole sectors, if any are.
fn odd(stream: &OperationStream, sector_bytes: u64) -> Option<String> {
    let is_whole = |bytes: u64| bytes.is_multiple_of(sector_bytes);
    let OperationStream { region: Region { start_bytes, .. }, bytes, order, .. } = stream;
    if !is_whole(*bytes) || !is_whole(*start_bytes) {
        return Some(format!("of {bytes} bytes from {start_bytes} on"));
    }
    match order {
        AccessOrder::Random { align_bytes, .. } if !is_whole(*align_bytes) => {
            Some(format!("at multiples of {align_bytes} bytes"))
        }
        AccessOrder::Random { .. } | AccessOrder::Sequential => None,
    }
}

/// A program of a workload.
pub(super) struct Program<'a> {
    /// Job of the file that it is of; clones have one name.
    pub(super) name: String,
    source: Box<dyn OperationSource + 'a>,
    lanes: u16,
    has_barriers: bool,
}

impl<'a> Program<'a> {
    /// It in a layer, without what falls into holes.
    pub(super) fn laid(self, depth: LayerBytes<'a>, way: &'a RefCell<Descent>) -> Program<'a> {
        let source = Box::new(LayerWorkload { inner: self.source, depth, way });
        Program { source, ..self }
    }

    /// It as a host runs it.
    pub(super) fn job(&mut self) -> DriveJob<'_> {
        let Program { source, lanes, has_barriers, .. } = self;
        DriveJob { source: &mut **source, lanes: *lanes, has_barriers: *has_barriers }
    }
}
