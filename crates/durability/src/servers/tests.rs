//! Servers of known settings, and what is read of them.

use super::*;

/// When the process of the tests was started.
const STARTED_NS: u64 = 1_700_000_000_000_000_000;

/// Processes as the tests make them up.
#[derive(Default)]
struct Fake {
    arguments: Vec<String>,
    environment: Option<Vec<String>>,
    files: Vec<(String, String, u64)>,
    /// The first process of the server, where that is another one.
    parent: Option<Vec<String>>,
}

const PID: u32 = 7;
const PARENT: u32 = 5;

impl Fake {
    fn with(arguments: &[&str]) -> Fake {
        let environment = Some(Vec::new());
        Fake { arguments: owned(arguments), environment, ..Fake::default() }
    }

    /// With a file that was last changed so long after the start.
    fn file(mut self, path: &str, text: &str, after_ns: i64) -> Fake {
        let changed_ns = STARTED_NS.checked_add_signed(after_ns).unwrap();
        self.files.push((path.to_owned(), text.to_owned(), changed_ns));
        self
    }

    fn of(&self, name: &str) -> Server {
        let running = Running { names: &[name], libraries: &[], pid: PID, processes: self };
        server(&running).expect("it is known")
    }

    fn settings(&self, name: &str) -> Vec<(String, SyncEffect, Confidence)> {
        let settings = self.of(name).settings.into_iter();
        settings.map(|setting| (setting.text, setting.effect, setting.standing)).collect()
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl Processes for Fake {
    fn arguments(&self, pid: u32) -> Vec<String> {
        match pid {
            PARENT => self.parent.clone().unwrap_or_default(),
            _ => self.arguments.clone(),
        }
    }

    fn parent(&self, _: u32) -> Option<u32> {
        self.parent.is_some().then_some(PARENT)
    }

    fn environment(&self, _: u32) -> Option<Vec<String>> {
        self.environment.clone()
    }

    fn directory(&self, _: u32) -> Option<String> {
        Some("/data".to_owned())
    }

    fn file(&self, _: u32, path: &str) -> Option<ConfigFile> {
        let (_, text, changed_ns) = self.files.iter().find(|(known, ..)| known == path)?;
        Some(ConfigFile { text: text.clone(), changed_ns: *changed_ns })
    }

    /// A directory is a file of names.
    fn names(&self, pid: u32, path: &str) -> Option<(Vec<String>, u64)> {
        let file = self.file(pid, &format!("{path}/"))?;
        Some((file.text.split_whitespace().map(str::to_owned).collect(), file.changed_ns))
    }

    fn started_ns(&self, _: u32) -> Option<u64> {
        Some(STARTED_NS)
    }
}

/// An hour, before and after.
const BEFORE: i64 = -3_600_000_000_000;
const AFTER: i64 = 3_600_000_000_000;

const PID_FILE: &str = "7\n/data\n1700000000\n5432\n";

/// PostgreSQL with this command line and these files, as old as the last numbers say.
fn postgres_at(arguments: &[&str], auto: (&str, i64), main: (&str, i64)) -> Fake {
    Fake::with(arguments)
        .file("/data/postmaster.pid", PID_FILE, 0)
        .file("/data/postgresql.auto.conf", auto.0, auto.1)
        .file("/data/postgresql.conf", main.0, main.1)
}

type Expected<'a> = [(&'a str, SyncEffect, Confidence)];

#[track_caller]
fn check(fake: &Fake, name: &str, expected: &Expected<'_>) {
    let expected = expected.iter().map(|(text, a, b)| ((*text).to_owned(), *a, b.clone()));
    let expected: Vec<_> = expected.collect();
    assert_eq!(fake.settings(name), expected);
}

#[track_caller]
fn postgres(arguments: &[&str], auto: &str, main: &str, expected: &Expected<'_>) {
    check(&postgres_at(arguments, (auto, BEFORE), (main, BEFORE)), "postgres", expected);
}

