//! Judges if an engine's protection against torn pages may be switched off.
//!
//! Fails closed: what is not reported is not yes. A page stays whole where the engine writes it
//! with one call past the page cache, the file system has one place for it, no layer between cuts
//! it, the kernel sends it as one command, and the drive's own rule covers that command.
//!
//! | file | holds |
//! |---|---|
//! | `engine` | engines, their pages and settings, how they write |
//! | `data_file` | extents of a data file against the page |
//! | `file_system` | unit of allocation against the page |
//! | `volume` | partitions, volumes, arrays: what cuts a page |
//! | `promise` | the drive's rules: NVMe, Amazon's fields, a provider's word |
//! | `drive` | the command in which a page arrives, against these rules |
//! | `live` | writes that a running server issued |
//! | `page_layer` | the possible answers, and a line for each layer |
//! | `verdict` | the answer that follows from the lines |

mod data_file;
mod drive;
mod engine;
mod file_system;
mod live;
mod page_layer;
mod promise;
mod verdict;
mod volume;

use std::collections::BTreeSet;

use format::ProblemKind;
use stack::placement::{self, Obstacle};
use stack::{LayerId, LayerKind, Mapping, Stack};
use units::ByteRange;
use units::prefix::Exact;

pub use data_file::DataFile;
pub use engine::PageEngine;
pub use live::{LiveTally, LiveWrites, OffPageWriter};
pub use page_layer::{GuardSetting, GuardState, PageFate, PageLayer, PageRole, UntornAnswer};
pub use verdict::UntornVerdict;

/// Evidence for a verdict.
#[derive(Clone, Copy, Debug)]
pub struct UntornQuestion<'a> {
    /// The stack under the data files.
    pub stack: &'a Stack,
    /// The engine.
    pub engine: PageEngine,
    /// Its data files.
    pub files: &'a [DataFile],
    /// Major and minor version of the kernel.
    pub kernel: Option<(u32, u32)>,
    /// Why some data files are missing from `files`, if so.
    pub unseen: Option<&'a str>,
    /// Writes that were seen while the server ran, or why none could be; `None` where nobody asked.
    pub live: Option<&'a Result<LiveWrites, String>>,
}

/// Returns if the engine's protection against torn pages may be switched off. Where files have
/// pages of several lengths, the worst of them decides.
#[must_use]
pub fn judge(question: &UntornQuestion<'_>) -> UntornVerdict {
    let pages: BTreeSet<u64> = question.files.iter().map(|file| file.page_bytes).collect();
    let pages = if pages.is_empty() {
        BTreeSet::from([question.engine.default_page_bytes()])
    } else {
        pages
    };
    let verdicts = pages
        .into_iter()
        .map(|page| UntornVerdict::of(question.engine, page, PageCase { question, page }.lines()));
    // The last of equals: the largest page.
    let worst = verdicts.max_by_key(|verdict| verdict.answer).expect("there is at least one page");
    let live = question.live.and_then(|live| live.as_ref().ok().cloned());
    UntornVerdict { live, ..worst }
}

/// One page length.
struct PageCase<'a> {
    question: &'a UntornQuestion<'a>,
    page: u64,
}

