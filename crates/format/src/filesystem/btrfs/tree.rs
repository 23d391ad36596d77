//! The walk over the chunk tree: superblocks, the chunks that they hold, nodes, items.

use device::{Disk, disk};

use super::{ChunkMap, CopyPlace, item, superblock};
use crate::bytes::{Block, block_at};
use crate::checksum::CRC32C;
use crate::{Parsed, Problem, ProblemKind};

/// Place where the chunks of the chunk tree stand in the superblock, and how much room they have.
const ARRAY_AT: usize = 811;
const ARRAY_BYTES: usize = 2048;
/// Feature: nodes carry another identifier than the superblock.
const METADATA_UUID: u64 = 1 << 10;

const KEY: usize = 17;
const HEADER: usize = 101;
const ITEM: usize = 25;
const POINTER: usize = 33;
/// The key type of a chunk item.
const CHUNK_ITEM: u8 = 228;
/// The tree's number.
const CHUNK_TREE: u64 = 3;
const NODE_BYTES_MAX: u64 = 65536;
const LEVEL_MAX: u8 = 8;

/// The most nodes that are read: 64 MiB of them at 16 KiB, for some 400,000 chunks of 1 GiB.
const NODES_MAX: usize = 4096;
/// The most items that are taken.
const ITEMS_MAX: usize = 1 << 19;

/// The devices of a file system that are at hand, with what the newest superblock says.
pub(super) struct BtrfsDevices<'a> {
    devices: Vec<(u64, &'a dyn Disk)>,
    superblock: Block<4096>,
}

/// A node that is to be read, as the one above tells of it.
#[derive(Clone, Copy)]
struct WantedNode {
    logical_bytes: u64,
    level: u8,
    generation: u64,
}

