//! What probes found, kept between runs: one file for each drive, by its world-wide name or serial.
//!
//! `$STATE_DIRECTORY` (systemd.exec(5)), else `$XDG_STATE_HOME/straddle`, else
//! `~/.local/state/straddle` (XDG Base Directory Specification). A file is used only for the drive
//! that it names, with the firmware and the sector format that it names. Whoever may write a file
//! can say what a drive is, so one that others may write, or that another user owns, is refused.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use report::probe::{SAVED_BYTES_MAX, Saved, SavedIdentity, saved_json, saved_parse};
use stack::drive::{Drive, Measured, MeasuredGranule};

use crate::printer;

/// Where files are.
#[derive(Debug)]
pub(crate) struct Store {
    directory: PathBuf,
    /// What was said of drives, so that it is said once.
    said: Mutex<BTreeSet<String>>,
}

/// Others may write it: group or world.
const OTHERS_WRITE: u32 = 0o022;
/// The longest part of a file's name that is a drive's own.
const NAME_BYTES_MAX: usize = 180;

impl Store {
    /// Where the environment says; `None` where it says nothing.
    pub(crate) fn of_environment() -> Option<Store> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let directory = match (set("STATE_DIRECTORY"), set("XDG_STATE_HOME"), set("HOME")) {
            (Some(state), _, _) => first_of(&state),
            (None, Some(state), _) => PathBuf::from(state).join("straddle"),
            (None, None, Some(home)) => PathBuf::from(home).join(".local/state/straddle"),
            (None, None, None) => return None,
        };
        // A relative path would mean another place in another directory.
        directory.is_absolute().then(|| Store::at(directory))
    }

    fn at(directory: PathBuf) -> Store {
        Store { directory, said: Mutex::default() }
    }

    /// What is kept of a drive; `None` where nothing is. Says once of each drive what it gave.
    pub(crate) fn of(&self, drive: &Drive) -> Option<Measured> {
        let identity = identity(drive).ok()?;
        let path = self.path(&identity);
        let found = match read(&path) {
            Ok(None) => return None,
            Ok(Some(saved)) => match differs(&saved.identity, &identity) {
                None => Measured::Granule(granule(&saved)),
                Some(reason) => Measured::NotUsed(reason),
            },
            Err(reason) => {
                let name = printer::shown(&path);
                Measured::NotUsed(format!("{name} is not used: {reason}"))
            }
        };
        self.say(drive, &found);
        Some(found)
    }

    fn say(&self, drive: &Drive, found: &Measured) {
        let name = &drive.name;
        let line = match found {
            Measured::Granule(found) => format!(
                "{name}: the granule is {} bytes from {} on, measured ({}); --ignore-measured \
                 leaves that out",
                found.alignment_bytes, found.origin_bytes, found.note
            ),
            Measured::NotUsed(reason) => format!("{name}: what was measured is left out: {reason}"),
        };
        let mut said = match self.said.lock() {
            Ok(said) => said,
            Err(poisoned) => poisoned.into_inner(),
        };
        if said.insert(line.clone()) {
            printer::note(&line);
        }
    }

    /// Keeps `saved`, whole or not at all; the file's path.
    ///
    /// # Errors
    /// When it cannot be written; what was there is then still there.
    pub(crate) fn keep(&self, saved: &Saved) -> Result<PathBuf, String> {
        let path = self.path(&saved.identity);
        let told =
            |error: std::io::Error| format!("cannot write {}: {error}", printer::shown(&path));
        fs::DirBuilder::new().recursive(true).mode(0o755).create(&self.directory).map_err(told)?;
        let mut beside = OsString::from(".");
        beside.push(path.file_name().unwrap_or_default());
        beside.push(format!(".{}.new", std::process::id()));
        let beside = self.directory.join(beside);
        let write = || {
            let options = File::options().write(true).create_new(true).mode(0o644).clone();
            let mut file = options.open(&beside)?;
            file.write_all(saved_json(saved).as_bytes())?;
            file.sync_all()?;
            fs::rename(&beside, &path)?;
            File::open(&self.directory)?.sync_all()
        };
        write().map_err(|error| {
            // What is half written is of no use to anyone.
            let _ = fs::remove_file(&beside);
            told(error)
        })?;
        Ok(path)
    }

    fn path(&self, identity: &SavedIdentity) -> PathBuf {
        self.directory.join(file_name(&identity.kind, &identity.name))
    }
}

