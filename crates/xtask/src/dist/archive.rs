//! A tar archive of files, the same for the same files.

use std::collections::BTreeSet;

use tar::{Builder, EntryType, Header};

use super::packaged_file::PackagedFile;

/// Returns an archive of `files` with the directories that they lie in, all of root's and of `time`
/// in seconds since 1970.
pub(super) fn of(files: &[PackagedFile], time: u64) -> std::io::Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    let own = |path: &str| files.iter().find(|file| file.path == path);
    for directory in directories(files) {
        let mode = own(directory).map_or(0o755, |directory| directory.mode);
        let header = header(EntryType::Directory, mode, 0, time);
        append(&mut archive, header, &format!("./{directory}"), &[])?;
    }
    for file in files.iter().filter(|file| !file.is_directory()) {
        let header = header(EntryType::Regular, file.mode, file.bytes.len() as u64, time);
        append(&mut archive, header, &format!("./{}", file.path), &file.bytes)?;
    }
    archive.into_inner()
}

/// The directories of `files`, each after the one that it lies in.
fn directories(files: &[PackagedFile]) -> BTreeSet<&str> {
    let paths = files.iter().map(|file| file.path.as_str());
    paths.flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..=at])).collect()
}

fn header(kind: EntryType, mode: u16, bytes: u64, time: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode.into());
    header.set_size(bytes);
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    header
}

fn append(
    archive: &mut Builder<Vec<u8>>,
    mut header: Header,
    path: &str,
    bytes: &[u8],
) -> std::io::Result<()> {
    // dpkg wants the names to begin with ./, which the crate takes away.
    let name = &mut header.as_gnu_mut().expect("a header of GNU").name;
    let place = name.get_mut(..path.len()).ok_or_else(|| {
        std::io::Error::other(format!("the path {path} is too long for an archive"))
    })?;
    place.copy_from_slice(path.as_bytes());
    header.set_cksum();
    archive.append(&header, bytes)
}
