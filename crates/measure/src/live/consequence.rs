//! Causes of writes that are off the granule, and whether a layer below could mend them.

use serde::{Deserialize, Serialize};

use super::off_writer::{Region, WriterIdentity};
use super::off_writes::OffWriter;

/// Share of a writer's writes that must agree before a cause is named.
const AGREED_SHARE: f64 = 0.8;
/// Share of all writes that are off the granule below which a writer is not worth a sentence.
const WORTH_SHARE: f64 = 0.05;
/// Smallest page, in bytes: the kernel's sector.
const PAGE_BYTES_MIN: u64 = 512;
/// Sampled writes below which no cause is named.
const SAMPLED_MIN: u64 = 20;

/// A cause of writes that are off the granule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "cause", rename_all = "kebab-case")]
pub enum Consequence {
    /// Whole granules that start off one, all by the same distance: a layer is misaligned.
    Shifted {
        /// Layer that is written.
        layer: Option<String>,
        /// Distance in bytes.
        offset_bytes: u64,
        /// Share of all writes that are off the granule, from 0 to 1.
        share: f64,
    },
    /// Pages smaller than the granule, or several of them that begin and end within one: no layer
    /// below can mend that.
    SmallPages {
        /// Name of the process that writes them; `null` where it is not known.
        process: Option<String>,
        /// Length of a page in bytes.
        page_bytes: u64,
        /// Share of all writes that are off the granule, from 0 to 1.
        share: f64,
    },
    /// Blocks of a journal that are smaller than the granule: the file system was made with small
    /// blocks.
    JournalBlocks {
        /// Layer whose journal it is.
        layer: Option<String>,
        /// Length of a write in bytes.
        length_bytes: u64,
        /// Share of all writes that are off the granule, from 0 to 1.
        share: f64,
    },
}

/// Returns the causes that can be named, that of the most writes first. `sampled` is the number of
/// writes that the shares are of; few give no cause.
#[must_use]
pub fn consequences(
    writers: &[OffWriter<WriterIdentity>],
    granule_bytes: u64,
    sampled: u64,
) -> Vec<Consequence> {
    if sampled < SAMPLED_MIN {
        return Vec::new();
    }
    let worth = writers.iter().filter(|writer| writer.share >= WORTH_SHARE);
    let mut found: Vec<Consequence> = Vec::new();
    for consequence in worth.filter_map(|writer| consequence(writer, granule_bytes)) {
        match found.iter_mut().find(|one| one.has_cause_of(&consequence)) {
            Some(one) => one.add_share(consequence.share()),
            None => found.push(consequence),
        }
    }
    found
}

fn consequence(writer: &OffWriter<WriterIdentity>, granule_bytes: u64) -> Option<Consequence> {
    let OffWriter { share, usual_length_bytes: length, usual_offset_bytes: offset, .. } = *writer;
    let has_one_offset = offset != 0 && writer.usual_offset_share >= AGREED_SHARE;
    let identity = &writer.writer;
    if has_one_offset && writer.whole_length_share >= AGREED_SHARE {
        let layer = identity.layer.clone();
        return Some(Consequence::Shifted { layer, offset_bytes: offset, share });
    }
    let page_bytes = writer.piece_bytes;
    let is_small = page_bytes >= PAGE_BYTES_MIN && page_bytes < granule_bytes;
    if identity.region == Region::Journal && writer.whole_length_share < AGREED_SHARE {
        let layer = identity.layer.clone();
        return Some(Consequence::JournalBlocks { layer, length_bytes: length, share });
    }
    let process = identity.process.clone();
    is_small.then_some(Consequence::SmallPages { process, page_bytes, share })
}

impl Consequence {
    /// Share of all writes that are off the granule, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        match self {
            Consequence::Shifted { share, .. }
            | Consequence::SmallPages { share, .. }
            | Consequence::JournalBlocks { share, .. } => *share,
        }
    }

    fn add_share(&mut self, more: f64) {
        match self {
            Consequence::Shifted { share, .. }
            | Consequence::SmallPages { share, .. }
            | Consequence::JournalBlocks { share, .. } => *share += more,
        }
    }

    /// Returns whether the two differ in their shares alone.
    fn has_cause_of(&self, other: &Consequence) -> bool {
        let without_share = |consequence: &Consequence| {
            let mut bare = consequence.clone();
            bare.add_share(-consequence.share());
            bare
        };
        without_share(self) == without_share(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(process: &str, region: Region) -> OffWriter<WriterIdentity> {
        OffWriter {
            writer: WriterIdentity {
                process: Some(process.to_owned()),
                process_id: Some(7),
                is_kernel: false,
                control_group: None,
                layer: Some("ext4 on sda1".to_owned()),
                region,
                file: None,
            },
            share: 0.5,
            writes: 50,
            partial_granules_per_write: 1.0,
            usual_length_bytes: 8192,
            usual_length_share: 0.97,
            usual_offset_bytes: 0,
            usual_offset_share: 0.5,
            whole_length_share: 0.0,
            piece_bytes: 8192,
        }
    }

    #[test]
    fn pages_below_the_granule_are_told_from_a_shift_and_from_a_journal() {
        let postgres = writer("postgres", Region::File);
        let shifted = OffWriter {
            usual_offset_bytes: 3584,
            usual_offset_share: 1.0,
            usual_length_bytes: 16384,
            whole_length_share: 1.0,
            ..writer("cp", Region::File)
        };
        let journal =
            OffWriter { usual_length_bytes: 3072, ..writer("jbd2/sda1-8", Region::Journal) };
        let named = |writer: &OffWriter<WriterIdentity>| {
            consequences(std::slice::from_ref(writer), 16384, 100)
        };
        assert!(matches!(named(&postgres)[..], [Consequence::SmallPages { page_bytes: 8192, .. }]));
        assert!(matches!(named(&shifted)[..], [Consequence::Shifted { offset_bytes: 3584, .. }]));
        assert!(matches!(
            named(&journal)[..],
            [Consequence::JournalBlocks { length_bytes: 3072, .. }]
        ));
    }

    #[test]
    fn mixed_writes_few_writes_and_small_shares_name_no_cause() {
        let mixed = OffWriter { piece_bytes: 1, ..writer("a", Region::File) };
        let small = OffWriter { share: 0.01, ..writer("a", Region::File) };
        assert_eq!(consequences(&[mixed, small], 16384, 100), []);
        assert_eq!(consequences(&[writer("a", Region::File)], 16384, 19), []);
    }

    #[test]
    fn one_cause_of_several_processes_is_named_once() {
        let twice = [writer("postgres", Region::File), writer("postgres", Region::FileSystem)];
        let found = consequences(&twice, 16384, 100);
        assert_eq!(found.len(), 1);
        assert!((found[0].share() - 1.0).abs() < 1e-9);
    }
}
