//! Made stacks: a data file on ext4 on a volume on a partition of an NVMe drive.

use device::answer::{self, Question};
use device::{ExtentFlags, MemoryTree};
use format::filesystem::FileSystem;
use stack::drive::KernelDrive;
use stack::file_extents::{FileRun, RunState};
use stack::kernel::DeviceLimits;
use stack::layer::Mapped;
use stack::mapping::Below;
use stack::{Layer, LayerId, LayerKind, LayerType, Mapping, Stack};
use units::{ByteRange, Known, Source};

use crate::untorn::{self, DataFile, PageEngine, UntornQuestion, UntornVerdict};

/// Bytes of the file system, and where it has the data file.
const SYSTEM_BYTES: u64 = 8 << 20;
const FILE_AT_BYTES: u64 = 1 << 20;
/// Pages of the data file.
pub(super) const PAGES: u64 = 16;

/// Everything that a verdict follows from.
#[derive(Clone)]
pub(super) struct Made {
    /// Start of the partition on the drive, in bytes.
    pub(super) start: u64,
    /// Start of the volume in the partition, in bytes.
    pub(super) volume: u64,
    /// Unit in which the file system allocates, in bytes.
    pub(super) unit: u64,
    /// Page of the engine, in bytes.
    pub(super) page: u64,
    /// The drive.
    pub(super) drive: Answers,
}

/// Raw answers of a drive and of the kernel about it.
#[derive(Clone)]
pub(super) struct Answers {
    /// `device/model`, and the model of Identify Controller.
    pub(super) model: String,
    /// Identify Namespace; `None` where it was not asked.
    pub(super) namespace: Option<Vec<u8>>,
    /// Identify Controller.
    pub(super) controller: Vec<u8>,
    /// Files below `queue/`.
    pub(super) queue: Vec<(&'static str, String)>,
    /// True if it is reached through a path of NVMe multipath.
    has_path: bool,
}

impl Answers {
    /// A drive with 512-byte sectors that promises nothing but a sector, and whose commands are
    /// never merged.
    pub(super) fn plain() -> Answers {
        let mut namespace = vec![0; 4096];
        namespace[0..8].copy_from_slice(&(1_u64 << 21).to_le_bytes());
        namespace[130] = 9;
        let mut controller = vec![0; 4096];
        controller[4] = b'S';
        let queue = [
            ("logical_block_size", "512"),
            ("max_sectors_kb", "1280"),
            ("max_segments", "128"),
            ("nomerges", "2"),
            ("chunk_sectors", "0"),
        ];
        Answers {
            model: "Drive".to_owned(),
            namespace: Some(namespace),
            controller,
            queue: queue.map(|(file, text)| (file, text.to_owned())).to_vec(),
            has_path: false,
        }
    }

    /// The same with these 16-bit fields of Identify Namespace.
    pub(super) fn with(mut self, fields: &[(usize, u16)]) -> Answers {
        let namespace = self.namespace.as_mut().expect("it was asked");
        for &(at, value) in fields {
            namespace[at..at + 2].copy_from_slice(&value.to_le_bytes());
        }
        self
    }

    /// The same with NAWUPF and NABSPF, both in sectors (0 boundaries for none), and NABO.
    pub(super) fn promising(self, longest: u16, every: u16, from: u16) -> Answers {
        let mut answers =
            self.with(&[(36, longest - 1), (44, every.saturating_sub(1)), (42, from)]);
        answers.namespace.as_mut().expect("it was asked")[24] |= 2;
        answers
    }

    /// An Amazon drive with NTWPU, NTWPG and NTWPB in sectors (0 for no boundary).
    pub(super) fn amazon(self, longest: u16, step: u16, every: u16) -> Answers {
        let mut answers =
            self.with(&[(640, longest - 1), (642, step - 1), (644, every.saturating_sub(1))]);
        answers.model = "Amazon Elastic Block Store".to_owned();
        answers
    }

    /// The same with another text in a file below `queue/`.
    pub(super) fn queue(mut self, file: &'static str, text: &str) -> Answers {
        self.queue.retain(|(other, _)| *other != file);
        self.queue.push((file, text.to_owned()));
        self
    }

    /// The same behind NVMe multipath.
    pub(super) fn with_path(self) -> Answers {
        Answers { has_path: true, ..self }
    }

