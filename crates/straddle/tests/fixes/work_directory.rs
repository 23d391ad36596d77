//! A directory in which disks are built and fixes typed.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use testkit::{Loop, Scratch, scratch, tool};

/// A directory in which disks are built and fixes typed.
pub(crate) struct Bench {
    scratch: Scratch,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        // Memory, where there is some: every tool syncs.
        Bench { scratch: Scratch::in_memory().unwrap_or_else(Scratch::new) }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// The same files in another directory.
    pub(crate) fn copy(&self) -> Bench {
        let copy = Bench::new();
        let (from, to) = (scratch::text(self.scratch.path()), scratch::text(copy.scratch.path()));
        tool::run("cp", &["-a", "--sparse=always", &format!("{from}/."), to]);
        copy
    }

    /// Types a line as a user would, in this directory; says what was printed where it fails.
    pub(crate) fn attempt(&self, line: &str) -> Result<String, String> {
        let output = self.typed(line);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match output.status.success() {
            true => Ok(text(&output.stdout)),
            false => Err(format!("`{line}`: {}{}", text(&output.stdout), text(&output.stderr))),
        }
    }

    fn typed(&self, line: &str) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_straddle"));
        let own = program.parent().expect("a program is in a directory");
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new("sh")
            .args(["-c", line])
            .current_dir(self.scratch.path())
            .env("PATH", format!("{}:{path}:/usr/sbin:/sbin", own.display()))
            .env("LC_ALL", "C.UTF-8")
            .output()
            .expect("a shell runs")
    }

    /// Types a line that has to work.
    #[track_caller]
    pub(crate) fn shell(&self, line: &str) -> String {
        self.attempt(line).unwrap_or_else(|why| panic!("{why}"))
    }

    /// An empty file.
    pub(crate) fn image(&self, name: &str, length_bytes: u64) {
        let _ = self.scratch.image(name, length_bytes);
    }

    /// A file with the table that a script gives to sfdisk.
    pub(crate) fn table(&self, name: &str, length_bytes: u64, script: &str) {
        self.image(name, length_bytes);
        tool::run_with_input("sfdisk", &["-q", scratch::text(&self.path(name))], script);
    }

    /// Puts one file into another, from a byte on, without its holes.
    pub(crate) fn place(&self, from: &str, to: &str, at: u64) {
        scratch::place(&self.path(from), &self.path(to), at);
    }

    /// Sectors that carry their numbers, in part of a file.
    pub(crate) fn bytes(&self, name: &str, at: u64, length_bytes: u64) {
        let file = std::fs::File::options().write(true).open(self.path(name)).expect("it opens");
        let mut bytes = vec![0; usize::try_from(length_bytes).expect("disks are small")];
        for (sector, number) in bytes.chunks_mut(512).zip(1_u64..) {
            sector[..8].copy_from_slice(&number.to_be_bytes());
        }
        std::os::unix::fs::FileExt::write_all_at(&file, &bytes, at).expect("it can be written");
    }

    /// A file system with files in a file: `make` is the tool with its options.
    pub(crate) fn file_system(&self, name: &str, length_bytes: u64, make: &str) {
        self.image(name, length_bytes);
        self.shell(&format!("{make} {name} >/dev/null"));
    }

    /// A loop device over a file, with sectors of so many bytes.
    pub(crate) fn attach(&self, name: &str, sector_bytes: u64) -> Loop {
        Loop::attach(&self.path(name), sector_bytes)
    }

    /// The target of `straddle check --json`.
    pub(crate) fn check(&self, name: &str, on: &str) -> Result<Value, String> {
        let on = if on.is_empty() { String::new() } else { format!(" --on {on}") };
        let output = self.typed(&format!("straddle check --json {name}{on}"));
        let document: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
        Ok(document["targets"][0].clone())
    }
}
