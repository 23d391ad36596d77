//! Sampled writes that start or end off the granule, added up by writer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use units::Unit;

/// Most different lengths, and offsets, that are told apart for one writer.
const KINDS_MAX: usize = 64;

/// One write that is off the granule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffWrite {
    /// Its first byte on the drive.
    pub start_bytes: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
}

/// Sampled writes by writer; `W` tells writers apart.
#[derive(Clone, Debug)]
pub struct OffWriteTally<W> {
    granule: Unit,
    by_writer: BTreeMap<W, WriterCounts>,
    sampled: u64,
}

#[derive(Clone, Debug, Default)]
struct WriterCounts {
    writes: u64,
    partial_granules: u64,
    whole_length: u64,
    lengths: BTreeMap<u64, u64>,
    /// Writes by the largest power of two that divides start and length: its exponent.
    powers: BTreeMap<u32, u64>,
    offsets: BTreeMap<u64, u64>,
}

/// A writer, and what its writes have in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffWriter<W> {
    /// Who.
    #[serde(flatten)]
    pub writer: W,
    /// Its share of all sampled writes that are off the granule, from 0 to 1.
    pub share: f64,
    /// Its sampled writes.
    pub writes: u64,
    /// Granules that its writes cover in part, for each write: the drive reads each first.
    pub partial_granules_per_write: f64,
    /// The length that most of its writes have, in bytes.
    pub usual_length_bytes: u64,
    /// The share of its writes with that length, from 0 to 1.
    pub usual_length_share: f64,
    /// By how much most of its writes start off the granule, in bytes.
    pub usual_offset_bytes: u64,
    /// The share of its writes with that offset, from 0 to 1.
    pub usual_offset_share: f64,
    /// The share of its writes that are whole granules long, from 0 to 1.
    pub whole_length_share: f64,
    /// The largest power of two, in bytes, on multiples of which four of five of its writes start
    /// and end.
    pub piece_bytes: u64,
}

impl<W: Ord + Clone> OffWriteTally<W> {
    /// An empty tally for writes to a drive with this granule.
    #[must_use]
    pub fn new(granule: Unit) -> OffWriteTally<W> {
        OffWriteTally { granule, by_writer: BTreeMap::new(), sampled: 0 }
    }

    /// Adds a sampled write; one that is on the granule is left out.
    pub fn add(&mut self, write: OffWrite, writer: W) {
        let OffWrite { start_bytes, length_bytes } = write;
        let partial = self.granule.partial(start_bytes, length_bytes);
        if partial == 0 {
            return;
        }
        self.sampled += 1;
        let counts = self.by_writer.entry(writer).or_default();
        counts.writes += 1;
        counts.partial_granules += partial;
        counts.whole_length += u64::from(length_bytes.is_multiple_of(self.granule.length_bytes()));
        let power = start_bytes.trailing_zeros().min(length_bytes.trailing_zeros());
        *counts.powers.entry(power).or_default() += 1;
        add_one(&mut counts.lengths, length_bytes);
        add_one(&mut counts.offsets, self.granule.misalignment(start_bytes));
    }

    /// The number of sampled writes that are off the granule.
    #[must_use]
    pub fn sampled(&self) -> u64 {
        self.sampled
    }

    /// Granules covered in part, for each sampled write; 0 where there is none.
    #[must_use]
    pub fn partial_granules_per_write(&self) -> f64 {
        let granules = self.by_writer.values().map(|counts| counts.partial_granules).sum();
        ratio(granules, self.sampled)
    }