const OFF: (&str, SyncEffect, Confidence) = ("fsync = off", SyncEffect::Never, Confidence::InForce);
const ON: (&str, SyncEffect, Confidence) = ("fsync = on", SyncEffect::Synced, Confidence::InForce);
const DEFAULT: (&str, SyncEffect, Confidence) =
    ("fsync = on, the default", SyncEffect::Synced, Confidence::InForce);

#[test]
fn settings_of_postgres_count_in_the_order_of_its_own() {
    postgres(&["postgres"], "", "#fsync = off\n", &[DEFAULT]);
    postgres(&["postgres"], "", "fsync = off # fast\n", &[OFF]);
    postgres(&["postgres"], "", "FSYNC off\nfsync = on\n", &[ON]);
    postgres(&["postgres"], "fsync = 'off'\n", "fsync = on\n", &[OFF]);
    postgres(&["postgres", "-F"], "fsync = on", "", &[OFF]);
    postgres(&["postgres", "-D", "/data", "-c", "fsync=off"], "", "", &[OFF]);
    let zero = ("fsync = 0", SyncEffect::Never, Confidence::InForce);
    postgres(&["postgres", "--fsync=0"], "", "", &[zero]);
    postgres(&["postgres", "-c", "fsync=on"], "fsync=off", "", &[ON]);
    let late = ("synchronous_commit = off", SyncEffect::Late, Confidence::InForce);
    postgres(&["postgres"], "synchronous_commit=off", "", &[DEFAULT, late]);
    let torn = ("full_page_writes = no", SyncEffect::Torn, Confidence::InForce);
    postgres(&["postgres"], "", "full_page_writes=no", &[DEFAULT, torn]);
    postgres(&["postgres"], "", "fsyncs = off\non = fsync\n", &[DEFAULT]);
    check(&Fake::with(&["postgres"]), "postgres", &[]);
}

/// Doubts a setting of PostgreSQL.
fn unsure(text: &str, effect: SyncEffect, reason: &str) -> (String, SyncEffect, Confidence) {
    (text.to_owned(), effect, Confidence::Unsure(reason.to_owned()))
}

#[test]
fn files_that_a_configuration_includes_count_where_their_line_is() {
    let of = |main: &str, files: &[(&str, &str)], expected: &Expected<'_>| {
        let fake = postgres_at(&["postgres"], ("", BEFORE), (main, BEFORE));
        let fake = fake.file("/data/conf.d/", "b.conf a.conf .z.conf c.txt", BEFORE);
        let fake = fake.file("/data/empty.d/", "README", BEFORE);
        let fake = fake.file("/data/", "conf.d postgresql.conf", BEFORE);
        let add = |fake: Fake, (path, text): &(&str, &str)| fake.file(path, text, BEFORE);
        check(&files.iter().fold(fake, add), "postgres", expected);
    };
    let [a, b] = ["/data/conf.d/a.conf", "/data/conf.d/b.conf"];
    of("include_dir = 'empty.d'\n", &[], &[DEFAULT]);
    of("include_dir 'empty.d'\nfsync = off\n", &[], &[OFF]);
    of("include_if_exists 'none.conf'\n", &[], &[DEFAULT]);
    of("include_dir = conf.d\n", &[(a, "fsync = off"), (b, "fsync = on")], &[ON]);
    of("include_dir='conf.d'", &[(a, "fsync = on"), (b, "fsync = off")], &[OFF]);
    of("fsync = off\nINCLUDE 'conf.d/b.conf'\n", &[(b, "fsync = on")], &[ON]);
    of("include 'conf.d/b.conf'\nfsync = off\n", &[(b, "fsync = on")], &[OFF]);
    // Paths are relative to the file that they stand in.
    let nested = [(b, "include '../x.conf'\n"), ("/data/conf.d/../x.conf", "fsync = off")];
    of("include_if_exists 'conf.d/b.conf'\n", &nested, &[OFF]);
    // What is read last, and the command line, overrule them.
    postgres(&["postgres"], "fsync = on\n", "include 'fast.conf'\n", &[ON]);
    postgres(&["postgres", "-F"], "", "include 'safe.conf'\n", &[OFF]);
}