impl<'a> BtrfsDevices<'a> {
    /// The file system that most of `devices` are of: the one whose superblock has the highest
    /// generation. `None` when none of them holds a btrfs superblock.
    pub(super) fn open(devices: &[&'a dyn Disk]) -> Option<BtrfsDevices<'a>> {
        let read = |device: &&'a dyn Disk| {
            let bytes = Block(disk::read_array::<4096>(*device, superblock::AT).ok()?);
            (bytes.array::<64, 8>() == *superblock::MAGIC).then_some((bytes, *device))
        };
        let found: Vec<(Block<4096>, &dyn Disk)> = devices.iter().filter_map(read).collect();
        let newest = found.iter().max_by_key(|(superblock, _)| superblock.le64::<72>())?;
        let superblock = newest.0.clone();
        let same = |other: &Block<4096>| other.array::<32, 16>() == superblock.array::<32, 16>();
        let devices = found.iter().filter(|(other, _)| same(other));
        let devices = devices.map(|(other, device)| (other.le64::<201>(), *device)).collect();
        Some(BtrfsDevices { devices, superblock })
    }

    /// Its chunks, as far as they can be read.
    pub(super) fn chunks(&self) -> Parsed<ChunkMap> {
        // The tree may no longer hold a chunk that the superblock tells of, so both are kept apart.
        let system = self.system_chunks();
        let mut found = Parsed { value: ChunkMap::default(), problems: system.problems };
        let mut todo = vec![WantedNode {
            logical_bytes: self.superblock.le64::<88>(),
            level: self.superblock.byte::<199>(),
            generation: self.superblock.le64::<164>(),
        }];
        let (mut nodes, mut items) = (0, 0);
        while let Some(wanted) = todo.pop() {
            nodes += 1;
            if nodes > NODES_MAX || items > ITEMS_MAX {
                let detail = "chunk tree has more nodes than are read";
                let at = wanted.logical_bytes;
                found.problems.push(Problem::new(ProblemKind::Chain, at, detail));
                break;
            }
            match self.node(&system.value, wanted) {
                Err(detail) if found.problems.len() < super::PROBLEMS_MAX => {
                    let at = wanted.logical_bytes;
                    found.problems.push(Problem::new(ProblemKind::Unreadable, at, detail));
                }
                Err(_) => {}
                Ok(node) if wanted.level > 0 => todo.extend(node.children(wanted.level)),
                Ok(node) => {
                    for (logical_bytes, bytes) in node.chunk_items() {
                        items += 1;
                        found.take(logical_bytes, bytes, wanted.logical_bytes);
                    }
                }
            }
        }
        found
    }

    /// The chunks in the superblock: keys and items, one behind the other.
    fn system_chunks(&self) -> Parsed<ChunkMap> {
        let mut found = Parsed::sound(ChunkMap::default());
        let told = usize::try_from(self.superblock.le32::<160>()).unwrap_or(usize::MAX);
        let used = told.min(ARRAY_BYTES);
        let mut rest = &self.superblock.0[ARRAY_AT..ARRAY_AT + used];
        while let Some(key) = block_at::<KEY>(rest, 0) {
            let bytes = &rest[KEY..];
            let length = item::length(bytes).filter(|&length| length <= bytes.len());
            let (Some(length), CHUNK_ITEM) = (length, key.byte::<8>()) else {
                let detail = "system chunk array of the superblock holds what is no chunk";
                found.problems.push(Problem::new(ProblemKind::Field, superblock::AT + 811, detail));
                break;
            };
            found.take(key.le64::<9>(), &bytes[..length], superblock::AT + 811);
            rest = &bytes[length..];
        }
        found
    }

    /// The node that is wanted, from the first copy that is sound.
    fn node(&self, system: &ChunkMap, wanted: WantedNode) -> Result<CheckedNode, String> {
        let at = wanted.logical_bytes;
        let length = u64::from(self.superblock.le32::<0x94>());
        if !length.is_power_of_two() || !(4096..=NODE_BYTES_MAX).contains(&length) {
            return Err(format!("nodes of {length} bytes"));
        }
        if wanted.level >= LEVEL_MAX {
            return Err(format!("chunk tree of level {}", wanted.level));
        }
        let no_chunk = || format!("no system chunk holds the chunk tree's node at {at}");
        let (copies, in_one_piece) = system.places(at).ok_or_else(no_chunk)?;
        if in_one_piece < length {
            return Err(format!("chunk tree's node at {at} is torn by a stripe's end"));
        }
        let mut reason = format!("no device of the chunk tree's node at {at} is at hand");
        for copy in copies {
            match self.copy(copy, length).and_then(|bytes| self.check(bytes, wanted)) {
                Ok(node) => return Ok(node),
                Err(detail) => reason = detail,
            }
        }
        Err(reason)
    }

    fn copy(&self, place: CopyPlace, length_bytes: u64) -> Result<Vec<u8>, String> {
        let device = self.devices.iter().find(|(number, _)| *number == place.device);
        let (_, device) =
            device.ok_or_else(|| format!("device {} is not at hand", place.device))?;
        disk::read_vec(*device, place.at_bytes, length_bytes).map_err(|error| error.to_string())
    }

    fn check(&self, bytes: Vec<u8>, wanted: WantedNode) -> Result<CheckedNode, String> {
        let at = wanted.logical_bytes;
        let header = block_at::<HEADER>(&bytes, 0).ok_or("node is too short")?;
        let wrong = |what: &str| Err(format!("chunk tree's node at {at} has another {what}"));
        let identifier = match self.superblock.le64::<188>() & METADATA_UUID {
            0 => self.superblock.array::<32, 16>(),
            _ => self.superblock.array::<571, 16>(),
        };
        if header.le64::<48>() != at {
            return wrong("address");
        }
        if header.array::<32, 16>() != identifier || header.le64::<88>() != CHUNK_TREE {
            return wrong("file system or tree");
        }
        if header.le64::<80>() != wanted.generation || header.byte::<100>() != wanted.level {
            return wrong("generation or level");
        }
        let crc = CRC32C.checksum(&bytes[32..]);
        if self.superblock.le16::<196>() == 0 && header.le32::<0>() != crc {
            return wrong("checksum");
        }
        let count = usize::try_from(header.le32::<96>()).unwrap_or(usize::MAX);
        Ok(CheckedNode { bytes, count })
    }
}

/// A node that was checked.
struct CheckedNode {
    bytes: Vec<u8>,
    /// Number of items or pointers it says it has; not checked.
    count: usize,
}

impl CheckedNode {
    /// The nodes below, those of the higher addresses first, so that a stack gives them in order.
    fn children(&self, level: u8) -> Vec<WantedNode> {
        let pointer = |index: usize| {
            let pointer = block_at::<POINTER>(&self.bytes, HEADER + index * POINTER)?;
            Some(WantedNode {
                logical_bytes: pointer.le64::<17>(),
                level: level.checked_sub(1)?,
                generation: pointer.le64::<25>(),
            })
        };
        let mut found: Vec<WantedNode> = (0..self.count).map_while(pointer).collect();
        found.reverse();
        found
    }

    /// The chunk items of a leaf: logical address and bytes.
    fn chunk_items(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let item = |index: usize| block_at::<ITEM>(&self.bytes, HEADER + index * ITEM);
        let items = (0..self.count).map_while(item);
        items.filter(|item| item.byte::<8>() == CHUNK_ITEM).filter_map(|item| {
            let start = HEADER.checked_add(usize::try_from(item.le32::<17>()).ok()?)?;
            let end = start.checked_add(usize::try_from(item.le32::<21>()).ok()?)?;
            Some((item.le64::<9>(), self.bytes.get(start..end)?))
        })
    }
}
