//! What this process, and one that was asked about, do to their own syncs: files of code are read
//! for what they put in libc's place, filters for what they answer.

use std::path::{Path, PathBuf};

use device::Disk;
use format::elf::{self, Elf, NoElf};
use host::process::{Filters, Mapped, Preload, own_preloads};
use report::Refusal;
use stack::honesty::{FilterSet, Here, Library, OTHERS, Process, ProgramKind, SYNCS, fates};
use units::{Known, Source};

/// What a C library starts programs and threads with: it defines syncs by right.
const LIBC: &[&str] = &["__libc_start_main", "__libc_init", "pthread_create"];

/// Where libraries without a path are looked for; a loader looks in more places.
const DIRECTORIES: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// This process, and so all that it starts.
pub(super) fn here() -> Here {
    let found = host::suppressed();
    let owned = |calls: Vec<&str>| calls.into_iter().map(str::to_owned).collect();
    let sometimes = found.sometimes.into_iter();
    Here {
        suppressed: owned(found.silent),
        sometimes: sometimes.map(|(call, first)| (call.to_owned(), first.into())).collect(),
        refused: owned(found.refused),
        is_filtered: host::process::is_filtered(),
        preloads: own_preloads().iter().map(preloaded_here).collect(),
    }
}

/// What the process with this number does to its own syncs; nothing is written for it.
///
/// # Errors
/// When there is none, or nothing to look at.
pub(crate) fn asked(pid: u32) -> Result<Process, Refusal> {
    let look = host::look_at_process(pid)
        .map_err(|error| Refusal { message: error.to_string(), hint: error.hint() })?;
    let mut kind = ProgramKind::of(std::env::consts::ARCH);
    let absent = match (&look.preloads, &look.mapped) {
        (Known::Yes(fact), Known::Yes(mapped)) => {
            Known::yes(absent(&fact.value, &mapped.value), fact.source)
        }
        (Known::No(reason), _) | (_, Known::No(reason)) => Known::no(reason.clone()),
    };
    let files = match look.mapped {
        Known::Yes(fact) => {
            let read: Vec<(Library, Option<Elf>)> = fact.value.iter().map(mapped).collect();
            let program = fact.value.iter().position(|file| file.is_program);
            if let Some((_, Some(elf))) = program.and_then(|place| read.get(place)) {
                kind = Some(ProgramKind { machine: elf.machine, is_64: elf.is_64 });
            }
            Known::yes(read.into_iter().map(|(library, _)| library).collect(), fact.source)
        }
        Known::No(reason) => Known::No(reason),
    };
    let (threads, alike, missed, calls) = match look.filters {
        Known::Yes(fact) => {
            let Filters { threads, alike, missed, .. } = &fact.value;
            let calls = match calls(&fact.value, kind) {
                Ok(calls) => Known::yes(calls, fact.source),
                Err(reason) => Known::No(reason),
            };
            (*threads, *alike, missed.clone(), calls)
        }
        Known::No(reason) => (0, 0, None, Known::No(reason)),
    };
    let (name, tracer) = (look.name, look.tracer);
    Ok(Process { pid, name, tracer, files, absent, threads, alike, missed, calls })
}

/// What filters make of calls that sync.
fn calls(
    filters: &Filters,
    kind: Option<ProgramKind>,
) -> Result<Vec<stack::honesty::CallFate>, String> {
    // Without filters it does not matter how its calls are numbered.
    if filters.sets.iter().all(|set| !set.is_strict && set.programs.is_empty()) {
        return Ok(Vec::new());
    }
    let kind = kind.ok_or("the numbers of calls on this machine are not known here")?;
    let sets = filters.sets.iter().map(|set| FilterSet {
        threads: set.threads,
        is_strict: set.is_strict,
        programs: &set.programs,
    });
    fates(&sets.collect::<Vec<_>>(), kind)
}

/// Libraries that were named, and are not in memory.
fn absent(preloads: &[Preload], mapped: &[Mapped]) -> Vec<String> {
    let is_there = |preload: &&Preload| mapped.iter().any(|file| file.preloads.contains(preload));
    preloads.iter().filter(|one| !is_there(one)).map(|one| one.name.clone()).collect()
}

/// A file of code, and what it is.
fn mapped(file: &Mapped) -> (Library, Option<Elf>) {
    let is_preloaded = !file.preloads.is_empty();
    let (takes, elf) = match &file.file {
        Ok(disk) => taken(disk, is_preloaded),
        Err(reason) => (Known::no(reason.clone()), None),
    };
    let preloaded_by = file.preloads.first().map(|one| one.named_by.to_owned());
    (Library { name: file.path.clone(), preloaded_by, takes }, elf)
}

/// What a file of code puts in libc's place. Of one that is not preloaded just syncs are told: that
/// it has an `open` of its own says little, for nothing puts that before libc's.
fn taken(file: &dyn Disk, is_preloaded: bool) -> (Known<Vec<String>>, Option<Elf>) {
    let names = [SYNCS, OTHERS, LIBC].concat();
    let elf = match elf::read(file, &names) {
        Ok(elf) => elf,
        // Code that is no library stands in nobody's place.
        Err(NoElf::Magic) => return (Known::yes(Vec::new(), Source::Derived), None),
        Err(error) => return (Known::no(error.to_string()), None),
    };
    let is_libc = !is_preloaded && elf.defines.iter().any(|name| LIBC.contains(name));
    let counts =
        |name: &&&str| !is_libc && (SYNCS.contains(name) || is_preloaded && OTHERS.contains(name));
    let takes = elf.defines.iter().filter(counts).map(|&name| name.to_owned()).collect();
    (Known::yes(takes, Source::Derived), Some(elf))
}

/// A library that is loaded into all that is started here.
fn preloaded_here(preload: &Preload) -> Library {
    let takes = match host::FileDisk::open(&place(&preload.name)) {
        Ok(disk) => taken(&disk, true).0,
        Err(error) => Known::no(error.to_string()),
    };
    let preloaded_by = Some(preload.named_by.to_owned());
    Library { name: preload.name.clone(), preloaded_by, takes }
}

/// Where a library may be that is named with or without its path.
fn place(name: &str) -> PathBuf {
    let machine = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let own = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let mut directories = std::env::split_paths(&own)
        .chain([PathBuf::from(machine)])
        .chain(DIRECTORIES.map(PathBuf::from));
    let found = directories.find_map(|directory| {
        let path = directory.join(name);
        (!name.contains('/') && path.is_file()).then_some(path)
    });
    found.unwrap_or_else(|| Path::new(name).to_owned())
}