#[test]
fn an_included_file_that_cannot_be_judged_settles_nothing_and_says_why() {
    let of = |main: &str, files: &[(&str, &str, i64)], reason: &str| {
        let fake = postgres_at(&["postgres"], ("", BEFORE), (main, BEFORE));
        let add = |fake: Fake, &(path, text, age): &(&str, &str, i64)| fake.file(path, text, age);
        let found = files.iter().fold(fake, add).settings("postgres");
        assert_eq!(found, [unsure("fsync = on, the default", SyncEffect::Synced, reason)]);
    };
    let changed = |path: &str| format!("{path} may have changed since the server read it");
    let (directory, file) = ("/data/conf.d/", "/data/conf.d/a.conf");
    let include = "include_dir = 'conf.d'";
    of(include, &[], "/data/conf.d is included, and cannot be listed");
    of(include, &[(directory, "", AFTER)], &changed("/data/conf.d"));
    of(include, &[(directory, "a.conf", BEFORE), (file, "", AFTER)], &changed(file));
    let unread = "/data/conf.d/a.conf is included, and cannot be read";
    of(include, &[(directory, "a.conf", BEFORE)], unread);
    of("include 'conf.d/a.conf'", &[], unread);
    // A file that is missing may have been there.
    of("include_if_exists a.conf", &[], "/data/a.conf is included, and cannot be read");
    of("include_if_exists a.conf", &[("/data/", "", AFTER)], &changed("/data"));
    let cycle = "/data/postgresql.conf is included by itself, or more than 10 levels deep";
    of("include 'postgresql.conf'\ninclude 'postgresql.conf'\n", &[], cycle);
    let large = " ".repeat(2 << 20);
    of("include x", &[("/data/x", &large, BEFORE)], "/data/x is too large to be read");
    let many = "include x\n".repeat(300);
    of(&many, &[("/data/x", "", BEFORE)], "/data/x is one of more files than are read");
}

#[test]
fn a_file_that_was_changed_after_the_start_settles_nothing() {
    let of = |fake: &Fake, text, effect, path| {
        let reason = format!("/data/{path} may have changed since the server read it");
        assert_eq!(fake.settings("postgres"), [unsure(text, effect, &reason)]);
    };
    let main = |text, age| postgres_at(&["postgres"], ("", BEFORE), (text, age));
    let file = "postgresql.conf";
    // The line was deleted and nothing reloaded: the server may go on without syncs.
    of(&main("", AFTER), "fsync = on, the default", SyncEffect::Synced, file);
    of(&main("fsync = off", AFTER), "fsync = off", SyncEffect::Never, file);
    of(&main("fsync = on", 0), "fsync = on", SyncEffect::Synced, file);
    let auto = postgres_at(&["postgres"], ("", AFTER), ("fsync = on", BEFORE));
    of(&auto, "fsync = on", SyncEffect::Synced, "postgresql.auto.conf");
    // What the later file says is overruled, whenever it was changed.
    let auto = postgres_at(&["postgres"], ("fsync = off", BEFORE), ("fsync = on", AFTER));
    check(&auto, "postgres", &[OFF]);
    check(&postgres_at(&["postgres", "-F"], ("", AFTER), ("", AFTER)), "postgres", &[OFF]);
}

