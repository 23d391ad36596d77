//! Servers that can be told to leave syncs out: which settings decide that, where those can be read
//! without the server, and how to ask it.
//!
//! What is read is what a command line or a file says. A server may have been told otherwise since,
//! and only it knows: so each has a question.
//!
//! Sources: PostgreSQL "Setting Parameters" and "Write Ahead Log", postgres(1); MySQL "InnoDB
//! Startup Options and System Variables"; etcd "Configuration options"; redis.conf; mongod(1);
//! Ceph "Ceph Tell"; SQLite "PRAGMA synchronous"; CockroachDB "Cluster Settings".

use units::text::escape;

/// The most characters of a setting that are shown.
const SHOWN_MAX: usize = 80;

/// A server whose settings decide whether it syncs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// What it is called: `PostgreSQL`.
    pub title: &'static str,
    /// The command that asks it.
    pub ask: &'static str,
    /// What could be read of its settings.
    pub settings: Vec<Setting>,
}

/// A setting that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// As it stands there, harmless to print: `fsync = off`.
    pub text: String,
    /// Place where it stands: `postgresql.auto.conf`.
    pub source: String,
    /// What it does to syncs.
    pub effect: Effect,
}

/// What a setting does to syncs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Each commit is synced.
    Synced,
    /// Commits are acknowledged before they are synced.
    Late,
    /// Nothing is synced.
    Never,
    /// Torn pages are not mended after a crash.
    Torn,
}

/// A process of a server, and what may be read around it.
pub struct Running<'a> {
    /// The names of its program: `postgres`.
    pub names: &'a [&'a str],
    /// The libraries that it runs code of, by their paths.
    pub libraries: &'a [&'a str],
    /// Its number.
    pub pid: u32,
    /// The directory that it works in; empty where that is not known.
    pub directory: &'a str,
    /// The command line of a process; empty where it cannot be read.
    pub arguments: &'a dyn Fn(u32) -> Vec<String>,
    /// What the file at a path holds, as the process sees it; `None` where it cannot be read.
    pub file: &'a dyn Fn(&str) -> Option<String>,
}

/// A server that is known.
struct Known {
    programs: &'static [&'static str],
    title: &'static str,
    ask: &'static str,
    /// Settings that keep it from syncing: name, value, effect.
    switches: &'static [(&'static str, &'static str, Effect)],
}

const KNOWN: [Known; 8] = [
    Known {
        programs: &["postgres", "postmaster"],
        title: "PostgreSQL",
        ask: "psql -c 'SHOW fsync' -c 'SHOW synchronous_commit' -c 'SHOW full_page_writes'",
        switches: &[],
    },
    Known {
        programs: &["mysqld", "mariadbd"],
        title: "MySQL or MariaDB",
        ask: "mysql -e 'SELECT @@innodb_flush_log_at_trx_commit, @@sync_binlog, \
              @@innodb_flush_method'",
        switches: &[
            ("innodb_flush_method", "nosync", Effect::Never),
            ("innodb_flush_log_at_trx_commit", "0", Effect::Late),
            ("innodb_flush_log_at_trx_commit", "2", Effect::Late),
            ("sync_binlog", "0", Effect::Late),
        ],
    },
    Known {
        programs: &["etcd"],
        title: "etcd",
        ask: "ps -ww -o args= -C etcd",
        switches: &[
            ("unsafe_no_fsync", "", Effect::Never),
            ("unsafe_no_fsync", "true", Effect::Never),
        ],
    },
    Known {
        programs: &["redis-server", "valkey-server"],
        title: "Redis",
        ask: "redis-cli CONFIG GET append*",
        switches: &[
            ("appendonly", "no", Effect::Late),
            ("appendfsync", "no", Effect::Late),
            ("appendfsync", "everysec", Effect::Late),
            ("appendfsync", "always", Effect::Synced),
        ],
    },
    Known {
        programs: &["mongod"],
        title: "MongoDB",
        ask: "mongosh --eval 'db.serverCmdLineOpts()' \
              --eval 'db.adminCommand({getDefaultRWConcern: 1})'",
        switches: &[("nojournal", "", Effect::Late), ("nojournal", "true", Effect::Late)],
    },
    Known {
        programs: &["cockroach"],
        title: "CockroachDB",
        ask: "cockroach sql -e 'SHOW CLUSTER SETTING kv.raft_log.disable_synchronization_unsafe'",
        switches: &[],
    },
    Known {
        programs: &["ceph-osd"],
        title: "a Ceph OSD",
        ask: "ceph tell osd.0 config diff",
        switches: &[],
    },
    Known {
        programs: &["sqlite3"],
        title: "a user of SQLite",
        ask: "sqlite3 FILE 'PRAGMA synchronous' (of each connection its own)",
        switches: &[],
    },
];
const SQLITE: &str = "/libsqlite3.so";

