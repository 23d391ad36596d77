//! A setting that was read of a server, and the process that it was read of.

use units::text::escape;

/// The most characters of a setting that are shown.
const SHOWN_MAX: usize = 80;

/// A server whose settings decide whether it syncs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name: `PostgreSQL`.
    pub title: &'static str,
    /// Command that shows what is in force.
    pub ask: String,
    /// Settings that could be read.
    pub settings: Vec<ServerSetting>,
    /// Parts of the paths of its log, which it writes and syncs: a file that it has open for
    /// writing and whose path holds one of these is where its commits go.
    pub log: &'static [&'static str],
    /// Path of its log, as the process sees it, where that is known without an open file.
    pub log_path: Option<String>,
}

/// A setting that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSetting {
    /// Its text, harmless to print: `fsync = off`.
    pub text: String,
    /// True if the text is an option that was not given.
    pub is_absent: bool,
    /// The file or command line that holds it: `postgresql.auto.conf`.
    pub source: String,
    /// Its effect on syncs.
    pub effect: SyncEffect,
    /// Confidence that the running server uses it.
    pub standing: Confidence,
}

/// Effect of a setting on syncs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncEffect {
    /// Each commit is synced.
    Synced,
    /// Commits are acknowledged before they are synced.
    Late,
    /// Nothing is synced.
    Never,
    /// Torn pages are not mended after a crash.
    Torn,
}

/// Confidence that a running server uses a setting that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// The server was started with it, and nothing changed that.
    InForce,
    /// The server was started with it; a change at run time would leave no trace.
    AtStart,
    /// The server may use another value, for this reason.
    Unsure(String),
}

/// Reads facts about processes from outside.
pub trait Processes {
    /// Returns the command line of a process; empty where it cannot be read.
    fn arguments(&self, pid: u32) -> Vec<String>;
    /// Returns the process that started a process; `None` where that is not known.
    fn parent(&self, pid: u32) -> Option<u32>;
    /// Returns the environment that a process was started with, each as `NAME=value`; `None` where
    /// it cannot be read.
    fn environment(&self, pid: u32) -> Option<Vec<String>>;
    /// Returns the working directory of a process; `None` where it cannot be read.
    fn directory(&self, pid: u32) -> Option<String>;
    /// Returns the file at a path, as a process sees it; `None` where it cannot be read.
    fn file(&self, pid: u32, path: &str) -> Option<ConfigFile>;
    /// Returns the names in the directory at a path, as a process sees it, and the last change of
    /// its inode, in nanoseconds since 1970; `None` where it cannot be read.
    fn names(&self, pid: u32, path: &str) -> Option<(Vec<String>, u64)>;
    /// Returns the start of a process, in nanoseconds since 1970 by the present clock; `None` where
    /// that is not known.
    fn started_ns(&self, pid: u32) -> Option<u64>;
}

/// A file that a server reads settings from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Content of the file.
    pub text: String,
    /// Time of the last change of its inode, in nanoseconds since 1970.
    pub changed_ns: u64,
}

/// A process, and what it runs.
pub struct Running<'a> {
    /// The names of its program: `postgres`.
    pub names: &'a [&'a str],
    /// The libraries that it runs code of, by their paths.
    pub libraries: &'a [&'a str],
    /// Its number.
    pub pid: u32,
    /// Source of all facts about processes.
    pub processes: &'a dyn Processes,
}

impl Running<'_> {
    /// Path of a file that the process names, from its root.
    pub(super) fn within(&self, path: &str) -> String {
        match self.processes.directory(self.pid) {
            Some(directory) if !path.starts_with('/') => format!("{directory}/{path}"),
            _ => path.to_owned(),
        }
    }
}

/// Returns the reason to doubt that a process read `path` as it is now, where it has one.
pub(super) fn doubt(path: &str, changed_ns: u64, started_ns: Option<u64>) -> Option<String> {
    let is_older = started_ns.is_some_and(|started_ns| changed_ns < started_ns);
    let changed =
        || format!("{} may have changed since the server read it", escape(path.as_bytes()));
    (!is_older).then(changed)
}

/// A value, short and harmless to print.
pub(super) fn cut(value: &str) -> String {
    escape(value.chars().take(SHOWN_MAX).collect::<String>().as_bytes())
}
