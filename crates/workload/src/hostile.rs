//! The readers as functions of raw bytes, shared by the fuzz targets and the plain tests.
//!
//! Whatever the bytes are, each of these must answer: without a panic, soon, and in little memory.
//! What a reader promised about its answer is checked here.

use std::num::{NonZeroU64, NonZeroUsize};

use crate::engine::{Engines, Profile, page};
use crate::job::option::OPERATION_BYTES_MAX;
use crate::job::{Extent, JOBS_MAX, Job, JobFile};
use crate::raidtest::{LENGTH_BYTES_MAX, Requests, Scaled};

/// Reads `bytes` as a job file, and as one whose first line is an override.
///
/// # Panics
/// When what is read is not what [`JobFile`] promises.
pub fn job(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    job_file(&text, &[]);
    let (told, rest) = text.split_once('\n').unwrap_or((&text, ""));
    let (name, value) = told.split_once('=').unwrap_or((told, ""));
    job_file(rest, &[(name.to_owned(), value.to_owned())]);
}

fn job_file(text: &str, overrides: &[(String, String)]) {
    let file = match JobFile::parse(text, overrides) {
        Ok(file) => file,
        Err(error) => {
            let said = format!("{error}{}", error.hint());
            assert!(!said.contains(char::is_control), "an error is one harmless line");
            return;
        }
    };
    assert!(!file.jobs.is_empty());
    assert!(file.jobs.iter().map(|job| u64::from(job.numjobs)).sum::<u64>() <= JOBS_MAX);
    file.jobs.iter().for_each(check);
    for remark in &file.remarks {
        let said = remark.to_string();
        assert!(!said.contains(char::is_control), "a remark is one harmless line");
    }
}

fn check(job: &Job) {
    assert!((1..=OPERATION_BYTES_MAX).contains(&job.operation_bytes));
    assert!((1..=OPERATION_BYTES_MAX).contains(&job.align_bytes));
    assert!(job.depth >= 1 && job.numjobs >= 1 && job.loops >= 1 && job.runtime_ns != Some(0));
    assert!(!job.time_based || job.runtime_ns.is_some());
    assert!(!job.is_durable_log() || job.is_durable());
    if let Some(Extent::Bytes(size_bytes)) = job.size {
        assert!(size_bytes >= job.operation_bytes);
    }
    assert!(!job.title().contains(char::is_control));
}

/// Reads `bytes` as an engine's profile.
///
/// # Panics
/// When what is read is not what [`Profile`] promises.
pub fn profile(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Profile::parse("own.toml", &text) {
        Ok(profile) => {
            assert!(
                profile.warn.above_ns >= 1000 && profile.warn.above_ns <= profile.fail.above_ns
            );
            let pattern = profile.pattern;
            assert!(pattern.write_bytes >= 1 && pattern.writes_per_sync >= 1);
            assert!(pattern.write_bytes * pattern.writes_per_sync <= pattern.file_bytes);
            let mut engines = Engines::built_in();
            engines.add(profile);
            assert!(!page::document(&engines).replace('\n', "").contains(char::is_control));
        }
        Err(error) => {
            let said = format!("{error}{}", error.hint());
            assert!(!said.contains(char::is_control), "an error is one harmless line");
            assert!(error.line >= 1 && error.line <= text.matches('\n').count() + 1);
        }
    }
}

/// Reads `bytes` as a request file.
///
/// # Panics
/// When what is read is not what [`Requests`] promises.
pub fn raidtest(bytes: &[u8]) {
    let requests = match Requests::decode(bytes) {
        Ok(requests) => requests,
        Err(error) => {
            assert!(!format!("{error}{}", error.hint()).is_empty());
            return;
        }
    };
    assert!(requests.as_slice().iter().all(|request| request.length_bytes <= LENGTH_BYTES_MAX));
    assert_eq!(Requests::decode(&requests.encode()).as_ref(), Ok(&requests));
    let first = requests.as_slice()[0];
    let unit = NonZeroU64::new(first.offset_bytes.max(1)).unwrap_or(NonZeroU64::MIN);
    for (media_bytes, unit) in [(1 << 20, NonZeroU64::MIN), (first.end_bytes(), unit)] {
        if let Ok(Scaled { requests: scaled, moved }) = requests.scaled(media_bytes, unit) {
            assert!(scaled.end_bytes() <= media_bytes && moved <= scaled.as_slice().len());
            assert_eq!(scaled.total_bytes(), requests.total_bytes());
        }
    }
    let shares = requests.shares(NonZeroUsize::MIN.saturating_add(2));
    assert!(shares.map(<[_]>::len).sum::<usize>() <= requests.as_slice().len());
}
