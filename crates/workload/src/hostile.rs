//! The readers as functions of raw bytes, shared by the fuzz targets and the plain tests.
//!
//! Whatever the bytes are, each of these must answer: without a panic, soon, and in little memory.
//! The promises of a reader about its answer are checked here.

use std::num::{NonZeroU64, NonZeroUsize};

use crate::InputError;
use crate::engine::{Engines, Profile, page};
use crate::job::option::OPERATION_BYTES_MAX;
use crate::job::{JOBS_MAX, Job, JobFile, JobLength};
use crate::raidtest::{LENGTH_BYTES_MAX, Requests, Scaled};
use crate::trace::{
    END_BYTES_MAX, IologWriter, Notes, Skipped, Stage, TraceEntry, TraceFormat, TraceReader,
};

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
    assert!(job.depth >= 1 && job.numjobs >= 1 && job.runtime_ns != Some(0));
    assert!(!job.time_based || job.runtime_ns.is_some());
    if let Some(JobLength::Bytes(size_bytes)) = job.size {
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
            let place = said.strip_prefix("cannot read the profile: own.toml:");
            let line = place.and_then(|place| place.split(':').next()?.parse::<usize>().ok());
            assert!(line.is_some_and(|line| (1..=text.matches('\n').count() + 1).contains(&line)));
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

/// Reads `bytes` as an iolog of both versions, and writes again what was read.
///
/// # Panics
/// When what is read is not what [`TraceReader`] promises, or changes when it is written.
pub fn iolog(bytes: &[u8]) {
    for format in [TraceFormat::Iolog2, TraceFormat::Iolog3] {
        let traced = trace(format, Stage::default(), bytes);
        written_again(format, &traced);
    }
}

/// Reads `bytes` as blkparse's text.
///
/// # Panics
/// When what is read is not what [`TraceReader`] promises.
pub fn blkparse(bytes: &[u8]) {
    for stage in [Stage::Queued, Stage::Issued, Stage::Completed] {
        trace(TraceFormat::Blkparse, stage, bytes);
    }
}

/// Reads `bytes` as blktrace's records.
///
/// # Panics
/// When what is read is not what [`TraceReader`] promises.
pub fn blktrace(bytes: &[u8]) {
    for stage in [Stage::Queued, Stage::Issued, Stage::Completed] {
        trace(TraceFormat::Blktrace, stage, bytes);
    }
}

/// Result of reading a trace.
#[derive(Debug, PartialEq)]
struct Traced {
    entries: Vec<TraceEntry>,
    notes: Notes,
    files: Vec<units::DiskText>,
    end: Result<(), InputError>,
}

/// Returns what the whole of `bytes` gives, which is what they give in pieces.
fn trace(format: TraceFormat, stage: Stage, bytes: &[u8]) -> Traced {
    let whole = in_pieces(format, stage, bytes.chunks(bytes.len().max(1)));
    let piece_bytes = usize::from(*bytes.last().unwrap_or(&0)) + 1;
    assert_eq!(whole, in_pieces(format, stage, bytes.chunks(piece_bytes)));
    if let Err(error) = &whole.end {
        let said = format!("{error}{}", error.hint());
        assert!(!said.contains(char::is_control), "an error is one harmless line");
    }
    if let Err(error) = TraceFormat::of(bytes) {
        let said = format!("{error}{}", error.hint());
        assert!(!said.contains(char::is_control), "an error is one harmless line");
    }
    for entry in &whole.entries {
        let moves = entry.action.moves_bytes();
        assert!(moves == (entry.length_bytes > 0) && (moves || entry.offset_bytes == 0));
        let end_bytes = entry.offset_bytes.checked_add(entry.length_bytes.into());
        assert!(end_bytes.is_some_and(|end_bytes| end_bytes <= END_BYTES_MAX));
    }
    let notes = &whole.notes;
    let skipped: u64 = Skipped::ALL.iter().map(|reason| notes.skipped(*reason)).sum();
    assert!(notes.entries >= whole.entries.len() as u64 && notes.unsorted <= notes.entries);
    assert!(skipped + notes.entries <= 2 * bytes.len() as u64);
    whole
}

fn in_pieces<'a>(
    format: TraceFormat,
    stage: Stage,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Traced {
    let mut reader = TraceReader::new(format, stage);
    let mut entries = Vec::new();
    let end = all(&mut reader, pieces, &mut entries);
    let (notes, files) = (reader.notes().clone(), reader.files().to_vec());
    Traced { entries, notes, files, end }
}

fn all<'a>(
    reader: &mut TraceReader,
    pieces: impl Iterator<Item = &'a [u8]>,
    entries: &mut Vec<TraceEntry>,
) -> Result<(), InputError> {
    for mut piece in pieces {
        while let Some(entry) = reader.next(&mut piece)? {
            entries.push(entry);
        }
        assert!(piece.is_empty(), "what is given is used up");
    }
    while let Some(entry) = reader.finish()? {
        entries.push(entry);
    }
    Ok(())
}

/// That an iolog of the entries of `traced` holds the entries of `traced`.
fn written_again(format: TraceFormat, traced: &Traced) {
    let Ok((mut writer, mut text)) = IologWriter::begin(format, &traced.files) else { return };
    for entry in &traced.entries {
        writer.line(entry, &mut text).expect("an iolog can say what one said");
    }
    text.push_str(&writer.end());
    let again = trace(format, Stage::default(), text.as_bytes());
    assert_eq!((&again.files, again.end), (&traced.files, Ok(())));
    // Version 2 says times with `wait`s, which are not written.
    let has_times = format != TraceFormat::Iolog2;
    let wanted = traced.entries.iter();
    let wanted =
        wanted.map(|entry| TraceEntry { at_ns: entry.at_ns.filter(|_| has_times), ..*entry });
    assert!(wanted.eq(again.entries));
}
