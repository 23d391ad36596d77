//! Advice for a disk without data: the start of partitions, and options of tools.

use stack::{Layer, LayerId, LayerKind, Stack, UnitKind};
use units::Source;
use units::prefix::Exact;

use crate::grid::{Grid, lcm};
use crate::partition_needs::{self, StartUnit};
use crate::refusal::NoPlan;

const MIB: u64 = 1 << 20;
/// Most bytes that each copy of a GPT takes.
const TABLE_BYTES: u64 = 64 << 10;
/// A grain is at most this, and at most a sixteenth of the disk.
const GRAIN_MAX: u64 = 1 << 30;

/// XFS has no larger blocks (xfsprogs `mkfs/xfs_mkfs.c`, `XFS_MAX_BLOCKSIZE`).
const XFS_BLOCK_MAX: u64 = 64 << 10;

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Its purpose.
    pub what: &'static str,
    /// A sentence or a command line; a command that destroys data says ERASES.
    pub line: String,
    /// True if it is a command that destroys data.
    pub erases: bool,
}

/// Facts about a new disk.
struct Fresh<'a> {
    stack: &'a Stack,
    disk: LayerId,
    name: &'a str,
    sector: u64,
    granule: u64,
    /// The chunk and the full stripe; equal to the granule where there is no array.
    chunk: u64,
    full: u64,
    grain: Grid,
    length: u64,
}

/// Advice for the disk on layer `disk`, typed as `name`. Commands are to be shown only where
/// nothing is on it.
///
/// # Errors
/// When the disk is known to be too small for a partition.
pub fn advice(stack: &Stack, disk: LayerId, name: &str) -> Result<Vec<Advice>, NoPlan> {
    let fresh = Fresh::of(stack, disk, name)?;
    Ok([
        fresh.disk_lines(),
        fresh.partition_lines(),
        fresh.file_system_lines(),
        fresh.container_lines(),
    ]
    .concat())
}

/// The logical sector of the disk on layer `disk`, and the bytes from where to where one partition
/// takes all of it.
///
/// # Errors
/// When [`advice`] fails.
pub(crate) fn span(stack: &Stack, disk: LayerId) -> Result<(u64, u64, u64), NoPlan> {
    let fresh = Fresh::of(stack, disk, "")?;
    let (start, end) = fresh.span();
    Ok((fresh.sector, start, end))
}

impl<'a> Fresh<'a> {
    fn of(stack: &'a Stack, disk: LayerId, name: &'a str) -> Result<Fresh<'a>, NoPlan> {
        let layer = stack.layer(disk);
        let sector = layer.units.used_bytes(UnitKind::LogicalSector).unwrap_or(512);
        let marks = partition_needs::marks(stack, disk, sector);
        let largest =
            |kind| marks.iter().filter(|mark| mark.kind == kind).map(|mark| mark.unit).max();
        let granule = largest(UnitKind::Granule).unwrap_or(4096).max(sector);
        let chunk = largest(UnitKind::Chunk).unwrap_or(granule);
        let full = largest(UnitKind::FullStripe).unwrap_or(chunk);
        let length = layer.length().unwrap_or(0);
        let grain = hinted(grain(&marks, length), layer, length);
        let fresh = Fresh { stack, disk, name, sector, granule, chunk, full, grain, length };
        let (start, end) = fresh.span();
        if layer.length().is_some() && end < start.saturating_add(grain.unit) {
            let reason = match length {
                0 => "it has no bytes".to_owned(),
                _ => format!(
                    "{} are too small for a partition of {} that starts at {}",
                    Exact(length),
                    Exact(grain.unit),
                    Exact(start)
                ),
            };
            return Err(NoPlan::new(reason, Some("use a larger disk".to_owned())));
        }
        Ok(fresh)
    }
}

/// The longest grain of a disk of `length` bytes.
fn longest(length: u64) -> u64 {
    GRAIN_MAX.min(length.div_euclid(16)).max(4096)
}

