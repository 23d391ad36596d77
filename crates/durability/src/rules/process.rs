//! Obstacles between a program's syncs and the kernel.

use units::Known;
use units::text::shell_word;

use super::server;
use super::sync_suppressors::{SYNCS, is_suppressor};
use crate::evidence::Evidence;
use crate::grade::Grade;
use crate::process_evidence::{Fate, Library, Process, WrittenFile};
use crate::reason::Reason;

const OWN_STATUS: &str = "/proc/self/status";
/// The most libraries that one sentence names.
const NAMED_MAX: usize = 3;

/// The process that asks, and all that it starts.
pub(crate) fn here(evidence: &Evidence) -> Vec<Reason> {
    const SOURCE: &str = "the calls, made on descriptors that cannot be synced";
    let here = &evidence.here;
    let by = if here.is_filtered { ", by a seccomp filter" } else { "" };
    let change = "run without what suppresses them, as systemd-nspawn --suppress-sync";
    let mut reasons = Vec::new();
    if !here.suppressed.is_empty() {
        let calls = here.suppressed.join(", ");
        let seen = format!("{calls} do nothing in this process tree, but report success{by}");
        reasons.push(
            Reason::against("sync-suppressed", Grade::NotDurable)
                .seen(seen, SOURCE)
                .changes(change),
        );
    }
    for (call, descriptor) in &here.sometimes {
        let seen = format!(
            "{call} on descriptor {descriptor} does nothing in this process tree, but reports \
             success{by}; on other descriptors it works"
        );
        reasons.push(
            Reason::against("sync-sometimes", Grade::Suspect).seen(seen, SOURCE).changes(change),
        );
    }
    if !here.refused.is_empty() {
        let calls = here.refused.join(", ");
        reasons.push(Reason::open("sync-refused", Grade::Consistent).seen(
            format!("{calls} fails in this process tree, which a program sees"),
            "the calls, made on the root directory",
        ));
    }
    if here.is_filtered && here.suppressed.is_empty() && here.sometimes.is_empty() {
        let seen = "this process runs under a seccomp filter; all syncs that were tried passed, \
                    on other descriptors they may not";
        reasons.push(Reason::open("filtered", Grade::Consistent).seen(seen, OWN_STATUS));
    }
    reasons.extend(here.tracer.as_ref().map(|tracer| traced("this process", tracer, OWN_STATUS)));
    reasons.extend(hidden(&here.hidden));
    reasons.extend(here.preloads.iter().map(|library| {
        loaded("programs started here", library, library.preloaded_by.as_deref().unwrap_or("ld.so"))
    }));
    reasons.extend(here.absent.iter().map(|asked| {
        let seen = format!("{} is named by {}, but not loaded", asked.name, asked.by);
        Reason::open("preload-absent", Grade::Consistent).seen(seen, "/proc/self/maps")
    }));
    reasons.extend(here.unsure.iter().map(|asked| {
        let seen = format!(
            "{} is named by {}; whether programs started here load it is not known",
            asked.name, asked.by
        );
        let change = "unset it, or look at a process that runs with it: --pid";
        Reason::open("preload", Grade::Unproven).seen(seen, &*asked.by).changes(change)
    }));
    reasons
}

/// Libraries in this process that nothing names, and that may stand in libc's place.
fn hidden(libraries: &Known<Vec<Library>>) -> Vec<Reason> {
    let source = "/proc/self/maps; neither the environment nor /etc/ld.so.preload names it";
    match libraries {
        Known::Yes(fact) => {
            let preloaded = |library: &Library| {
                let preloaded_by = Some(source.to_owned());
                loaded("this process", &Library { preloaded_by, ..library.clone() }, source)
            };
            fact.value.iter().map(preloaded).collect()
        }
        Known::No(reason) => {
            let seen =
                format!("the libraries that this process has loaded are not known: {reason}");
            let reason = Reason::open("process-unknown", Grade::Unproven).seen(seen, "/proc");
            vec![reason.changes("run straddle where /proc is mounted")]
        }
    }
}

/// Reason that something traces what is called `name`.
fn traced(name: &str, (tracer, tracer_name): &(u32, String), source: &str) -> Reason {
    Reason::open("traced", Grade::Unproven)
        .seen(
            format!(
                "{name} is traced by process {tracer} ({tracer_name}), which may change its calls"
            ),
            source,
        )
        .changes("end what traces it")
}

/// The process that was asked about.
pub(crate) fn asked(evidence: &Evidence) -> Vec<Reason> {
    let Some(process) = &evidence.process else { return Vec::new() };
    let name = format!("process {} ({})", process.pid, process.name);
    let mut reasons = files(process, &name);
    let status = format!("/proc/{}/status", process.pid);
    reasons.extend(process.tracer.as_ref().map(|tracer| traced(&name, tracer, &status)));
    reasons.extend(calls(process, &name));
    reasons.extend(threads(process, &name));
    reasons.extend(server::settings(process, &name));
    reasons.extend(writes(process, &name, &evidence.directory));
    reasons
}

