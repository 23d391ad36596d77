//! Servers that are known: their programs, the settings that turn syncs off, how to ask.

use super::setting::SyncEffect;

/// A switch of a server: its name, a value, what that does.
pub(super) type Switch = (&'static str, &'static str, SyncEffect);

/// A server that is known.
pub(super) struct KnownServer {
    pub(super) programs: &'static [&'static str],
    pub(super) title: &'static str,
    /// Command that shows what is in force; `{pid}` stands for the number of the process,
    /// `{reached}` for how PostgreSQL is reached.
    pub(super) ask: &'static str,
    /// Settings that decide whether it syncs, and which can be changed only by a new start.
    pub(super) fixed: &'static [Switch],
    /// Those that can be changed while it runs.
    pub(super) changeable: &'static [Switch],
    pub(super) log: &'static [&'static str],
}

pub(super) const KNOWN: [KnownServer; 8] = [
    KnownServer {
        programs: &["postgres", "postmaster"],
        title: "PostgreSQL",
        ask: "psql {reached} -c 'SHOW fsync' -c 'SHOW synchronous_commit' \
              -c 'SHOW full_page_writes'",
        fixed: &[],
        changeable: &[],
        log: &["/pg_wal/"],
    },
    KnownServer {
        programs: &["mysqld", "mariadbd"],
        title: "MySQL or MariaDB",
        ask: "mysql -e 'SELECT @@innodb_flush_log_at_trx_commit, @@sync_binlog, \
              @@innodb_flush_method'",
        fixed: &[("innodb_flush_method", "nosync", SyncEffect::Never)],
        changeable: &[
            ("innodb_flush_log_at_trx_commit", "0", SyncEffect::Late),
            ("innodb_flush_log_at_trx_commit", "2", SyncEffect::Late),
            ("sync_binlog", "0", SyncEffect::Late),
        ],
        log: &["/ib_logfile", "/#innodb_redo/"],
    },
    KnownServer {
        programs: &["etcd"],
        title: "etcd",
        ask: "strace -f -e trace=fdatasync,fsync -p {pid}",
        fixed: &[],
        changeable: &[],
        log: &["/member/wal/"],
    },
    KnownServer {
        programs: &["redis-server", "valkey-server"],
        title: "Redis",
        ask: "redis-cli CONFIG GET append*",
        fixed: &[],
        changeable: &[
            ("appendonly", "no", SyncEffect::Late),
            ("appendfsync", "no", SyncEffect::Late),
            ("appendfsync", "everysec", SyncEffect::Late),
            ("appendfsync", "always", SyncEffect::Synced),
        ],
        log: &[".aof"],
    },
    KnownServer {
        programs: &["mongod"],
        title: "MongoDB",
        ask: "mongosh --eval 'db.serverCmdLineOpts()' \
              --eval 'db.adminCommand({getDefaultRWConcern: 1})'",
        fixed: &[("nojournal", "", SyncEffect::Late), ("nojournal", "true", SyncEffect::Late)],
        changeable: &[],
        log: &["/journal/"],
    },
    KnownServer {
        programs: &["cockroach"],
        title: "CockroachDB",
        ask: "cockroach sql -e 'SHOW CLUSTER SETTING kv.raft_log.disable_synchronization_unsafe'",
        fixed: &[],
        changeable: &[],
        log: &[],
    },
    KnownServer {
        programs: &["ceph-osd"],
        title: "a Ceph OSD",
        ask: "ceph tell osd.0 config diff",
        fixed: &[],
        changeable: &[],
        log: &[],
    },
    KnownServer {
        programs: &["sqlite3"],
        title: "a user of SQLite",
        ask: "sqlite3 FILE 'PRAGMA synchronous' (of each connection its own)",
        fixed: &[],
        changeable: &[],
        log: &["-wal", "-journal"],
    },
];

pub(super) const SQLITE: &str = "/libsqlite3.so";
