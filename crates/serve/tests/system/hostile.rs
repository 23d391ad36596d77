//! Clients that break the protocol, hang up, or never read: an error for each, and nobody else is
//! hurt.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serve::Pace;
use testkit::running_program::until;
use units::random::Random;

use crate::served::{Exported, drive};

const BROKEN: u32 = 1000;
const GREETING_BYTES: usize = 18;
const OPTION: u64 = 0x4948_4156_454f_5054;
const REQUEST: u32 = 0x2560_9513;

pub(crate) fn request(flags: u16, kind: u16, cookie: u64, offset: u64, length: u32) -> Vec<u8> {
    let parts = [
        &REQUEST.to_be_bytes()[..],
        &flags.to_be_bytes(),
        &kind.to_be_bytes(),
        &cookie.to_be_bytes(),
        &offset.to_be_bytes(),
        &length.to_be_bytes(),
    ];
    parts.concat()
}

/// A client that came as far as requests.
pub(crate) fn negotiated(served: &Exported) -> UnixStream {
    let mut stream = served.connected();
    stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a limit");
    let mut greeting = [0; GREETING_BYTES];
    stream.read_exact(&mut greeting).expect("it greets");
    let name = [&3_u32.to_be_bytes()[..], &OPTION.to_be_bytes(), &1_u32.to_be_bytes(), &[0; 4]];
    stream.write_all(&name.concat()).expect("it listens");
    let mut export = [0; 10];
    stream.read_exact(&mut export).expect("the old way has one answer");
    stream
}

/// The error of the next reply, and the request that it answers.
fn reply(stream: &mut UnixStream) -> (u32, u64) {
    let mut head = [0; 16];
    stream.read_exact(&mut head).expect("a reply");
    let word = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().expect("four bytes"));
    assert_eq!(word(0), 0x6744_6698);
    (word(4), u64::from_be_bytes(head[8..].try_into().expect("eight bytes")))
}

/// Writes and reads back a sector.
fn is_well(stream: &mut UnixStream, number: u64) {
    let data = [u8::try_from(number % 255).expect("it fits") + 1; 512];
    let offset = number % 64 * 512;
    stream.write_all(&[&request(0, 1, number, offset, 512)[..], &data].concat()).expect("it reads");
    assert_eq!(reply(stream), (0, number));
    stream.write_all(&request(0, 0, number, offset, 512)).expect("it reads");
    assert_eq!(reply(stream), (0, number));
    let mut back = [0; 512];
    stream.read_exact(&mut back).expect("the data");
    assert_eq!(back, data);
}

#[test]
fn each_bad_request_has_its_error_and_the_connection_goes_on() {
    for pace in [Pace::Off, Pace::read("0.001").expect("a pace")] {
        let served = Exported::new(drive("hdd-7200-512e", pace, None));
        let end = served.drive.capacity_bytes();
        let mut stream = negotiated(&served);
        let data = |length: usize| vec![7; length];
        let cases = [
            (request(0, 0, 1, end, 512), 0, 22),
            (request(0, 0, 2, u64::MAX - 511, 512), 0, 22),
            (request(0, 0, 3, 0, u32::MAX), 0, 22),
            (request(0, 0, 4, 100, 512), 0, 22),
            (request(0, 0, 5, 0, 100), 0, 22),
            (request(0, 0, 6, 0, 0), 0, 22),
            (request(0, 1, 7, end, 512), 512, 28),
            (request(0, 1, 8, 1, 512), 512, 22),
            (request(0, 1, 9, 0, 33), 33, 22),
            (request(0x8000, 1, 10, 0, 512), 512, 22),
            (request(0, 4, 11, end - 512, 1024), 0, 22),
            (request(0, 5, 12, 0, 512), 0, 22),
            (request(0, 7, 13, 0, 512), 0, 22),
            (request(0, 999, 14, 0, 512), 0, 22),
            (request(16, 6, 15, 0, 512), 0, 22),
        ];
        for (cookie, (head, data_bytes, error)) in (1..).zip(cases) {
            stream.write_all(&[head, data(data_bytes)].concat()).expect("it reads");
            assert_eq!(reply(&mut stream), (error, cookie), "{pace:?}");
        }
        is_well(&mut stream, 99);
        assert_eq!(served.drive.counts().errors, 15);
    }
}

