//! Writing a manifest.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use thiserror::Error;
use units::text;

use super::escape;
use super::parse::{FIRST_LINE, PATH_PARTS_MAX};

/// A captured tree while it is filled. The text is sorted, so two captures of one machine differ
/// where the machine does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    notes: Vec<String>,
    /// By directory, without the first slash, then by name.
    directories: BTreeMap<String, BTreeMap<String, ManifestEntry>>,
}

/// A file, a link, or the reason why neither can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManifestEntry {
    /// A file's content.
    File(Vec<u8>),
    /// A link's target, absolute within the tree or relative to the link's directory.
    Link(String),
    /// Why it cannot be read: who reads it from the manifest is told the same.
    Unreadable(String),
}

/// A path that no manifest can hold.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{path} is not an absolute path without `.` and `..`, of at most {PATH_PARTS_MAX} parts")]
pub struct PathError {
    /// The path, escaped.
    pub path: String,
}

impl Manifest {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Manifest {
        Manifest::default()
    }

    /// Adds a line for people, which tells readers nothing.
    pub fn note(&mut self, note: &str) {
        self.notes.push(text::escape(note.as_bytes()));
    }

    /// Adds the directory `path`, with all on the way to it.
    ///
    /// # Errors
    /// When `path` is none that a manifest can hold.
    pub fn directory(&mut self, path: &str) -> Result<(), PathError> {
        let path = checked(path)?;
        self.directories.entry(path.to_owned()).or_default();
        Ok(())
    }

    /// Adds a file; one that was there is replaced.
    ///
    /// # Errors
    /// Same as [`Manifest::directory`].
    pub fn file(&mut self, path: &str, content: &[u8]) -> Result<(), PathError> {
        self.put(path, ManifestEntry::File(content.to_owned()))
    }

    /// Adds a link to `target`, absolute within the tree or relative to the link's directory.
    ///
    /// # Errors
    /// Same as [`Manifest::directory`].
    pub fn link(&mut self, path: &str, target: &str) -> Result<(), PathError> {
        self.put(path, ManifestEntry::Link(target.to_owned()))
    }

    /// Adds something that cannot be read, and why: who reads it from the manifest is told the
    /// same.
    ///
    /// # Errors
    /// Same as [`Manifest::directory`].
    pub fn unreadable(&mut self, path: &str, reason: &str) -> Result<(), PathError> {
        self.put(path, ManifestEntry::Unreadable(reason.to_owned()))
    }

    /// Returns whether `path` was added as a file, a link or something unreadable.
    #[must_use]
    pub fn holds(&self, path: &str) -> bool {
        let Ok((directory, name)) = parted(path) else { return false };
        self.directories.get(directory).is_some_and(|entries| entries.contains_key(name))
    }

    /// Everything but directories with its path, in the order of the text.
    pub fn entries(&self) -> impl Iterator<Item = (String, &ManifestEntry)> {
        self.directories.iter().flat_map(|(directory, entries)| {
            entries.iter().map(move |(name, entry)| (joined(directory, name), entry))
        })
    }

    /// The directories that hold nothing.
    pub fn empty_directories(&self) -> impl Iterator<Item = String> {
        let empty = self.directories.iter().filter(|(_, entries)| entries.is_empty());
        empty.map(|(directory, _)| format!("/{directory}"))
    }

    /// The text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = format!("{FIRST_LINE}\n");
        for note in &self.notes {
            let _ = writeln!(text, "# {note}");
        }
        let body = self.body();
        let lines = body.bytes().filter(|&byte| byte == b'\n').count();
        let _ = writeln!(text, "n {lines}");
        text.push_str(&body);
        text
    }

    fn body(&self) -> String {
        let mut text = String::new();
        for (directory, entries) in &self.directories {
            text.push_str("d /");
            escape::write_last(&mut text, directory.as_bytes());
            text.push('\n');
            for (name, entry) in entries {
                write_entry(&mut text, name, entry);
            }
        }
        text
    }

    /// Adds anything; what was there is replaced.
    ///
    /// # Errors
    /// Same as [`Manifest::directory`].
    pub fn put(&mut self, path: &str, entry: ManifestEntry) -> Result<(), PathError> {
        let (directory, name) = parted(path)?;
        let entries = match self.directories.get_mut(directory) {
            Some(entries) => entries,
            None => self.directories.entry(directory.to_owned()).or_default(),
        };
        entries.insert(name.to_owned(), entry);
        Ok(())
    }
}

