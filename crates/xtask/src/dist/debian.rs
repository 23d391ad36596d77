//! A Debian package: an ar archive of a version, control data and files.
//!
//! Source: deb(5), deb-control(5), deb-changelog(5), Debian Policy 4.6.

use super::architecture::Architecture;
use super::packaged_file::{self, PackagedFile, compressed};
use super::{archive, project};

/// Returns the package of `files` for `architecture`, as `version`; `time` in seconds since 1970.
///
/// # Errors
/// When an archive cannot be made.
pub(super) fn package(
    files: &[PackagedFile],
    architecture: Architecture,
    version: &str,
    time: u64,
) -> anyhow::Result<Vec<u8>> {
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let control = control(architecture, version, bytes.div_ceil(1024));
    let control = PackagedFile::data("control", control.into_bytes());
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", compressed(&archive::of(&[control], time)?)?),
        ("data.tar.gz", compressed(&archive::of(files, time)?)?),
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

/// Returns `files` where Debian wants them, with the files that Debian alone wants.
///
/// # Errors
/// When a file of the project cannot be read.
pub(super) fn files(
    files: &[PackagedFile],
    version: &str,
    time: u64,
) -> anyhow::Result<Vec<PackagedFile>> {
    let licenses = "usr/share/licenses/";
    let mut files: Vec<PackagedFile> =
        files.iter().filter(|file| !file.path.starts_with(licenses)).cloned().collect();
    for file in &mut files {
        file.path = file.path.replace("zsh/site-functions", "zsh/vendor-completions");
    }
    let changes = compressed(changelog(version, time)?.as_bytes())?;
    for (path, bytes) in [
        ("usr/share/doc/straddle/changelog.gz", changes),
        ("usr/share/doc/straddle/copyright", packaged_file::own("copyright")?),
        ("usr/share/lintian/overrides/straddle", packaged_file::own("lintian-overrides")?),
    ] {
        files.push(PackagedFile::data(path, bytes));
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// One entry that leads to the project's own changelog.
fn changelog(version: &str, time: u64) -> anyhow::Result<String> {
    let time = jiff::Timestamp::from_second(i64::try_from(time)?)?;
    let date = time.strftime("%a, %d %b %Y %H:%M:%S +0000");
    Ok(format!(
        "straddle ({version}) unstable; urgency=medium\n\n  * Changes are in CHANGELOG.md.\n\n \
         -- {}  {date}\n",
        project::MAINTAINER
    ))
}

fn control(architecture: Architecture, version: &str, kib: usize) -> String {
    format!(
        "Package: straddle\n\
         Version: {version}\n\
         Architecture: {}\n\
         Maintainer: {}\n\
         Installed-Size: {kib}\n\
         Section: admin\n\
         Priority: optional\n\
         Homepage: {}\n\
         Description: {}\n {}\n",
        architecture.debian,
        project::MAINTAINER,
        project::HOMEPAGE,
        project::SUMMARY,
        project::DESCRIPTION.join("\n ")
    )
}