/// `grain`, and the optimal I/O size that the drive on `layer` reports, where both can be met: a
/// hint for which nothing is moved costs a new partition nothing.
fn hinted(grain: Grid, layer: &Layer, length: u64) -> Grid {
    let LayerKind::Drive(drive) = &layer.kind else { return grain };
    let optimal = drive.optimal_io_bytes.value().copied().filter(|&bytes| bytes > 0);
    let hint = optimal.filter(|_| drive.absurd_optimal().is_none());
    let both = hint.and_then(|bytes| grain.and(Grid::multiples(bytes), longest(length)));
    both.unwrap_or(grain)
}

/// 1 MiB and every unit together, where that is no waste; else without 1 MiB, else the granule.
fn grain(marks: &[StartUnit], length: u64) -> Grid {
    let most = longest(length);
    let all = marks
        .iter()
        .map(StartUnit::grid)
        .try_fold(Grid::multiples(512), |sum, one| sum.and(one, most));
    let Some(all) = all else { return partition_needs::end_grid(marks) };
    // A drive with its first granule elsewhere has no start on 1 MiB.
    let with = lcm(all.unit, MIB).filter(|&unit| unit <= most);
    with.map_or(all, |unit| Grid { unit, remainder: all.remainder })
}

fn say(what: &'static str, line: String) -> Advice {
    Advice { what, line, erases: false }
}

/// A command that destroys what `device` holds.
fn erase(what: &'static str, command: &str, device: &str) -> Advice {
    Advice { what, line: format!("{command}  # ERASES {device}"), erases: true }
}

