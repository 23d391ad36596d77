//! Words of `drive reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use drive::published::Article;

use super::common::{Json, help};

/// Type an article's own procedure on served drives, and compare with its numbers
///
/// Serves the article's drives, types its commands with the real tools (parted, mkfs, mount, fio,
/// pg_test_fsync), and shows each number three times: published, simulated, and measured on the
/// served drive. Every command is printed before it runs. Nothing is written but to served drives.
#[derive(Debug, Args)]
#[command(after_help = help("drive reproduce", "\
Examples:
  sudo straddle drive reproduce advanced-format-disks
                                           # parted, mkfs.ext4 and both fio jobs: minutes
  straddle drive reproduce ssd-alignment-retest --dry-run
                                           # print a shell script of it, and run nothing
  straddle drive reproduce disk-misconceptions-fsync
                                           # pg_test_fsync on five drives, without root"))]
pub(crate) struct Reproduce {
    /// Article whose procedure is typed
    #[arg(value_name = "ARTICLE", value_enum)]
    pub(crate) article: ArticleName,

    /// Time of each run of fio
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..=3600)
    )]
    pub(crate) seconds: u32,

    /// Print the commands as a shell script, and run none
    #[arg(long, short = 'n')]
    pub(crate) dry_run: bool,

    /// Type nothing: compare the numbers in this file, lines NAME: NUMBER, measured elsewhere
    #[arg(long, value_name = "FILE", conflicts_with_all = ["dry_run", "seconds"])]
    pub(crate) measured: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) document: Json,
}

/// An article with published numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ArticleName {
    /// A 512e disk with a partition 2 KiB off: raw and ext4, synced writes
    AdvancedFormatDisks,
    /// An SSD from sector 34 and from sector 2048
    SsdAlignmentRetest,
    /// Syncs of named drives
    DiskMisconceptionsFsync,
    /// A RAID 0 whose requests cross chunks
    FileSystemBlocksAlignment,
    /// Disks with sectors of 4 KiB: only its arrays with parity
    #[value(name = "linux-on-4kb-sector-disks")]
    FourKib,
}

impl ArticleName {
    /// The article.
    pub(crate) fn article(self) -> Article {
        match self {
            ArticleName::AdvancedFormatDisks => Article::AdvancedFormat,
            ArticleName::SsdAlignmentRetest => Article::SsdAlignment,
            ArticleName::DiskMisconceptionsFsync => Article::Fsync,
            ArticleName::FileSystemBlocksAlignment => Article::BlocksAlignment,
            ArticleName::FourKib => Article::FourKib,
        }
    }
}
