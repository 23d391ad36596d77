//! Arguments of `straddle atomic`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use durability::untorn::PageEngine;

use super::common::{Bytes, Json, Unknown, help};
use super::values::{page, seconds};

/// Judge if a database may run without its protection against torn pages
///
/// A page is safe only if every layer writes it as a whole: engine, file system, each extent,
/// volumes, partitions and the drive. A layer that does not report enough is never a YES. Nothing
/// is written.
#[derive(Debug, Args)]
#[command(after_help = help("atomic", "\
Examples:
  straddle atomic /var/lib/mysql --for mysql       # innodb_doublewrite=OFF?
  straddle atomic /var/lib/postgresql/17/main --for postgresql
                                                   # full_page_writes=off?
  straddle atomic app.db --for sqlite              # one database file
  straddle atomic t.ibd --for mariadb --page 8K    # with pages of 8 KiB
  straddle atomic /var/lib/mysql --for mysql --live 60s
                                                   # is each write a whole page?
  straddle atomic --json DIR --for mysql           # JSON, for programs

--live samples the writes that the drives beneath the data files get while the
server runs, and writes nothing itself. One write off the page is a NO. Whole
writes do not turn a NO or an UNKNOWN into a YES.

Run as root: otherwise drives and superblocks cannot be read, and the answer is
UNKNOWN."))]
pub(crate) struct Atomic {
    /// Data directory of the engine, or one data file
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,

    /// The database engine
    #[arg(long = "for", value_enum, value_name = "ENGINE")]
    pub(crate) engine: AtomicEngine,

    /// Page size, such as 16K; default: as the data files say, else the engine's default
    #[arg(long, value_name = "SIZE", value_parser = page)]
    pub(crate) page: Option<u64>,

    /// Also watch the writes of the running server for this time, such as 60s or 5m
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) live: Option<u32>,

    #[command(flatten)]
    pub(crate) unknown: Unknown,

    #[command(flatten)]
    pub(crate) document: Json,

    #[command(flatten)]
    pub(crate) exact: Bytes,

    /// Also print the document that each reason rests on
    #[arg(long, help_heading = "Output")]
    pub(crate) explain: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AtomicEngine {
    /// MySQL with InnoDB
    Mysql,
    /// MariaDB with InnoDB
    Mariadb,
    /// PostgreSQL
    Postgresql,
    /// SQLite
    Sqlite,
}

impl AtomicEngine {
    /// The engine.
    pub(crate) fn engine(self) -> PageEngine {
        match self {
            AtomicEngine::Mysql => PageEngine::Mysql,
            AtomicEngine::Mariadb => PageEngine::Mariadb,
            AtomicEngine::Postgresql => PageEngine::Postgresql,
            AtomicEngine::Sqlite => PageEngine::Sqlite,
        }
    }
}
