//! fio's job files, as commands are given them.

use std::path::Path;

use report::Refusal;
use workload::JobFile;

use crate::shared::printer::shown;

/// The longest job file that is read, in bytes: more than `workload` takes.
const TEXT_BYTES_MAX: u64 = 1 << 20;

/// The jobs of the file at `path`, with what the command line puts over them: `OPTION=VALUE` each.
///
/// # Errors
/// When it cannot be read, or holds no jobs; the hint says what to do.
pub(crate) fn read(path: &Path, set: &[String]) -> Result<JobFile, Refusal> {
    let name = shown(path);
    let mut told = Vec::new();
    for word in set {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        told.push((option.to_owned(), value.to_owned()));
    }
    let bytes = host::read_input(path, TEXT_BYTES_MAX).map_err(|error| {
        let hint = "name a job file of fio; standard input is not read";
        Refusal::hinted(format!("cannot read the job file {name}: {error}"), hint)
    })?;
    let words = String::from_utf8_lossy(&bytes);
    JobFile::parse(&words, &told).map_err(|error| {
        Refusal::hinted(format!("cannot run the job file {name}: {error}"), error.hint().to_owned())
    })
}
