//! Engines, their pages, how they write them, and the settings that protect them.

use serde::Serialize;
use units::prefix::Exact;

use super::page_layer::{GuardSetting, GuardState, PageFate, PageLayer, PageRole, UntornAnswer};

/// An engine that protects its pages from torn writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PageEngine {
    /// MySQL with InnoDB.
    Mysql,
    /// MariaDB with InnoDB.
    Mariadb,
    /// PostgreSQL.
    Postgresql,
    /// SQLite.
    Sqlite,
}

units::words!(PageEngine);

const MYSQL: &str = "https://dev.mysql.com/doc/refman/8.4/en/innodb-parameters.html";
const MARIADB: &str = "https://mariadb.com/docs/server/server-usage/storage-engines/innodb/\
                       innodb-system-variables";
const POSTGRESQL: &str = "https://www.postgresql.org/docs/current/runtime-config-wal.html";
const SQLITE: &str = "https://www.sqlite.org/compile.html#enable_batch_atomic_write";
/// A request for RWF_ATOMIC in MySQL, open in June 2026.
const MYSQL_ATOMIC: &str = "https://github.com/mysql/mysql-community/issues/57";
/// MariaDB without doublewrite takes writes of a page for atomic.
const MARIADB_ATOMIC: &str = "https://github.com/MariaDB/server/pull/3091";

impl PageEngine {
    /// Name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            PageEngine::Mysql => "MySQL",
            PageEngine::Mariadb => "MariaDB",
            PageEngine::Postgresql => "PostgreSQL",
            PageEngine::Sqlite => "SQLite",
        }
    }

    /// The page in bytes of a database that nobody configured.
    #[must_use]
    pub fn default_page_bytes(self) -> u64 {
        match self {
            PageEngine::Mysql | PageEngine::Mariadb => 16384,
            PageEngine::Postgresql => 8192,
            PageEngine::Sqlite => 4096,
        }
    }

    /// Returns how it writes a page of `page_bytes` to a file system called `system`.
    pub(super) fn line(self, page_bytes: u64, system: &str) -> PageLayer {
        let page = Exact(page_bytes);
        let (fate, reason, source) = match self {
            PageEngine::Mysql | PageEngine::Mariadb => (
                PageFate::Whole,
                format!(
                    "with innodb_flush_method=O_DIRECT, writes each page of {page} with one call; \
                     no release is known to request RWF_ATOMIC"
                ),
                if self == PageEngine::Mysql { MYSQL_ATOMIC } else { MARIADB_ATOMIC },
            ),
            PageEngine::Postgresql => (
                PageFate::Torn,
                format!(
                    "writes pages of {page} through the page cache, where the kernel may split \
                     them; it does not request RWF_ATOMIC as of version 18"
                ),
                POSTGRESQL,
            ),
            PageEngine::Sqlite if system == "f2fs" => (
                PageFate::Unknown,
                "the file does not show if SQLite was built with \
                 SQLITE_ENABLE_BATCH_ATOMIC_WRITE, which f2fs needs to write all pages of a \
                 transaction or none"
                    .to_owned(),
                SQLITE,
            ),
            PageEngine::Sqlite => (
                PageFate::Torn,
                format!(
                    "writes pages of {page} through the page cache, where the kernel may split \
                     them; it uses atomic writes on f2fs only"
                ),
                SQLITE,
            ),
        };
        let line = PageLayer::new(PageRole::Engine, self.title(), (fate, reason));
        PageLayer { source: Some(source.to_owned()), ..line }
    }

    /// Returns its settings under `answer`.
    pub(super) fn settings(self, answer: UntornAnswer) -> Vec<GuardSetting> {
        use GuardState::{Allowed, Keep, Required};
        let rows: &[(&str, GuardState, &str)] = match (self, answer) {
            (PageEngine::Mysql, UntornAnswer::Yes) => &[
                ("innodb_doublewrite=OFF", Allowed, MYSQL),
                ("innodb_flush_method=O_DIRECT", Required, MYSQL),
                ("innodb_use_native_aio=ON", Required, MYSQL),
            ],
            (PageEngine::Mariadb, UntornAnswer::Yes) => &[
                ("innodb_doublewrite=OFF", Allowed, MARIADB),
                ("innodb_flush_method=O_DIRECT", Required, MARIADB),
                ("innodb_use_native_aio=ON", Required, MARIADB),
            ],
            (PageEngine::Mysql, _) => &[("innodb_doublewrite=ON", Keep, MYSQL)],
            (PageEngine::Mariadb, _) => &[("innodb_doublewrite=ON", Keep, MARIADB)],
            (PageEngine::Postgresql, _) => &[("full_page_writes=on", Keep, POSTGRESQL)],
            (PageEngine::Sqlite, _) => &[(
                "the journal on (journal_mode is not OFF or MEMORY)",
                Keep,
                "https://www.sqlite.org/atomiccommit.html",
            )],
        };
        let setting = |&(setting, state, source): &(&str, GuardState, &str)| GuardSetting {
            setting: setting.to_owned(),
            state,
            source: source.to_owned(),
        };
        rows.iter().map(setting).collect()
    }
}
