//! Servers that were told not to sync, as `--pid` finds them: a real PostgreSQL.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use durability::{Direction, Grade};
use report::fsync::Honesty;
use testkit::running_program::until;
use testkit::{Scratch, scratch::text, tool};

use super::volume::Volume;
use super::{check, with};

/// A PostgreSQL of the test's own, stopped when dropped.
struct Postgres {
    bin: PathBuf,
    data: PathBuf,
    is_up: bool,
}

/// User that it runs as: it refuses root.
const USER: &str = "65534";

impl Postgres {
    /// One that was made and not started; `None`, and counted as skipped, without the server.
    fn new(directory: &Path) -> Option<Postgres> {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let bin =
            versions.map(|entry| entry.path().join("bin")).find(|bin| bin.join("initdb").exists());
        let (Some(bin), true) = (bin, host::is_root() && tool::find("setpriv").is_some()) else {
            testkit::skip("needs root, setpriv and PostgreSQL's server");
            return None;
        };
        let data = directory.join("data");
        std::fs::create_dir(&data).expect("a directory can be made");
        for path in [directory, &data] {
            tool::run("chown", &[USER, text(path)]);
        }
        let postgres = Postgres { bin, data, is_up: false };
        let made = postgres
            .command("initdb")
            .args(["-N", "-A", "trust", "-D"])
            .arg(&postgres.data)
            .output();
        let made = made.expect("initdb can be started");
        assert!(made.status.success(), "{made:?}");
        // As Debian ships it.
        let main = postgres.data.join("postgresql.conf");
        let shipped = std::fs::read_to_string(&main).expect("initdb wrote it");
        std::fs::create_dir(postgres.data.join("conf.d")).expect("a directory can be made");
        std::fs::write(&main, shipped + "include_dir = 'conf.d'\n").expect("it can be written");
        tool::run("chown", &[USER, text(&postgres.data.join("conf.d"))]);
        Some(postgres)
    }

    /// One of its programs, about to run as the user that it belongs to.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid", USER, "--regid", USER, "--clear-groups"])
            .arg(self.bin.join(program));
        command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
        command
    }

    /// Starts it with these options; its number.
    fn started(&mut self, options: &str) -> u32 {
        let sockets = format!("-k {} -h '' {options}", text(&self.data));
        let mut command = self.command("pg_ctl");
        command
            .args(["-w", "-t", "300", "-s", "-l"])
            .arg(self.data.join("log"))
            .arg("-D")
            .arg(&self.data);
        let status = command.args(["-o", &sockets, "start"]).stdout(Stdio::null()).status();
        let log = std::fs::read_to_string(self.data.join("log"));
        assert!(status.is_ok_and(|status| status.success()), "{log:?}");
        self.is_up = true;
        let first = std::fs::read_to_string(self.data.join("postmaster.pid")).expect("it runs");
        first.lines().next().and_then(|line| line.parse().ok()).expect("a number")
    }

    fn stop(&mut self) {
        if std::mem::replace(&mut self.is_up, false) {
            let mut command = self.command("pg_ctl");
            let _ = command
                .args(["-w", "-s", "-m", "immediate", "stop", "-D"])
                .arg(&self.data)
                .status();
        }
    }

    /// Returns what is found of it where it was started with these options, and the file says this.
    fn found(&mut self, options: &str, file: &str, look: &Path) -> Honesty {
        self.reconfigured(file);
        let pid = self.started(options);
        let found = with(look, &["--pid", &pid.to_string()]);
        self.stop();
        found
    }

    /// Returns what is found of it where the file says `then` since it was started with `first`.
    fn changed(&mut self, first: &str, then: &str, look: &Path) -> Honesty {
        self.reconfigured(first);
        let pid = self.started("");
        self.reconfigured(then);
        let found = with(look, &["--pid", &pid.to_string()]);
        self.stop();
        found
    }

    /// Writes `postgresql.auto.conf`, and returns when a process that starts is one that started
    /// later: that is known by ticks of a clock.
    fn reconfigured(&self, file: &str) {
        let path = self.data.join("postgresql.auto.conf");
        std::fs::write(&path, file).expect("it can be written");
        let changed_ns = changed_ns(&path);
        until("a process starts later", || {
            let mut next = Command::new("true").spawn().expect("a process can be started");
            let started_ns = host::process::started_ns(next.id());
            next.wait().expect("it can be waited for");
            started_ns > Some(changed_ns)
        });
    }
}

/// When the inode of a file was last changed, in nanoseconds since 1970.
fn changed_ns(path: &Path) -> u64 {
    let stat = std::fs::metadata(path).expect("it is there");
    let [seconds, rest] = [stat.ctime(), stat.ctime_nsec()].map(u64::try_from);
    seconds.expect("after 1970") * 1_000_000_000 + rest.expect("a part of a second")
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop();
    }
}

#[test]
fn a_postgres_that_was_told_not_to_sync_is_not_called_durable() {
    testkit::need_full_tier!();
    let (scratch, look) = (Scratch::new(), Scratch::new());
    let Some(mut postgres) = Postgres::new(scratch.path()) else { return };
    let found = postgres.found("", "fsync = off\n", look.path());
    check(&found, "not-durable", "server-never-syncs");
    let reason = found.evidence.iter().find(|one| one.code == "server-never-syncs").unwrap();
    assert!(reason.sentence.contains("PostgreSQL with `fsync = off`"), "{reason:?}");
    assert!(reason.source.ends_with("postgresql.auto.conf"), "{reason:?}");
    assert!(found.would_change.iter().any(|change| change.contains("SHOW fsync")), "{found:#?}");

    let found = postgres.found("-F", "fsync = on\n", look.path());
    check(&found, "not-durable", "server-never-syncs");
    let found = postgres.found("", "synchronous_commit = off\n", look.path());
    let late = found.evidence.iter().any(|one| one.code == "server-syncs-late");
    assert!(late && found.grade != Grade::Consistent, "{found:#?}");
    let found = postgres.found("", "", look.path());
    assert!(found.evidence.iter().any(|one| one.code == "server-syncs"), "{found:#?}");
    assert!(found.evidence.iter().all(|one| one.direction != Direction::Against), "{found:#?}");
}

#[test]
fn a_postgres_whose_files_were_changed_since_it_was_started_is_neither_blamed_nor_believed() {
    testkit::need_full_tier!();
    let (scratch, look) = (Scratch::new(), Scratch::new());
    let Some(mut postgres) = Postgres::new(scratch.path()) else { return };
    for (first, then) in [("fsync = off\n", ""), ("", "fsync = off\n")] {
        let found = postgres.changed(first, then, look.path());
        check(&found, "unproven", "server-maybe");
        assert!(found.evidence.iter().all(|one| one.direction != Direction::Against), "{found:#?}");
        assert!(
            found.would_change.iter().any(|change| change.contains("SHOW fsync")),
            "{found:#?}"
        );
    }
}

#[test]
fn a_postgres_whose_log_lies_elsewhere_is_not_called_durable_for_what_was_tried_here() {
    testkit::need_full_tier!();
    let scratch = Scratch::new();
    let Some(mut postgres) = Postgres::new(scratch.path()) else { return };
    let elsewhere = Volume::new("ext4", "");
    let found = postgres.found("", "", elsewhere.path());
    check(&found, "unproven", "writes-elsewhere");
    let seen = found.evidence.iter().find(|one| one.code == "writes-elsewhere").unwrap();
    assert!(seen.sentence.contains("pg_wal"), "{seen:?}");
    assert!(
        found.would_change.iter().any(|change| change.contains("straddle fsync")),
        "{found:#?}"
    );
}
