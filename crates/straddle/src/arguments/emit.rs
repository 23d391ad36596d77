//! Arguments of `straddle emit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use report::Consumer;

use super::common::help;

/// Print values of kept results as configuration of other programs
///
/// Reads results of probe, check, bench and fsync. Each value has its source beside it as a
/// comment; a value that no result has is a comment with the reason. Lines for tools that erase are
/// options without a device. Nothing is measured or changed.
#[derive(Debug, Args)]
#[command(after_help = help("emit", "\
Examples:
  straddle probe /data -o probe.json
  straddle emit --for mkfs probe.json         # options of mkfs, zpool, mdadm, cryptsetup
  straddle emit --for ceph check.json probe.json
  straddle emit --for qemu                    # of the result that check --keep kept"))]
pub(crate) struct Emit {
    /// Program to print for
    #[arg(long = "for", value_enum, value_name = "PROGRAM")]
    pub(crate) consumer: ConsumerName,

    /// Result files: of --json of probe, check, bench and fsync, or saved by them
    ///
    /// `-` reads standard input. Without a file: the results that straddle export takes. If several
    /// tell of one device, a measured value counts before a reported one, and of two alike the one
    /// of the file named first.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConsumerName {
    /// `io_properties.yaml` of Seastar, ScyllaDB and Redpanda
    Seastar,
    /// ceph config set, for OSDs that are made later
    Ceph,
    /// The element blockio of a disk
    Libvirt,
    /// Properties of a block device
    Qemu,
    /// Labels for features.d of node-feature-discovery
    Nfd,
    /// Options of mkfs for ext4, XFS and btrfs, of zpool, mdadm and cryptsetup
    Mkfs,
}

impl ConsumerName {
    /// Returns the program that it names.
    pub(crate) fn consumer(self) -> Consumer {
        match self {
            ConsumerName::Seastar => Consumer::Seastar,
            ConsumerName::Ceph => Consumer::Ceph,
            ConsumerName::Libvirt => Consumer::Libvirt,
            ConsumerName::Qemu => Consumer::Qemu,
            ConsumerName::Nfd => Consumer::Nfd,
            ConsumerName::Mkfs => Consumer::Mkfs,
        }
    }
}