/// Returns whether what it writes lies where syncs were tried.
fn writes(process: &Process, name: &str, directory: &str) -> Vec<Reason> {
    let source = format!("/proc/{}/fd and mountinfo", process.pid);
    let files = match &process.writes {
        Known::Yes(fact) => &fact.value,
        Known::No(reason) => return vec![unknown(name, "which files it writes", reason)],
    };
    let log = process.server.as_ref().map_or(&[][..], |server| server.log);
    let is_log = |file: &&WrittenFile| log.iter().any(|part| file.path.contains(part));
    let logs: Vec<&WrittenFile> = files.iter().filter(is_log).collect();
    let has_log = !logs.is_empty();
    let judged = if has_log { logs } else { files.iter().collect() };
    let elsewhere: Vec<&WrittenFile> =
        judged.iter().copied().filter(|file| !file.is_here).collect();
    let (what, lie) = match has_log {
        true => (format!("the log of {name}"), "lies"),
        false => (format!("the files that {name} has open for writing"), "lie"),
    };
    let Some(first) = elsewhere.first() else {
        return vec![match judged.is_empty() {
            true => Reason::open("writes-here", Grade::Consistent).seen(
                format!("{name} has no file open for writing, so where it writes is not known"),
                source,
            ),
            false => Reason::speaks_for("writes-here")
                .seen(format!("{what} {lie} on the file system of `{directory}`"), source),
        }];
    };
    let (at_best, seen) = match judged.len() > elsewhere.len() && !has_log {
        true => (Grade::Consistent, format!("{name} writes on other file systems too")),
        false => {
            (Grade::Unproven, format!("{what} {lie} on another file system than `{directory}`"))
        }
    };
    let point = shell_word(&first.mount_point);
    let Process { pid, options, .. } = process;
    let change =
        format!("judge the other file system: straddle fsync {point} --pid {pid}{options}");
    let seen = format!("{seen}, where no sync was tried: {}", first.path);
    vec![Reason::open("writes-elsewhere", at_best).seen(seen, source).changes(change)]
}

/// Returns reasons from the effects of filters on its calls.
fn calls(process: &Process, name: &str) -> Vec<Reason> {
    let fates = match &process.calls {
        Known::Yes(fact) => &fact.value,
        Known::No(reason) => return vec![unknown(name, "what seccomp does to its syncs", reason)],
    };
    let with = |fate: &Fate| {
        let calls = fates.iter().filter(|call| call.fate == *fate);
        calls.map(|call| call.call.as_str()).collect::<Vec<_>>().join(", ")
    };
    let source = format!("its seccomp filters, /proc/{}/status", process.pid);
    let change = "start it without that filter";
    let watch = format!(
        "see what they return: strace -f -e trace=fsync,fdatasync,openat -p {}",
        process.pid
    );
    let mut reasons = Vec::new();
    let suppressed = with(&Fate::Suppressed);
    if !suppressed.is_empty() {
        let seen = format!("in {name} {suppressed} do nothing by a seccomp filter");
        reasons.push(
            Reason::against("filter-suppresses", Grade::NotDurable)
                .seen(seen, &*source)
                .changes(change),
        );
    }
    let sometimes = fates.iter().filter_map(|call| match &call.fate {
        Fate::Sometimes(when) => Some((&call.call, when)),
        _ => None,
    });
    reasons.extend(sometimes.map(|(call, when)| {
        let seen = format!("in {name} {call} may be suppressed by a seccomp filter: {when}");
        Reason::against("filter-sometimes", Grade::Suspect).seen(seen, &*source).changes(change)
    }));
    let kinds = [
        (
            Fate::Refused,
            Reason::open("filter-refuses", Grade::Consistent),
            "fail by a seccomp filter; the process sees the errors",
        ),
        (
            Fate::Decided,
            Reason::open("filter-decides", Grade::Unproven),
            "are left to another process or to a signal handler by its seccomp filter",
        ),
        (
            Fate::Unclear,
            Reason::open("filter-unclear", Grade::Unproven),
            "pass a seccomp filter that decides by their arguments",
        ),
    ];
    for (fate, reason, what) in kinds {
        let calls = with(&fate);
        if !calls.is_empty() {
            let reason = reason.seen(format!("in {name} {calls} {what}"), &*source);
            reasons.push(match fate {
                Fate::Unclear => reason.changes(&*watch),
                _ if reason.at_best > Grade::Consistent => reason.changes(change),
                _ => reason,
            });
        }
    }
    reasons
}

