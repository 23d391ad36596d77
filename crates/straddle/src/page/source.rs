//! The result files, read within bounds.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use report::html::{Report, SOURCE_BYTES_MAX, Unread, read as parse};

use crate::printer::shown;

/// The longest result file that is read.
const FILE_BYTES: u64 = SOURCE_BYTES_MAX as u64;
/// What all files together may have; as documents they take a few times as much memory.
const ALL_BYTES: u64 = 512 << 20;
/// The name that stands for standard input.
const INPUT: &str = "-";

/// Every file, or why it is none.
///
/// # Errors
/// When standard input is named twice.
pub(super) fn read(files: &[PathBuf]) -> anyhow::Result<Report> {
    if files.iter().filter(|path| is_input(path)).count() > 1 {
        anyhow::bail!("`-` is named twice\nhint: standard input can be read once");
    }
    let mut report = Report::default();
    let mut left = ALL_BYTES;
    for path in files {
        let name = if is_input(path) { "standard input".to_owned() } else { shown(path) };
        match text(path, left) {
            Err(Fault { reason, hint }) => report.unread.push(Unread { name, reason, hint }),
            Ok(text) => {
                left = left.saturating_sub(u64::try_from(text.len()).unwrap_or(u64::MAX));
                match parse(&name, &text) {
                    Ok(source) => report.sources.push(source),
                    Err(fault) => {
                        let (reason, hint) = (fault.to_string(), fault.hint());
                        report.unread.push(Unread { name, reason, hint });
                    }
                }
            }
        }
    }
    Ok(report)
}

fn is_input(path: &Path) -> bool {
    path.as_os_str() == INPUT
}

/// Why a file cannot be read.
struct Fault {
    reason: String,
    hint: String,
}

fn fault(reason: &impl ToString, hint: &str) -> Fault {
    Fault { reason: reason.to_string(), hint: hint.to_owned() }
}

/// What the file at `path` holds, of which at most `left` bytes are read.
fn text(path: &Path, left: u64) -> Result<String, Fault> {
    let hint = "name a file that you may read";
    if is_input(path) {
        return within(io::stdin().lock(), left);
    }
    // Asked before it is opened: a pipe would wait for a writer.
    let data = std::fs::metadata(path).map_err(|error| fault(&error, hint))?;
    if !data.is_file() {
        return Err(fault(&"it is no regular file", "name a file that --json wrote, or `-`"));
    }
    within(File::open(path).map_err(|error| fault(&error, hint))?, left)
}

fn within(from: impl Read, left: u64) -> Result<String, Fault> {
    let most = left.min(FILE_BYTES);
    let mut bytes = Vec::new();
    let read = from.take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| fault(&error, "name a file that you may read"))?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(match most < FILE_BYTES {
            true => fault(
                &format!("all files together are longer than {} MiB", ALL_BYTES >> 20),
                "make several pages, each of fewer files",
            ),
            false => fault(
                &format!("it is longer than {} MiB", FILE_BYTES >> 20),
                "make a result of fewer targets or experiments",
            ),
        });
    }
    String::from_utf8(bytes).map_err(|_| {
        fault(&"it is no document of straddle: it is no text", "give what --json wrote")
    })
}
