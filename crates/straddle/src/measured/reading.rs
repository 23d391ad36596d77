//! One file that may hold anything, in a directory that may be anyone's.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use jiff::{Timestamp, ToSpan as _};
use report::probe::{SAVED_BYTES_MAX, Saved, saved_parse};
use stack::drive::MeasuredGranule;

use crate::printer::shown;

/// Others may write it: group or world.
pub(super) const OTHERS_WRITE: u32 = 0o022;
/// How far clocks may differ, in hours: one that was set to local time.
const CLOCK_HOURS: i64 = 24;

/// What the file at `path` holds; `None` where there is none.
///
/// # Errors
/// With the reason, when it cannot be read or trusted, or says what no probe finds. It neither
/// waits nor follows a link.
pub(super) fn read(path: &Path) -> Result<Option<Saved>, String> {
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
    trusted(&data)?;
    if let Some(directory) = path.parent() {
        trusted_directory(directory)?;
    }
    let mut bytes = Vec::new();
    let most = SAVED_BYTES_MAX.saturating_add(1);
    file.take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("it cannot be read: {error}"))?;
    saved_parse(&bytes).map(Some).map_err(|fault| fault.to_string())
}

/// That only root and this user can have put anything there.
///
/// # Errors
/// With the reason.
pub(super) fn trusted_directory(directory: &Path) -> Result<(), String> {
    let name = shown(directory);
    let data = fs::metadata(directory)
        .map_err(|error| format!("its directory {name} cannot be looked at: {error}"))?;
    trusted(&data).map_err(|reason| format!("its directory {name}: {reason}"))
}

fn trusted(data: &fs::Metadata) -> Result<(), String> {
    if data.mode() & OTHERS_WRITE != 0 {
        return Err("others may write it: chmod go-w".to_owned());
    }
    if data.uid() != 0 && data.uid() != host::user() {
        return Err(format!("user {} owns it, who is neither root nor you", data.uid()));
    }
    Ok(())
}

/// Why `saved` cannot have been measured by `now`; `None` where it can.
pub(super) fn misdated(saved: &Saved, now: Timestamp) -> Option<String> {
    let Ok(measured) = saved.measured.parse::<Timestamp>() else {
        return Some("its date is none".to_owned());
    };
    let latest = now.checked_add(CLOCK_HOURS.hours()).unwrap_or(Timestamp::MAX);
    (measured > latest).then(|| {
        format!(
            "it was measured on {}, which is to come: set the clock, or probe again",
            date(saved)
        )
    })
}

/// The granule that was kept, as the stack takes it.
pub(super) fn granule(saved: &Saved) -> MeasuredGranule {
    let text = |text: &str| units::text::escape(text.as_bytes());
    let found = &saved.granule;
    MeasuredGranule {
        alignment_bytes: found.alignment_bytes,
        origin_bytes: found.origin_bytes,
        size_bytes: found.size_bytes,
        date: date(saved),
        note: format!(
            "straddle {} probe, {}, misaligned at least {:.2} times as long",
            text(&saved.version),
            text(&saved.measured),
            found.slower_low
        ),
    }
}

/// The day, harmless to print.
fn date(saved: &Saved) -> String {
    units::text::escape(saved.measured.split('T').next().unwrap_or_default().as_bytes())
}