    /// The writers, those with the most writes first.
    #[must_use]
    pub fn writers(&self) -> Vec<OffWriter<W>> {
        let mut writers: Vec<OffWriter<W>> = self
            .by_writer
            .iter()
            .map(|(writer, counts)| {
                let (usual_length_bytes, length_count) = most(&counts.lengths);
                let (usual_offset_bytes, offset_count) = most(&counts.offsets);
                OffWriter {
                    writer: writer.clone(),
                    share: ratio(counts.writes, self.sampled),
                    writes: counts.writes,
                    partial_granules_per_write: ratio(counts.partial_granules, counts.writes),
                    usual_length_bytes,
                    usual_length_share: ratio(length_count, counts.writes),
                    usual_offset_bytes,
                    usual_offset_share: ratio(offset_count, counts.writes),
                    whole_length_share: ratio(counts.whole_length, counts.writes),
                    piece_bytes: piece_bytes(counts),
                }
            })
            .collect();
        writers.sort_by_key(|writer| std::cmp::Reverse(writer.writes));
        writers
    }
}

/// Counts `key`; once there are too many kinds, only those that are there already.
fn add_one(kinds: &mut BTreeMap<u64, u64>, key: u64) {
    if kinds.len() < KINDS_MAX || kinds.contains_key(&key) {
        *kinds.entry(key).or_default() += 1;
    }
}

/// The largest power of two on whose multiples four of five writes start and end.
fn piece_bytes(counts: &WriterCounts) -> u64 {
    let mut held = 0;
    for (power, count) in counts.powers.iter().rev() {
        held += count;
        if held.saturating_mul(5) >= counts.writes.saturating_mul(4) {
            return 1_u64.checked_shl(*power).unwrap_or(1);
        }
    }
    1
}

/// The most frequent kind and its count; the smallest of those that are equally frequent.
fn most(kinds: &BTreeMap<u64, u64>) -> (u64, u64) {
    let most = kinds.iter().max_by_key(|&(&kind, &count)| (count, std::cmp::Reverse(kind)));
    most.map_or((0, 0), |(&kind, &count)| (kind, count))
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { units::number::real(part) / units::number::real(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_are_told_with_what_their_writes_have_in_common() {
        let mut tally = OffWriteTally::new(Unit::new(16384).unwrap());
        for page in 0..90 {
            tally.add(OffWrite { start_bytes: page * 32768, length_bytes: 8192 }, "postgres");
        }
        for number in 0..10 {
            let start_bytes = number * 65536 + 3584;
            tally.add(OffWrite { start_bytes, length_bytes: 16384 }, "cp");
        }
        tally.add(OffWrite { start_bytes: 16384, length_bytes: 32768 }, "aligned");
        assert_eq!(tally.sampled(), 100);
        let writers = tally.writers();
        let [postgres, cp] = &writers[..] else { panic!("{writers:?}") };
        assert_eq!((postgres.writer, postgres.usual_length_bytes), ("postgres", 8192));
        assert!((postgres.share - 0.9).abs() < 1e-9, "{postgres:?}");
        assert!((postgres.usual_length_share - 1.0).abs() < 1e-9);
        assert!((postgres.partial_granules_per_write - 1.0).abs() < 1e-9);
        assert_eq!((postgres.piece_bytes, cp.piece_bytes), (8192, 512));
        assert_eq!((cp.usual_offset_bytes, cp.usual_length_bytes), (3584, 16384));
        assert!((cp.whole_length_share - 1.0).abs() < 1e-9);
        assert!((cp.partial_granules_per_write - 2.0).abs() < 1e-9);
        assert!((tally.partial_granules_per_write() - 1.1).abs() < 1e-9);
    }

    #[test]
    fn an_empty_tally_has_no_writers_and_no_not_a_number() {
        let tally = OffWriteTally::<u8>::new(Unit::new(4096).unwrap());
        assert!(tally.writers().is_empty());
        assert!(tally.partial_granules_per_write().abs() < 1e-9);
    }

    #[test]
    fn kinds_are_bounded() {
        let mut tally = OffWriteTally::new(Unit::new(1 << 20).unwrap());
        for number in 1..1000 {
            tally.add(OffWrite { start_bytes: 0, length_bytes: number * 512 }, 0);
        }
        let counts = tally.by_writer.values().next().unwrap();
        assert_eq!((counts.writes, counts.lengths.len()), (999, KINDS_MAX));
    }
}
