//! PostgreSQL: what its command line says overrules `postgresql.auto.conf`, and that
//! `postgresql.conf`. All its processes work in the data directory, and all but the first have a
//! title where their command line was.

use units::text::{escape, shell_word};

use super::postgres_includes::Settings;
use super::setting::{Confidence, Processes, Running, ServerSetting, SyncEffect, cut};

/// Prefix of the title of each process that the first one started.
const TITLE: &str = "postgres: ";
/// Greatest distance of two accounts of one start. A clock that was set, or a paused machine, moves
/// them further apart.
const AGREE_NS: u64 = 2_000_000_000;

/// Settings that decide whether it syncs, each with its effect when off.
const WANTED: [(&str, SyncEffect); 3] = [
    ("fsync", SyncEffect::Never),
    ("synchronous_commit", SyncEffect::Late),
    ("full_page_writes", SyncEffect::Torn),
];

/// Path of its write-ahead log, as the process sees it.
pub(super) fn log(running: &Running<'_>) -> String {
    running.within("pg_wal")
}

/// Options with which `psql` reaches the server: its port and the directory of its socket, as its
/// `postmaster.pid` has them (lines 4 and 5), or its settings; in words where neither can be read.
pub(super) fn reached_by(running: &Running<'_>) -> String {
    let read = Read::of(running);
    let first = read.as_ref().map_or(running.pid, |read| read.first);
    let file = running.processes.file(first, &running.within("postmaster.pid"));
    let line = |place| {
        let line = file.as_ref()?.text.lines().nth(place)?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    };
    let setting = |name| Some(read.as_ref()?.value(name)?.0);
    let port = line(3).or_else(|| setting("port"));
    let directory = line(4).or_else(|| {
        let list = setting("unix_socket_directories")?;
        list.split(',').next().map(|first| first.trim().to_owned())
    });
    let word = |known: Option<String>, name: &str| {
        known.map_or(name.to_owned(), |known| shell_word(&escape(known.as_bytes())))
    };
    format!("-p {} -h {}", word(port, "PORT"), word(directory, "DIR"))
}

/// Returns its settings that are off, as far as they can be read, and `fsync` in any case.
pub(super) fn settings(running: &Running<'_>) -> Vec<ServerSetting> {
    let Some(read) = Read::of(running) else { return Vec::new() };
    let found = WANTED.iter().filter_map(|&(name, effect)| {
        let (value, source, standing) = read.value(name)?;
        let effect = match is_off(&value) {
            true => effect,
            false if name == "fsync" => SyncEffect::Synced,
            false => return None,
        };
        let text = format!("{name} = {}", cut(&value));
        Some(ServerSetting { text, is_absent: false, source, effect, standing })
    });
    let mut found: Vec<ServerSetting> = found.collect();
    if read.value("fsync").is_none() && read.is_whole() {
        found.insert(
            0,
            ServerSetting {
                text: "fsync = on, the default".to_owned(),
                is_absent: false,
                source: "the command line, postgresql.auto.conf, postgresql.conf".to_owned(),
                effect: SyncEffect::Synced,
                standing: Read::standing(&read.files),
            },
        );
    }
    found
}

/// Settings of the first process of a server: its command line and its files.
struct Read {
    first: u32,
    given: Vec<(String, String)>,
    /// `postgresql.auto.conf`, then `postgresql.conf`, each with what it includes.
    files: [Option<Settings>; 2],
}

impl Read {
    /// `None` where the command line of the first process cannot be read.
    fn of(running: &Running<'_>) -> Option<Read> {
        let processes = running.processes;
        let is_titled =
            |pid| processes.arguments(pid).first().is_none_or(|word| word.starts_with(TITLE));
        let first = match is_titled(running.pid) {
            true => processes.parent(running.pid).filter(|&parent| !is_titled(parent))?,
            false => running.pid,
        };
        let given = given(&processes.arguments(first));
        let main = given.iter().rev().find(|(name, _)| name == "config_file");
        let main = main.map_or("postgresql.conf", |(_, path)| path.as_str());
        let started_ns = started_ns(processes, first, &running.within("postmaster.pid"));
        let file = |path: &str| Settings::read(running, started_ns, &running.within(path));
        let files = [file("postgresql.auto.conf"), file(main)];
        Some(Read { first, given, files })
    }

    /// Returns whether both files were read.
    fn is_whole(&self) -> bool {
        self.files.iter().all(Option::is_some)
    }

    /// Returns the standing of what the last of these files sets: those before overrule it.
    fn standing(files: &[Option<Settings>]) -> Confidence {
        let unread = "postgresql.auto.conf cannot be read";
        let doubts = files.iter().map(|file| match file {
            Some(file) => file.doubt.clone(),
            None => Some(unread.to_owned()),
        });
        doubts.flatten().next().map_or(Confidence::InForce, Confidence::Unsure)
    }

    /// Returns the value of a setting, its source and its standing; `None` where nothing sets it.
    fn value(&self, name: &str) -> Option<(String, String, Confidence)> {
        if let Some((_, value)) = self.given.iter().rev().find(|(given, _)| given == name) {
            let source = format!("the command line of process {}", self.first);
            return Some((value.clone(), source, Confidence::InForce));
        }
        let (place, (value, path)) = self
            .files
            .iter()
            .enumerate()
            .find_map(|(place, file)| Some((place, file.as_ref()?.value(name)?)))?;
        let standing = Read::standing(&self.files[..=place]);
        Some((value.to_owned(), escape(path.as_bytes()), standing))
    }
}

/// Returns the start of the first process by the kernel's account; by its own, the third line of
/// `postmaster.pid` in seconds, where both disagree and that was earlier.
fn started_ns(processes: &dyn Processes, first: u32, pid_file: &str) -> Option<u64> {
    let kernel_ns = processes.started_ns(first)?;
    let file = processes.file(first, pid_file)?;
    let own_s: u64 = file.text.lines().nth(2)?.trim().parse().ok()?;
    let own_ns = own_s.checked_mul(1_000_000_000)?;
    Some(if own_ns.abs_diff(kernel_ns) <= AGREE_NS { kernel_ns } else { own_ns.min(kernel_ns) })
}

/// Returns whether a value of PostgreSQL's is off: a word may be cut where it is plain which it is.
fn is_off(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let is_start = |word: &str| !value.is_empty() && word.starts_with(&value);
    value == "0" || is_start("false") || is_start("no") || (value.len() > 1 && is_start("off"))
}

/// The settings of a command line: `-F`, `-c name=value`, `--name=value`, `-p PORT`, `-k DIR`.
fn given(arguments: &[String]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        let short = [("-p", "port"), ("-k", "unix_socket_directories")].into_iter();
        let short = short.filter_map(|(option, name)| Some((name, word.strip_prefix(option)?)));
        if let Some((name, joined)) = { short }.next() {
            let value = if joined.is_empty() { words.next().cloned() } else { Some(joined.into()) };
            found.extend(value.map(|value| (name.to_owned(), value)));
            continue;
        }
        let pair = match word.as_str() {
            "-F" => Some("fsync=off"),
            "-c" => words.next().map(String::as_str),
            _ => word.strip_prefix("--").or_else(|| word.strip_prefix("-c")),
        };
        if let Some((name, value)) = pair.and_then(|pair| pair.split_once('=')) {
            found.push((name.replace('-', "_").to_ascii_lowercase(), value.to_owned()));
        }
    }
    found
}