/// The server that a process is, with what could be read of its settings; `None` of another
/// program.
#[must_use]
pub fn server(running: &Running<'_>) -> Option<Server> {
    let is_called = |known: &&Known| running.names.iter().any(|name| known.programs.contains(name));
    let links = running.libraries.iter().any(|path| path.contains(SQLITE));
    let by_library = || links.then(|| KNOWN.last()).flatten();
    let known = KNOWN.iter().find(is_called).or_else(by_library)?;
    let settings = match known.title {
        "PostgreSQL" => postgres(running),
        _ => switched(known, running),
    };
    Some(Server { title: known.title, ask: known.ask, settings })
}

/// Returns what the command line, and a configuration file that it names first, switch.
fn switched(known: &Known, running: &Running<'_>) -> Vec<Setting> {
    let arguments = (running.arguments)(running.pid);
    let mut found = Vec::new();
    // Redis: the file comes first, and options overrule it.
    if let Some(file) = arguments.get(1).filter(|word| !word.starts_with('-')) {
        let path = within(running.directory, file);
        for line in (running.file)(&path).unwrap_or_default().lines() {
            let mut words = line.split_ascii_whitespace();
            let pair = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
            found.extend(setting(known, pair, &path));
        }
    }
    let source = format!("its command line, /proc/{}/cmdline", running.pid);
    for (place, word) in arguments.iter().enumerate().skip(1) {
        let Some(option) = word.strip_prefix("--") else { continue };
        let next = arguments.get(place + 1).filter(|next| !next.starts_with('-'));
        let pair = option.split_once('=').unwrap_or((option, next.map_or("", String::as_str)));
        if let Some(setting) = setting(known, pair, &source) {
            found.retain(|earlier: &Setting| !earlier.text.starts_with(&format!("{} ", pair.0)));
            found.push(setting);
        }
    }
    found
}

fn setting(known: &Known, (name, value): (&str, &str), source: &str) -> Option<Setting> {
    let plain = name.replace('-', "_");
    let is_it = |switch: &&(&str, &str, Effect)| switch.0 == plain && switch.1 == value;
    let (_, _, effect) = known.switches.iter().find(is_it)?;
    let text = if value.is_empty() { name.to_owned() } else { format!("{name} = {value}") };
    Some(Setting { text, source: escape(source.as_bytes()), effect: *effect })
}

fn within(directory: &str, path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("{directory}/{path}") }
}

