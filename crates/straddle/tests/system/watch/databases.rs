//! Databases, as their packages install them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;
use testkit::running_program::{Ran, by_signals, until};
use testkit::{need_loops, need_tools, scratch::text, skip, tool};

use super::volume::Volume;
use super::watching::{Culprit, Watching, first_cause, only, writers};
use super::writer::Writer;

/// A script of so many inserts that a test ends before them.
fn inserts(volume: &Volume, begin: &str) -> PathBuf {
    let path = volume.device.scratch.path().join("inserts.sql");
    let row = format!("INSERT INTO t (b) VALUES ('{}');\n", "x".repeat(60));
    std::fs::write(&path, begin.to_owned() + &row.repeat(300_000)).expect("it can be written");
    path
}

fn input(script: &Path) -> Stdio {
    File::open(script).expect("it is there").into()
}

#[test]
fn a_sqlite_database_is_named_with_its_pages() {
    need_loops!();
    need_tools!("mkfs.ext4", "sqlite3");
    let volume = Volume::ext4(4096);
    let database = text(volume.path()).to_owned() + "/app.db";
    let begin = "PRAGMA page_size=4096; PRAGMA journal_mode=PERSIST;\n\
                 CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);\n";
    let script = inserts(&volume, begin);
    let mut watching = Watching::start(volume.node(), &["--on", "granule=16K"]);
    let mut client = tool::command("sqlite3");
    let _writer =
        Writer::program(client.arg(&database).stdin(input(&script)).stdout(Stdio::null()));
    let is_file = |writer: &Value| {
        let file = writer["file"].as_str().unwrap_or_default();
        writer["process"] == "sqlite3" && file.starts_with(&database)
    };
    watching.until("sqlite3 and its database are named", |seen| {
        writers(seen).iter().any(|writer| is_file(writer) && writer["writes"].as_u64() > Some(20))
    });
    for writer in writers(&watching.end()) {
        let file = writer["file"].as_str();
        assert!(file.is_none_or(|file| file.starts_with(&database)), "{writer:#}");
    }
}

/// A cluster of PostgreSQL, and its server.
struct Postgres<'a> {
    place: &'a Path,
    server: Writer,
}

/// A command that runs as the user of that name, as servers insist on.
fn as_user(user: &str, program: &str) -> std::process::Command {
    let mut command = tool::command("setpriv");
    let names = [format!("--reuid={user}"), format!("--regid={user}")];
    command.args(names).args(["--clear-groups", "--reset-env"]);
    command.arg(tool::find(program).expect("it was asked for")).env("LC_ALL", "C");
    command.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
    command
}

impl Postgres<'_> {
    fn start(place: &Path, is_synced: bool) -> Postgres<'_> {
        let data = place.join("data");
        let mut server = as_user("postgres", "postgres");
        server.arg("-D").arg(&data).arg("-k").arg(place);
        let fsync = if is_synced { "fsync=on" } else { "fsync=off" };
        server.args(["-c", "listen_addresses=", "-c", fsync, "-c", "autovacuum=off"]);
        let postgres = Postgres { place, server: Writer::program(&mut server) };
        until("the server answers", || postgres.query("SELECT 1").is_ok());
        postgres
    }

    fn query(&self, query: &str) -> Result<(), String> {
        let words = ["-h", text(self.place), "-U", "postgres", "-qc", query];
        let output = tool::output("psql", &words);
        let error = || String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(error()) }
    }

    /// A client that commits one row after another.
    fn client(&self, script: &Path) -> Writer {
        let mut client = tool::command("psql");
        client.args(["-h", text(self.place), "-U", "postgres", "-q"]);
        Writer::program(client.stdin(input(script)).stdout(Stdio::null()).stderr(Stdio::null()))
    }
}

impl Drop for Postgres<'_> {
    fn drop(&mut self) {
        // SIGINT ends all sessions, and then it.
        let _ = tool::output("kill", &["-s", "INT", &self.server.process().to_string()]);
        self.server.wait();
    }
}

fn sync_calls(document: &Value) -> u64 {
    let calls = document["syncs"]["calls"].as_array().expect("a list");
    calls.iter().filter_map(|call| call["calls"].as_u64()).sum()
}

/// The directory of a server's files on `volume`, owned by `user`.
fn place_of(volume: &Volume, user: &str) -> PathBuf {
    tool::run("chmod", &["755", text(volume.device.scratch.path())]);
    let place = volume.path().join("server");
    std::fs::create_dir(&place).expect("a directory can be made");
    tool::run("chown", &[user, text(&place)]);
    place
}

