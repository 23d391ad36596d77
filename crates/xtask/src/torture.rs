//! `cargo xtask torture`: power cuts under file systems and databases, on modeled drives: honest
//! ones must keep all that is acknowledged, liars must be caught, and torn pages must be seen where
//! nothing repairs them.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use report::drive::{Torture, TortureCounts};

use crate::cargo::{program, root};
use crate::options::Options;

/// Expected result of the cuts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Nothing is lost.
    Kept,
    /// The drive breaks its promise, and the program notices.
    DriveCaught,
    /// The program loses something that the drive kept, and the drive loses nothing.
    ProgramCaught,
}

/// A program on a drive.
struct Scene {
    wanted: Wanted,
    /// Cuts of a whole run.
    cuts: u64,
    /// Words that say which drive, and how it is cut.
    drive: &'static [&'static str],
    /// A program of `docs/torture`, and its arguments.
    program: &'static [&'static str],
}

const fn scene(
    wanted: Wanted,
    cuts: u64,
    drive: &'static [&'static str],
    program: &'static [&'static str],
) -> Scene {
    Scene { wanted, cuts, drive, program }
}

use Wanted::{DriveCaught, Kept, ProgramCaught};

const SCENES: [Scene; 23] = [
    scene(Kept, 125, &["--profile", "m4-256"], &["sqlite.py", "delete", "EXTRA"]),
    scene(Kept, 125, &["--profile", "m4-256"], &["sqlite.py", "wal"]),
    scene(Kept, 125, &["--profile", "hdd-7200-512e"], &["sqlite.py", "delete", "EXTRA"]),
    scene(Kept, 125, &["--profile", "dc-s3700"], &["sqlite.py", "wal"]),
    // The directory is not synced after the journal is removed.
    scene(ProgramCaught, 50, &["--profile", "m4-256"], &["sqlite.py", "delete", "FULL"]),
    scene(
        DriveCaught,
        25,
        &["--profile", "m4-256", "--lie", "flush"],
        &["sqlite.py", "delete", "EXTRA"],
    ),
    scene(DriveCaught, 25, &["--profile", "m4-256", "--lie", "flush"], &["sqlite.py", "wal"]),
    scene(
        DriveCaught,
        25,
        &["--profile", "dc-p3700", "--lie", "protection"],
        &["sqlite.py", "wal"],
    ),
    scene(
        ProgramCaught,
        25,
        &["--profile", "m4-256", "--survivors", "none"],
        &["sqlite.py", "wal", "OFF"],
    ),
    scene(Kept, 100, &["--profile", "m4-256"], &["postgresql.sh", "on"]),
    scene(
        ProgramCaught,
        100,
        &["--profile", "m4-256", "--survivors", "random"],
        &["postgresql.sh", "off"],
    ),
    scene(DriveCaught, 25, &["--profile", "m4-256", "--lie", "flush"], &["postgresql.sh", "on"]),
    scene(Kept, 50, &["--profile", "m4-256", "--survivors", "random"], &["mariadb.sh", "1"]),
    scene(
        ProgramCaught,
        50,
        &["--profile", "m4-256", "--survivors", "random"],
        &["mariadb.sh", "0"],
    ),
    scene(
        ProgramCaught,
        50,
        &["--profile", "m4-256", "--set", "unit=16384", "--survivors", "random"],
        &["mariadb.sh", "0"],
    ),
    scene(Kept, 50, &["--profile", "m4-256"], &["lmdb_values.py"]),
    scene(DriveCaught, 25, &["--profile", "m4-256", "--lie", "flush"], &["lmdb_values.py"]),
    scene(Kept, 50, &["--profile", "hdd-7200-512e", "--fs", "ext4"], &["files.py"]),
    scene(Kept, 50, &["--profile", "hdd-7200-512e", "--fs", "xfs"], &["files.py"]),
    scene(Kept, 50, &["--profile", "hdd-7200-512e", "--fs", "btrfs"], &["files.py"]),
    scene(
        DriveCaught,
        25,
        &["--profile", "m4-256", "--lie", "flush", "--fs", "xfs"],
        &["files.py"],
    ),
    scene(
        DriveCaught,
        25,
        &["--profile", "m4-256", "--lie", "flush", "--fs", "btrfs"],
        &["files.py"],
    ),
    scene(ProgramCaught, 25, &["--profile", "m4-256"], &["files.py", "100", "no-fsync"]),
];

/// Plays every scene, or those whose program has a word in its name, and prints what each showed;
/// whether all showed what they should.
///
/// # Errors
/// When straddle cannot be built, or a scene cannot be played.
pub(crate) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let options = Options::parse(words, &["--percent", "--seed", "--only", "--program"])?;
    let (percent, seed) = (options.count("--percent", 100)?, options.count("--seed", 1)?);
    let program = program(&options)?;
    let is_asked =
        |scene: &&Scene| options.word("--only").is_none_or(|word| scene.program[0].contains(word));
    let (mut wrong, mut all) = (0, 0);
    for scene in SCENES.iter().filter(is_asked) {
        let begun = Instant::now();
        let mut command = Command::new(&program);
        let cuts = (scene.cuts * percent).div_ceil(100).to_string();
        command.args(["drive", "torture", "--json", "--seed", &seed.to_string(), "--cuts", &cuts]);
        command.args(scene.drive).arg("--");
        // Debian's own has Debian's modules.
        if scene.program[0].ends_with(".py") {
            command.arg("/usr/bin/python3");
        }
        command.arg(root().join("docs/torture").join(scene.program[0])).args(&scene.program[1..]);
        let output = command.output().context("cannot start straddle")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            matches!(output.status.code(), Some(0 | 1)),
            "{:?}: {}",
            scene.program,
            said.trim()
        );
        let told: Torture = serde_json::from_slice(&output.stdout)?;
        let is_right = scene.wanted.is_shown(told.counts);
        (wrong, all) = (wrong + u64::from(!is_right), all + u64::from(told.counts.cuts));
        println!(
            "{}: {} on {}: {} ({:.0} s)",
            if is_right { "as expected" } else { "WRONG" },
            scene.program.join(" "),
            scene.drive[1..].join(" "),
            told.counts.verdict(&told.drive),
            begun.elapsed().as_secs_f64()
        );
        if let Some(failure) = told.failures.first() {
            println!("    cut {}: {}", failure.cut, failure.sentence());
        }
    }
    println!("torture: {all} cuts with seed {seed}, {wrong} scenes wrong");
    Ok(wrong == 0)
}

impl Wanted {
    fn is_shown(self, counts: TortureCounts) -> bool {
        match self {
            Kept => counts.failed() == 0,
            DriveCaught => counts.drive_lost > 0 && counts.program_lost == 0,
            ProgramCaught => counts.program_lost > 0 && counts.broken() == 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scene_shows_what_it_should_only_where_the_right_one_is_at_fault() {
        let counts = |program_lost, drive_lost| TortureCounts {
            cuts: 9,
            program_lost,
            drive_lost,
            ..TortureCounts::default()
        };
        for (wanted, shows) in [
            (Kept, [true, false, false, false]),
            (ProgramCaught, [false, true, false, false]),
            (DriveCaught, [false, false, true, false]),
        ] {
            let all = [counts(0, 0), counts(1, 0), counts(0, 1), counts(1, 1)];
            assert_eq!(all.map(|counts| wanted.is_shown(counts)), shows);
        }
    }
}
