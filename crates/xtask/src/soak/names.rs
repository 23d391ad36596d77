//! Names of a megabyte in every field that is printed, and 100,000 images in one directory: each
//! run takes less than a second (of one name) and stays within 64 MiB.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use testkit::long_names::{crowded, images};

use super::soak_directory::SoakSite;
use crate::bench::memory::{self, MeasuredRun};
use crate::bench::tools::text;
use crate::options::Options;

/// The bounds of each run.
const PEAK_BYTES: u64 = 64 << 20;
const TIME: Duration = Duration::from_secs(1);
/// The length of a name, in bytes.
const NAME_BYTES: usize = 1 << 20;
/// Formats of `check`.
const FORMATS: [&[&str]; 9] = [
    &["--format", "table"],
    &["--explain"],
    &["--format", "json"],
    &["--format", "jsonl"],
    &["--format", "sarif"],
    &["--format", "junit"],
    &["--format", "nagios"],
    &["--format", "npd"],
    &["--bytes", "--explain", "--on", "granule=16K"],
];

/// Tries every name in every format, and so many images in one directory; how many runs broke their
/// bounds.
///
/// # Errors
/// When something cannot be made, built or run.
pub(super) fn run(options: &Options<'_>, images: u64) -> anyhow::Result<usize> {
    let place = SoakSite::of(options)?;
    let workshop = tempfile::tempdir_in(&place.directory)?;
    let mut soak = Soak {
        place,
        room: workshop.path().to_owned(),
        runs: 0,
        worst: Worst::default(),
        broken: 0,
    };
    soak.fields()?;
    soak.documents()?;
    let Worst { peak_bytes, time } = soak.worst;
    println!(
        "names of {NAME_BYTES} bytes: {} runs, at most {} KiB and {} ms",
        soak.runs,
        peak_bytes >> 10,
        time.as_millis()
    );
    soak.crowds()?;
    soak.many(images)?;
    println!(
        "bounds: {} KiB, {} ms for a name; {} broken",
        PEAK_BYTES >> 10,
        TIME.as_millis(),
        soak.broken
    );
    Ok(soak.broken)
}

/// The most that any run took.
#[derive(Clone, Copy, Default)]
struct Worst {
    peak_bytes: u64,
    time: Duration,
}

struct Soak {
    place: SoakSite,
    room: PathBuf,
    runs: u64,
    worst: Worst,
    broken: usize,
}

impl Soak {
    /// Every field of an image, in every format, and what is made of the result.
    fn fields(&mut self) -> anyhow::Result<()> {
        for named in images(&self.room, NAME_BYTES) {
            let image = text(&named.path)?;
            for format in FORMATS {
                self.timed(&named.field, &[&["check"], format, &[image]].concat())?;
            }
            self.timed(&named.field, &["plan", image])?;
            let kept = self.room.join("kept.json");
            let checked =
                Command::new(&self.place.program).args(["check", "--json", image]).output()?;
            std::fs::write(&kept, checked.stdout)?;
            self.timed(&named.field, &["report", text(&kept)?])?;
            self.timed(&named.field, &["check", "--watch", text(&kept)?, image])?;
        }
        Ok(())
    }

