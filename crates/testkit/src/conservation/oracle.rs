//! The oracle: where each byte of a disk must be after a change of its table.
//!
//! | byte | where it must be |
//! |---|---|
//! | in a partition | as far from the start of that partition, and before its end |
//! | of the table | anywhere: it is written again; of a record, boot code stays in it |
//! | any other | in the same place, in no partition |
//!
//! sfdisk reads the partitions. Places of the tables: UEFI specification 2.10, sections 5.2.3 and
//! 5.3; of the records of logical partitions, the chain that the records are.

use std::ops::Range;
use std::path::Path;

use serde_json::Value;

use crate::disks::{Tried, number, output};
use crate::{Loop, scratch, tool};

/// Bytes that are looked at together.
const BLOCK: u64 = 512;
/// Bytes of an MBR and of a record before the entries.
const ENTRIES: u64 = 446;
/// Types of extended partitions.
const EXTENDED: [&str; 3] = ["5", "f", "85"];

/// A partition, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its number in the table.
    pub(super) number: u64,
    /// Its bytes.
    pub(super) range: Range<u64>,
}

/// A disk with its table.
#[derive(Clone, Debug)]
pub(super) struct Side {
    /// The whole disk.
    pub(super) bytes: Vec<u8>,
    /// Partitions in the order of the table, without an extended one.
    pub(super) places: Vec<Place>,
    /// Bytes of the table, in order.
    pub(super) table: Vec<Range<u64>>,
    /// Starts of the records of logical partitions, in the order of their chain.
    pub(super) records: Vec<u64>,
}

/// Bytes that are not where they must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    /// The first of them, on the old disk.
    pub(super) at: u64,
    /// Number of blocks of 512 bytes with lost bytes.
    pub(super) blocks: u64,
    /// Their place on the old disk, and what became of them.
    pub(super) words: String,
}

impl Side {
    /// Reads an image whose table counts in sectors of `sector` bytes; no table is an empty one.
    pub(super) fn of(image: &Path, sector: u64) -> Tried<Side> {
        let bytes = std::fs::read(image).map_err(|error| error.to_string())?;
        let mut side = Side { bytes, places: Vec::new(), table: Vec::new(), records: Vec::new() };
        if side.u16(510) != 0xaa55 {
            return Ok(side);
        }
        let table = listed(image, sector)?;
        for one in table["partitions"].as_array().into_iter().flatten() {
            let count = |key: &str| one[key].as_u64().ok_or_else(|| format!("no {key}: {one}"));
            let (start, size) = (count("start")? * sector, count("size")? * sector);
            let node = one["node"].as_str().unwrap_or_default();
            let name = node.trim_end_matches(|digit: char| digit.is_ascii_digit());
            let number = node[name.len()..].parse().map_err(|_| format!("no number: {node}"))?;
            if EXTENDED.iter().any(|kind| one["type"] == *kind) {
                side.records(start, start, sector);
            } else {
                side.places.push(Place { number, range: start..start + size });
            }
        }
        side.table.push(ENTRIES..510);
        if table["label"] == "gpt" {
            side.copy(sector, sector);
            let backup = side.u64(sector + 32) * sector;
            side.copy(backup, sector);
        }
        side.table.sort_by_key(|range| range.start);
        Ok(side)
    }

    fn field(&self, at: u64, length: u64) -> u64 {
        let field = usize::try_from(at).ok().zip(usize::try_from(at + length).ok());
        field.and_then(|(from, to)| self.bytes.get(from..to)).map_or(0, number)
    }

    fn u16(&self, at: u64) -> u64 {
        self.field(at, 2)
    }

    fn u64(&self, at: u64) -> u64 {
        self.field(at, 8)
    }

    /// Adds the chain of records that begins at `first`, in an extended partition at `extended`.
    fn records(&mut self, extended: u64, first: u64, sector: u64) {
        let mut at = first;
        loop {
            self.table.push(at..at + 512);
            self.records.push(at);
            let next = self.field(at + ENTRIES + 16 + 8, 4);
            let known = |at: u64| self.table.iter().any(|range| range.start == at);
            at = extended + next * sector;
            if next == 0 || known(at) {
                return;
            }
        }
    }

