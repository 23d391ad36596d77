//! Space that no partition has: a plan takes it only where it is blank.
//!
//! One idea: bytes outside of every partition may be anything, such as a label in the last sector
//! of the disk, metadata after a partition, or a file system whose partition was deleted. What a
//! plan would take of them is read, and a byte that is not zero is in the way. Space that another
//! partition leaves is not free in this sense: its bytes move.

use device::{Disk, disk};
use units::ByteRange;

use crate::best_places::{self, NewRange, PartitionRoom};
use crate::in_the_way::{InTheWay, used_byte};
use crate::moves::without;
use crate::new_table_bytes::Region;
use crate::old_table_bytes::{RECORD_BYTES, TableBytes};
use crate::partition_needs::PartitionNeeds;

/// The most times that other places are looked for. After that nothing moves for which something
/// was in the way, and after twice as many nothing moves at all.
const ROUNDS_MAX: usize = 16;

/// A disk and what of it is known.
pub(crate) struct FreeSpace<'a> {
    bytes: &'a dyn Disk,
    /// Partitions and the table in their present places.
    held: Vec<ByteRange>,
    /// Free space that was found to be blank.
    blank: Vec<ByteRange>,
}

impl<'a> FreeSpace<'a> {
    /// The disk `bytes` with `pieces` in it, and the table `raw` where that was read.
    pub(crate) fn new(
        bytes: &'a dyn Disk,
        raw: Option<&TableBytes>,
        pieces: &[PartitionNeeds],
    ) -> FreeSpace<'a> {
        let run = |at: u64, bytes: &[u8]| (at, disk::length_of(bytes));
        let table = match raw {
            None => Vec::new(),
            Some(TableBytes::Mbr(mbr)) => {
                let records = mbr.records.iter().map(|one| run(one.at_bytes, &one.bytes));
                records.chain([run(0, &mbr.mbr)]).collect()
            }
            Some(TableBytes::Gpt(gpt)) => {
                let copies = [&gpt.primary, &gpt.backup].into_iter().flat_map(|copy| {
                    [run(copy.at_bytes, &copy.header), run(copy.entries_at_bytes, &gpt.entries)]
                });
                copies.chain([run(0, &gpt.mbr)]).collect()
            }
        };
        let table = table.into_iter().filter_map(|(at, length)| ByteRange::new(at, length));
        let held = pieces.iter().map(|piece| piece.range).chain(table).collect();
        FreeSpace { bytes, held, blank: Vec::new() }
    }

    /// The parts of `range` of which nothing is known.
    fn unknown(&self, range: ByteRange) -> Vec<ByteRange> {
        let cut = |parts: Vec<ByteRange>, known: &ByteRange| {
            parts.into_iter().flat_map(|part| without(part, *known)).collect()
        };
        self.held.iter().chain(&self.blank).fold(vec![range], cut)
    }

    /// The free space in `taken`, which was found to be blank.
    pub(crate) fn blank_in(&self, taken: impl Iterator<Item = ByteRange>) -> Vec<ByteRange> {
        let parts = taken
            .flat_map(|range| self.blank.iter().filter_map(move |blank| blank.intersection(range)));
        parts.filter(|part| part.length_bytes() > 0).collect()
    }

    /// The free space that `piece` takes at `new`, with its record.
    fn taken(&self, piece: &PartitionNeeds, new: NewRange, room: PartitionRoom) -> Vec<ByteRange> {
        let record_at = piece.record_at.map(|_| best_places::gap_start(piece, new.start, room));
        let record = record_at.filter(|_| record_at != piece.record_at);
        let record = record.and_then(|at| ByteRange::new(at, RECORD_BYTES));
        let place = ByteRange::new(new.start, new.length);
        place.into_iter().chain(record).flat_map(|range| self.unknown(range)).collect()
    }

    /// The byte nearest to `piece` that is in its way to `new`; `None` where only zeros are taken.
    pub(crate) fn in_the_way(
        &mut self,
        piece: &PartitionNeeds,
        new: NewRange,
        room: PartitionRoom,
    ) -> Option<InTheWay> {
        for range in self.taken(piece, new, room) {
            let is_below = range.start_bytes() < piece.range.start_bytes();
            if let Some(found) = used_byte(self.bytes, range, is_below) {
                return Some(found);
            }
            self.blank.push(range);
        }
        None
    }

    /// The first byte that `regions` overwrite, and that is neither blank nor known.
    pub(crate) fn unknown_bytes(&self, regions: &[Region]) -> Option<u64> {
        let new = regions.iter().filter(|region| region.old.is_none());
        let ranges = new.filter_map(|one| ByteRange::new(one.at_bytes, disk::length_of(&one.new)));
        let mut unknown = ranges.flat_map(|range| self.unknown(range));
        unknown.find_map(|range| used_byte(self.bytes, range, false)).map(|found| found.at_bytes)
    }
}

/// The places for `pieces` at which they take only blank space, as [`best_places::settled`] finds
/// them. What is in the way of a piece is added to it.
pub(crate) fn settled(
    free: &mut FreeSpace<'_>,
    pieces: &mut [PartitionNeeds],
    room: PartitionRoom,
) -> Option<Vec<NewRange>> {
    for round in 0.. {
        let places = best_places::settled(pieces, room)?;
        let mut last = None;
        for (piece, &new) in pieces.iter_mut().zip(&places) {
            let Some(found) = free.in_the_way(piece, new, room) else { continue };
            piece.in_the_way.push(found);
            last = Some(found);
        }
        let Some(last) = last else { return Some(places) };
        let stays = |piece: &&mut PartitionNeeds| {
            round >= 2 * ROUNDS_MAX || round >= ROUNDS_MAX && !piece.in_the_way.is_empty()
        };
        for piece in pieces.iter_mut().filter(stays) {
            let found = piece.in_the_way.first().copied().unwrap_or(last);
            piece.fixed.get_or_insert_with(|| found.words());
        }
    }
    None
}
