//! A file of PostgreSQL's settings, with the files that it includes: a later line overrules an
//! earlier one, and an included file stands where its line is.
//!
//! Sources: PostgreSQL "Managing Configuration File Contents"; `ParseConfigFp`,
//! `ParseConfigDirectory` and `CONF_FILE_MAX_DEPTH` in its source.

use units::text::escape;

use super::setting::{Running, doubt};

/// Depth of the deepest file that PostgreSQL includes; the first file has depth 0.
const DEPTH_MAX: usize = 10;
/// The most files and directories that are read.
const FILES_MAX: usize = 256;
/// The most bytes of them all.
const BYTES_MAX: usize = 1 << 20;

/// Settings of a file, with those of all that it includes.
pub(super) struct Settings {
    /// Each line that sets something: its name in lower case, its value, the path of its file.
    lines: Vec<[String; 3]>,
    /// Reason why the server may use other values.
    pub(super) doubt: Option<String>,
}

impl Settings {
    /// Reads the file at `path`; `None` where it cannot be read.
    pub(super) fn read(
        running: &Running<'_>,
        started_ns: Option<u64>,
        path: &str,
    ) -> Option<Settings> {
        let settings = Settings { lines: Vec::new(), doubt: None };
        let (files, bytes) = (FILES_MAX, BYTES_MAX);
        let mut walk = IncludeWalk { running, started_ns, settings, files, bytes };
        walk.file(path, 0)?;
        Some(walk.settings)
    }

    /// Returns the value of the last line on `name`, and the file of that line.
    pub(super) fn value(&self, name: &str) -> Option<(&str, &str)> {
        let [_, value, path] = self.lines.iter().rev().find(|[found, ..]| found == name)?;
        Some((value, path))
    }
}

/// The files of one walk, and what may still be read.
struct IncludeWalk<'a> {
    running: &'a Running<'a>,
    started_ns: Option<u64>,
    settings: Settings,
    files: usize,
    bytes: usize,
}

impl IncludeWalk<'_> {
    /// Takes the lines of a file; `None` where it cannot be read.
    fn file(&mut self, path: &str, depth: usize) -> Option<()> {
        if depth > DEPTH_MAX {
            self.doubts(path, "is included by itself, or more than 10 levels deep");
            return Some(());
        }
        if !self.may_read(path) {
            return Some(());
        }
        let file = self.running.processes.file(self.running.pid, path)?;
        self.judge(path, file.changed_ns);
        let Some(bytes) = self.bytes.checked_sub(file.text.len()) else {
            self.files = 0;
            self.doubts(path, "is too large to be read");
            return Some(());
        };
        self.bytes = bytes;
        for (name, value) in file.text.lines().filter_map(pair) {
            let place = beside(path, &value);
            match name.as_str() {
                "include" => self.included(&place, depth),
                "include_if_exists" if self.is_missing(&place) => {}
                "include_if_exists" => self.included(&place, depth),
                "include_dir" => self.directory(&place, depth),
                _ => self.settings.lines.push([name, value, path.to_owned()]),
            }
        }
        Some(())
    }

    fn included(&mut self, path: &str, depth: usize) {
        if self.file(path, depth + 1).is_none() {
            self.doubts(path, "is included, and cannot be read");
        }
    }

    /// Takes each file in a directory whose name ends in `.conf` and starts with no dot, by bytes.
    fn directory(&mut self, path: &str, depth: usize) {
        if !self.may_read(path) {
            return;
        }
        let listed = self.running.processes.names(self.running.pid, path);
        let Some((mut names, changed_ns)) = listed else {
            return self.doubts(path, "is included, and cannot be listed");
        };
        self.judge(path, changed_ns);
        names.retain(|name| name.ends_with(".conf") && !name.starts_with('.'));
        names.sort_unstable();
        for name in names {
            self.included(&format!("{path}/{name}"), depth);
        }
    }

    /// Returns whether a file is missing, and was when the server was started.
    fn is_missing(&mut self, path: &str) -> bool {
        let (directory, name) = path.rsplit_once('/').unwrap_or((".", path));
        if !self.may_read(path) {
            return true;
        }
        let listed = self.running.processes.names(self.running.pid, directory);
        let lacking = listed.filter(|(names, _)| names.iter().all(|other| other != name));
        let Some((_, changed_ns)) = lacking else { return false };
        self.judge(directory, changed_ns);
        true
    }

    /// Counts one more file or directory; returns false, with a doubt, where those were too many.
    fn may_read(&mut self, path: &str) -> bool {
        let left = self.files.checked_sub(1);
        if left.is_none() {
            self.doubts(path, "is one of more files than are read");
        }
        self.files = left.unwrap_or(0);
        left.is_some()
    }

    fn judge(&mut self, path: &str, changed_ns: u64) {
        let found = doubt(path, changed_ns, self.started_ns);
        self.settings.doubt = self.settings.doubt.take().or(found);
    }

    fn doubts(&mut self, path: &str, reason: &str) {
        let reason = || format!("{} {reason}", escape(path.as_bytes()));
        self.settings.doubt.get_or_insert_with(reason);
    }
}

/// Path of a file that a line in the file at `from` names.
fn beside(from: &str, path: &str) -> String {
    match from.rsplit_once('/') {
        Some((directory, _)) if !path.starts_with('/') => format!("{directory}/{path}"),
        _ => path.to_owned(),
    }
}

/// The name, in lower case, and the value that a line gives it; `None` of a comment.
fn pair(line: &str) -> Option<(String, String)> {
    let line = line.trim_start();
    let end = line.find(|next: char| !next.is_alphanumeric() && !matches!(next, '_' | '.'));
    let (name, rest) = line.split_at(end.filter(|&end| end > 0)?);
    let value = rest.trim_start_matches(|next: char| next == '=' || next.is_ascii_whitespace());
    let value = match value.strip_prefix('\'') {
        Some(quoted) => quoted.split('\'').next(),
        None => value.split(|next: char| next == '#' || next.is_ascii_whitespace()).next(),
    };
    Some((name.to_ascii_lowercase(), value.unwrap_or_default().to_owned()))
}
