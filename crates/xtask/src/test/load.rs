//! Other work beside the tests: two busy loops, and a writer that syncs each second.

use std::io::{Seek as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;

const BUSY_LOOPS: usize = 2;
const SYNC_EVERY: Duration = Duration::from_secs(1);
/// Bytes that are written before each sync.
const WRITTEN_BYTES: usize = 4 << 20;

/// Work that goes on until this is dropped.
#[derive(Debug)]
pub(super) struct Load {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// Starts the work.
    ///
    /// # Errors
    /// When no file can be made.
    pub(super) fn start() -> anyhow::Result<Load> {
        let mut file = tempfile::tempfile().context("cannot make a file for the writer")?;
        let is_over = Arc::new(AtomicBool::new(false));
        let mut threads: Vec<JoinHandle<()>> = (0..BUSY_LOOPS)
            .map(|_| {
                let is_over = Arc::clone(&is_over);
                std::thread::spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                })
            })
            .collect();
        let is_writer_over = Arc::clone(&is_over);
        threads.push(std::thread::spawn(move || {
            let bytes = vec![0x5a; WRITTEN_BYTES];
            while !is_writer_over.load(Ordering::Relaxed) {
                // A full disk is load, too.
                let _ = file.rewind().and_then(|()| file.write_all(&bytes));
                let _ = file.sync_all();
                std::thread::sleep(SYNC_EVERY);
            }
        }));
        Ok(Load { is_over, threads })
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
