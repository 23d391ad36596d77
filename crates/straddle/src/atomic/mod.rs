//! `straddle atomic`: may a database run without its protection against torn pages?

use std::path::PathBuf;

use durability::untorn::{self, DataFile, UntornAnswer, UntornQuestion};
use host::Interrupt;
use jiff::Timestamp;
use report::atomic::{ATOMIC_SCHEMA, AtomicWrites};
use report::{Envelope, Look, Refusal};
use units::number::wide;

use crate::arguments::Atomic;
use crate::exit::CommandOutcome;
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::{self, Said, shown};
use crate::shared::run;
use crate::shared::tracer::Tracer;

mod data_files;
mod live_writes;

use data_files::FoundFiles;

pub(crate) fn run(atomic: &Atomic) -> anyhow::Result<CommandOutcome> {
    let inspected = InspectedMachine::live();
    let run = run::run(Timestamp::now(), &inspected);
    let kernel = run.kernel.as_deref().and_then(version);
    let mut document = AtomicWrites {
        envelope: Envelope::new(ATOMIC_SCHEMA, run),
        target: shown(&atomic.target),
        data_files: 0,
        verdict: None,
    };
    let mut tracer = Tracer::new(&inspected, false);
    let judged = data_files::find(atomic).and_then(|found| traced(atomic, &mut tracer, found));
    let (files, paths, unseen) = match judged {
        Ok(judged) => judged,
        Err(refusal) => {
            let outcome = CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal));
            document.envelope.refusal = Some(refusal);
            print(atomic, &document)?;
            return Ok(outcome);
        }
    };
    let interrupt = atomic.live.map(|_| Interrupt::install()).transpose()?;
    let live = atomic.live.zip(interrupt.as_ref()).map(|(seconds, interrupt)| {
        live_writes::watch(&inspected, &tracer.stack, &files, &paths, seconds, interrupt)
    });
    let verdict = untorn::judge(&UntornQuestion {
        stack: &tracer.stack,
        engine: atomic.engine.engine(),
        files: &files,
        kernel,
        unseen: unseen.as_deref(),
        live: live.as_ref(),
    });
    let answer = verdict.answer;
    document.data_files = wide(files.len());
    document.envelope.notes = tracer.notes;
    if atomic.target.is_dir() {
        let note = "data files outside of the directory are not judged; to judge one: straddle \
                    atomic FILE";
        document.envelope.notes.push(note.to_owned());
    }
    document.verdict = Some(verdict);
    let printed = print(atomic, &document)?;
    if let Some(signal) = interrupt.and_then(|interrupt| interrupt.signal()) {
        let said = Said::or(printed, printer::INTERRUPTED);
        return Ok(CommandOutcome::Interrupted(signal, said));
    }
    let said = Said::or(printed, "torn-page protection must stay on");
    Ok(match answer {
        UntornAnswer::Yes => CommandOutcome::Done,
        UntornAnswer::No => CommandOutcome::Found(said),
        UntornAnswer::Unknown => CommandOutcome::NoVerdict(said),
    })
}

/// Data files with their places, the path of each, and why some are missing.
type TracedFiles = (Vec<DataFile>, Vec<PathBuf>, Option<String>);

/// The files with their places, their paths, and why some are missing. A file that was named must
/// have a place; one of a directory that has none only leaves the answer open.
fn traced(
    atomic: &Atomic,
    tracer: &mut Tracer<'_>,
    found: FoundFiles,
) -> Result<TracedFiles, Refusal> {
    let mut unseen = found.unseen;
    let (mut files, mut paths) = (Vec::new(), Vec::new());
    for (path, page_bytes) in found.files {
        match tracer.file(&path) {
            Ok(traced) => {
                let name = tracer.stack.layer(traced.id).name.clone();
                files.push(DataFile {
                    name,
                    path: shown(&path),
                    page_bytes,
                    system: traced.system,
                    runs: traced.runs,
                    direct_bytes: traced.facts.direct_offset_bytes,
                    atomic_bytes: traced.facts.atomic_write_bytes,
                });
                paths.push(path);
            }
            Err(refusal) if files.is_empty() => {
                let message = refusal.message.replacen("cannot trace", "cannot judge", 1);
                return Err(Refusal { message, ..refusal });
            }
            Err(refusal) => unseen = unseen.or(Some(refusal.message)),
        }
    }
    match files.is_empty() {
        false => Ok((files, paths, unseen)),
        true => Err(data_files::none(atomic)),
    }
}

/// Major and minor version of a kernel's release such as `6.18.44-generic`.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut parts = release.split(['.', '-']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn print(atomic: &Atomic, document: &AtomicWrites) -> std::io::Result<Option<Said>> {
    let look = Look { bytes: atomic.exact.bytes, ..printer::look(atomic.explain) };
    match atomic.document.json {
        true => printer::print(&document.json()),
        false => printer::print(&report::atomic::table(document, &look)),
    }
}