    /// Adds the copy of a GPT whose header is at byte `header`.
    fn copy(&mut self, header: u64, sector: u64) {
        self.table.push(header..header + sector);
        let entries = self.u64(header + 72) * sector;
        let length = self.field(header + 80, 4) * self.field(header + 84, 4);
        self.table.push(entries..entries + length);
    }

    /// The parts of the disk that are neither of the table nor in a partition.
    pub(super) fn gaps(&self) -> Vec<Range<u64>> {
        let mut held: Vec<_> = self.places.iter().map(|place| place.range.clone()).collect();
        held.extend(self.table.iter().cloned());
        held.sort_by_key(|range| range.start);
        let (mut at, mut gaps) = (0, Vec::new());
        for range in held.into_iter().chain(std::iter::once(self.length()..self.length())) {
            if at < range.start {
                gaps.push(at..range.start);
            }
            at = at.max(range.end);
        }
        gaps
    }

    pub(super) fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// The bytes of a range; none where it reaches past the end.
    pub(super) fn part(&self, range: &Range<u64>) -> &[u8] {
        let ends = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        ends.and_then(|(from, to)| self.bytes.get(from..to)).unwrap_or_default()
    }

    pub(super) fn place(&self, number: u64) -> Option<&Place> {
        self.places.iter().find(|place| place.number == number)
    }

    /// Bytes of this disk that `new` has lost; those in `ignored` may be anything.
    pub(super) fn losses(&self, new: &Side, ignored: &[Range<u64>]) -> Vec<Loss> {
        let partitions = self.places.iter().filter_map(|old| {
            let place = new.place(old.number).map(|place| place.range.clone());
            let name = format!("partition {}", old.number);
            self.lost(new, &old.range, place.unwrap_or(0..0), &name, ignored)
        });
        let gaps = self.gaps().into_iter().filter_map(|gap| {
            self.lost(new, &gap, gap.start..new.length(), "no partition", ignored)
        });
        let records = self.records.iter().zip(&new.records).filter_map(|(&old, &now)| {
            let name = "record of a logical partition";
            self.lost(new, &(old..old + ENTRIES), now..now + ENTRIES, name, ignored)
        });
        partitions.chain(gaps).chain(records).chain(self.swallowed(new)).collect()
    }

    /// Bytes of `range` that are not found in the same order in `to`, on the new disk.
    fn lost(
        &self,
        new: &Side,
        range: &Range<u64>,
        to: Range<u64>,
        name: &str,
        ignored: &[Range<u64>],
    ) -> Option<Loss> {
        let mut lost: Option<Loss> = None;
        let mut at = range.start;
        while at < range.end {
            let block = at..(at + 1).next_multiple_of(BLOCK).min(range.end);
            let (from, end) = (to.start + (at - range.start), block.end - at);
            at = block.end;
            let old = self.part(&block);
            let now = new.part(&(from..(from + end).min(to.end.max(from))));
            if now == old || old.iter().all(|&byte| byte == 0) {
                continue;
            }
            let is_lost = (block.clone().zip(old).enumerate()).any(|(index, (at, &byte))| {
                byte != 0
                    && now.get(index) != Some(&byte)
                    && !ignored.iter().any(|range| range.contains(&at))
            });
            if is_lost {
                let words = match now.len() < old.len() {
                    true => format!("{name}: cut"),
                    false => format!("{name}: not at byte {from} any more"),
                };
                lost.get_or_insert(Loss { at: block.start, blocks: 0, words }).blocks += 1;
            }
        }
        lost
    }

    /// Bytes of no partition that are in one on the new disk.
    fn swallowed(&self, new: &Side) -> Vec<Loss> {
        let mut losses = Vec::new();
        for (gap, place) in self
            .gaps()
            .into_iter()
            .flat_map(|gap| new.places.iter().map(move |place| (gap.clone(), place)))
        {
            let both = gap.start.max(place.range.start)..gap.end.min(place.range.end);
            let used = self.part(&both).iter().position(|&byte| byte != 0);
            if let Some(first) = used.filter(|_| both.start < both.end) {
                let words = format!("no partition: now in partition {}", place.number);
                losses.push(Loss { at: both.start + first as u64, blocks: 1, words });
            }
        }
        losses
    }
}

