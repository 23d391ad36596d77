//! Drives whose model panics: everybody who waits gets an error, and nobody waits for ever.

use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, mpsc};

use drive::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model, profile};
use serve::{Pace, ServeFault, ServedDrive, Store};

use crate::hostile::{negotiated, request};
use crate::served::Exported;

/// A drive of the table, which panics.
struct Panicking {
    inner: Box<dyn Model>,
    /// Number of commands that it still takes.
    commands: usize,
    /// Number of times that it still advances.
    advances: usize,
}

impl Panicking {
    fn drive(pace: Pace, commands: usize, advances: usize) -> Arc<ServedDrive> {
        let inner = profile::called("hdd-7200-512e").expect("a built-in drive");
        let inner = inner.model().expect("it can be");
        let store = Store::memory(inner.capacity_bytes(), 1 << 20);
        let model = Box::new(Panicking { inner, commands, advances });
        Arc::new(ServedDrive::new(model, store, true, pace, None))
    }
}

impl Model for Panicking {
    fn submit(&mut self, command: DriveCommand, at_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.commands = self.commands.checked_sub(1).expect("a test's panic in a command");
        self.inner.submit(command, at_ns, done);
    }

    fn next_ns(&self) -> Option<u64> {
        self.inner.next_ns()
    }

    fn advance(&mut self, to_ns: u64, done: &mut Vec<DriveCompletion>) {
        self.advances = self.advances.checked_sub(1).expect("a test's panic in its time");
        self.inner.advance(to_ns, done);
    }

    fn capacity_bytes(&self) -> u64 {
        self.inner.capacity_bytes()
    }

    fn logical_bytes(&self) -> u64 {
        self.inner.logical_bytes()
    }

    fn tally(&self) -> DriveTally {
        self.inner.tally()
    }

    fn below(&self) -> Option<&dyn Model> {
        Some(self.inner.as_ref())
    }
}

const REAL: Pace = Pace::Scaled { millionths: 1_000_000 };

#[test]
fn a_panic_of_the_clock_answers_all_that_wait_with_an_error_and_stops_the_drive() {
    let drive = Panicking::drive(REAL, usize::MAX, 0);
    let (says, answers) = mpsc::channel();
    for index in 0..5 {
        let says = says.clone();
        drive.submit(CommandKind::Read, index << 30, 4096, move |done| {
            says.send(done).expect("the test waits");
        });
    }
    let clock = Arc::clone(&drive);
    std::thread::spawn(move || clock.run()).join().expect_err("it panics");
    drop(says);
    let answers: Vec<_> = answers.iter().collect();
    assert_eq!(answers, [Err(ServeFault::Store); 5]);
    assert!(drive.has_failed());
    assert_eq!(drive.perform(CommandKind::Flush, 0, 0), Err(ServeFault::Store));
    assert_eq!(drive.waiting(), 0);
    drive.run();
}

#[test]
fn a_panic_in_a_command_stops_a_drive_that_takes_no_time() {
    for good in [0, 1, 7] {
        let drive = Panicking::drive(Pace::Off, good, usize::MAX);
        let read = || drive.perform(CommandKind::Read, 0, 4096);
        assert!((0..good).all(|_| read().is_ok()), "{good}");
        let one = std::panic::catch_unwind(std::panic::AssertUnwindSafe(read));
        assert!(one.is_err() && drive.has_failed(), "{good}");
        assert_eq!(read(), Err(ServeFault::Store), "{good}");
    }
}

#[test]
fn a_panic_in_a_command_of_a_client_fails_all_clients_and_the_server_ends() {
    for (pace, good) in [(Pace::Off, 0), (Pace::Off, 3), (REAL, 0), (REAL, 3)] {
        let served = Exported::new(Panicking::drive(pace, good, usize::MAX));
        let mut other = negotiated(&served);
        let mut one = negotiated(&served);
        for cookie in 0..10 {
            // The server may hang up meanwhile.
            let _ = one.write_all(&request(0, 0, cookie, 0, 512));
        }
        ends(&mut one);
        assert!(served.drive.has_failed(), "{pace:?} {good}");
        other.write_all(&request(0, 3, 1, 0, 0)).expect("it is still open");
        let mut head = [0; 16];
        other.read_exact(&mut head).expect("a reply");
        assert_ne!(head[4..8], [0; 4], "{pace:?} {good}: it is an error");
    }
}

/// Reads until the server hangs up.
fn ends(stream: &mut UnixStream) {
    let mut bytes = [0; 4096];
    loop {
        match stream.read(&mut bytes) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) => return assert_eq!(error.kind(), ErrorKind::ConnectionReset),
        }
    }
}