/// PostgreSQL: what its command line says overrules `postgresql.auto.conf`, and that
/// `postgresql.conf`. All its processes work in the data directory.
fn postgres(running: &Running<'_>) -> Vec<Setting> {
    let directory = running.directory;
    let first = (running.file)(&format!("{directory}/postmaster.pid"));
    let first = first.and_then(|text| text.lines().next()?.trim().parse().ok());
    let arguments = (running.arguments)(first.unwrap_or(running.pid));
    let told = told(&arguments);
    let named = |name: &str| told.iter().rev().find(|(told, _)| told == name);
    let main = named("config_file").map_or("postgresql.conf", |(_, path)| path.as_str());
    let main = within(directory, main);
    let files = [format!("{directory}/postgresql.auto.conf"), main];
    let read: Vec<(String, Option<String>)> =
        files.into_iter().map(|path| (path.clone(), (running.file)(&path))).collect();
    // What a file includes may say otherwise; it is not followed.
    let includes = |text: &str| {
        text.lines().any(|line| line.trim_start().to_ascii_lowercase().starts_with("include"))
    };
    let is_whole = read.iter().all(|(_, text)| text.as_deref().is_some_and(|it| !includes(it)));
    let value = |name: &str| {
        let line = format!("the command line of process {}", first.unwrap_or(running.pid));
        let typed = named(name).map(|(_, value)| (value.clone(), line));
        let files = read.iter().filter_map(|(path, text)| {
            Some((assigned(text.as_deref()?, name)?, escape(path.as_bytes())))
        });
        typed.or_else(|| files.into_iter().next())
    };
    let wanted = [
        ("fsync", Effect::Never),
        ("synchronous_commit", Effect::Late),
        ("full_page_writes", Effect::Torn),
    ];
    let mut found = Vec::new();
    for (name, effect) in wanted {
        match value(name) {
            Some((value, source)) if is_off(&value) => {
                found.push(Setting { text: shown(name, &value), source, effect });
            }
            Some((value, source)) if name == "fsync" => {
                let (text, effect) = (shown(name, &value), Effect::Synced);
                found.push(Setting { text, source, effect });
            }
            None if name == "fsync" && is_whole => found.push(Setting {
                text: "fsync = on, which nobody changed".to_owned(),
                source: "the command line, postgresql.auto.conf, postgresql.conf".to_owned(),
                effect: Effect::Synced,
            }),
            _ => {}
        }
    }
    found
}

/// Returns whether a value of PostgreSQL's is off: a word may be cut where it is plain which it is.
fn is_off(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    let is_start = |word: &str| !value.is_empty() && word.starts_with(&value);
    value == "0" || is_start("false") || is_start("no") || (value.len() > 1 && is_start("off"))
}

fn shown(name: &str, value: &str) -> String {
    let value: String = value.chars().take(SHOWN_MAX).collect();
    format!("{name} = {}", escape(value.as_bytes()))
}

