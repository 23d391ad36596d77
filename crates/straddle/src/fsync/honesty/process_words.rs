//! Words about a process that was asked about.

use durability::{CallFate, Fate, Library, Process, is_suppressor};
use report::fsync::ProcessWord;
use units::Known;

/// Returns what a process may do to its syncs, what was looked at, and what could not be.
pub(super) fn of(process: &Process) -> ProcessWord {
    let mut suppressors: Vec<String> = Vec::new();
    let (mut looked_at, mut unknown) = (Vec::new(), Vec::new());
    match &process.files {
        Known::Yes(fact) => {
            let files = &fact.value;
            suppressors.extend(files.iter().filter_map(library));
            unknown.extend(files.iter().filter_map(|file| match &file.takes {
                Known::No(reason) => {
                    Some(format!("The content of {} is not known: {reason}.", file.name))
                }
                Known::Yes(_) => None,
            }));
            let read = files.iter().filter(|file| matches!(file.takes, Known::Yes(_))).count();
            looked_at.push(format!(
                "Its program and libraries: {read} of {} read.",
                counted(files.len(), "file")
            ));
        }
        Known::No(reason) => unknown.push(format!("Its libraries are not known: {reason}.")),
    }
    match &process.absent {
        Known::Yes(_) => {}
        Known::No(reason) => {
            unknown.push(format!("Its preloaded libraries are not known: {reason}."));
        }
    }
    match &process.calls {
        Known::Yes(fact) => {
            suppressors.extend(fact.value.iter().filter_map(call));
            let read = process.threads - process.alike.min(process.threads);
            looked_at.push(match &process.missed {
                None => format!(
                    "Seccomp filters: {read} of {} read.",
                    counted(process.threads, "thread")
                ),
                Some(_) => "The seccomp filters of some of its threads were read.".to_owned(),
            });
        }
        Known::No(reason) => unknown.push(format!("Its seccomp filters are not known: {reason}.")),
    }
    if let Some(reason) = &process.missed {
        unknown.push(format!("The seccomp filters of some threads are not known: {reason}."));
    }
    if let Some((number, name)) = &process.tracer {
        suppressors.push(format!("Process {number} ({name}) traces it."));
    }
    looked_at.extend(process.server.as_ref().map(|server| match server.settings.len() {
        0 => format!("The settings of {} were not read.", server.title),
        many => {
            format!("{} of {} read from its files.", counted(many, "setting"), server.title)
        }
    }));
    ProcessWord {
        pid: process.pid.into(),
        name: process.name.clone(),
        suppressors,
        looked_at,
        unknown,
    }
}

/// Returns what a library may do to syncs.
fn library(library: &Library) -> Option<String> {
    let name = &library.name;
    if is_suppressor(library) {
        return Some(format!("{name} is loaded."));
    }
    let takes = library.takes.value().filter(|takes| !takes.is_empty())?.join(", ");
    Some(match &library.preloaded_by {
        Some(by) => format!("{name}, preloaded by {by}, replaces libc's {takes}."),
        None if library.is_program => format!("Its program {name} replaces libc's {takes}."),
        None => format!("{name} has its own {takes}."),
    })
}

/// Returns what filters may do to a call.
fn call(call: &CallFate) -> Option<String> {
    let name = &call.call;
    match &call.fate {
        Fate::Suppressed => Some(format!("A seccomp filter suppresses {name}.")),
        Fate::Sometimes(when) => Some(format!("A seccomp filter may suppress {name}: {when}.")),
        Fate::Decided => {
            Some(format!("A seccomp filter leaves {name} to another process or a signal handler."))
        }
        Fate::Unclear => Some(format!("A seccomp filter decides on {name} by its arguments.")),
        Fate::Done | Fate::Refused => None,
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