#[test]
fn postgresql_is_named_with_its_log_and_its_sync_calls_are_counted() {
    need_loops!();
    need_tools!("mkfs.ext4", "setpriv", "chown", "initdb", "postgres", "psql");
    let volume = Volume::ext4(4096);
    let place = place_of(&volume, "postgres");
    let mut initdb = as_user("postgres", "initdb");
    initdb.args(["--auth=trust", "--no-sync", "--wal-segsize=16", "-D"]).arg(place.join("data"));
    assert!(initdb.status().expect("it runs").success());
    let script = inserts(&volume, "");
    for is_synced in [false, true] {
        let postgres = Postgres::start(&place, is_synced);
        let table = "CREATE TABLE IF NOT EXISTS t (a bigserial, b text)";
        postgres.query(table).expect("it makes a table");
        tool::run("sync", &["--file-system", text(&place)]);
        let process = postgres.server.process().to_string();
        let words = ["--pid", &process, "--on", "granule=16K"];
        let mut watching = Watching::start(volume.node(), &words);
        let before = rows(&postgres);
        let _client = postgres.client(&script);
        until("rows are committed", || rows(&postgres) > before + 100);
        if is_synced {
            watching.until("it is named with its log", |seen| {
                writers(seen).iter().any(|writer| {
                    let file = writer["file"].as_str().unwrap_or_default();
                    let is_ours = file.contains("/data/pg_wal/") || file.contains("/data/base/");
                    writer["process"] == "postgres" && writer["region"] == "file" && is_ours
                })
            });
            watching.until("commits sync", |seen| sync_calls(seen) > 20);
            watching.until("small pages are the first cause", |seen| {
                let cause = first_cause(seen);
                cause["cause"] == "small-pages"
                    && (&cause["process"], &cause["page_bytes"])
                        == (&"postgres".into(), &8192.into())
            });
        }
        watching.two_seconds();
        let document = watching.end();
        assert_eq!(sync_calls(&document) > 0, is_synced, "{document:#}");
        assert_eq!(syncs_are_off(&place, &process), !is_synced);
    }
}

/// Returns whether `straddle fsync --pid` says that the server of that process never syncs.
fn syncs_are_off(place: &Path, process: &str) -> bool {
    let words = ["fsync", text(place), "--pid", process, "--rows", "none", "--json"];
    let ran = Ran::of(by_signals(env!("CARGO_BIN_EXE_straddle")).args(words));
    let document: Value = serde_json::from_str(&ran.out).expect("a document");
    let evidence = document["honesty"]["evidence"].as_array().expect("a list");
    evidence.iter().any(|one| one["code"] == "server-never-syncs")
}

fn rows(postgres: &Postgres<'_>) -> u64 {
    let words = ["-h", text(postgres.place), "-U", "postgres", "-Atc", "SELECT count(*) FROM t"];
    tool::run("psql", &words).trim().parse().expect("a number")
}

#[test]
fn mariadb_is_named_with_its_files() {
    need_loops!();
    need_tools!("mkfs.ext4", "mariadbd", "mariadb-install-db", "mariadb");
    let volume = Volume::made(
        512 << 20,
        &["mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    );
    let place = place_of(&volume, "mysql");
    let data = format!("--datadir={}/data", text(&place));
    // The usual place may be closed to other users.
    let room = format!("--tmpdir={}", text(&place));
    let words = ["--user=mysql", "--auth-root-authentication-method=normal", &data, &room];
    let made = tool::output("mariadb-install-db", &[&["--no-defaults"][..], &words].concat());
    if !made.status.success() {
        let said = String::from_utf8_lossy(&made.stderr);
        return skip(&format!("mariadb-install-db: {}", said.lines().next().unwrap_or_default()));
    }
    let socket = format!("--socket={}/socket", text(&place));
    let mut server = as_user("mysql", "mariadbd");
    server.args(["--no-defaults", &data, &socket, &room, "--skip-networking"]);
    let server = Writer::program(&mut server);
    let client = ["--no-defaults", &socket, "--user=root"];
    until("the server answers", || {
        let query = [&client[..], &["-e", "CREATE DATABASE IF NOT EXISTS d"]].concat();
        tool::output("mariadb", &query).status.success()
    });
    let table = "CREATE TABLE d.t (a BIGINT PRIMARY KEY AUTO_INCREMENT, b TEXT)";
    tool::run("mariadb", &[&client[..], &["-e", table]].concat());
    let script = inserts(&volume, "USE d;\n");
    let process = server.process().to_string();
    let words = ["--on", "granule=64K", "--pid", &process];
    let watching = Watching::start(volume.node(), &words);
    let mut inserting = tool::command("mariadb");
    let _client = Writer::program(inserting.args(client).stdin(input(&script)));
    let (layer, log) = (volume.layer("ext4"), format!("{}/data/ib_logfile0", text(&place)));
    let culprit = Culprit { process: "mariadbd", layer: &layer, region: "file", file: Some(&log) };
    let document = watching.shows(&culprit, 0.5);
    only(&document, &["mariadbd"]);
}
