//! One random list of operations, done by every way there is: the same bytes.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use drive::CommandKind;
use serve::{Pace, ServedDrive, Store};
use testkit::{Scratch, need_tools, tool};
use units::random::Random;

use crate::served::{Exported, drive};

/// Length of the part that operations fall into.
const SPAN_BYTES: u64 = 4 << 20;
const OPERATIONS: u32 = 400;

/// An operation; its data is one byte, again and again.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Write { offset: u64, length: u64, byte: u8 },
    Discard { offset: u64, length: u64 },
}

fn operations(random: &mut Random) -> Vec<Operation> {
    let operation = |_| {
        let sectors = 1 + random.below(200);
        let offset = random.below(SPAN_BYTES / 512 - sectors) * 512;
        let byte = u8::try_from(random.below(256)).expect("below 256");
        match random.below(5) {
            0 => Operation::Discard { offset, length: sectors * 512 },
            _ => Operation::Write { offset, length: sectors * 512, byte },
        }
    };
    (0..OPERATIONS).map(operation).collect()
}

fn data(length: u64, byte: u8) -> Vec<u8> {
    vec![byte; usize::try_from(length).expect("it is short")]
}

/// The bytes after `all`, in a plain file.
fn plain(all: &[Operation], scratch: &Scratch) -> Vec<u8> {
    let path = scratch.file("plain", &data(SPAN_BYTES, 0));
    let file = File::options().read(true).write(true).open(path).expect("it is there");
    for &operation in all {
        let (offset, bytes) = match operation {
            Operation::Write { offset, length, byte } => (offset, data(length, byte)),
            Operation::Discard { offset, length } => (offset, data(length, 0)),
        };
        file.write_all_at(&bytes, offset).expect("it is written");
    }
    read_back(|buffer| file.read_exact_at(buffer, 0).expect("it is read"))
}

fn read_back(read: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = data(SPAN_BYTES, 1);
    read(&mut bytes);
    bytes
}

/// The bytes after `all`, by the core alone.
fn core(all: &[Operation], served: &ServedDrive) -> Vec<u8> {
    for &operation in all {
        match operation {
            Operation::Write { offset, length, byte } => {
                served.store().write(offset, &data(length, byte)).expect("there is room");
                let write = CommandKind::Write { fua: false };
                served.perform(write, offset, length).expect("it is written");
            }
            Operation::Discard { offset, length } => {
                served.store().discard(offset, length).expect("it can be");
                served.perform(CommandKind::Discard, offset, length).expect("it can be");
            }
        }
    }
    read_back(|buffer| served.store().read(0, buffer).expect("it is read"))
}

/// The lines of qemu-io that do `all`.
fn script(all: &[Operation]) -> String {
    let line = |operation: &Operation| match operation {
        Operation::Write { offset, length, byte } => format!("write -P {byte} {offset} {length}\n"),
        Operation::Discard { offset, length } => format!("discard {offset} {length}\n"),
    };
    all.iter().map(line).collect()
}

#[test]
fn core_file_store_nbd_and_a_plain_file_hold_the_same_bytes() {
    need_tools!("qemu-io");
    let scratch = Scratch::new();
    let all = operations(&mut testkit::random(1));
    let wanted = plain(&all, &scratch);
    let in_memory = core(&all, &drive("hdd-7200-512e", Pace::Off, None));
    assert!(in_memory == wanted, "the core with memory");

    let path = scratch.file("store", b"");
    let file = File::options().read(true).write(true).open(path).expect("it is there");
    let model = drive::profile::called("m4-256").expect("built in").model().expect("it can be");
    let store = Store::file(file, model.capacity_bytes()).expect("sparse files can be long");
    let in_file = core(&all, &ServedDrive::new(model, store, false, Pace::Off, None));
    assert!(in_file == wanted, "the core with a file");

    for pace in [Pace::Off, Pace::read("0.001").expect("a pace")] {
        let served = Exported::new(drive("hdd-7200-512e", pace, None));
        let lines = scratch.file("script", script(&all).as_bytes());
        let input = File::open(lines).expect("it is there");
        let mut qemu = tool::command("qemu-io");
        qemu.args(["-f", "raw", "-d", "unmap", &served.uri()]);
        let output = qemu.stdin(input).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let by_nbd = read_back(|buffer| served.drive.store().read(0, buffer).expect("it is read"));
        assert!(by_nbd == wanted, "NBD at {pace:?}");
    }
}