/// The settings of a command line: `-F`, `-c name=value`, `--name=value`.
fn told(arguments: &[String]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
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

/// Returns what a file of PostgreSQL's sets `name` to, the last time that it does.
fn assigned(text: &str, name: &str) -> Option<String> {
    let one = |line: &str| {
        let line = line.trim_start();
        let (found, rest) = line.split_at_checked(name.len())?;
        let rest = rest.strip_prefix(|next: char| next == '=' || next.is_ascii_whitespace())?;
        found.eq_ignore_ascii_case(name).then_some(())?;
        let value = rest.trim_start_matches(|next: char| next == '=' || next.is_ascii_whitespace());
        Some(match value.strip_prefix('\'') {
            Some(quoted) => quoted.split('\'').next().unwrap_or_default().to_owned(),
            None => value
                .split(|next: char| next == '#' || next.is_ascii_whitespace())
                .next()?
                .to_owned(),
        })
    };
    text.lines().filter_map(one).next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what is read of `name` with this command line and these files.
    fn read(name: &str, arguments: &[&str], files: &[(&str, &str)]) -> Vec<(String, Effect)> {
        let arguments: Vec<String> = arguments.iter().map(|word| (*word).to_owned()).collect();
        let running = Running {
            names: &[name],
            libraries: &[],
            pid: 7,
            directory: "/data",
            arguments: &|_| arguments.clone(),
            file: &|path| {
                let found = files.iter().find(|(known, _)| *known == path);
                found.map(|(_, text)| (*text).to_owned())
            },
        };
        let found = server(&running).expect("it is known").settings.into_iter();
        found.map(|setting| (setting.text, setting.effect)).collect()
    }

    #[track_caller]
    fn postgres(arguments: &[&str], auto: &str, main: &str, expected: &[(&str, Effect)]) {
        let files = [("/data/postgresql.auto.conf", auto), ("/data/postgresql.conf", main)];
        let expected: Vec<_> =
            expected.iter().map(|(text, effect)| ((*text).to_owned(), *effect)).collect();
        assert_eq!(read("postgres", arguments, &files), expected);
    }

    #[test]
    fn what_postgres_was_told_is_read_in_the_order_in_which_it_counts() {
        let off = ("fsync = off", Effect::Never);
        let default = ("fsync = on, which nobody changed", Effect::Synced);
        postgres(&["postgres"], "", "#fsync = off\n", &[default]);
        postgres(&["postgres"], "", "fsync = off # fast\n", &[off]);
        postgres(&["postgres"], "", "FSYNC off\nfsync = on\n", &[("fsync = on", Effect::Synced)]);
        postgres(&["postgres"], "fsync = 'off'\n", "fsync = on\n", &[off]);
        postgres(&["postgres", "-F"], "fsync = on", "", &[off]);
        postgres(&["postgres", "-D", "/data", "-c", "fsync=off"], "", "", &[off]);
        postgres(&["postgres", "--fsync=0"], "", "", &[("fsync = 0", Effect::Never)]);
        postgres(
            &["postgres", "-c", "fsync=on"],
            "fsync=off",
            "",
            &[("fsync = on", Effect::Synced)],
        );
        let late = ("synchronous_commit = off", Effect::Late);
        postgres(&["postgres"], "synchronous_commit=off", "", &[default, late]);
        postgres(
            &["postgres"],
            "",
            "full_page_writes=no",
            &[default, ("full_page_writes = no", Effect::Torn)],
        );
        // Another file may say otherwise.
        postgres(&["postgres"], "", "include_dir = 'conf.d'\n", &[]);
        postgres(&["postgres"], "", "fsyncs = off\non = fsync\n", &[default]);
        assert_eq!(read("postgres", &["postgres"], &[]), [], "nothing can be read");
    }

    #[test]
    fn a_configuration_elsewhere_is_read_where_the_command_line_says() {
        let elsewhere = [
            ("/etc/pg.conf", "fsync = off"),
            ("/data/postgresql.auto.conf", ""),
            ("/data/postgresql.conf", "fsync = on"),
        ];
        let found = read("postgres", &["postgres", "-c", "config_file=/etc/pg.conf"], &elsewhere);
        assert_eq!(found, [("fsync = off".to_owned(), Effect::Never)]);
    }

    #[test]
    fn other_servers_are_read_by_their_command_line() {
        let check = |name: &str, arguments: &[&str], expected: &[(&str, Effect)]| {
            let files = [("/data/redis.conf", "appendonly no\nappendfsync always\n")];
            let expected: Vec<_> =
                expected.iter().map(|(text, effect)| ((*text).to_owned(), *effect)).collect();
            assert_eq!(read(name, arguments, &files), expected, "{arguments:?}");
        };
        check("etcd", &["etcd", "--unsafe-no-fsync"], &[("unsafe-no-fsync", Effect::Never)]);
        check("etcd", &["etcd", "--unsafe-no-fsync=false"], &[]);
        check(
            "mysqld",
            &["mysqld", "--innodb-flush-log-at-trx-commit=2"],
            &[("innodb-flush-log-at-trx-commit = 2", Effect::Late)],
        );
        check("mariadbd", &["mariadbd", "--sync_binlog", "1"], &[]);
        let both = [("appendonly = no", Effect::Late), ("appendfsync = always", Effect::Synced)];
        check("redis-server", &["redis-server", "redis.conf"], &both);
        let overruled = [("appendonly = no", Effect::Late), ("appendfsync = no", Effect::Late)];
        check("redis-server", &["redis-server", "redis.conf", "--appendfsync", "no"], &overruled);
        check("ceph-osd", &["ceph-osd"], &[]);
    }

    #[test]
    fn a_program_that_uses_sqlite_is_known_by_its_library_and_others_are_not() {
        let of = |names: &[&str], libraries: &[&str]| {
            let none = (Vec::new, |_: &str| None);
            let arguments = |_| (none.0)();
            let running = Running {
                names,
                libraries,
                pid: 1,
                directory: "",
                arguments: &arguments,
                file: &none.1,
            };
            server(&running).map(|server| server.title)
        };
        assert_eq!(of(&["firefox"], &["/usr/lib/libsqlite3.so.0"]), Some("a user of SQLite"));
        assert_eq!(of(&["sleep"], &["/usr/lib/libc.so.6"]), None);
        assert_eq!(of(&["mysqld"], &["/usr/lib/libsqlite3.so.0"]), Some("MySQL or MariaDB"));
    }
}
