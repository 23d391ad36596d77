//! The result files, read within bounds, one after the other.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use host::InputError;
use report::html::{FileCopy, ResultFile, Unread, read as parse};
use report::{RESULT_BYTES_MAX, Refusal};

use crate::exit::CommandOutcome;
use crate::shared::kept_results;
use crate::shared::printer::{self, shown};

/// The longest result file that is read.
const FILE_BYTES: u64 = RESULT_BYTES_MAX as u64;
/// Most bytes that all files together may have: a bound for the time that it takes, since they are
/// read one after the other.
const ALL_BYTES: u64 = 4 << 30;
/// The name that stands for standard input.
const INPUT: &str = "-";

/// One file that was named.
pub(crate) enum ReadFile {
    /// A result.
    Result(Box<ResultFile>),
    /// The same bytes as a file before it.
    Copy(FileCopy),
    /// No result that can be read.
    Unread(Unread),
}

/// Hands every file on in order, and keeps none of them.
///
/// # Errors
/// When standard input is named twice.
pub(crate) fn each(files: &[PathBuf], mut take: impl FnMut(ReadFile)) -> anyhow::Result<()> {
    if files.iter().filter(|path| is_input(path)).count() > 1 {
        anyhow::bail!(
            "cannot read standard input twice: `-` is named twice\nhint: name `-` once, and files \
             for the rest"
        );
    }
    let mut seen: BTreeMap<[u64; 2], String> = BTreeMap::new();
    let mut left = ALL_BYTES;
    for path in files {
        let name = if is_input(path) { "standard input".to_owned() } else { shown(path) };
        let text = match text(path, left) {
            Ok(text) => text,
            Err(ResultFileFault { reason, hint }) => {
                take(ReadFile::Unread(Unread { name, reason, hint }));
                continue;
            }
        };
        left = left.saturating_sub(u64::try_from(text.len()).unwrap_or(u64::MAX));
        if let Some(first) = seen.get(&digest(&text)) {
            take(ReadFile::Copy(FileCopy { name, first: first.clone() }));
            continue;
        }
        match parse(&name, &text) {
            Ok(result) => take(ReadFile::Result(Box::new(result))),
            Err(fault) => {
                let (reason, hint) = (fault.to_string(), fault.hint().to_owned());
                take(ReadFile::Unread(Unread { name, reason, hint }));
                continue;
            }
        }
        seen.insert(digest(&text), name);
    }
    Ok(())
}

/// Reads all results; says of each file that is none why, and returns the outcome of that.
///
/// # Errors
/// When standard input is named twice.
fn all(verb: &str, files: &[PathBuf]) -> anyhow::Result<(Vec<ResultFile>, CommandOutcome)> {
    let (mut results, mut outcome) = (Vec::new(), CommandOutcome::Done);
    each(files, |file| match file {
        ReadFile::Result(result) => results.push(*result),
        ReadFile::Copy(_) => {}
        ReadFile::Unread(unread) => outcome = unread_outcome(verb, &unread),
    })?;
    Ok((results, outcome))
}

/// The same of the last kept results where no file is named.
///
/// # Errors
/// When standard input is named twice.
pub(crate) fn named_or_kept(
    verb: &str,
    files: &[PathBuf],
) -> anyhow::Result<(Vec<ResultFile>, CommandOutcome)> {
    match files.is_empty() {
        true => all(verb, &kept_results::all()),
        false => all(verb, files),
    }
}

/// Says why a file is not used. What lacks a file is not what was asked for.
pub(crate) fn unread_outcome(verb: &str, unread: &Unread) -> CommandOutcome {
    let message = format!("cannot {verb} {}: {}", unread.name, unread.reason);
    let refusal = Refusal::hinted(message, &unread.hint);
    CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal))
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
struct ResultFileFault {
    reason: String,
    hint: String,
}

fn fault(reason: &impl ToString, hint: &str) -> ResultFileFault {
    ResultFileFault { reason: reason.to_string(), hint: hint.to_owned() }
}

/// Returns what the file at `path` holds, of which at most `left` bytes are read.
fn text(path: &Path, left: u64) -> Result<String, ResultFileFault> {
    let hint = "name a file that you may read";
    let most = left.min(FILE_BYTES);
    let read = match is_input(path) {
        true => host::bounded(io::stdin().lock(), most),
        false => host::read_input(path, most),
    };
    let bytes = read.map_err(|error| match error {
        InputError::TooLong { .. } if most < FILE_BYTES => fault(
            &format!("all files together are longer than {} GiB", ALL_BYTES >> 30),
            "name fewer files at once",
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