    /// Result files and jobs of others.
    fn documents(&mut self) -> anyhow::Result<()> {
        let room = self.room.clone();
        let place = text(&room)?;
        let kept = room.join("fsync.json");
        let mut fsync = Command::new(&self.place.program);
        fsync.args(["fsync", place, "--seconds", "1", "--rows", "wal", "-o", text(&kept)?]);
        fsync.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
        let document: Value = serde_json::from_slice(&std::fs::read(&kept)?)?;
        for (kind, unit) in [("plain", "n"), ("escapes", "\u{1b}[2J"), ("wide", "漢\u{202e}")] {
            let name = unit.repeat(NAME_BYTES.div_ceil(unit.len()));
            for field in [
                "/host",
                "/target/path",
                "/target/model",
                "/rows/0/label",
                "/rows/0/id",
                "/notes/0",
                "/command/0",
                "/version",
            ] {
                let mut changed = document.clone();
                let Some(value) = changed.pointer_mut(field) else { continue };
                *value = Value::from(name.as_str());
                let other = room.join("named.json");
                std::fs::write(&other, changed.to_string())?;
                let (kept, other) = (text(&kept)?, text(&other)?);
                let what = format!("result's {field}, {kind}");
                for words in [
                    &["compare", kept, other][..],
                    &["compare", "--json", other, kept],
                    &["compare", other, other],
                    &["report", other, kept],
                ] {
                    self.timed(&what, words)?;
                }
            }
            let job = room.join("job.fio");
            for (field, content) in [
                ("name", format!("[{name}]\nrw=write\nbs=4k\nsize=1m\n")),
                ("option", format!("[j]\nrw=write\n{name}=1\n")),
                ("value", format!("[j]\nrw={name}\nbs=4k\n")),
            ] {
                std::fs::write(&job, content)?;
                let what = format!("job's {field}, {kind}");
                self.timed(&what, &["bench", place, "--dry-run", "--job", text(&job)?])?;
            }
            self.timed(
                &format!("word to explain, {kind}"),
                &["explain", &name[..name.floor_char_boundary(100_000)]],
            )?;
        }
        Ok(())
    }

    /// A dozen disks with as many partitions as are read, each in all formats.
    fn crowds(&mut self) -> anyhow::Result<()> {
        let directory = self.room.join("crowds");
        std::fs::create_dir(&directory)?;
        let first = directory.join("00");
        crowded(&first);
        for number in 1..12 {
            std::fs::hard_link(&first, directory.join(format!("{number:02}")))?;
        }
        self.bounded("12 disks of 4096 partitions", &directory)
    }

    /// Many small images in one directory, in each format.
    fn many(&mut self, count: u64) -> anyhow::Result<()> {
        let directory = self.room.join("many");
        std::fs::create_dir(&directory)?;
        let small = images(&self.room, 8);
        let small =
            small.iter().find(|named| named.field.starts_with("ext4")).context("no ext4")?;
        // A file has so many names at most (ext4: 65,000).
        for number in 0..count {
            let first = directory.join(format!("image-{:06}", number - number % 10_000));
            let path = directory.join(format!("image-{number:06}"));
            match number % 10_000 {
                0 => std::fs::copy(&small.path, path).map(drop)?,
                _ => std::fs::hard_link(first, path)?,
            }
        }
        self.bounded(&format!("{count} images"), &directory)
    }

    /// Each format of all that is in `directory`, within the bound of memory.
    fn bounded(&mut self, what: &str, directory: &Path) -> anyhow::Result<()> {
        for format in FORMATS {
            let MeasuredRun { peak_bytes, time, .. } =
                self.once(&[&["check"], format, &[text(directory)?]].concat())?;
            println!(
                "{what}, {}: {} KiB, {} ms",
                format.join(" "),
                peak_bytes >> 10,
                time.as_millis()
            );
            self.broken += usize::from(peak_bytes > PEAK_BYTES);
        }
        Ok(())
    }

    /// One run of a name, which has to keep to both bounds.
    fn timed(&mut self, field: &str, words: &[&str]) -> anyhow::Result<()> {
        let MeasuredRun { peak_bytes, time, .. } = self.once(words)?;
        self.runs += 1;
        self.worst.peak_bytes = self.worst.peak_bytes.max(peak_bytes);
        self.worst.time = self.worst.time.max(time);
        if peak_bytes > PEAK_BYTES || time > TIME {
            self.broken += 1;
            let shown: Vec<&str> =
                words.iter().map(|word| &word[..word.floor_char_boundary(40)]).collect();
            println!(
                "{field}: {}: {} KiB, {} ms",
                shown.join(" "),
                peak_bytes >> 10,
                time.as_millis()
            );
        }
        Ok(())
    }

    /// Runs straddle with these words.
    fn once(&self, words: &[&str]) -> anyhow::Result<MeasuredRun> {
        let run = memory::run(&self.place.program, words, &self.room)?;
        let code = run.code;
        ensure!(matches!(code, 0 | 1 | 2 | 3 | 5), "straddle {words:.60?} ended with {code}");
        Ok(run)
    }
}
