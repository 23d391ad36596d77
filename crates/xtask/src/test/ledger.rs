//! A file of repeated runs: a line for each executable and run, to which every sitting adds.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// One run of one executable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) commit: String,
    pub(super) executable: String,
    /// Hash of the executable's content, and of the programs that it starts.
    pub(super) hash: String,
    pub(super) lane: String,
    /// `loaded` where other work ran beside it, else `quiet`.
    pub(super) load: String,
    pub(super) seed: u64,
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// Names of what failed; of what passed only when it ran again, with `flaky ` before them.
    pub(super) names: Vec<String>,
}

impl Entry {
    fn line(&self) -> String {
        let Entry { commit, executable, hash, lane, load, seed, passed, failed, names } = self;
        let names = names.join(",");
        format!(
            "{commit}\t{executable}\t{hash}\t{lane}\t{load}\t{seed}\t{passed}\t{failed}\t{names}\n"
        )
    }

    fn read(line: &str) -> Option<Entry> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [commit, executable, hash, lane, load, seed, passed, failed, names] = fields[..] else {
            return None;
        };
        let names = names.split(',').filter(|name| !name.is_empty()).map(ToOwned::to_owned);
        Some(Entry {
            commit: commit.to_owned(),
            executable: executable.to_owned(),
            hash: hash.to_owned(),
            lane: lane.to_owned(),
            load: load.to_owned(),
            seed: seed.parse().ok()?,
            passed: passed.parse().ok()?,
            failed: failed.parse().ok()?,
            names: names.collect(),
        })
    }
}

/// The file, and the runs in it.
#[derive(Debug)]
pub(super) struct Ledger {
    path: PathBuf,
    entries: Vec<Entry>,
}

impl Ledger {
    /// Reads the file at `path`, which may not be there yet. A line that is cut off is no run.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn open(path: &Path) -> anyhow::Result<Ledger> {
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            text => text.with_context(|| format!("cannot read {}", path.display()))?,
        };
        let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        Ok(Ledger { path: path.to_owned(), entries: whole.filter_map(Entry::read).collect() })
    }

    /// Returns how often the executable with this content ran, quiet or loaded.
    pub(super) fn runs(&self, executable: &str, hash: &str, load: &str) -> u64 {
        let is_same =
            |one: &&Entry| one.executable == executable && one.hash == hash && one.load == load;
        u64::try_from(self.entries.iter().filter(is_same).count()).unwrap_or(u64::MAX)
    }

    /// Adds a run to the file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn add(&mut self, entry: Entry) -> anyhow::Result<()> {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(&self.path);
        let written = file.as_mut().map(|file| file.write_all(entry.line().as_bytes()));
        let name = || format!("cannot write {}", self.path.display());
        written
            .map_err(|error| anyhow::anyhow!("{error}"))
            .with_context(name)?
            .with_context(name)?;
        self.entries.push(entry);
        Ok(())
    }

    /// Returns a line for each executable, quiet or loaded, in its newest content: runs, and what
    /// failed how often.
    pub(super) fn sums(&self) -> String {
        let newest: BTreeMap<&str, &str> =
            (self.entries.iter()).map(|one| (one.executable.as_str(), one.hash.as_str())).collect();
        let mut sums: BTreeMap<[&str; 3], Sum> = BTreeMap::new();
        for one in self.entries.iter().filter(|one| newest[one.executable.as_str()] == one.hash) {
            sums.entry([&one.lane, &one.executable, &one.load]).or_default().add(one);
        }
        sums.iter().map(|(words, sum)| format!("{}: {}\n", words.join(", "), sum.text())).collect()
    }
}

/// Runs that are summed up.
#[derive(Debug, Default)]
struct Sum {
    runs: u64,
    passed: u64,
    failed: u64,
    names: BTreeMap<String, u64>,
}

impl Sum {
    fn add(&mut self, entry: &Entry) {
        self.runs += 1;
        self.passed += entry.passed;
        self.failed += entry.failed;
        for name in &entry.names {
            *self.names.entry(name.clone()).or_default() += 1;
        }
    }

    fn text(&self) -> String {
        let names = self.names.iter().map(|(name, times)| format!("; {name} ({times})"));
        let names: String = names.collect();
        format!("{} runs, {} passed, {} failed{names}", self.runs, self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(executable: &str, hash: &str, load: &str, names: &[&str]) -> Entry {
        Entry {
            commit: "c0ffee".to_owned(),
            executable: executable.to_owned(),
            hash: hash.to_owned(),
            lane: "logic".to_owned(),
            load: load.to_owned(),
            seed: 7,
            passed: 10,
            failed: u64::try_from(names.len()).unwrap(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn a_changed_executable_starts_again_and_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("runs.tsv");
        let mut ledger = Ledger::open(&path).unwrap();
        for one in [
            entry("a", "1", "quiet", &[]),
            entry("a", "1", "quiet", &["x::y", "HANG z"]),
            entry("a", "1", "loaded", &[]),
            entry("b", "2", "quiet", &[]),
        ] {
            ledger.add(one).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text + "c0ffee\ta\t1\tlogic\tquiet\t7\t1").unwrap();
        let ledger = Ledger::open(&path).unwrap();
        assert_eq!(ledger.entries.len(), 4, "a line that is cut off is no run");
        let runs = |executable, hash, load| ledger.runs(executable, hash, load);
        assert_eq!((runs("a", "1", "quiet"), runs("a", "1", "loaded")), (2, 1));
        assert_eq!((runs("a", "9", "quiet"), runs("b", "2", "quiet")), (0, 1));
    }

    #[test]
    fn sums_are_of_the_newest_content() {
        let entries = vec![
            entry("a", "1", "quiet", &["old"]),
            entry("b", "5", "loaded", &["x"]),
            entry("a", "2", "quiet", &[]),
            entry("b", "5", "loaded", &["x", "y"]),
        ];
        let ledger = Ledger { path: PathBuf::new(), entries };
        assert_eq!(
            ledger.sums(),
            "logic, a, quiet: 1 runs, 10 passed, 0 failed\n\
             logic, b, loaded: 2 runs, 20 passed, 3 failed; x (2); y (1)\n"
        );
    }
}
