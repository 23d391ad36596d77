//! Memory of every kind of drive while commands come and go.

use drive::{CommandKind, DriveCommand, DriveCompletion, Model};
use testkit::memory::peak_of;
use units::random::Random;

use crate::shared::WRITE;

/// A drive: the built-in one that it is, and what is changed of that.
type Changed = (&'static str, &'static [(&'static str, &'static str)]);

/// Flash, a 512e disk, an array of every level, and one behind a cache that does not forget.
const CHANGED: [Changed; 7] = [
    ("m4-256", &[]),
    ("hdd-7200-512e", &[]),
    ("raid0-2x16k", &[]),
    ("raid0-2x16k", &[("level", "raid10"), ("members", "4"), ("copies", "2")]),
    ("raid5-5x64k", &[]),
    ("raid6-6x64k", &[]),
    ("raid5-bbu", &[]),
];

/// Commands of every kind, on and off 4 KiB, 32 in flight.
fn mixed(model: &mut dyn Model, ids: std::ops::Range<u64>, now_ns: &mut u64, random: &mut Random) {
    let (mut done, mut flying) = (Vec::with_capacity(64), 0);
    for id in ids {
        let shift_bytes = if id % 16 < 2 { 512 } else { 0 };
        let (action, length_bytes) = match id % 16 {
            _ if id % 4096 == 4095 => (CommandKind::Flush, 0),
            0..10 => (WRITE, 4096),
            10 => (CommandKind::Write { fua: true }, 4096),
            11 => (CommandKind::Discard, 4096),
            _ => (CommandKind::Read, 4096),
        };
        let offset_bytes = match action {
            CommandKind::Flush => 0,
            _ => random.below(1 << 12) * 4096 + shift_bytes,
        };
        model.submit(DriveCommand { id, action, offset_bytes, length_bytes }, *now_ns, &mut done);
        flying += 1;
        while flying - done.len() >= 32 {
            *now_ns = model.next_ns().expect("some are in flight");
            model.advance(*now_ns, &mut done);
        }
        assert!(done.iter().all(|done: &DriveCompletion| done.outcome.is_ok()));
        flying -= done.len();
        done.clear();
    }
    while flying > 0 {
        *now_ns = model.next_ns().expect("some are in flight");
        model.advance(*now_ns, &mut done);
        flying -= done.len();
        done.clear();
    }
}

#[test]
fn the_memory_of_no_drive_grows_with_the_commands_that_it_takes() {
    for (name, changes) in CHANGED {
        let found = drive::profile::built_in().iter().find(|profile| profile.name == name);
        let profile = changes.iter().fold(found.expect(name).clone(), |profile, (key, value)| {
            profile.with(key, value).expect("such a drive can be")
        });
        let (mut model, mut random) = (profile.model().expect(name), testkit::random(1));
        let mut now_ns = 0;
        let mut run = |ids| mixed(&mut model, ids, &mut now_ns, &mut random);
        run(0..30_000);
        let ((), grown) = peak_of(|| run(30_000..90_000));
        assert!(grown < 1 << 16, "{name} {changes:?}: {grown} bytes");
    }
}