fn write_entry(text: &mut String, name: &str, entry: &ManifestEntry) {
    let head = |text: &mut String, letter: &str, separator: &str| {
        text.push_str(letter);
        escape::write_name(text, name.as_bytes());
        text.push_str(separator);
    };
    match entry {
        ManifestEntry::Link(target) => {
            head(text, "l ", " -> ");
            escape::write_last(text, target.as_bytes());
        }
        ManifestEntry::Unreadable(reason) => {
            head(text, "x ", ":");
            write_value(text, reason.as_bytes());
        }
        ManifestEntry::File(content) => match content.strip_suffix(b"\n") {
            None => {
                head(text, "b ", ":");
                write_value(text, content);
            }
            Some(lines) if !lines.contains(&b'\n') => {
                head(text, "f ", ":");
                write_value(text, lines);
            }
            Some(lines) => {
                head(text, "m ", ":");
                let _ = write!(text, " {}", lines.split(|&byte| byte == b'\n').count());
                for line in lines.split(|&byte| byte == b'\n') {
                    text.push_str("\n|");
                    write_value(text, line);
                }
            }
        },
    }
    text.push('\n');
}

/// A value after the colon or the bar; an empty one leaves no blank at the line's end.
fn write_value(text: &mut String, value: &[u8]) {
    if !value.is_empty() {
        text.push(' ');
        escape::write_last(text, value);
    }
}

fn joined(directory: &str, name: &str) -> String {
    match directory {
        "" => format!("/{name}"),
        directory => format!("/{directory}/{name}"),
    }
}

/// The directory of a path, without the first slash, and the name in it.
fn parted(path: &str) -> Result<(&str, &str), PathError> {
    let path = checked(path)?;
    match path.rsplit_once('/') {
        Some(parted) => Ok(parted),
        None if path.is_empty() => Err(PathError { path: "/".to_owned() }),
        None => Ok(("", path)),
    }
}

/// A path without its first slash, when it is one that a manifest can hold.
fn checked(path: &str) -> Result<&str, PathError> {
    let wrong = || PathError { path: text::escape(path.as_bytes()) };
    let inner = path.strip_prefix('/').ok_or_else(wrong)?;
    let bad = |part: &str| matches!(part, "" | "." | "..") || part.contains('\0');
    if inner.is_empty() {
        return Ok(inner);
    }
    let fits = inner.split('/').count() <= PATH_PARTS_MAX && !inner.split('/').any(bad);
    fits.then_some(inner).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_is_sorted_and_says_what_each_thing_is() {
        let mut manifest = Manifest::new();
        manifest.note("one\nline");
        manifest.file("/proc/mdstat", b"a\n\n b \n").unwrap();
        manifest.file("/b/size", b"8\n").unwrap();
        manifest.file("/b/binary", b"\x00\xff\n ").unwrap();
        manifest.file("/b/empty", b"").unwrap();
        manifest.file("/b/blank", b"\n").unwrap();
        manifest.link("/b/a", "../a b ").unwrap();
        manifest.unreadable("/b/odd: name", "Permission denied").unwrap();
        manifest.directory("/c").unwrap();
        assert_eq!(
            manifest.to_text(),
            "straddle.sysroot/1\n# one\\u{a}line\nn 13\nd /b\nl a -> ../a b\\x20\n\
             b binary: \\x00\\xff\\n\\x20\nf blank:\nb empty:\n\
             x odd\\x3a\\x20name: Permission denied\nf size: 8\nd /c\nd /proc\n\
             m mdstat: 3\n| a\n|\n|  b\\x20\n"
        );
    }

    #[test]
    fn paths_that_are_not_absolute_or_lead_elsewhere_are_refused() {
        let mut manifest = Manifest::new();
        for path in ["", "a", "/a/../b", "/a/./b", "/a//b", "/a/", "/a\0b", &"/a".repeat(65)] {
            assert!(manifest.file(path, b"").is_err(), "{path}");
            assert!(manifest.directory(path).is_err(), "{path}");
        }
        assert!(manifest.file("/", b"").is_err());
        assert!(manifest.directory("/").is_ok());
    }
}