impl PageCase<'_> {
    fn lines(&self) -> Vec<PageLayer> {
        let files = || self.question.files.iter().filter(|file| file.page_bytes == self.page);
        let systems: BTreeSet<LayerId> = files().filter_map(|file| file.system).collect();
        let stack = self.question.stack;
        let name = systems.first().map_or("", |&id| stack.layer(id).name.as_str());
        let mut lines = vec![self.question.engine.line(self.page, name), self.files()];
        for system in systems {
            let own = files().filter(|file| file.system == Some(system));
            // Pages that are placed later start at multiples of the file system's unit.
            let shifts = own.flat_map(DataFile::shifts).chain([0]).collect();
            lines.extend(self.system(system, &shifts));
        }
        lines.extend(self.question.live.map(live::line));
        lines
    }

    fn files(&self) -> PageLayer {
        let files: Vec<&DataFile> =
            self.question.files.iter().filter(|file| file.page_bytes == self.page).collect();
        let name = match files.as_slice() {
            [] => "data files".to_owned(),
            [one] => one.name.clone(),
            many => format!("{} data files", many.len()),
        };
        let mut faults: Vec<(PageFate, String)> =
            files.iter().filter_map(|file| file.fault()).collect();
        let unplaced = files.iter().find(|file| file.system.is_none());
        faults.extend(unplaced.map(|file| {
            (PageFate::Unknown, format!("the address space of {} is not known", file.name))
        }));
        faults.extend(self.question.unseen.map(|why| (PageFate::Unknown, why.to_owned())));
        if files.is_empty() {
            faults.push((PageFate::Unknown, "no data file was read".to_owned()));
        }
        let whole = (PageFate::Whole, "every page is in one extent".to_owned());
        let worst = faults.into_iter().rev().max_by_key(|(fate, _)| *fate);
        PageLayer::new(PageRole::Files, name, worst.unwrap_or(whole))
    }

    /// Lines of a file system and of all below it, the drives last.
    fn system(&self, system: LayerId, shifts: &BTreeSet<u64>) -> Vec<PageLayer> {
        let stack = self.question.stack;
        let layer = stack.layer(system);
        let mut own = file_system::fate(&layer.kind, self.page);
        if !matches!(layer.kind, LayerKind::FileSystem(_)) {
            own.1 = unreadable(stack, system).unwrap_or(own.1);
        }
        let own = self.with_rwf_atomic(system, own);
        let mut lines = vec![PageLayer::new(PageRole::FileSystem, &layer.name, own)];
        let mut below = stack.under(system);
        below.sort_unstable_by_key(|&id| std::cmp::Reverse(id));
        let mut blamed: Vec<(LayerId, String)> = Vec::new();
        let mut drives = Vec::new();
        let mut between = Vec::new();
        for id in below.into_iter().filter(|&id| id != system) {
            let layer = stack.layer(id);
            let there = self.shifts(system, id, shifts);
            if !matches!(layer.mapping, Mapping::Leaf) {
                let fate = match &there {
                    Ok(there) => volume::fate(layer, self.page, there),
                    Err(_) => volume::fate(layer, self.page, &BTreeSet::new()),
                };
                between.push((id, PageLayer::new(PageRole::Volume, &layer.name, fate)));
                continue;
            }
            let fate = match (&layer.kind, there) {
                (LayerKind::Drive(drive), Ok(there)) => {
                    let found = drive::fate(drive, self.page, &there, self.question.kernel);
                    if found.is_misplaced {
                        blamed.extend(self.misplaced(system, id));
                    }
                    found
                }
                (LayerKind::Drive(_), Err(reason)) => unknown(reason),
                _ => unknown("does not promise whole writes".to_owned()),
            };
            let line = PageLayer::new(PageRole::Drive, &layer.name, (fate.fate, fate.reason));
            drives.push(PageLayer { source: fate.source.map(str::to_owned), ..line });
        }
        for (id, mut line) in between {
            if let Some((_, reason)) = blamed.iter().find(|(blamed, _)| *blamed == id) {
                (line.fate, line.reason) = (PageFate::Torn, reason.clone());
            }
            lines.push(line);
        }
        if let Some((_, reason)) = blamed.iter().find(|(blamed, _)| *blamed == system) {
            (lines[0].fate, lines[0].reason) = (PageFate::Torn, reason.clone());
        }
        lines.extend(drives);
        let engine = self.question.engine.line(self.page, &layer.name);
        let is_else_whole =
            lines[1..].iter().chain([&engine]).all(|line| line.fate == PageFate::Whole);
        if lines[0].fate == PageFate::Torn
            && is_else_whole
            && let Some(remedy) = file_system::remedy(&layer.kind, self.page)
        {
            lines[0].reason += &format!("; {remedy}");
        }
        lines
    }

    /// Adds the answer of statx about RWF_ATOMIC to a reason, which no engine here requests.
    fn with_rwf_atomic(
        &self,
        system: LayerId,
        (fate, reason): (PageFate, String),
    ) -> (PageFate, String) {
        let mut files = self.question.files.iter().filter(|file| file.system == Some(system));
        let said = files.find_map(|file| file.atomic_bytes.value().copied());
        let said = match (said, self.question.kernel) {
            _ if fate != PageFate::Whole => return (fate, reason),
            (Some(0), _) => "RWF_ATOMIC: none (statx)".to_owned(),
            (Some(most), _) => format!("RWF_ATOMIC: up to {} (statx)", Exact(most)),
            (None, Some(version)) if version < (6, 13) => {
                "RWF_ATOMIC: from Linux 6.13 on".to_owned()
            }
            (None, _) => "RWF_ATOMIC: statx does not answer".to_owned(),
        };
        (fate, format!("{reason}; {said}"))
    }

    /// Distances of pages from the multiples of a page in layer `id`; or why they are not known.
    fn shifts(
        &self,
        system: LayerId,
        id: LayerId,
        own: &BTreeSet<u64>,
    ) -> Result<BTreeSet<u64>, String> {
        let found = self.placed(system, id)?;
        let mut sums = BTreeSet::new();
        for shift in own {
            sums.extend(found.iter().map(|below| (shift + below) % self.page));
        }
        Ok(sums)
    }

    fn placed(&self, from: LayerId, to: LayerId) -> Result<BTreeSet<u64>, String> {
        let length = self.question.stack.layer(from).length().filter(|&length| length > 0);
        let range = length.and_then(|length| ByteRange::new(0, length));
        let range = range.ok_or_else(|| "the length of what is above is not known".to_owned())?;
        let found = placement::shifts(self.question.stack, from, range, to, self.page);
        match found.obstacles.into_iter().next() {
            None => Ok(found.bytes.into_keys().collect()),
            Some(Obstacle::NotExpressible(reason) | Obstacle::Unknown(reason)) => Err(reason),
            Some(Obstacle::ChunkBelowUnit { chunk_bytes, .. }) => {
                Err(format!("pages are cut by chunks of {} above it", Exact(chunk_bytes)))
            }
        }
    }

    /// The lowest layer whose start moves pages off the multiples of a page on `drive`, with the
    /// reason; the file system where its extents do.
    fn misplaced(&self, system: LayerId, drive: LayerId) -> Option<(LayerId, String)> {
        let stack = self.question.stack;
        let (page, name) = (Exact(self.page), &stack.layer(drive).name);
        let mut above = stack.under(system);
        above.retain(|&id| id > drive && stack.under(id).contains(&drive));
        above.sort_unstable();
        let off = above.into_iter().find_map(|id| {
            let shift = self.placed(id, drive).ok()?.into_iter().find(|&shift| shift > 0)?;
            let by = Exact(shift);
            Some((id, format!("starts {by} past a multiple of {page} on {name}")))
        });
        let extents =
            || (system, format!("an extent starts off the multiples of {page} on {name}"));
        Some(off.unwrap_or_else(extents))
    }
}

/// Why the bytes under `system` could not be read, as the kernel says it.
fn unreadable(stack: &Stack, system: LayerId) -> Option<String> {
    let below = stack.under(system).into_iter().rev();
    let mut problems = below.flat_map(|id| &stack.layer(id).problems);
    let problem = problems.find(|problem| problem.kind == ProblemKind::Unreadable)?;
    Some(problem.detail.clone())
}

fn unknown(reason: String) -> drive::DriveFate {
    let fate = PageFate::Unknown;
    drive::DriveFate { fate, reason, source: None, is_misplaced: false }
}
