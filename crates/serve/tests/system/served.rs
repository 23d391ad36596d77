//! Drives that are served in this process.

use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use drive::profile;
use serve::nbd::{NbdExport, NbdListener, NbdServer};
use serve::{Pace, ServedDrive, Store, TraceLog};
use testkit::Scratch;
use testkit::scratch::text;

/// Memory of a drive's store.
const MEMORY_BYTES: u64 = 256 << 20;

/// The built-in drive called `name`, with a store in memory.
pub(crate) fn drive(name: &str, pace: Pace, trace: Option<TraceLog>) -> Arc<ServedDrive> {
    let model = profile::called(name).expect("a built-in drive").model().expect("it can be");
    let store = Store::memory(model.capacity_bytes(), MEMORY_BYTES);
    Arc::new(ServedDrive::new(model, store, true, pace, trace))
}

/// A drive on a socket, until it is dropped.
pub(crate) struct Exported {
    pub(crate) drive: Arc<ServedDrive>,
    pub(crate) socket: PathBuf,
    pub(crate) server: Arc<NbdServer>,
    threads: Vec<JoinHandle<()>>,
    _scratch: Scratch,
}

impl Exported {
    pub(crate) fn new(drive: Arc<ServedDrive>) -> Exported {
        let scratch = Scratch::new();
        let socket = scratch.path().join("socket");
        let listener = NbdListener::Unix(UnixListener::bind(&socket).expect("a free path"));
        let export = NbdExport { drive: Arc::clone(&drive), name: "disk".to_owned() };
        let server = Arc::new(NbdServer::new(export));
        let (run, clock) = (Arc::clone(&server), Arc::clone(&drive));
        let threads = vec![
            std::thread::spawn(move || run.run(&listener).expect("it listens")),
            std::thread::spawn(move || clock.run()),
        ];
        Exported { drive, socket, server, threads, _scratch: scratch }
    }

    /// Its address.
    pub(crate) fn uri(&self) -> String {
        format!("nbd+unix:///disk?socket={}", text(&self.socket))
    }

    /// A connection, before its first byte.
    pub(crate) fn connected(&self) -> UnixStream {
        UnixStream::connect(&self.socket).expect("it listens")
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        self.server.stop();
        let _ = self.drive.stop();
        for thread in self.threads.drain(..) {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "no thread of the server panics");
        }
    }
}
