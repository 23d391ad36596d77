//! `straddle drive serve` as a user runs it.

mod block_device;
mod detach;
mod file;
mod nbd;
mod reproduce;

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use testkit::Scratch;
use testkit::running_program::{Going, Ran, by_signals, until};

/// The words, about to run.
fn straddle(words: &[&str]) -> Command {
    let mut command = by_signals(env!("CARGO_BIN_EXE_straddle"));
    command.args(["drive"]).args(words).env("LC_ALL", "C.UTF-8");
    command
}

/// A drive that is served with these words.
fn served(words: &[&str]) -> Going {
    Going::with(straddle(&["serve"]).args(words))
}

/// Holds off other tests' `drive detach --stale`, which takes away what any killed drive left.
fn detaching_alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Types `drive detach --stale` until nothing is written of the drive of process `server`, which
/// was killed: its guard ends a moment after the device.
pub(crate) fn forgotten(server: u32) {
    let _one = detaching_alone();
    let record = PathBuf::from(format!("/run/straddle/{server}.drive"));
    until("its record is gone", || {
        let ran = Ran::of(straddle(&["detach"]).arg("--stale"));
        assert_eq!(ran.status, Some(0), "{ran:?}");
        !record.exists()
    });
}

/// Sends process `number` a signal.
fn signal_server(number: u32, name: &str) {
    testkit::running_program::signal(number, name);
}

/// Ends it as Ctrl-C does.
#[track_caller]
fn interrupted(mut going: Going) -> Ran {
    going.signal("INT");
    let ran = going.ended();
    assert_eq!(ran.status, Some(0), "{ran:?}");
    ran
}

/// Writes at random into `device` and into a plain file, and compares them.
fn same_bytes(device: &File, scratch: &Scratch) {
    const SPAN_BYTES: u64 = 4 << 20;
    let plain = File::options()
        .read(true)
        .write(true)
        .open(scratch.file("plain", &vec![0; usize::try_from(SPAN_BYTES).expect("it fits")]))
        .expect("it is there");
    let mut random = testkit::random(3);
    for _ in 0..400 {
        let sectors = 1 + random.below(200);
        let offset = random.below(SPAN_BYTES / 512 - sectors) * 512;
        let byte = u8::try_from(random.below(256)).expect("below 256");
        let data = vec![byte; usize::try_from(sectors * 512).expect("it fits")];
        for file in [device, &plain] {
            file.write_all_at(&data, offset).expect("it takes bytes");
        }
    }
    device.sync_all().expect("it syncs");
    let [one, other] = [device, &plain].map(|file| {
        let mut bytes = vec![1; usize::try_from(SPAN_BYTES).expect("it fits")];
        file.read_exact_at(&mut bytes, 0).expect("it is read");
        bytes
    });
    assert!(one == other, "they hold the same bytes");
}
