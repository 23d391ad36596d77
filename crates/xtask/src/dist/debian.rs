//! A Debian package: an ar archive of a version, control data and files.
//!
//! Source: deb(5), deb-control(5), Debian Policy 4.6.

use super::archive;
use super::packaged_file::PackagedFile;

/// Maintainer of the package.
const MAINTAINER: &str = "The straddle developers <straddle-io@users.noreply.github.com>";

/// Returns the package of `files` in `version`; `time` in seconds since 1970.
///
/// # Errors
/// When an archive cannot be made.
pub(super) fn package(files: &[PackagedFile], version: &str, time: u64) -> anyhow::Result<Vec<u8>> {
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let control = PackagedFile {
        path: "control".to_owned(),
        is_program: false,
        bytes: control(version, bytes.div_ceil(1024)).into_bytes(),
    };
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", archive::compressed(&[control], time)?),
        ("data.tar.gz", archive::compressed(files, time)?),
    ];
    let mut package = ar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = ar::Header::new(name.as_bytes().to_vec(), bytes.len() as u64);
        header.set_mtime(time);
        header.set_mode(0o100_644);
        package.append(&header, &bytes[..])?;
    }
    Ok(package.into_inner()?)
}

/// Returns the changelog as deb-changelog(5) has it: one entry that leads to the project's own.
pub(super) fn changelog(version: &str, time: u64) -> anyhow::Result<String> {
    let time = jiff::Timestamp::from_second(i64::try_from(time)?)?;
    let date = time.strftime("%a, %d %b %Y %H:%M:%S +0000");
    Ok(format!(
        "straddle ({version}) unstable; urgency=medium\n\n  * Changes are in CHANGELOG.md.\n\n \
         -- {MAINTAINER}  {date}\n"
    ))
}

fn control(version: &str, kib: usize) -> String {
    format!(
        "Package: straddle\n\
         Version: {version}\n\
         Architecture: amd64\n\
         Maintainer: {MAINTAINER}\n\
         Installed-Size: {kib}\n\
         Section: admin\n\
         Priority: optional\n\
         Homepage: {}\n\
         Description: find misaligned I/O in every layer of a storage stack\n \
         It shows the boundaries that disks, partitions, RAID, LVM, LUKS and file\n \
         systems get wrong, measures what that costs on the running machine, checks\n \
         whether a completed fsync is real, and plans the fix that keeps all data.\n",
        env!("CARGO_PKG_REPOSITORY")
    )
}