#[test]
fn a_clock_that_was_set_lets_no_changed_file_pass_for_an_old_one() {
    // By its own account the server was started two hours before the kernel's: the file was
    // changed in between.
    let fake = Fake::with(&["postgres"])
        .file("/data/postmaster.pid", "7\n/data\n1699992800\n5432\n", 0)
        .file("/data/postgresql.auto.conf", "", 2 * BEFORE - 1)
        .file("/data/postgresql.conf", "fsync = on", BEFORE);
    let reason = "/data/postgresql.conf may have changed since the server read it";
    assert_eq!(fake.settings("postgres"), [unsure("fsync = on", SyncEffect::Synced, reason)]);
    let older = Fake { files: fake.files[..2].to_vec(), ..Fake::with(&["postgres"]) };
    let older = older.file("/data/postgresql.conf", "fsync = on", 2 * BEFORE - 1);
    check(&older, "postgres", &[ON]);
    // Without an account of its own nothing is known of the time.
    let none = Fake::with(&["postgres"]).file("/data/postgresql.auto.conf", "", BEFORE).file(
        "/data/postgresql.conf",
        "",
        BEFORE,
    );
    let reason = "/data/postgresql.auto.conf may have changed since the server read it";
    let expected = unsure("fsync = on, the default", SyncEffect::Synced, reason);
    assert_eq!(none.settings("postgres"), [expected]);
}

#[test]
fn a_process_with_a_title_is_judged_by_what_started_it() {
    let titled = |parent: Option<&[&str]>| Fake {
        parent: parent.map(owned),
        ..postgres_at(&["postgres: checkpointer "], ("", BEFORE), ("", BEFORE))
    };
    check(&titled(Some(&["/usr/bin/postgres", "-F"])), "postgres", &[OFF]);
    check(&titled(Some(&["/usr/bin/postgres"])), "postgres", &[DEFAULT]);
    check(&titled(Some(&[])), "postgres", &[]);
    check(&titled(None), "postgres", &[]);
}

#[test]
fn a_configuration_elsewhere_is_read_where_the_command_line_says() {
    let arguments = ["postgres", "-c", "config_file=/etc/pg.conf"];
    let fake = postgres_at(&arguments, ("", BEFORE), ("fsync = on", BEFORE));
    check(&fake.file("/etc/pg.conf", "fsync = off", BEFORE), "postgres", &[OFF]);
}

#[test]
fn etcd_is_read_by_its_flags_and_variables() {
    let etcd = |arguments: &[&str], environment: &[&str], expected: &Expected<'_>| {
        let environment = Some(owned(environment));
        check(&Fake { environment, ..Fake::with(arguments) }, "etcd", expected);
    };
    let never = |text| [(text, SyncEffect::Never, Confidence::InForce)];
    let synced = |text| [(text, SyncEffect::Synced, Confidence::InForce)];
    let none = synced("--unsafe-no-fsync");
    etcd(&["etcd"], &["PATH=/bin"], &none);
    etcd(&["etcd", "--unsafe-no-fsyncs", "--name", "a"], &[], &none);
    for flag in ["--unsafe-no-fsync", "-unsafe-no-fsync", "--unsafe-no-fsync=true"] {
        etcd(&["etcd", flag], &[], &never("--unsafe-no-fsync=true"));
    }
    etcd(&["etcd", "-unsafe-no-fsync=1"], &[], &never("--unsafe-no-fsync=1"));
    etcd(&["etcd", "--unsafe-no-fsync=F"], &[], &synced("--unsafe-no-fsync=F"));
    let last = ["etcd", "--unsafe-no-fsync", "--unsafe-no-fsync=false"];
    etcd(&last, &[], &synced("--unsafe-no-fsync=false"));
    let variable = ["ETCD_UNSAFE_NO_FSYNC=t"];
    etcd(&["etcd"], &variable, &never("ETCD_UNSAFE_NO_FSYNC=t"));
    // A flag counts before a variable.
    etcd(&["etcd", "--unsafe-no-fsync=0"], &variable, &synced("--unsafe-no-fsync=0"));
    etcd(&["etcd", "--config-file", "/etc/etcd.yml"], &[], &[]);
    etcd(&["etcd"], &["ETCD_CONFIG_FILE=/etc/etcd.yml"], &[]);
    etcd(&[], &[], &[]);
    check(&Fake { environment: None, ..Fake::with(&["etcd"]) }, "etcd", &[]);
    assert_eq!(Fake::with(&["etcd"]).of("etcd").ask, "strace -f -e trace=fdatasync,fsync -p 7");
}

