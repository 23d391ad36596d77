//! Files that are named to be read: what is no regular file is refused at once, and what has no end
//! is not read to it, whatever the command.

use testkit::running_program::Ran;
use testkit::{Scratch, need_tools, scratch::text, tool};

/// The commands that read a file, with `{}` in its place, and a good `{image}` and `{directory}`.
const COMMANDS: [&str; 13] = [
    "bench {directory} --job {}",
    "bench {directory} --raidtest {}",
    "bench {image} --job {}",
    "fsync {directory} --for etcd --profile {}",
    "compare {} {}",
    "report {}",
    "check --watch {} {image}",
    "check --sysroot {}",
    "drive show {}",
    "drive simulate {} --job {image}",
    "drive simulate m4-256 --job {}",
    "drive simulate m4-256 --trace {}",
    "drive simulate m4-256 --stack {} --job {image}",
];

/// `straddle` with the words of `command`.
fn ran(command: &str) -> Ran {
    let mut straddle = testkit::running_program::by_signals(env!("CARGO_BIN_EXE_straddle"));
    Ran::of(straddle.args(command.split(' ')).env("LC_ALL", "C.UTF-8"))
}

#[test]
fn what_is_no_regular_file_is_refused_by_every_command_without_waiting() {
    need_tools!("mkfifo");
    let scratch = Scratch::new();
    let (fifo, image) = (scratch.path().join("fifo"), scratch.image("image", 1 << 20));
    tool::run("mkfifo", &[text(&fifo)]);
    for command in COMMANDS {
        for input in [text(&fifo), "/dev/zero", text(scratch.path()), "/nonexistent/file"] {
            let command = command
                .replace("{image}", text(&image))
                .replace("{directory}", text(scratch.path()))
                .replace("{}", input);
            let ran = ran(&command);
            assert!(matches!(ran.status, Some(1..)), "{command}: {ran:?}");
            assert!(!ran.errors.is_empty() || !ran.out.is_empty(), "{command}");
        }
    }
}
