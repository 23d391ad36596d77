//! An rpm package: a lead, a header of checksums, a header about files, and the files.
//!
//! Sources: rpm's manual, "Package Format V4"; `rpm/rpmtag.h`, `rpm/rpmds.h`, `rpm/rpmfiles.h`.

mod header;
mod payload;

use std::collections::{BTreeMap, BTreeSet};

use super::architecture::Architecture;
use super::packaged_file::{PackagedFile, compressed};
use super::project::{self, RELEASE};
use super::sum;
use header::Value::{self, Shorts, Text, Texts, Translated, Words};

/// The region of a header that checksums cover, and that of a header of checksums.
const IMMUTABLE: u32 = 63;
const SIGNATURES: u32 = 62;

/// A number that is the same version; one that is the same or a lower version and is rpm's own.
const EQUAL: u32 = 8;
const OF_RPM: u32 = 1 << 24 | EQUAL | 2;

/// A file of documentation, and a license.
const DOCUMENTATION: u32 = 1 << 1;
const LICENSE: u32 = 1 << 7;

/// SHA-256, among the algorithms of OpenPGP.
const SHA256: u32 = 8;

/// Abilities of rpm that the package needs, each since a version.
const NEEDS: [(&str, &str); 3] = [
    ("rpmlib(CompressedFileNames)", "3.0.4-1"),
    ("rpmlib(FileDigests)", "4.6.0-1"),
    ("rpmlib(PayloadFilesHavePrefix)", "4.0-1"),
];

/// Returns the package of `files` for `architecture`, which provides `version`; `time` in seconds
/// since 1970.
///
/// # Errors
/// When the package would have 4 GiB or more.
pub(super) fn package(
    files: &[PackagedFile],
    architecture: Architecture,
    version: &str,
    time: u64,
) -> anyhow::Result<Vec<u8>> {
    let files = with_directories(files);
    let time = u32::try_from(time)?;
    let archive = payload::archive(&files, time);
    let payload = compressed(&archive)?;
    let mut values = about(architecture, version, time);
    values.extend(of_files(&files, time)?);
    values.insert(5092, Texts(vec![sum(&payload)]));
    values.insert(5093, Words(vec![SHA256]));
    let header = header::bytes(IMMUTABLE, &values)?;
    let sums = BTreeMap::from([
        (273, Text(sum(&header))),
        (1000, Words(vec![u32::try_from(header.len() + payload.len())?])),
        (1007, Words(vec![u32::try_from(archive.len())?])),
    ]);
    let mut sums = header::bytes(SIGNATURES, &sums)?;
    sums.resize(sums.len().next_multiple_of(8), 0);
    let name = format!("straddle-{version}-{RELEASE}");
    Ok([lead(&name, architecture), sums, header, payload].concat())
}

/// The first 96 bytes, of which today only the first four are read.
fn lead(name: &str, architecture: Architecture) -> Vec<u8> {
    let mut lead = vec![0xed, 0xab, 0xee, 0xdb, 3, 0, 0, 0];
    lead.extend(architecture.rpm_number.to_be_bytes());
    lead.extend(name.bytes().take(65));
    lead.resize(76, 0);
    lead.extend([0, 1, 0, 5]);
    lead.resize(96, 0);
    lead
}

