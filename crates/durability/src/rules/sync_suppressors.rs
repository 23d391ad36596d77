//! Libraries that suppress syncs, and the functions that they take.

use crate::process_evidence::Library;

/// Words of libraries whose purpose is to make syncs do nothing.
const SUPPRESSORS: [&str; 3] = ["eatmydata", "nosync", "libfsyncless"];

/// Functions of libc that sync. Who defines one before libc does has every sync of a program.
pub const SYNCS: &[&str] = &["fsync", "fdatasync", "msync", "sync_file_range", "syncfs", "sync"];

/// Functions with which a program may sync otherwise: by opening with `O_SYNC`, by a write that is
/// durable itself, by a call's number; and those of an auditor (rtld-audit(7)), which may put
/// anything in place of any function.
pub const OTHERS: &[&str] = &[
    "open",
    "open64",
    "openat",
    "openat64",
    "pwritev2",
    "pwritev64v2",
    "syscall",
    "la_symbind32",
    "la_symbind64",
];

/// Returns whether a library, by its name, is one whose purpose is to make syncs do nothing. A
/// program is called as it likes.
#[must_use]
pub fn is_suppressor(library: &Library) -> bool {
    let name = library.name.rsplit('/').next().unwrap_or(&library.name);
    !library.is_program && SUPPRESSORS.iter().any(|word| name.contains(word))
}
