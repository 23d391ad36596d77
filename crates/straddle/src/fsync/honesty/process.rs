//! Effects of this process, and of one that was asked about, on their own syncs: files of code are
//! read for what they put in libc's place, filters for what they answer.

use std::path::{Path, PathBuf};

use device::Disk;
use device::mountinfo::{self, MountLine};
use durability::elf::{self, Elf, NoElf};
use durability::{
    CallFate, ConfigFile, FilterSet, Here, Library, NeededLibrary, OTHERS, Process, Processes,
    ProgramKind, Running, SYNCS, Server, WrittenFile, fates,
};
use host::process::{Filters, MappedFile, OpenFile, Preload, own_preloads};
use report::Refusal;
use units::{Known, Source, text};

/// Symbols with which a C library starts programs and threads: it defines syncs by right.
const LIBC: &[&str] = &["__libc_start_main", "__libc_init", "pthread_create"];

/// Symbols that only a C library defines.
const START: [&str; 2] = ["__libc_start_main", "__libc_init"];

/// Place where libraries without a path are looked for; a loader looks in more places.
const DIRECTORIES: [&str; 4] = ["/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// This process, and so all that it starts.
pub(super) fn here() -> Here {
    let found = host::suppressed();
    let own = host::process::own_files(&own_preloads());
    let owned = |calls: Vec<&str>| calls.into_iter().map(str::to_owned).collect();
    let sometimes = found.sometimes.into_iter();
    Here {
        suppressed: owned(found.silent),
        sometimes: sometimes.map(|(call, first)| (call.to_owned(), first.into())).collect(),
        refused: owned(found.refused),
        is_filtered: host::process::is_filtered(),
        tracer: host::process::own_tracer(),
        hidden: Known::of(own.as_ref().map(|files| hidden(files)), Source::Procfs),
        ..preloaded(own_preloads(), &own.unwrap_or_default())
    }
}

/// Libraries in this process that nothing names as preloaded, and that stand in libc's place: one
/// may have taken its name out of the environment. Of its own libraries none does so but libc.
fn hidden(files: &[MappedFile]) -> Vec<Library> {
    let others = || files.iter().filter(|file| !file.is_program);
    let has_start = |file: &&MappedFile| {
        let elf = file.file.as_ref().ok().and_then(|disk| elf::read(disk, &START).ok());
        elf.is_some_and(|elf| !elf.defines.is_empty())
    };
    // Where there are two, either may be in front.
    let has_one_libc = others().filter(has_start).count() == 1;
    let unnamed = others().filter(|file| file.preloads.is_empty());
    let one = |file: &MappedFile| {
        let takes = match &file.file {
            Ok(disk) => taken(disk, !(has_one_libc && has_start(&file))).0,
            Err(reason) => Known::no(reason.clone()),
        };
        let name = file.path.clone();
        Library { name, is_program: false, preloaded_by: None, takes }
    };
    let judged = unnamed.map(one);
    judged.filter(|library| library.takes.value().is_none_or(|takes| !takes.is_empty())).collect()
}

/// Returns what is loaded into this process before its own libraries, and so into all that it
/// starts; of a static program that is told by the files that are there.
fn preloaded(preloads: Vec<Preload>, files: &[MappedFile]) -> Here {
    let mut here = Here::default();
    let is_dynamic = files.iter().any(|file| !file.is_program);
    for preload in preloads {
        let asked = NeededLibrary { name: preload.name.clone(), by: preload.named_by.to_owned() };
        let loaded = files.iter().find(|file| file.preloads.contains(&preload));
        match (loaded, place(&preload.name)) {
            (Some(file), _) => here.preloads.push(mapped(file).0),
            // The loader passes over what it cannot take (ld.so(8)), here as there.
            (None, _) if is_dynamic => here.absent.push(asked),
            (None, Some(path)) => here.preloads.push(preloaded_here(&preload, &path)),
            (None, None) if is_missing(&preload.name) => here.absent.push(asked),
            (None, None) => here.unsure.push(asked),
        }
    }
    here
}

/// Returns whether no file has this path. A name without one is looked for in more places than are
/// known here, and `$LIB` and its kin stand for what the loader knows.
fn is_missing(name: &str) -> bool {
    name.contains('/') && !name.contains('$')
}

/// Returns what the process with this number does to its own syncs; nothing is written for it.
///
/// # Errors
/// When there is none, or nothing to look at.
pub(crate) fn asked(pid: u32) -> Result<Process, Refusal> {
    let look = host::look_at_process(pid)
        .map_err(|error| Refusal::new(error.to_string(), error.hint()))?;
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
            let calls = Known::of(calls(&fact.value, kind), fact.source);
            (*threads, *alike, missed.clone(), calls)
        }
        Known::No(reason) => (0, 0, None, Known::No(reason)),
    };
    let (name, tracer) = (look.name, look.tracer);
    let server = server(pid, &name, files.value().map_or(&[][..], Vec::as_slice));
    let writes = Known::no("they were not looked at");
    Ok(Process {
        pid,
        name,
        options: String::new(),
        tracer,
        files,
        absent,
        threads,
        alike,
        missed,
        calls,
        server,
        writes,
    })
}

/// The server that process `pid` is, with what can be read of its settings.
fn server(pid: u32, name: &str, files: &[Library]) -> Option<Server> {
    let program = files.iter().find(|file| file.is_program);
    let program = program.and_then(|file| file.name.rsplit('/').next()).unwrap_or_default();
    let libraries: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    durability::server(&Running {
        names: &[name, program],
        libraries: &libraries,
        pid,
        processes: &Live,
    })
}

