//! Servers that can be told to leave syncs out: which settings decide that, where those can be read
//! without the server, whether what was read is in force, and how to ask.
//!
//! A server reads a file when it is started or told to reload. So a file counts only if it is older
//! than the process. A setting that can be changed at run time says only how the server was
//! started.
//!
//! Sources: PostgreSQL "Setting Parameters" and "Write Ahead Log", postgres(1), and
//! `src/include/utils/pidfile.h`; MySQL "InnoDB Startup Options and System Variables"; etcd
//! "Configuration options" and `pkg/flags/flag.go`; Go's `strconv.ParseBool`; redis.conf;
//! mongod(1); Ceph "Ceph Tell"; SQLite "PRAGMA synchronous"; CockroachDB "Cluster Settings".

mod known_servers;
mod postgres;
mod postgres_includes;
mod setting;

pub use setting::{Confidence, ConfigFile, Processes, Running, Server, ServerSetting, SyncEffect};

use units::text::escape;

use known_servers::{KNOWN, KnownServer, SQLITE, Switch};
use setting::{cut, doubt};

/// The server that a process is, with what could be read of its settings; `None` of another
/// program.
#[must_use]
pub fn server(running: &Running<'_>) -> Option<Server> {
    let is_called =
        |known: &&KnownServer| running.names.iter().any(|name| known.programs.contains(name));
    let links = running.libraries.iter().any(|path| path.contains(SQLITE));
    let by_library = || links.then(|| KNOWN.last()).flatten();
    let known = KNOWN.iter().find(is_called).or_else(by_library)?;
    let (settings, log_path) = match known.title {
        "PostgreSQL" => (postgres::settings(running), Some(postgres::log(running))),
        "etcd" => (etcd(running), None),
        _ => (switched(known, running), None),
    };
    let ask = known.ask.replace("{pid}", &running.pid.to_string());
    let ask = match known.title {
        "PostgreSQL" => ask.replace("{reached}", &postgres::reached_by(running)),
        _ => ask,
    };
    Some(Server { title: known.title, ask, settings, log: known.log, log_path })
}

/// An option that was given: its name with `_` for `-`, its value, and where it stands.
struct Given {
    name: String,
    shown: String,
    value: String,
    source: String,
    standing: Confidence,
}

/// Returns the settings that the command line, and a configuration file that it names first,
/// switch; the last word on each option counts.
fn switched(known: &KnownServer, running: &Running<'_>) -> Vec<ServerSetting> {
    let arguments = running.processes.arguments(running.pid);
    let mut given: Vec<Given> = Vec::new();
    // Redis: the file comes first, and options overrule it.
    if let Some(file) = arguments.get(1).filter(|word| !word.starts_with('-')) {
        given.extend(filed(running, &running.within(file)));
    }
    let source = command_line(running.pid);
    for (place, word) in arguments.iter().enumerate().skip(1) {
        let Some(option) = word.strip_prefix("--") else { continue };
        let next = arguments.get(place + 1).filter(|next| !next.starts_with('-'));
        let pair = option.split_once('=').unwrap_or((option, next.map_or("", String::as_str)));
        given.push(one(pair, &source, Confidence::InForce));
    }
    let mut last: Vec<Given> = Vec::new();
    for option in given {
        last.retain(|earlier| earlier.name != option.name);
        last.push(option);
    }
    last.iter().filter_map(|option| setting(known, option)).collect()
}

/// The lines `name value` of a file.
fn filed(running: &Running<'_>, path: &str) -> Vec<Given> {
    let Some(file) = running.processes.file(running.pid, path) else { return Vec::new() };
    let doubt = doubt(path, file.changed_ns, running.processes.started_ns(running.pid));
    let standing = doubt.map_or(Confidence::InForce, Confidence::Unsure);
    let pairs = file.text.lines().map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next().unwrap_or_default(), words.next().unwrap_or_default())
    });
    pairs.map(|pair| one(pair, path, standing.clone())).collect()
}

fn one((name, value): (&str, &str), source: &str, standing: Confidence) -> Given {
    Given {
        name: name.replace('-', "_"),
        shown: name.to_owned(),
        value: value.to_owned(),
        source: escape(source.as_bytes()),
        standing,
    }
}

fn setting(known: &KnownServer, given: &Given) -> Option<ServerSetting> {
    let is_it = |switch: &&Switch| switch.0 == given.name && switch.1 == given.value;
    let fixed = known.fixed.iter().find(is_it).map(|switch| (switch, given.standing.clone()));
    let (&(_, _, effect), standing) = fixed.or_else(|| {
        let standing = match &given.standing {
            Confidence::InForce => Confidence::AtStart,
            other => other.clone(),
        };
        Some((known.changeable.iter().find(is_it)?, standing))
    })?;
    let text = match given.value.is_empty() {
        true => given.shown.clone(),
        false => format!("{} = {}", given.shown, given.value),
    };
    Some(ServerSetting { text, is_absent: false, source: given.source.clone(), effect, standing })
}

fn command_line(pid: u32) -> String {
    format!("its command line, /proc/{pid}/cmdline")
}

/// etcd: a flag with one dash or two, else a variable; with a configuration file, that file alone,
/// of which nothing says whether it was changed since.
fn etcd(running: &Running<'_>) -> Vec<ServerSetting> {
    const FLAG: &str = "unsafe-no-fsync";
    let arguments = running.processes.arguments(running.pid);
    let Some(environment) = running.processes.environment(running.pid) else { return Vec::new() };
    let flag = |name: &str| {
        let mut named = arguments.iter().skip(1).filter_map(|word| {
            let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-'))?;
            let (found, value) = option.split_once('=').unwrap_or((option, "true"));
            (found == name).then(|| value.to_owned())
        });
        named.next_back()
    };
    let variable = |name: &str| {
        let start = format!("{name}=");
        environment.iter().find_map(|one| one.strip_prefix(&*start)).map(str::to_owned)
    };
    let has_file = flag("config-file").or_else(|| variable("ETCD_CONFIG_FILE")).is_some();
    if arguments.is_empty() || has_file {
        return Vec::new();
    }
    let shown = |name: &str, value: &str| format!("{name}={}", cut(value));
    let (flag, variable) = (flag(FLAG), variable("ETCD_UNSAFE_NO_FSYNC"));
    let is_absent = flag.is_none() && variable.is_none();
    let (text, source, value) = match (flag, variable) {
        (Some(value), _) => (shown(&format!("--{FLAG}"), &value), command_line(running.pid), value),
        (None, Some(value)) => {
            let source = format!("its environment, /proc/{}/environ", running.pid);
            (shown("ETCD_UNSAFE_NO_FSYNC", &value), source, value)
        }
        (None, None) => {
            let source = format!("/proc/{0}/cmdline and /proc/{0}/environ", running.pid);
            (format!("--{FLAG}"), source, "false".to_owned())
        }
    };
    let effect = match value.as_str() {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => SyncEffect::Never,
        "0" | "f" | "F" | "FALSE" | "false" | "False" => SyncEffect::Synced,
        // etcd does not start with it.
        _ => return Vec::new(),
    };
    vec![ServerSetting { text, is_absent, source, effect, standing: Confidence::InForce }]
}

#[cfg(test)]
mod tests;
