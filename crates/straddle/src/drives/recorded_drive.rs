//! A drive whose clients were recorded: its settings, its content before, and the recording. It can
//! be cut as often as one likes, and kept in a directory.
//!
//! | file | holds |
//! |---|---|
//! | `drive` | the settings, in lines of a name and a value |
//! | `base` | the content before: pieces of 8 bytes place, 8 bytes length, and the bytes |
//! | `log` | commands and printed lines, with their times |
//! | `writes` | the bytes of all writes, one after the other |

use std::fs::File;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use clap::ValueEnum as _;
use drive::power::{Aftermath, Liar, Logged, SectorContent};
use drive::profile::DriveProfile;
use drive::{CommandKind, Model};
use serve::{RecordedCommand, Recording, Store};

use super::{cut_policy, profiles, variants};
use crate::arguments::{Lie, TortureFs};
use crate::shared::printer::shown;

/// The most entries of a log: 80 bytes each.
const ENTRIES_MAX: usize = 1 << 22;
/// The longest settings, in bytes.
const SETTINGS_BYTES_MAX: u64 = 1 << 16;

/// A model of a drive, with the logs of all that it was sent.
pub(super) type LoggedDrive = Logged<Liar<Box<dyn Model>>>;

/// Settings of a recorded drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    /// The profile, as it was typed.
    pub(super) profile: String,
    /// Changed values of it.
    pub(super) set: Vec<String>,
    pub(super) lies: Vec<Lie>,
    /// Name of the file system, as mount(8) calls it; empty for none.
    pub(super) file_system: String,
    pub(super) mount_options: String,
}

impl Settings {
    /// The drive's profile.
    ///
    /// # Errors
    /// When it cannot be read, or no such drive can be.
    pub(super) fn profile(&self) -> anyhow::Result<DriveProfile> {
        variants::changed(profiles::named(&self.profile)?, &self.set)
    }

    /// Name of a file system; empty for none.
    pub(super) fn name(fs: TortureFs) -> &'static str {
        match fs {
            TortureFs::Ext4 => "ext4",
            TortureFs::Xfs => "xfs",
            TortureFs::Btrfs => "btrfs",
            TortureFs::None => "",
        }
    }

    /// The words of its lies.
    pub(super) fn lies(&self) -> Vec<String> {
        let named = self.lies.iter().filter_map(clap::ValueEnum::to_possible_value);
        named.map(|value| value.get_name().to_owned()).collect()
    }

    fn lines(&self) -> String {
        let one = |name: &'static str, value: &String| format!("{name} {value}\n");
        let [set, lies] = [("set", self.set.clone()), ("lie", self.lies())]
            .map(|(name, values)| values.iter().map(|value| one(name, value)).collect::<String>());
        [
            one("profile", &self.profile),
            set,
            lies,
            one("file-system", &self.file_system),
            one("mount-options", &self.mount_options),
        ]
        .concat()
    }

    fn read(text: &str) -> Option<Settings> {
        let mut settings = Settings::default();
        for line in text.lines() {
            let (name, value) = line.split_once(' ')?;
            match name {
                "profile" => value.clone_into(&mut settings.profile),
                "set" => settings.set.push(value.to_owned()),
                "lie" => settings.lies.push(Lie::from_str(value, false).ok()?),
                "file-system" if ["", "ext4", "xfs", "btrfs"].contains(&value) => {
                    value.clone_into(&mut settings.file_system);
                }
                "mount-options" => value.clone_into(&mut settings.mount_options),
                _ => return None,
            }
        }
        Some(settings)
    }
}

/// A drive whose clients were recorded.
pub(super) struct RecordedDrive {
    pub(super) settings: Settings,
    /// Its content before.
    pub(super) base: Arc<Store>,
    pub(super) recording: Recording,
}

impl RecordedDrive {
    /// Keeps it in `directory`, which is new.
    ///
    /// # Errors
    /// When the directory is there already, or something cannot be written.
    pub(super) fn save(&self, directory: &Path) -> anyhow::Result<()> {
        let failed = |error: io::Error| {
            anyhow!(
                "cannot keep the recording in {}: {error}\nhint: name a new directory",
                shown(directory)
            )
        };
        match std::fs::create_dir(directory) {
            // What is in it is never written over.
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(failed(error)),
            _ => self.save_files(directory).map_err(failed),
        }
    }

    /// Makes `directory`, so that nothing is recorded that cannot be kept.
    ///
    /// # Errors
    /// When it is there already, or cannot be made.
    pub(super) fn make(directory: &Path) -> anyhow::Result<()> {
        std::fs::create_dir(directory).map_err(|error| {
            anyhow!(
                "cannot keep the recording in {}: {error}\nhint: name a new directory",
                shown(directory)
            )
        })
    }

    fn save_files(&self, directory: &Path) -> io::Result<()> {
        let create = |name: &str| File::create_new(directory.join(name)).map(BufWriter::new);
        create("drive")?.write_all(self.settings.lines().as_bytes())?;
        let mut base = create("base")?;
        self.base.each_piece(|at, bytes| {
            base.write_all(&at.to_le_bytes())?;
            base.write_all(&(bytes.len() as u64).to_le_bytes())?;
            base.write_all(bytes)
        })?;
        let (mut log, mut writes) = (create("log")?, create("writes")?);
        self.recording.save(&mut log, &mut writes)?;
        base.flush()?;
        log.flush()?;
        writes.flush()
    }

