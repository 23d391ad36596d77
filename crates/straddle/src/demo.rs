//! `straddle demo`: check, drive simulate and plan on an image that this makes and removes.
//!
//! Each step is a command line, parsed and run as if it had been typed; nothing here judges or
//! computes.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _};
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Parser as _;
use host::Interrupt;
use units::text::shell_word;

use crate::arguments::{Arguments, Command, Demo};
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, shown};
use crate::{check, drives, plan};

/// Name of the image.
const IMAGE: &str = "disk.img";
/// Its length: 64 MiB, all of it a hole but for the table.
const SECTORS: u32 = 64 << 11;
/// First sector of the partition: the default of the DOS era.
const START: u32 = 63;

/// The steps: a sentence, and the command that shows it.
const STEPS: [(&str, &str); 3] = [
    ("1. Find it: a partition at sector 63, as older tools made it.", "straddle check disk.img"),
    (
        "2. Price it: small synced writes on a 512e disk.",
        "straddle drive simulate --profile hdd-7200-512e --stack disk.img",
    ),
    ("3. Plan the fix: all data is kept.", "straddle plan disk.img"),
];

pub(crate) fn run(demo: &Demo) -> anyhow::Result<CommandOutcome> {
    let interrupt = Interrupt::install()?;
    let mut directory = DemoDirectory::new().map_err(|error| {
        let place = shown(&std::env::temp_dir());
        anyhow!(
            "cannot make the image in {place}: {error}\n\
             hint: name a directory with free space: TMPDIR=. straddle demo"
        )
    })?;
    for (sentence, typed) in STEPS {
        printer::print(&format!("{sentence}\n\n$ {typed}\n"))?;
        match Arguments::try_parse_from(typed.split(' '))?.command {
            Command::Check(words) => check::run(&words)?,
            Command::Drive(words) => drives::run(&words)?,
            Command::Plan(words) => plan::run(&words)?,
            _ => unreachable!("no other command is a step"),
        };
        printer::print("\n")?;
        if let Some(signal) = interrupt.signal() {
            return Ok(CommandOutcome::Interrupted(signal, printer::interrupted()));
        }
    }
    let image = shell_word(&shown(&directory.path.join(IMAGE)));
    printer::print(&match demo.keep {
        true => format!("kept: {image}\nnext: straddle plan {image} --script\n"),
        false => "The image is removed. Next: straddle check, for the disks of this machine.\n"
            .to_owned(),
    })?;
    directory.is_kept = demo.keep;
    Ok(CommandOutcome::Done)
}

/// A temporary directory with the image, the working directory of this process. Removed when
/// dropped, unless it is to be kept.
struct DemoDirectory {
    path: PathBuf,
    is_kept: bool,
}

impl DemoDirectory {
    fn new() -> io::Result<DemoDirectory> {
        let parent = std::env::temp_dir().canonicalize()?;
        let path = unused(&parent)?;
        let directory = DemoDirectory { path, is_kept: false };
        let image = File::create_new(directory.path.join(IMAGE))?;
        image.write_all_at(&master_boot_record(), 0)?;
        image.set_len(u64::from(SECTORS) * 512)?;
        std::env::set_current_dir(&directory.path)?;
        Ok(directory)
    }
}

impl Drop for DemoDirectory {
    fn drop(&mut self) {
        if !self.is_kept {
            // A directory that somebody removed already is removed.
            let _ = std::fs::remove_file(self.path.join(IMAGE));
            let _ = std::fs::remove_dir(&self.path);
        }
    }
}

/// Makes a directory in `parent` that only this user can enter, under the first free name.
fn unused(parent: &Path) -> io::Result<PathBuf> {
    let process = std::process::id();
    let mut number = 0;
    loop {
        let path = parent.join(format!("straddle-demo-{process}-{number}"));
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 100 => {
                number += 1;
            }
            made => return made.map(|()| path),
        }
    }
}

/// Sector 0 of a disk with one Linux partition from [`START`] to its end.
fn master_boot_record() -> [u8; 512] {
    let mut sector = [0; 512];
    // No cylinders, type 83h, start and length (UEFI 2.10, section 5.2.1).
    sector[446..454].copy_from_slice(&[0, 0xfe, 0xff, 0xff, 0x83, 0xfe, 0xff, 0xff]);
    sector[454..458].copy_from_slice(&START.to_le_bytes());
    sector[458..462].copy_from_slice(&(SECTORS - START).to_le_bytes());
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}