/// `files`, and the directories that are the package's alone, sorted by their paths.
fn with_directories(files: &[PackagedFile]) -> Vec<PackagedFile> {
    let mut all = files.to_vec();
    let paths = files.iter().map(|file| file.path.as_str());
    let directories = paths.flat_map(|path| path.match_indices('/').map(|(at, _)| &path[..=at]));
    let own: BTreeSet<&str> = directories.filter(|path| path.contains("/straddle/")).collect();
    all.extend(own.into_iter().map(|path| PackagedFile::directory(path, 0o755)));
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// Values about the package itself.
fn about(architecture: Architecture, version: &str, time: u32) -> BTreeMap<u32, Value> {
    let text = |text: &str| Text(text.to_owned());
    let full = format!("{version}-{RELEASE}");
    let of_architecture = format!("straddle({})", architecture.rpm_suffix);
    let texts = |all: &[&str]| Texts(all.iter().map(|&one| one.to_owned()).collect());
    BTreeMap::from([
        (100, texts(&["C"])),
        (1000, text("straddle")),
        (1001, text(version)),
        (1002, text(RELEASE)),
        (1004, Translated(capitalized(project::SUMMARY))),
        (1005, Translated(project::DESCRIPTION.join("\n"))),
        (1006, Words(vec![time])),
        (1007, text("localhost")),
        (1014, text(project::LICENSE)),
        (1015, text(project::MAINTAINER)),
        (1016, Translated("Applications/System".to_owned())),
        (1020, text(project::HOMEPAGE)),
        (1021, text("linux")),
        (1022, text(architecture.name)),
        (1044, Text(format!("straddle-{full}.src.rpm"))),
        (1047, texts(&["straddle", &of_architecture])),
        (1048, Words(NEEDS.map(|_| OF_RPM).to_vec())),
        (1049, texts(&NEEDS.map(|(name, _)| name))),
        (1050, texts(&NEEDS.map(|(_, version)| version))),
        (1080, Words(vec![time])),
        (1081, Texts(vec![format!("{} - {full}", project::MAINTAINER)])),
        (1082, texts(&["- Changes are in CHANGELOG.md."])),
        (1112, Words(vec![EQUAL; 2])),
        (1113, texts(&[&full, &full])),
        (1124, text("cpio")),
        (1125, text("gzip")),
        (1126, text("9")),
    ])
}

/// `text` with a capital first letter, as rpm wants summaries.
fn capitalized(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

/// Values about each of `files`.
fn of_files(files: &[PackagedFile], time: u32) -> anyhow::Result<BTreeMap<u32, Value>> {
    let sizes = files.iter().map(|file| u32::try_from(file.bytes.len()));
    let sizes = sizes.collect::<Result<Vec<u32>, _>>()?;
    let count = u32::try_from(files.len())?;
    let texts = |text: fn(&PackagedFile) -> String| Texts(files.iter().map(text).collect());
    let words = |word: fn(&PackagedFile) -> u32| Words(files.iter().map(word).collect());
    let every = |word: u32| Words(vec![word; files.len()]);
    let mut directories: Vec<String> = files.iter().map(|file| split(file).0).collect();
    directories.sort();
    directories.dedup();
    let place = |file| directories.binary_search(&split(file).0).unwrap_or(0);
    let places = files.iter().map(|file| u32::try_from(place(file)));
    let places = places.collect::<Result<Vec<u32>, _>>()?;
    Ok(BTreeMap::from([
        (1009, Words(vec![sizes.iter().sum()])),
        (1028, Words(sizes)),
        (1030, Shorts(files.iter().map(PackagedFile::full_mode).collect())),
        (1033, Shorts(vec![0; files.len()])),
        (1034, every(time)),
        (1035, texts(|file| if file.is_directory() { String::new() } else { sum(&file.bytes) })),
        (1036, texts(|_| String::new())),
        (1037, words(flags)),
        (1039, texts(|_| "root".to_owned())),
        (1040, texts(|_| "root".to_owned())),
        (1045, every(u32::MAX)),
        (1095, every(1)),
        (1096, Words((1..=count).collect())),
        (1097, texts(|_| String::new())),
        (1116, Words(places)),
        (1117, texts(|file| split(file).1)),
        (1118, Texts(directories)),
        (5011, Words(vec![SHA256])),
    ]))
}

/// The directory of `file`, with slashes around it, and its name.
fn split(file: &PackagedFile) -> (String, String) {
    let path = file.path.trim_end_matches('/');
    let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
    (format!("/{directory}/"), name.to_owned())
}

/// Kind of a file, among those that rpm can list.
fn flags(file: &PackagedFile) -> u32 {
    let begins = |with: &str| file.path.starts_with(with) && !file.is_directory();
    match () {
        () if begins("usr/share/licenses/") => LICENSE,
        () if begins("usr/share/man/") || begins("usr/share/doc/") => DOCUMENTATION,
        () => 0,
    }
}
