//! Causes of writes that are off the granule, and whether a layer below could mend them.

use serde::{Deserialize, Serialize};

use super::off_writer::{Region, WriterIdentity};
use super::off_writes::OffWriter;

/// Share of a writer's writes that must agree before a cause is named.
const AGREED_SHARE: f64 = 0.8;
/// Share of all writes that are off the granule below which a cause is not worth a sentence.
const WORTH_SHARE: f64 = 0.05;
/// Smallest piece of writes that agree, in bytes: the kernel's sector.
const PIECE_BYTES_MIN: u64 = 512;
/// Sampled writes below which no cause is named.
const SAMPLED_MIN: u64 = 20;
/// Processes of databases, whose writes of a file are pages.
const DATABASES: [&str; 4] = ["mariadbd", "mysqld", "postgres", "sqlite3"];
/// Smallest page of a database, in bytes, as far as nobody asked for a smaller one.
const DATABASE_PAGE_MIN: u64 = 4096;

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
    /// Pages of a database that are smaller than the granule, or several of them that begin and end
    /// within one: no layer below can mend that.
    SmallPages {
        /// Name of the process that writes them.
        process: Option<String>,
        /// Length of a page in bytes.
        page_bytes: u64,
        /// Share of all writes that are off the granule, from 0 to 1.
        share: f64,
    },
    /// Writes in blocks of a file system that are smaller than the granule.
    SmallBlocks {
        /// Layer of the file system.
        layer: Option<String>,
        /// Length of a block in bytes.
        block_bytes: u64,
        /// Share of all writes that are off the granule, from 0 to 1.
        share: f64,
    },
    /// Other writes that begin and end within a granule.
    SmallWrites {
        /// Name of the process that writes them; `null` where it is not known.
        process: Option<String>,
        /// The largest power of two, in bytes, on multiples of which they begin and end.
        piece_bytes: u64,
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
    let mut found: Vec<Consequence> = Vec::new();
    for consequence in writers.iter().filter_map(|writer| consequence(writer, granule_bytes)) {
        match found.iter_mut().find(|one| one.has_cause_of(&consequence)) {
            Some(one) => one.add_share(consequence.share()),
            None => found.push(consequence),
        }
    }
    found.retain(|consequence| consequence.share() >= WORTH_SHARE);
    found.sort_by(|one, other| other.share().total_cmp(&one.share()));
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
    if identity.region == Region::Journal && writer.whole_length_share < AGREED_SHARE {
        let layer = identity.layer.clone();
        return Some(Consequence::JournalBlocks { layer, length_bytes: length, share });
    }
    let piece_bytes = writer.piece_bytes;
    if piece_bytes < PIECE_BYTES_MIN || piece_bytes >= granule_bytes {
        return None;
    }
    let process = identity.process.clone();
    let is_database = process.as_deref().is_some_and(|name| DATABASES.contains(&name));
    Some(match identity.file_system_block_bytes {
        Some(block_bytes) if block_bytes == piece_bytes => {
            let layer = identity.layer.clone();
            Consequence::SmallBlocks { layer, block_bytes, share }
        }
        _ if is_database && piece_bytes >= DATABASE_PAGE_MIN => {
            Consequence::SmallPages { process, page_bytes: piece_bytes, share }
        }
        _ => Consequence::SmallWrites { process, piece_bytes, share },
    })
}

impl Consequence {
    /// Share of all writes that are off the granule, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        match self {
            Consequence::Shifted { share, .. }
            | Consequence::SmallPages { share, .. }
            | Consequence::SmallBlocks { share, .. }
            | Consequence::SmallWrites { share, .. }
            | Consequence::JournalBlocks { share, .. } => *share,
        }
    }

    fn add_share(&mut self, more: f64) {
        match self {
            Consequence::Shifted { share, .. }
            | Consequence::SmallPages { share, .. }
            | Consequence::SmallBlocks { share, .. }
            | Consequence::SmallWrites { share, .. }
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
                file_system_block_bytes: Some(4096),
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
    fn only_a_database_has_pages_and_blocks_a_shift_and_a_journal_are_told_apart() {
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
        let blocks = OffWriter { piece_bytes: 4096, ..writer("dd", Region::File) };
        let direct = OffWriter { piece_bytes: 512, ..writer("mariadbd", Region::File) };
        let copied = writer("cp", Region::File);
        assert!(matches!(named(&postgres)[..], [Consequence::SmallPages { page_bytes: 8192, .. }]));
        assert!(matches!(named(&shifted)[..], [Consequence::Shifted { offset_bytes: 3584, .. }]));
        assert!(matches!(
            named(&journal)[..],
            [Consequence::JournalBlocks { length_bytes: 3072, .. }]
        ));
        assert!(matches!(named(&blocks)[..], [Consequence::SmallBlocks { block_bytes: 4096, .. }]));
        for (writer, piece) in [(direct, 512), (copied, 8192)] {
            let found = named(&writer);
            let [Consequence::SmallWrites { piece_bytes, .. }] = found[..] else {
                panic!("{found:?}");
            };
            assert_eq!(piece_bytes, piece);
        }
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
        let few = || OffWriter { share: 0.04, ..writer("postgres", Region::File) };
        let found = consequences(&[few(), few(), few()], 16384, 100);
        assert_eq!(found.len(), 1, "each of them is too few alone");
        assert!((found[0].share() - 0.12).abs() < 1e-9);
    }
}