/// The processes of this machine.
struct Live;

impl Processes for Live {
    fn arguments(&self, pid: u32) -> Vec<String> {
        host::process::command_line(pid)
    }

    fn parent(&self, pid: u32) -> Option<u32> {
        host::process::parent_of(pid)
    }

    fn environment(&self, pid: u32) -> Option<Vec<String>> {
        host::process::environment(pid).ok()
    }

    fn directory(&self, pid: u32) -> Option<String> {
        host::process::directory_of(pid)?.to_str().map(str::to_owned)
    }

    fn file(&self, pid: u32, path: &str) -> Option<ConfigFile> {
        let (bytes, changed_ns) = host::process::file_of(pid, Path::new(path)).ok()?;
        Some(ConfigFile { text: String::from_utf8_lossy(&bytes).into_owned(), changed_ns })
    }

    fn names(&self, pid: u32, path: &str) -> Option<(Vec<String>, u64)> {
        host::process::names_of(pid, Path::new(path)).ok()
    }

    fn started_ns(&self, pid: u32) -> Option<u64> {
        host::process::started_ns(pid)
    }
}

/// The files that `process` writes; `device` is the number, as in the mount table, of the file
/// system that syncs are tried on.
pub(super) fn writes(process: &Process, device: &str) -> Known<Vec<WrittenFile>> {
    let pid = process.pid;
    let mut files = match host::process::open_for_writing(pid) {
        Ok(files) => files,
        Err(reason) => return Known::no(reason),
    };
    let table = match host::process::mount_table(pid) {
        Ok(table) => table,
        Err(error) => return Known::no(format!("its mount table cannot be read: {error}")),
    };
    let log = process.server.as_ref().and_then(|server| server.log_path.as_deref());
    files.extend(log.and_then(|path| host::process::placed(pid, Path::new(&format!("{path}/.")))));
    let mounts: Vec<MountLine> = mountinfo::lines(&table).collect();
    // Its paths lead elsewhere from another mount namespace, or another root.
    let root = match host::process::has_own_paths(pid) {
        true => format!("/proc/{pid}/root"),
        false => String::new(),
    };
    // What is on no mount of the table is memory that has a name.
    let one = |file: OpenFile| {
        let mount = mounts.iter().find(|mount| mount.id == file.mount_id)?;
        Some(WrittenFile {
            path: text::escape(&file.path),
            mount_point: format!("{root}{}", mount.point),
            is_here: mount.device == device,
        })
    };
    Known::yes(files.into_iter().filter_map(one).collect(), Source::Procfs)
}

/// Returns what filters make of calls that sync.
fn calls(filters: &Filters, kind: Option<ProgramKind>) -> Result<Vec<CallFate>, String> {
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
fn absent(preloads: &[Preload], mapped: &[MappedFile]) -> Vec<String> {
    let is_there = |preload: &&Preload| mapped.iter().any(|file| file.preloads.contains(preload));
    preloads.iter().filter(|one| !is_there(one)).map(|one| one.name.clone()).collect()
}

/// A file of code, and what it is.
fn mapped(file: &MappedFile) -> (Library, Option<Elf>) {
    let is_preloaded = !file.preloads.is_empty();
    let (takes, elf) = match &file.file {
        Ok(disk) => taken(disk, is_preloaded),
        Err(reason) => (Known::no(reason.clone()), None),
    };
    let preloaded_by = file.preloads.first().map(|one| one.named_by.to_owned());
    let (name, is_program) = (file.path.clone(), file.is_program);
    (Library { name, is_program, preloaded_by, takes }, elf)
}

/// Returns what a file of code puts in libc's place. Of one that is not preloaded just syncs are
/// reported: that it has an `open` of its own says little, for nothing puts that before libc's.
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

/// A library that is loaded into all that is started here, from its file.
fn preloaded_here(preload: &Preload, path: &Path) -> Library {
    let takes = match host::FileDisk::open(path) {
        Ok(disk) => taken(&disk, true).0,
        Err(error) => Known::no(error.to_string()),
    };
    let preloaded_by = Some(preload.named_by.to_owned());
    Library { name: preload.name.clone(), is_program: false, preloaded_by, takes }
}

/// Returns where a library is that is named with or without its path; `None` where it was not
/// found.
fn place(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let machine = format!("/usr/lib/{}-linux-gnu", std::env::consts::ARCH);
    let own = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let directories = std::env::split_paths(&own)
        .chain([PathBuf::from(machine)])
        .chain(DIRECTORIES.map(PathBuf::from));
    directories.map(|directory| directory.join(name)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_static_program_is_asked_to_load_is_told_by_the_files_that_are_there() {
        let scratch = testkit::Scratch::new();
        let there = scratch.file("libthere.so", b"no library");
        let there = testkit::scratch::text(&there);
        let asked = |name: &str| Preload::named(name, "LD_PRELOAD");
        let names = ["/nonexistent/libeatmydata.so", "libnowhere.so", "/usr/$LIB/libx.so", there];
        let here = preloaded(names.map(asked).to_vec(), &[]);
        let of =
            |asked: &[NeededLibrary]| asked.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        assert_eq!(of(&here.absent), [names[0]]);
        assert_eq!(of(&here.unsure), [names[1], names[2]]);
        assert_eq!(here.preloads.iter().map(|one| &*one.name).collect::<Vec<_>>(), [there]);
    }
}
