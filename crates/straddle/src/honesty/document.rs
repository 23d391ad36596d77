//! The part of the document.

use report::fsync::{self, DriveWord, Honesty, LayerFlushes, ProcessWord};
use stack::honesty::{
    self, CallFate, Counts, Evidence, Fate, Grading, Kind, Layer, Library, Process, Protection,
    Window, fewest_per_sync,
};
use units::Known;

/// What was seen, and what follows.
pub(super) fn of(evidence: &Evidence, grading: &Grading) -> Honesty {
    let mut would_change: Vec<String> = Vec::new();
    for change in grading.reasons.iter().filter_map(|reason| reason.change.clone()) {
        if !would_change.contains(&change) {
            would_change.push(change);
        }
    }
    if grading.grade <= honesty::Grade::Unproven {
        would_change.push("a power cut under load, with a check of what was lost".to_owned());
    }
    Honesty {
        grade: grading.grade.word().to_owned(),
        sentence: sentence(&grading.sentence),
        evidence: grading.reasons.iter().map(reason).collect(),
        would_change: would_change.iter().map(|change| sentence(change)).collect(),
        layers: evidence.layers.iter().map(layer).collect(),
        drive: drive(evidence),
        process: evidence.process.as_ref().map(process),
    }
}

/// With its full stop. It begins with a name as often as not, so no capital is put.
fn sentence(text: &str) -> String {
    format!("{text}.")
}

fn reason(reason: &honesty::Reason) -> fsync::Evidence {
    fsync::Evidence {
        code: reason.code.to_owned(),
        direction: reason.direction.word().to_owned(),
        sentence: sentence(&reason.sentence),
        source: reason.source.clone(),
    }
}

fn layer(layer: &Layer) -> LayerFlushes {
    let counts = layer.counted.as_ref().ok().filter(|counts| !counts.overwrites.is_empty());
    let windows = |counts: &Counts| -> Vec<Window> {
        counts.overwrites.iter().chain(&counts.appends).copied().collect()
    };
    let sum = |of: fn(&Window) -> u64| {
        counts.map(|counts| windows(counts).iter().map(of).fold(0, u64::saturating_add))
    };
    let write_cache = layer.write_back.value().map(|&write_back| match write_back {
        true => "write back".to_owned(),
        false => "write through".to_owned(),
    });
    LayerFlushes {
        name: layer.name.clone(),
        kind: kind(&layer.kind),
        flushes: sum(|window| window.flushes),
        writes: sum(|window| window.writes),
        syncs: sum(|window| window.syncs).unwrap_or(0),
        flushes_per_sync: counts.and_then(|counts| fewest_per_sync(&counts.overwrites)),
        append_flushes_per_sync: counts.and_then(|counts| fewest_per_sync(&counts.appends)),
        empty_flushes_per_sync: counts.and_then(|counts| fewest_per_sync(&counts.empty)),
        write_cache,
        forced_unit_access: layer.forced_unit_access.value().copied(),
    }
}

fn kind(kind: &Kind) -> String {
    match kind {
        Kind::FileSystem { .. } => "file system".to_owned(),
        Kind::Memory(_) => "memory".to_owned(),
        Kind::Opaque { .. } => "opaque".to_owned(),
        Kind::File => "file".to_owned(),
        Kind::Loop(Some(true)) => "loop, direct".to_owned(),
        Kind::Loop(_) => "loop, through the page cache".to_owned(),
        Kind::Mapped(what) => what.clone(),
        Kind::Drive(_) => "drive".to_owned(),
        Kind::Lost(_) => "unknown".to_owned(),
    }
}

/// The drive that has the worst to tell.
fn drive(evidence: &Evidence) -> Option<DriveWord> {
    let words = evidence.layers.iter().filter_map(|layer| match &layer.kind {
        Kind::Drive(word) => Some(word),
        _ => None,
    });
    let rank = |word: &honesty::DriveWord| {
        let protection = match word.protection {
            Protection::Failed => 2,
            Protection::Unknown => 1,
            Protection::Good => 0,
        };
        (protection, word.life_used_percent.value().copied())
    };
    let worst = words.max_by_key(|word| rank(word))?;
    let protection = match worst.protection {
        Protection::Good => "good",
        Protection::Failed => "failed",
        Protection::Unknown => "unknown",
    };
    Some(DriveWord {
        power_loss_protection: protection.to_owned(),
        power_loss_source: worst.protection_source.clone(),
        life_used_percent: worst.life_used_percent.value().map(|&used| used.into()),
        life_source: match &worst.life_used_percent {
            Known::Yes(_) => "the drive's own estimate".to_owned(),
            Known::No(reason) => reason.clone(),
        },
    })
}

fn process(process: &Process) -> ProcessWord {
    let mut suppressors: Vec<String> = Vec::new();
    let (mut looked_at, mut unknown) = (Vec::new(), Vec::new());
    match &process.files {
        Known::Yes(fact) => {
            let files = &fact.value;
            suppressors.extend(files.iter().filter_map(library));
            unknown.extend(files.iter().filter_map(|file| match &file.takes {
                Known::No(reason) => {
                    Some(format!("What {} defines is not known: {reason}.", file.name))
                }
                Known::Yes(_) => None,
            }));
            let read = files.iter().filter(|file| matches!(file.takes, Known::Yes(_))).count();
            looked_at.push(format!(
                "{read} of the {} it runs code of were read.",
                counted(files.len(), "file")
            ));
        }
        Known::No(reason) => unknown.push(format!("Its libraries are not known: {reason}.")),
    }
    match &process.absent {
        Known::Yes(_) => {}
        Known::No(reason) => {
            unknown.push(format!("What was to be preloaded is not known: {reason}."));
        }
    }
    match &process.calls {
        Known::Yes(fact) => {
            suppressors.extend(fact.value.iter().filter_map(call));
            let read = process.threads - process.alike.min(process.threads);
            looked_at.push(match &process.missed {
                None => format!(
                    "The seccomp filters of {read} of its {} were read.",
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
    ProcessWord {
        pid: process.pid.into(),
        name: process.name.clone(),
        suppressors,
        looked_at,
        unknown,
    }
}

/// What a library may do to syncs.
fn library(library: &Library) -> Option<String> {
    let name = &library.name;
    if honesty::suppresses(name) {
        return Some(format!("{name} is loaded."));
    }
    let takes = library.takes.value().filter(|takes| !takes.is_empty())?.join(", ");
    Some(match &library.preloaded_by {
        Some(by) => format!("{name}, preloaded by {by}, puts its own {takes} in libc's place."),
        None => format!("{name} has its own {takes}."),
    })
}

/// What filters may do to a call.
fn call(call: &CallFate) -> Option<String> {
    let name = &call.call;
    match &call.fate {
        Fate::Suppressed => Some(format!("A seccomp filter suppresses {name}.")),
        Fate::Sometimes(when) => Some(format!("A seccomp filter may suppress {name}: {when}.")),
        Fate::Decided => Some(format!("A seccomp filter leaves {name} to others.")),
        Fate::Unclear => Some(format!("What a seccomp filter does to {name} is not clear.")),
        Fate::Done | Fate::Refused => None,
    }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
