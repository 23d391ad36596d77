//! Tells the kernel which partitions of a disk changed, one by one, and keeps each answer.

use crate::blkpg::{self, Change};
use crate::claim::Claim;
use crate::errno::words_of;

/// A partition as the kernel shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToldPartition {
    /// Its number.
    pub number: u32,
    /// Its first byte on the disk.
    pub start_bytes: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
}

/// An answer of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelAnswer {
    /// The partition's number.
    pub number: u32,
    /// The request: added, removed or resized.
    pub asked: &'static str,
    /// The kernel's words where it refused.
    pub answer: Result<(), String>,
}

/// Partitions of the claimed disk that the kernel shows, in order of number.
#[must_use]
pub fn told_partitions(claim: &Claim) -> Vec<ToldPartition> {
    let (major, minor) = claim.number();
    let Ok(entries) = std::fs::read_dir(format!("/sys/dev/block/{major}:{minor}")) else {
        return Vec::new();
    };
    let mut found: Vec<ToldPartition> = (entries.flatten())
        .filter_map(|entry| {
            let number = |name: &str| -> Option<u64> {
                std::fs::read_to_string(entry.path().join(name)).ok()?.trim().parse().ok()
            };
            // Whatever the disk's sector, both count in 512 bytes.
            Some(ToldPartition {
                number: number("partition")?.try_into().ok()?,
                start_bytes: number("start")?.checked_mul(512)?,
                length_bytes: number("size")?.checked_mul(512)?,
            })
        })
        .collect();
    found.sort_by_key(|one| one.number);
    found
}

/// Tells the kernel that the claimed disk has the partitions `wanted`, and returns its answers;
/// none where it shows them already.
#[must_use]
pub fn tell_partitions(claim: &mut Claim, wanted: &[ToldPartition]) -> Vec<KernelAnswer> {
    let now = told_partitions(claim);
    claim.release_partitions();
    let claim = &*claim;
    let mut answers = Vec::new();
    let mut ask = |change, asked, one: &ToldPartition| {
        let answer =
            blkpg::ask(claim.fd(), change, one.number, [one.start_bytes, one.length_bytes])
                .map_err(words_of);
        answers.push(KernelAnswer { number: one.number, asked, answer });
    };
    let same_place = |one: &&ToldPartition, other: &ToldPartition| {
        one.number == other.number && one.start_bytes == other.start_bytes
    };
    let goes = |one: &&ToldPartition| !wanted.iter().any(|other| same_place(one, other));
    now.iter().filter(goes).for_each(|one| ask(Change::Delete, "removed", one));
    // A partition grows into the place of another only when that has shrunk.
    let shrinks = |one: &&ToldPartition| {
        now.iter().any(|old| same_place(&old, one) && old.length_bytes > one.length_bytes)
    };
    let grows = |one: &&ToldPartition| {
        now.iter().any(|old| same_place(&old, one) && old.length_bytes < one.length_bytes)
    };
    wanted.iter().filter(shrinks).for_each(|one| ask(Change::Resize, "resized", one));
    wanted.iter().filter(grows).for_each(|one| ask(Change::Resize, "resized", one));
    let comes = |one: &&ToldPartition| !now.iter().any(|old| same_place(one, old));
    wanted.iter().filter(comes).for_each(|one| ask(Change::Add, "added", one));
    answers
}
