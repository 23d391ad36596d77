//! The result files, read within bounds, one after the other.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use report::html::{Draft, SOURCE_BYTES_MAX, Twin, Unread, read as parse};

use crate::printer::shown;

/// The longest result file that is read.
const FILE_BYTES: u64 = SOURCE_BYTES_MAX as u64;
/// What all files together may have: a bound for the time that it takes, since they are read one
/// after the other.
const ALL_BYTES: u64 = 4 << 30;
/// The name that stands for standard input.
const INPUT: &str = "-";

/// A page of every file; of each no more is kept than the page shows.
///
/// # Errors
/// When standard input is named twice.
pub(super) fn read(files: &[PathBuf]) -> anyhow::Result<Draft> {
    if files.iter().filter(|path| is_input(path)).count() > 1 {
        anyhow::bail!("`-` is named twice\nhint: standard input can be read once");
    }
    let mut draft = Draft::default();
    let mut seen: BTreeMap<[u64; 2], String> = BTreeMap::new();
    let mut left = ALL_BYTES;
    for path in files {
        let name = if is_input(path) { "standard input".to_owned() } else { shown(path) };
        let text = match text(path, left) {
            Ok(text) => text,
            Err(Fault { reason, hint }) => {
                draft.unread(Unread { name, reason, hint });
                continue;
            }
        };
        left = left.saturating_sub(u64::try_from(text.len()).unwrap_or(u64::MAX));
        if let Some(first) = seen.get(&digest(&text)) {
            draft.twin(Twin { name, first: first.clone() });
            continue;
        }
        match parse(&name, &text) {
            Ok(source) => draft.add(&source),
            Err(fault) => {
                let (reason, hint) = (fault.to_string(), fault.hint());
                draft.unread(Unread { name, reason, hint });
                continue;
            }
        }
        seen.insert(digest(&text), name);
    }
    Ok(draft)
}

/// What two different texts do not share by chance.
fn digest(text: &str) -> [u64; 2] {
    [0_u8, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        (salt, text).hash(&mut hasher);
        hasher.finish()
    })
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
                &format!("all files together are longer than {} GiB", ALL_BYTES >> 30),
                "make several pages, each of fewer files",
            ),
            false => fault(
                &format!("it is longer than {} MiB", FILE_BYTES >> 20),
                "make a result of fewer targets or experiments, and several of them",
            ),
        });
    }
    String::from_utf8(bytes).map_err(|_| {
        fault(&"it is no document of straddle: it is no text", "give what --json or -o wrote")
    })
}
