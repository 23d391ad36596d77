//! A plan: where partitions of a disk would lie, without the disk.

use std::io::Read as _;
use std::path::Path;

use format::table::sfdisk_script::{self, SCRIPT_BYTES_MAX};
use report::Refusal;
use stack::layer::PartitionTableInfo;
use stack::mapping::{Below, Mapping};
use stack::{Layer, LayerId, LayerKind, Stack};
use units::text::escape;
use units::{Known, Source};

use crate::shared::printer::shown;

/// Number of bytes that tell whether a file is a plan.
const HEAD_BYTES: u64 = 4096;

/// Word that is typed for standard input, which then holds a plan.
pub(super) const STDIN: &str = "-";

/// The stack that a plan says, and its disk.
pub(super) type Read = Result<(Stack, LayerId), Refusal>;

/// The plan in the file at `path`; `None` where it is no plan, or cannot be read.
pub(super) fn read(path: &Path) -> Option<Read> {
    let mut file = host::open_input(path).ok()?;
    let mut bytes = Vec::new();
    (&mut file).take(HEAD_BYTES).read_to_end(&mut bytes).ok()?;
    let name = path.file_name().map_or_else(|| shown(path), |name| escape(name.as_encoded_bytes()));
    sfdisk_script::is_script(&bytes).then(|| rest(file, bytes, &name))
}

/// The plan that standard input holds.
pub(super) fn of_stdin() -> Read {
    rest(std::io::stdin().lock(), Vec::new(), "plan")
}

/// The plan whose first bytes are `bytes`, and the rest in `file`.
fn rest(file: impl std::io::Read, mut bytes: Vec<u8>, name: &str) -> Read {
    let most = u64::try_from(SCRIPT_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    let read = file.take(most).read_to_end(&mut bytes);
    read.map_err(|error| {
        Refusal::hinted(
            error.to_string(),
            "check the file, or dump the table again: sfdisk --dump /dev/sdX > plan",
        )
    })?;
    let read = sfdisk_script::read(&bytes).map(|script| stacked(script, name));
    read.map_err(|error| Refusal::hinted(error.to_string(), error.problem.hint()))
}

/// The partitions of a script on a disk called `name`.
fn stacked(script: sfdisk_script::Script, name: &str) -> (Stack, LayerId) {
    let mut stack = Stack::new();
    let known = |bytes| Known::yes(bytes, Source::Told);
    let length = known(script.disk_bytes);
    let disk = Layer::new(LayerKind::ImageFile, name.to_owned(), length, Mapping::Leaf);
    let disk = stack.add(disk);
    let info = PartitionTableInfo { kind: script.table.kind, sector: script.table.sector };
    for partition in script.table.partitions {
        let range = partition.range;
        let mapping = Mapping::Linear(Below { layer: disk, offset_bytes: range.start_bytes() });
        let name = format!("{name}#{}", partition.number);
        let kind = LayerKind::Partition(Box::new(partition), info);
        stack.add(Layer::new(kind, name, known(range.length_bytes()), mapping));
    }
    (stack, disk)
}