/// The table as sfdisk lists it.
fn listed(image: &Path, sector: u64) -> Tried<Value> {
    let device = (sector != 512).then(|| Loop::attach(image, sector));
    let target = device.as_ref().map_or(image, Loop::path);
    let listed = output(tool::command("sfdisk").args(["--json", scratch::text(target)]))?;
    let said = String::from_utf8_lossy(&listed.stderr);
    if !listed.status.success() || !said.is_empty() {
        return Err(format!("sfdisk: {said}"));
    }
    let value: Value = serde_json::from_slice(&listed.stdout).map_err(|error| error.to_string())?;
    Ok(value["partitiontable"].clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk of 40 blocks with partitions 1 and 2; each block outside the table has its number in
    /// it.
    fn side(places: &[(u64, Range<u64>)]) -> Side {
        let bytes = (0..40 * 512_u64).map(|at| u8::try_from(at.div_euclid(512)).expect("below 40"));
        let place = |(number, blocks): &(u64, Range<u64>)| Place {
            number: *number,
            range: blocks.start * 512..blocks.end * 512,
        };
        Side {
            bytes: bytes.collect(),
            places: places.iter().map(place).collect(),
            table: std::iter::once(446..510).collect(),
            records: Vec::new(),
        }
    }

    /// Block `from` of `side`, written to block `to`.
    fn copied(side: &mut Side, from: usize, to: usize) {
        side.bytes.copy_within(from * 512..(from + 1) * 512, to * 512);
    }

    fn words(old: &Side, new: &Side) -> Vec<String> {
        old.losses(new, &[]).into_iter().map(|loss| loss.words).collect()
    }

    #[test]
    fn the_same_disk_has_lost_nothing_and_a_zeroed_block_is_found_wherever_it_is() {
        let old = side(&[(1, 8..16), (2, 20..30)]);
        assert_eq!(old.losses(&old, &[]), []);
        for block in 1..40 {
            let mut new = old.clone();
            new.bytes[block * 512 + 7] = 0;
            let [loss] = &old.losses(&new, &[])[..] else { panic!("block {block} is lost") };
            assert_eq!((loss.at, loss.blocks), (block as u64 * 512, 1));
            let ignored = block as u64 * 512..(block as u64 + 1) * 512;
            assert_eq!(old.losses(&new, &[ignored]), []);
        }
    }

    #[test]
    fn a_partition_that_is_shorter_moved_without_its_bytes_or_gone_is_found() {
        let old = side(&[(1, 8..16), (2, 20..30)]);
        let mut new = side(&[(1, 8..16), (2, 20..29)]);
        assert_eq!(words(&old, &new), ["partition 2: cut"]);
        new.places[1].range = 30 * 512..40 * 512;
        assert_eq!(words(&old, &new)[0], "partition 2: not at byte 15360 any more");
        new.places.truncate(1);
        assert_eq!(words(&old, &new), ["partition 2: cut"]);
    }

    #[test]
    fn a_partition_that_moves_over_bytes_of_no_partition_loses_them() {
        let old = side(&[(1, 8..10)]);
        let mut new = side(&[(1, 9..11)]);
        copied(&mut new, 9, 10);
        copied(&mut new, 8, 9);
        let lost = words(&old, &new);
        assert_eq!(
            lost,
            ["no partition: not at byte 5120 any more", "no partition: now in partition 1"]
        );
        let mut blank = old.clone();
        blank.bytes[10 * 512..11 * 512].fill(0);
        assert_eq!(words(&blank, &new), [""; 0]);
    }

    #[test]
    fn a_partition_that_grows_over_bytes_of_no_partition_is_found() {
        let (old, new) = (side(&[(1, 8..10)]), side(&[(1, 8..11)]));
        assert_eq!(words(&old, &new), ["no partition: now in partition 1"]);
    }
}
