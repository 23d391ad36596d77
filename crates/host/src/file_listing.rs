//! The files below a directory, to be looked at as images.

use std::cmp::Ordering;
use std::fs::FileType;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

/// Greatest depth, and number of files, that [`list_files`] looks at. Both keep a strange tree from
/// taking for ever.
const DEPTH_MAX: u32 = 32;
const FILES_MAX: usize = 100_000;

/// Files below a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Regular files, and links to such, in the order of their paths.
    pub files: Vec<PathBuf>,
    /// Paths that were not looked at, and why, in their order.
    pub omitted: Vec<Omitted>,
    /// Entries that are neither file nor directory, each with its kind, in the order of the paths.
    pub others: Vec<Omitted>,
}

/// A file or directory that was not looked at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Omitted {
    /// The path.
    pub path: PathBuf,
    /// Why, in lower case and without a full stop.
    pub reason: String,
}

/// The regular files below `directory`, 32 directories deep and 100,000 files at most. A link to a
/// file counts as a file; a link to a directory is not followed, so no loop is entered and nothing
/// outside is looked at that nobody named. Nothing but directories is opened.
///
/// # Errors
/// When `directory` itself cannot be read; what cannot be read below it is in [`Listing::omitted`].
pub fn list_files(directory: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut ahead = vec![(directory.to_owned(), 0)];
    while let Some((directory, depth)) = ahead.pop() {
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if depth == 0 => return Err(error),
            Err(error) => {
                listing.omit(directory, &error.to_string());
                continue;
            }
        };
        for entry in entries {
            let (path, kind) = match entry {
                Ok(entry) => (entry.path(), entry.file_type()),
                Err(error) => {
                    listing.omit(directory.clone(), &error.to_string());
                    break;
                }
            };
            if listing.files.len() >= FILES_MAX {
                listing.omit(path, "100,000 files were found before it");
                ahead.clear();
                break;
            }
            listing.add(path, kind, depth, &mut ahead);
        }
    }
    listing.files.sort_by(|one, other| order(one, other));
    listing.omitted.sort();
    listing.others.sort();
    Ok(listing)
}

/// The order of paths by their parts, as [`Path`] has it, without taking them apart each time.
fn order(one: &Path, other: &Path) -> Ordering {
    fn parts(path: &Path) -> impl Iterator<Item = u8> {
        let bytes = path.as_os_str().as_encoded_bytes().iter();
        bytes.map(|&byte| if byte == b'/' { 0 } else { byte })
    }
    parts(one).cmp(parts(other))
}

impl Listing {
    fn add(
        &mut self,
        path: PathBuf,
        kind: io::Result<FileType>,
        depth: u32,
        ahead: &mut Vec<(PathBuf, u32)>,
    ) {
        let kind = match kind {
            Ok(kind) => kind,
            Err(error) => return self.omit(path, &error.to_string()),
        };
        if kind.is_symlink() {
            match std::fs::metadata(&path) {
                Ok(target) if target.is_file() => self.files.push(path),
                Ok(target) => self.other(path, &format!("a link to {}", name(target.file_type()))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    self.other(path, "a link to nothing");
                }
                Err(error) => self.omit(path, &error.to_string()),
            }
        } else if kind.is_dir() && depth >= DEPTH_MAX {
            self.omit(path, "it is more than 32 directories deep");
        } else if kind.is_dir() && is_of_a_plan(&path) {
            self.other(path, "the directory of a script of straddle plan");
        } else if kind.is_dir() {
            ahead.push((path, depth + 1));
        } else if kind.is_file() {
            self.files.push(path);
        } else {
            self.other(path, name(kind));
        }
    }

    fn omit(&mut self, path: PathBuf, reason: &str) {
        self.omitted.push(Omitted { path, reason: reason.to_owned() });
    }

    fn other(&mut self, path: PathBuf, what: &str) {
        self.others.push(Omitted { path, reason: what.to_owned() });
    }
}

/// Returns whether a script of `straddle plan` keeps in this directory what it moves: parts of
/// disks, that are no disks.
fn is_of_a_plan(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(b"straddle-plan-") && path.join("resume.sh").is_file()
}

/// The kind of an entry that is no regular file, with its article.
fn name(kind: FileType) -> &'static str {
    match kind {
        kind if kind.is_dir() => "a directory",
        kind if kind.is_fifo() => "a FIFO",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_block_device() => "a block device",
        _ => "a character device",
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use testkit::Scratch;

    use super::*;

    #[test]
    fn files_are_sorted_and_loops_are_not_entered() {
        let scratch = Scratch::new();
        let at = |path: &str| scratch.path().join(path);
        std::fs::create_dir_all(at("b/c")).unwrap();
        for file in ["z.img", "a.img", "b/c/m.qcow2", "b.img", "b-img"] {
            std::fs::write(at(file), "").unwrap();
        }
        symlink("..", at("b/up")).unwrap();
        symlink("z.img", at("link.img")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        symlink("/dev/null", at("null")).unwrap();
        let listing = list_files(scratch.path()).unwrap();
        let expected = ["a.img", "b/c/m.qcow2", "b-img", "b.img", "link.img", "z.img"].map(at);
        assert!(expected.is_sorted());
        assert_eq!(listing.files, expected);
        assert!(listing.omitted.is_empty(), "{:?}", listing.omitted);
        let others: Vec<_> = listing.others.iter().map(|other| other.reason.as_str()).collect();
        let what =
            ["a directory", "nothing", "a character device"].map(|it| format!("a link to {it}"));
        assert_eq!(others, what);
    }

    #[test]
    fn a_very_deep_directory_is_named_and_left() {
        let scratch = Scratch::new();
        let deep: PathBuf = std::iter::repeat_n("d", 40).collect();
        std::fs::create_dir_all(scratch.path().join(&deep)).unwrap();
        std::fs::write(scratch.path().join(&deep).join("f"), "").unwrap();
        let listing = list_files(scratch.path()).unwrap();
        assert!(listing.files.is_empty());
        assert_eq!(listing.omitted[0].reason, "it is more than 32 directories deep");
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        assert!(list_files(Path::new("/nonexistent")).is_err());
    }
}