    fn drive(&self) -> KernelDrive {
        let mut controller = self.controller.clone();
        controller[24..64].fill(b' ');
        let model = &self.model.as_bytes()[..self.model.len().min(40)];
        controller[24..24 + model.len()].copy_from_slice(model);
        let put = |tree: MemoryTree, file: &str, text: &str| {
            tree.with_file(&format!("/sys/block/nvme0n1/{file}"), text)
        };
        let mut tree = put(MemoryTree::new(), "size", "2097152");
        tree = put(tree, "device/model", &self.model);
        if self.has_path {
            tree = tree.with_file("/sys/block/nvme0c0n1/queue/logical_block_size", "512");
        }
        for (file, text) in &self.queue {
            tree = put(tree, &format!("queue/{file}"), text);
        }
        let answers = [
            (Question::NvmeNamespace, self.namespace.as_ref()),
            (Question::NvmeController, Some(&controller)),
        ];
        for (question, bytes) in answers {
            if let Some(bytes) = bytes {
                let path = answer::of_drive("nvme0n1", question);
                tree = tree.with_file(&path, &answer::to_text(bytes));
            }
        }
        KernelDrive::read(&tree, "nvme0n1")
    }
}

impl Made {
    /// A 16 KiB page in clusters of 16 KiB, at the start of a drive.
    pub(super) fn on(drive: Answers) -> Made {
        Made { start: 0, volume: 0, unit: 16384, page: 16384, drive }
    }

    /// The stack, and its file system.
    pub(super) fn stack(&self) -> (Stack, LayerId) {
        let mut stack = Stack::new();
        let known = |bytes| Known::yes(bytes, Source::Sysfs);
        let on = |layer, offset_bytes| Mapping::Linear(Below { layer, offset_bytes });
        let mut add = |kind, name: &str, mapping| {
            let length = known(SYSTEM_BYTES + (1 << 20));
            let mut layer = Layer::new(kind, name.to_owned(), length, mapping);
            if name == "vg/lv" {
                let tree =
                    MemoryTree::new().with_file("/sys/block/dm-0/queue/max_sectors_kb", "1280");
                layer.limits = Some(Box::new(DeviceLimits::read(&tree, "/sys/block/dm-0")));
            }
            stack.add(layer)
        };
        let drive = LayerKind::Drive(Box::new(self.drive.drive()));
        let drive = add(drive, "nvme0n1", Mapping::Leaf);
        let part = add(LayerKind::KernelPartition, "nvme0n1p1", on(drive, self.start));
        let volume = Mapped { kind: LayerType::LvmLv, what: "linear".to_owned() };
        let volume = add(LayerKind::Mapped(volume), "vg/lv", on(part, self.volume));
        let system = FileSystem::of_blocks("ext4", self.unit);
        let system = LayerKind::FileSystem(Box::new(system));
        let system = add(system, "ext4", on(volume, 0));
        (stack, system)
    }

    /// A data file in one extent.
    pub(super) fn file(&self, system: LayerId) -> DataFile {
        let run = FileRun {
            range: ByteRange::new(0, PAGES * self.page).expect("it is small"),
            state: RunState::Data,
            physical_bytes: Some(FILE_AT_BYTES),
            flags: ExtentFlags::default(),
        };
        DataFile {
            name: "ibdata1".to_owned(),
            path: "/var/lib/mysql/ibdata1".to_owned(),
            page_bytes: self.page,
            system: Some(system),
            runs: vec![run],
            direct_bytes: Known::yes(512, Source::Statx),
            atomic_bytes: Known::yes(0, Source::Statx),
        }
    }

    /// Returns the values that differ from case to case, for a message.
    pub(super) fn short(&self) -> String {
        let Made { start, volume, unit, page, drive } = self;
        let bytes =
            drive.namespace.as_ref().map(|all| (&all[24..48], &all[128..136], &all[640..648]));
        let (model, queue, awupf) = (&drive.model, &drive.queue, &drive.controller[528..530]);
        format!("{start} {volume} {unit} {page} {model} {bytes:?} {awupf:?} {queue:?}")
    }

    /// The verdict for MySQL.
    pub(super) fn verdict(&self) -> UntornVerdict {
        let (stack, system) = self.stack();
        self.of(PageEngine::Mysql, &stack, &[self.file(system)])
    }

    /// The verdict for an engine with these files.
    pub(super) fn of(
        &self,
        engine: PageEngine,
        stack: &Stack,
        files: &[DataFile],
    ) -> UntornVerdict {
        let (kernel, unseen, live) = (Some((6, 18)), None, None);
        untorn::judge(&UntornQuestion { stack, engine, files, kernel, unseen, live })
    }

    /// Ways in which the file system may place pages: each is the pieces of one page, each a start
    /// on the drive and a length.
    pub(super) fn placements(&self) -> Vec<Vec<(u64, u64)>> {
        let base = self.start + self.volume;
        let whole = |number: u64| vec![(base + number * self.page, self.page)];
        if self.unit.is_multiple_of(self.page) {
            return (0..4 * PAGES).map(whole).collect();
        }
        // Each block somewhere else.
        let blocks = self.page / self.unit;
        let apart = |number: u64| {
            let at = |block: u64| base + (number + 2 * block * PAGES) * self.page;
            (0..blocks).map(|block| (at(block) + block * self.unit, self.unit)).collect()
        };
        (0..PAGES).map(apart).collect()
    }
}
