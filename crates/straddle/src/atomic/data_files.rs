//! Data files of an engine: which files they are, and the page that each has.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use durability::untorn::PageEngine;
use format::database_page::{self, HEAD_BYTES};
use report::Refusal;

use crate::arguments::Atomic;
use crate::shared::printer::shown;

/// Number of data files that are judged.
pub(super) const FILES_MAX: usize = 4096;
/// Directories that may lie in each other: `pg_tblspc/1/PG_17/5`.
const DEPTH_MAX: usize = 5;

/// Data files, each with its page in bytes.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    pub(super) files: Vec<(PathBuf, u64)>,
    /// Why some are missing.
    pub(super) unseen: Option<String>,
}

/// Finds the data files that the target is, or has.
pub(super) fn find(atomic: &Atomic) -> Result<FoundFiles, Refusal> {
    let (target, engine) = (&atomic.target, atomic.engine.engine());
    let name = shown(target);
    let kind = std::fs::metadata(target).map_err(|error| {
        let hint = "check the path and the permissions of its directories";
        Refusal::hinted(format!("cannot judge {name}: {error}"), hint)
    })?;
    if kind.is_file() {
        let page = atomic.page.or(page(target, engine)).ok_or_else(|| {
            let title = engine.title();
            let message = format!("cannot judge {name}: not recognized as a data file of {title}");
            let word = engine.word();
            let hint = format!("name its page: straddle atomic {name} --for {word} --page 16K");
            Refusal::hinted(message, hint)
        })?;
        return Ok(FoundFiles { files: vec![(target.clone(), page)], unseen: None });
    }
    if !kind.is_dir() {
        let message = format!("cannot judge {name}: neither a directory nor a regular file");
        return Err(Refusal::hinted(message, "name the data directory of the engine"));
    }
    let mut search = DataSearch { engine, directories: 0, found: Vec::new(), unseen: None };
    search.directory(target, 0);
    // What does not tell its page has that of the first file that does.
    let known = search.found.iter().find_map(|path| page(path, engine));
    let usual = atomic.page.or(known).unwrap_or(engine.default_page_bytes());
    let mut files = FoundFiles { files: Vec::new(), unseen: search.unseen };
    for path in search.found {
        let told = atomic.page.or_else(|| page(&path, engine));
        // Each table may have pages of its own; all other files have the usual ones.
        if told.is_none() && path.extension().is_some_and(|end| end == "ibd" || end == "ibu") {
            let why = format!("page size of {} unknown: --page 16K", shown(&path));
            files.unseen.get_or_insert(why);
        }
        files.files.push((path, told.unwrap_or(usual)));
    }
    Ok(files)
}

/// The refusal of a directory without data files.
pub(super) fn none(atomic: &Atomic) -> Refusal {
    let (name, title) = (shown(&atomic.target), atomic.engine.engine().title());
    let hint = match atomic.engine.engine() {
        PageEngine::Sqlite => "name the database file",
        PageEngine::Postgresql => "name the directory that holds PG_VERSION",
        _ => "name the directory that holds ibdata1",
    };
    Refusal::hinted(format!("cannot judge {name}: no data file of {title} in it"), hint)
}

struct DataSearch {
    engine: PageEngine,
    /// Number of directories that were read.
    directories: usize,
    found: Vec<PathBuf>,
    unseen: Option<String>,
}

impl DataSearch {
    fn directory(&mut self, directory: &Path, depth: usize) {
        self.directories += 1;
        if self.directories > FILES_MAX {
            let why = format!("only {FILES_MAX} directories are looked at");
            self.unseen.get_or_insert(why);
            return;
        }
        let entries = match std::fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) => {
                let why = format!("cannot read {}: {error}", shown(directory));
                self.unseen.get_or_insert(why);
                return;
            }
        };
        let mut paths: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        for path in paths {
            // Tablespaces are links to directories.
            let Ok(kind) = std::fs::metadata(&path) else { continue };
            if kind.is_dir() && depth < DEPTH_MAX {
                self.directory(&path, depth + 1);
            } else if kind.is_file() && kind.len() > 0 && self.is_data(&path) {
                if self.found.len() == FILES_MAX {
                    let why = format!("only {FILES_MAX} data files are looked at");
                    self.unseen.get_or_insert(why);
                    return;
                }
                self.found.push(path);
            }
        }
    }

    /// Returns whether a file holds pages that the engine writes in place.
    fn is_data(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        match self.engine {
            PageEngine::Mysql | PageEngine::Mariadb => {
                name.ends_with(".ibd")
                    || name.ends_with(".ibu")
                    || name.starts_with("ibdata")
                    || name.strip_prefix("undo").is_some_and(|rest| {
                        rest.starts_with('_') || !rest.is_empty() && is_number(rest)
                    })
            }
            // A relation: `16384`, `16384.1`, `16384_fsm`.
            PageEngine::Postgresql => {
                let main = name.split(['.', '_']).next().unwrap_or_default();
                let mut above = path.components().rev().skip(1);
                !main.is_empty()
                    && is_number(main)
                    && above.any(|part| {
                        let part = part.as_os_str().to_string_lossy();
                        part == "base" || part == "global" || part.starts_with("PG_")
                    })
            }
            PageEngine::Sqlite => false,
        }
    }
}

/// The page that a file tells, in bytes.
fn page(path: &Path, engine: PageEngine) -> Option<u64> {
    let mut head = Vec::new();
    let most = u64::try_from(HEAD_BYTES).ok()?;
    File::open(path).ok()?.take(most).read_to_end(&mut head).ok()?;
    match engine {
        PageEngine::Mysql | PageEngine::Mariadb => database_page::innodb(&head),
        PageEngine::Postgresql => database_page::postgresql(&head),
        PageEngine::Sqlite => database_page::sqlite(&head),
    }
}
