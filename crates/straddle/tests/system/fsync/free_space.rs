//! Lack of room for scratch files: how much there is, and what to type, which then does; in all
//! three commands that make some.

use std::process::{Command, Stdio};

use testkit::{need_loops, need_tools, scratch::text, tool};

use super::run::Ran;
use super::volume::Volume;

/// `straddle` with `words`, as a script's line would have them.
pub(super) fn straddle(words: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    Ran::of(command.args(words).env("LC_ALL", "C.UTF-8").stdin(Stdio::null()))
}

/// Refuses with `code` for want of room, names the option with `start`, and what it names is then
/// enough.
#[track_caller]
pub(super) fn is_mended(code: i32, asked: &[&str], start: &str) {
    let asked = [asked, &["--dry-run"]].concat();
    let ran = straddle(&asked);
    assert_eq!((ran.status, ran.out.as_str()), (Some(code), ""), "{ran:?}");
    assert!(ran.errors.contains("iB are free"), "sizes have units: {ran:?}");
    let (_, hint) = ran.errors.split_once("\nhint: ").expect("it hints");
    let (_, option) = hint.trim().split_once("or measure with less: ").expect("it names one");
    assert!(option.starts_with(start), "{ran:?}");
    let option: Vec<&str> = option.split(' ').collect();
    let mended = straddle(&[asked, option].concat());
    assert_eq!(mended.status, Some(0), "{start}: {mended:?}");
}

#[test]
fn the_option_that_is_named_fits_into_the_room_that_there_is() {
    need_loops!();
    need_tools!("mkfs.ext4", "fallocate");
    let volume = Volume::ext4("");
    let free = tool::run("stat", &["--file-system", "--format=%a %S", volume.name()]);
    let numbers: Vec<u64> = free.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let free_bytes: u64 = numbers.iter().product();
    // More than one file of 16 MiB fits, and less than what each command likes to have.
    let length = (free_bytes - (55 << 20)).to_string();
    tool::run("fallocate", &["-l", &length, text(&volume.path().join("filler"))]);
    is_mended(2, &["bench", volume.name()], "--scratch ");
    is_mended(2, &["probe", volume.name()], "--bytes-max ");
    is_mended(2, &["fsync", volume.name()], "--rows pg");
    is_mended(2, &["fsync", volume.name(), "--for", "kafka"], "--bytes-max ");
}
