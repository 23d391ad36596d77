//! The result files, read within bounds, one after the other.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use host::InputError;
use report::RESULT_BYTES_MAX;
use report::html::{Draft, FileCopy, Unread, read as parse};

use crate::shared::printer::shown;

/// The longest result file that is read.
const FILE_BYTES: u64 = RESULT_BYTES_MAX as u64;
/// Most bytes that all files together may have: a bound for the time that it takes, since they are
/// read one after the other.
const ALL_BYTES: u64 = 4 << 30;
/// The name that stands for standard input.
const INPUT: &str = "-";

/// A page of every file; of each no more is kept than the page shows.
///
/// # Errors
/// When standard input is named twice.
pub(super) fn read(files: &[PathBuf]) -> anyhow::Result<Draft> {
    if files.iter().filter(|path| is_input(path)).count() > 1 {
        anyhow::bail!(
            "cannot read standard input twice: `-` is named twice\nhint: name `-` once, and files \
             for the rest"
        );
    }
    let mut draft = Draft::default();
    let mut seen: BTreeMap<[u64; 2], String> = BTreeMap::new();
    let mut left = ALL_BYTES;
    for path in files {
        let name = if is_input(path) { "standard input".to_owned() } else { shown(path) };
        let text = match text(path, left) {
            Ok(text) => text,
            Err(PageSourceFault { reason, hint }) => {
                draft.unread(Unread { name, reason, hint });
                continue;
            }
        };
        left = left.saturating_sub(u64::try_from(text.len()).unwrap_or(u64::MAX));
        if let Some(first) = seen.get(&digest(&text)) {
            draft.copy(FileCopy { name, first: first.clone() });
            continue;
        }
        match parse(&name, &text) {
            Ok(source) => draft.add(&source),
            Err(fault) => {
                let (reason, hint) = (fault.to_string(), fault.hint().to_owned());
                draft.unread(Unread { name, reason, hint });
                continue;
            }
        }
        seen.insert(digest(&text), name);
    }
    Ok(draft)
}

/// Returns what two different texts do not share by chance.
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
struct PageSourceFault {
    reason: String,
    hint: String,
}

fn fault(reason: &impl ToString, hint: &str) -> PageSourceFault {
    PageSourceFault { reason: reason.to_string(), hint: hint.to_owned() }
}

/// Returns what the file at `path` holds, of which at most `left` bytes are read.
fn text(path: &Path, left: u64) -> Result<String, PageSourceFault> {
    let hint = "name a file that you may read";
    let most = left.min(FILE_BYTES);
    let read = match is_input(path) {
        true => host::bounded(io::stdin().lock(), most),
        false => host::read_input(path, most),
    };
    let bytes = read.map_err(|error| match error {
        InputError::TooLong { .. } if most < FILE_BYTES => fault(
            &format!("all files together are longer than {} GiB", ALL_BYTES >> 30),
            "make several pages of fewer files each",
        ),
        InputError::TooLong { .. } => fault(
            &error,
            "name a file that --json or -o wrote; if it is one, measure fewer targets or \
             experiments per file",
        ),
        InputError::Io(_) => fault(&error, hint),
        _ => fault(&error, "name a file that --json or -o wrote, or `-` for standard input"),
    })?;
    String::from_utf8(bytes).map_err(|_| {
        fault(&"not a straddle result file: not text", "name a file that --json or -o wrote")
    })
}
