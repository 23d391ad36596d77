//! Words about the project that every package has.

/// Maintainer of the packages.
pub(super) const MAINTAINER: &str =
    "The straddle developers <straddle-io@users.noreply.github.com>";

/// The packages' version.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The packages' release: how often the version was packaged.
pub(super) const RELEASE: &str = "1";

/// Address of the project.
pub(super) const HOMEPAGE: &str = env!("CARGO_PKG_REPOSITORY");

/// License, as SPDX has it.
pub(super) const LICENSE: &str = env!("CARGO_PKG_LICENSE");

/// Purpose of the program, in a line.
pub(super) const SUMMARY: &str = "find misaligned I/O in every layer of a storage stack";

/// Purpose of the program, in lines.
pub(super) const DESCRIPTION: [&str; 3] = [
    "It shows the boundaries that disks, partitions, RAID, LVM, LUKS and file",
    "systems get wrong, measures what that costs on the running machine, checks",
    "whether a completed fsync is real, and plans the fix that keeps all data.",
];
