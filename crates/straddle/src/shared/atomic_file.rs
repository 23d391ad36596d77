//! A file that is written beside its place, and put there when it is whole.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// A file on its way to its place. Dropped before that, it leaves what is there as it is.
pub(crate) struct AtomicFile {
    path: PathBuf,
    /// Its name until then; `None` where it has none.
    beside: Option<PathBuf>,
    file: BufWriter<File>,
    is_done: bool,
}

impl AtomicFile {
    /// Begins a file for `path`, which may be written by whom `mode` and the umask allow. Where the
    /// file system has files without a name, nothing is left of it even after SIGKILL.
    ///
    /// # Errors
    /// When nothing can be written beside `path`.
    pub(crate) fn create(path: &Path, mode: u32) -> io::Result<AtomicFile> {
        if let Some(file) = host::nameless_file(directory_of(path), mode) {
            return Ok(AtomicFile::of(path, None, file));
        }
        let beside = name_beside(path);
        // One that a process of the same number left behind.
        let _ = fs::remove_file(&beside);
        let file = File::options().write(true).create_new(true).mode(mode).open(&beside)?;
        Ok(AtomicFile::of(path, Some(beside), file))
    }

    fn of(path: &Path, beside: Option<PathBuf>, file: File) -> AtomicFile {
        let file = BufWriter::with_capacity(1 << 16, file);
        AtomicFile { path: path.to_owned(), beside, file, is_done: false }
    }

    /// The file, for what is not written from its start to its end.
    pub(crate) fn file(&self) -> &File {
        self.file.get_ref()
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// When it cannot be written or put there; what was there is then still there.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.whole()?;
        if self.beside.is_none() {
            let beside = name_beside(&self.path);
            let _ = fs::remove_file(&beside);
            host::give_name(self.file.get_ref(), &beside)?;
            self.beside = Some(beside);
        }
        let Some(beside) = &self.beside else { return Ok(()) };
        fs::rename(beside, &self.path)?;
        self.is_done = true;
        Ok(())
    }

    /// Puts the file in its place if nothing is there.
    ///
    /// # Errors
    /// When it cannot be written or named; of kind `AlreadyExists` if another file has its name.
    pub(crate) fn finish_new(mut self) -> io::Result<()> {
        self.whole()?;
        self.named()?;
        // It is there: a directory that may not be read, and so not be synced, is no failure.
        let _ = sync_directory_of(&self.path);
        Ok(())
    }

    /// Gives it its name if nothing has that.
    fn named(&mut self) -> io::Result<()> {
        // A second name is given only where there is none; the first one goes with `self`.
        let Some(beside) = &self.beside else {
            return host::give_name(self.file.get_ref(), &self.path);
        };
        match fs::hard_link(beside, &self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                // A file system without second names, such as FAT: the place is taken first.
                File::create_new(&self.path)?;
                if let Err(error) = fs::rename(beside, &self.path) {
                    let _ = fs::remove_file(&self.path);
                    return Err(error);
                }
                self.is_done = true;
                Ok(())
            }
            linked => linked,
        }
    }

    /// Brings all of it to the medium.
    fn whole(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()
    }
}

/// A name for a file on its way to `path`.
fn name_beside(path: &Path) -> PathBuf {
    let mut beside = OsString::from(".");
    beside.push(path.file_name().unwrap_or_default());
    beside.push(format!(".{}.new", std::process::id()));
    path.with_file_name(beside)
}

/// The directory of a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Brings the names in the directory of `path` to the medium.
///
/// # Errors
/// When the directory cannot be opened or synced.
pub(crate) fn sync_directory_of(path: &Path) -> io::Result<()> {
    File::open(directory_of(path))?.sync_all()
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some(beside) = self.beside.as_ref().filter(|_| !self.is_done) {
            // What is half written is of no use to anyone.
            let _ = fs::remove_file(beside);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_replaces_nothing_that_appeared_meanwhile_and_leaves_nothing_beside_it() {
        let scratch = testkit::Scratch::new();
        let path = scratch.path().join("new.raw");
        let names = || fs::read_dir(scratch.path()).expect("it is listed").count();
        let mut file = AtomicFile::create(&path, 0o666).expect("it is begun");
        file.write_all(b"whole").expect("it is written");
        fs::write(&path, b"precious").expect("it is written");
        let error = file.finish_new().expect_err("something is there");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).expect("it is read"), b"precious");
        assert_eq!(names(), 1);
        fs::remove_file(&path).expect("it is removed");
        let mut file = AtomicFile::create(&path, 0o666).expect("it is begun");
        file.write_all(b"whole").expect("it is written");
        file.finish_new().expect("nothing is there");
        assert_eq!(fs::read(&path).expect("it is read"), b"whole");
        assert_eq!(names(), 1);
    }
}
