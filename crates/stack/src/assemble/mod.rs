//! From bytes to a stack: what is on a disk, what is in that, and so on up.
//!
//! Work is a queue, never recursion by a depth that a disk decides. Arrays and volume groups wait
//! until all bytes at hand were looked at, so that members from several targets meet.

use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use device::{Disk, FileIdentity, Files};
use format::probe::{Hint, ProbedContent, Reading};
use format::table::PartitionRole;
use format::table::bsd::Counting;
use format::{Parsed, Problem, ProblemKind};
use units::{Known, SectorSize, Source};

use crate::drive::KernelDrive;
use crate::external_parts;
use crate::graph::Stack;
use crate::id::LayerId;
use crate::layer::{Contest, Layer, LayerKind};
use crate::layer_bytes::LayerView;
use crate::mapping::Mapping;
use crate::on_option::Condition;

mod bare;
mod container;
mod file;
mod image;
mod live;
mod raid;
mod reading_limit;
mod table;
mod volume_group;

pub use live::{Devices, World, assemble_machine};
use reading_limit::WorkLimit;

/// The most layers that one stack gets; what is beyond is said to be left out.
pub const LAYERS_MAX: usize = 4096;

/// Depth to which layers are looked into.
pub const DEPTH_MAX: usize = 24;

/// Place where a stack starts.
pub struct Start {
    /// Its kind.
    pub kind: StartKind,
    /// The name to show.
    pub name: String,
    /// Its bytes, or why they cannot be read; `None` for a captured disk, of which there are none.
    pub bytes: Option<Result<Rc<dyn Disk>, String>>,
}

/// Start of a stack.
#[derive(Clone)]
pub enum StartKind {
    /// A block device, with what the kernel says.
    Drive(Box<KernelDrive>),
    /// A regular file: its path and what makes it that file.
    File {
        /// The path, for finding files that it names.
        path: Vec<u8>,
        /// The identity of that file.
        identity: FileIdentity,
    },
}

/// A stack, and what it still lacks.
#[derive(Debug)]
pub struct Assembled {
    /// The stack.
    pub stack: Stack,
    /// The layers of the starts, in their order.
    pub roots: Vec<LayerId>,
    /// Arrays, volume groups and file systems of which devices are missing: their ids. Targets that
    /// share one belong together.
    pub incomplete: Vec<String>,
}

/// The stack on `starts`, judged as if on the disk that `told` tells; files that images name are
/// opened through `files`.
#[must_use]
pub fn assemble(starts: Vec<Start>, files: &dyn Files, told: Option<&Condition>) -> Assembled {
    let mut assembler = Assembler::new(starts.len(), files, told);
    let roots = starts.into_iter().map(|start| assembler.start(start)).collect();
    assembler.settle();
    assembler.finish(roots)
}

/// A layer whose bytes are to be looked at.
struct LookedAt {
    id: LayerId,
    disk: Rc<dyn Disk>,
    sector: SectorSize,
    /// Place where it starts on the whole disk: BSD labels may count from there.
    start_bytes: u64,
    /// Origin of their addresses.
    counting: Counting,
    tables: TablesInForce,
    depth: usize,
    /// The contents of the bytes, where they were looked at already.
    found: Option<Reading>,
}

impl LookedAt {
    /// All of a disk, an array, a volume or a guest's disk.
    fn whole(id: LayerId, disk: Rc<dyn Disk>, sector: SectorSize, depth: usize) -> LookedAt {
        let tables = TablesInForce::Any;
        let counting = Counting::Unknown;
        LookedAt { id, disk, sector, start_bytes: 0, counting, tables, depth, found: None }
    }

    fn hint(&self) -> Hint {
        let tables = self.tables != TablesInForce::None;
        let LookedAt { sector, start_bytes, counting, .. } = *self;
        Hint { sector, start_bytes, counting, tables }
    }
}

/// Partition tables that may be in force in a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TablesInForce {
    /// Any: a whole disk, an array, a volume, a guest's disk.
    Any,
    /// A BSD disklabel only: an MBR slice of that type.
    Bsd,
    /// None: an ordinary partition, where table-like bytes are a boot sector's or a leftover.
    None,
}

/// A layer that was put together from others, the sector in which tables are expected to count in
/// it, and how deep it is.
type Ahead = (LayerId, SectorSize, usize);