/// Threads whose filters were not read.
fn threads(process: &Process, name: &str) -> Vec<Reason> {
    let missed = process
        .missed
        .as_ref()
        .map(|reason| unknown(name, "what the seccomp filters of some of its threads do", reason));
    let alike = (process.alike > 0).then(|| {
        let seen = format!(
            "{} of the {} threads of {name} were not read: they have as many seccomp filters as \
             others that were",
            process.alike, process.threads
        );
        let source = format!("/proc/{}/task", process.pid);
        Reason::open("threads-alike", Grade::Consistent).seen(seen, source)
    });
    missed.into_iter().chain(alike).collect()
}

/// The files that it runs code of.
fn files(process: &Process, name: &str) -> Vec<Reason> {
    let source = format!("/proc/{}/maps", process.pid);
    let mut reasons = Vec::new();
    match &process.files {
        Known::No(reason) => {
            reasons.push(unknown(name, "which libraries it has loaded", reason));
        }
        Known::Yes(fact) => {
            let judged = fact.value.iter().filter(|file| {
                let takes = file.takes.value().is_some_and(|takes| !takes.is_empty());
                file.preloaded_by.is_some() || takes || is_suppressor(file)
            });
            reasons.extend(judged.map(|file| loaded(name, file, &source)));
            let unread: Vec<&Library> = fact
                .value
                .iter()
                .filter(|file| file.preloaded_by.is_none() && !is_suppressor(file))
                .collect();
            reasons.extend(unreadable(name, &unread));
        }
    }
    match &process.absent {
        Known::Yes(fact) => reasons.extend(fact.value.iter().map(|library| {
            Reason::open("preload-absent", Grade::Consistent).seen(
                format!("{name} was started with {library} to preload, but it is not loaded"),
                &*source,
            )
        })),
        Known::No(reason) => {
            reasons.push(Reason::open("preload-unknown", Grade::Consistent).seen(
                format!("{name}: which libraries it preloads is not known: {reason}"),
                "/proc",
            ))
        }
    }
    reasons
}

/// Libraries of which it is not known what they define, in one sentence.
fn unreadable(name: &str, files: &[&Library]) -> Option<Reason> {
    let unread = files.iter().filter_map(|file| match &file.takes {
        Known::No(reason) => Some((&file.name, reason)),
        Known::Yes(_) => None,
    });
    let unread: Vec<_> = unread.collect();
    let (_, reason) = unread.first()?;
    let names: Vec<&str> = unread.iter().take(NAMED_MAX).map(|(name, _)| name.as_str()).collect();
    let more = match unread.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(unknown(name, &format!("what {}{more} does", names.join(", ")), reason))
}

/// A library that stands in the way, or may, of what is called `whose`.
fn loaded(whose: &str, library: &Library, source: &str) -> Reason {
    let name = &library.name;
    if is_suppressor(library) {
        return Reason::against("suppressor-loaded", Grade::NotDurable)
            .seen(format!("{name} is loaded into {whose} and makes syncs do nothing"), source)
            .changes("run without that library");
    }
    let takes = match &library.takes {
        Known::Yes(fact) => &fact.value,
        Known::No(reason) => {
            return Reason::open("preload", Grade::Unproven)
                .seen(
                    format!("{name}, preloaded into {whose}, may replace libc's syncs: {reason}"),
                    source,
                )
                .changes("run without that library, or make sure that it does not replace syncs");
        }
    };
    let calls = takes.join(", ");
    let syncs = takes.iter().any(|call| SYNCS.contains(&call.as_str()));
    let change = "run without that library, or make sure that it passes syncs on";
    match (&library.preloaded_by, syncs) {
        (Some(_), _) if takes.is_empty() => Reason::open("preload", Grade::Consistent)
            .seen(format!("{name}, preloaded into {whose}, replaces none of libc's syncs"), source),
        (Some(_), true) => Reason::against("preload-takes", Grade::Suspect)
            .seen(format!("{name}, preloaded into {whose}, replaces libc's {calls}"), source)
            .changes(change),
        (Some(_), false) => Reason::open("preload-takes", Grade::Unproven)
            .seen(format!("{name}, preloaded into {whose}, replaces libc's {calls}"), source)
            .changes(change),
        (None, _) if library.is_program => Reason::open("program-takes", Grade::Unproven)
            .seen(
                format!(
                    "{whose}: its program {name} replaces libc's {calls}; whether those sync is \
                     not visible"
                ),
                source,
            )
            .changes("ask who makes that program whether it passes syncs on"),
        (None, _) => Reason::open("library-takes", Grade::Unproven)
            .seen(
                format!(
                    "{name}, loaded into {whose}, has its own {calls}; whether they replace libc's \
                     is not known"
                ),
                source,
            )
            .changes(change),
    }
}

fn unknown(name: &str, what: &str, reason: &str) -> Reason {
    Reason::open("process-unknown", Grade::Unproven)
        .seen(format!("{name}: {what} is not known: {reason}"), "/proc")
        .changes("make the process readable: the lines \"unclear\" say what prevents it")
}