#[test]
fn other_servers_are_read_by_their_command_line() {
    let late = |text| (text, SyncEffect::Late, Confidence::AtStart);
    let with = |arguments: &[&str]| {
        let file = "appendonly no\nappendfsync always\n";
        Fake::with(arguments).file("/data/redis.conf", file, BEFORE)
    };
    let mysql = with(&["mysqld", "--innodb-flush-log-at-trx-commit=2"]);
    check(&mysql, "mysqld", &[late("innodb-flush-log-at-trx-commit = 2")]);
    let nosync = ("innodb_flush_method = nosync", SyncEffect::Never, Confidence::InForce);
    check(&with(&["mysqld", "--innodb_flush_method=nosync"]), "mysqld", &[nosync]);
    check(&with(&["mariadbd", "--sync_binlog", "1"]), "mariadbd", &[]);
    // The last word counts, however it is spelled.
    check(&with(&["mysqld", "--sync-binlog=0", "--sync_binlog=1"]), "mysqld", &[]);
    let always = ("appendfsync = always", SyncEffect::Synced, Confidence::AtStart);
    let both = [late("appendonly = no"), always];
    check(&with(&["redis-server", "redis.conf"]), "redis-server", &both);
    let overruled = [late("appendonly = no"), late("appendfsync = no")];
    let arguments = ["redis-server", "redis.conf", "--appendfsync", "no"];
    check(&with(&arguments), "redis-server", &overruled);
    let changed = Fake::with(&["redis-server", "redis.conf"]);
    let changed = changed.file("/data/redis.conf", "appendfsync no\n", AFTER);
    let reason = "/data/redis.conf may have changed since the server read it";
    let expected = unsure("appendfsync = no", SyncEffect::Late, reason);
    assert_eq!(changed.settings("redis-server"), [expected]);
    check(&with(&["ceph-osd"]), "ceph-osd", &[]);
}

#[test]
fn a_program_that_uses_sqlite_is_known_by_its_library_and_others_are_not() {
    let of = |names: &[&str], libraries: &[&str]| {
        let running = Running { names, libraries, pid: PID, processes: &Fake::default() };
        server(&running).map(|server| server.title)
    };
    assert_eq!(of(&["firefox"], &["/usr/lib/libsqlite3.so.0"]), Some("a user of SQLite"));
    assert_eq!(of(&["sleep"], &["/usr/lib/libc.so.6"]), None);
    assert_eq!(of(&["mysqld"], &["/usr/lib/libsqlite3.so.0"]), Some("MySQL or MariaDB"));
}

#[test]
fn postgres_is_asked_at_its_own_port_and_socket() {
    let ask = |server: Fake| server.of("postgres").ask;
    let plain = ["/usr/lib/postgresql/15/bin/postgres", "-D", "/data"];
    let typed = [&plain[..], &["-p", "55443", "-k", "/run/my pg"]].concat();
    let begins = |ask: String, options: &str| {
        assert!(ask.starts_with(&format!("psql {options} -c 'SHOW fsync' -c ")), "{ask}");
    };
    begins(ask(Fake::with(&typed)), "-p 55443 -h '/run/my pg'");
    let joined = [&plain[..], &["-p55443", "--unix_socket_directories=/run/a,/run/b"]].concat();
    begins(ask(Fake::with(&joined)), "-p 55443 -h /run/a");
    begins(ask(Fake::with(&[&plain[..], &["-c", "port=5433"]].concat())), "-p 5433 -h DIR");
    begins(ask(Fake::with(&plain)), "-p PORT -h DIR");
    let pid = "42\n/data\n1700000000\n5444\n/run/own\nlocalhost\n";
    begins(ask(Fake::with(&plain).file("/data/postmaster.pid", pid, 1)), "-p 5444 -h /run/own");
}