struct Assembler<'a> {
    stack: Stack,
    jobs: VecDeque<LookedAt>,
    arrays: BTreeMap<String, Vec<raid::RaidMember>>,
    groups: BTreeMap<String, volume_group::Gathered>,
    incomplete: Vec<String>,
    work: WorkLimit,
    files: &'a dyn Files,
    told: Option<&'a Condition>,
}

impl<'a> Assembler<'a> {
    fn new(starts: usize, files: &'a dyn Files, told: Option<&'a Condition>) -> Assembler<'a> {
        Assembler {
            stack: Stack::new(),
            jobs: VecDeque::new(),
            arrays: BTreeMap::new(),
            groups: BTreeMap::new(),
            incomplete: Vec::new(),
            work: WorkLimit::for_starts(starts),
            files,
            told,
        }
    }
}

impl Assembler<'_> {
    fn finish(mut self, roots: Vec<LayerId>) -> Assembled {
        bare::mark(&mut self.stack);
        self.incomplete
            .extend(external_parts::lacking(&self.stack).into_iter().map(|lack| lack.key));
        Assembled { stack: self.stack, roots, incomplete: self.incomplete }
    }

    /// Looks at all that waits, and at all that is found by that.
    fn settle(&mut self) {
        while self.work() || self.build_arrays() || self.build_groups() {}
    }

    /// The sector in which tables on a layer are expected to count.
    fn sector_of(&self, id: LayerId) -> SectorSize {
        let under = self.stack.under(id).into_iter();
        let sectors = under.filter_map(|id| {
            let bytes = self.stack.layer(id).units.used_bytes(crate::unit::UnitKind::LogicalSector);
            bytes.and_then(SectorSize::new)
        });
        sectors.max().unwrap_or(SectorSize::B512)
    }

    fn start(&mut self, start: Start) -> LayerId {
        match start.kind {
            StartKind::Drive(drive) => self.start_drive(*drive, start.name, start.bytes),
            StartKind::File { path, identity } => {
                // Files are not captured.
                let bytes =
                    start.bytes.unwrap_or_else(|| Err("its bytes were not given".to_owned()));
                self.start_file(start.name, &path, identity, bytes)
            }
        }
    }

    fn start_drive(
        &mut self,
        drive: KernelDrive,
        name: String,
        bytes: Option<Result<Rc<dyn Disk>, String>>,
    ) -> LayerId {
        let units = drive.units(self.told);
        let told_sector = self.told.and_then(|told| told.sector);
        let sector = told_sector.unwrap_or_else(|| drive.sector());
        let length = match (&drive.length_bytes, &bytes) {
            (Known::Yes(fact), _) => Known::Yes(*fact),
            (_, Some(Ok(disk))) => Known::yes(disk.length_bytes(), Source::Ioctl),
            (Known::No(reason), _) => Known::no(reason.clone()),
        };
        let mapping = if drive.slaves.is_empty() {
            Mapping::Leaf
        } else {
            let slaves: Vec<String> =
                drive.slaves.iter().map(|name| units::text::escape(name.as_bytes())).collect();
            let reason = format!("it lies on {}: check those", slaves.join(", "));
            Mapping::Unknown { on: Vec::new(), reason }
        };
        let mut layer = Layer::new(LayerKind::Drive(Box::new(drive)), name, length, mapping);
        layer.units = units;
        layer.told_parity = self.told_parity();
        if let Some(Err(reason)) = &bytes {
            layer.problems.push(Problem::new(ProblemKind::Unreadable, 0, reason.clone()));
        }
        let id = self.stack.add(layer);
        if let Some(Ok(disk)) = bytes {
            self.stack.give_bytes(id, Rc::clone(&disk));
            self.jobs.push_back(LookedAt::whole(id, disk, sector, 0));
        }
        id
    }

    fn told_parity(&self) -> bool {
        self.told.and_then(|told| told.parity).is_some_and(|parity| parity > 0)
    }

    /// Looks at everything that waits; false when nothing did.
    fn work(&mut self) -> bool {
        let mut worked = false;
        while let Some(job) = self.jobs.pop_front() {
            worked = true;
            self.look(job);
        }
        worked
    }

    /// Adds a layer above one that was found, unless there are too many.
    fn add(&mut self, on: LayerId, layer: Layer) -> Option<LayerId> {
        if self.stack.len() >= LAYERS_MAX {
            let detail = format!("there are more than {LAYERS_MAX} layers; the rest is left out");
            let problems = &mut self.stack.layer_mut(on).problems;
            if !problems.iter().any(|problem| problem.detail == detail) {
                problems.push(Problem::new(ProblemKind::Unsupported, 0, detail));
            }
            return None;
        }
        Some(self.stack.add(layer))
    }

    /// Looks into the bytes of layers that were put together from others.
    fn look_into_views(&mut self, views: Vec<Ahead>) {
        if views.is_empty() {
            return;
        }
        // The stack grows while views of it exist, so they share its present state.
        let stack = Rc::new(self.stack.clone());
        for (id, sector, depth) in views {
            let Some(view) = LayerView::new(Rc::clone(&stack), id) else { continue };
            self.jobs.push_back(LookedAt::whole(id, Rc::new(view), sector, depth));
        }
    }

    fn look(&mut self, mut job: LookedAt) {
        if job.depth >= DEPTH_MAX {
            let detail = format!("it is nested {DEPTH_MAX} deep; what is inside was not looked at");
            self.unsupported(job.id, detail);
            return;
        }
        if self.work.is_too_much() {
            let detail = "more was found than is kept; what is inside was not looked at";
            self.unsupported(job.id, detail);
            return;
        }
        let reading = self.probe(&mut job);
        for left in &reading.left_over {
            self.also(job.id, &left.content.words(), &left.why);
        }
        if let Some(contest) = reading.contest {
            let layer = self.stack.layer_mut(job.id);
            let data = reading.left_over.first().and_then(|left| left.content.data_at_bytes());
            layer.contest = Some(Contest { reason: contest.detail.clone(), data_at_bytes: data });
            layer.problems.push(contest);
        }
        match reading.container {
            Some(container) => self.contain(&job, container),
            None => self.spread(&job, reading.found),
        }
    }

    fn unsupported(&mut self, id: LayerId, detail: impl Into<String>) {
        let problem = Problem::new(ProblemKind::Unsupported, 0, detail);
        self.stack.layer_mut(id).problems.push(problem);
    }

    /// Everything that is on the bytes of a job.
    fn probe(&mut self, job: &mut LookedAt) -> Reading {
        match job.found.take() {
            Some(found) => {
                self.work.keep_facts(&found);
                found
            }
            None => self.work.probe(&job.disk, job.hint()),
        }
    }

    fn also(&mut self, id: LayerId, what: &str, why: &str) {
        self.stack.layer_mut(id).also.push(format!("{what}; {why}"));
    }

    /// A member or container is in force.
    fn contain(&mut self, job: &LookedAt, found: Parsed<ProbedContent>) {
        match found.value {
            ProbedContent::Md(member) => self.md_member(job, member, found.problems),
            ProbedContent::Lvm(volume) => self.lvm_physical(job, volume, found.problems),
            ProbedContent::Luks(luks) => self.luks(job, luks, found.problems),
            ProbedContent::Bcache(bcache) => self.bcache(job, bcache, found.problems),
            ProbedContent::Integrity(integrity) => self.integrity(job, integrity, found.problems),
            ProbedContent::Named(entry) => self.named(job.id, entry),
            ProbedContent::Table(_) | ProbedContent::FileSystem(_) => {}
        }
    }

    /// Tables and file systems, side by side.
    fn spread(&mut self, job: &LookedAt, found: Vec<Parsed<ProbedContent>>) {
        let mut partitioned = false;
        let mut systems = 0;
        for found in found {
            match found.value {
                ProbedContent::Table(table) if table::allowed(job.tables, table.kind) => {
                    partitioned |= !table.partitions.is_empty();
                    self.table(job, table, found.problems);
                }
                ProbedContent::FileSystem(system) => {
                    let hybrid = matches!(system.kind, "iso9660" | "udf");
                    if partitioned && !hybrid {
                        let old = format!("an old {} signature is on the disk", system.kind);
                        self.also(job.id, &old, "the partition table is what counts");
                    } else if systems > 0 && !hybrid {
                        self.also(job.id, system.kind, "another file system is here too");
                    } else {
                        systems += 1;
                        self.file_system(job, system, found.problems);
                    }
                }
                ProbedContent::Named(entry) => self.named(job.id, entry),
                _ => {}
            }
        }
    }
}

/// Returns whether a partition of this role is looked into.
fn holds_data(role: PartitionRole) -> bool {
    match role {
        PartitionRole::Ordinary
        | PartitionRole::EfiSystem
        | PartitionRole::BsdSlice
        | PartitionRole::Reserved => true,
        PartitionRole::Extended
        | PartitionRole::BiosBoot
        | PartitionRole::Protective
        | PartitionRole::Whole => false,
    }
}