/// Does something wrong on a connection of its own, and leaves.
fn misbehave(served: &Exported, random: &mut Random) {
    let mut bytes = vec![0; usize::try_from(random.below(300)).expect("it is short")];
    bytes.fill_with(|| u8::try_from(random.below(256)).expect("below 256"));
    let option = |kind: u32, length: u32| {
        let parts = [&OPTION.to_be_bytes()[..], &kind.to_be_bytes(), &length.to_be_bytes()];
        parts.concat()
    };
    // Writing fails where the server hung up first.
    match random.below(9) {
        0 => drop(served.connected()),
        1 => drop(served.connected().write_all(&bytes)),
        2 => {
            let all = [&3_u32.to_be_bytes()[..], &option(7, u32::MAX), &bytes].concat();
            drop(served.connected().write_all(&all));
        }
        3 => {
            let all = [
                &3_u32.to_be_bytes()[..],
                &option(u32::try_from(random.below(99)).expect("it is short"), 200),
                &bytes,
            ];
            drop(served.connected().write_all(&all.concat()));
        }
        4 => drop(negotiated(served).write_all(&bytes)),
        5 => {
            // A write whose data never comes.
            let head = request(0, 1, 1, random.below(1 << 30) * 512, 1 << 20);
            drop(negotiated(served).write_all(&[head, bytes].concat()));
        }
        6 => {
            let head = request(0, 1, 1, 0, u32::MAX);
            drop(negotiated(served).write_all(&[head, bytes].concat()));
        }
        7 => {
            // Reads that nobody takes.
            let reads: Vec<u8> = (0..20).flat_map(|one| request(0, 0, one, 0, 1 << 20)).collect();
            drop(negotiated(served).write_all(&reads));
        }
        _ => {
            let mut stream = negotiated(served);
            let _ = stream.write_all(&request(0, 2, 0, 0, 0));
            let mut rest = Vec::new();
            let ended = stream.read_to_end(&mut rest);
            assert!(ended.is_ok() && rest.is_empty(), "{ended:?}");
        }
    }
}

#[test]
fn a_thousand_broken_clients_hurt_nobody() {
    let served = Exported::new(drive("hdd-7200-512e", Pace::Off, None));
    let mut random = testkit::random(5);
    let mut honest = negotiated(&served);
    for number in 0..BROKEN {
        misbehave(&served, &mut random);
        is_well(&mut honest, number.into());
        until("few connections are left", || served.server.connections() < 32);
    }
    until("only the honest one is left", || served.server.connections() == 1);
    is_well(&mut honest, 1);
}

#[test]
fn clients_that_never_read_do_not_stop_others_on_a_timed_drive() {
    let served = Exported::new(drive("m4-256", Pace::read("0.001").expect("a pace"), None));
    let mut honest = negotiated(&served);
    let mut lazy: Vec<UnixStream> = (0..4).map(|_| negotiated(&served)).collect();
    for stream in &mut lazy {
        stream.set_write_timeout(Some(Duration::from_millis(50))).expect("a limit");
        let reads: Vec<u8> = (0..2000).flat_map(|one| request(0, 0, one, 0, 1 << 20)).collect();
        // The server stops to read it when too many wait.
        let _ = stream.write_all(&reads);
    }
    for number in 0..100 {
        is_well(&mut honest, number);
    }
    drop(lazy);
    until("the lazy ones are gone", || served.server.connections() == 1);
}

#[test]
fn too_many_connections_are_refused_and_the_others_go_on() {
    let served = Exported::new(drive("hdd-7200-512e", Pace::Off, None));
    let mut honest = negotiated(&served);
    let idle: Vec<UnixStream> = (0..200).map(|_| served.connected()).collect();
    until("all were looked at", || {
        let open = served.server.connections() as u64;
        open + served.server.refused() == 201
    });
    assert_eq!(served.server.connections(), 64);
    is_well(&mut honest, 1);
    drop(idle);
    until("there is room again", || served.server.connections() == 1);
    is_well(&mut negotiated(&served), 2);
}

#[test]
fn a_full_store_fails_writes_with_no_space_and_keeps_serving() {
    let model = drive::profile::called("m4-256").expect("built in").model().expect("it can be");
    let store = serve::Store::memory(model.capacity_bytes(), 1 << 20);
    let full = serve::ServedDrive::new(model, store, false, Pace::Off, None);
    let served = Exported::new(full.into());
    let mut stream = negotiated(&served);
    is_well(&mut stream, 1);
    let write = [request(0, 1, 5, 1 << 20, 4 << 20), vec![1; 4 << 20]].concat();
    stream.write_all(&write).expect("all data is taken");
    assert_eq!(reply(&mut stream), (28, 5));
    is_well(&mut stream, 2);
}
