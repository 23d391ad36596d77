//! The process that syncs: this one, or another, and whatever may keep its syncs from the kernel.

use units::{Known, Source};

use super::servers::Server;

/// The process that asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Here {
    /// Sync calls that said all went well on a descriptor that cannot be: they never reach a file.
    pub suppressed: Vec<String>,
    /// Calls that did so on some of the descriptors that they were tried on, with one of these.
    pub sometimes: Vec<(String, i64)>,
    /// Calls that fail, though the same without syncing works.
    pub refused: Vec<String>,
    /// True if it runs under a seccomp filter.
    pub is_filtered: bool,
    /// The process that traces it, by number and name.
    pub tracer: Option<(u32, String)>,
    /// Libraries in its memory that stand in libc's place, or may, though nothing names them as
    /// preloaded; or why its libraries are not known.
    pub hidden: Known<Vec<Library>>,
    /// Libraries that are loaded into all that it starts, before their own.
    pub preloads: Vec<Library>,
    /// Libraries that were asked for to be so, and are not loaded, by what asked for them.
    pub absent: Vec<NeededLibrary>,
    /// Libraries that were asked for to be so, of which it is not known whether they are loaded.
    pub unsure: Vec<NeededLibrary>,
}

impl Default for Here {
    /// One in which nothing stands in the way of a sync.
    fn default() -> Here {
        Here {
            suppressed: Vec::new(),
            sometimes: Vec::new(),
            refused: Vec::new(),
            is_filtered: false,
            tracer: None,
            hidden: Known::yes(Vec::new(), Source::Procfs),
            preloads: Vec::new(),
            absent: Vec::new(),
            unsure: Vec::new(),
        }
    }
}

/// A library that something asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededLibrary {
    /// Its path or name, harmless to print.
    pub name: String,
    /// The variable or file that asks for it: `LD_PRELOAD`.
    pub by: String,
}

/// Another process, that syncs for its living.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its name, harmless to print.
    pub name: String,
    /// Options of this run, for another one that is offered: ` --rows none`.
    pub options: String,
    /// The process that traces it, by number and name.
    pub tracer: Option<(u32, String)>,
    /// The files that it runs code of; or why they are not known.
    pub files: Known<Vec<Library>>,
    /// Libraries that were to be loaded before its own and are not in its memory; or why they are
    /// not known.
    pub absent: Known<Vec<String>>,
    /// Number of threads it has.
    pub threads: usize,
    /// Number of them that are only known to have as many seccomp filters as others.
    pub alike: usize,
    /// Why the filters of some were not read.
    pub missed: Option<String>,
    /// Effects of seccomp filters on sync calls; or why they are not known.
    pub calls: Known<Vec<CallFate>>,
    /// The server that it is, where its settings decide whether it syncs at all.
    pub server: Option<Server>,
    /// The regular files that it has open for writing, and its log where that is known; or why they
    /// are not known.
    pub writes: Known<Vec<WrittenFile>>,
}

/// A file that a process writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// Its path as the process sees it, harmless to print.
    pub path: String,
    /// Path from here to where its file system is mounted, harmless to print.
    pub mount_point: String,
    /// True if it lies on the file system that syncs were tried on.
    pub is_here: bool,
}

/// A file of code, that may stand in libc's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// Its path or name, harmless to print.
    pub name: String,
    /// True if it is the program itself, whose functions stand before those of all libraries.
    pub is_program: bool,
    /// The variable or file that puts it before others: `LD_PRELOAD`; `None` where none was seen.
    pub preloaded_by: Option<String>,
    /// The calls of libc's that it defines itself; or why that is not known.
    pub takes: Known<Vec<String>>,
}

/// Effect on one call of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFate {
    /// The call: `fsync`, `openat with O_DSYNC`.
    pub call: String,
    /// Effect of the filters on it.
    pub fate: Fate,
}

/// Effect of filters on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It reaches the kernel.
    Done,
    /// It does nothing and says that all went well.
    Suppressed,
    /// It fails with this error, or the process ends; the program sees that.
    Refused,
    /// Another process, or the program's own signal handler, decides.
    Decided,
    /// It does nothing and says that all went well in some threads; the text says in how many:
    /// `in 2 of the 5 threads that were read`.
    Sometimes(String),
    /// Depends on its arguments.
    Unclear,
}