    /// The recorded drive in `directory`; its content and the recording take at most `memory` bytes
    /// each.
    ///
    /// # Errors
    /// When something is missing, damaged or longer.
    pub(super) fn load(directory: &Path, memory: u64) -> anyhow::Result<RecordedDrive> {
        let hint = "name a directory that drive torture --save or drive serve --log made";
        let failed = |error: io::Error| {
            let place = shown(directory);
            let more = "or allow more memory: --memory 4G";
            anyhow!("cannot read the recording in {place}: {error}\nhint: {hint}, {more}")
        };
        let open = |name: &str| {
            let path = directory.join(name);
            let unopened =
                |error| anyhow!("cannot read a recording: {}: {error}\nhint: {hint}", shown(&path));
            File::open(&path).map_err(unopened)
        };
        let mut text = String::new();
        open("drive")?.take(SETTINGS_BYTES_MAX).read_to_string(&mut text).map_err(failed)?;
        let damaged = || io::Error::new(ErrorKind::InvalidData, "`drive` is damaged");
        let settings = Settings::read(&text).ok_or_else(|| failed(damaged()))?;
        let capacity_bytes = settings.profile()?.model()?.capacity_bytes();
        let base = Store::memory(capacity_bytes, memory);
        read_pieces(&mut BufReader::new(open("base")?), &base).map_err(failed)?;
        let (mut log, mut writes) = (BufReader::new(open("log")?), BufReader::new(open("writes")?));
        let recording = Recording::load(&mut log, &mut writes, memory).map_err(failed)?;
        Ok(RecordedDrive { settings, base: Arc::new(base), recording })
    }

    /// The model after all that was recorded, with its logs.
    ///
    /// # Errors
    /// When the drive keeps no log.
    pub(super) fn replayed(&self) -> anyhow::Result<LoggedDrive> {
        let profile = self.settings.profile()?;
        let liar = Liar::new(profile.model()?, cut_policy::lies(&self.settings.lies));
        let told = liar.told();
        let logged = Logged::with_entries(liar, told, ENTRIES_MAX, ENTRIES_MAX);
        let mut logged = logged.with_context(|| {
            format!(
                "cannot cut the power of {}: this kind of drive keeps no log\nhint: choose another \
                 drive; to list all: straddle drive list",
                profile.name
            )
        })?;
        self.recording.replay(&mut logged);
        Ok(logged)
    }

    /// The content that `after` says, over that of before.
    ///
    /// # Errors
    /// When it takes more than `memory` bytes.
    pub(super) fn medium(
        &self,
        model: &LoggedDrive,
        after: &Aftermath,
        memory: u64,
    ) -> anyhow::Result<Store> {
        let (capacity, logical) = (model.capacity_bytes(), model.logical_bytes());
        let is_write = |one: &&RecordedCommand| {
            let is_taken = one.command.checked(capacity, logical).is_ok();
            matches!(one.command.action, CommandKind::Write { .. }) && is_taken
        };
        let writes: Vec<&RecordedCommand> =
            self.recording.commands().iter().filter(is_write).collect();
        let store = Store::over(Arc::clone(&self.base), capacity, memory);
        let full = |fault| anyhow!("cannot hold the drive's content: {fault}\nhint: --memory 4G");
        for (lba, held) in after.changed() {
            let at = lba * logical;
            match held {
                SectorContent::Original => {}
                SectorContent::Unreadable => store.spoil(at, logical),
                SectorContent::Write(number) => {
                    let write = writes[number];
                    let start = usize::try_from(at - write.command.offset_bytes)?;
                    let data = &write.data[start..][..usize::try_from(logical)?];
                    store.write(at, data).map_err(full)?;
                }
            }
        }
        Ok(store)
    }
}

/// Reads pieces of content into `store`.
fn read_pieces(input: &mut impl Read, store: &Store) -> io::Result<()> {
    const PIECE_BYTES_MAX: u64 = 1 << 20;
    let mut head = [0; 16];
    loop {
        match input.read_exact(&mut head) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            done => done?,
        }
        let (at, length) = head.split_at(8);
        let number = |bytes: &[u8]| bytes.try_into().map_or(u64::MAX, u64::from_le_bytes);
        let (at, length) = (number(at), number(length));
        if length > PIECE_BYTES_MAX {
            return Err(io::Error::new(ErrorKind::InvalidData, "`base` is damaged"));
        }
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
        input.read_exact(&mut bytes)?;
        store.write(at, &bytes).map_err(io::Error::other)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_back_as_they_were_kept_and_others_are_refused() {
        let settings = Settings {
            profile: "my drive.toml".to_owned(),
            set: vec!["cache=0".to_owned(), "rpm=5400".to_owned()],
            lies: vec![Lie::Flush, Lie::Protection],
            file_system: "xfs".to_owned(),
            mount_options: String::new(),
        };
        assert_eq!(Settings::read(&settings.lines()), Some(settings));
        for wrong in ["profile", "lie sometimes\n", "file-system ../vfat\n", "else 1\n"] {
            assert_eq!(Settings::read(wrong), None, "{wrong}");
        }
    }
}
