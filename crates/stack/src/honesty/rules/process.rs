//! What keeps syncs from the kernel before they start.

use super::super::evidence::{Evidence, Fate, Process};
use super::{Grade, Reason};

/// Words of libraries whose purpose is to make syncs do nothing.
const SUPPRESSORS: [&str; 3] = ["eatmydata", "nosync", "libfsyncless"];

/// Words of libraries whose purpose is known, and is memory.
const ALLOCATORS: [&str; 4] = ["libjemalloc", "libtcmalloc", "libmimalloc", "libhugetlbfs"];

/// The best grade with a library that is put before a program's own: it may replace any call.
fn at_best(library: &str) -> Grade {
    match ALLOCATORS.iter().any(|word| library.contains(word)) {
        true => Grade::Consistent,
        false => Grade::Unproven,
    }
}

/// Whether a library, by its name, is one whose purpose is to make syncs do nothing.
#[must_use]
pub fn suppresses(library: &str) -> bool {
    SUPPRESSORS.iter().any(|word| library.contains(word))
}

/// The process that asks, and all that it starts.
pub(in super::super) fn here(evidence: &Evidence) -> Vec<Reason> {
    let here = &evidence.here;
    let mut reasons = Vec::new();
    if !here.suppressed.is_empty() {
        let by = if here.is_filtered { ", by a seccomp filter" } else { "" };
        let calls = here.suppressed.join(", ");
        reasons.push(
            Reason::against("sync-suppressed", Grade::NotDurable)
                .seen(
                    format!(
                        "{calls} do nothing in this process tree and say that all went well{by}"
                    ),
                    "the calls, made on a descriptor that cannot be",
                )
                .changes("run without what suppresses them, as systemd-nspawn --suppress-sync"),
        );
    }
    if !here.refused.is_empty() {
        let calls = here.refused.join(", ");
        reasons.push(Reason::open("sync-refused", Grade::Consistent).seen(
            format!("{calls} fails in this process tree, which a program sees"),
            "the calls, made on the root directory",
        ));
    }
    for library in &here.preloads {
        reasons.push(match suppresses(library) {
            true => Reason::against("preload", Grade::NotDurable)
                .seen(
                    format!("{library} makes syncs do nothing in what is started here"),
                    "LD_PRELOAD",
                )
                .changes("start without it"),
            false => Reason::open("preload", at_best(library)).seen(
                format!(
                    "{library} is loaded into what is started here, and may stand before its syncs"
                ),
                "LD_PRELOAD",
            )
            .changes("start without it, or make sure that it leaves syncs alone"),
        });
    }
    reasons
}

/// The process that was asked about.
pub(in super::super) fn asked(evidence: &Evidence) -> Vec<Reason> {
    let Some(process) = &evidence.process else { return Vec::new() };
    let mut reasons = libraries(process);
    let name = named(process);
    match &process.calls {
        units::Known::Yes(fact) => {
            let with = |fate: Fate| {
                let calls = fact.value.iter().filter(|call| call.fate == fate);
                calls.map(|call| call.call.as_str()).collect::<Vec<_>>().join(", ")
            };
            let source = format!("its seccomp filters, /proc/{}/status", process.pid);
            let suppressed = with(Fate::Suppressed);
            let kinds = [
                (Fate::Refused, "filter-refuses", "fail by its seccomp filter, which it sees"),
                (Fate::Decided, "filter-decides", "are left to another process by its filter"),
            ];
            if !suppressed.is_empty() {
                reasons.push(
                    Reason::against("filter-suppresses", Grade::NotDurable)
                        .seen(
                            format!("in {name} {suppressed} do nothing by a seccomp filter"),
                            &*source,
                        )
                        .changes("start it without that filter"),
                );
            }
            for (fate, code, what) in kinds {
                let calls = with(fate);
                if !calls.is_empty() {
                    let at_best =
                        if fate == Fate::Decided { Grade::Unproven } else { Grade::Consistent };
                    let seen = format!("in {name} {calls} {what}");
                    reasons.push(Reason::open(code, at_best).seen(seen, &*source));
                }
            }
        }
        units::Known::No(reason) => {
            reasons.push(unknown(&name, "what seccomp does to its syncs", reason));
        }
    }
    reasons
}

fn libraries(process: &Process) -> Vec<Reason> {
    let name = named(process);
    let mut reasons = Vec::new();
    match &process.suppressors {
        units::Known::Yes(fact) => reasons.extend(fact.value.iter().map(|library| {
            Reason::against("suppressor-loaded", Grade::NotDurable)
                .seen(
                    format!("{name} has {library} loaded, which makes syncs do nothing"),
                    format!("/proc/{}/maps", process.pid),
                )
                .changes("start it without that library")
        })),
        units::Known::No(reason) => {
            reasons.push(unknown(&name, "which libraries it has loaded", reason));
        }
    }
    if let units::Known::Yes(fact) = &process.preloads {
        let others = fact.value.iter().filter(|library| !suppresses(library));
        reasons.extend(others.map(|library| {
            Reason::open("preload", at_best(library))
                .seen(
                    format!(
                        "{name} was started with {library}, which may stand before its own syncs"
                    ),
                    format!("/proc/{}/environ", process.pid),
                )
                .changes("start it without that library, or make sure that it leaves syncs alone")
        }));
    }
    reasons
}

fn named(process: &Process) -> String {
    format!("process {} ({})", process.pid, process.name)
}

fn unknown(name: &str, what: &str, reason: &str) -> Reason {
    Reason::open("process-unknown", Grade::Unproven)
        .seen(format!("of {name} {what} is not known: {reason}"), "/proc")
        .changes("run straddle as root, in no container")
}