impl Fresh<'_> {
    fn disk_lines(&self) -> Vec<Advice> {
        let layer = self.stack.layer(self.disk);
        let mut lines = Vec::new();
        let source = layer.units.used(UnitKind::Granule).map(|(_, source)| source);
        if source == Some(Source::Assumed) {
            lines.push(say(
                "granule",
                format!(
                    "{} is assumed: measure it with straddle probe, or specify it with --on",
                    Exact(self.granule)
                ),
            ));
        }
        let LayerKind::Drive(drive) = &layer.kind else { return lines };
        let Some(namespace) = drive.said.namespace.value() else { return lines };
        let plain = namespace.formats.iter().filter(|one| one.metadata_bytes == 0);
        let best = plain.min_by_key(|one| (one.performance, std::cmp::Reverse(one.data_bytes)));
        let better = best
            .filter(|best| namespace.format.is_some_and(|now| best.performance < now.performance));
        if let Some(better) = better {
            let (number, bytes) = (better.number, better.data_bytes);
            let command = format!("nvme format {} --lbaf={number}", self.name);
            lines.push(say("LBA format", format!("the drive calls {bytes}-byte sectors faster")));
            lines.push(erase("LBA format", &command, self.name));
        }
        lines
    }

    /// Place where the first partition starts, and where the last one ends, in bytes.
    fn span(&self) -> (u64, u64) {
        let Grid { unit, .. } = self.grain;
        let start = self.grain.after(MIB.min(unit).max(TABLE_BYTES)).unwrap_or(unit);
        let table = self.length.div_euclid(16).clamp(TABLE_BYTES, MIB);
        let end = self.grain.before(self.length.saturating_sub(table)).unwrap_or(0);
        (start, end)
    }

    fn partition_lines(&self) -> Vec<Advice> {
        let Grid { unit, .. } = self.grain;
        let (start, end) = self.span();
        let (first, count) =
            (start.div_euclid(self.sector), end.saturating_sub(start).div_euclid(self.sector));
        let mut lines = vec![say(
            "partitions",
            format!(
                "start at sector {first} ({}); make sizes multiples of {} sectors ({})",
                Exact(start),
                unit.div_euclid(self.sector),
                Exact(unit)
            ),
        )];
        if count > 0 {
            // sfdisk keeps the first MiB free unless it is told.
            let early = match start < MIB {
                true => format!("first-lba: {first}\\n"),
                false => String::new(),
            };
            let table =
                format!("printf 'label: gpt\\n{early}start={first}, size={count}\\n' | sfdisk");
            let is_file = matches!(self.stack.layer(self.disk).kind, LayerKind::ImageFile);
            let sectors = match self.sector {
                512 => String::new(),
                bytes => format!(" --sector-size {bytes}"),
            };
            // sfdisk takes a file for a disk of 512-byte sectors.
            let command = match is_file && self.sector != 512 {
                true => format!(
                    "L=$(losetup{sectors} -f --show {}) && {table} $L; losetup -d $L",
                    self.name
                ),
                false => format!("{table} {}", self.name),
            };
            lines.push(erase("one partition", &command, self.name));
            if is_file {
                let attach = format!("losetup{sectors} -P -f --show {}", self.name);
                let line = format!("{attach} prints /dev/loopN; PARTITION is /dev/loopNp1");
                lines.push(say("PARTITION", line));
            }
        }
        lines
    }

    /// Chunk and full stripe for a file system with blocks of 4 KiB, where they tell it anything.
    fn geometry(&self) -> Option<(u64, u64)> {
        let told = self.chunk > 4096
            && self.chunk.is_multiple_of(4096)
            && self.full.is_multiple_of(self.chunk);
        told.then_some((self.chunk, self.full))
    }

    fn file_system_lines(&self) -> Vec<Advice> {
        let part = "PARTITION";
        let mut ext = "mkfs.ext4 -b 4096".to_owned();
        let mut xfs = "mkfs.xfs -s size=4096".to_owned();
        let is_large = (4097..=XFS_BLOCK_MAX).contains(&self.granule);
        if is_large && self.granule.is_power_of_two() {
            xfs += &format!(" -b size={}", self.granule);
        }
        if let Some((chunk, full)) = self.geometry() {
            let (stride, width) = (chunk.div_euclid(4096), full.div_euclid(4096));
            ext += &format!(" -E stride={stride},stripe_width={width}");
            // XFS keeps the width in 32 bits of blocks, and mkfs wants less than 4 GiB.
            if full < 1 << 32 {
                xfs += &format!(" -d su={chunk},sw={}", full.div_euclid(chunk));
            }
        }
        let ashift = self.granule.next_power_of_two().trailing_zeros().clamp(12, 16);
        let boundary = self.full.max(MIB).next_power_of_two();
        let boundary = format!("mkfs.exfat -b {boundary} {part}");
        let mut lines = vec![
            erase("ext4", &format!("{ext} {part}"), part),
            erase("XFS", &format!("{xfs} {part}"), part),
            erase("btrfs", &format!("mkfs.btrfs -s 4096 {part}"), part),
            erase("f2fs", &format!("mkfs.f2fs -w {} {part}", self.sector.max(512)), part),
            erase("exFAT", &boundary, part),
            erase("ZFS", &format!("zpool create -o ashift={ashift} POOL {part}"), part),
        ];
        if self.granule > 4096 {
            let below = "ext4 and btrfs have blocks of 4 KiB, below the granule: straddle explain \
                         ST303; larger ones of XFS need Linux 6.12";
            lines.push(say("blocks", below.to_owned()));
        }
        lines
    }

    fn container_lines(&self) -> Vec<Advice> {
        let part = "PARTITION";
        let data = lcm(self.full, MIB).unwrap_or(self.full);
        // LVM takes powers of two and multiples of 128 KiB.
        let extent = lcm(self.full, 4 * MIB).filter(|&bytes| bytes <= GRAIN_MAX);
        let extent = extent.unwrap_or(4 * MIB).div_euclid(1024);
        let luks = lcm(self.full, 16 * MIB).unwrap_or(16 * MIB).div_euclid(512);
        let crypt = if self.granule >= 4096 { 4096 } else { 512 };
        let align = format!("pvcreate --dataalignment {}k {part}", data.div_euclid(1024));
        let group = format!("{align} && vgcreate -s {extent}k GROUP {part}");
        let luks = format!("cryptsetup luksFormat --sector-size {crypt} --offset {luks} {part}");
        vec![
            erase("LVM", &group, part),
            erase("LUKS", &luks, part),
            say(
                "md",
                format!(
                    "start members on {}; mdadm --create --chunk=: a multiple of {}",
                    Exact(self.grain.unit),
                    Exact(self.granule)
                ),
            ),
        ]
    }
}
