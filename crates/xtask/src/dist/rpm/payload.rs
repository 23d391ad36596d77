//! The files of an rpm package, one after the other.
//!
//! Source: cpio(5), "New ASCII Format".

use std::fmt::Write as _;

use super::super::packaged_file::PackagedFile;

/// Returns the archive of `files`, all of root's and of `time` in seconds since 1970.
pub(super) fn archive(files: &[PackagedFile], time: u32) -> Vec<u8> {
    let mut archive = Vec::new();
    for (place, file) in files.iter().enumerate() {
        let path = format!("./{}", file.path.trim_end_matches('/'));
        append(&mut archive, [place + 1, file.full_mode() as usize, time as usize], &path, file);
    }
    let end = PackagedFile::data("", Vec::new());
    append(&mut archive, [0, 0, 0], "TRAILER!!!", &end);
    archive
}

fn append(archive: &mut Vec<u8>, numbers: [usize; 3], path: &str, file: &PackagedFile) {
    let [inode, mode, time] = numbers;
    let mut head = "070701".to_owned();
    let sizes = [file.bytes.len(), 0, 0, 0, 0, path.len() + 1, 0];
    for field in [inode, mode, 0, 0, 1, time].into_iter().chain(sizes) {
        let _ = write!(head, "{field:08x}");
    }
    for part in [&[head.as_bytes(), path.as_bytes(), b"\0"].concat(), &file.bytes] {
        archive.extend(part);
        archive.resize(archive.len().next_multiple_of(4), 0);
    }
}
