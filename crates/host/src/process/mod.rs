//! What may keep a running process's syncs from the kernel: libraries before its own, seccomp
//! filters.
//!
//! It is read from `/proc`; only filters need more, and for those the process is stopped for a
//! moment (`filters`). Nothing of it is changed. Source: proc_pid_environ(5), proc_pid_maps(5),
//! proc_pid_status(5), ld.so(8).

mod filters;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};

use thiserror::Error;
use units::{Known, Source, text};

/// The most bytes that are read of one file.
const FILE_BYTES_MAX: u64 = 4 << 20;
/// The most libraries and threads that are looked at.
const COUNT_MAX: usize = 4096;

/// What was seen of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessLook {
    /// Its name, harmless to print.
    pub name: String,
    /// Libraries that are loaded before its own: `LD_PRELOAD` of the environment that it started
    /// with, and `/etc/ld.so.preload` as it sees it. Harmless to print.
    pub preloads: Known<Vec<String>>,
    /// The files that are in its memory, each once; harmless to print.
    pub files: Known<Vec<String>>,
    /// Its seccomp filters, the oldest first, each the bytes of a program; none where it has none.
    pub filters: Known<Vec<Vec<u8>>>,
}

/// Why a process cannot be looked at.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProcessError {
    /// There is none.
    #[error("cannot look at process {pid}: {reason}")]
    None {
        /// Its number.
        pid: u32,
        /// What the kernel said.
        reason: String,
    },
}

impl ProcessError {
    /// What may help, in lower case and without a full stop.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some("find it with: pgrep -a NAME; in a container use its number outside")
    }
}

/// What keeps the syncs of process `pid` from the kernel, as far as this process may see it.
///
/// # Errors
/// When there is no such process. What may not be read of it is unknown, with the reason.
pub fn look_at_process(pid: u32) -> Result<ProcessLook, ProcessError> {
    let none = |error: io::Error| ProcessError::None { pid, reason: error.to_string() };
    let name = read(&format!("/proc/{pid}/comm")).map_err(none)?;
    Ok(ProcessLook {
        name: text::escape(name.trim_ascii_end()),
        preloads: known(preloads(pid), "environ"),
        files: known(files(pid), "maps"),
        filters: match filters_of(pid) {
            Ok(filters) => Known::yes(filters, Source::Procfs),
            Err(reason) => Known::no(reason),
        },
    })
}

/// Libraries that are loaded into all that this process starts.
#[must_use]
pub fn own_preloads() -> Vec<String> {
    let variable = std::env::var_os("LD_PRELOAD").unwrap_or_default();
    let mut found = libraries(variable.as_encoded_bytes());
    found.extend(libraries(&read("/etc/ld.so.preload").unwrap_or_default()));
    found
}

/// Whether this process runs under a seccomp filter.
#[must_use]
pub fn is_filtered() -> bool {
    read("/proc/thread-self/status").is_ok_and(|status| mode(&status) == Some(2))
}

fn known<T>(found: io::Result<T>, what: &str) -> Known<T> {
    match found {
        Ok(value) => Known::yes(value, Source::Procfs),
        Err(error) => Known::no(format!("its {what} cannot be read: {error}; try sudo")),
    }
}

fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX).read_to_end(&mut content)?;
    Ok(content)
}

fn preloads(pid: u32) -> io::Result<Vec<String>> {
    let environment = read(&format!("/proc/{pid}/environ"))?;
    let mut variables = environment.split(|&byte| byte == 0);
    let mut found =
        libraries(variables.find_map(|one| one.strip_prefix(b"LD_PRELOAD=")).unwrap_or_default());
    // That of another mount namespace is found below its root; most systems have none.
    found.extend(libraries(
        &read(&format!("/proc/{pid}/root/etc/ld.so.preload")).unwrap_or_default(),
    ));
    Ok(found)
}

/// The libraries of a list with colons or blanks between them (ld.so(8)).
fn libraries(list: &[u8]) -> Vec<String> {
    let parts = list.split(|byte| *byte == b':' || byte.is_ascii_whitespace());
    let parts = parts.filter(|part| !part.is_empty()).take(COUNT_MAX);
    parts.map(text::escape).collect()
}

/// The files in the memory of a process: what stands behind the fifth field of each line.
fn files(pid: u32) -> io::Result<Vec<String>> {
    let maps = read(&format!("/proc/{pid}/maps"))?;
    let mut found = BTreeSet::new();
    for line in maps.split(|&byte| byte == b'\n') {
        let Some(start) = line.iter().position(|&byte| byte == b'/') else { continue };
        if found.len() < COUNT_MAX {
            found.insert(text::escape(&line[start..]));
        }
    }
    Ok(found.into_iter().collect())
}

/// The filters of its threads, where all have as many: filters are a thread's own, and what some of
/// them have says nothing of the others.
fn filters_of(pid: u32) -> Result<Vec<Vec<u8>>, String> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task"));
    let tasks = tasks.map_err(|error| format!("its threads cannot be listed: {error}"))?;
    let mut filtered: Option<(u64, u32)> = None;
    let (mut least, mut most) = (u64::MAX, 0);
    for task in tasks.flatten().take(COUNT_MAX) {
        let Some(thread) = task.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        let Ok(status) = read(&format!("/proc/{pid}/task/{thread}/status")) else { continue };
        match mode(&status) {
            Some(1) => {
                return Err("it is in seccomp's strict mode, which lets no sync through".to_owned());
            }
            Some(2) => {
                let count = field(&status, b"Seccomp_filters:").unwrap_or(1);
                filtered = filtered.max(Some((count, thread)));
                (least, most) = (least.min(count), most.max(count));
            }
            _ => least = 0,
        }
    }
    if most > 0 && least < most {
        return Err(format!(
            "its threads run under different seccomp filters, {least} to {most} of them, and what \
             each does is not known"
        ));
    }
    match filtered {
        None => Ok(Vec::new()),
        Some((_, thread)) => filters::of(thread).map_err(|reason| {
            format!("it runs under a seccomp filter, and what that does is not known: {reason}")
        }),
    }
}

/// The mode of seccomp: 0 none, 1 strict, 2 filters.
fn mode(status: &[u8]) -> Option<u64> {
    field(status, b"Seccomp:")
}

fn field(status: &[u8], name: &[u8]) -> Option<u64> {
    let mut lines = status.split(|&byte| byte == b'\n');
    let value = lines.find_map(|line| line.strip_prefix(name))?;
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