/// The first of the directories that systemd names, which are joined by colons.
fn first_of(state: &std::ffi::OsStr) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    let first = state.as_bytes().split(|byte| *byte == b':').next().unwrap_or_default();
    PathBuf::from(std::ffi::OsStr::from_bytes(first))
}

/// `measured-wwid-naa.5000.json`; bytes that are no letters, digits, dots or dashes as `%20`.
fn file_name(kind: &str, name: &str) -> String {
    let mut text = format!("measured-{kind}-");
    for byte in name.bytes().take(NAME_BYTES_MAX / 3) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                text.push(char::from(byte));
            }
            _ => text += &format!("%{byte:02x}"),
        }
    }
    text + ".json"
}

/// Which drive it is, and in which state.
///
/// # Errors
/// When it names itself in no way, or its sectors are not known.
pub(crate) fn identity(drive: &Drive) -> Result<SavedIdentity, String> {
    let known = |known: &units::Known<String>| {
        known.value().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let own = &drive.identity;
    let named = known(&own.wwid).map(|name| ("wwid", name));
    let Some((kind, name)) = named.or_else(|| known(&own.serial).map(|name| ("serial", name)))
    else {
        return Err(format!("{} has neither a WWN nor a serial number", drive.name));
    };
    let sectors = (drive.logical_bytes.value(), drive.physical_bytes.value());
    let (Some(&logical_sector_bytes), Some(&physical_sector_bytes)) = sectors else {
        return Err(format!("the sectors of {} are not known", drive.name));
    };
    Ok(SavedIdentity {
        name,
        kind: kind.to_owned(),
        firmware: known(&own.firmware),
        logical_sector_bytes,
        physical_sector_bytes,
    })
}

/// Why what was saved is not of the drive as it is; `None` where it is.
fn differs(saved: &SavedIdentity, now: &SavedIdentity) -> Option<String> {
    let none = || "none".to_owned();
    let shown = |text: &Option<String>| {
        text.as_ref().map_or_else(none, |text| units::text::escape(text.as_bytes()))
    };
    let sectors = |it: &SavedIdentity| (it.logical_sector_bytes, it.physical_sector_bytes);
    if (&saved.name, &saved.kind) != (&now.name, &now.kind) {
        return Some("it is of another drive".to_owned());
    }
    if saved.firmware != now.firmware {
        let (then, now) = (shown(&saved.firmware), shown(&now.firmware));
        return Some(format!("the firmware was {then}, and is {now}: probe it again"));
    }
    if sectors(saved) != sectors(now) {
        let ((logical, physical), (logical_now, physical_now)) = (sectors(saved), sectors(now));
        return Some(format!(
            "the sectors were {logical} and {physical} bytes, and are {logical_now} and \
             {physical_now}: probe it again"
        ));
    }
    None
}

fn granule(saved: &Saved) -> MeasuredGranule {
    let text = |text: &str| units::text::escape(text.as_bytes());
    let found = &saved.granule;
    MeasuredGranule {
        alignment_bytes: found.alignment_bytes,
        origin_bytes: found.origin_bytes,
        size_bytes: found.size_bytes,
        date: text(saved.measured.split('T').next().unwrap_or_default()),
        note: format!(
            "straddle {} probe, {}, misaligned at least {:.2} times as long",
            text(&saved.version),
            text(&saved.measured),
            found.slower_low
        ),
    }
}

/// What a file holds; `None` where there is none.
fn read(path: &Path) -> Result<Option<Saved>, String> {
    use std::io::ErrorKind;
    // A link could lead anywhere, and a FIFO would wait for ever.
    let options = File::options().read(true).custom_flags(host::neither_follow_nor_wait()).clone();
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(format!("it cannot be opened: {error}")),
    };
    let data = file.metadata().map_err(|error| format!("it cannot be looked at: {error}"))?;
    if !data.is_file() {
        return Err("it is no regular file".to_owned());
    }
    if data.mode() & OTHERS_WRITE != 0 {
        return Err("others may write it: chmod go-w".to_owned());
    }
    if data.uid() != 0 && data.uid() != host::user() {
        return Err(format!("user {} owns it, who is neither root nor you", data.uid()));
    }
    let mut bytes = Vec::new();
    let most = SAVED_BYTES_MAX.saturating_add(1);
    file.take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    saved_parse(&bytes).map(Some).map_err(|fault| fault.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use device::MemoryTree;
    use report::probe::{SAVED_SCHEMA, SavedGranule};
    use std::os::unix::fs::PermissionsExt as _;

    fn drive(files: &[(&str, &str)]) -> Drive {
        let all = [("queue/logical_block_size", "512"), ("queue/physical_block_size", "512")];
        let tree = all.iter().chain(files).fold(MemoryTree::new(), |tree, (file, value)| {
            tree.with_file(&format!("/sys/block/sda/{file}"), value)
        });
        Drive::read(&tree, "sda")
    }

    fn saved(drive: &Drive) -> Saved {
        Saved {
            schema: SAVED_SCHEMA.to_owned(),
            version: "0.1.0".to_owned(),
            measured: "2026-01-02T03:04:05Z".to_owned(),
            identity: identity(drive).unwrap(),
            granule: SavedGranule {
                alignment_bytes: 4096,
                origin_bytes: 3584,
                size_bytes: Some(4096),
                slower_low: 2.9,
                aligned_high: 1.1,
                alpha: 0.01,
                said_by: "a test".to_owned(),
            },
        }
    }

    const SERIAL: (&str, &str) = ("serial", "../S 1");
    const FIRMWARE: (&str, &str) = ("device/rev", "1.0");

    fn not_used(found: Option<Measured>) -> String {
        match found {
            Some(Measured::NotUsed(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_kept_comes_back_for_the_same_drive_alone() {
        let scratch = testkit::Scratch::new();
        let store = Store::at(scratch.path().join("state"));
        let own = drive(&[SERIAL, FIRMWARE]);
        assert_eq!(store.of(&own), None);
        let path = store.keep(&saved(&own)).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(name, "measured-serial-..%2fS%201.json");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777 & OTHERS_WRITE, 0);
        let Some(Measured::Granule(found)) = store.of(&own) else { panic!("it is used") };
        assert_eq!((found.alignment_bytes, found.origin_bytes), (4096, 3584));
        assert!(found.note.contains("2026-01-02"), "{}", found.note);
        assert_eq!(store.of(&drive(&[("serial", "other"), FIRMWARE])), None);
        assert_eq!(store.of(&drive(&[])), None);
    }

    #[test]
    fn another_firmware_or_sector_format_is_not_used_and_said() {
        let scratch = testkit::Scratch::new();
        let store = Store::at(scratch.path().to_owned());
        store.keep(&saved(&drive(&[SERIAL, FIRMWARE]))).unwrap();
        let reason = not_used(store.of(&drive(&[SERIAL, ("device/rev", "2.0")])));
        assert!(reason.contains("firmware was 1.0, and is 2.0"), "{reason}");
        let formatted = drive(&[SERIAL, FIRMWARE, ("queue/logical_block_size", "4096")]);
        let reason = not_used(store.of(&formatted));
        assert!(reason.contains("sectors were 512 and 512 bytes, and are 4096"), "{reason}");
    }

    #[test]
    fn a_file_of_another_drive_under_this_ones_name_is_not_used() {
        let scratch = testkit::Scratch::new();
        let store = Store::at(scratch.path().to_owned());
        let own = drive(&[SERIAL]);
        let path = store.keep(&saved(&own)).unwrap();
        let mut other = saved(&own);
        other.identity.name = "other".to_owned();
        fs::write(&path, saved_json(&other)).unwrap();
        assert!(not_used(store.of(&own)).contains("another drive"));
    }

    #[test]
    fn hostile_files_are_refused_with_a_reason() {
        let scratch = testkit::Scratch::new();
        let store = Store::at(scratch.path().to_owned());
        let own = drive(&[SERIAL]);
        let path = store.keep(&saved(&own)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(not_used(store.of(&own)).contains("others may write it"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        fs::write(&path, b"{\"schema\": \"straddle.measured/1\"").unwrap();
        assert!(not_used(store.of(&own)).contains("it is no straddle.measured/1"));
        fs::write(&path, vec![b' '; 1 << 20]).unwrap();
        assert!(not_used(store.of(&own)).contains("longer than"));
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        assert!(not_used(store.of(&own)).contains("cannot be opened"));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(not_used(store.of(&own)).contains("no regular file"));
    }

    #[test]
    fn a_drive_without_a_name_has_no_identity() {
        assert!(identity(&drive(&[])).unwrap_err().contains("neither a WWN nor a serial"));
    }
}
